//! Key switches of every strategy and scheme against their bound, in their parts and fused, for any
//! number of threads.

use std::sync::Arc;

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass_ring::rns::IntegerLift;
use windlass_ring::slots::SlotRing;
use windlass_ring::{Eval, Poly, kernels::Isa, norm, sample};
use windlass_rlwe::switching::{self, Digits, Epilogue};
use windlass_rlwe::{
    Assurance, Context, EvaluationKeys, FailureProbability, KeyStrategy, NoiseModel, RlweError, RlweParams, RlweSpec,
    SecretDistribution, SecretKey,
};

const SEEDS: u8 = 12;

/// A bound that holds in all but about one of a thousand operations, so that what is seen comes
/// near to it.
fn model(context: &Context, t: u64) -> NoiseModel {
    NoiseModel::with_failure(context.params(), t, FailureProbability::from_bits(10.0))
}

/// `special` sets what dominates: P as large as a digit lets the errors of the key through, a
/// larger P leaves rounding.
fn context(m: u64, special: Vec<u32>, secret: SecretDistribution) -> Arc<Context> {
    let params = RlweParams::new(&RlweSpec {
        m,
        q_prime_bits: vec![45; 5],
        spare_prime_bits: Vec::new(),
        special_prime_bits: special,
        digits: 3,
        secret,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    });
    Context::new(params.unwrap()).unwrap()
}

/// log2 of the canonical norm of an element whose coefficients may be too large for a word.
fn log2_norm(poly: Poly<Eval>) -> f64 {
    let lift = IntegerLift::new(poly.ring(), poly.basis());
    let poly = poly.into_coeff();
    let coefficients = lift.centred(&poly);
    let largest = coefficients.iter().map(|x| x.magnitude().bits()).max().unwrap();
    let shift = largest.saturating_sub(50);
    let scaled: Vec<i64> = coefficients.iter().map(|x: &BigInt| (x >> shift).to_i64().unwrap()).collect();
    norm::canonical_norm(poly.ring().shape(), &scaled).log2() + shift as f64
}

/// The elements that a strategy keeps keys for, over all dimensions and Frobenius.
fn elements(m: u64, p: u64, strategy: KeyStrategy) -> Vec<u64> {
    let slots = SlotRing::new(m, p, 1, Isa::best()).unwrap();
    strategy.of_ring(slots.hypercube()).into_iter().collect()
}

#[derive(Default)]
struct Worst {
    /// Greatest of log2(seen / bound).
    ratio: f64,
    count: usize,
}

impl Worst {
    fn new() -> Self {
        Self { ratio: f64::NEG_INFINITY, count: 0 }
    }

    fn take(&mut self, seen: f64, bound: f64, what: &str) {
        assert!(seen <= bound, "{what}: 2^{seen:.2} exceeds its bound 2^{bound:.2}");
        self.ratio = self.ratio.max(seen - bound);
        self.count += 1;
    }

    /// The bound is met within `slack` bits by the worst of all: it could fail.
    fn comes_near(&self, slack: f64, what: &str) {
        assert!(
            self.count > 0 && self.ratio > -slack,
            "{what}: {} trials stay {:.2} bits below",
            self.count,
            self.ratio
        );
    }
}

/// Σ digit_k·e_k: what is left of the inner product with a key when P·c·s' is taken away.
#[test]
fn inner_products_stay_within_their_bound_and_come_near() {
    for m in [105, 128, 60] {
        let context = context(m, vec![48; 2], SecretDistribution::Ternary);
        let model = model(&context, 2);
        let mut worst = Worst::new();
        for seed in 0..SEEDS {
            let mut rng = ChaCha20Rng::from_seed([seed; 32]);
            let secret = SecretKey::generate(&context, &mut rng);
            let element = m - 1;
            let mut keys = EvaluationKeys::empty(&context);
            keys.add_galois(&secret, element, context.top_level(), &mut rng).unwrap();
            let theta = context.ring().automorphism(element).unwrap();
            for level in [1, 3, 5] {
                let c = sample::uniform(context.ring(), &context.basis(level), &[seed; 32], level as u32);
                let digits = Digits::new(&context, &c, 1);
                let [b, a] = digits.inner_product(keys.galois(element).unwrap()).unwrap();
                // θ(b) + θ(a)·s = P·θ(c·s) + θ(Σ digit·e).
                let mut error = secret.phase(&[b.automorphism(&theta), a.automorphism(&theta)]);
                let extended = switching::extend(&context, &c, 1);
                let exact = secret.phase(&[Poly::zero(context.ring(), extended.basis()), extended]);
                error.sub_assign(&exact.automorphism(&theta));
                worst.take(log2_norm(error), model.inner_product(level).bits(), &format!("m = {m}, level {level}"));
            }
        }
        worst.comes_near(5.0, &format!("m = {m}"));
    }
}

