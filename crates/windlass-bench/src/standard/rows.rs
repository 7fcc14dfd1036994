//! Row operations, n = 2^15, seconds for a row.

use std::cell::RefCell;

use windlass_kernels::modulus::find_primes;
use windlass_kernels::{Automorphism, Isa, Modulus, Shape, rows};

use super::args::Standard;
use super::report::Report;
use crate::timing::{compare_processor, subject};

const N: usize = 1 << 15;
/// Terms of the fused sums.
const TERMS: usize = 4;

/// An operation on (out, x, y, scalar), and what it gives for one entry.
type Operation =
    (&'static str, fn(Isa, Modulus, &mut [u64], &[u64], &[u64], u64), fn(Modulus, u64, u64, u64, u64) -> u64);

const OPERATIONS: [Operation; 7] = [
    ("add", |isa, q, out, x, _, _| rows::add_assign(isa, q, out, x), |q, out, x, _, _| q.add(out, x)),
    ("sub", |isa, q, out, x, _, _| rows::sub_assign(isa, q, out, x), |q, out, x, _, _| q.sub(out, x)),
    ("mul", |isa, q, out, x, y, _| rows::mul(isa, q, out, x, y), |q, _, x, y, _| q.mul(x, y)),
    (
        "mul_add",
        |isa, q, out, x, y, _| rows::mul_add_assign(isa, q, out, x, y),
        |q, out, x, y, _| q.add(out, q.mul(x, y)),
    ),
    ("mul_scalar", |isa, q, out, _, _, c| rows::mul_scalar_assign(isa, q, out, c), |q, out, _, _, c| q.mul(out, c)),
    (
        "mul_scalar_add",
        |isa, q, out, x, _, c| rows::mul_scalar_add_assign(isa, q, out, x, c),
        |q, out, x, _, c| q.add(out, q.mul(x, c)),
    ),
    ("reduce", |isa, q, out, x, _, _| rows::reduce(isa, q, out, x), |q, _, x, _, _| q.reduce(x)),
];

/// Runs the layer.
pub fn run(report: &mut Report, _: &Standard) {
    let q = find_primes(2 * N as u64, 50, 1, &[]).expect("primes of 50 bits")[0];
    let row = |seed: u64| (0..N as u64).map(|j| (j + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) % q.value()).collect();
    let x: Vec<Vec<u64>> = (0..TERMS as u64).map(row).collect();
    let y: Vec<Vec<u64>> = (0..TERMS as u64).map(|i| row(i + 77)).collect();
    let pairs: Vec<(&[u64], &[u64])> = x.iter().zip(&y).map(|(x, y)| (&x[..], &y[..])).collect();
    let terms: Vec<(&[u64], u64)> = x.iter().zip(&y).map(|(x, y)| (&x[..], y[1])).collect();
    let scalar = y[0][1];
    let shape = Shape::new(2 * N as u64).expect("a power of two");
    let theta = Automorphism::new(&shape, 3).expect("3 is odd");
    for isa in Isa::available() {
        let id = |op: &str| format!("kernels/{op}/n={N},50bit/{}/1", isa.name());
        let out = RefCell::new(x[0].clone());
        for (name, run, entry) in OPERATIONS {
            let before = out.borrow().clone();
            run(isa, q, &mut out.borrow_mut(), &x[1], &y[0], scalar);
            let expected = |j: usize| entry(q, before[j], x[1][j], y[0][j], scalar);
            assert!((0..N).all(|j| out.borrow()[j] == expected(j)), "{name} is exact on {}", isa.name());
        }
        rows::dot(isa, q, &mut out.borrow_mut(), &pairs);
        let exact = |j: usize| pairs.iter().fold(0, |sum, (x, y)| q.add(sum, q.mul(x[j], y[j])));
        assert!((0..N).all(|j| out.borrow()[j] == exact(j)), "fused sums are exact on {}", isa.name());
        rows::dot_scalar(isa, q, &mut out.borrow_mut(), &terms);
        let exact = |j: usize| terms.iter().fold(0, |sum, (x, c)| q.add(sum, q.mul(x[j], *c)));
        assert!((0..N).all(|j| out.borrow()[j] == exact(j)), "sums with scalars are exact on {}", isa.name());
        let mut rows_of_sources: Vec<Vec<u64>> = terms.iter().map(|(x, _)| x.to_vec()).collect();
        rows_of_sources.iter_mut().for_each(|row| rows::to_sources(isa, row));
        let scalars = terms.iter().map(|&(_, scalar)| scalar);
        let sources: Vec<(&[u64], u64)> = rows_of_sources.iter().map(Vec::as_slice).zip(scalars).collect();
        rows::dot_sources(isa, q, &mut out.borrow_mut(), &sources, 0);
        assert!((0..N).all(|j| out.borrow()[j] == exact(j)), "base conversions are exact on {}", isa.name());
        let (out, x, y) = (&out, &x, &y);
        let mut subjects: Vec<_> = OPERATIONS
            .iter()
            .map(|&(name, run, _)| subject(id(name), move || run(isa, q, &mut out.borrow_mut(), &x[1], &y[0], scalar)))
            .collect();
        subjects.push(subject(id("dot4"), || rows::dot(isa, q, &mut out.borrow_mut(), &pairs)));
        subjects.push(subject(id("dot_scalar4"), || rows::dot_scalar(isa, q, &mut out.borrow_mut(), &terms)));
        let convert = || rows::dot_sources(isa, q, &mut out.borrow_mut(), &sources, 0);
        subjects.push(subject(id("dot_sources4"), convert));
        subjects.push(subject(id("automorphism"), || theta.apply(isa, &mut out.borrow_mut(), &x[0])));
        let samples = compare_processor(&mut subjects, report.rounds);
        report.add(&samples);
    }
}
