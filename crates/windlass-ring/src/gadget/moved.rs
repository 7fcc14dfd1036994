//! Many sums `Σ_j c_j·θ_j(product_j + addend)` of the same moved products: the baby steps of a linear map, with their constants.
//!
//! Everything is made prime by prime: the moved products of one prime are written once, and read from cache by all sums. So each key and
//! each constant is read from memory once, and nothing but the sums is written there.

use std::sync::Arc;

use rayon::prelude::*;
use windlass_kernels::Automorphism;
use windlass_kernels::rows::{self, PairSum};

use super::product::{Addend, Product, add};
use crate::basis::Basis;
use crate::poly::{Coeff, Eval, Poly};
use crate::ring::Ring;

/// `θ(product + addend)`, the addend joining the first half.
#[derive(Debug, Clone, Copy)]
pub struct Moved<'a> {
    /// The inner product of digits with a key.
    pub product: Product<'a>,
    /// What joins its first half.
    pub addend: Option<Addend<'a>>,
    /// θ.
    pub automorphism: &'a Automorphism,
}

/// One sum: pairs of (number of a moved product, constant); `None` stands for 1.
pub type Weights<'a> = Vec<(usize, Option<&'a Poly<Eval>>)>;

/// Columns that one task takes where several threads share a row: a multiple of what the kernel takes through all sums at a time.
const COLUMNS: usize = 512;

impl Moved<'_> {
    fn write(&self, ring: &Ring, index: usize, [first, second]: [&mut [u64]; 2]) {
        ring.with_scratch(2 + self.product.made(), |scratch| {
            let mut split = scratch.split_mut();
            let made = split.split_off(2);
            let [b, a]: [&mut [u64]; 2] = split.try_into().expect("two rows beside the digits");
            self.product.write(index, made, [&mut *b, &mut *a]);
            add(self.addend, index, b);
            self.automorphism.apply(ring.isa(), first, b);
            self.automorphism.apply(ring.isa(), second, a);
        });
    }
}

/// Row by row of `sums` the pair `Σ c·moved`, over `basis`. No sum is empty.
///
/// Cost: for each moved product that of its product and two permutations; for each constant two multiply-adds a residue.
/// Scratch memory: two rows for each moved product.
pub fn weighted_sums(
    ring: &Arc<Ring>,
    basis: &Basis,
    moved: &[Moved<'_>],
    sums: &[Weights<'_>],
) -> Vec<[Poly<Eval>; 2]> {
    let mut out: Vec<[Poly<Coeff>; 2]> =
        sums.iter().map(|_| std::array::from_fn(|_| Poly::unspecified(ring, basis))).collect();
    let threads = rayon::current_num_threads();
    ring.with_scratch(2 * moved.len(), |inputs| {
        for row in 0..basis.len() {
            let index = basis.index(row);
            let mut split = inputs.split_mut();
            let write = |(moved, pair): (&Moved<'_>, &mut [&mut [u64]])| {
                let [first, second] = pair else { unreachable!("rows in pairs") };
                moved.write(ring, index, [first, second]);
            };
            if threads > 1 {
                moved.par_iter().zip(split.par_chunks_mut(2)).for_each(write);
            } else {
                moved.iter().zip(split.chunks_mut(2)).for_each(write);
            }
            let inputs: Vec<[&[u64]; 2]> = split.chunks(2).map(|pair| [&*pair[0], &*pair[1]]).collect();
            let width = match threads {
                1 => ring.n(),
                _ => ring.n().div_ceil(2 * threads).next_multiple_of(COLUMNS),
            };
            let mut rest: Vec<&mut [u64]> = out.iter_mut().flatten().map(|poly| poly.rows_mut().row_mut(row)).collect();
            let mut tasks = Vec::new();
            for start in (0..ring.n()).step_by(width) {
                let length = width.min(ring.n() - start);
                let (now, later): (Vec<_>, Vec<_>) = rest.into_iter().map(|row| row.split_at_mut(length)).unzip();
                rest = later;
                tasks.push((start, now));
            }
            let sum = |(start, out)| add_up(ring, index, start, out, &inputs, sums);
            if threads > 1 { tasks.into_par_iter().for_each(sum) } else { tasks.into_iter().for_each(sum) }
        }
    });
    out.into_iter().map(|pair| pair.map(Poly::assume_eval)).collect()
}

/// The columns from `start` of all sums modulo one prime.
fn add_up(ring: &Ring, index: usize, start: usize, out: Vec<&mut [u64]>, inputs: &[[&[u64]; 2]], sums: &[Weights<'_>]) {
    let (isa, q) = (ring.isa(), ring.modulus(index));
    let Some(length) = out.first().map(|row| row.len()) else { return };
    let columns = start..start + length;
    let mut out = out.into_iter();
    let mut pairs: Vec<PairSum<'_>> = sums
        .iter()
        .map(|sum| {
            let out = [(); 2].map(|()| out.next().expect("two rows for each sum"));
            let mut terms = Vec::with_capacity(sum.len());
            for &(j, constant) in sum {
                if let Some(constant) = constant {
                    let input = inputs[j].map(|half| &half[columns.clone()]);
                    terms.push((input, &constant.row_of(index)[columns.clone()]));
                }
            }
            PairSum { out, terms }
        })
        .collect();
    rows::dot_pairs(isa, q, &mut pairs);
    for (pair, sum) in pairs.iter_mut().zip(sums) {
        for (j, _) in sum.iter().filter(|(_, constant)| constant.is_none()) {
            pair.out.iter_mut().zip(inputs[*j]).for_each(|(out, x)| rows::add_assign(isa, q, out, &x[columns.clone()]));
        }
    }
}
