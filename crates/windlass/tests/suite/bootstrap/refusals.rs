//! What a plan, a bootstrapper and a refresh refuse, by name.

use super::*;
use windlass::bootstrap::BootstrapPreset;
use windlass::needs::Products;
use windlass_ring::kernels::Isa;
use windlass_ring::slots::{Hypercube, SlotRing};

#[test]
fn transforms_that_a_ring_lacks_are_refused() {
    for (m, p) in [(64, 257), (105, 2)] {
        let spec = BootstrapSpec { transform: Transform::BRUUN, ephemeral_weight: 6, ..BootstrapSpec::default() };
        let refused = plan(params(m, 14), (p, 1), spec).err();
        assert!(matches!(refused, Some(Error::Bootstrap(BootstrapError::Unsupported { .. }))), "{refused:?}");
    }
    assert_eq!("bruun".parse::<Transform>().unwrap(), Transform::BRUUN);
    assert!("radix3".parse::<Transform>().is_err());
}

#[test]
fn plaintext_moduli_that_are_no_prime_powers_are_named() {
    for (m, p, r) in [(1705, 4, 1), (105, 0, 1), (105, 1, 1), (105, 15, 2)] {
        let refused = plan(params(m, 4), (p, r), BootstrapSpec::default()).unwrap_err().to_string();
        assert!(refused.contains("the base is not a prime"), "p = {p}: {refused}");
    }
}

/// Whether a bootstrapping error of this kind came.
fn is(found: Option<Error>, wanted: fn(&BootstrapError) -> bool) -> bool {
    matches!(found, Some(Error::Bootstrap(ref error)) if wanted(error))
}

#[test]
fn missing_and_foreign_keys_are_refused() {
    let toy = toy();
    let (client, server) = toy.parties(9);
    let (plan, own) = server.bootstrappings().next().unwrap();
    let make = |scheme, server: &Server, own: &BootstrapKeys| {
        Bootstrapper::new(Arc::clone(plan), scheme, server.engine().keys(), own.clone())
    };
    // A missing Galois key, and no relinearisation key.
    let stage = plan.stages().iter().find(|stage| !stage.keys.is_empty()).unwrap();
    let missing = *stage.keys.iter().next().unwrap();
    let refused = make(Scheme::Bgv, &client.generate_server([]).unwrap(), own);
    assert!(is(refused.err(), |error| matches!(error, BootstrapError::MissingRelinearisationKey { .. })));
    match make(Scheme::Bgv, &client.generate_server([&Products]).unwrap(), own).err() {
        Some(Error::Bootstrap(BootstrapError::MissingKey { stage: named, element })) => {
            assert_eq!((named, element), (stage.name.to_string(), missing));
        }
        other => panic!("{other:?}"),
    }
    // Keys of the other scheme.
    let refused = make(Scheme::Bfv, &server, own);
    assert!(is(refused.err(), |error| matches!(error, BootstrapError::WrongContext { .. })));
    // Keys of a plan with other ephemeral secrets, and of one with another plaintext modulus.
    for (weight, r) in [(8, 1), (6, 2)] {
        let spec = BootstrapSpec { ephemeral_weight: weight, ..BootstrapSpec::default() };
        let other = BootstrapPlan::new(plan.params(), (2, r), spec).unwrap();
        let rng = &mut ChaCha20Rng::seed_from_u64(9);
        let theirs = BootstrapKeys::generate(&other, Scheme::Bgv, client.secret_key(), rng).unwrap();
        let refused = make(Scheme::Bgv, &server, &theirs);
        assert!(is(refused.err(), |error| matches!(error, BootstrapError::WrongContext { .. })));
    }
}

