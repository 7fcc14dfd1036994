//! Refreshed ciphertexts, compared with the messages that they encrypt and with the error that is stated.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_rlwe::{Assurance, EvaluationKeys, SecretKey};
use windlass_schemes::error::{BootstrapError, Error};
use windlass_schemes::schemes::ckks::{Ciphertext, Decryptor, Engine, Stated, Wide, WideComplex};

use super::*;

struct Parties {
    plan: Arc<PreciseRefreshPlan>,
    decryptor: Decryptor,
    engine: Engine,
    refresher: PreciseRefresher,
    rng: ChaCha20Rng,
}

fn toy(n: usize, passes: (usize, u32), depth: usize) -> PreciseRefreshSpec {
    let assurance = Assurance::Insecure { name: "insecure_precise".into() };
    PreciseRefreshSpec::new(n, passes, depth, assurance).unwrap()
}

impl Parties {
    fn new(spec: &PreciseRefreshSpec, seed: u64) -> Self {
        Self::of(PreciseRefreshPlan::of_shape(spec).unwrap(), seed)
    }

    fn of(plan: PreciseRefreshPlan, seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let plan = Arc::new(plan);
        let secret = Arc::new(SecretKey::generate(plan.context().rlwe(), &mut rng));
        let mut evaluation = EvaluationKeys::of(&secret);
        let keys = plan.add_keys(&mut evaluation, &secret, &mut rng).unwrap();
        let engine = Engine::new(plan.context(), Arc::new(evaluation)).unwrap();
        let refresher = PreciseRefresher::new(&plan, &engine, keys).unwrap();
        let decryptor = Decryptor::new(plan.context(), secret).unwrap();
        Self { plan, decryptor, engine, refresher, rng }
    }

    fn values(&mut self, count: usize) -> Vec<WideComplex> {
        values(count, &mut self.rng)
    }

    fn encrypt(&mut self, values: &[WideComplex], level: usize) -> Ciphertext {
        self.decryptor.encrypt_wide(values, 1.0, level, &mut self.rng).unwrap().0
    }

    /// The largest error of a slot.
    fn worst(&self, ct: &Ciphertext, wanted: &[WideComplex]) -> f64 {
        let seen = self.decryptor.decrypt_wide(ct).unwrap();
        seen.iter().zip(wanted).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max)
    }
}

/// Numbers of absolute value at most 1, with more bits than doubles have.
fn values(count: usize, rng: &mut ChaCha20Rng) -> Vec<WideComplex> {
    let mut part = || {
        let mut word = || (rng.next_u64() >> 12) as f64 / 2f64.powi(51) - 1.0;
        Wide::sum(word(), word() * 2f64.powi(-54)) * Wide::from(std::f64::consts::FRAC_1_SQRT_2)
    };
    (0..count).map(|_| WideComplex { re: part(), im: part() }).collect()
}

/// −log2 of the largest error: seen, and as stated in the mean and at worst.
fn compare(parties: &Parties, ct: &Ciphertext, wanted: &[WideComplex]) -> (f64, f64, f64) {
    let worst = parties.worst(ct, wanted);
    assert!(worst <= ct.error_bound(), "2^{:.1} of 2^{:.1}", worst.log2(), ct.error_bound().log2());
    (-worst.log2(), ct.precision_bits(), -ct.error_bound().log2())
}

/// Messages in all slots and in some of them, with random seeds: every error is below the stated bound, and what is expected
/// is near.
#[test]
fn every_pass_adds_its_bits() {
    let cases = [
        ((1 << 10, 1 << 9), (1, 26), 18.0),
        ((1 << 10, 1 << 9), (2, 26), 46.0),
        ((1 << 10, 1 << 9), (3, 26), 70.0),
        ((1 << 10, 1 << 4), (3, 26), 70.0),
        ((1 << 9, 1 << 8), (3, 25), 70.0),
        ((1 << 9, 1 << 8), (3, 28), 76.0),
        ((1 << 7, 1), (2, 28), 52.0),
    ];
    for ((n, slots), passes, least) in cases {
        let mut parties = Parties::new(&toy(n, passes, 1), 1 + passes.0 as u64);
        for _ in 0..2 {
            let values = parties.values(slots);
            let base = parties.plan.context().base_level();
            let ct = parties.encrypt(&values, base);
            let before = compare(&parties, &ct, &values);
            let fresh = parties.refresher.refresh(&ct).unwrap();
            assert_eq!(fresh.level(), parties.plan.context().top_level());
            let (seen, stated, bound) = compare(&parties, &fresh, &values);
            println!(
                "{n}, {slots}, {passes:?}: before {before:.1?}, seen {seen:.1}, stated {stated:.1}, at worst {bound:.1}"
            );
            println!("{:.1?}", parties.plan.bits());
            // The largest of a few errors may be much smaller than their deviation.
            let room = if slots < 16 { 12.0 } else { 4.0 };
            assert!(seen > least && seen < stated + room && seen > stated - 0.5);
            assert!(bound > stated - 7.0, "a bound that is far from what is expected: {bound}");
        }
    }
}

