//! What servers of approximate numbers do beside circuits.

#[cfg(doc)]
use super::context::Context;
use super::family::Approximate;
use super::needs::Products;
use super::server::Server;
use crate::error::{Error, Result};
use crate::schemes::ckks::{self, Complex64, complex};

/// Real and complex numbers in the slots. Products are rescaled when they are used, so that levels
/// look after themselves.
impl Server<Approximate> {
    /// `a + b`, slot by slot; the shorter vector is repeated.
    ///
    /// # Errors
    /// As [`ckks::Engine::add`].
    pub fn add(&self, a: &ckks::Ciphertext, b: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
        self.engine().add(a, b)
    }

    /// `a − b`, slot by slot; the shorter vector is repeated.
    ///
    /// # Errors
    /// As [`ckks::Engine::sub`].
    pub fn sub(&self, a: &ckks::Ciphertext, b: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
        self.engine().sub(a, b)
    }

    /// `a · b`, slot by slot.
    ///
    /// # Errors
    /// As [`ckks::Engine::multiply`]; [`Error::MissingKeys`] without a relinearisation key.
    pub fn multiply(&self, a: &ckks::Ciphertext, b: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
        self.check_keys(&Products, a.level().min(b.level()))?;
        self.engine().multiply(a, b)
    }

    /// `a²`, slot by slot.
    ///
    /// # Errors
    /// As [`Self::multiply`].
    pub fn square(&self, a: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
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

    /// `a + values`, slot by slot, for public real numbers. Zeros fill a vector that is shorter
    /// than the slots of `a`.
    ///
    /// # Errors
    /// As [`ckks::Engine::add_plain`]; [`Error::ShapeMismatch`] for more values than slots.
    pub fn add_reals(&self, a: &ckks::Ciphertext, values: &[f64]) -> Result<ckks::Ciphertext> {
        self.engine().add_plain(a, &filled(a, values)?)
    }

    /// `a + value` in every slot, for a public real number.
    ///
    /// # Errors
    /// As [`ckks::Engine::add_plain`].
    pub fn add_real(&self, a: &ckks::Ciphertext, value: f64) -> Result<ckks::Ciphertext> {
        self.engine().add_plain(a, &complex(&[value]))
    }

    /// `values · a`, slot by slot, for public real numbers. Zeros fill a vector that is shorter
    /// than the slots of `a`.
    ///
    /// # Errors
    /// As [`ckks::Engine::multiply_plain`]; [`Error::ShapeMismatch`] for more values than slots.
    pub fn multiply_reals(&self, a: &ckks::Ciphertext, values: &[f64]) -> Result<ckks::Ciphertext> {
        self.engine().multiply_plain(a, &filled(a, values)?)
    }

    /// `value · a` for a public real number; an integer, of any size, takes no rescaling.
    ///
    /// # Errors
    /// As [`ckks::Engine::multiply_scalar`].
    pub fn multiply_real(&self, a: &ckks::Ciphertext, value: f64) -> Result<ckks::Ciphertext> {
        self.engine().multiply_scalar(a, Complex64::new(value, 0.0))
    }

    /// Slot j of the result is slot `j + amount` of `a`, cyclically in its own number of slots.
    ///
    /// # Errors
    /// [`Error::MissingKeys`] unless [`Context::<Approximate>::rotation`] was named when the keys
    /// were made; as [`ckks::Engine::rotate`].
    pub fn rotate(&self, a: &ckks::Ciphertext, amount: i64) -> Result<ckks::Ciphertext> {
        self.check_keys(&self.context().rotation(a.slots(), amount)?, a.level())?;
        self.engine().rotate(a, amount)
    }

    /// The complex conjugate of every slot.
    ///
    /// # Errors
    /// [`Error::MissingKeys`] unless [`Context::<Approximate>::conjugation`] was named when the
    /// keys were made; as [`ckks::Engine::conjugate`].
    pub fn conjugate(&self, a: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
        self.check_keys(&self.context().conjugation(), a.level())?;
        self.engine().conjugate(a)
    }
}

/// The values as complex numbers, zeros after them up to the slots of a ciphertext.
fn filled(a: &ckks::Ciphertext, values: &[f64]) -> Result<Vec<Complex64>> {
    let (got, expected) = (values.len(), a.slots());
    if got > expected {
        return Err(Error::ShapeMismatch { what: "real numbers for the slots", expected, got });
    }
    let mut filled = complex(values);
    filled.resize(expected, Complex64::ZERO);
    Ok(filled)
}
