//! Algorithm 4.1 of Inoue–Suzuki–Yamana 2022 on primes of 60 bits, beside what Windlass does modulo
//! primes of 50: its Figure 1, and the inner products of key switches.

use windlass_kernels::barrett::{self, BarrettModulus};
use windlass_kernels::rows::{PairSum, dot_pairs};
use windlass_kernels::{Isa, Modulus, arith};
use windlass_papers::trace::sixty::{DIGITS, WIDE_BITS, rows_of_same_bits};

use super::args::Trace;
use super::fma::{fused, grid, primes};
use super::keep::keep;
use super::results::Results;
use super::rows::{Rows, check_mul_add};
use crate::timing::subject;

/// Rows of the inner products: 600 bits in either size.
const DOT_ROWS: [usize; 2] = [10, 12];

/// The largest primes of 60 bits that are 1 modulo 2^16.
fn wide_primes(count: usize) -> Vec<BarrettModulus> {
    let candidates = (1u64..).map(|j| (1 << WIDE_BITS) + 1 - (j << 16));
    let primes = candidates.filter(|&q| arith::is_prime(q)).take(count);
    primes.map(|q| BarrettModulus::new(q).expect("odd, of 60 bits")).collect()
}

/// Runs both comparisons on every instruction set.
pub fn run(args: &Trace, results: &mut Results) {
    for isa in args.isas() {
        grid(args).into_iter().for_each(|(log_n, l)| point(args, results, isa, log_n, l));
        DIGITS.into_iter().for_each(|digits| inner_product(args, results, isa, digits));
    }
}

/// Algorithm 4.1: `c += a·b`.
fn wide(isa: Isa, c: &mut Rows<BarrettModulus>, a: &Rows<BarrettModulus>, b: &Rows<BarrettModulus>) {
    c.each([a, b], |q, c, a, b| barrett::mul_add_assign(isa, q, c, a, b));
}

/// MultAdd: `a ← a·b + c`.
fn wide_separate(isa: Isa, a: &mut Rows<BarrettModulus>, b: &Rows<BarrettModulus>, c: &Rows<BarrettModulus>) {
    a.each([b, b], |q, a, b, _| barrett::mul_assign(isa, q, a, b));
    a.each([c, c], |q, a, c, _| barrett::add_assign(isa, q, a, c));
}

/// One place of Figure 1: l rows of 60 bits, and as many rows of 50 as have at least these bits.
fn point(args: &Trace, results: &mut Results, isa: Isa, log_n: u32, l: usize) {
    let (ours, wides) = (primes(rows_of_same_bits(l)), wide_primes(l));
    let our_rows = |seed| Rows::new(&ours, Modulus::value, 1 << log_n, seed);
    let wide_rows = |seed| Rows::new(&wides, BarrettModulus::value, 1 << log_n, seed);
    let ([a, b, c], [wide_a, wide_b, wide_c]) = ([1, 2, 3].map(our_rows), [1, 2, 3].map(wide_rows));
    let (mut our_sum, mut wide_sum, mut two_passes) = (our_rows(3), wide_rows(3), wide_rows(1));
    fused(isa, &mut our_sum, &a, &b);
    check_mul_add(isa.name(), Modulus::value, &our_sum, [&a, &b, &c]);
    wide(isa, &mut wide_sum, &wide_a, &wide_b);
    check_mul_add(isa.name(), BarrettModulus::value, &wide_sum, [&wide_a, &wide_b, &wide_c]);
    wide_separate(isa, &mut two_passes, &wide_b, &wide_c);
    check_mul_add(isa.name(), BarrettModulus::value, &two_passes, [&wide_a, &wide_b, &wide_c]);
    let samples = args.compare(
        &mut [
            subject("fused", || wide(isa, &mut wide_sum, &wide_a, &wide_b)),
            subject("separate", || wide_separate(isa, &mut two_passes, &wide_b, &wide_c)),
            subject("ours", || fused(isa, &mut our_sum, &a, &b)),
        ],
        1,
    );
    samples.iter().for_each(|sample| keep(results, "fma60", (log_n, l), sample, (isa, 1)));
}

