//! One packed ciphertext to d thin ones and back, by constants (Halevi–Shoup 2015, §4.3).

use rayon::prelude::*;
use windlass_ring::kernels::arith;

use crate::error::Result;
use crate::evaluator::Evaluator;

/// `c_k = Σ_j constants[index[k][j]]·σ^j(x)` for all k: the images are made once, in base QP.
///
/// Cost: d − 1 hoisted automorphisms after one decomposition for each giant step, d² products with
/// constants, d mod-downs.
pub(super) fn unpack<E: Evaluator>(
    evaluator: &E,
    constants: &[E::Constant],
    index: &[Vec<usize>],
    x: &E::Ciphertext,
) -> Result<Vec<E::Ciphertext>> {
    let images = frobenius_images(evaluator, index.len(), x)?;
    index
        .par_iter()
        .map(|row| {
            let terms = row.iter().enumerate().map(|(j, &c)| (j, Some(&constants[c]))).collect();
            evaluator.mod_down(evaluator.dot_extended(&images, &[terms])?.swap_remove(0))
        })
        .collect()
}

/// σ^j(x) for j below d in base QP, as σ^i(σ^{b·k}(x)) with b of [`babies`].
fn frobenius_images<E: Evaluator>(evaluator: &E, d: usize, x: &E::Ciphertext) -> Result<Vec<E::Extended>> {
    let (p, m) = (evaluator.slots().prime(), evaluator.slots().m());
    let power = |j: usize| arith::pow_mod(p % m, j as u64, m);
    let babies = babies(d);
    let hoisted = evaluator.hoist(x)?;
    let mut images = Vec::with_capacity(d);
    for start in (0..d).step_by(babies) {
        let turned = match start {
            0 => None,
            _ => {
                let giant = evaluator.mod_down(evaluator.hoisted_automorphism(&hoisted, power(start))?)?;
                Some(evaluator.hoist(&giant)?)
            }
        };
        let from = turned.as_ref().unwrap_or(&hoisted);
        let of_giant: Vec<E::Extended> = (0..babies.min(d - start))
            .into_par_iter()
            .map(|j| evaluator.hoisted_automorphism(from, power(j)))
            .collect::<Result<_>>()?;
        images.extend(of_giant);
    }
    Ok(images)
}

/// How many Frobenius powers are made from one decomposition: all, unless the keys for them would
/// be many.
fn babies(d: usize) -> usize {
    const FEW: usize = 12;
    if d <= FEW { d.max(1) } else { (d as f64).sqrt().ceil() as usize }
}

/// The Frobenius powers that [`unpack`] needs keys for.
pub(super) fn unpacking_powers(d: usize) -> impl Iterator<Item = u64> {
    let babies = babies(d);
    (1..babies.min(d)).chain((babies..d).step_by(babies)).map(|j| j as u64)
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
