//! Values of more than 53 bits: encryptions, products and sums at scales above 50 bits, compared with numbers
//! of 106 bits.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_rlwe::{Assurance, EvaluationKeys, PublicKey, SecretDistribution, SecretKey};

use super::*;
use crate::error::Error;

fn spec(scale_bits: u32, depth: usize) -> CkksSpec {
    let base = scale_bits + 12;
    CkksSpec {
        n: 256,
        scale_bits,
        depth,
        base_prime_bits: vec![base.div_ceil(base.div_ceil(50)); base.div_ceil(50) as usize],
        special_prime_bits: vec![50; 6],
        digits: 2,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_wide".into() },
        refresh_levels: Vec::new(),
    }
}

struct Parties {
    encryptor: Encryptor,
    decryptor: Decryptor,
    engine: Engine,
    rng: ChaCha20Rng,
}

impl Parties {
    fn new(scale_bits: u32, depth: usize) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(u64::from(scale_bits));
        let context = CkksContext::new(&spec(scale_bits, depth)).unwrap();
        let secret = Arc::new(SecretKey::generate(context.rlwe(), &mut rng));
        let mut keys = EvaluationKeys::of(&secret);
        keys.add_relinearisation(&secret, context.top_level(), &mut rng).unwrap();
        let public = Arc::new(PublicKey::generate(&secret, &mut rng));
        Self {
            encryptor: Encryptor::new(&context, public).unwrap(),
            engine: Engine::new(&context, Arc::new(keys)).unwrap(),
            decryptor: Decryptor::new(&context, secret).unwrap(),
            rng,
        }
    }

    fn values(&mut self, count: usize) -> Vec<WideComplex> {
        let mut part = || {
            let mut word = || (self.rng.next_u64() >> 12) as f64 / 2f64.powi(51) - 1.0;
            Wide::sum(word(), word() * 2f64.powi(-54)) * Wide::from(std::f64::consts::FRAC_1_SQRT_2)
        };
        (0..count).map(|_| WideComplex { re: part(), im: part() }).collect()
    }

    fn encrypt(&mut self, values: &[WideComplex]) -> Ciphertext {
        self.encryptor.encrypt_wide(values, 1.0, &mut self.rng).unwrap()
    }

    /// Checks every slot against what is stated; the bits of the worst.
    fn check(&self, what: &str, ct: &Ciphertext, wanted: &[WideComplex]) -> f64 {
        let seen = self.decryptor.decrypt_wide(ct).unwrap();
        let worst = seen.iter().zip(wanted).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max);
        let (bits, bound) = (-worst.log2(), -ct.error_bound().log2());
        println!("{what}: {bits:.1} bits, stated {:.1}, at worst {bound:.1}", ct.precision_bits());
        assert!(worst <= ct.error_bound(), "{what}: {bits} bits, stated {bound}");
        assert!(bits > ct.precision_bits() - 1.0, "{what}: {bits} bits, expected {}", ct.precision_bits());
        bits
    }
}

fn each(a: &[WideComplex], b: &[WideComplex], f: fn(WideComplex, WideComplex) -> WideComplex) -> Vec<WideComplex> {
    a.iter().zip(b).map(|(&x, &y)| f(x, y)).collect()
}

/// A product keeps the bits of the scale but those of the ring's noise, at one, two and three primes a level.
#[test]
fn products_and_sums_keep_the_bits_of_the_scale() {
    for scale_bits in [40, 60, 76, 90, 104] {
        let mut parties = Parties::new(scale_bits, 3);
        let least = f64::from(scale_bits) - 20.0;
        let [x, y, z] = [0; 3].map(|_| parties.values(128));
        let [a, b, c] = [&x, &y, &z].map(|values| parties.encrypt(values));
        let label = |what: &str| format!("2^{scale_bits}, {what}");
        assert!(parties.check(&label("fresh"), &a, &x) > least);
        let engine = &parties.engine;
        let product = engine.multiply(&a, &b).unwrap();
        let xy = each(&x, &y, |x, y| x * y);
        assert!(parties.check(&label("product"), &product, &xy) > least - 1.0);
        // Operands at other levels and degrees.
        let sum = engine.add(&product, &c).unwrap();
        assert!(parties.check(&label("sum"), &sum, &each(&xy, &z, |x, y| x + y)) > least - 1.0);
        let deep = engine.multiply(&product, &c).unwrap();
        let xyz = each(&xy, &z, |x, y| x * y);
        assert!(parties.check(&label("product of three"), &engine.rescale(&deep).unwrap(), &xyz) > least - 2.0);
        let low = engine.lower(&a, engine.context().base_level()).unwrap();
        assert!(parties.check(&label("lowered"), &low, &x) > least - 1.0);
        let difference = engine.sub(&low, &engine.rescale(&deep).unwrap()).unwrap();
        assert!(parties.check(&label("difference"), &difference, &each(&x, &xyz, |x, y| x - y)) > least - 2.0);
    }
}

