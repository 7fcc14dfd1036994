//! What holds for every value that was read.

use windlass::ring::{Eval, Poly};
use windlass::rlwe::switching::SwitchingKey;
use windlass::rlwe::{EvaluationKeys, KeyId, PublicKey, SecretDistribution, SecretKey};
use windlass::schemes::{Ciphertext, ckks};

/// The standard deviation of errors.
const SIGMA: f64 = 3.2;

/// Every residue is below its prime.
pub fn poly(poly: &Poly<Eval>) {
    for (row, index) in poly.basis().indices().enumerate() {
        let prime = poly.ring().modulus(index).value();
        assert!(poly.row(row).iter().all(|&residue| residue < prime), "a residue that is not canonical");
    }
}

/// Coefficients of a secret key are −1, 0 or 1, and a sparse one has its weight.
pub fn secret_key(key: &SecretKey) {
    let coefficients = key.expose_coefficients();
    assert_eq!(coefficients.len(), key.context().ring().n());
    assert!(coefficients.iter().all(|x| (-1..=1).contains(x)), "a coefficient that is not ternary");
    if let SecretDistribution::Sparse { weight } = key.context().params().secret() {
        assert_eq!(coefficients.iter().filter(|x| **x != 0).count(), weight as usize, "the weight of a sparse key");
    }
}

/// A public key stands over all primes of Q.
pub fn public_key(key: &PublicKey) {
    let (_, b) = key.parts();
    poly(b);
    assert_eq!(b.basis(), &key.context().basis(key.context().top_level()));
}

/// Every key of a set belongs to one key pair, and is complete for its level.
pub fn evaluation_keys(keys: &EvaluationKeys) {
    let name = keys.key_id().expect("a set that was read names its key pair");
    let galois = keys.galois_elements().map(|element| {
        let m = keys.context().params().m();
        assert!(1 < element && element < m && gcd(element, m) == 1, "no automorphism: {element} modulo {m}");
        keys.galois(element).expect("an element of the set")
    });
    galois.chain(keys.relinearisation()).for_each(|key| switching_key(keys, name, key));
}

fn switching_key(keys: &EvaluationKeys, name: KeyId, key: &SwitchingKey) {
    let context = keys.context();
    assert_eq!(key.key_id(), name);
    assert!((1..=context.top_level()).contains(&key.level()), "level {}", key.level());
    assert_eq!(key.b().len(), SwitchingKey::digits(context, key.level()));
    let wide = context.covering_basis(key.level());
    key.pairs().for_each(|half| {
        assert_eq!(half.basis(), &wide);
        poly(half);
    });
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A ciphertext of BGV or BFV. A bound of 1 (0 bits) is that of zero times a ciphertext, so none is
/// too low; decryption sees whether it holds.
pub fn ciphertext(ct: &Ciphertext, exponent: u32) {
    assert_eq!(ct.parts().len(), 2);
    let ring = ct.parts()[0].ring();
    let log2_modulus: f64 =
        ct.parts()[0].basis().indices().map(|index| (ring.modulus(index).value() as f64).log2()).sum();
    ct.parts().iter().for_each(|part| {
        poly(part);
    });
    assert!((1..=exponent).contains(&ct.exponent()), "exponent {}", ct.exponent());
    let modulus = ct.prime().pow(ct.exponent());
    assert!(ct.factor() < modulus && !ct.factor().is_multiple_of(ct.prime()), "factor {}", ct.factor());
    let noise = ct.log2_noise();
    assert!(noise.is_finite() && noise.is_sign_positive() && noise < log2_modulus + 1e-6, "noise of {noise} bits");
}

/// A ciphertext of CKKS: its error is not below that of a fresh encryption, in which each of 2s
/// coefficients has an error of deviation σ at least.
pub fn approximate(ct: &ckks::Ciphertext) {
    let (context, level) = (ct.context(), ct.level());
    assert!((context.base_level()..=context.top_level()).contains(&level), "level {level}");
    ct.parts().iter().for_each(|part| {
        assert_eq!(part.basis().len(), level);
        poly(part);
    });
    assert!(ct.slots() > 0 && context.most_slots() % ct.slots() == 0, "{} slots", ct.slots());
    assert!((1..=2).contains(&ct.degree()), "degree {}", ct.degree());
    assert!(ct.scale().is_finite() && ct.scale() > 0.0, "scale {}", ct.scale());
    assert!(ct.magnitude().is_finite() && ct.magnitude().is_sign_positive(), "magnitude {}", ct.magnitude());
    assert!((1..=ct.slots()).contains(&ct.entries()), "{} entries of {} slots", ct.entries(), ct.slots());
    let rest = ct.rest_magnitude();
    assert!(rest.is_finite() && rest.is_sign_positive(), "magnitude {rest} beside the entries");
    assert!(ct.entries() < ct.slots() || rest == 0.0, "a bound {rest} on slots that are not there");
    let fresh = SIGMA * (2.0 * ct.slots() as f64).sqrt() / context.scale(level);
    assert!(ct.deviation().is_finite() && ct.deviation() >= 0.99 * fresh, "{:e} below {fresh:e}", ct.deviation());
    let capacity = context.rlwe().log2_modulus(level);
    let needed = (ct.scale() * (ct.magnitude().max(rest) + ct.error_bound())).log2();
    assert!(needed < capacity, "values of {needed} bits, a modulus of {capacity}");
}
