//! One packed ciphertext to d thin ones and back.

use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::kernels::arith;
use windlass_ring::slots::SlotRing;

use super::maps::{self, Packing};
use super::splitting::Tree;
use crate::error::Result;
use crate::evaluator::Evaluator;

/// The ways that a plan chooses among.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Thin,
    Constants,
    Monomials,
    MonomialsInSlots,
}

/// How a ciphertext comes apart into ciphertexts with integers in their slots.
#[derive(Debug, Clone)]
pub(super) enum Way {
    Thin,
    /// Frobenius powers and constants, at the levels of unpacking and repacking.
    Constants {
        packing: Packing,
        levels: [usize; 2],
    },
    /// Before the maps to the slots, and after them.
    Monomials {
        elements: Tree,
        slots: Tree,
    },
}

impl Way {
    /// Levels are left to the schedule.
    pub fn new(choice: Choice, working: &Arc<SlotRing>) -> Self {
        let [mut elements, mut slots] = maps::splits(working.quotient().m(), working.hypercube().prime());
        if choice == Choice::MonomialsInSlots {
            elements.append(&mut slots);
            (elements, slots) = (Vec::new(), elements);
        }
        match choice {
            Choice::Thin => Self::Thin,
            Choice::Constants => Self::Constants { packing: Packing::new(working), levels: [1, 1] },
            _ => Self::Monomials { elements: Tree::new(elements), slots: Tree::new(slots) },
        }
    }

    /// How many ciphertexts go through the linear maps.
    pub fn elements(&self) -> usize {
        if let Self::Monomials { elements, .. } = self { elements.parts() } else { 1 }
    }

    /// How many ciphertexts have digits removed.
    pub fn parts(&self) -> usize {
        match self {
            Self::Thin => 1,
            Self::Constants { packing, .. } => packing.index().len(),
            Self::Monomials { elements, slots } => elements.parts() * slots.parts(),
        }
    }
}

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
