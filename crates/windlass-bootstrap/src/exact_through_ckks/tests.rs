//! Refreshed ciphertexts, compared with the messages that they encrypt and with the noise that the plan
//! states.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_circuits::linear::{InSlots, LinearMap};
use windlass_ring::Poly;
use windlass_rlwe::{Assurance, EvaluationKeys, SecretKey};
use windlass_schemes::Plaintext;
use windlass_schemes::error::{BootstrapError, Error};
use windlass_schemes::evaluator::Evaluator;
use windlass_schemes::schemes::engine::Statement;
use windlass_schemes::schemes::{Ciphertext, Decryptor, Engine, Scheme};

use super::*;

struct Parties {
    plan: Arc<ExactRefreshPlan>,
    decryptor: Decryptor,
    engine: Engine,
    refresher: ExactRefresher,
    rng: ChaCha20Rng,
}

impl Parties {
    fn new(name: &str, scheme: Scheme, seed: u64) -> Self {
        Self::of(ExactRefreshPlan::preset(name).unwrap(), scheme, seed)
    }

    fn of(plan: ExactRefreshPlan, scheme: Scheme, seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let plan = Arc::new(plan);
        let secret = Arc::new(SecretKey::generate(plan.context(), &mut rng));
        let (evaluation, keys) = plan.generate_keys(&secret, &mut rng).unwrap();
        let engine = Engine::new(scheme, plan.slot_ring(), evaluation).unwrap();
        let refresher = ExactRefresher::new(&plan, &engine, keys).unwrap();
        let decryptor = Decryptor::new(scheme, plan.slot_ring(), secret);
        Self { plan, decryptor, engine, refresher, rng }
    }

    fn message(&mut self) -> Plaintext {
        let t = self.plan.spec().plaintext_modulus();
        let coefficients = (0..self.plan.spec().refresh.n).map(|_| self.rng.next_u64() % t).collect();
        Plaintext::new(self.plan.slot_ring(), coefficients).unwrap()
    }

    /// A BFV ciphertext at the base whose error has these coefficients beside those of an encryption, and
    /// states just that.
    fn spent(&mut self, message: &Plaintext, error: impl Fn(usize) -> i64) -> Ciphertext {
        let level = self.plan.level_of(1);
        let (ct, _) = self.decryptor.encrypt(message, level, &mut self.rng).unwrap();
        let n = self.plan.spec().refresh.n;
        let coefficients: Vec<i64> = (0..n).map(error).collect();
        let mut parts = ct.parts().to_vec();
        let error = Poly::from_signed(parts[0].ring(), parts[0].basis(), &coefficients).into_eval();
        parts[0].add_assign(&error);
        let statement =
            Statement { exponent: ct.exponent(), factor: ct.factor(), noise: ct.noise(), content: ct.content() };
        let (context, slots) = ((self.plan.context(), ct.key_id()), (&**self.plan.slot_ring(), ct.scheme()));
        Ciphertext::assembled(context, slots, parts.into(), statement).assume_noise(self.plan.error().most.log2())
    }

    /// The largest coefficient that [`Self::spent`] can add to the error.
    fn largest(&mut self) -> i64 {
        let message = self.message();
        let (ct, _) = self.decryptor.encrypt(&message, self.plan.level_of(1), &mut self.rng).unwrap();
        let own = ct.log2_noise().exp2();
        ((self.plan.error().most - own) / self.plan.spec().plaintext_modulus() as f64).floor() as i64
    }

    fn measured(&self, ct: &Ciphertext) -> f64 {
        self.decryptor.exact_noise_leaks_the_secret_key(ct).unwrap()
    }
}

/// The names of the toys, each with a seed.
fn toys() -> impl Iterator<Item = (&'static str, u64)> {
    exact_refresh_preset_names().filter(|name| name.starts_with("insecure")).zip(1..)
}

