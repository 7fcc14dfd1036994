//! Row operations, n = 2^15, seconds for a row.

use windlass_kernels::modulus::find_primes;
use windlass_kernels::{Isa, rows};

use crate::Standard;
use crate::report::Report;
use crate::timing::{compare, subject};

const N: usize = 1 << 15;
/// Terms of the fused sums.
const TERMS: usize = 4;

/// Runs the layer.
pub fn run(report: &mut Report, _: &Standard) {
    let q = find_primes(2 * N as u64, 50, 1, &[]).expect("primes of 50 bits")[0];
    let row = |seed: u64| (0..N as u64).map(|j| (j + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) % q.value()).collect();
    let x: Vec<Vec<u64>> = (0..TERMS as u64).map(row).collect();
    let y: Vec<Vec<u64>> = (0..TERMS as u64).map(|i| row(i + 77)).collect();
    let pairs: Vec<(&[u64], &[u64])> = x.iter().zip(&y).map(|(x, y)| (&x[..], &y[..])).collect();
    let terms: Vec<(&[u64], u64)> = x.iter().zip(&y).map(|(x, y)| (&x[..], y[1])).collect();
    for isa in Isa::available() {
        let id = |op: &str| format!("kernels/{op}/n={N},50bit/{}/1", isa.name());
        let outs: Vec<std::cell::RefCell<Vec<u64>>> = (0..6).map(|_| x[0].clone().into()).collect();
        let out = |i: usize| outs[i].borrow_mut();
        rows::dot(isa, q, &mut out(4), &pairs);
        let exact = |j: usize| pairs.iter().map(|(x, y)| x[j] as u128 * y[j] as u128).sum::<u128>() % q.value() as u128;
        assert!((0..N).all(|j| outs[4].borrow()[j] as u128 == exact(j)), "fused sums are exact on {}", isa.name());
        let samples = compare(
            &mut [
                subject(id("add"), || rows::add_assign(isa, q, &mut out(0), &y[0])),
                subject(id("mul"), || rows::mul(isa, q, &mut out(1), &x[0], &y[0])),
                subject(id("mul_add"), || rows::mul_add_assign(isa, q, &mut out(2), &x[0], &y[0])),
                subject(id("mul_scalar"), || rows::mul_scalar_assign(isa, q, &mut out(3), y[0][1])),
                subject(id("dot4"), || rows::dot(isa, q, &mut out(4), &pairs)),
                subject(id("dot_scalar4"), || rows::dot_scalar(isa, q, &mut out(5), &terms)),
            ],
            report.rounds,
        );
        report.add(&samples);
    }
}