/// ε of a ciphertext after a switch less ε before, for BGV (multiplier t) and BFV (multiplier 1).
#[test]
fn key_switches_of_every_strategy_and_scheme_stay_within_their_bound_and_come_near() {
    let t = 257;
    for (m, special) in [(105, vec![45, 45]), (105, vec![50, 50]), (128, vec![45, 45]), (128, vec![50; 3])] {
        let context = context(m, special, SecretDistribution::Ternary);
        let model = model(&context, t);
        for strategy in [KeyStrategy::Full, KeyStrategy::BabyGiant, KeyStrategy::Minimal] {
            let elements = elements(m, t, strategy);
            assert!(!elements.is_empty());
            for multiplier in [t, 1] {
                let mut worst = Worst::new();
                for seed in 0..SEEDS {
                    let mut rng = ChaCha20Rng::from_seed([seed; 32]);
                    let secret = SecretKey::generate(&context, &mut rng);
                    let mut keys = EvaluationKeys::empty(&context);
                    // Each seed tries another element of the strategy's keys.
                    let element = elements[seed as usize % elements.len()];
                    let level = 1 + seed as usize % context.top_level();
                    keys.add_galois(&secret, element, level, &mut rng).unwrap();
                    let what = format!("m = {m}, {strategy:?}, multiplier {multiplier}, θ_{element}, level {level}");
                    let added = added(&context, &secret, &keys, (element, level, multiplier, t), seed);
                    worst.take(log2_norm(added), model.key_switch(level).bits(), &what);
                }
                worst.comes_near(5.0, &format!("m = {m}, {strategy:?}, multiplier {multiplier}"));
            }
        }
    }
}

/// What a key switch of a random ciphertext adds to ε: the phase for BGV, t times the phase for
/// BFV.
fn added(
    context: &Context,
    secret: &SecretKey,
    keys: &EvaluationKeys,
    (element, level, multiplier, t): (u64, usize, u64, u64),
    seed: u8,
) -> Poly<Eval> {
    let theta = context.ring().automorphism(element).unwrap();
    let part = |stream| sample::uniform(context.ring(), &context.basis(level), &[seed; 32], stream);
    let (c0, c1) = (part(10), part(11));
    let finish = Epilogue { addends: [Some(&c0), None], automorphism: Some(&theta) };
    let key = keys.galois(element).unwrap();
    let switched = switching::switch(context, &c1, multiplier, key, &finish).unwrap();
    let mut added = secret.phase(&switched);
    added.sub_assign(&secret.phase(&[c0, c1]).automorphism(&theta));
    if multiplier == 1 {
        added.mul_scalar_assign(|_| t);
    }
    added
}

/// One pass over rows gives the bits of the three parts one after another, with any number of
/// threads.
#[test]
fn the_fused_switch_is_its_parts_for_any_number_of_threads() {
    for m in [105, 128, 60] {
        let context = context(m, vec![50; 2], SecretDistribution::Ternary);
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        let secret = SecretKey::generate(&context, &mut rng);
        let mut keys = EvaluationKeys::empty(&context);
        keys.add_galois(&secret, m - 1, context.top_level(), &mut rng).unwrap();
        let (key, theta) = (keys.galois(m - 1).unwrap(), context.ring().automorphism(m - 1).unwrap());
        for (level, multiplier) in [(1, 1), (4, 257), (5, 1)] {
            let part = |stream| sample::uniform(context.ring(), &context.basis(level), &[9; 32], stream);
            let (c0, c1) = (part(0), part(1));
            let extended = Digits::new(&context, &c1, multiplier).inner_product(key).unwrap();
            let mut expected = switching::mod_down(&context, extended.each_ref(), level, multiplier);
            expected[0].add_assign(&c0);
            let expected = expected.map(|half| half.automorphism(&theta));
            for threads in [1, 2, 3, 4] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let finish = Epilogue { addends: [Some(&c0), None], automorphism: Some(&theta) };
                let got = pool.install(|| switching::switch(&context, &c1, multiplier, key, &finish).unwrap());
                assert_eq!(got, expected, "m = {m}, level {level}, {threads} threads");
            }
        }
    }
}