/// With the sums of secrets that several parties have.
#[test]
fn every_pass_adds_its_bits_for_several_parties() {
    for (n, passes, count, least) in [(1 << 10, (3, 26), 3, 70.0), (1 << 9, (1, 26), 8, 18.0)] {
        let spec = toy(n, passes, 1).with_parties(count).unwrap();
        let mut parties = Parties::new(&spec, u64::from(count));
        for slots in [n / 2, 16] {
            let values = parties.values(slots);
            let base = parties.plan.context().base_level();
            let ct = parties.encrypt(&values, base);
            let fresh = parties.refresher.refresh(&ct).unwrap();
            let (seen, stated, bound) = compare(&parties, &fresh, &values);
            println!(
                "{count} parties, {n}, {slots}, {passes:?}: seen {seen:.1}, stated {stated:.1}, at worst {bound:.1}"
            );
            assert!(seen > least && seen < stated + 5.0 && seen > stated - 0.5);
        }
    }
}

/// One large coefficient, and slots at their bound.
#[test]
fn messages_at_their_bound_keep_their_bits() {
    let mut parties = Parties::new(&toy(1 << 9, (3, 26), 1), 3);
    let base = parties.plan.context().base_level();
    let third = Wide::ONE / Wide::from(3.0);
    for value in [WideComplex::new(1.0, 0.0), WideComplex::new(0.0, -1.0), WideComplex::new(third, -third)] {
        let values = vec![value; 1 << 8];
        let ct = parties.encrypt(&values, base);
        let fresh = parties.refresher.refresh(&ct).unwrap();
        let (seen, stated, _) = compare(&parties, &fresh, &values);
        assert!(seen > 70.0 && seen > stated - 0.5, "{value:?}: {seen} of {stated}");
    }
}

/// Squares in sequence: more of them than there are levels, with the refreshes that they need. Also of a message
/// in few slots: what is beside it is multiplied with it.
#[test]
fn products_of_any_depth_keep_sixty_bits() {
    let Parties { plan, decryptor, engine, refresher, rng } = Parties::new(&toy(1 << 9, (3, 26), 2), 4);
    let refresher: Arc<dyn windlass_schemes::schemes::Refresh<Ciphertext>> = Arc::new(refresher);
    let engine = engine.refreshing_with(refresher);
    let mut rng = rng;
    for slots in [1 << 8, 1 << 4] {
        let values = values(slots, &mut rng);
        let (mut x, _) = decryptor.encrypt_wide(&values, 1.0, plan.context().top_level(), &mut rng).unwrap();
        let mut wanted = values;
        for product in 0..5 {
            x = engine.multiply(&x, &x).unwrap();
            wanted = wanted.iter().map(|&z| z * z).collect();
            let seen = decryptor.decrypt_wide(&x).unwrap();
            let worst = seen.iter().zip(&wanted).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max);
            let (seen, stated, bound) = (-worst.log2(), x.precision_bits(), -x.error_bound().log2());
            println!("{slots} slots, product {product}: {seen:.1} of {stated:.1}, at worst {bound:.1}");
            assert!(worst <= x.error_bound() && seen > 60.0);
        }
    }
}

