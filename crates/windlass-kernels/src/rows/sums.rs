//! Fused sums of products over many rows: one reduction for up to [`Lanes::TERMS`] products, and
//! each operand read once.

use super::columns::{ragged, vectors};
use crate::isa::Isa;
use crate::lanes::{Kernel, LANES, Lanes, Part, dispatch, fetch};
use crate::modulus::Modulus;

/// Vectors taken together, so that looking up the rows of a term is paid once for all of them.
const WIDE: usize = 4;

/// Terms that a block takes together.
const TOGETHER: usize = 4;

/// Columns through which [`dot_pairs`] takes all its sums before it continues: operands shared
/// between sums stay in cache.
const BLOCK: usize = 512;

/// One block of a row.
type RowBlock = [[u64; LANES]; BLOCK / LANES];

#[inline(always)]
fn store<P: Part, const W: usize>(p: P, out: &mut [u64], start: usize, sums: &[P::Sum; W]) {
    let (vectors, _) = out[start..start + W * LANES].as_chunks_mut::<LANES>();
    for w in 0..W {
        p.store_sum(&mut vectors[w], sums[w]);
    }
}

#[inline(always)]
fn store_ragged<L: Lanes>(l: L, out: &mut [u64], start: usize, sums: &[L::Sum; 1]) {
    let mut padded = [0; LANES];
    l.store_sum(&mut padded, sums[0]);
    let length = out.len() - start;
    out[start..].copy_from_slice(&padded[..length]);
}

/// Makes room in full sums: what they hold so far takes the room of one product.
#[inline(always)]
fn make_room<P: Part, const W: usize>(p: P, sums: &mut [P::Sum; W], taken: &mut usize) {
    if *taken == P::TERMS {
        for w in 0..W {
            sums[w] = p.sum_from(p.sum_reduce(sums[w]));
        }
        *taken = 1;
    }
    *taken += 1;
}

/// Σ over pairs of rows: `out` is written, never read.
struct Dot<'a, 'b> {
    out: &'a mut [u64],
    pairs: &'a [(&'b [u64], &'b [u64])],
}

/// W vectors of sums of products from column `start`.
#[inline(always)]
fn sums_of<P: Part, const W: usize>(p: P, pairs: &[(&[u64], &[u64])], start: usize) -> [P::Sum; W] {
    let mut sums = [p.sum_zero(); W];
    let mut taken = 0;
    for (x, y) in pairs {
        make_room(p, &mut sums, &mut taken);
        let (x, y) = (vectors::<W>(x, start), vectors::<W>(y, start));
        for w in 0..W {
            sums[w] = p.sum_add(sums[w], &x[w], &y[w]);
        }
    }
    sums
}

impl Kernel for Dot<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let length = self.out.len();
        let mut start = 0;
        while start + WIDE * LANES <= length {
            for part in 0..L::PARTS {
                let p = l.part(part);
                let sums = sums_of::<L::Part, WIDE>(p, self.pairs, start);
                store(p, self.out, start, &sums);
            }
            start += WIDE * LANES;
        }
        while start + LANES <= length {
            store(l, self.out, start, &sums_of::<L, 1>(l, self.pairs, start));
            start += LANES;
        }
        if start < length {
            let padded: Vec<_> = self.pairs.iter().map(|(x, y)| [ragged(x, start), ragged(y, start)]).collect();
            let pairs: Vec<_> = padded.iter().map(|[x, y]| (&x[0][..], &y[0][..])).collect();
            store_ragged(l, self.out, start, &sums_of::<L, 1>(l, &pairs, 0));
        }
    }
}

/// Two sums that share one operand of each product: `out[h] = Σ_i x_i[h] * y_i`, h = 0, 1.
#[derive(Debug)]
pub struct PairSum<'a> {
    /// The two results: written, never read.
    pub out: [&'a mut [u64]; 2],
    /// (x_i\[0\], x_i\[1\]) and y_i.
    pub terms: Vec<Term<'a>>,
}

/// One vector of both sums, from column `start`.
#[inline(always)]
fn pair_sums_of<L: Lanes>(l: L, terms: &[Term<'_>], start: usize) -> [[L::Sum; 1]; 2] {
    let mut sums = [l.sum_zero(); 2];
    let mut taken = 0;
    for (x, y) in terms {
        make_room(l, &mut sums, &mut taken);
        let y = &vectors::<1>(y, start)[0];
        for h in 0..2 {
            sums[h] = l.sum_add(sums[h], &vectors::<1>(x[h], start)[0], y);
        }
    }
    [[sums[0]], [sums[1]]]
}

/// (x_i\[0\], x_i\[1\]) and y_i.
type Term<'a> = ([&'a [u64]; 2], &'a [u64]);

