//! Circuits that refresh by themselves, and what they need beforehand.

use super::*;
use windlass::Arithmetic;
use windlass::NeedsKeys;
use windlass::needs::KeyLevel;

#[test]
fn with_spare_bits_refreshes_when_too_little_is_left() {
    let toy = toy();
    let (client, server) = toy.parties(12);
    let (bootstrapper, engine) = (bootstrapper(&server), server.engine());
    let thin = message(&toy.plan, 12);
    let least = toy.plan.least_input_bits();
    let low = engine.reduce_level(&client.encrypt_plaintext(&thin).unwrap(), least + 30.0).unwrap();
    let spare = bootstrapper.headroom_bits(&low);
    assert!((engine.capacity(&low) - spare - least).abs() < 1e-9);
    let kept = bootstrapper.with_headroom_bits(low.clone(), spare - 1.0).unwrap();
    assert_eq!(engine.capacity(&kept), engine.capacity(&low));
    let refreshed = bootstrapper.with_headroom_bits(low, spare + 1.0).unwrap();
    assert!(bootstrapper.headroom_bits(&refreshed) > spare + 1.0);
    assert_eq!(client.decrypt_plaintext(&refreshed).unwrap(), thin);
}

#[test]
fn a_relinearisation_key_below_its_stage_is_missed_before_any_work() {
    let toy = toy();
    let (client, server) = toy.parties(13);
    let own = server.bootstrappings().next().unwrap().1.clone();
    let mut low = toy.plan.key_request();
    low.relinearisation = Some(KeyLevel::UpTo(1));
    let server = client.generate_server([&low]).unwrap();
    let mut keys = EvaluationKeys::clone(server.engine().keys());
    let refused = Bootstrapper::new(Arc::clone(&toy.plan), Scheme::Bgv, &Arc::new(keys.clone()), own.clone()).err();
    assert!(matches!(refused, Some(Error::Bootstrap(BootstrapError::MissingRelinearisationKey { .. }))), "{refused:?}");
    // add_keys replaces it.
    toy.plan.add_keys(&mut keys, client.secret_key(), &mut ChaCha20Rng::seed_from_u64(13)).unwrap();
    assert!(Bootstrapper::new(Arc::clone(&toy.plan), Scheme::Bgv, &Arc::new(keys), own).is_ok());
}

#[test]
fn a_ciphertext_of_another_prime_is_refused_before_any_work() {
    let toy = toy();
    let (client, server) = toy.parties(14);
    let other = fixture::context(Scheme::Bgv, (17, 1), params(105, 14));
    let stranger = other.client_from_key(Arc::clone(client.secret_key())).unwrap();
    let ct = stranger.encrypt(&[1]).unwrap();
    let refused = server.refresh_one(&ct, RefreshOptions::new().observed_by(|_| panic!("no stage may begin"))).err();
    assert!(matches!(refused, Some(Error::Bootstrap(BootstrapError::WrongContext { .. }))), "{refused:?}");
}

/// (m, p, primes): rings whose first stage runs far below the top.
const CHAINS: [(u64, u64, usize); 4] = [(64, 31, 20), (195, 2, 16), (105, 2, 14), (64, 257, 14)];

/// What may be spent is spent, at every level at which it fits; then the plan accepts what is left.
/// A little more, and it refuses.
#[test]
fn spare_bits_can_be_spent_to_the_last() {
    let mut sets = CHAINS.map(|(m, p, primes)| (params(m, primes), p)).to_vec();
    // Levels that have other primes, not fewer ones.
    sets.push((RlweSpec { spare_prime_bits: vec![30, 37], digits: 3, ..params(105, 13) }, 2));
    for ((rlwe, p), mode) in sets.into_iter().flat_map(|set| [Mode::Thin, Mode::Packed].map(|mode| (set.clone(), mode)))
    {
        let spec = BootstrapSpec { mode, ephemeral_weight: 4, ..BootstrapSpec::default() };
        let m = rlwe.m;
        let toy = toy_with(rlwe, (p, 1), spec);
        let (plan, (client, server)) = (&toy.plan, toy.parties(15));
        // One that does not refresh by itself.
        let bare = toy.context.server_without_keys().unwrap();
        let (bootstrapper, engine) = (bootstrapper(&server), bare.engine());
        let content = message(plan, 15);
        let top = plan.params().top_level();
        let (mut accepted, mut refused) = (0, 0);
        for level in 1..=top {
            let mut ct = encrypt_at(&client, &content, level);
            // Sums with itself double the bound on the noise: one bit of capacity each, then
            // fractions of one by sums with ciphertexts of less noise.
            while bootstrapper.headroom_bits(&ct) > 1.0 {
                ct = engine.add(&ct, &ct).unwrap();
            }
            let spare = bootstrapper.headroom_bits(&ct);
            let case = format!("m = {m}, p = {p}, {mode:?}, level {level}: spare {spare}, {}", engine.capacity(&ct));
            if spare >= 0.0 {
                accepted += 1;
                assert_eq!(plan.check(&ct).err(), None, "{case}");
                for lower in 1..level {
                    let Ok(low) = engine.switch_modulus(&ct, lower) else { continue };
                    let lost = engine.capacity(&ct) - engine.capacity(&low);
                    assert!(lost > spare || plan.check(&low).is_ok(), "{case}; {lost} lost to level {lower}");
                }
                if level == top {
                    let image = bootstrapper.refresh(&ct).unwrap_or_else(|error| panic!("{case}: {error}"));
                    assert!(bootstrapper.headroom_bits(&image) > 0.0);
                }
            }
            while plan.check(&ct).is_ok() {
                ct = engine.add(&ct, &ct).unwrap();
                refused += 1;
            }
            assert!(bootstrapper.headroom_bits(&ct) < 0.0, "{case}");
        }
        assert!(accepted > 5 && refused > 5, "{accepted}, {refused}");
    }
}
