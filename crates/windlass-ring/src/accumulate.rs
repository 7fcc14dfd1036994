//! Sums of automorphisms of inner products, in one pass: the inner loop of a hoisted sum.

use std::sync::Arc;

use windlass_kernels::Automorphism;
use windlass_kernels::rows_fma::{Triple, dot_pair};

use crate::basis::Basis;
use crate::poly::{Eval, Poly};
use crate::ring::Ring;

/// One term `θ(Σ_k x_k·b_k)` and `θ(Σ_k x_k·a_k)` of a sum.
#[derive(Debug, Clone, Copy)]
pub struct MovedTerm<'a> {
    /// b_k.
    pub b: &'a [Poly<Eval>],
    /// a_k.
    pub a: &'a [Poly<Eval>],
    /// θ.
    pub automorphism: &'a Automorphism,
}

/// `Σ_i θ_i(y + Σ_k x_k·b_{ik})` and `Σ_i θ_i(Σ_k x_k·a_{ik})` over `basis`, which all but y must cover; y counts as zero on the rows it
/// does not have.
///
/// Cost: for each term 2·|x| multiply-adds and two permutations a residue; nothing but the results leaves the cache.
pub fn sum_of_moved_products(
    ring: &Arc<Ring>,
    basis: &Basis,
    x: &[Poly<Eval>],
    y: &Poly<Eval>,
    terms: &[MovedTerm<'_>],
) -> [Poly<Eval>; 2] {
    let mut sums = [Poly::zero(ring, basis), Poly::zero(ring, basis)];
    ring.for_each_rows(sums.each_mut().map(Poly::rows_mut), |row, [sum_b, sum_a]| {
        let index = basis.index(row);
        let (isa, q) = (ring.isa(), ring.modulus(index));
        let factors: Vec<&[u64]> = x.iter().map(|x| x.row_of(index)).collect();
        let constant = y.basis().row_of(index).map(|row| y.row(row));
        ring.with_scratch(2, |scratch| {
            for term in terms {
                let triples: Vec<Triple<'_>> = factors
                    .iter()
                    .zip(term.b.iter().zip(term.a))
                    .map(|(&x, (b, a))| Triple { x, y: b.row_of(index), z: a.row_of(index) })
                    .collect();
                if let [product_b, product_a] = &mut scratch.split_mut()[..] {
                    dot_pair(isa, q, product_b, product_a, &triples, constant.unwrap_or(&[]));
                }
                term.automorphism.add_assign(isa, q, sum_b, scratch.row(0));
                term.automorphism.add_assign(isa, q, sum_a, scratch.row(1));
            }
        });
    });
    sums
}
