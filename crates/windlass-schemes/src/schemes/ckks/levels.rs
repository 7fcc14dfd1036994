//! Rescaling, and bringing operands together.

use std::borrow::Cow;

use windlass_ring::{Eval, Poly};
use windlass_rlwe::switching::Epilogue;

use windlass_rlwe::{Limits, check_same_keys};

use super::ciphertext::{Ciphertext, Info};
use super::encode::wide_residue;
use super::engine::Engine;
use super::slot_error::SlotError;
use super::wide::Wide;
use crate::error::{Error, Result};

impl Engine {
    /// Brings a product to degree 1: divides by the primes that the level drops. These are one
    /// to three at the levels of a caller ([`CkksSpec::dropped_prime_bits`](super::CkksSpec::dropped_prime_bits)). A ciphertext of degree 1 is returned as it is.
    ///
    /// Cost: 2d inverse and 2(l−d) forward transforms for d dropped primes.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`].
    pub fn rescale(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        self.rescaled(ct).map(Cow::into_owned)
    }

    /// As [`Self::rescale`], without a copy of what is of degree 1.
    pub(crate) fn rescaled<'a>(&self, ct: &'a Ciphertext) -> Result<Cow<'a, Ciphertext>> {
        self.check("rescale", ct)?;
        if ct.info.degree == 1 {
            return Ok(Cow::Borrowed(ct));
        }
        self.divided("rescale", ct, Info { degree: 1, ..ct.info.clone() }).map(Cow::Owned)
    }

    /// The level of [`Self::rescaled`], without its work.
    #[doc(hidden)]
    pub fn rescaled_level(&self, ct: &Ciphertext) -> Result<usize> {
        self.check("rescale", ct)?;
        match ct.info.degree {
            1 => Ok(ct.level()),
            _ => self.level_below("rescale", ct),
        }
    }

    /// The level after one division.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`].
    pub(super) fn level_below(&self, operation: &'static str, ct: &Ciphertext) -> Result<usize> {
        self.context.level_below(ct.level()).ok_or_else(|| self.no_level(operation))
    }

    /// The refusal of one more product.
    pub(super) fn no_level(&self, operation: &'static str) -> Error {
        Error::LevelsExhausted { operation, depth: self.context.spec().depth, needed: 1, left: 0 }
    }

    /// Divides by what the level drops; `info` without the error of the rounding.
    fn divided(&self, operation: &'static str, ct: &Ciphertext, info: Info) -> Result<Ciphertext> {
        self.divided_to(operation, ct, self.level_below(operation, ct)?, info)
    }

    /// Divides by all primes above a level.
    fn divided_to(&self, operation: &'static str, ct: &Ciphertext, level: usize, info: Info) -> Result<Ciphertext> {
        let keep = self.context.rlwe().basis(level);
        let parts = Poly::divide_pair([&ct.parts[0], &ct.parts[1]], &keep, 1, &Epilogue::default()).into();
        let mut out = ct.with_parts(parts, info);
        out.add_rounding(level);
        self.accept(operation, out)
    }

    /// The same message at a lower level and degree 1, at exactly the scale of that level.
    ///
    /// Cost: a rescaling when levels are dropped.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a level above that of the ciphertext (after its own rescaling) or below
    /// the base.
    pub fn lower(&self, ct: &Ciphertext, level: usize) -> Result<Ciphertext> {
        self.lowered(ct, level).map(Cow::into_owned)
    }

    /// As [`Self::lower`], without a copy.
    #[doc(hidden)]
    pub fn lowered<'a>(&self, ct: &'a Ciphertext, level: usize) -> Result<Cow<'a, Ciphertext>> {
        let ct = self.rescaled(ct)?;
        let base = self.context.base_level();
        Limits::between(base, ct.level()).check("level", level)?;
        self.context.check_level(level)?;
        if level == ct.level() {
            return Ok(ct);
        }
        let ratio = self.context.wide_scale(level) / self.context.wide_scale(ct.level());
        let mut from = self.context.level_above(level).expect("the ciphertext is above");
        let mut dropped = self.context.wide_dropped(from);
        // The factor is rounded: by no more than the division rounds.
        while (ratio * dropped).high() < self.context.scale(level) / 16.0 && from < ct.level() {
            from = self.context.level_above(from).expect("the ciphertext is there or above");
            dropped = dropped * self.context.wide_dropped(from);
        }
        let raised = self.raised(&ct, from, ratio * dropped);
        self.divided_to("drop levels", &raised, level, raised.info.clone()).map(Cow::Owned)
    }

    /// The phase times the integer nearest to a large factor, with the primes of a level at or below: the
    /// scale is what it was meant to be up to half of one part in `factor`, which is counted as an
    /// error of the message.
    fn raised(&self, ct: &Ciphertext, level: usize, factor: Wide) -> Ciphertext {
        let (integer, basis) = (factor.round(), self.context.rlwe().basis(level));
        let times = |part: &Poly<Eval>| part.restrict_times(&basis, |q| wide_residue(integer, q));
        let mut out = ct.with_parts(ct.parts.iter().map(times).collect(), ct.info.clone());
        out.info.add_certain(out.info.magnitude.largest() * ((integer - factor) / factor).high().abs());
        out
    }

    /// A ciphertext of degree 1 raised to degree 2 at a level at or below its own.
    fn to_degree_two(&self, ct: &Ciphertext, level: usize) -> Ciphertext {
        let product = self.context.wide_scale_of(level, 2);
        let mut out = self.raised(ct, level, product / self.context.wide_scale(ct.level()));
        out.info.degree = 2;
        out
    }

    /// Two summands at one level and degree.
    pub(crate) fn align<'a>(
        &self,
        a: Cow<'a, Ciphertext>,
        b: Cow<'a, Ciphertext>,
    ) -> Result<(Cow<'a, Ciphertext>, Cow<'a, Ciphertext>)> {
        self.check("add", &a)?;
        self.check("add", &b)?;
        check_same_keys("add", a.key, b.key)?;
        let flip = (a.level(), a.info.degree) < (b.level(), b.info.degree);
        let (high, low) = if flip { (b, a) } else { (a, b) };
        // A product above the other operand's level is rescaled first.
        let is_above = high.level() > low.level() && high.info.degree > 1;
        let high = if is_above { Cow::Owned(self.rescale(&high)?) } else { high };
        let level = low.level();
        let (high, low) = match (high.info.degree, low.info.degree) {
            (2, 1) => (high, Cow::Owned(self.to_degree_two(&low, level))),
            (1, 2) => (Cow::Owned(self.to_degree_two(&high, level)), low),
            (1, 1) if high.level() > level => (Cow::Owned(self.lower(&high, level)?), low),
            _ => (high, low),
        };
        debug_assert_eq!((high.level(), high.info.degree), (low.level(), low.info.degree));
        Ok(if flip { (low, high) } else { (high, low) })
    }

    /// Two factors at one level and degree 1.
    pub(crate) fn factors<'a>(
        &self,
        a: &'a Ciphertext,
        b: &'a Ciphertext,
    ) -> Result<(Cow<'a, Ciphertext>, Cow<'a, Ciphertext>)> {
        check_same_keys("multiply", a.key, b.key)?;
        let (a, b) = (self.rescaled(a)?, self.rescaled(b)?);
        let level = self.context.product_level(a.level().min(b.level()));
        let lower = |ct: Cow<'a, Ciphertext>| -> Result<Cow<'a, Ciphertext>> {
            if ct.level() == level { Ok(ct) } else { self.lower(&ct, level).map(Cow::Owned) }
        };
        Ok((lower(a)?, lower(b)?))
    }

    /// The zero ciphertext at the level and degree of another.
    pub(crate) fn zeroed(&self, ct: &Ciphertext) -> Ciphertext {
        let zero = || Poly::zero(self.context.rlwe().ring(), ct.parts[0].basis());
        let magnitude = ct.info.magnitude.scaled(0.0);
        let info = Info { degree: ct.info.degree, magnitude, deviation: 0.0, uneven: 0.0, own: SlotError::default() };
        ct.with_parts(vec![zero(), zero()], info)
    }
}
