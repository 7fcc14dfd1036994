//! Operations of CKKS servers: arithmetic, rotation and conjugation of vectors of real and complex
//! numbers.

use std::ops::ControlFlow;
use std::sync::Arc;

#[cfg(doc)]
use super::context::Context;
use super::family::Approximate;
use super::needs::Products;
use super::server::Server;
use crate::bootstrap::Progress;
use crate::bootstrap::approximate::precise::PreciseRefresher;
use crate::bootstrap::approximate::{RefreshKeys, RefreshPlan, Refresher};
use crate::error::{Error, Result};
use crate::schemes::ckks::{self, Complex64, WideComplex, complex};

/// Slots hold real and complex numbers. A product is rescaled when it is next used, so callers do
/// not manage levels. A server with the keys of a refresh ([`Context::refresh`]) refreshes an operand that
/// has too few levels for an operation.
///
/// **Warning.** Such a refresh relies on the stated bound of the operand ([`ckks::Ciphertext::magnitude`]),
/// as one that is called does ([`Server::refresh`]).
impl Server<Approximate> {
    /// `a + b`, slot by slot. The shorter vector is repeated.
    ///
    /// # Errors
    /// As [`ckks::Engine::add`].
    pub fn add(&self, a: &ckks::Ciphertext, b: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
        self.engine().add(a, b)
    }

    /// `a − b`, slot by slot. The shorter vector is repeated.
    ///
    /// # Errors
    /// As [`ckks::Engine::sub`].
    pub fn sub(&self, a: &ckks::Ciphertext, b: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
        self.engine().sub(a, b)
    }

    /// `a · b`, slot by slot.
    ///
    /// # Errors
    /// As [`ckks::Engine::multiply`]; [`Error::MissingKeys`] if there is no relinearisation key.
    pub fn multiply(&self, a: &ckks::Ciphertext, b: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
        self.check_operands("multiply", &[a, b])?;
        self.check_keys(&Products, a.level().min(b.level()))?;
        self.engine().multiply(a, b)
    }

    /// `a²`, slot by slot.
    ///
    /// # Errors
    /// As [`Self::multiply`].
    pub fn square(&self, a: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
        self.check_operands("square", &[a])?;
        self.check_keys(&Products, a.level())?;
        self.engine().square(a)
    }

    /// `−a`.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`].
    pub fn negate(&self, a: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
        self.engine().negate(a)
    }

    /// `a + values`, slot by slot, with public real numbers. A vector with fewer values than `a`
    /// has slots is padded with zeros.
    ///
    /// # Errors
    /// As [`ckks::Engine::add_plain`]; [`Error::ShapeMismatch`] if there are more values than
    /// slots.
    pub fn add_reals(&self, a: &ckks::Ciphertext, values: &[f64]) -> Result<ckks::Ciphertext> {
        self.engine().add_plain(a, &filled(a, values)?)
    }

    /// `a + value` in every slot, with a public real number.
    ///
    /// # Errors
    /// As [`ckks::Engine::add_plain`].
    pub fn add_real(&self, a: &ckks::Ciphertext, value: f64) -> Result<ckks::Ciphertext> {
        self.engine().add_plain(a, &complex(&[value]))
    }

    /// `values · a`, slot by slot, with public real numbers. A vector with fewer values than `a`
    /// has slots is padded with zeros.
    ///
    /// # Errors
    /// As [`ckks::Engine::multiply_plain`]; [`Error::ShapeMismatch`] if there are more values than
    /// slots.
    pub fn multiply_reals(&self, a: &ckks::Ciphertext, values: &[f64]) -> Result<ckks::Ciphertext> {
        self.engine().multiply_plain(a, &filled(a, values)?)
    }

    /// `a + values`, slot by slot, with public numbers of more bits than doubles have. A shorter vector is repeated.
    ///
    /// # Errors
    /// As [`ckks::Engine::add_wide`].
    pub fn add_wide(&self, a: &ckks::Ciphertext, values: &[WideComplex]) -> Result<ckks::Ciphertext> {
        self.engine().add_wide(a, values)
    }

    /// `values · a`, slot by slot, with public numbers of more bits than doubles have. A shorter vector is repeated.
    ///
    /// # Errors
    /// As [`ckks::Engine::multiply_wide`].
    pub fn multiply_wide(&self, a: &ckks::Ciphertext, values: &[WideComplex]) -> Result<ckks::Ciphertext> {
        self.engine().multiply_wide(a, values)
    }

    /// `value · a` for a public real number. An integer of any size needs no rescaling.
    ///
    /// # Errors
    /// As [`ckks::Engine::multiply_scalar`].
    pub fn multiply_real(&self, a: &ckks::Ciphertext, value: f64) -> Result<ckks::Ciphertext> {
        self.engine().multiply_scalar(a, Complex64::new(value, 0.0))
    }