/// A ciphertext without capacity, and one of another scheme.
#[test]
fn spent_and_foreign_ciphertexts_are_refused() {
    let toy = toy();
    let (client, server) = toy.parties(9);
    // One that does not refresh by itself.
    let bare = toy.context.server_without_keys().unwrap();
    let mut spent = encrypt_at(&client, &Plaintext::one(toy.plan.message_ring()), 3);
    while server.capacity(&spent) > 3.0 {
        spent = bare.add(&spent, &spent).unwrap();
    }
    let refused = server.refresh(&spent);
    assert!(is(refused.err(), |error| matches!(error, BootstrapError::CapacityTooLow { .. })));
    let refused = server.refresh(&spent.to_scheme(Scheme::Bfv));
    assert!(is(refused.err(), |error| matches!(error, BootstrapError::WrongContext { .. })));
}

/// One ciphertext that is refused keeps the others from being refreshed.
#[test]
fn lists_are_refused_before_any_work() {
    let toy = toy();
    let (client, server) = toy.parties(9);
    let bootstrapper = bootstrapper(&server);
    let good = encrypt_at(&client, &Plaintext::one(toy.plan.message_ring()), 6);
    let before = bootstrapper.random_events();
    let refused = bootstrapper.refresh_list(&[good.clone(), good.to_scheme(Scheme::Bfv)], RefreshOptions::new());
    assert!(is(refused.err(), |error| matches!(error, BootstrapError::WrongContext { .. })));
    assert_eq!(bootstrapper.random_events(), before);
    assert_eq!(bootstrapper.refresh_list(&[good.clone(), good], RefreshOptions::new()).unwrap().len(), 2);
}

/// Keys that are there stay what they are, each at the level of its stage or above.
#[test]
fn keys_are_added_where_they_are_missing() {
    let toy = toy();
    let (client, _) = toy.parties(9);
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let mut keys = EvaluationKeys::of(client.secret_key());
    toy.plan.add_keys(&mut keys, client.secret_key(), &mut rng).unwrap();
    let levels = toy.plan.required_key_levels();
    assert!(!levels.is_empty());
    for (element, level) in levels {
        assert!(keys.galois(element).unwrap().level() >= level, "{element}");
    }
    let products = *keys.relinearisation().unwrap().seed();
    assert_eq!(keys.relinearisation().unwrap().level(), toy.plan.params().top_level());
    toy.plan.add_keys(&mut keys, client.secret_key(), &mut rng).unwrap();
    assert_eq!(*keys.relinearisation().unwrap().seed(), products);
    // A secret key of other parameters makes none.
    let other = toy_with(params(64, 14), (257, 1), toy.plan.spec().clone());
    let refused = BootstrapKeys::generate(&other.plan, Scheme::Bgv, client.secret_key(), &mut rng);
    assert!(is(refused.err(), |error| matches!(error, BootstrapError::WrongContext { .. })));
}

/// Chains that are too short, for a stage or to leave anything: the stage is named.
#[test]
fn short_chains_name_the_stage() {
    let stage = |primes: usize| {
        let spec = BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() };
        match plan(chain(105, vec![26; primes]), (2, 1), spec) {
            Err(Error::Bootstrap(BootstrapError::ChainTooShort { stage, missing_bits })) => {
                assert!(missing_bits > 0.0, "{stage}");
                Some(stage)
            }
            Ok(_) => None,
            Err(other) => panic!("{other:?}"),
        }
    };
    let stages: Vec<String> = (4..).map_while(stage).collect();
    assert!(stages.iter().any(|name| name == "digit removal"), "{stages:?}");
    assert_eq!(stages.last().map(String::as_str), Some("what is left for computing"), "{stages:?}");
    // One short chain more.
    let spec = BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() };
    let refused = plan(params(105, 4), (2, 1), spec);
    assert!(is(refused.err(), |error| matches!(error, BootstrapError::ChainTooShort { .. })));
}