/// A smaller scale than the passes allow: the first pass gains fewer bits, the rest is the same.
#[test]
fn a_smaller_scale_leaves_the_bits_that_it_has() {
    let mut spec = toy(1 << 9, (3, 26), 1);
    spec.scale_bits -= 10;
    let mut parties = Parties::new(&spec, 5);
    let base = parties.plan.context().base_level();
    assert!(parties.plan.most() > 2000.0 && parties.plan.most() < 2060.0);
    let values = parties.values(1 << 8);
    let ct = parties.encrypt(&values, base);
    let fresh = parties.refresher.refresh(&ct).unwrap();
    let (seen, stated, _) = compare(&parties, &fresh, &values);
    assert!(seen > 60.0 && seen > stated - 0.5 && seen < stated + 4.0, "{seen} of {stated}");
    // A thousand times as large.
    let large: Vec<WideComplex> = values.iter().map(|&z| z * WideComplex::new(1000.0, 0.0)).collect();
    let (ct, _) = parties.decryptor.encrypt_wide(&large, 1000.0, base, &mut parties.rng).unwrap();
    let fresh = parties.refresher.refresh(&ct).unwrap();
    let (seen, stated, _) = compare(&parties, &fresh, &large);
    assert!(seen > 60.0 && seen > stated - 0.5, "{seen} of {stated}");
}

#[test]
fn ciphertexts_and_keys_that_do_not_fit_are_refused_before_any_work() {
    let mut parties = Parties::new(&toy(1 << 7, (2, 26), 1), 6);
    let mut others = Parties::new(&toy(1 << 7, (3, 26), 1), 7);
    let base = parties.plan.context().base_level();
    let values = parties.values(1 << 6);
    let refused = |ct: &Ciphertext| parties.refresher.refresh(ct).unwrap_err();
    // Another context, with another scale.
    let foreign = others.encrypt(&values, others.plan.context().base_level());
    assert!(matches!(refused(&foreign), Error::ContextMismatch { .. }));
    // Too large.
    let (large, _) = parties.decryptor.encrypt_wide(&values, 2.1, base, &mut parties.rng).unwrap();
    assert!(matches!(refused(&large), Error::Bootstrap(BootstrapError::BoundTooLarge { .. })));
    // Another key pair of the same context.
    let secret = Arc::new(SecretKey::generate(parties.plan.context().rlwe(), &mut parties.rng));
    let stranger = Decryptor::new(parties.plan.context(), Arc::clone(&secret)).unwrap();
    let (ct, _) = stranger.encrypt_wide(&values, 1.0, base, &mut parties.rng).unwrap();
    assert!(matches!(refused(&ct), Error::OtherKeyPair { .. }));
    // Keys of that pair, and an engine without keys or of another context.
    let mut evaluation = EvaluationKeys::of(&secret);
    let keys = parties.plan.add_keys(&mut evaluation, &secret, &mut parties.rng).unwrap();
    let error = PreciseRefresher::new(&parties.plan, &parties.engine, keys.clone()).err().expect("another pair");
    assert!(matches!(error, Error::OtherKeyPair { .. }), "{error}");
    let bare = Engine::new(parties.plan.context(), Arc::new(EvaluationKeys::of(&secret))).unwrap();
    let error = PreciseRefresher::new(&parties.plan, &bare, keys.clone()).err().expect("no keys");
    let is_named = matches!(
        error,
        Error::Bootstrap(BootstrapError::MissingKey { .. } | BootstrapError::MissingRelinearisationKey { .. })
    );
    assert!(is_named, "{error}");
    let error = PreciseRefresher::new(&parties.plan, &others.engine, keys).err().expect("another context");
    assert!(matches!(error, Error::Bootstrap(BootstrapError::WrongContext { .. })), "{error}");
}

/// A first pass reads the error of the message too: together they have to fit.
#[test]
fn errors_that_do_not_fit_beside_their_message_are_refused() {
    let mut parties = Parties::new(&toy(1 << 7, (2, 26), 1), 6);
    let values = parties.values(1 << 6);
    let base = parties.plan.context().base_level();
    let ct = parties.encrypt(&values, base);
    let stated = |deviation| Stated { slots: 1 << 6, magnitude: parties.plan.most() - 0.5, deviation };
    let near = ct.clone().restated(stated(0.4 / 72.0));
    assert!(parties.plan.accepts(&near) && parties.refresher.check(&near).is_ok());
    let far = ct.restated(stated(0.6 / 72.0));
    assert!(!parties.plan.accepts(&far));
    let error = parties.refresher.refresh(&far).unwrap_err();
    assert!(matches!(error, Error::Bootstrap(BootstrapError::BoundTooLarge { .. })), "{error}");
}