/// A switch and a division in one rounding are one after the other, up to that rounding, whichever primes
/// the division drops or adds.
#[test]
fn a_switch_that_divides_is_a_switch_and_a_division() {
    let params = RlweParams::new(&RlweSpec {
        m: 128,
        q_prime_bits: vec![45; 5],
        spare_prime_bits: vec![30],
        special_prime_bits: vec![50; 3],
        digits: 3,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    });
    let context = Context::new(params.unwrap()).unwrap();
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let secret = SecretKey::generate(&context, &mut rng);
    let top = context.top_level();
    let mut keys = EvaluationKeys::empty(&context);
    keys.add_relinearisation(&secret, top, &mut rng).unwrap();
    let key = keys.relinearisation().unwrap();
    for (level, below) in [(top, top - 1), (top, top - 3), (top - 1, top - 2), (top - 2, 1)] {
        let part = |stream| sample::uniform(context.ring(), &context.basis(level), &[9; 32], stream);
        let (x, c0, c1) = (part(0), part(1), part(2));
        let finish = Epilogue { addends: [Some(&c0), Some(&c1)], automorphism: None };
        let switched = switching::switch(&context, &x, 1, key, &finish).unwrap();
        let lower = context.basis(below);
        let found = switching::switch_divided(&context, &x, [&c0, &c1], key, below).unwrap();
        for (mut found, switched) in found.into_iter().zip(&switched) {
            found.sub_assign(&switched.divide_rounded(&lower, 1));
            let lift = IntegerLift::new(found.ring(), found.basis());
            let off = lift.centred(&found.into_coeff());
            assert!(off.iter().all(|x: &BigInt| x.magnitude().bits() <= 1), "{level} to {below}");
        }
    }
    let mut low = EvaluationKeys::empty(&context);
    low.add_relinearisation(&secret, 1, &mut rng).unwrap();
    let x = sample::uniform(context.ring(), &context.basis(top), &[9; 32], 0);
    let refused = switching::switch_divided(&context, &x, [&x, &x], low.relinearisation().unwrap(), 1);
    assert!(matches!(refused, Err(RlweError::KeyLevelTooLow { .. })));
}

/// In large rings a conversion writes several rows together, unless there are so many threads that
/// each has a row of its own.
#[test]
fn rows_that_are_made_together_are_those_made_one_by_one() {
    let m = 1 << 17;
    let params = RlweParams::new(&RlweSpec {
        m,
        q_prime_bits: vec![45; 5],
        spare_prime_bits: vec![30],
        special_prime_bits: vec![50; 3],
        digits: 2,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    });
    let context = Context::new(params.unwrap()).unwrap();
    let mut rng = ChaCha20Rng::from_seed([8; 32]);
    let secret = SecretKey::generate(&context, &mut rng);
    let mut keys = EvaluationKeys::empty(&context);
    keys.add_galois(&secret, m - 1, context.top_level(), &mut rng).unwrap();
    let (key, theta) = (keys.galois(m - 1).unwrap(), context.ring().automorphism(m - 1).unwrap());
    let level = context.top_level();
    let part = |stream| sample::uniform(context.ring(), &context.basis(level), &[9; 32], stream);
    let (c0, c1) = (part(0), part(1));
    let results = [1, 64].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let finish = Epilogue { addends: [Some(&c0), None], automorphism: Some(&theta) };
            let switched = switching::switch(&context, &c1, 257, key, &finish).unwrap();
            let step = (&**key, Arc::clone(&theta));
            let extended = switching::extended_automorphism(&context, &[(&c1, &c0), (&c0, &c1)], &step).unwrap();
            let digits = Digits::new(&context, &c1, 1).inner_product(key).unwrap();
            // Primes are dropped and added.
            let lower = context.basis(level - 1);
            (switched, extended, digits, c0.divide_rounded(&lower, 257))
        })
    });
    assert_eq!(results[0], results[1]);
}