/// The columns of a block, as far as its sums have been taken.
struct WholeBlock<'a, S> {
    /// Between groups, where there is more than one.
    sums: &'a mut [(S, S)],
    out: [&'a mut RowBlock; 2],
    /// Products in each sum.
    taken: usize,
}

impl<S: Copy> WholeBlock<'_, S> {
    /// Takes the last terms.
    #[inline(always)]
    fn end<L: Lanes<Sum = S>>(&mut self, l: L, group: &[Term<'_>], from: usize, after: (&[Term<'_>], usize)) {
        match group.len() {
            1 => self.take::<L, 1, true>(l, group, from, after),
            2 => self.take::<L, 2, true>(l, group, from, after),
            3 => self.take::<L, 3, true>(l, group, from, after),
            _ => self.take::<L, 4, true>(l, group, from, after),
        }
    }

    /// Takes K terms from column `from` on, and fetches the first terms of `after` from theirs on.
    /// The last group ends the sums.
    #[inline(always)]
    fn take<L: Lanes<Sum = S>, const K: usize, const LAST: bool>(
        &mut self,
        l: L,
        group: &[Term<'_>],
        from: usize,
        (after, at): (&[Term<'_>], usize),
    ) {
        let mut rows: [[&RowBlock; 3]; K] = [[run(group[0].1, from); 3]; K];
        for i in 0..K {
            let ([a, b], y) = group[i];
            rows[i] = [run(a, from), run(b, from), run(y, from)];
        }
        // Places for which there is no row repeat one that is in cache.
        let mut ahead: [&RowBlock; 3 * TOGETHER] = [rows[0][0]; 3 * TOGETHER];
        for (i, ([a, b], y)) in after.iter().take(TOGETHER).enumerate() {
            if at + BLOCK <= y.len() {
                (ahead[3 * i], ahead[3 * i + 1], ahead[3 * i + 2]) = (run(a, at), run(b, at), run(y, at));
            }
        }
        const { assert!(L::TERMS > TOGETHER, "a group beside what sums held") };
        let begin = self.taken == 0;
        let fold = self.taken + K > L::TERMS;
        self.taken = if fold { 1 + K } else { self.taken + K };
        for v in 0..BLOCK / LANES {
            for i in 0..3 * TOGETHER {
                fetch::near(&ahead[i][v]);
            }
            let (mut a, mut b) = if begin { (l.sum_zero(), l.sum_zero()) } else { self.sums[v] };
            if fold {
                (a, b) = (l.sum_from(l.sum_reduce(a)), l.sum_from(l.sum_reduce(b)));
            }
            for i in 0..K {
                a = l.sum_add(a, &rows[i][0][v], &rows[i][2][v]);
                b = l.sum_add(b, &rows[i][1][v], &rows[i][2][v]);
            }
            if LAST {
                l.store_sum(&mut self.out[0][v], a);
                l.store_sum(&mut self.out[1][v], b);
            } else {
                self.sums[v] = (a, b);
            }
        }
    }
}

/// The block of a row from a column on.
#[inline(always)]
fn run(row: &[u64], from: usize) -> &RowBlock {
    vectors(row, from)
}

/// As [`run`], to be written.
#[inline(always)]
fn run_mut(row: &mut [u64], from: usize) -> &mut RowBlock {
    let (vectors, _) = row[from..from + BLOCK].as_chunks_mut::<LANES>();
    vectors.first_chunk_mut().expect("a block")
}

impl PairSum<'_> {
    fn has_one_length(&self, length: usize) -> bool {
        let fits = |row: &[u64]| row.len() == length;
        self.out.iter().all(|row| fits(row)) && self.terms.iter().all(|(x, y)| fits(x[0]) && fits(x[1]) && fits(y))
    }

    /// A whole block: a few terms at a time over all its columns, so that each row is read in a run
    /// of one block, which the processor follows; the sums wait in the first-level cache. While a
    /// group of terms is taken, what comes after it is fetched; `next` is what comes after the last
    /// one.
    #[inline(always)]
    fn whole_block<L: Lanes>(&mut self, l: L, from: usize, next: Option<&[Term<'_>]>) {
        let Self { out: [first, second], terms } = self;
        let (terms, out) = (&terms[..], [run_mut(first, from), run_mut(second, from)]);
        // After the last sum the next block of this one, which is what follows if it is alone.
        let after = next.map_or((terms, from + BLOCK), |terms| (terms, from));
        if terms.len() <= TOGETHER {
            return WholeBlock { sums: &mut [], out, taken: 0 }.end(l, terms, from, after);
        }
        let mut sums = [(l.sum_zero(), l.sum_zero()); BLOCK / LANES];
        let mut block = WholeBlock { sums: &mut sums, out, taken: 0 };
        let mut rest = terms;
        while rest.len() > TOGETHER {
            let (group, later) = rest.split_at(TOGETHER);
            block.take::<L, TOGETHER, false>(l, group, from, (later, from));
            rest = later;
        }
        block.end(l, rest, from, after);
    }

    /// Columns that are no whole block, and those of sums without terms.
    #[inline(always)]
    fn ragged_block<L: Lanes>(&mut self, l: L, from: usize, to: usize) {
        let mut start = from;
        while start + LANES <= to {
            let [first, second] = pair_sums_of(l, &self.terms, start);
            store(l, self.out[0], start, &first);
            store(l, self.out[1], start, &second);
            start += LANES;
        }
        if start < to {
            let pad = |([a, b], y): &([&[u64]; 2], &[u64])| [ragged(a, start), ragged(b, start), ragged(y, start)];
            let padded: Vec<_> = self.terms.iter().map(pad).collect();
            let terms: Vec<_> = padded.iter().map(|[a, b, y]| ([&a[0][..], &b[0][..]], &y[0][..])).collect();
            let [first, second] = pair_sums_of(l, &terms, 0);
            store_ragged(l, self.out[0], start, &first);
            store_ragged(l, self.out[1], start, &second);
        }
    }
}

struct DotPairs<'a, 'b> {
    sums: &'a mut [PairSum<'b>],
    length: usize,
}

impl Kernel for DotPairs<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut start = 0;
        while start < self.length {
            let end = self.length.min(start + BLOCK);
            let mut rest = &mut *self.sums;
            while let Some((sum, later)) = rest.split_first_mut() {
                if end - start == BLOCK && !sum.terms.is_empty() {
                    sum.whole_block(l, start, later.first().map(|sum| &sum.terms[..]));
                } else {
                    sum.ragged_block(l, start, end);
                }
                rest = later;
            }
            start = end;
        }
    }
}