/// Errors of any kind within the bound: all at the bound with one sign, at random signs, at random, none, and
/// one coefficient.
#[test]
fn refreshed_ciphertexts_hold_the_message_and_the_noise_that_is_stated() {
    for (name, seed) in toys() {
        let mut parties = Parties::new(name, Scheme::Bfv, seed);
        println!("{}", parties.plan.explain());
        let largest = parties.largest();
        let random: Vec<u64> = (0..parties.plan.spec().refresh.n).map(|_| parties.rng.next_u64()).collect();
        let kinds: [(&str, &dyn Fn(usize) -> i64); 5] = [
            ("one sign", &|_| largest),
            ("random signs", &|k| if random[k] & 1 == 0 { largest } else { -largest }),
            ("random", &|k| (random[k] % (2 * largest as u64 + 1)) as i64 - largest),
            ("none", &|_| 0),
            ("one coefficient", &|k| if k == 3 { largest } else { 0 }),
        ];
        for (kind, error) in kinds {
            let message = parties.message();
            let ct = parties.spent(&message, error);
            let fresh = parties.refresher.refresh(&ct).unwrap();
            let (stated, measured) = (fresh.log2_noise(), parties.measured(&fresh));
            println!(
                "{name}, {kind}: noise 2^{measured} of 2^{stated:.1}, capacity {:.1}",
                parties.engine.capacity(&fresh)
            );
            assert_eq!(parties.decryptor.decrypt(&fresh).unwrap().coefficients(), message.coefficients());
            assert_eq!(fresh.level(), parties.plan.output_level());
            assert!(measured <= stated && stated <= parties.plan.output_noise() + 1e-6);
            assert!(parties.engine.capacity(&fresh) >= parties.plan.output_bits() - 1e-6);
        }
    }
}

/// What each pass leaves, at the modulus of the next one: never above what it states.
#[test]
fn each_pass_leaves_no_more_than_it_states() {
    for seed in 1..4 {
        let mut parties = Parties::of(small((65537, 1)), Scheme::Bfv, seed);
        let (largest, message) = (parties.largest(), parties.message());
        let ct = parties.spent(&message, |k| if k % 3 == 0 { largest } else { -largest });
        let (mut x, mut most) = (ct, parties.plan.error().most);
        for pass in 1..=parties.plan.spec().passes {
            let next = parties.refresher.pass(pass, (&x, most), &mut |_, _| ControlFlow::Continue(())).unwrap();
            (x, most) = next;
            let level = if pass == parties.plan.spec().passes { x.level() } else { parties.plan.level_of(pass + 1) };
            let measured = parties.measured(&parties.engine.switch_modulus(&x, level).unwrap());
            println!("seed {seed}, pass {pass}: 2^{measured} of 2^{:.1}", most.log2());
            assert!(measured <= most.log2() + 1.0);
            assert_eq!(parties.decryptor.decrypt(&x).unwrap().coefficients(), message.coefficients());
        }
    }
}

/// A chain of squares that is longer than a refresh reaches, with the refreshes that it needs, in both schemes.
#[test]
fn products_of_any_depth_refresh_by_themselves() {
    let thirty_bits = (1_006_108_673, 1);
    let cases = [
        (Scheme::Bgv, (257, 1)),
        (Scheme::Bfv, (2, 16)),
        (Scheme::Bgv, (2, 1)),
        (Scheme::Bgv, (65537, 1)),
        (Scheme::Bfv, thirty_bits),
    ];
    for (scheme, modulus) in cases {
        let mut parties = Parties::of(small(modulus), scheme, 7);
        let plan = Arc::clone(&parties.plan);
        let message = parties.message();
        let (ct, _) = parties.decryptor.encrypt(&message, plan.output_level(), &mut parties.rng).unwrap();
        let before = parties.engine.depth_left(&ct);
        let engine = parties.engine.refreshing_with(Arc::new(parties.refresher));
        let quotient = plan.slot_ring().quotient();
        let (mut x, mut wanted) = (ct, message.coefficients().to_vec());
        for _ in 0..before + 4 {
            x = engine.square(&x).unwrap();
            wanted = quotient.mul(&wanted, &wanted);
        }
        assert_eq!(parties.decryptor.decrypt(&x).unwrap().coefficients(), wanted);
    }
}

