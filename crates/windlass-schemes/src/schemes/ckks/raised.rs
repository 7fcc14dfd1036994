//! Ciphertexts that a refresh makes, with the bounds that it states of them.

use windlass_ring::{Eval, Poly};
use windlass_rlwe::KeyId;

use super::ciphertext::{Ciphertext, Info};
use super::engine::Engine;
use super::magnitude::Magnitude;
use super::slot_error::SlotError;
use super::slot_errors::SlotErrors;
use crate::error::Result;

/// What a refresh knows of a ciphertext by its own analysis.
#[derive(Debug, Clone, Copy, PartialEq)]
#[doc(hidden)]
pub struct Stated {
    /// The number of slots.
    pub slots: usize,
    /// Bound on the absolute value of every slot.
    pub magnitude: f64,
    /// Standard deviation of the error of a slot, from above.
    pub deviation: f64,
}

impl Stated {
    fn info(self, degree: i32) -> Info {
        let Self { slots, magnitude, deviation } = self;
        let own = SlotError::unknown(deviation);
        Info { degree, magnitude: Magnitude::of(slots, magnitude), deviation, uneven: deviation, own }
    }
}

impl Engine {
    /// A ciphertext of degree 1 from its polynomials over the primes of a level.
    ///
    /// # Errors
    /// [`crate::Error::OutOfRange`] if there is no such level; [`crate::Error::ModulusExhausted`] if
    /// the values do not fit.
    #[doc(hidden)]
    pub fn assembled(&self, key: KeyId, parts: Vec<Poly<Eval>>, stated: Stated) -> Result<Ciphertext> {
        self.context.check_slots(stated.slots)?;
        self.context.check_level(parts[0].basis().len())?;
        let ct = Ciphertext { context: self.context.clone(), key, parts: parts.into(), info: stated.info(1) };
        self.accept("refresh", ct)
    }
}

impl Ciphertext {
    /// The same polynomials with other statements about them.
    #[doc(hidden)]
    pub fn restated(mut self, stated: Stated) -> Self {
        self.info = stated.info(self.info.degree);
        self
    }

    /// The same polynomials as another encryption of the message of `like`, with these errors more.
    #[doc(hidden)]
    pub fn refreshed_from(mut self, like: &Self, errors: SlotErrors) -> Self {
        self.info = Info { degree: self.info.degree, ..like.info.clone() };
        self.info.own.add_certain(errors.deviation);
        self.info.own.add_most(errors.most);
        self.info.own.add_systematic(errors.systematic);
        self.info.deviation += errors.whole;
        self.info.uneven += errors.whole;
        self
    }

    /// The same with the bounds on slots of another ciphertext.
    #[doc(hidden)]
    pub fn bounded_like(mut self, other: &Self) -> Self {
        self.info.magnitude = other.info.magnitude;
        self
    }
}
