//! The one interface between circuits and schemes.
//!
//! A circuit (a linear map, a polynomial, a bootstrapping stage) is written once over [`Evaluator`] and runs on the exact
//! mock [`crate::schemes::clear`] and on the BGV/BFV engine alike. Notation: `m` conductor, `n = φ(m)`, plaintext ring
//! `R/(p^r)`, automorphisms `θ_t : X ↦ X^t` for `t` in Z_m^*, ciphertext modulus `Q`, special modulus `P`.

use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::slots::SlotRing;

use crate::error::{Error, Result};
use crate::plaintext::Plaintext;

/// What one sum takes: pairs of (number of an input, constant), `None` standing for the constant 1.
pub type MixedRow<'a, C> = Vec<(usize, Option<&'a C>)>;

/// Homomorphic operations on ciphertexts that encrypt elements of `R/(p^r)`.
///
/// The second half (from [`Evaluator::hoist`]) is the key switch in its three reusable parts, so that a sum of many
/// automorphisms pays for each part as seldom as it can: decompose-and-extend once per hoisted ciphertext, products with
/// constants and keys in base `QP`, and one mod-down at the end (double hoisting).
///
/// All operations return [`crate::Error::ContextMismatch`] for operands of another context, and
/// [`crate::Error::CapacityExhausted`] where the noise bound leaves no room.
pub trait Evaluator: Sync {
    /// An encryption of one plaintext.
    type Ciphertext: Clone + Send + Sync;
    /// A plaintext prepared for multiplication: evaluation form in base `QP`, up to a level.
    type Constant: Send + Sync;
    /// A ciphertext after decompose-and-extend, ready for any number of automorphisms.
    type Hoisted: Send + Sync;
    /// A pair of polynomials in base `QP`: a ciphertext times `P`, before mod-down.
    type Extended: Clone + Send + Sync;

    /// The plaintext ring.
    fn slots(&self) -> &Arc<SlotRing>;

    /// Prepares a constant for [`Evaluator::multiply_constant`] and [`Evaluator::dot_constants`]. Cost: one transform
    /// for every prime of `QP`.
    fn prepare(&self, constant: &Plaintext) -> Result<Self::Constant>;
    /// [`Evaluator::prepare`] of `count` constants, in parallel; `constant(k)` gives number k. A scheme may lay them out in memory in this
    /// order, which should be that of their use; the default prepares each by itself. Errors: also those of `constant`.
    fn prepare_many(
        &self,
        count: usize,
        constant: &(dyn Fn(usize) -> Result<Plaintext> + Sync),
    ) -> Result<Vec<Self::Constant>> {
        (0..count).into_par_iter().map(|k| self.prepare(&constant(k)?)).collect()
    }
    /// Bytes that one prepared constant takes.
    fn constant_bytes(&self) -> usize;

