//! The product of two encrypted matrices.
//!
//! A d × d matrix lies in one vector, row by row. With indices modulo d, the product is
//!
//! ```text
//! (A·B)_ij = Σ_k A_{i,i+j+k}·B_{i+j+k,j}
//! ```
//!
//! since i + j + k takes every value (Jiang, Kim, Lauter and Song, CCS 2018, section 3). So it is a sum of d
//! products of vectors, slot by slot, and these vectors are images of two:
//!
//! ```text
//! σ(A)_ij = A_{i,i+j}     φ^k(A)_ij = A_{i,j+k}     the k-th left factor is φ^k(σ(A))
//! τ(B)_ij = B_{i+j,j}     ψ^k(B)_ij = B_{i+k,j}     the k-th right factor is ψ^k(τ(B))
//! A·B = Σ_k φ^k(σ(A)) ⊙ ψ^k(τ(B))
//! ```
//!
//! σ has 2d − 1 diagonals and τ d, of one plan each. All φ^k are one plan from one vector to d: they share
//! their rotations, by −(d − 1) to d − 1, and one decomposition. So do all ψ^k, whose rotations are by multiples
//! of d.

use std::collections::BTreeSet;
use std::sync::Arc;

use num_complex::Complex64;
use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::ckks::{Ciphertext, CkksContext, Engine};

use crate::linear::{ComplexMap, ComplexSlots, LinearGrid, LinearPlan, PlanSpec, PreparedPlan};

/// `A·B` for two encrypted d × d matrices of real or complex numbers, each in one vector, row by row.
///
#[cfg_attr(not(doctest), doc = include_str!("../examples/matrix_product.md"))]
#[derive(Debug, Clone)]
pub struct MatrixProduct {
    size: usize,
    slots: usize,
    /// σ, φ^0 .. φ^{d−1}; τ, ψ^0 .. ψ^{d−1}.
    left: [LinearPlan<ComplexSlots>; 2],
    right: [LinearPlan<ComplexSlots>; 2],
}

/// The constants of a [`MatrixProduct`] for a level of its operands.
pub struct PreparedProduct {
    left: [PreparedPlan<Engine, ComplexSlots>; 2],
    right: [PreparedPlan<Engine, ComplexSlots>; 2],
}

impl PreparedProduct {
    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.left.iter().chain(&self.right).map(PreparedPlan::bytes).sum()
    }
}

/// The number of the vector entry of row i and column j, both modulo d.
fn place(d: usize, i: usize, j: usize) -> usize {
    (i % d) * d + j % d
}

impl MatrixProduct {
    /// Plans the product of d × d matrices.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless d² is between 1 and the number of slots; as [`LinearPlan::new`].
    pub fn new(context: &Arc<CkksContext>, size: usize) -> Result<Self> {
        let slots = size.saturating_mul(size).checked_next_power_of_two().unwrap_or(usize::MAX);
        Self::with_spec(context, (size, slots), &PlanSpec::default())
    }

    /// As [`Self::new`], in ciphertexts of a number of slots, and with a specification of the four linear
    /// plans, for example to limit their keys.
    ///
    /// # Errors
    /// As [`Self::new`]; [`Error::SlotCount`] for slots that do not divide n/2, and
    /// [`Error::OutOfRange`] for fewer than d².
    pub fn with_spec(context: &Arc<CkksContext>, (size, slots): (usize, usize), spec: &PlanSpec) -> Result<Self> {
        let most = context.most_slots().min(slots).isqrt();
        Limits::between(1, most)
            .with("so that a matrix fits into the slots")
            .check("the size of the matrices", size)?;
        let space = ComplexSlots::new(context, slots)?;
        let d = size;
        let map = |from: &dyn Fn(usize, usize) -> usize| {
            let entries = (0..d * d).map(|row| (row, from(row / d, row % d), Complex64::ONE));
            ComplexMap::sparse_matrix(&space, entries)
        };
        let all = |from: &dyn Fn(usize, usize, usize) -> usize| -> Result<LinearPlan<ComplexSlots>> {
            let mut grid = LinearGrid::zero(&space, d, 1)?;
            for k in 0..d {
                grid.set(k, 0, map(&|i, j| from(k, i, j))?)?;
            }
            LinearPlan::for_grid(&grid, spec)
        };
        let sigma = LinearPlan::new(&map(&|i, j| place(d, i, i + j))?, spec)?;
        let tau = LinearPlan::new(&map(&|i, j| place(d, i + j, j))?, spec)?;
        let phi = all(&|k, i, j| place(d, i, j + k))?;
        let psi = all(&|k, i, j| place(d, i + k, j))?;
        Ok(Self { size, slots, left: [sigma, phi], right: [tau, psi] })
    }

