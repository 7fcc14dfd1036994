//! Sums over the automorphisms of one decomposition: `Σ_j θ_j(product_j + addend)`, and many such
//! sums with constants.
//!
//! Everything is made prime by prime, and nothing but the sums leaves the cache. With constants,
//! the moved products of one prime are written once and read from cache by all sums: the baby steps
//! of a linear map. So each key and each constant is read from memory once, for several ciphertexts
//! as for one.

use std::sync::Arc;

use rayon::prelude::*;
use windlass_kernels::Automorphism;
use windlass_kernels::rows;

use super::product::Product;
use crate::basis::Basis;
use crate::buffer::RowBuffer;
use crate::periodic_values::Values;
use crate::poly::{Coeff, Eval, Poly};
use crate::products::{self, Products};
use crate::ring::Ring;
use crate::rns::Rows;

/// `θ(product + addend)`, the addend joining the first half.
#[derive(Debug, Clone, Copy)]
pub struct Moved<'a> {
    /// The inner product of digits with a key.
    pub product: Product<'a>,
    /// What joins its first half; zero modulo the primes that it does not have.
    pub addend: &'a Poly<Eval>,
    /// θ.
    pub automorphism: &'a Automorphism,
}

/// One sum: pairs of (number of a moved product, constant); `None` stands for 1.
pub type Weights<'a> = Vec<(usize, Option<&'a Values>)>;

/// Columns that one task takes where several threads share a row: a multiple of what the kernel
/// takes through all sums at a time.
const COLUMNS: usize = 512;

impl Moved<'_> {
    /// Both polynomials of each, over the one basis of the products; modulo one prime those of all,
    /// so that what they share is read once.
    pub fn evaluate(list: &[Self]) -> Vec<[Poly<Eval>; 2]> {
        let Some(Self { product: first, .. }) = list.first() else { return Vec::new() };
        assert!(list.iter().all(|moved| moved.product.basis() == first.basis()), "products over one basis");
        first.filled(list.len(), |number, index, out| list[number].write(index, out))
    }

    /// The product and the addend modulo one prime, before θ.
    fn unmoved<'b>(&self, index: usize, scratch: &'b mut RowBuffer) -> [&'b [u64]; 2] {
        self.product.rows(index, scratch);
        if let Some(row) = self.addend.basis().row_of(index) {
            let ring = self.addend.ring();
            rows::add_assign(ring.isa(), ring.modulus(index), scratch.row_mut(0), self.addend.row(row));
        }
        [scratch.row(0), scratch.row(1)]
    }

    fn write(&self, index: usize, out: [&mut [u64]; 2]) {
        let ring = self.addend.ring();
        ring.with_scratch(self.product.scratch(), |scratch| {
            for (out, x) in out.into_iter().zip(self.unmoved(index, scratch)) {
                self.automorphism.apply(ring.isa(), out, x);
            }
        });
    }

    fn add_to(&self, index: usize, sums: &mut [&mut [u64]; 2]) {
        let ring = self.addend.ring();
        ring.with_scratch(self.product.scratch(), |scratch| {
            for (sum, x) in sums.iter_mut().zip(self.unmoved(index, scratch)) {
                self.automorphism.add_assign(ring.isa(), ring.modulus(index), sum, x);
            }
        });
    }
}

/// The pair `Σ moved` over `basis`.
///
/// Cost: for each moved product that of its product and two permutations.
pub fn sum_moved(ring: &Arc<Ring>, basis: &Basis, moved: &[Moved<'_>]) -> [Poly<Eval>; 2] {
    let mut sums = [Poly::zero(ring, basis), Poly::zero(ring, basis)];
    ring.for_each_rows(sums.each_mut().map(Poly::rows_mut), |row, mut sums| {
        moved.iter().for_each(|moved| moved.add_to(basis.index(row), &mut sums));
    });
    sums
}

/// For each of several ciphertexts, and row by row of `sums`, the pair `Σ c·moved`, over `basis`;
/// all have as many moved products. No sum is empty.
///
/// Modulo one prime all ciphertexts follow each other, so that for all but the first keys and
/// constants come out of a cache. Cost: for each moved product that of its product and two
/// permutations; for each constant two multiply-adds a residue. Scratch memory: two rows for each
/// moved product of one ciphertext.
pub fn dot_moved(
    ring: &Arc<Ring>,
    basis: &Basis,
    ciphertexts: &[Vec<Moved<'_>>],
    sums: &[Weights<'_>],
) -> Vec<Vec<[Poly<Eval>; 2]>> {
    let unspecified = |_: &Weights<'_>| std::array::from_fn(|_| Poly::unspecified(ring, basis));
    let mut out: Vec<Vec<[Poly<Coeff>; 2]>> =
        ciphertexts.iter().map(|_| sums.iter().map(unspecified).collect()).collect();
    let inputs = ciphertexts.iter().map(Vec::len).max().unwrap_or(0);
    ring.with_scratch(2 * inputs, |inputs| {
        for row in 0..basis.len() {
            for (moved, out) in ciphertexts.iter().zip(&mut out) {
                let out = out.iter_mut().flatten().map(|poly| poly.rows_mut().row_mut(row)).collect();
                dot_row(ring, basis.index(row), inputs, moved, sums, out);
            }
        }
    });
    out.into_iter().map(|pairs| pairs.into_iter().map(|pair| pair.map(Poly::assume_eval)).collect()).collect()
}

/// All sums of one ciphertext modulo one prime: `rest` has two rows for each.
fn dot_row(
    ring: &Ring,
    index: usize,
    inputs: &mut RowBuffer,
    moved: &[Moved<'_>],
    sums: &[Weights<'_>],
    mut rest: Vec<&mut [u64]>,
) {
    let threads = rayon::current_num_threads();
    let mut split = inputs.split_mut();
    let write = |(moved, pair): (&Moved<'_>, &mut [&mut [u64]])| {
        let [first, second] = pair else { unreachable!("rows in pairs") };
        moved.write(index, [first, second]);
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

/// The columns from `start` of all sums modulo one prime.
fn add_up(ring: &Ring, index: usize, start: usize, out: Vec<&mut [u64]>, inputs: &[[&[u64]; 2]], sums: &[Weights<'_>]) {
    let (isa, q) = (ring.isa(), ring.modulus(index));
    let Some(length) = out.first().map(|row| row.len()) else { return };
    let columns = start..start + length;
    let mut out = out;
    let (pairs, _) = out.as_chunks_mut::<2>();
    let mut products = Vec::with_capacity(sums.len());
    for (out, sum) in pairs.iter_mut().zip(sums) {
        let mut terms = Vec::with_capacity(sum.len());
        for &(j, constant) in sum {
            if let Some(constant) = constant {
                terms.push((inputs[j].map(|half| &half[columns.clone()]), constant));
            }
        }
        products.push(Products { out: out.each_mut().map(|row| &mut **row), terms });
    }
    products::add_up(ring, index, start, products);
    for (out, sum) in pairs.iter_mut().zip(sums) {
        for (j, _) in sum.iter().filter(|(_, constant)| constant.is_none()) {
            out.iter_mut().zip(inputs[*j]).for_each(|(out, x)| rows::add_assign(isa, q, out, &x[columns.clone()]));
        }
    }
}