/// A plan of a ring of dimension 128, without security.
fn small(modulus: (u64, u32)) -> ExactRefreshPlan {
    ExactRefreshPlan::of_shape(&small_spec(modulus)).unwrap()
}

fn small_spec(modulus: (u64, u32)) -> ExactRefreshSpec {
    let assurance = Assurance::Insecure { name: "insecure_small".into() };
    ExactRefreshSpec::new(128, modulus, (3, 26), assurance).unwrap()
}

#[test]
fn plaintext_moduli_and_passes_out_of_range_are_refused() {
    let refused = |n, modulus, passes| {
        let assurance = Assurance::Insecure { name: "insecure_small".into() };
        ExactRefreshSpec::new(n, modulus, passes, assurance).unwrap_err()
    };
    let cases = [
        (128, (15, 1), (2, 26), "a prime"),
        (128, (65537, 2), (2, 26), "exponent r"),
        (128, (2, 21), (2, 26), "exponent r"),
        (128, (2, 0), (2, 26), "exponent r"),
        (128, (2_199_023_255_579, 1), (2, 26), "log2 of the plaintext modulus"),
        (128, (65537, 1), (0, 26), "the number of passes"),
        (128, (65537, 1), (2, 24), "the bits of a pass"),
        (100, (65537, 1), (2, 26), "the ring dimension"),
    ];
    for (n, modulus, passes, named) in cases {
        let error = refused(n, modulus, passes);
        assert!(matches!(error, Error::OutOfRange { .. } | Error::Rlwe(_)), "{error:?}");
        assert!(error.to_string().contains(named), "{error}");
    }
}

#[test]
fn choosing_says_what_is_missing() {
    let of =
        |n, prime, products| ExactRefreshPlan::choose(&ExactRefreshRequirements { n, prime, exponent: 1, products });
    let error = of(Some(1 << 14), 65537, 1).unwrap_err();
    assert!(matches!(error, Error::OutOfRange { .. } | Error::Rlwe(_)), "{error:?}");
    let error = of(None, 65537, 38).unwrap_err().to_string();
    assert!(error.contains("n = 65536: ") && error.contains("too few"), "{error}");
}

/// A stop at the last step of a pass that another follows is one.
#[test]
fn a_stop_between_passes_stops() {
    let mut parties = Parties::of(small((257, 1)), Scheme::Bfv, 5);
    let message = parties.message();
    let ct = parties.spent(&message, |_| 0);
    let mut last = None;
    let whole = parties.refresher.refresh_with(&ct, &mut |pass, step| {
        if pass == 1 {
            last = Some(step);
        }
        ControlFlow::Continue(())
    });
    whole.unwrap();
    let stop =
        |pass, step| if pass == 1 && Some(step) == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let error = parties.refresher.refresh_with(&ct, &mut { stop }).unwrap_err();
    assert!(matches!(error, Error::Cancelled { .. }), "{error}");
}

/// Plans may refuse them for want of room, but their size is in the range that is documented.
#[test]
fn primes_just_below_40_bits_are_in_range() {
    for n in [1 << 10, 1 << 15, 1 << 16, 1 << 17] {
        let spec = ExactRefreshSpec::new(n, ((1 << 40) - 87, 1), (3, 26), Assurance::Secure).unwrap();
        spec.check().unwrap();
    }
}