    /// d.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The number of rescalings, with that of the result: two for the maps, one for the products.
    pub fn depth(&self) -> usize {
        3
    }

    /// The number of products of ciphertexts.
    pub fn products(&self) -> usize {
        self.size
    }

    /// A number that no other plan has.
    pub fn number(&self) -> u64 {
        self.left[0].number()
    }

    /// The automorphisms that need Galois keys.
    pub fn required_keys(&self) -> BTreeSet<u64> {
        self.plans().flat_map(LinearPlan::required_keys).collect()
    }

    fn plans(&self) -> impl Iterator<Item = &LinearPlan<ComplexSlots>> {
        self.left.iter().chain(&self.right)
    }

    /// What it does and costs, in words.
    pub fn explain(&self) -> String {
        let (d, keys) = (self.size, self.required_keys().len());
        let mut text = format!(
            "product of two {d} x {d} matrices\n{:<22}{} rescalings\n{:<22}{d}\n{:<22}{keys} Galois keys, and the relinearisation key",
            "depth",
            self.depth(),
            "products",
            "keys"
        );
        for (name, plan) in ["sigma", "phi", "tau", "psi"].iter().zip(self.plans()) {
            text += &format!("\n{name}:\n{}", plan.explain().trim_end());
        }
        text
    }

    /// Converts the constants for operands at a level and below.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`] if the level leaves no room for the product; errors of constants.
    pub fn prepare_at(&self, engine: &Engine, level: usize) -> Result<PreparedProduct> {
        let below = engine.context().level_below(level).ok_or_else(|| self.too_deep(engine, 0))?;
        let pair = |[first, all]: &[LinearPlan<ComplexSlots>; 2]| -> Result<_> {
            Ok([first.prepare_at(engine, level)?, all.prepare_at(engine, below)?])
        };
        Ok(PreparedProduct { left: pair(&self.left)?, right: pair(&self.right)? })
    }

    /// `A·B`. Entries of the result lie as those of the operands; the other slots hold zeros.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for vectors of another number of entries; [`Error::LevelsExhausted`]
    /// before any work; [`Error::ModulusExhausted`] if d times the bounds of both does not fit; those of
    /// linear plans and products.
    pub fn apply(
        &self,
        prepared: &PreparedProduct,
        engine: &Engine,
        a: &Ciphertext,
        b: &Ciphertext,
    ) -> Result<Ciphertext> {
        for x in [a, b] {
            self.check(engine, x)?;
        }
        let factors = |[first, all]: &[LinearPlan<ComplexSlots>; 2],
                       [one, many]: &[PreparedPlan<Engine, ComplexSlots>; 2],
                       x: &Ciphertext| {
            let image = engine.rescale(&first.apply(one, engine, x)?)?.with_zeros_beside(self.size * self.size);
            // Moved entries are no larger than they were.
            let image = image.with_magnitude(x.magnitude());
            all.apply_grid(many, engine, &[image])
        };
        let left = factors(&self.left, &prepared.left, a)?;
        let right = factors(&self.right, &prepared.right, b)?;
        let [of_a, of_b] = [a, b].map(Ciphertext::magnitude);
        let mut sum: Option<Ciphertext> = None;
        for (x, y) in left.iter().zip(&right) {
            let [x, y] = [(x, of_a), (y, of_b)].map(|(part, bound)| self.entries(part).with_magnitude(bound));
            let product = engine.multiply(&x, &y)?;
            sum = Some(match sum {
                Some(sum) => engine.add(&sum, &product)?,
                None => product,
            });
        }
        Ok(sum.expect("matrices have a row"))
    }

    fn entries(&self, x: &Ciphertext) -> Ciphertext {
        x.clone().with_zeros_beside(self.size * self.size)
    }

    fn check(&self, engine: &Engine, x: &Ciphertext) -> Result<()> {
        let expected = self.size * self.size;
        if x.slots() != self.slots || x.entries() != expected {
            let got = if x.entries() == expected { x.slots() } else { x.entries() };
            return Err(Error::ShapeMismatch { what: "entries of a matrix", expected, got });
        }
        let left = x.depth_left().saturating_sub(usize::from(x.degree() > 1));
        if left < self.depth() { Err(self.too_deep(engine, left)) } else { Ok(()) }
    }

    fn too_deep(&self, engine: &Engine, left: usize) -> Error {
        let (operation, depth) = ("multiply two matrices", engine.context().spec().depth);
        Error::LevelsExhausted { operation, depth, needed: self.depth(), left }
    }
}
