//! Circuits that refresh by themselves, and what they need beforehand.

use super::*;
use windlass::Switching;
use windlass::ring::kernels::Isa;
use windlass::ring::slots::SlotRing;

#[test]
fn with_spare_bits_refreshes_when_too_little_is_left() {
    let mut t = toy(12);
    let own = BootstrapKeys::generate(&t.plan, Scheme::Bgv, &t.secret, &mut t.rng).unwrap();
    let keys = Arc::new(t.keys);
    let bootstrapper = Bootstrapper::new(Arc::clone(&t.plan), Scheme::Bgv, &keys, own).unwrap();
    let engine = Engine::new(Scheme::Bgv, t.plan.message_ring(), keys).unwrap();
    let decryptor = Decryptor::new(Scheme::Bgv, t.plan.message_ring(), Arc::clone(&t.secret));
    let thin = message(&t.plan, &mut t.rng);
    let (fresh, _) = decryptor.encrypt(&thin, t.context.top_level(), &mut t.rng).unwrap();
    let low = engine.reduce_level(&fresh, t.plan.least_input_bits() + 30.0).unwrap();
    let spare = bootstrapper.spare_bits(&low);
    assert!((engine.capacity(&low) - spare - t.plan.least_input_bits()).abs() < 1e-9);
    let kept = bootstrapper.with_spare_bits(low.clone(), spare - 1.0).unwrap();
    assert_eq!(engine.capacity(&kept), engine.capacity(&low));
    let refreshed = bootstrapper.with_spare_bits(low, spare + 1.0).unwrap();
    assert!(bootstrapper.spare_bits(&refreshed) > spare + 1.0);
    assert_eq!(decryptor.decrypt(&refreshed).unwrap(), thin);
}

#[test]
fn a_relinearisation_key_below_its_stage_is_missed_before_any_work() {
    let mut t = toy(13);
    let own = BootstrapKeys::generate(&t.plan, Scheme::Bgv, &t.secret, &mut t.rng).unwrap();
    t.keys.add_relinearisation(&t.secret, 1, &mut t.rng).unwrap();
    let refused = Bootstrapper::new(Arc::clone(&t.plan), Scheme::Bgv, &Arc::new(t.keys.clone()), own.clone()).err();
    assert!(matches!(refused, Some(Error::Bootstrap(BootstrapError::MissingRelinearisationKey { .. }))), "{refused:?}");
    // add_keys replaces it.
    t.plan.add_keys(&mut t.keys, &t.secret, &mut t.rng).unwrap();
    assert!(Bootstrapper::new(Arc::clone(&t.plan), Scheme::Bgv, &Arc::new(t.keys), own).is_ok());
}

#[test]
fn a_ciphertext_of_another_prime_is_refused_before_any_work() {
    let mut t = toy(14);
    let own = BootstrapKeys::generate(&t.plan, Scheme::Bgv, &t.secret, &mut t.rng).unwrap();
    let bootstrapper = Bootstrapper::new(Arc::clone(&t.plan), Scheme::Bgv, &Arc::new(t.keys), own).unwrap();
    let other = Arc::new(SlotRing::new(105, 17, 1, Isa::best()).unwrap());
    let decryptor = Decryptor::new(Scheme::Bgv, &other, Arc::clone(&t.secret));
    let (ct, _) = decryptor.encrypt(&Plaintext::one(&other), t.context.top_level(), &mut t.rng).unwrap();
    let refused = bootstrapper.refresh_with(&ct, |_| panic!("no stage may begin")).err();
    assert!(matches!(refused, Some(Error::Bootstrap(BootstrapError::WrongContext { .. }))), "{refused:?}");
}

/// (m, p, primes): rings whose first stage runs far below the top.
const CHAINS: [(u64, u64, usize); 4] = [(64, 31, 20), (195, 2, 16), (105, 2, 14), (64, 257, 14)];

/// What may be spent is spent, at every level at which it fits; then the plan accepts what is left.
/// A little more, and it refuses.
#[test]
fn spare_bits_can_be_spent_to_the_last() {
    for ((m, p, primes), mode) in CHAINS.into_iter().flat_map(|set| [Mode::Thin, Mode::Packed].map(|mode| (set, mode)))
    {
        let rlwe = params(m, primes);
        let spec = BootstrapSpec { mode, ephemeral_weight: 4, ..BootstrapSpec::default() };
        let plan = Arc::new(BootstrapPlan::new(&rlwe, (p, 1), spec).unwrap());
        let mut t = keyed(plan, 15);
        let own = BootstrapKeys::generate(&t.plan, Scheme::Bgv, &t.secret, &mut t.rng).unwrap();
        let keys = Arc::new(t.keys);
        let bootstrapper = Bootstrapper::new(Arc::clone(&t.plan), Scheme::Bgv, &keys, own).unwrap();
        let engine = Engine::new(Scheme::Bgv, t.plan.message_ring(), keys).unwrap();
        let decryptor = Decryptor::new(Scheme::Bgv, t.plan.message_ring(), Arc::clone(&t.secret));
        let content = message(&t.plan, &mut t.rng);
        let (mut accepted, mut refused) = (0, 0);
        for level in 1..=t.context.top_level() {
            let (mut ct, _) = decryptor.encrypt(&content, level, &mut t.rng).unwrap();
            // Sums with itself double the bound on the noise: one bit of capacity each, then
            // fractions of one by sums with ciphertexts of less noise.
            while bootstrapper.spare_bits(&ct) > 1.0 {
                ct = engine.add(&ct, &ct).unwrap();
            }
            let spare = bootstrapper.spare_bits(&ct);
            let case = format!("m = {m}, p = {p}, {mode:?}, level {level}: spare {spare}, {}", engine.capacity(&ct));
            if spare >= 0.0 {
                accepted += 1;
                assert_eq!(t.plan.check(&ct).err(), None, "{case}");
                for lower in 1..level {
                    let Ok(low) = engine.switch_modulus(&ct, lower) else { continue };
                    let lost = engine.capacity(&ct) - engine.capacity(&low);
                    assert!(lost > spare || t.plan.check(&low).is_ok(), "{case}; {lost} lost to level {lower}");
                }
                if level == t.context.top_level() {
                    let image = bootstrapper.refresh(&ct).unwrap_or_else(|error| panic!("{case}: {error}"));
                    assert!(bootstrapper.spare_bits(&image) > 0.0);
                }
            }
            while t.plan.check(&ct).is_ok() {
                ct = engine.add(&ct, &ct).unwrap();
                refused += 1;
            }
            assert!(bootstrapper.spare_bits(&ct) < 0.0, "{case}");
        }
        assert!(accepted > 5 && refused > 5, "{accepted}, {refused}");
    }
}