    /// `a + b`.
    fn add(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext>;
    /// `a − b`.
    fn sub(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext>;
    /// `−a`.
    fn negate(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext>;
    /// `a + b` for a public `b`.
    fn add_plain(&self, a: &Self::Ciphertext, b: &Plaintext) -> Result<Self::Ciphertext>;
    /// `a − b` for a public `b`.
    fn sub_plain(&self, a: &Self::Ciphertext, b: &Plaintext) -> Result<Self::Ciphertext>;
    /// `a · b`, relinearised; manages levels by itself.
    fn multiply(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext>;
    /// `a²`, relinearised.
    fn square(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext>;
    /// `c · a` for a prepared constant.
    fn multiply_constant(&self, a: &Self::Ciphertext, c: &Self::Constant) -> Result<Self::Ciphertext>;
    /// `k · a` for an integer `k`, taken modulo `p^r`.
    fn multiply_scalar(&self, a: &Self::Ciphertext, k: i64) -> Result<Self::Ciphertext>;
    /// `a / p` where the plaintext of `a` is a multiple of `p`; the result's plaintext modulus is `p^{r−1}`.
    ///
    /// Errors: [`crate::Error::NotDivisible`] where the scheme can see that the division is not exact, or `r = 1`.
    fn divide_by_p(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext>;

    /// Whether `θ_t` can be applied: its key is held, or `t ≡ 1 (mod m)`.
    fn has_key(&self, t: u64) -> bool;
    /// `θ_t(a)`. Errors: [`crate::Error::MissingGaloisKey`].
    fn automorphism(&self, a: &Self::Ciphertext, t: u64) -> Result<Self::Ciphertext>;

    /// Decompose-and-extend of `a`: the dear part of a key switch, shared by any number of
    /// [`Evaluator::hoisted_automorphism`] (Halevi–Shoup 2018, §5).
    fn hoist(&self, a: &Self::Ciphertext) -> Result<Self::Hoisted>;
    /// `θ_t(a)` in base `QP`, for `a` hoisted before. Errors: [`crate::Error::MissingGaloisKey`].
    fn hoisted_automorphism(&self, a: &Self::Hoisted, t: u64) -> Result<Self::Extended>;
    /// `Σ_t θ_t(a)` in base `QP` over a list that is not empty. A scheme may accumulate row by row; the default adds the terms.
    /// Errors: [`crate::Error::MissingGaloisKey`], [`crate::Error::ShapeMismatch`] for an empty list.
    fn hoisted_sum(&self, a: &Self::Hoisted, elements: &[u64]) -> Result<Self::Extended> {
        let Some((&first, rest)) = elements.split_first() else {
            return Err(Error::ShapeMismatch { what: "automorphisms to sum", expected: 1, got: 0 });
        };
        let mut sum = self.hoisted_automorphism(a, first)?;
        for &t in rest {
            self.add_extended_assign(&mut sum, &self.hoisted_automorphism(a, t)?)?;
        }
        Ok(sum)
    }
    /// `a` times `P` in base `QP`: what [`Evaluator::hoisted_automorphism`] gives for `t = 1`.
    fn extend(&self, a: &Self::Ciphertext) -> Result<Self::Extended>;
    /// `Σ_i c_i · a_i` in base `QP`, in one fused accumulation. The list must not be empty.
    fn dot_constants(&self, terms: &[(&Self::Extended, &Self::Constant)]) -> Result<Self::Extended>;
    /// Row by row `Σ_i c_i · a_{j_i}`: [`Evaluator::dot_constants`] for many sums over the same ciphertexts. A scheme may
    /// go through memory once for all rows; the default takes the rows one by one, in parallel.
    fn dot_constants_rows(
        &self,
        inputs: &[Self::Extended],
        rows: &[Vec<(usize, &Self::Constant)>],
    ) -> Result<Vec<Self::Extended>> {
        rows.par_iter()
            .map(|row| self.dot_constants(&row.iter().map(|&(j, c)| (&inputs[j], c)).collect::<Vec<_>>()))
            .collect()
    }
    /// Row by row `Σ_i c_i · θ_{t_{j_i}}(a)` for one hoisted ciphertext, `None` standing for the constant 1: automorphisms and
    /// products in one go. `rows` holds pairs (j, constant), no row is empty. The default makes all images, then takes
    /// [`Evaluator::dot_constants_rows`]. Errors: [`crate::Error::MissingGaloisKey`].
    fn dot_hoisted_rows(
        &self,
        hoisted: &Self::Hoisted,
        automorphisms: &[u64],
        rows: &[MixedRow<'_, Self::Constant>],
    ) -> Result<Vec<Self::Extended>>
    where
        Self: Sized,
    {
        crate::hoisting::dot_images(self, hoisted, automorphisms, rows)
    }
    /// `θ_t(a)` for `a` in base `QP`: mod-down of the second component, decompose, switch, accumulate in `QP` with the first.
    /// The identity costs nothing. Errors: [`crate::Error::MissingGaloisKey`].
    fn extended_automorphism(&self, a: &Self::Extended, t: u64) -> Result<Self::Extended>;
    /// `Σ_i a_i · b_i` for ciphertexts, relinearised. A scheme may relinearise once for the sum. The list must not be empty.
    fn dot_ciphertexts(&self, pairs: &[(&Self::Ciphertext, &Self::Ciphertext)]) -> Result<Self::Ciphertext> {
        let empty = crate::Error::ShapeMismatch { what: "pairs of a sum of products", expected: 1, got: 0 };
        let ((a, b), rest) = pairs.split_first().ok_or(empty)?;
        rest.iter().try_fold(self.multiply(a, b)?, |sum, (a, b)| self.add(&sum, &self.multiply(a, b)?))
    }
    /// `Σ_i c_i·x_i`, plus `toward` if it is given, for integers c_i. A scheme may choose representatives of the c_i modulo p^r that keep the noise small.
    /// The list must not be empty.
    fn weighted_sum(
        &self,
        terms: &[(&Self::Ciphertext, i64)],
        toward: Option<&Self::Ciphertext>,
    ) -> Result<Self::Ciphertext> {
        let scaled = |x: &Self::Ciphertext, c: i64| if c == 1 { Ok(x.clone()) } else { self.multiply_scalar(x, c) };
        let empty = crate::Error::ShapeMismatch { what: "terms of a weighted sum", expected: 1, got: 0 };
        let (&(x, c), rest) = terms.split_first().ok_or(empty)?;
        let first = scaled(x, c)?;
        let sum = rest.iter().try_fold(first, |sum, &(x, c)| self.add(&sum, &scaled(x, c)?))?;
        toward.map_or(Ok(sum.clone()), |base| self.add(base, &sum))
    }
    /// `a ← a + b`.
    fn add_extended_assign(&self, a: &mut Self::Extended, b: &Self::Extended) -> Result<()>;
    /// Divides by `P`, exactly for the plaintext.
    fn mod_down(&self, a: Self::Extended) -> Result<Self::Ciphertext>;
}
