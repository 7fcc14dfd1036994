//! Sums of products of rows with pairs of constant rows: the inner product of a key switch, and of
//! an external product.

use super::rows::{canonical, groups, groups_mut, sum};
use crate::isa::Isa;
use crate::lanes::dispatch_u32;
use crate::lanes::u32_lanes::{Group, Line, U32Kernel, U32Lanes, U32Modulus, WIDTH};
use crate::modulus::Modulus;

/// Eight constants of both halves of a pair, in one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Both([[i32; WIDTH]; 2]);

/// Constants (b_k, a_k), k < terms: centred, multiplied by 2^32, `[group][term]` as the sum reads
/// them.
#[derive(Debug, Clone)]
pub struct Products {
    modulus: Modulus,
    terms: usize,
    table: Vec<Both>,
    /// What the rest is multiplied by.
    factor: i32,
}

/// What is added to both sums beside the products.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rest<'a> {
    /// Rows that are multiplied by a factor that [`Products::new`] was given.
    pub scaled: Option<[&'a [u32]; 2]>,
    /// Rows that are added as they are.
    pub added: [Option<&'a [u32]>; 2],
}

/// x·2^32, centred.
fn constant(q: Modulus, x: u64) -> i32 {
    let x = q.mul(q.reduce(x), (1 << 32) % q.value()) as i64;
    (if x > q.value() as i64 / 2 { x - q.value() as i64 } else { x }) as i32
}

impl Products {
    /// The constants `scale·b_k` and `scale·a_k` from canonical rows `[term][b_k, a_k]`, and the
    /// factor of the rest; scale and factor are reduced.
    pub fn new<'a>(
        isa: Isa,
        q: Modulus,
        rows: impl IntoIterator<Item = [&'a [u32]; 2]>,
        scale: u64,
        factor: u64,
    ) -> Self {
        let checked = |row| {
            debug_assert!(canonical(q, row));
            groups(row)
        };
        let rows: Vec<[&[Group]; 2]> = rows.into_iter().map(|pair| pair.map(checked)).collect();
        let length = rows.first().map_or(0, |pair| pair[0].len());
        assert!(length > 0 && rows.iter().flatten().all(|row| row.len() == length), "rows of one length");
        let mut table = vec![Both([[0; WIDTH]; 2]); length * rows.len()];
        let scale = Line::new(q, &[q.mul(q.reduce(scale), (1 << 32) % q.value()) as u32]);
        dispatch_u32(isa, Prepare { q: q.value() as u32, scale, rows: &rows, table: &mut table });
        Self { modulus: q, terms: rows.len(), table, factor: constant(q, factor) }
    }

    /// The number of pairs.
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// `out = Σ_k digit_k·(b_k, a_k) + rest`, canonical. Digits and rest are canonical.
    ///
    /// A product is below q·q/2 in absolute value: sums of as many as fit 63 bits are reduced at
    /// once.
    pub fn sum(&self, isa: Isa, digits: &[&[u32]], rest: Rest<'_>, out: [&mut [u32]; 2]) {
        assert_eq!(digits.len(), self.terms, "a digit for each pair");
        let length = self.table.len() / self.terms * WIDTH;
        let others = rest.scaled.iter().flatten().chain(rest.added.iter().flatten());
        let given = || digits.iter().chain(others.clone());
        assert!(given().all(|row| row.len() == length), "rows of one length");
        debug_assert!(given().all(|row| canonical(self.modulus, row)));
        assert!(out.iter().all(|row| row.len() == length), "rows of one length");
        let digits: Vec<&[Group]> = digits.iter().map(|row| groups(row)).collect();
        let m = U32Modulus::new(self.modulus);
        let count = self.terms + usize::from(rest.scaled.is_some());
        let kernel = Sum {
            m,
            products: self,
            digits: &digits,
            rest,
            out: out.map(groups_mut),
            fold: count > m.terms_before_reduction(),
        };
        dispatch_u32(isa, kernel);
    }
}

struct Prepare<'a, 'b> {
    q: u32,
    scale: Line,
    rows: &'a [[&'b [Group]; 2]],
    table: &'a mut [Both],
}

