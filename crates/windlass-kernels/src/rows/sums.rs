//! Fused sums of products over many rows: one reduction for up to [`Lanes::TERMS`] products, and
//! each operand read once.

use super::columns::{fetch_ahead, ragged, vectors};
use crate::isa::Isa;
use crate::lanes::{Kernel, LANES, Lanes, Part, dispatch, fetch};
use crate::modulus::Modulus;

/// Vectors taken together, so that looking up the rows of a term is paid once for all of them.
const WIDE: usize = 4;

/// The same for sums with two results.
const WIDE_PAIR: usize = 2;

/// Terms that a block takes together.
const TOGETHER: usize = 4;

/// Columns through which [`dot_pairs`] takes all its sums before it goes on: operands shared
/// between sums stay in cache.
const BLOCK: usize = 512;

/// One block of each row of a group.
type Group<'a> = [&'a [[u64; LANES]; BLOCK / LANES]; TOGETHER];

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

/// The second operands of a group in one block.
#[inline(always)]
fn block_of<'a>(group: &[([&'a [u64]; 2], &'a [u64]); TOGETHER], from: usize) -> Group<'a> {
    [vectors(group[0].1, from), vectors(group[1].1, from), vectors(group[2].1, from), vectors(group[3].1, from)]
}

/// Two sums that share one operand of each product: `out[h] = Σ_i x_i[h] * y_i`, h = 0, 1.
#[derive(Debug)]
pub struct PairSum<'a> {
    /// The two results: written, never read.
    pub out: [&'a mut [u64]; 2],
    /// (x_i\[0\], x_i\[1\]) and y_i.
    pub terms: Vec<([&'a [u64]; 2], &'a [u64])>,
}

/// W vectors of both sums from column `start`.
#[inline(always)]
fn pair_sums_of<P: Part, const W: usize>(p: P, terms: &[([&[u64]; 2], &[u64])], start: usize) -> [[P::Sum; W]; 2] {
    let (mut first, mut second) = ([p.sum_zero(); W], [p.sum_zero(); W]);
    let mut taken = [0; 2];
    for (x, y) in terms {
        make_room(p, &mut first, &mut taken[0]);
        make_room(p, &mut second, &mut taken[1]);
        let (x0, x1, y) = (vectors::<W>(x[0], start), vectors::<W>(x[1], start), vectors::<W>(y, start));
        for w in 0..W {
            first[w] = p.sum_add(first[w], &x0[w], &y[w]);
            second[w] = p.sum_add(second[w], &x1[w], &y[w]);
        }
    }
    [first, second]
}

impl PairSum<'_> {
    fn has_one_length(&self, length: usize) -> bool {
        let fits = |row: &[u64]| row.len() == length;
        self.out.iter().all(|row| fits(row)) && self.terms.iter().all(|(x, y)| fits(x[0]) && fits(x[1]) && fits(y))
    }

    /// Whole blocks: a few terms at a time over all columns of the block, the sums kept in the
    /// first-level cache. Each operand is then read in a run of one block, which the processor
    /// fetches ahead; all terms at once would be more streams than it follows. What comes after a
    /// group is asked for while the group is taken; `next` is what comes after the last one.
    #[inline(always)]
    fn whole_block<L: Lanes>(&mut self, l: L, from: usize, next: Option<Group<'_>>) {
        let mut first = [l.sum_zero(); BLOCK / LANES];
        let mut second = [l.sum_zero(); BLOCK / LANES];
        let mut taken = 0;
        let (groups, rest) = self.terms.as_chunks::<TOGETHER>();
        for (number, group) in groups.iter().enumerate() {
            let after = match groups.get(number + 1) {
                Some(group) => Some(block_of(group, from)),
                None => next,
            };
            if taken + TOGETHER > L::TERMS {
                for v in 0..BLOCK / LANES {
                    first[v] = l.sum_from(l.sum_reduce(first[v]));
                    second[v] = l.sum_from(l.sum_reduce(second[v]));
                }
                taken = 1;
            }
            taken += TOGETHER;
            let rows = [group[0], group[1], group[2], group[3]];
            let x0: Group<'_> = [
                vectors(rows[0].0[0], from),
                vectors(rows[1].0[0], from),
                vectors(rows[2].0[0], from),
                vectors(rows[3].0[0], from),
            ];
            let x1: Group<'_> = [
                vectors(rows[0].0[1], from),
                vectors(rows[1].0[1], from),
                vectors(rows[2].0[1], from),
                vectors(rows[3].0[1], from),
            ];
            let y: Group<'_> = block_of(group, from);
            let after = after.unwrap_or(y);
            for v in 0..BLOCK / LANES {
                let (mut a, mut b) = (first[v], second[v]);
                for i in 0..TOGETHER {
                    fetch::near(&after[i][v]);
                }
                for i in 0..TOGETHER {
                    a = l.sum_add(a, &x0[i][v], &y[i][v]);
                    b = l.sum_add(b, &x1[i][v], &y[i][v]);
                }
                first[v] = a;
                second[v] = b;
            }
        }
        for (x, y) in rest {
            if taken + 1 > L::TERMS {
                for v in 0..BLOCK / LANES {
                    first[v] = l.sum_from(l.sum_reduce(first[v]));
                    second[v] = l.sum_from(l.sum_reduce(second[v]));
                }
                taken = 1;
            }
            taken += 1;
            let x0: &[[u64; LANES]; BLOCK / LANES] = vectors(x[0], from);
            let x1: &[[u64; LANES]; BLOCK / LANES] = vectors(x[1], from);
            let y: &[[u64; LANES]; BLOCK / LANES] = vectors(y, from);
            for v in 0..BLOCK / LANES {
                first[v] = l.sum_add(first[v], &x0[v], &y[v]);
                second[v] = l.sum_add(second[v], &x1[v], &y[v]);
            }
        }
        store(l, self.out[0], from, &first);
        store(l, self.out[1], from, &second);
    }

    /// Whether a block is taken term by term.
    #[inline(always)]
    fn is_long(&self, from: usize, to: usize) -> bool {
        to - from == BLOCK && self.terms.len() > TOGETHER
    }

    /// What [`Self::whole_block`] takes first.
    #[inline(always)]
    fn first_group(&self, from: usize, to: usize) -> Option<Group<'_>> {
        match self.terms.first_chunk() {
            Some(group) if self.is_long(from, to) => Some(block_of(group, from)),
            _ => None,
        }
    }

    #[inline(always)]
    fn block<L: Lanes>(&mut self, l: L, from: usize, to: usize, next: Option<Group<'_>>) {
        if self.is_long(from, to) {
            return self.whole_block(l, from, next);
        }
        let mut start = from;
        while start + WIDE_PAIR * LANES <= to {
            for (x, _) in &self.terms {
                fetch_ahead::<WIDE_PAIR>(x[0], start);
                fetch_ahead::<WIDE_PAIR>(x[1], start);
            }
            for part in 0..L::PARTS {
                let p = l.part(part);
                let [first, second] = pair_sums_of::<L::Part, WIDE_PAIR>(p, &self.terms, start);
                store(p, self.out[0], start, &first);
                store(p, self.out[1], start, &second);
            }
            start += WIDE_PAIR * LANES;
        }
        while start + LANES <= to {
            let [first, second] = pair_sums_of::<L, 1>(l, &self.terms, start);
            store(l, self.out[0], start, &first);
            store(l, self.out[1], start, &second);
            start += LANES;
        }
        if start < to {
            let pad = |([a, b], y): &([&[u64]; 2], &[u64])| [ragged(a, start), ragged(b, start), ragged(y, start)];
            let padded: Vec<_> = self.terms.iter().map(pad).collect();
            let terms: Vec<_> = padded.iter().map(|[a, b, y]| ([&a[0][..], &b[0][..]], &y[0][..])).collect();
            let [first, second] = pair_sums_of::<L, 1>(l, &terms, 0);
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
                let next = later.first().and_then(|sum| sum.first_group(start, end));
                sum.block(l, start, end, next);
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