#[test]
fn maps_of_slots_are_refused_where_there_are_none() {
    let plan = small((2, 16));
    let ring = plan.slot_ring();
    let matrix = LinearMap::<InSlots>::from_matrix(ring, |_, _| vec![1]).unwrap_err();
    let frobenius = LinearMap::slotwise(ring, |_, _| {}).unwrap_err();
    for error in [matrix, frobenius] {
        assert!(error.to_string().contains("has no slots"), "{error}");
    }
    assert!(small((257, 1)).slot_ring().check_slots().is_ok());
}

/// A plan whose passes cannot gain the bits of their primes says so, instead of giving a wrong message.
#[test]
fn a_precision_that_is_too_low_is_refused() {
    let mut spec = small_spec((65537, 1));
    spec.refresh = spec.refresh.clone().with_sine_precision(20.0).unwrap();
    let error = ExactRefreshPlan::of_shape(&spec).unwrap_err();
    assert!(matches!(&error, Error::NoParameters { reason } if reason.contains("gains")), "{error}");
    let mut sparse = small_spec((65537, 1));
    sparse.refresh.slots = 16;
    let error = ExactRefreshPlan::of_shape(&sparse).unwrap_err();
    assert!(matches!(error, Error::Bootstrap(BootstrapError::Unsupported { .. })), "{error}");
}

#[test]
fn ciphertexts_and_keys_that_do_not_fit_are_refused_before_any_work() {
    let mut parties = Parties::of(small((65537, 1)), Scheme::Bfv, 3);
    let mut others = Parties::of(small((257, 1)), Scheme::Bfv, 4);
    let message = parties.message();
    let plan = Arc::clone(&parties.plan);
    let (own, _) = parties.decryptor.encrypt(&message, plan.output_level(), &mut parties.rng).unwrap();

    // Its bound leaves less than the first pass takes.
    let spent = parties.spent(&message, |_| 0).assume_noise(plan.error().most.log2() + 0.1);
    let error = parties.refresher.refresh(&spent).unwrap_err();
    assert!(
        matches!(error, Error::Bootstrap(BootstrapError::CapacityTooLow { missing_bits, .. }) if missing_bits > 0.0),
        "{error}"
    );
    // Another context, another scheme.
    let message = others.message();
    let (foreign, _) = others.decryptor.encrypt(&message, 2, &mut others.rng).unwrap();
    let refused = [foreign, own.to_scheme(Scheme::Bgv)].map(|ct| parties.refresher.refresh(&ct).unwrap_err());
    for error in refused {
        assert!(matches!(error, Error::Bootstrap(BootstrapError::WrongContext { .. })), "{error}");
    }
    // Another key pair of the same context.
    let secret = Arc::new(SecretKey::generate(plan.context(), &mut parties.rng));
    let stranger = Decryptor::new(Scheme::Bfv, plan.slot_ring(), Arc::clone(&secret));
    let message = parties.message();
    let (ct, _) = stranger.encrypt(&message, plan.output_level(), &mut parties.rng).unwrap();
    let error = parties.refresher.refresh(&ct).unwrap_err();
    assert!(matches!(error, Error::OtherKeyPair { .. }), "{error}");
    // Keys of that pair with the engine of this one, and an engine without keys.
    let (_, keys) = plan.generate_keys(&secret, &mut parties.rng).unwrap();
    let error = ExactRefresher::new(&plan, &parties.engine, keys).err().expect("keys of another pair");
    assert!(matches!(error, Error::OtherKeyPair { .. }), "{error}");
    let (_, keys) = plan.generate_keys(&secret, &mut parties.rng).unwrap();
    let bare = Engine::new(Scheme::Bfv, plan.slot_ring(), Arc::new(EvaluationKeys::of(&secret))).unwrap();
    let error = ExactRefresher::new(&plan, &bare, keys).err().expect("no keys");
    let is_named = matches!(
        error,
        Error::Bootstrap(BootstrapError::MissingKey { .. } | BootstrapError::MissingRelinearisationKey { .. })
    );
    assert!(is_named, "{error}");
}

