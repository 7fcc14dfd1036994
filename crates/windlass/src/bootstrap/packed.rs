//! One packed ciphertext to d thin ones and back.

use rayon::prelude::*;
use windlass_ring::kernels::arith;

use crate::error::Result;
use crate::evaluator::Evaluator;

/// `c_k = Σ_j constants[index[k][j]]·σ^j(x)` for all k: the images are made once, in base QP.
///
/// Cost: one decomposition, d−1 hoisted automorphisms, d² products with constants, d mod-downs.
pub(super) fn unpack<E: Evaluator>(
    evaluator: &E,
    constants: &[E::Constant],
    index: &[Vec<usize>],
    x: &E::Ciphertext,
) -> Result<Vec<E::Ciphertext>> {
    let hoisted = evaluator.hoist(x)?;
    let images: Vec<E::Extended> = frobenius_elements(evaluator, index.len())
        .into_par_iter()
        .map(|t| evaluator.hoisted_automorphism(&hoisted, t))
        .collect::<Result<_>>()?;
    index
        .par_iter()
        .map(|row| {
            let terms: Vec<_> = images.iter().zip(row).map(|(image, &c)| (image, &constants[c])).collect();
            evaluator.mod_down(evaluator.dot_constants(&terms)?)
        })
        .collect()
}

/// p^j modulo m for j below d.
fn frobenius_elements<E: Evaluator>(evaluator: &E, d: usize) -> Vec<u64> {
    let (p, m) = (evaluator.slots().hypercube().prime(), evaluator.slots().quotient().m());
    (0..d as u64).map(|j| arith::pow_mod(p % m, j, m)).collect()
}

/// `Σ_k constants[k]·parts[k]`.
pub(super) fn repack<E: Evaluator>(
    evaluator: &E,
    constants: &[E::Constant],
    parts: &[E::Ciphertext],
) -> Result<E::Ciphertext> {
    let terms: Vec<E::Ciphertext> = parts
        .par_iter()
        .zip(constants)
        .map(|(part, constant)| evaluator.multiply_constant(part, constant))
        .collect::<Result<_>>()?;
    crate::circuits::sum_of_many(evaluator, &terms)
}
