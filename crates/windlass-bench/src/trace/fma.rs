//! `c += a·b` on l rows of n residues, fused and as a product and a sum.

use windlass_kernels::modulus::find_primes;
use windlass_kernels::{Isa, Modulus, rows};

use super::args::Trace;
use super::results::Results;
use crate::timing::{compare, subject};

/// Rows of residues, one prime each.
struct Rows {
    primes: Vec<Modulus>,
    n: usize,
    data: Vec<u64>,
}

impl Rows {
    fn new(primes: &[Modulus], n: usize, seed: u64) -> Self {
        let residue = |i: usize| (i as u64 ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 14;
        let data = (0..primes.len() * n).map(|i| residue(i) % primes[i / n].value()).collect();
        Self { primes: primes.to_vec(), n, data }
    }

    fn each(&mut self, others: [&Rows; 2], f: impl Fn(Modulus, &mut [u64], &[u64], &[u64])) {
        let rows = self.data.chunks_exact_mut(self.n).zip(others[0].data.chunks_exact(self.n));
        for ((row, x), (y, &q)) in rows.zip(others[1].data.chunks_exact(self.n).zip(&self.primes)) {
            f(q, row, x, y);
        }
    }
}

/// Runs the grid on every instruction set.
pub fn run(args: &Trace, results: &mut Results) {
    let (logs, counts): (Vec<u32>, Vec<usize>) =
        if args.quick { (vec![10, 12, 15], vec![1, 5, 15]) } else { ((10..=15).collect(), (1..=15).collect()) };
    for isa in args.isas() {
        for &log_n in &logs {
            for &l in &counts {
                point(args, results, isa, log_n, l);
            }
        }
    }
}

fn fused(isa: Isa, c: &mut Rows, a: &Rows, b: &Rows) {
    c.each([a, b], |q, c, a, b| rows::mul_add_assign(isa, q, c, a, b));
}

fn separate(isa: Isa, c: &mut Rows, product: &mut Rows, a: &Rows, b: &Rows) {
    product.each([a, b], |q, product, a, b| rows::mul(isa, q, product, a, b));
    let product = &*product;
    c.each([product, product], |q, c, product, _| rows::add_assign(isa, q, c, product));
}

/// `a ← a·b + c` in place, as the paper's MultAdd.
fn in_place(isa: Isa, a: &mut Rows, b: &Rows, c: &Rows) {
    a.each([b, b], |q, a, b, _| rows::mul_assign(isa, q, a, b));
    a.each([c, c], |q, a, c, _| rows::add_assign(isa, q, a, c));
}

fn point(args: &Trace, results: &mut Results, isa: Isa, log_n: u32, l: usize) {
    let n = 1usize << log_n;
    let primes = find_primes(1 << 16, 50, l, &[]).expect("primes of 50 bits");
    let [a, b, c] = [1, 2, 3].map(|seed| Rows::new(&primes, n, seed));
    let (mut one, mut two) = (Rows::new(&primes, n, 3), Rows::new(&primes, n, 3));
    let mut product = Rows::new(&primes, n, 0);
    fused(isa, &mut one, &a, &b);
    separate(isa, &mut two, &mut product, &a, &b);
    let exact = |i: usize| (a.data[i] as u128 * b.data[i] as u128 + c.data[i] as u128) % primes[i / n].value() as u128;
    assert!((0..l * n).all(|i| one.data[i] as u128 == exact(i) && one.data[i] == two.data[i]), "{}", isa.name());
    let mut three = Rows::new(&primes, n, 1);
    let samples = compare(
        &mut [
            subject("fused", || fused(isa, &mut one, &a, &b)),
            subject("separate", || in_place(isa, &mut three, &b, &c)),
        ],
        args.rounds().max(9),
    );
    for sample in &samples {
        results.add("fma", (log_n, l), sample, isa, 1);
    }
}
