//! `c += a·b` on l rows of n residues, fused and as a product and a sum.

use windlass_kernels::modulus::find_primes;
use windlass_kernels::{Isa, Modulus, rows};

use super::args::Trace;
use super::keep::keep;
use super::results::Results;
use super::rows::{Rows, check_mul_add};
use crate::timing::{compare, subject};

/// The largest primes of 50 bits.
pub fn primes(count: usize) -> Vec<Modulus> {
    find_primes(1 << 16, 50, count, &[]).expect("primes of 50 bits")
}

/// The grid of Figure 1: log2 n and l.
pub fn grid(args: &Trace) -> Vec<(u32, usize)> {
    let (logs, counts): (Vec<u32>, Vec<usize>) =
        if args.quick { (vec![10, 12, 15], vec![1, 5, 15]) } else { ((10..=15).collect(), (1..=15).collect()) };
    logs.into_iter().flat_map(|log_n| counts.iter().map(move |&l| (log_n, l)).collect::<Vec<_>>()).collect()
}

/// Runs the grid on every instruction set.
pub fn run(args: &Trace, results: &mut Results) {
    for isa in args.isas() {
        grid(args).into_iter().for_each(|(log_n, l)| point(args, results, isa, log_n, l));
    }
}

/// `c += a·b`.
pub fn fused(isa: Isa, c: &mut Rows<Modulus>, a: &Rows<Modulus>, b: &Rows<Modulus>) {
    c.each([a, b], |q, c, a, b| rows::mul_add_assign(isa, q, c, a, b));
}

/// `a ← a·b + c` in place, as the paper's MultAdd.
fn in_place(isa: Isa, a: &mut Rows<Modulus>, b: &Rows<Modulus>, c: &Rows<Modulus>) {
    a.each([b, b], |q, a, b, _| rows::mul_assign(isa, q, a, b));
    a.each([c, c], |q, a, c, _| rows::add_assign(isa, q, a, c));
}

fn point(args: &Trace, results: &mut Results, isa: Isa, log_n: u32, l: usize) {
    let primes = primes(l);
    let rows = |seed| Rows::new(&primes, Modulus::value, 1 << log_n, seed);
    let [a, b, c] = [1, 2, 3].map(rows);
    let (mut one, mut two) = (rows(3), rows(1));
    fused(isa, &mut one, &a, &b);
    check_mul_add(isa.name(), Modulus::value, &one, [&a, &b, &c]);
    in_place(isa, &mut two, &b, &c);
    check_mul_add(isa.name(), Modulus::value, &two, [&a, &b, &c]);
    let samples = compare(
        &mut [
            subject("fused", || fused(isa, &mut one, &a, &b)),
            subject("separate", || in_place(isa, &mut two, &b, &c)),
        ],
        args.rounds().max(9),
    );
    for sample in &samples {
        keep(results, "fma", (log_n, l), sample, (isa, 1));
    }
}
