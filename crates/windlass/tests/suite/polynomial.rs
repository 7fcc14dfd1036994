//! Polynomials, sums and products of many on the exact mock.

use std::sync::Arc;
use windlass::Arithmetic;

use windlass::circuits::{PolynomialPlan, product_of_many, sum_of_many};
use windlass::schemes::clear::Clear;
use windlass::{Error, Evaluator, Plaintext};
use windlass_ring::kernels::Isa;
use windlass_ring::slots::SlotRing;

fn ring(m: u64, p: u64, r: u32) -> Arc<SlotRing> {
    Arc::new(SlotRing::new(m, p, r, Isa::Portable).unwrap())
}

#[test]
fn polynomials_agree_with_horner_on_every_slot() {
    for ring in [ring(31, 2, 5), ring(64, 17, 2), ring(45, 127, 1), ring(104, 3, 3)].iter() {
        let modulus = ring.modulus();
        let values: Vec<u64> = (0..ring.slots() as u64).map(|i| (i * i * 7 + 3 * i + 5) % modulus.value()).collect();
        let clear = Clear::new(ring);
        let x = clear.encrypt(&Plaintext::from_integers(ring, &values).unwrap()).unwrap();
        for degree in [0usize, 1, 2, 3, 4, 7, 8, 9, 16, 23, 31, 33, 64] {
            for pattern in 0..3 {
                let coefficients: Vec<i64> = (0..=degree as i64)
                    .map(|e| if pattern == 0 || e % 2 == pattern - 1 { (e * e * 31 + 17) % 23 - 11 } else { 0 })
                    .collect();
                let plan = PolynomialPlan::new(&coefficients);
                let before = clear.counts().products;
                let result = clear.decrypt(&plan.apply(&clear, &x).unwrap()).to_integers().unwrap();
                assert_eq!(clear.counts().products - before, plan.products(), "{plan}");
                for (value, result) in values.iter().zip(result) {
                    let horner = coefficients
                        .iter()
                        .rev()
                        .fold(0, |sum, &c| modulus.add(modulus.mul(sum, *value), modulus.reduce_i64(c)));
                    assert_eq!(result, horner, "degree {degree}, pattern {pattern}");
                }
            }
        }
    }
}

#[test]
fn sums_products_and_exact_division() {
    let ring = ring(31, 2, 6);
    let clear = Clear::new(&ring);
    let encrypt = |k: i64| clear.encrypt(&Plaintext::scalar(&ring, k)).unwrap();
    let list: Vec<_> = (1..=7).map(encrypt).collect();
    let scalar = |k: i64| Plaintext::scalar(&ring, k);
    assert_eq!(clear.decrypt(&sum_of_many(&clear, &list).unwrap()), scalar(28));
    assert_eq!(clear.decrypt(&product_of_many(&clear, &list).unwrap()), scalar(5040));
    assert!(matches!(sum_of_many(&clear, &[]), Err(Error::ShapeMismatch { .. })));
    let half = clear.divide_by_p(&encrypt(24)).unwrap();
    assert_eq!((clear.decrypt(&half).to_integers().unwrap(), half.exponent()), (vec![12; ring.slots()], 5));
    // 12 + 20 = 32 = 0 modulo the smaller modulus 2^5; what is modulo 2^6 is refused, as on engines.
    let other = clear.divide_by_p(&encrypt(40)).unwrap();
    assert!(clear.decrypt(&clear.add(&half, &other).unwrap()).is_zero());
    assert!(matches!(clear.add(&half, &encrypt(20)), Err(Error::ContextMismatch { .. })));
    assert!(matches!(clear.divide_by_p(&encrypt(3)), Err(Error::NotDivisible { prime: 2, .. })));
}
