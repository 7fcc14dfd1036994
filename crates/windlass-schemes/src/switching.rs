//! What every scheme has: sums, products with constants, and the key switch in its reusable parts.
//!
//! [`Arithmetic`] holds what each scheme does in its own way, [`Switching`] the automorphisms. Linear
//! maps and trace-type functions are written over [`Switching`] and run on BGV, BFV, CKKS, the exact
//! mock and the forecast of noise alike. [`crate::Evaluator`] adds what needs plaintexts
//! in `R/(p^r)`. Notation: `m` conductor, automorphisms `θ_t : X ↦ X^t` for `t` in Z_m^*,
//! ciphertext modulus `Q`, special modulus `P`.

use std::slice::from_ref;
use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::slots::Hypercube;
use windlass_rlwe::Limits;

use crate::error::{Error, Result};
use crate::plaintext::Content;

/// What one sum takes: pairs of (number of an input, constant), `None` standing for the constant 1.
pub type MixedRow<'a, C> = Vec<(usize, Option<&'a C>)>;

/// Ciphertexts, their sums and their products with prepared constants: what each scheme does in its
/// own way.
///
/// All operations return [`Error::ContextMismatch`] for operands of another context, and
/// [`Error::CapacityExhausted`] if the noise bound leaves no room.
pub trait Arithmetic: Sync {
    /// An encryption of one plaintext.
    type Ciphertext: Clone + Send + Sync;
    /// A plaintext prepared for multiplication: evaluation form in base `QP`, up to a level.
    type Constant: Send + Sync;

    /// The conductor m: automorphisms are units modulo m.
    fn conductor(&self) -> u64;

    /// The hypercube that numbers the slots. `None` if the conductor alone fixes what rotations do,
    /// as in CKKS.
    fn slot_order(&self) -> Option<&Arc<Hypercube>> {
        None
    }

    /// The level of a ciphertext: keys and constants for it are enough. A mock may have only one.
    fn level_of(&self, _: &Self::Ciphertext) -> usize {
        1
    }

    /// Refuses a ciphertext of another context, scheme, key pair or slot order. Every operation
    /// does so; this is for circuits that may contain no operation, such as the identity.
    fn check_input(&self, _operation: &'static str, _: &Self::Ciphertext) -> Result<()> {
        Ok(())
    }

    /// What the slots of a ciphertext are known to hold; any elements if a scheme keeps no account
    /// of it.
    fn content(&self, _: &Self::Ciphertext) -> Content {
        Content::Elements
    }

