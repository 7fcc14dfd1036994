//! Polynomials on the slots of ciphertexts: what is done to the argument, then its powers.

use std::borrow::Cow;

use num_complex::Complex64;

use super::ciphertext::Ciphertext;
use super::engine::Engine;
use super::evaluation::evaluated;
use super::lazy::LazyEngine;
use super::polynomial::{Polynomial, PowerBasis};
use crate::error::{Error, Result};

/// Refuses values that are not known to lie in an interval.
///
/// # Errors
/// [`Error::OutsideInterval`].
fn check_inside(x: &Ciphertext, low: f64, high: f64) -> Result<()> {
    let bound = x.magnitude();
    // Bounds are products of doubles.
    if bound <= low.abs().max(high.abs()) * (1.0 + 1e-9) {
        return Ok(());
    }
    Err(Error::OutsideInterval { bound, low, high })
}

/// A number in the entries, zeros beside them.
fn on_entries(x: &Ciphertext, value: f64) -> Vec<Complex64> {
    let mut values = vec![Complex64::ZERO; x.slots()];
    values[..x.entries()].fill(Complex64::new(value, 0.0));
    values
}

impl Polynomial {
    /// Whether the slots beside the entries are cleared before anything else, which takes a
    /// rescaling: nothing else is done to them, and they may be larger than the entries or, if these
    /// are in −1..1, anything but zero. The library does not know whether a value there is real, and
    /// |T_k(z)| is up to (1 + √2)^k for |z| ≤ 1.
    fn clears(&self, x: &Ciphertext) -> bool {
        let most = match self.basis() {
            PowerBasis::Chebyshev { .. } => 0.0,
            PowerBasis::Monomial => x.magnitude().max(1.0),
        };
        !self.is_moved() && x.rest_magnitude() > most
    }
}

impl Engine {
    /// `p(x)` on every entry. In the Chebyshev basis the entries must be real numbers in the
    /// interval; outside it the polynomial grows fast.
    ///
    /// The slots beside the entries get unspecified values, but stay inside the interval. If they
    /// hold zeros, only the entries are shifted. If they may hold more, the factor of the interval
    /// is replaced by a mask. Both are free. If no factor is needed (monomials, and the interval
    /// −1..1), they are cleared first: before monomials if they may be larger than the entries and
    /// 1, and before the interval −1..1 if they may hold anything but zeros, for example after a
    /// folded matrix or another polynomial. That costs one rescaling.
    ///
    /// **Warning.** The bound of a ciphertext limits the absolute value of its entries. It does not
    /// show that no entry lies below the lower end of the interval. If an entry lies outside,
    /// decryption refuses the result ([`Error::NotDecryptable`]).
    ///
    /// An engine that refreshes does so before, once, if the argument has too few levels.
    ///
    /// Cost: about 2√degree products; depth as [`Polynomial::depth`].
    ///
    /// # Errors
    /// [`Error::OutsideInterval`] unless the bound on the entries
    /// ([`Ciphertext::magnitude`]) is inside the interval, up to its sign; [`Error::LevelsExhausted`], and those
    /// of products.
    pub fn evaluate(&self, p: &Polynomial, x: &Ciphertext) -> Result<Ciphertext> {
        let needed = p.depth() + usize::from(p.clears(x));
        let operation = "evaluate a polynomial";
        // Once at most, before anything. What is deeper than a refresh reaches is refused: its result could
        // not be refreshed any more.
        let fresh = if needed <= self.reach() {
            self.with_depth(x, needed)?
        } else if self.reach() < self.context.spec().depth {
            let left = self.products_before_refresh(x);
            return Err(Error::LevelsExhausted { operation, depth: self.reach(), needed, left });
        } else {
            Cow::Borrowed(x)
        };
        self.plain().value(p, &fresh).map_err(|error| match error {
            Error::LevelsExhausted { depth, .. } => {
                let left = x.products_left();
                Error::LevelsExhausted { operation, depth, needed: needed.max(left + 1), left }
            }
            other => other,
        })
    }

    fn value(&self, p: &Polynomial, x: &Ciphertext) -> Result<Ciphertext> {
        let x = self.argument(p, x)?;
        if p.degree() == 0 {
            return self.add_plain(&self.zeroed(&x), &[Complex64::new(p.coefficients()[0], 0.0)]);
        }
        let machine = LazyEngine(self);
        machine.relinearised(&evaluated(&machine, p, x.into())?)
    }

    /// x itself, or u for the Chebyshev basis.
    fn argument(&self, p: &Polynomial, x: &Ciphertext) -> Result<Ciphertext> {
        if let PowerBasis::Chebyshev { low, high } = p.basis() {
            check_inside(x, low, high)?;
        }
        let mut x = self.rescale(x)?;
        if p.clears(&x) {
            x = self.rescale(&self.multiply_plain(&x, &on_entries(&x, 1.0))?)?;
        }
        match p.basis() {
            PowerBasis::Monomial => Ok(x),
            PowerBasis::Chebyshev { .. } if !p.is_moved() => Ok(x.within(1.0)),
            PowerBasis::Chebyshev { low, high } => Ok(self.moved(&x, low, high)?.within(1.0)),
        }
    }

    /// (2x − low − high)/(high − low) on the entries. Beside them 0 becomes 0, as it is or by a
    /// mask, unless the interval holds 0: then it becomes what 0 becomes.
    fn moved(&self, x: &Ciphertext, low: f64, high: f64) -> Result<Ciphertext> {
        let (factor, shift) = (2.0 / (high - low), -(low + high) / (high - low));
        let scaled = match x.rest_magnitude() {
            0.0 => self.multiply_scalar(x, Complex64::new(factor, 0.0))?,
            _ => self.multiply_plain(x, &on_entries(x, factor))?,
        };
        let shifts = if shift.abs() <= 1.0 { vec![Complex64::new(shift, 0.0)] } else { on_entries(x, shift) };
        self.rescale(&self.add_plain(&scaled, &shifts)?)
    }
}
