//! Noise bounds, compared with samples whose canonical norms are computed by the definition.

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_ring::sample::{self, Gaussian};

use super::*;
use crate::params::{Assurance, RlweSpec};

/// All embeddings' absolute values by the definition, largest first.
fn canonical_norm(shape: &Shape, coefficients: &[i64]) -> f64 {
    let mut largest: f64 = 0.0;
    for &t in shape.exponents() {
        let (mut re, mut im) = (0.0, 0.0);
        for (j, &a) in coefficients.iter().enumerate() {
            let (mut rest, mut angle) = (j, 0.0);
            for axis in shape.axes().iter().rev() {
                angle += (rest % axis.dim) as f64 * t as f64 / axis.index as f64;
                rest /= axis.dim;
            }
            re += a as f64 * (angle.fract() * std::f64::consts::TAU).cos();
            im += a as f64 * (angle.fract() * std::f64::consts::TAU).sin();
        }
        largest = largest.max(f64::hypot(re, im));
    }
    largest
}

fn params(m: u64) -> RlweParams {
    RlweParams::new(&RlweSpec {
        m,
        q_prime_bits: vec![40; 5],
        spare_prime_bits: Vec::new(),
        special_prime_bits: vec![50; 2],
        digits: 3,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    })
    .unwrap()
}

#[test]
fn samples_stay_within_their_bounds_and_come_near() {
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    for m in [105, 128, 45, 60, 127] {
        let params = params(m);
        // A failure probability that a test can see: one in a thousand.
        let model = NoiseModel::with_failure(&params, 2, FailureProbability::from_bits(10.0));
        let gaussian = Gaussian::new(params.sigma());
        let mut worst = (0.0f64, 0.0f64);
        for _ in 0..30 {
            let error = canonical_norm(params.shape(), &sample::error(params.shape(), &gaussian, &mut rng));
            let uniform: Vec<i64> = (0..params.n()).map(|_| (rng.next_u32() >> 16) as i64 - (1 << 15)).collect();
            let rounding = canonical_norm(params.shape(), &uniform) / 65536.0;
            worst = (worst.0.max(error), worst.1.max(rounding));
        }
        let bounds = (model.error(1).bits().exp2(), model.random_element(params.n() as f64 / 12.0, 1).bits().exp2());
        for (seen, bound) in [(worst.0, bounds.0), (worst.1, bounds.1)] {
            assert!(seen <= bound && seen >= bound / 5.0, "m = {m}: {seen} against {bound}");
        }
    }
}

#[test]
fn secrets_are_seldom_rejected() {
    let mut rng = ChaCha20Rng::from_seed([2; 32]);
    for (m, secret) in [
        (105, SecretDistribution::Ternary),
        (128, SecretDistribution::Ternary),
        (127, SecretDistribution::Sparse { weight: 20 }),
        (60, SecretDistribution::Ternary),
    ] {
        let shape = Shape::new(m).unwrap();
        let bound = secret_norm_bound(&shape, secret);
        let rejected = (0..600)
            .filter(|_| {
                let s = match secret {
                    SecretDistribution::Sparse { weight } => sample::sparse(shape.n(), weight as usize, &mut rng),
                    _ => sample::ternary(shape.n(), &mut rng),
                };
                canonical_norm(&shape, &s) > bound
            })
            .count();
        assert!(rejected <= 6, "m = {m}: {rejected} of 600 rejected");
    }
}

#[test]
fn coefficients_are_bounded_by_the_canonical_norm() {
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    for m in [64, 9, 15, 105, 60, 77] {
        let shape = Shape::new(m).unwrap();
        let factor = coefficient_factor(&shape);
        // The element dual to coefficient 0 on each axis comes close to the bound: θ(1 − X^{..})
        // shapes, and random ones.
        for _ in 0..20 {
            let a: Vec<i64> = (0..shape.n()).map(|_| (rng.next_u32() % 3) as i64 - 1).collect();
            let largest = a.iter().map(|x| x.abs()).max().unwrap() as f64;
            assert!(largest <= factor * canonical_norm(&shape, &a) + 1e-9);
        }
        let mut ones = vec![1; shape.n()];
        assert!(canonical_norm(&shape, &ones) <= all_ones_norm(&shape) + 1e-6, "m = {m}");
        assert!(1.0 <= factor * canonical_norm(&shape, &ones) + 1e-9);
        ones[0] = 2;
        assert!(2.0 <= factor * canonical_norm(&shape, &ones) + 1e-9);
    }
}