#[test]
fn a_refresh_can_be_stopped_between_steps() {
    let mut parties = Parties::of(small((65537, 1)), Scheme::Bfv, 3);
    let message = parties.message();
    let ct = parties.spent(&message, |_| 0);
    let mut steps = Vec::new();
    let result = parties.refresher.refresh_with(&ct, &mut |pass, step| {
        steps.push((pass, step));
        if pass == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(result, Err(Error::Cancelled { .. })));
    assert_eq!(steps.last().map(|&(pass, _)| pass), Some(2));
    assert_eq!(steps.iter().filter(|&&(pass, _)| pass == 2).count(), 1);
}

/// A ciphertext with less noise begins at a later pass, and holds the same message.
#[test]
fn less_noise_takes_fewer_passes() {
    let mut parties = Parties::of(small((65537, 1)), Scheme::Bfv, 5);
    let message = parties.message();
    let (ct, _) = parties.decryptor.encrypt(&message, parties.plan.output_level(), &mut parties.rng).unwrap();
    let spent = parties.spent(&message, |_| 0);
    assert_eq!(parties.refresher.check(&spent).unwrap(), 1);
    assert_eq!(parties.refresher.check(&ct).unwrap(), parties.plan.spec().passes);
    let mut passes = Vec::new();
    let fresh = parties.refresher.refresh_with(&ct, &mut |pass, _| {
        passes.push(pass);
        ControlFlow::Continue(())
    });
    assert!(passes.iter().all(|&pass| pass == parties.plan.spec().passes));
    assert_eq!(parties.decryptor.decrypt(&fresh.unwrap()).unwrap().coefficients(), message.coefficients());
}

/// A set with security, modulo 65537 unless `WINDLASS_REFRESH` names another: all its passes, checked, and their
/// seconds. Takes minutes and some GB.
#[test]
fn full_size() {
    if std::env::var_os("WINDLASS_NIGHTLY").is_none() {
        return;
    }
    let name = std::env::var("WINDLASS_REFRESH").unwrap_or("exact_n65536_p65537".into());
    let start = Instant::now();
    let mut parties = Parties::new(&name, Scheme::Bfv, 1);
    let [keys, constants] =
        [parties.refresher.key_bytes(), parties.refresher.constant_bytes()].map(|bytes| bytes as f64 / 1e9);
    println!("{keys:.2} GB of keys, {constants:.2} of constants");
    println!("{}\nset-up in {:.1?}", parties.plan.explain(), start.elapsed());
    let (largest, message) = (parties.largest(), parties.message());
    let random: Vec<u64> = (0..parties.plan.spec().refresh.n).map(|_| parties.rng.next_u64()).collect();
    let ct = parties.spent(&message, |k| if random[k] & 1 == 0 { largest } else { -largest });
    for _ in 0..2 {
        let start = Instant::now();
        let fresh = parties.refresher.refresh(&ct).unwrap();
        let (took, measured) = (start.elapsed(), parties.measured(&fresh));
        assert_eq!(parties.decryptor.decrypt(&fresh).unwrap().coefficients(), message.coefficients());
        let (stated, capacity) = (fresh.log2_noise(), parties.engine.capacity(&fresh));
        println!("{name}: {took:.1?}, noise 2^{measured} of 2^{stated:.1}, capacity {capacity:.1}");
        assert!(measured <= stated);
    }
}

/// Every set with security has its λ, and room for a product between two refreshes.
#[test]
fn full_size_sets_have_room_for_a_product() {
    if std::env::var_os("WINDLASS_NIGHTLY").is_none() {
        return;
    }
    for name in exact_refresh_preset_names().filter(|name| !name.starts_with("insecure")) {
        let plan = ExactRefreshPlan::preset(name).unwrap();
        println!("{name}: {}", plan.explain().lines().take(6).collect::<Vec<_>>().join("\n"));
        assert!(plan.depth_between() >= 1, "{name}");
    }
}
