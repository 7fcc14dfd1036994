//! Transforms on every backend against evaluation at the points and against the portable backend.

use super::*;
use crate::lanes::tests::{moduli, words};
use crate::modulus::find_primes;

fn root(q: Modulus, log_n: u32) -> u64 {
    q.root_of_unity(2 << log_n).unwrap()
}

/// Rows of edge values and a random one.
fn rows(q: Modulus, n: usize) -> Vec<Vec<u64>> {
    let mut next = words(n as u64);
    let top = q.value() - 1;
    let alternating = (0..n).map(|i| if i % 2 == 0 { top } else { 0 }).collect();
    let halves = (0..n).map(|i| top / 2 + (i / 8 % 2) as u64).collect();
    vec![vec![0; n], vec![1; n], vec![top; n], alternating, halves, (0..n).map(|_| next() % q.value()).collect()]
}

/// The value of a polynomial by Horner's rule.
fn evaluate(q: Modulus, row: &[u64], point: u64) -> u64 {
    row.iter().rev().fold(0, |sum, &c| q.add(q.mul(sum, point), c))
}

#[test]
fn plans_of_powers_of_two_agree_with_the_reference() {
    use crate::ntt::{NttPlan, Shape};
    use std::sync::Arc;
    let q = find_primes(1 << 18, 49, 1, &[]).unwrap()[0];
    for log_n in 1..=9 {
        let shape = Arc::new(Shape::new(2 << log_n).unwrap());
        let zeta = q.root_of_unity(shape.m()).unwrap();
        for isa in Isa::available() {
            let plan = NttPlan::new(&shape, q, isa).unwrap();
            for row in rows(q, shape.n()) {
                let (mut image, mut expected) = (row.clone(), row.clone());
                plan.forward(&mut image);
                crate::reference::forward(&shape, q, &[zeta], &mut expected);
                assert!(image == expected, "log n = {log_n}, {}", isa.name());
            }
        }
    }
}

fn large_moduli() -> Vec<Modulus> {
    moduli().into_iter().filter(|q| q.bits() >= 25).collect()
}

#[test]
fn positions_hold_the_values_at_bit_reversed_odd_powers() {
    for q in large_moduli() {
        for log_n in 1..=Pow2Plan::MAX_LOG_N {
            let (n, root) = (1usize << log_n, root(q, log_n));
            let plan = Pow2Plan::new(log_n, q, root, Isa::Portable);
            let row = rows(q, n).pop().unwrap();
            let mut image = row.clone();
            plan.forward(&mut image);
            for i in (0..n).step_by(n.div_ceil(5)).chain([1, n - 1]) {
                let reversed = (i as u64).reverse_bits() >> (64 - log_n);
                let value = evaluate(q, &row, q.pow(root, 2 * reversed + 1));
                assert_eq!(image[i], value, "q = {}, n = {n}, i = {i}", q.value());
            }
        }
    }
}

#[test]
fn all_instruction_sets_give_the_same_values_and_the_rows_back() {
    for q in large_moduli() {
        for log_n in 1..=Pow2Plan::MAX_LOG_N {
            let root = root(q, log_n);
            let portable = Pow2Plan::new(log_n, q, root, Isa::Portable);
            for row in rows(q, 1 << log_n) {
                let mut expected = row.clone();
                portable.forward(&mut expected);
                for isa in Isa::available() {
                    let plan = Pow2Plan::new(log_n, q, root, isa);
                    let mut image = row.clone();
                    plan.forward(&mut image);
                    assert!(image == expected, "forward, q = {}, log n = {log_n}, {}", q.value(), isa.name());
                    plan.inverse(&mut image);
                    assert!(image == row, "inverse, q = {}, log n = {log_n}, {}", q.value(), isa.name());
                }
            }
        }
    }
}

#[test]
fn emulated_vector_arithmetic_gives_the_same_values() {
    use crate::lanes::ROOMY_BITS;
    use crate::lanes::float::Float;
    use crate::lanes::portable::Integers;
    use crate::lanes::tests::{EmulatedFloat, EmulatedWord52};
    use crate::lanes::word52::Word52;
    let moduli = [50, 48].map(|bits| find_primes(1 << 18, bits, 1, &[]).unwrap()[0]);
    for (q, log_n) in moduli.into_iter().flat_map(|q| [6, 7, 8, 9, 10, 13].map(|log_n| (q, log_n))) {
        let root = root(q, log_n);
        let portable = Pow2Plan::new(log_n, q, root, Isa::Portable);
        for row in rows(q, 1 << log_n) {
            let mut expected = row.clone();
            portable.forward(&mut expected);
            let there_and_back = |mut row: Vec<u64>, lanes: &dyn Fn(&mut [u64], bool)| {
                lanes(&mut row, true);
                let image = row.clone();
                lanes(&mut row, false);
                (image, row)
            };
            let word52 = Word52::<_>::new(EmulatedWord52, q);
            let float = Float::<_>::new(EmulatedFloat, q);
            let halves = Integers::<true>::new(q);
            let halves = there_and_back(row.clone(), &|row, forward| transform(halves, log_n, q, root, row, forward));
            assert!(halves == (expected.clone(), row.clone()), "halves, {} bits, log n = {log_n}", q.bits());
            let words = there_and_back(row.clone(), &|row, forward| transform(word52, log_n, q, root, row, forward));
            let doubles = there_and_back(row.clone(), &|row, forward| transform(float, log_n, q, root, row, forward));
            assert!(words == (expected.clone(), row.clone()), "words, {} bits, log n = {log_n}", q.bits());
            assert!(doubles == (expected.clone(), row.clone()), "doubles, {} bits, log n = {log_n}", q.bits());
            if q.bits() <= ROOMY_BITS {
                let roomy = Word52::<_, true>::new(EmulatedWord52, q);
                let found = there_and_back(row.clone(), &|row, forward| transform(roomy, log_n, q, root, row, forward));
                assert!(found == (expected.clone(), row.clone()), "roomy words, log n = {log_n}");
                let roomy = Float::<_, true>::new(EmulatedFloat, q);
                let found = there_and_back(row.clone(), &|row, forward| transform(roomy, log_n, q, root, row, forward));
                assert!(found == (expected, row), "roomy doubles, log n = {log_n}");
            }
        }
    }
}

fn transform<L: Lanes>(l: L, log_n: u32, modulus: Modulus, root: u64, row: &mut [u64], forward: bool) {
    let tables = &l.vectorize(tables::Build { log_n, modulus, root });
    match forward {
        true => l.vectorize(Forward { tables, row: vectors(row) }),
        false => l.vectorize(Inverse { tables, row: vectors(row) }),
    }
}
