//! Sums over the automorphisms of one decomposition: `Σ_j θ_j(product_j + addend)`, and many such
//! sums with constants.
//!
//! Everything is made prime by prime, and nothing but the sums leaves the cache. With constants,
//! the moved products of one prime are written once and read from cache by all sums: the baby steps
//! of a linear map. So each key and each constant is read from memory once, for several ciphertexts
//! as for one.

use std::ops::Range;
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
        first.filled(list.len(), |number, indices, out| list[number].write(indices, out))
    }

    /// The products and the addend modulo some primes, before θ.
    fn unmoved<'b>(&self, indices: &[usize], scratch: &'b mut RowBuffer) -> Vec<[&'b [u64]; 2]> {
        self.product.rows(indices, scratch);
        let ring = self.addend.ring();
        for (k, &index) in indices.iter().enumerate() {
            if let Some(row) = self.addend.basis().row_of(index) {
                let sum = scratch.row_mut(2 * k);
                rows::add_assign(ring.isa(), ring.modulus(index), sum, self.addend.row(row));
            }
        }
        (0..indices.len()).map(|k| [scratch.row(2 * k), scratch.row(2 * k + 1)]).collect()
    }

    fn write(&self, indices: &[usize], out: Vec<[&mut [u64]; 2]>) {
        let ring = self.addend.ring();
        ring.with_scratch(2 * indices.len(), |scratch| {
            for (out, x) in out.into_iter().flatten().zip(self.unmoved(indices, scratch).into_iter().flatten()) {
                self.automorphism.apply(ring.isa(), out, x);
            }
        });
    }

    fn add_to(&self, index: usize, sums: &mut [&mut [u64]; 2]) {
        let ring = self.addend.ring();
        ring.with_scratch(2, |scratch| {
            for (sum, x) in sums.iter_mut().zip(self.unmoved(&[index], scratch).into_iter().flatten()) {
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
    let images = ciphertexts.iter().map(Vec::len).max().unwrap_or(0);
    ring.with_scratch(2 * images, |scratch| {
        for row in 0..basis.len() {
            let index = basis.index(row);
            for (moved, out) in ciphertexts.iter().zip(&mut out) {
                let images = write_images(index, moved, scratch);
                let out = out.iter_mut().flatten().map(|poly| poly.rows_mut().row_mut(row)).collect();
                for_each_columns(ring.n(), out, |columns, out| {
                    let first = columns.start;
                    products::add_up(ring, index, first, products_of_columns(columns, out, &images, sums));
                });
            }
        }
    });
    out.into_iter().map(|pairs| pairs.into_iter().map(|pair| pair.map(Poly::assume_eval)).collect()).collect()
}

/// The moved products of one ciphertext modulo one prime, written to scratch memory.
fn write_images<'a>(index: usize, moved: &[Moved<'_>], scratch: &'a mut RowBuffer) -> Vec<[&'a [u64]; 2]> {
    let mut rows = scratch.split_mut();
    let write = |(moved, pair): (&Moved<'_>, &mut [&mut [u64]])| {
        let [first, second] = pair else { unreachable!("rows in pairs") };
        moved.write(&[index], vec![[first, second]]);
    };
    if rayon::current_num_threads() > 1 {
        moved.par_iter().zip(rows.par_chunks_mut(2)).for_each(write);
    } else {
        moved.iter().zip(rows.chunks_mut(2)).for_each(write);
    }
    let mut rows = rows.into_iter().map(|row| &*row);
    moved.iter().map(|_| [(); 2].map(|()| rows.next().expect("two rows for each image"))).collect()
}

/// Runs `f(columns, rows)` on pieces of rows of n columns that together are the whole rows: a few
/// pieces for each thread.
fn for_each_columns(n: usize, mut rows: Vec<&mut [u64]>, f: impl Fn(Range<usize>, Vec<&mut [u64]>) + Sync) {
    let threads = rayon::current_num_threads();
    if threads == 1 {
        return f(0..n, rows);
    }
    let width = n.div_ceil(2 * threads).next_multiple_of(COLUMNS);
    let mut pieces = Vec::new();
    for start in (0..n).step_by(width) {
        let columns = start..n.min(start + width);
        let piece: Vec<_> =
            rows.iter_mut().map(|row| row.split_off_mut(..columns.len()).expect("columns are left")).collect();
        pieces.push((columns, piece));
    }
    pieces.into_par_iter().for_each(|(columns, piece)| f(columns, piece));
}

/// The terms of all sums in some columns; `out` has two rows for each sum.
fn products_of_columns<'a, 'b>(
    columns: Range<usize>,
    out: Vec<&'b mut [u64]>,
    images: &[[&'a [u64]; 2]],
    sums: &[Weights<'a>],
) -> Vec<Products<'a, 'b>> {
    let (mut out, mut products) = (out.into_iter(), Vec::with_capacity(sums.len()));
    for sum in sums {
        let out = [(); 2].map(|()| out.next().expect("two rows for each sum"));
        let terms = sum.iter().map(|&(j, constant)| (images[j].map(|half| &half[columns.clone()]), constant));
        products.push(Products::new(out, terms));
    }
    products
}