/// Digits as the gadget makes them: Σ y_i·D/d_i, y_i uniform in [−d_i/2, d_i/2).
#[test]
fn digits_stay_within_their_bound() {
    let mut rng = ChaCha20Rng::from_seed([4; 32]);
    for m in [128, 45, 105] {
        let params = params(m);
        let model = NoiseModel::with_failure(&params, 2, FailureProbability::from_bits(10.0));
        for primes in [1, 2, 4] {
            let bound = model.digit(primes, 1).bits().exp2();
            let seen = (0..10)
                .map(|_| {
                    let scaled: Vec<i64> = (0..params.n())
                        .map(|_| (0..primes).map(|_| i64::from(rng.next_u32() as i32 >> 12)).sum())
                        .collect();
                    canonical_norm(params.shape(), &scaled) / (1u64 << 20) as f64
                })
                .fold(0.0, f64::max);
            assert!(seen <= bound && seen >= bound / 8.0, "m = {m}, {primes} primes: {seen} against {bound}");
        }
    }
}

/// What is rounded may be known, and then towards one embedding.
#[test]
fn rounding_is_bounded_in_the_worst_case() {
    let spec = |weight| RlweSpec {
        m: 1 << 13,
        q_prime_bits: vec![40; 5],
        spare_prime_bits: Vec::new(),
        special_prime_bits: vec![50; 2],
        digits: 3,
        secret: SecretDistribution::Sparse { weight },
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    };
    for weight in [1, 24] {
        let params = RlweParams::new(&spec(weight)).unwrap();
        let model = NoiseModel::new(&params, 257);
        // 128 is the largest centred residue modulo 257.
        let signs: Vec<i64> = (0..params.n()).map(|j| if j < params.n() / 2 { 128 } else { -128 }).collect();
        for element in [vec![128; params.n()], signs] {
            let norm = canonical_norm(params.shape(), &element).log2();
            for parts in [2, 3] {
                assert!(norm <= model.rounding(parts).bits(), "weight {weight}: {norm}");
            }
        }
    }
}

#[test]
fn formulas_compose() {
    let params = params(1 << 13);
    let model = NoiseModel::new(&params, 65537);
    let fresh = model.fresh_public();
    assert!(model.fresh_secret() < fresh);
    let q = |level| params.log2_q(level);
    assert!(model.decryptable(q(5), fresh) && model.capacity(q(5), fresh) > 140.0);
    // A key switch costs no more than a rounding or so: P exceeds the digits.
    assert!(model.key_switch(5) < model.rounding(2) * Bound::of(8.0));
    assert!(model.inner_product(1) < model.inner_product(2) && model.inner_product(4) < model.inner_product(5));
    let product = model.multiply(fresh, fresh);
    assert!(model.capacity(q(5), product) < model.capacity(q(5), fresh) - 30.0);
    let lower = model.modulus_switch(product, q(5), q(4), 3);
    assert!(lower < product && lower >= model.rounding(3));
    assert!((model.modulus_switch(product, q(5), q(5), 1).bits() - product.bits()).abs() < 0.1);
    // A stricter failure probability costs little, but something.
    let strict = NoiseModel::with_failure(&params, 65537, FailureProbability::from_bits(256.0));
    assert_eq!((strict.failure().bits(), model.failure().bits()), (256.0, 128.0));
    let difference = strict.fresh_public().bits() - fresh.bits();
    assert!(difference > 0.3 && difference < 1.0, "{difference}");
    assert!(!model.decryptable(q(1), Bound::from_bits(q(1) - 1.0)));
    assert_eq!(model.with_plaintext_modulus(257).secret_norm(), model.secret_norm());
}

/// Where P_l is 17 bits above its digit, with one prime left out or two, its error is far below what
/// rounding adds.
#[test]
fn rounding_hides_the_error_of_a_part_of_p() {
    let (q_prime_bits, special_prime_bits) = (vec![33, 50, 50], vec![50; 3]);
    let params = RlweParams::new(&RlweSpec {
        m: 1 << 16,
        q_prime_bits,
        spare_prime_bits: Vec::new(),
        special_prime_bits,
        digits: 1,
        secret: SecretDistribution::Sparse { weight: 120 },
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    })
    .unwrap();
    let model = NoiseModel::new(&params, 2);
    for level in 1..=3 {
        assert_eq!(params.special_at(level), level);
        let below = model.rounding(2).bits() - model.base_qp_error(level).bits();
        assert!(below > 6.0 && below < 12.0, "level {level}: {below} bits below");
    }
}

