//! Sums of products with values of constants.

use std::sync::Arc;

use windlass_kernels::rows::{self, PairSum};

use crate::basis::Basis;
use crate::periodic_values::Values;
use crate::poly::{Eval, Poly};
use crate::ring::Ring;

/// Columns for which folded values are unfolded at a time: those of a sum then stay in cache.
const COLUMNS: usize = 512;

/// `out = (Σ x[0]·y, Σ x[1]·y)` for some columns of rows.
pub(crate) struct Products<'a, 'b> {
    pub out: [&'b mut [u64]; 2],
    /// Rows of as many columns, and the values of constants.
    pub terms: Vec<([&'a [u64]; 2], &'a Values)>,
}

/// All sums modulo prime `index`, from column `first`.
pub(crate) fn add_up(ring: &Ring, index: usize, first: usize, sums: Vec<Products<'_, '_>>) {
    let (isa, q) = (ring.isa(), ring.modulus(index));
    let Some(length) = sums.first().map(|sum| sum.out[0].len()) else { return };
    let periodic = |sum: &Products<'_, '_>| sum.terms.iter().filter(|(_, y)| y.is_periodic()).count();
    let most = sums.iter().map(periodic).max().unwrap_or(0);
    if most == 0 {
        let mut whole = Vec::with_capacity(sums.len());
        for Products { out, terms } in sums {
            let columns = || first..first + length;
            let terms = terms.into_iter().map(|(x, y)| (x, y.columns(index, columns(), &mut []))).collect();
            whole.push(PairSum { out, terms });
        }
        return rows::dot_pairs(isa, q, &mut whole);
    }
    let width = COLUMNS.min(ring.n());
    ring.with_scratch(most.div_ceil(ring.n() / width), |scratch| {
        let mut pieces =
            scratch.split_mut().into_iter().flat_map(|row| row.chunks_exact_mut(width)).collect::<Vec<_>>();
        let mut rest = sums;
        for start in (0..length).step_by(width) {
            let width = width.min(length - start);
            for sum in &mut rest {
                let out = sum.out.each_mut().map(|out| {
                    let (now, later) = std::mem::take(out).split_at_mut(width);
                    *out = later;
                    now
                });
                let mut pieces = pieces.iter_mut();
                let mut terms = Vec::with_capacity(sum.terms.len());
                for &(x, y) in &sum.terms {
                    let piece: &mut [u64] = match y.is_periodic() {
                        true => &mut pieces.next().expect("a piece for each that is folded")[..width],
                        false => &mut [],
                    };
                    let columns = first + start..first + start + width;
                    terms.push((x.map(|row| &row[start..start + width]), y.columns(index, columns, piece)));
                }
                rows::dot_pairs(isa, q, &mut [PairSum { out, terms }]);
            }
        }
    });
}

impl Poly<Eval> {
    /// Row by row of `sums` the pair `(Σ x_i[0]·y_i, Σ x_i[1]·y_i)` over the primes of `basis`,
    /// which all operands must cover.
    ///
    /// One pass through memory for all sums: what occurs in several is read once for each prime.
    pub fn dot_pairs(ring: &Arc<Ring>, basis: &Basis, sums: &[Vec<([&Self; 2], &Values)>]) -> Vec<[Self; 2]> {
        let mut out: Vec<[Self; 2]> =
            sums.iter().map(|_| std::array::from_fn(|_| Self::unspecified(ring, basis))).collect();
        let buffers = out.iter_mut().flatten().map(Self::rows_mut).collect();
        ring.for_each_rows_of(buffers, |row, out| {
            let index = basis.index(row);
            let mut out = out.into_iter();
            let mut with_values = Vec::with_capacity(sums.len());
            for terms in sums {
                let out = [(); 2].map(|()| out.next().expect("two rows for each sum"));
                let terms = terms.iter().map(|&(x, y)| (x.map(|half| half.row_of(index)), y)).collect();
                with_values.push(Products { out, terms });
            }
            add_up(ring, index, 0, with_values);
        });
        out
    }
}