/// Both halves of a key, each multiplied by the digits and summed up: rows of 2^15 residues, 600
/// bits in all.
fn inner_product(args: &Trace, results: &mut Results, isa: Isa, digits: usize) {
    const N: usize = 1 << 15;
    let (ours, wides) = (primes(DOT_ROWS[1]), wide_primes(DOT_ROWS[0]));
    let our_rows = |seed| Rows::new(&ours, Modulus::value, N, seed);
    let wide_rows = |seed| Rows::new(&wides, BarrettModulus::value, N, seed);
    let our_terms: Vec<_> = (0..digits as u64).map(|i| [3 * i, 3 * i + 1, 3 * i + 2].map(our_rows)).collect();
    let wide_terms: Vec<_> = (0..digits as u64).map(|i| [3 * i, 3 * i + 1, 3 * i + 2].map(wide_rows)).collect();
    let (mut our_out, mut wide_out) = ([0, 1].map(our_rows), [0, 1].map(wide_rows));
    our_sums(isa, &mut our_out, &our_terms);
    wide_sums(isa, &mut wide_out, &wide_terms);
    for half in 0..2 {
        check_sum(Modulus::value, &our_out[half], &our_terms, half);
        check_sum(BarrettModulus::value, &wide_out[half], &wide_terms, half);
    }
    let samples = args.compare(
        &mut [
            subject("fused", || wide_sums(isa, &mut wide_out, &wide_terms)),
            subject("ours", || our_sums(isa, &mut our_out, &our_terms)),
        ],
        1,
    );
    samples.iter().for_each(|sample| keep(results, "dot60", (digits as u32, DOT_ROWS[0]), sample, (isa, 1)));
}

/// `out[h] = Σ_i key_i[h]·digit_i` by one multiply-add for each term, as the paper's Algorithm 3.1.
fn wide_sums(isa: Isa, out: &mut [Rows<BarrettModulus>; 2], terms: &[[Rows<BarrettModulus>; 3]]) {
    for (half, out) in out.iter_mut().enumerate() {
        out.data.fill(0);
        terms.iter().for_each(|term| wide(isa, out, &term[half], &term[2]));
    }
}

/// The same with the kernel of Windlass's key switches.
fn our_sums(isa: Isa, [first, second]: &mut [Rows<Modulus>; 2], terms: &[[Rows<Modulus>; 3]]) {
    let n = first.n;
    let rows = first.data.chunks_exact_mut(n).zip(second.data.chunks_exact_mut(n));
    for (index, ((first, second), &q)) in rows.zip(&first.moduli).enumerate() {
        let terms = terms.iter().map(|term| ([term[0].row(index), term[1].row(index)], term[2].row(index))).collect();
        dot_pairs(isa, q, &mut [PairSum { out: [first, second], terms }]);
    }
}

/// Panics unless `got` is the sum of one half, in arithmetic of double words.
fn check_sum<M: Copy>(value: fn(M) -> u64, got: &Rows<M>, terms: &[[Rows<M>; 3]], half: usize) {
    for (i, &x) in got.data.iter().enumerate() {
        let exact: u128 = terms.iter().map(|t| u128::from(t[half].data[i]) * u128::from(t[2].data[i])).sum();
        assert_eq!(u128::from(x), exact % u128::from(value(got.moduli[i / got.n])), "residue {i} of half {half}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_primes_have_sixty_bits() {
        let primes = wide_primes(15);
        assert!(primes.iter().all(|q| q.value() >> (WIDE_BITS - 1) == 1 && q.value() % (1 << 16) == 1));
        assert!(primes.windows(2).all(|pair| pair[0].value() > pair[1].value()));
        assert_eq!([1, 5, 15].map(rows_of_same_bits), [2, 6, 18]);
    }

    #[test]
    fn inner_products_of_either_size_are_exact() {
        for isa in Isa::available() {
            let (ours, wides) = (primes(2), wide_primes(2));
            let our_rows = |seed| Rows::new(&ours, Modulus::value, 40, seed);
            let wide_rows = |seed| Rows::new(&wides, BarrettModulus::value, 40, seed);
            let our_terms: Vec<_> = (0..3).map(|i| [i, i + 3, i + 6].map(our_rows)).collect();
            let wide_terms: Vec<_> = (0..3).map(|i| [i, i + 3, i + 6].map(wide_rows)).collect();
            let (mut our_out, mut wide_out) = ([0, 1].map(our_rows), [0, 1].map(wide_rows));
            our_sums(isa, &mut our_out, &our_terms);
            wide_sums(isa, &mut wide_out, &wide_terms);
            for half in 0..2 {
                check_sum(Modulus::value, &our_out[half], &our_terms, half);
                check_sum(BarrettModulus::value, &wide_out[half], &wide_terms, half);
            }
        }
    }
}