/// Messages are encoded to 90 bits, so no pass states more; and the errors of a pass are stated for all that it reads.
#[test]
fn passes_state_no_more_bits_than_messages_have() {
    let plan = PreciseRefreshPlan::of_shape(&toy(1 << 7, (4, 28), 0)).unwrap();
    println!("{:.1?}", plan.bits());
    assert!(plan.bits().iter().all(|bits| bits.mean <= 90.0 && bits.worst <= 90.0));
    assert!(plan.bits()[3].mean > 85.0);
    assert!((1..=4).all(|pass| plan.bounds().largest(pass) <= plan.bounds().covered()));
}

/// Wherever it stops before its end, the last step of a first pass included.
#[test]
fn a_refresh_can_be_stopped_between_passes() {
    let mut parties = Parties::new(&toy(1 << 6, (2, 26), 1), 8);
    let values = parties.values(1 << 5);
    let ct = parties.encrypt(&values, parties.plan.context().base_level());
    let mut steps = Vec::new();
    let whole = parties.refresher.refresh_with(&ct, &mut |pass, step| {
        steps.push((pass, step));
        ControlFlow::Continue(())
    });
    whole.unwrap();
    let last_of_first = steps.iter().rposition(|&(pass, _)| pass == 1).unwrap();
    for stop in [0, last_of_first, last_of_first + 1] {
        let mut seen = 0;
        let result = parties.refresher.refresh_with(&ct, &mut |_, _| {
            seen += 1;
            if seen > stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(result, Err(Error::Cancelled { .. })), "stopped after {stop}");
        assert_eq!(seen, stop + 1);
    }
}

#[test]
fn passes_and_rings_out_of_range_are_refused() {
    let refused = |n, passes, depth| {
        let assurance = Assurance::Insecure { name: "insecure_precise".into() };
        PreciseRefreshSpec::new(n, passes, depth, assurance).map(|spec| PreciseRefreshPlan::of_shape(&spec)).err()
    };
    let cases = [
        (100, (2, 26), 1, "the ring dimension"),
        (128, (0, 26), 1, "the number of passes"),
        (128, (5, 26), 1, "the number of passes"),
        (128, (2, 24), 1, "the bits of a pass"),
        (128, (2, 29), 1, "the bits of a pass"),
        (128, (2, 26), 100_000_000, "the number of rescalings"),
    ];
    for (n, passes, depth, named) in cases {
        let error = refused(n, passes, depth).expect("out of range").to_string();
        assert!(error.contains(named), "{error}");
    }
    // Fields that were changed afterwards.
    let changed = |change: fn(&mut PreciseRefreshSpec)| {
        let mut spec = toy(128, (2, 26), 1);
        change(&mut spec);
        PreciseRefreshPlan::of_shape(&spec).unwrap_err()
    };
    for error in [changed(|spec| spec.passes = 0), changed(|spec| spec.depth = 100_000_000)] {
        assert!(matches!(error, Error::OutOfRange(_)), "{error}");
    }
    let few_slots = changed(|spec| spec.refresh.slots = 16);
    assert!(few_slots.to_string().contains("n/2 slots"), "{few_slots}");
    // A scale that these passes do not reach, and one below that of a pass.
    for change in [2, -60] {
        let mut spec = toy(128, (3, 26), 1);
        spec.scale_bits = spec.scale_bits.saturating_add_signed(change);
        let error = PreciseRefreshPlan::of_shape(&spec).unwrap_err().to_string();
        assert!(error.contains("the scale in bits"), "{error}");
    }
    let mut first = toy(128, (2, 26), 1);
    first.refresh.depth = 1;
    let error = PreciseRefreshPlan::of_shape(&first).unwrap_err();
    assert!(matches!(error, Error::Bootstrap(BootstrapError::Unsupported { .. })), "{error}");
}

/// A plan whose passes cannot gain the bits of their primes says so.
#[test]
fn a_precision_that_is_too_low_is_refused() {
    let mut spec = toy(1 << 9, (2, 26), 1);
    spec.refresh = spec.refresh.clone().with_sine_precision(20.0).unwrap();
    let error = PreciseRefreshPlan::of_shape(&spec).unwrap_err();
    assert!(matches!(&error, Error::NoParameters { reason } if reason.contains("gains")), "{error}");
}

#[test]
fn choosing_says_what_is_missing() {
    let refused = |slots, precision_bits, depth| {
        PreciseRefreshPlan::choose(&PreciseRefreshRequirements { slots, precision_bits, depth, parties: 1 })
            .unwrap_err()
    };
    for bits in [f64::NAN, 0.0, 90.0] {
        assert!(matches!(refused(1, bits, 1), Error::OutOfRange(_)));
    }
    let error = refused(1 << 15, 60.0, 30).to_string();
    assert!(error.contains("30 products") && error.contains("n = 65536: the chain takes"), "{error}");
    let error = refused(1 << 20, 60.0, 1).to_string();
    assert!(error.contains("slots do not fit"), "{error}");
}

#[test]
fn a_plan_states_its_bits_and_its_keys() {
    let plan = PreciseRefreshPlan::preset("insecure_toy_precise_1024").unwrap();
    let text = plan.explain();
    println!("{text}");
    assert!(text.contains("3 passes") && text.contains("at worst") && text.contains("leaves 2 products"));
    assert!(plan.precision_bits() > 75.0 && plan.bits().len() == 3);
    assert!(plan.price() > 2.0 * plan.pass().price() && plan.key_bytes().evaluation_memory > 0);
    assert!(matches!(PreciseRefreshPlan::preset("precise"), Err(Error::UnknownName { .. })));
}

/// Every set with security states what it is named for, and plans are found for what is asked for.
#[test]
fn full_size_plans() {
    if std::env::var_os("WINDLASS_NIGHTLY").is_none() {
        return;
    }
    let heading = |plan: &PreciseRefreshPlan| plan.explain().lines().take(6).collect::<Vec<_>>().join("\n");
    for (name, bits) in [("precise_n65536", 75.0), ("precise_n65536_60bits", 60.0)] {
        let plan = PreciseRefreshPlan::preset(name).unwrap();
        println!("{name}: {}", heading(&plan));
        assert!(plan.precision_bits() >= bits && plan.most() >= 1.0, "{name}");
    }
    for (slots, precision_bits, depth) in [(1 << 15, 60.0, 5), (4096, 70.0, 1), (1 << 15, 50.0, 3)] {
        let plan = PreciseRefreshPlan::choose(&PreciseRefreshRequirements { slots, precision_bits, depth, parties: 1 })
            .unwrap();
        println!("{slots} slots, {precision_bits} bits, {depth} products: {}", heading(&plan));
        assert!(plan.precision_bits() >= precision_bits && plan.most() >= 1.0);
        assert!(plan.context().rlwe().params().security().bits >= 128.0);
    }
}

/// A set with security, `precise_n65536` unless `WINDLASS_REFRESH` names another: precision and seconds. Takes
/// minutes and some GB.
#[test]
fn full_size() {
    if std::env::var_os("WINDLASS_NIGHTLY").is_none() {
        return;
    }
    let name = std::env::var("WINDLASS_REFRESH").unwrap_or("precise_n65536".into());
    let start = Instant::now();
    let mut parties = Parties::of(PreciseRefreshPlan::preset(&name).unwrap(), 1);
    let [keys, constants] =
        [parties.refresher.key_bytes(), parties.refresher.constant_bytes()].map(|bytes| bytes as f64 / 1e9);
    println!("{}", parties.plan.explain());
    println!("{keys:.2} GB of keys, {constants:.2} of constants, set-up in {:.1?}", start.elapsed());
    let values = parties.values(parties.plan.spec().refresh.slots);
    let ct = parties.encrypt(&values, parties.plan.context().base_level());
    for _ in 0..2 {
        let start = Instant::now();
        let fresh = parties.refresher.refresh(&ct).unwrap();
        let took = start.elapsed();
        let (seen, stated, bound) = compare(&parties, &fresh, &values);
        println!("{name}: {took:.1?}, seen {seen:.1} bits, stated {stated:.1}, at worst {bound:.1}");
        assert!(seen > stated - 0.5);
    }
}