    /// `a + b`.
    fn add(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext>;
    /// `0 · a`.
    fn zero_like(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext>;
    /// `c · a` for a prepared constant.
    fn multiply_constant(&self, a: &Self::Ciphertext, c: &Self::Constant) -> Result<Self::Ciphertext>;

    /// A circuit on an input. A scheme that can refresh may refresh the input, or values inside, if
    /// the result would be left with too little capacity to be refreshed itself. The default
    /// evaluates the circuit once.
    fn with_refreshes(
        &self,
        input: &Self::Ciphertext,
        circuit: &dyn Fn(&Self, &Self::Ciphertext) -> Result<Self::Ciphertext>,
    ) -> Result<Self::Ciphertext> {
        circuit(self, input)
    }

    /// [`Self::with_refreshes`].
    #[deprecated(since = "0.3.0", note = "use with_refreshes")]
    fn run(
        &self,
        input: &Self::Ciphertext,
        circuit: &dyn Fn(&Self, &Self::Ciphertext) -> Result<Self::Ciphertext>,
    ) -> Result<Self::Ciphertext> {
        self.with_refreshes(input, circuit)
    }
}

/// Automorphisms: the key switch in its three reusable parts.
///
/// A sum of many automorphisms repeats no part that can be shared: decompose-and-extend runs once
/// per hoisted ciphertext (Halevi–Shoup 2018, §5), products with constants and keys in base `QP`,
/// and one mod-down at the end (double hoisting).
///
/// Operations over a list read keys and constants once for all ciphertexts at one level. Each has a
/// convenience for one ciphertext.
///
/// Errors are those of [`Arithmetic`]. Operations that move slots also return
/// [`Error::MissingGaloisKey`].
pub trait Switching: Arithmetic {
    /// A ciphertext after decompose-and-extend, ready for any number of automorphisms.
    type Hoisted: Send + Sync;
    /// A pair of polynomials in base `QP`: a ciphertext times `P`, before mod-down.
    type Extended: Clone + Send + Sync;

    /// Whether `θ_t` can be applied: its key is held, or `t ≡ 1 (mod m)`.
    fn has_key(&self, t: u64) -> bool;
    /// `θ_t(a)`.
    fn automorphism(&self, a: &Self::Ciphertext, t: u64) -> Result<Self::Ciphertext>;

    /// Decompose-and-extend of `a`: the expensive part of a key switch, shared by any number of
    /// automorphisms.
    fn hoist(&self, a: &Self::Ciphertext) -> Result<Self::Hoisted>;
    /// `θ_t(a)` in base `QP`, for each `a` of a list, all hoisted before.
    fn hoisted_automorphisms(&self, list: &[Self::Hoisted], t: u64) -> Result<Vec<Self::Extended>>;
    /// `Σ_t θ_t(a)` in base `QP` over a list that is not empty: one accumulation for all
    /// (Inoue–Suzuki–Yamana 2022, Algorithm 3.1). The default adds the terms.
    fn sum_hoisted(&self, a: &Self::Hoisted, elements: &[u64]) -> Result<Self::Extended> {
        let Some((&first, rest)) = elements.split_first() else { return Err(no_terms()) };
        let mut sum = self.hoisted_automorphism(a, first)?;
        for &t in rest {
            self.add_extended_assign(&mut sum, &self.hoisted_automorphism(a, t)?)?;
        }
        Ok(sum)
    }
    /// Row by row `Σ_i c_i · θ_{t_{j_i}}(a)` in base `QP`, for each `a` of a list: automorphisms and
    /// products together. The outer list of the result goes by `a`, the inner one by row. `rows`
    /// holds pairs (j, constant); no row is empty. The default makes all images, then takes
    /// [`Switching::dot_extended`].
    ///
    /// # Errors
    /// Also [`Error::OutOfRange`] for a j that is out of range.
    fn dots_hoisted(
        &self,
        list: &[Self::Hoisted],
        elements: &[u64],
        rows: &[MixedRow<'_, Self::Constant>],
    ) -> Result<Vec<Vec<Self::Extended>>> {
        let dots = |a: &Self::Hoisted| {
            let image = |&t: &u64| self.hoisted_automorphism(a, t);
            let images: Vec<Self::Extended> = elements.par_iter().map(image).collect::<Result<_>>()?;
            self.dot_extended(&images.iter().collect::<Vec<_>>(), rows)
        };
        list.iter().map(dots).collect()
    }

    /// `a` times `P` in base `QP`: what [`Switching::hoisted_automorphism`] gives for `t = 1`.
    fn extend(&self, a: &Self::Ciphertext) -> Result<Self::Extended>;
    /// Row by row `Σ_i c_i · a_{j_i}` in base `QP`: all rows in one pass through memory. No row is
    /// empty.
    ///
    /// # Errors
    /// Also [`Error::OutOfRange`] if j is out of range.
    fn dot_extended(
        &self,
        inputs: &[&Self::Extended],
        rows: &[MixedRow<'_, Self::Constant>],
    ) -> Result<Vec<Self::Extended>>;
    /// `θ_t(a)` for each `a` of a list in base `QP`: mod-down of the second component, decompose,
    /// switch, accumulate in `QP` with the first. The identity costs nothing.
    fn extended_automorphisms(&self, list: &[&Self::Extended], t: u64) -> Result<Vec<Self::Extended>>;
    /// `a ← a + b` in base `QP`.
    fn add_extended_assign(&self, a: &mut Self::Extended, b: &Self::Extended) -> Result<()>;
    /// Divides by `P`, exactly for the plaintext.
    fn mod_down(&self, a: Self::Extended) -> Result<Self::Ciphertext>;

    /// [`Switching::hoisted_automorphisms`] of one.
    fn hoisted_automorphism(&self, a: &Self::Hoisted, t: u64) -> Result<Self::Extended> {
        Ok(self.hoisted_automorphisms(from_ref(a), t)?.swap_remove(0))
    }
    /// [`Switching::dots_hoisted`] of one.
    fn dot_hoisted(
        &self,
        a: &Self::Hoisted,
        elements: &[u64],
        rows: &[MixedRow<'_, Self::Constant>],
    ) -> Result<Vec<Self::Extended>> {
        Ok(self.dots_hoisted(from_ref(a), elements, rows)?.swap_remove(0))
    }
    /// [`Switching::extended_automorphisms`] of one.
    fn extended_automorphism(&self, a: &Self::Extended, t: u64) -> Result<Self::Extended> {
        Ok(self.extended_automorphisms(&[a], t)?.swap_remove(0))
    }
}

/// Refuses rows that name an input which is not there.
#[doc(hidden)]
pub fn check_rows<C>(inputs: usize, rows: &[MixedRow<'_, C>]) -> Result<()> {
    let limits = Limits::below(inputs).with("as many as there are inputs");
    rows.iter().flatten().try_for_each(|&(j, _)| Ok(limits.check("the number of an input of a sum", j)?))
}

/// The refusal of an empty sum.
#[doc(hidden)]
pub fn no_terms() -> Error {
    Error::ShapeMismatch { what: "terms of a sum", expected: 1, got: 0 }
}