/// The product of two pairs: out = (a0·b0, a0·b1 + a1·b0, a1·b1)·scalar.
struct Tensor<'a> {
    out: [&'a mut [u64]; 3],
    a: [&'a [u64]; 2],
    b: [&'a [u64]; 2],
    scalar: u64,
}

impl Kernel for Tensor<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let words = l.prepare(self.scalar);
        let m = l.multiplier(&words);
        let [first, middle, last] = self.out;
        let length = first.len();
        for start in (0..length).step_by(LANES) {
            let [a0, a1, b0, b1] = if start + LANES <= length {
                [self.a[0], self.a[1], self.b[0], self.b[1]].map(|row| vectors::<1>(row, start)[0])
            } else {
                [self.a[0], self.a[1], self.b[0], self.b[1]].map(|row| ragged(row, start)[0])
            };
            let cross = l.sum_add(l.sum_add(l.sum_zero(), &a0, &b1), &a1, &b0);
            let products = [
                l.mul(l.mul_lanes(l.load(&a0), l.load(&b0)), m),
                l.mul(l.sum_reduce(cross), m),
                l.mul(l.mul_lanes(l.load(&a1), l.load(&b1)), m),
            ];
            let mut words = [[0; LANES]; 3];
            for i in 0..3 {
                l.store(&mut words[i], products[i]);
            }
            let end = length.min(start + LANES);
            first[start..end].copy_from_slice(&words[0][..end - start]);
            middle[start..end].copy_from_slice(&words[1][..end - start]);
            last[start..end].copy_from_slice(&words[2][..end - start]);
        }
    }
}

/// `out = scalar·(a_0 * b_0, a_0 * b_1 + a_1 * b_0, a_1 * b_1)`: the product of two ciphertexts,
/// `scalar` canonical. One pass.
pub fn tensor(isa: Isa, q: Modulus, out: [&mut [u64]; 3], a: [&[u64]; 2], b: [&[u64]; 2], scalar: u64) {
    let length = out[0].len();
    assert!(out.iter().all(|row| row.len() == length), "rows of one length");
    assert!(a.iter().chain(&b).all(|row| row.len() == length), "rows of one length");
    dispatch(isa, q, Tensor { out, a, b, scalar });
}

/// `out = Σ_i x_i * y_i` over pairs of rows.
pub fn dot(isa: Isa, q: Modulus, out: &mut [u64], pairs: &[(&[u64], &[u64])]) {
    assert!(pairs.iter().all(|(x, y)| x.len() == out.len() && y.len() == out.len()), "rows of one length");
    dispatch(isa, q, Dot { out, pairs });
}

/// Many [`PairSum`]s in one pass through memory: the inner products of a key switch, or the sums of
/// a linear map. Operands that occur in several sums are read from memory once.
pub fn dot_pairs(isa: Isa, q: Modulus, sums: &mut [PairSum<'_>]) {
    let length = sums.first().map_or(0, |sum| sum.out[0].len());
    assert!(sums.iter().all(|sum| sum.has_one_length(length)), "rows of one length");
    dispatch(isa, q, DotPairs { sums, length });
}