    /// `Σ_k weights_i\[k\] · list\[k\]` for every i, slot by slot: a matrix of public real numbers times a
    /// vector of ciphertexts. It takes one level, no key, and less time than the single products and sums.
    ///
    /// # Errors
    /// As [`ckks::Engine::weighted_sums`].
    pub fn weighted_sums(&self, list: &[&ckks::Ciphertext], weights: &[&[f64]]) -> Result<Vec<ckks::Ciphertext>> {
        self.engine().weighted_sums(list, weights)
    }

    /// Rotates the slots: slot j of the result is slot `j + amount` of `a`, modulo the number of
    /// slots of `a`.
    ///
    /// # Errors
    /// [`Error::MissingKeys`] unless the keys were generated for
    /// [`Context::<Approximate>::rotation`]; errors of [`ckks::Engine::rotate`].
    pub fn rotate(&self, a: &ckks::Ciphertext, amount: i64) -> Result<ckks::Ciphertext> {
        self.check_operands("rotate", &[a])?;
        self.check_keys(&self.context().rotation(a.slots(), amount)?, a.level())?;
        self.engine().rotate(a, amount)
    }

    /// The complex conjugate of every slot.
    ///
    /// # Errors
    /// [`Error::MissingKeys`] unless the keys were generated for
    /// [`Context::<Approximate>::conjugation`]; errors of [`ckks::Engine::conjugate`].
    pub fn conjugate(&self, a: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
        self.check_operands("conjugate", &[a])?;
        self.check_keys(&self.context().conjugation(), a.level())?;
        self.engine().conjugate(a)
    }
}

impl Server<Approximate> {
    /// The refreshes of this server, with their keys. For a refresh of several passes that of its pass
    /// ([`crate::bootstrap::approximate::precise::PreciseRefreshPlan::pass`]).
    pub fn refreshes(&self) -> impl Iterator<Item = (&Arc<RefreshPlan>, &RefreshKeys)> {
        self.refreshers().plans_and_keys()
    }

    /// The refresher of the layer below for ciphertexts of so many slots: that of the smallest refresh
    /// that takes them.
    ///
    /// # Errors
    /// As [`Self::refresh`]; [`Error::Bootstrap`] if the refresh has several passes.
    pub fn refresher(&self, slots: usize) -> Result<&Refresher> {
        self.refreshers().of_slots(slots)
    }

    /// The refresher in several passes of the layer below.
    ///
    /// # Errors
    /// [`Error::MissingBootstrappingKeys`] unless the keys were made for [`Context::precise_refresh`]; those of
    /// [`PreciseRefresher::new`].
    pub fn precise_refresher(&self) -> Result<&PreciseRefresher> {
        self.refreshers().precise()
    }

    /// [`Self::refresh`] for each ciphertext of a list, in order: as many at a time as there are threads. `observe` is
    /// called before each stage and once after the last ([`Progress`]), and may stop the refresh before the stage.
    /// Ciphertexts that are refreshed at the same time count as one. Reports count over adjacent ciphertexts of one
    /// refresh.
    ///
    /// # Errors
    /// As [`Self::refresh`], before any work if it is true of any ciphertext; [`Error::Cancelled`] after a
    /// `Break`.
    pub fn refresh_list(
        &self,
        list: &[ckks::Ciphertext],
        mut observe: impl FnMut(&Progress) -> ControlFlow<()> + Send,
    ) -> Result<Vec<ckks::Ciphertext>> {
        self.refreshers().refresh_list(list, false, &mut observe)
    }

    /// As [`Self::refresh_list`] for ciphertexts whose slots are real. Adjacent ciphertexts of one refresh go
    /// in pairs, as the real and the imaginary parts of one, where the parameters allow it
    /// ([`RefreshPlan::takes_real_pairs`]). A pair takes as long as one ciphertext.
    ///
    /// **Warning.** An imaginary part of a ciphertext is added to another ciphertext, or lost. No error is
    /// returned.
    ///
    /// # Errors
    /// As there; [`Error::OtherKeyPair`] if the keys of a pair differ.
    pub fn refresh_real_list(
        &self,
        list: &[ckks::Ciphertext],
        mut observe: impl FnMut(&Progress) -> ControlFlow<()> + Send,
    ) -> Result<Vec<ckks::Ciphertext>> {
        self.refreshers().refresh_list(list, true, &mut observe)
    }
}

/// The values as complex numbers, padded with zeros to the slots of a ciphertext.
fn filled(a: &ckks::Ciphertext, values: &[f64]) -> Result<Vec<Complex64>> {
    let (got, expected) = (values.len(), a.slots());
    if got > expected {
        return Err(Error::ShapeMismatch { what: "real numbers for the slots", expected, got });
    }
    let mut filled = complex(values);
    filled.resize(expected, Complex64::ZERO);
    Ok(filled)
}