/// The table of the module's page, worked out by hand for n = 48, t = 257 and 2^-128: on odd axes
/// alone, and on axes of 4, 9 and 5.
#[test]
fn the_bounds_are_those_of_the_page() {
    for (m, error, public, secret_key, sums, coefficients) in [
        (105, 8.81234, 23.43056, 16.89300, [53.60008, 94.11061, 95.11673], 1.87072),
        (180, 8.70114, 23.31943, 16.78765, [53.48889, 93.99941, 95.00553], 1.09311),
    ] {
        let params = params(m);
        let model = NoiseModel::new(&params, 257);
        let near = |what: &str, got: f64, wanted: f64| {
            assert!((got - wanted).abs() < 2e-5, "m = {m}, {what}: {got} for {wanted}");
        };
        near("tail", model.tail_factor(4), 13.81062);
        near("error", model.error(1).bits(), error);
        near("norm of the secret", model.secret_norm().bits(), 4.16713);
        near("plaintext", model.plaintext_worst().bits(), 12.59059);
        near("random plaintext", model.plaintext_random().bits(), 12.78277);
        near("public-key encryption", model.fresh_public().bits(), public);
        near("secret-key encryption", model.fresh_secret().bits(), secret_key);
        near("rounding of two", model.rounding(2).bits(), 17.03335);
        near("rounding of three", model.rounding(3).bits(), 21.20778);
        // Digits of two, two and one primes of 40 bits: levels 1, 3 and 5.
        for (level, sum) in [1, 3, 5].into_iter().zip(sums) {
            near("inner product", model.inner_product(level).bits(), sum);
        }
        // Divided by P_l times t; and the rounding, which is 2^17.03335.
        for level in 1..=5 {
            let special = &params.special_primes()[..params.special_at(level)];
            let divided: f64 = special.iter().map(|q| (q.value() as f64).log2()).sum();
            let error = model.inner_product(level).bits() - divided + 257f64.log2();
            near("error in base QP", model.base_qp_error(level).bits(), error);
            near("key switch", model.key_switch(level).bits(), (error.exp2() + 17.03335f64.exp2()).log2());
        }
        let switched = model.modulus_switch(Bound::from_bits(60.0), 100.0, 58.0, 2).bits();
        near("modulus switch", switched, (18f64.exp2() + 17.03335f64.exp2()).log2());
        near("capacity", model.capacity(100.0, Bound::from_bits(60.0)), 39.0 - coefficients);
        near("product", model.multiply(model.error(1), Bound::from_bits(3.0)).bits(), error + 3.0);
        near("constant", model.multiply_constant(model.error(1), Bound::from_bits(3.0)).bits(), error + 3.0);
        near("sum", model.add(model.error(1), model.error(1)).bits(), error + 1.0);
    }
}

/// A secret's coefficients add up to no more than its weight, and that is met with equality.
#[test]
fn short_secrets_are_bounded_by_their_weight() {
    let shape = Shape::new(128).unwrap();
    for weight in [1u32, 2, 5] {
        let bound = secret_norm_bound(&shape, SecretDistribution::Sparse { weight });
        let most = f64::from(weight);
        assert!(bound > most && bound < most * (1.0 + 1e-11), "weight {weight}: {bound}");
    }
    // Of two coefficients 1 + X^64 no embedding is 2, but of 1 alone each is 1.
    assert!(secret_norm_bound(&Shape::new(3).unwrap(), SecretDistribution::Ternary) < 2.0 * (1.0 + 1e-11));
}

#[test]
fn decryption_is_promised_up_to_half_the_modulus() {
    let model = NoiseModel::new(&params(128), 257);
    // C_m is 1 for powers of two.
    assert!(model.decryptable(61.0, Bound::from_bits(60.0 - 1e-7)));
    assert!(!model.decryptable(61.0, Bound::from_bits(60.0)));
    assert!(!model.decryptable(61.0, Bound::from_bits(60.0 - 1e-9)));
}

#[test]
fn events_add_up_kind_by_kind() {
    let one = RandomEvents { encryptions: 1, inner_products: 2, mod_downs: 3, modulus_switches: 4 };
    let other = RandomEvents::ENCRYPTION + RandomEvents::KEY_SWITCH + RandomEvents::MODULUS_SWITCH;
    assert_eq!(other, RandomEvents { encryptions: 1, inner_products: 1, mod_downs: 1, modulus_switches: 1 });
    let sum = one * 3 + other;
    assert_eq!(sum, RandomEvents { encryptions: 4, inner_products: 7, mod_downs: 10, modulus_switches: 13 });
    assert_eq!(sum.total(), 34);
    assert_eq!(RandomEvents::INNER_PRODUCT + RandomEvents::MOD_DOWN, RandomEvents::KEY_SWITCH);
    let counter = EventCounter::default();
    counter.add(one);
    counter.add(other);
    assert_eq!(counter.events(), one + other);
    assert_eq!(counter.take(), one + other);
    assert_eq!(counter.events(), RandomEvents::default());
    // 34 events of 2^-40 each.
    let all = sum.union_bound(FailureProbability::from_bits(40.0));
    assert!((all.bits() - (34f64.log2() - 40.0)).abs() < 1e-9, "{all}");
}
