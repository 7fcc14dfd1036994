//! What sums of automorphisms need of a scheme, whatever its plaintexts are.
//!
//! [`crate::Evaluator`] speaks of plaintexts in `R/(p^r)`; CKKS has other ones. Linear maps and trace-type functions only use the
//! operations below: every [`crate::Evaluator`] has them, and the CKKS evaluator too. Notation as in [`crate::evaluator`].

use rayon::prelude::*;

use crate::error::Result;
use crate::evaluator::{Evaluator, MixedRow};

/// The key switch in its reusable parts, and the few operations that sums of automorphisms need beside it.
///
/// Errors are those of the operations of the same name in [`Evaluator`].
pub trait Hoisting: Sync {
    /// An encryption of one plaintext.
    type Ciphertext: Clone + Send + Sync;
    /// A plaintext prepared for multiplication in base `QP`.
    type Constant: Send + Sync;
    /// A ciphertext after decompose-and-extend.
    type Hoisted: Send + Sync;
    /// A pair of polynomials in base `QP`.
    type Extended: Clone + Send + Sync;

    /// The conductor m: automorphisms are units modulo m.
    fn conductor(&self) -> u64;
    /// `a + b`.
    fn sum(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext>;
    /// `0 · a`.
    fn annihilate(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext>;
    /// `c · a`.
    fn scale_by(&self, a: &Self::Ciphertext, c: &Self::Constant) -> Result<Self::Ciphertext>;
    /// Whether `θ_t` can be applied.
    fn has_key(&self, t: u64) -> bool;
    /// `θ_t(a)`.
    fn automorphism(&self, a: &Self::Ciphertext, t: u64) -> Result<Self::Ciphertext>;
    /// Decompose-and-extend.
    fn hoist(&self, a: &Self::Ciphertext) -> Result<Self::Hoisted>;
    /// `θ_t(a)` in base `QP`.
    fn hoisted_automorphism(&self, a: &Self::Hoisted, t: u64) -> Result<Self::Extended>;
    /// `Σ_t θ_t(a)` in base `QP` over a list that is not empty: one accumulation for all (Inoue–Suzuki–Yamana 2022, Algorithm 3.1).
    fn hoisted_sum(&self, a: &Self::Hoisted, elements: &[u64]) -> Result<Self::Extended>;
    /// `a` times `P` in base `QP`.
    fn extend(&self, a: &Self::Ciphertext) -> Result<Self::Extended>;
    /// Row by row `Σ_i c_i · a_{j_i}`.
    fn dot_constants_rows(
        &self,
        inputs: &[Self::Extended],
        rows: &[Vec<(usize, &Self::Constant)>],
    ) -> Result<Vec<Self::Extended>>;
    /// Row by row `Σ_i c_i · θ_{t_{j_i}}(a)` for one hoisted ciphertext, `None` standing for the constant 1.
    fn dot_hoisted_rows(
        &self,
        hoisted: &Self::Hoisted,
        automorphisms: &[u64],
        rows: &[MixedRow<'_, Self::Constant>],
    ) -> Result<Vec<Self::Extended>>
    where
        Self: Sized,
    {
        dot_images(self, hoisted, automorphisms, rows)
    }
    /// `θ_t(a)` for `a` in base `QP`.
    fn extended_automorphism(&self, a: &Self::Extended, t: u64) -> Result<Self::Extended>;
    /// `a ← a + b`.
    fn add_extended_assign(&self, a: &mut Self::Extended, b: &Self::Extended) -> Result<()>;
    /// Divides by `P`.
    fn mod_down(&self, a: Self::Extended) -> Result<Self::Ciphertext>;
}

impl<E: Evaluator> Hoisting for E {
    type Ciphertext = <E as Evaluator>::Ciphertext;
    type Constant = <E as Evaluator>::Constant;
    type Hoisted = <E as Evaluator>::Hoisted;
    type Extended = <E as Evaluator>::Extended;

    fn conductor(&self) -> u64 {
        self.slots().m()
    }

    fn sum(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext> {
        self.add(a, b)
    }

    fn annihilate(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext> {
        self.multiply_scalar(a, 0)
    }

    fn scale_by(&self, a: &Self::Ciphertext, c: &Self::Constant) -> Result<Self::Ciphertext> {
        self.multiply_constant(a, c)
    }

    fn has_key(&self, t: u64) -> bool {
        Evaluator::has_key(self, t)
    }

    fn automorphism(&self, a: &Self::Ciphertext, t: u64) -> Result<Self::Ciphertext> {
        Evaluator::automorphism(self, a, t)
    }

    fn hoist(&self, a: &Self::Ciphertext) -> Result<Self::Hoisted> {
        Evaluator::hoist(self, a)
    }

    fn hoisted_automorphism(&self, a: &Self::Hoisted, t: u64) -> Result<Self::Extended> {
        Evaluator::hoisted_automorphism(self, a, t)
    }

    fn hoisted_sum(&self, a: &Self::Hoisted, elements: &[u64]) -> Result<Self::Extended> {
        Evaluator::hoisted_sum(self, a, elements)
    }

    fn extend(&self, a: &Self::Ciphertext) -> Result<Self::Extended> {
        Evaluator::extend(self, a)
    }

    fn dot_constants_rows(
        &self,
        inputs: &[Self::Extended],
        rows: &[Vec<(usize, &Self::Constant)>],
    ) -> Result<Vec<Self::Extended>> {
        Evaluator::dot_constants_rows(self, inputs, rows)
    }

    fn dot_hoisted_rows(
        &self,
        hoisted: &Self::Hoisted,
        automorphisms: &[u64],
        rows: &[MixedRow<'_, Self::Constant>],
    ) -> Result<Vec<Self::Extended>> {
        Evaluator::dot_hoisted_rows(self, hoisted, automorphisms, rows)
    }

    fn extended_automorphism(&self, a: &Self::Extended, t: u64) -> Result<Self::Extended> {
        Evaluator::extended_automorphism(self, a, t)
    }

    fn add_extended_assign(&self, a: &mut Self::Extended, b: &Self::Extended) -> Result<()> {
        Evaluator::add_extended_assign(self, a, b)
    }

    fn mod_down(&self, a: Self::Extended) -> Result<Self::Ciphertext> {
        Evaluator::mod_down(self, a)
    }
}

/// [`Hoisting::dot_hoisted_rows`] by way of all images, for schemes and automorphisms that have no faster one.
pub(crate) fn dot_images<E: Hoisting>(
    evaluator: &E,
    hoisted: &E::Hoisted,
    automorphisms: &[u64],
    rows: &[MixedRow<'_, E::Constant>],
) -> Result<Vec<E::Extended>> {
    let image = |&t: &u64| evaluator.hoisted_automorphism(hoisted, t);
    let images: Vec<E::Extended> = automorphisms.par_iter().map(image).collect::<Result<_>>()?;
    dot_mixed_rows(evaluator, &images, rows)
}

/// [`Hoisting::dot_constants_rows`] with rows that may hold the constant 1 as `None`.
pub(crate) fn dot_mixed_rows<E: Hoisting>(
    evaluator: &E,
    inputs: &[E::Extended],
    rows: &[MixedRow<'_, E::Constant>],
) -> Result<Vec<E::Extended>> {
    let weighted: Vec<Vec<(usize, &E::Constant)>> = rows
        .iter()
        .map(|row| row.iter().filter_map(|&(i, constant)| Some((i, constant?))).collect())
        .filter(|row: &Vec<_>| !row.is_empty())
        .collect();
    let mut products = evaluator.dot_constants_rows(inputs, &weighted)?.into_iter();
    rows.iter()
        .map(|row| {
            let product = row.iter().any(|(_, constant)| constant.is_some()).then(|| products.next()).flatten();
            let mut plain = row.iter().filter(|(_, constant)| constant.is_none()).map(|&(i, _)| &inputs[i]);
            let mut sum = product.or_else(|| plain.next().cloned()).expect("no row is empty");
            plain.try_for_each(|input| evaluator.add_extended_assign(&mut sum, input))?;
            Ok(sum)
        })
        .collect()
}