/// Public values of either precision. Doubles are counted with what their transforms are off by.
#[test]
fn public_values_are_within_what_is_stated() {
    let mut parties = Parties::new(80, 2);
    let [x, y] = [0; 2].map(|_| parties.values(64));
    let a = parties.encrypt(&x);
    let engine = &parties.engine;
    let high: Vec<Complex64> = y.iter().map(|z| z.high()).collect();
    let doubles: Vec<WideComplex> = high.iter().map(|&z| z.into()).collect();
    let wide = engine.add_wide(&engine.multiply_wide(&a, &y).unwrap(), &y).unwrap();
    let expected = each(&each(&x, &y, |x, y| x * y), &y, |x, y| x + y);
    assert!(parties.check("wide", &wide, &expected) > 60.0);
    let near = engine.add_plain(&engine.multiply_plain(&a, &high).unwrap(), &high).unwrap();
    let expected = each(&each(&x, &doubles, |x, y| x * y), &doubles, |x, y| x + y);
    assert!(parties.check("doubles", &near, &expected) > 48.0);
    let third = Complex64::new(1.0 / 3.0, -0.1);
    let scaled = engine.multiply_scalar(&a, third).unwrap();
    let expected: Vec<WideComplex> = x.iter().map(|&x| x * third.into()).collect();
    assert!(parties.check("a number", &scaled, &expected) > 48.0);
}

/// Doubles go in and come out as in any context.
#[test]
fn doubles_keep_their_bits_at_large_scales() {
    let mut parties = Parties::new(70, 1);
    let values: Vec<Complex64> = parties.values(128).iter().map(|z| z.high()).collect();
    let ct = parties.encryptor.encrypt(&values, &mut parties.rng).unwrap();
    let back = parties.decryptor.decrypt(&ct).unwrap();
    let worst = values.iter().zip(&back).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(worst < 2f64.powi(-48) && worst <= ct.error_bound(), "{worst:e}");
    let wide: Vec<WideComplex> = values.iter().map(|&z| z.into()).collect();
    parties.check("doubles", &ct, &wide);
    let square = parties.engine.square(&ct).unwrap();
    parties.check("their squares", &square, &each(&wide, &wide, |x, y| x * y));
    // What is published of them has noise that the last bit of a double does not swallow.
    let exact = parties.encrypt(&wide);
    let publication = Publication { security_bits: 20, decryptions: 1 };
    let published = parties.decryptor.decrypt_public(&exact, publication, &mut parties.rng).unwrap();
    let worst = values.iter().zip(&published.values).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(worst > 2f64.powi(-44) && published.precision_bits < 44.0, "{worst:e}, {}", published.precision_bits);
}

#[test]
fn values_and_scales_out_of_range_are_refused() {
    let mut parties = Parties::new(60, 1);
    let one = WideComplex::new(1.0, 0.0);
    let infinite = WideComplex::new(f64::INFINITY, 0.0);
    // The first part is finite, the second is not a number.
    let broken = WideComplex { re: Wide::from(1e305) * Wide::from(1.0), im: Wide::ZERO };
    let mut encrypt = |values: &[WideComplex]| parties.encryptor.encrypt_wide(values, 1.0, &mut parties.rng);
    assert!(matches!(encrypt(&[one, infinite]), Err(Error::NotFinite { index: 1 })));
    assert!(matches!(encrypt(&[one, broken]), Err(Error::NotFinite { index: 1 })));
    assert!(matches!(encrypt(&[one + one, one]), Err(Error::ValueTooLarge { index: 0, .. })));
    assert!(matches!(encrypt(&[one; 3]), Err(Error::SlotCount { got: 3, .. })));
    let ct = encrypt(&[one]).unwrap();
    assert!(matches!(parties.engine.multiply_wide(&ct, &[infinite]), Err(Error::NotFinite { .. })));
    for scale_bits in [24, 151] {
        let refused = CkksContext::new(&spec(scale_bits, 1)).unwrap_err();
        assert!(matches!(refused, Error::OutOfRange { .. } | Error::Rlwe(_)), "{refused}");
    }
    // A number of primes between two levels.
    let level = parties.engine.context().base_level() + 1;
    let refused = parties.decryptor.encrypt_wide(&[one], 1.0, level, &mut parties.rng).unwrap_err();
    assert!(matches!(refused, Error::OutOfRange { .. } | Error::Rlwe(_)), "{refused}");
}

/// The smallest secure sets for large scales have levels of two primes.
#[test]
fn secure_sets_have_scales_above_fifty_bits() {
    let refused = CkksSpec::secure(3, 75, 8, 1000);
    assert!(matches!(refused, Err(Error::OutOfRange { .. })), "{refused:?}");
    let spec = CkksSpec::secure_wide(3, 75, 8, 1000).unwrap();
    assert_eq!(spec.dropped_prime_bits(), [37, 38]);
    let context = CkksContext::new(&spec).unwrap();
    assert_eq!(context.top_level(), spec.base_prime_bits.len() + 6);
    assert!(context.rlwe().params().security().bits >= 128.0);
    let sizes = spec.key_sizes(context.rlwe().params());
    assert_eq!(sizes.ciphertext_memory, (2 * 8 * context.top_level() * spec.n) as u64);
}