/// The message shows the whole partition and what it has to be, thin and packed.
#[test]
fn partitions_that_do_not_fit_are_refused() {
    for (mode, (m, p), ends, count) in [
        (Mode::Thin, (64, 257), vec![0, 5], 5),
        (Mode::Thin, (64, 257), vec![5, 5], 5),
        (Mode::Thin, (64, 257), vec![4, 3, 5], 5),
        (Mode::Packed, (105, 2), vec![0, 1], 1),
    ] {
        for search in [Partition::default(), Partition::LeastTime] {
            let spec = BootstrapSpec { mode, partition: search, ephemeral_weight: 6, ..BootstrapSpec::default() };
            for spec in [
                BootstrapSpec { to_slots: Some(ends.clone()), ..spec.clone() },
                BootstrapSpec { to_coefficients: Some(ends.clone()), ..spec.clone() },
            ] {
                let refused = plan(params(m, 14), (p, 1), spec).err();
                let wanted = BootstrapError::Partition { ends: ends.clone(), count };
                let text = wanted.to_string();
                assert!(text.contains(&format!("{ends:?}")) && text.contains(&format!("end with {count}")), "{text}");
                assert_eq!(refused, Some(Error::Bootstrap(wanted)), "{mode:?} m = {m}");
            }
        }
    }
}

/// Under secure parameters, where a bound on the noise fails with a probability that matters; not
/// under others.
#[test]
fn likely_failures_are_refused_under_secure_parameters() {
    let refused = |name: &str, failure_bits: f64| {
        let preset = BootstrapPreset::named(name, Mode::Thin).unwrap();
        let spec = BootstrapSpec { failure_bits, ..preset.spec };
        BootstrapPlan::new(preset.params.rlwe(), (preset.params.p(), preset.params.r()), spec).err()
    };
    for got in [1.0, 39.9] {
        let wanted = BootstrapError::TooLikelyToFail { got, least: 40.0 };
        assert!(wanted.to_string().contains("Insecure"), "{wanted}");
        assert_eq!(refused("boot_n32768_p257", got), Some(Error::Bootstrap(wanted)));
    }
    for got in [1.0, 40.0, 128.0] {
        assert_eq!(refused("insecure_boot_105", got), None);
    }
}

/// As the bootstrapper of ciphertexts, which a program on the mock stands for.
#[test]
fn the_mock_refuses_what_is_not_of_its_plan() {
    let spec = BootstrapSpec { ephemeral_weight: 4, ..BootstrapSpec::default() };
    let plan = Arc::new(plan(params(64, 20), (17, 2), spec).unwrap());
    let (ring, mock) = (plan.message_ring(), ClearBootstrapper::new(Arc::clone(&plan), 1).unwrap());
    let clear = Clear::new(ring);
    let low = clear.divide_by_p(&clear.encrypt(&Plaintext::scalar(ring, 17)).unwrap()).unwrap();
    let refused = BootstrapError::WrongPlaintextModulus { expected: 2, found: 1 };
    assert_eq!(mock.refresh(&low).err(), Some(Error::Bootstrap(refused)));
    let inverse = |g: u64| (1..64).find(|h| g * h % 64 == 1).unwrap();
    let generators: Vec<u64> = ring.hypercube().dimensions().iter().map(|line| inverse(line.generator)).collect();
    let turned = Hypercube::with_generators(64, 17, &generators).unwrap();
    assert_ne!(turned, **ring.hypercube());
    let turned = Arc::new(SlotRing::with_hypercube(turned, 2, Isa::best()).unwrap());
    let x = Clear::new(&turned).encrypt(&Plaintext::one(&turned)).unwrap();
    assert!(matches!(mock.refresh(&x).err(), Some(Error::OtherSlotOrder { .. })));
    let other = Arc::new(SlotRing::new(64, 7, 2, Isa::best()).unwrap());
    let x = Clear::new(&other).encrypt(&Plaintext::one(&other)).unwrap();
    let refused = BootstrapError::WrongContext { what: "the ciphertext" };
    assert_eq!(mock.refresh(&x).err(), Some(Error::Bootstrap(refused)));
    // A lower exponent of another ring is that of the plan.
    let three = Arc::new(SlotRing::with_hypercube(Hypercube::clone(ring.hypercube()), 3, Isa::best()).unwrap());
    let wide = Clear::new(&three);
    let quotient = wide.divide_by_p(&wide.encrypt(&Plaintext::scalar(&three, 3 * 17)).unwrap()).unwrap();
    assert_eq!(mock.refresh(&quotient).unwrap().plaintext(), Plaintext::scalar(ring, 3));
}