impl U32Kernel for Prepare<'_, '_> {
    type Output = ();

    // Plain arithmetic, compiled for the instruction set.
    #[inline(always)]
    fn run<N: U32Lanes>(self, _: N) {
        let Self { q, scale, rows, table } = self;
        let (factor, quotient) = (scale.factors[0], scale.quotients[0]);
        for (term, pair) in rows.iter().enumerate() {
            for (both, (b, a)) in table[term..].iter_mut().step_by(rows.len()).zip(pair[0].iter().zip(pair[1])) {
                for (out, x) in both.0.iter_mut().zip([b, a]) {
                    for j in 0..WIDTH {
                        let multiple = ((x[j] as u64 * quotient as u64) >> 32) as u32;
                        let product = x[j].wrapping_mul(factor).wrapping_sub(multiple.wrapping_mul(q));
                        let less = product.wrapping_sub(q);
                        let product = if product < less { product } else { less };
                        out[j] = product.wrapping_sub(if product > q / 2 { q } else { 0 }) as i32;
                    }
                }
            }
        }
    }
}

struct Sum<'a, 'b> {
    m: U32Modulus,
    products: &'a Products,
    digits: &'a [&'b [Group]],
    rest: Rest<'a>,
    out: [&'a mut [Group]; 2],
    /// Whether sums have to be folded before the last reduction.
    fold: bool,
}

impl U32Kernel for Sum<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<N: U32Lanes>(self, n: N) {
        let Self { m, products, digits, rest, out: [first, second], fold } = self;
        let q = n.splat(m.q as u32);
        let factor = n.load(&[products.factor; WIDTH]);
        let tables = products.table.chunks_exact(products.terms * N::GROUPS);
        let out = first.chunks_exact_mut(N::GROUPS).zip(second.chunks_exact_mut(N::GROUPS));
        for (place, (table, (first, second))) in tables.zip(out).enumerate() {
            let mut words = [[[0; WIDTH]; 2]; 2];
            for g in 0..N::GROUPS {
                let group = place * N::GROUPS + g;
                let table = &table[g * products.terms..(g + 1) * products.terms];
                let mut sums = [n.zero(); 2];
                if let Some(scaled) = rest.scaled {
                    for half in 0..2 {
                        sums[half] =
                            n.add_product(sums[half], n.load_positive(&groups_at(scaled[half], group)), factor);
                    }
                }
                let mut taken = usize::from(rest.scaled.is_some());
                for (both, digit) in table.iter().zip(digits) {
                    let digit = n.load_positive(&digit[group]);
                    if taken == m.positive_terms() {
                        sums = [n.reduce_partly(&m, sums[0]), n.reduce_partly(&m, sums[1])];
                        taken = 0;
                    }
                    taken += 1;
                    for half in 0..2 {
                        sums[half] = n.add_product(sums[half], digit, n.load(&both.0[half]));
                    }
                }
                for half in 0..2 {
                    let sum = if fold { n.reduce_partly(&m, sums[half]) } else { sums[half] };
                    n.store(&m, &mut words[half][g], sum);
                }
            }
            for (half, out) in [first, second].into_iter().enumerate() {
                let mut x = n.load_groups(&words[half], 1);
                if let Some(added) = rest.added[half] {
                    let start = place * N::GROUPS * WIDTH;
                    let added = added[start..start + N::GROUPS * WIDTH].as_chunks().0;
                    x = sum(n, q, x, n.load_groups(added, 1));
                }
                n.store_groups(out, 1, x);
            }
        }
    }
}

/// Group number `group` of a row.
#[inline(always)]
fn groups_at(row: &[u32], group: usize) -> Group {
    row.as_chunks().0[group]
}
