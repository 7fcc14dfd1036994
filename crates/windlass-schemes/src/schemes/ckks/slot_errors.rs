//! The errors of single operations, and statements about ciphertexts by an analysis of the circuit
//! that made them.

use super::ciphertext::Ciphertext;
use super::context::CkksContext;
use super::error_model::ErrorModel;
use super::slot_error::SlotError;

/// What is known of the error of a slot, in units of the message.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[doc(hidden)]
pub struct SlotErrors {
    /// Standard deviation in a ciphertext's own slots, from above.
    pub deviation: f64,
    /// What may be there at most beside it, if someone who sees ciphertexts chooses constants.
    pub most: f64,
    /// What may be in every slot at most, as the distance of a polynomial from a function is.
    pub systematic: f64,
    /// Standard deviation in all slots of the ring, from above, with a 72nd of the last two.
    pub whole: f64,
}

impl SlotErrors {
    /// A bound is so many deviations.
    pub const BOUND_FACTOR: f64 = ErrorModel::BOUND_FACTOR;

    /// The bound on the error of a slot, which fails with probability at most 2^{−128}.
    pub fn bound(&self) -> f64 {
        ErrorModel::BOUND_FACTOR * self.deviation + self.most + self.systematic
    }

    /// The bound on the error of any slot of the ring.
    pub fn whole_bound(&self) -> f64 {
        ErrorModel::BOUND_FACTOR * self.whole
    }

    /// The error of a sum, whatever depends on what.
    pub fn plus(self, other: Self) -> Self {
        Self {
            deviation: self.deviation + other.deviation,
            most: self.most + other.most,
            systematic: self.systematic + other.systematic,
            whole: self.whole + other.whole,
        }
    }

    /// The error of a multiple by a number of absolute value `factor`.
    pub fn times(self, factor: f64) -> Self {
        Self {
            deviation: self.deviation * factor,
            most: self.most * factor,
            systematic: self.systematic * factor,
            whole: self.whole * factor,
        }
    }

    /// Without what is systematic.
    pub fn random(self) -> Self {
        let whole = (self.whole - self.systematic / ErrorModel::BOUND_FACTOR).max(0.0);
        Self { systematic: 0.0, whole, ..self }
    }

    /// The product of two errors.
    pub fn product(self, other: Self) -> Self {
        Self::certain(ErrorModel::BOUND_FACTOR * self.whole * other.whole)
    }

    /// An error that is not random.
    pub fn certain(size: f64) -> Self {
        Self { deviation: size, whole: size, ..Self::default() }
    }

    /// No less than either.
    pub fn max(self, other: Self) -> Self {
        Self {
            deviation: self.deviation.max(other.deviation),
            most: self.most.max(other.most),
            systematic: self.systematic.max(other.systematic),
            whole: self.whole.max(other.whole),
        }
    }
}

#[doc(hidden)]
impl CkksContext {
    /// Of a fresh encryption under a public key at the top level, of values up to a bound.
    pub fn fresh_errors(&self, slots: usize, bound: f64) -> SlotErrors {
        let (errors, scale) = (self.errors(), self.scale(self.top_level()));
        let [own, whole] = [2 * slots, self.spec().n].map(|count| errors.fresh_public(count));
        let rounding = errors.encoding(2 * slots) / scale + bound * 2f64.powi(-49);
        SlotErrors { deviation: own, whole, ..SlotErrors::default() }
            .times(1.0 / scale)
            .plus(SlotErrors::certain(rounding))
    }

    /// Of a rescaling to a level.
    pub fn rescaling_errors(&self, level: usize, slots: usize) -> SlotErrors {
        let errors = self.errors();
        let most = ErrorModel::one_way(2 * slots);
        let (deviation, whole) = (errors.rounding(2 * slots), errors.any_rounding());
        let rounding = SlotErrors { deviation, most, systematic: 0.0, whole };
        rounding.times(1.0 / self.scale(level))
    }

    /// Of the relinearisation of a product at a level, which is not rescaled yet.
    pub fn relinearisation_errors(&self, level: usize, slots: usize) -> SlotErrors {
        let errors = self.errors();
        let [own, whole] = [2 * slots, self.spec().n].map(|count| errors.relinearisation(level, count));
        let key = SlotErrors { deviation: own, whole, ..SlotErrors::default() };
        let scale = self.scale_of(level, 2);
        key.times(1.0 / scale).plus(self.rescaling_errors(level, slots).times(self.scale(level) / scale))
    }

    /// Of the rounding of the second part of a product at a level, which someone chooses with a factor
    /// of this many slots, at most `magnitude` in each.
    pub fn steering_errors(&self, level: usize, slots: usize, factor_slots: usize, magnitude: f64) -> SlotErrors {
        let scale = self.scale(self.level_below(level).unwrap_or(level));
        let [own, whole] =
            [2 * slots, self.spec().n].map(|count| self.errors().steered(count, 2 * factor_slots, magnitude) / scale);
        SlotErrors { most: own, whole: whole / ErrorModel::BOUND_FACTOR, ..SlotErrors::default() }
    }

    /// Of the rounding of public values in all slots, at a scale.
    pub fn encoding_errors(&self, scale: f64, slots: usize) -> SlotErrors {
        SlotErrors::certain(self.errors().encoding(2 * slots) / scale)
    }
}

#[doc(hidden)]
impl Ciphertext {
    /// What is known of the error.
    pub fn slot_errors(&self) -> SlotErrors {
        let own = &self.info.own;
        let (most, systematic) = (own.most(), own.systematic());
        SlotErrors { deviation: own.random(), most, systematic, whole: self.info.deviation }
    }

    /// The same ciphertext with the statements of an analysis: no slot is above a bound, and errors
    /// are at most these. Smaller statements that it carries are kept.
    pub fn analysed(mut self, bound: f64, errors: SlotErrors) -> Self {
        self.info.magnitude = self.info.magnitude.limited(bound);
        if errors.bound() < self.info.own.bound() {
            self.info.own = SlotError::unknown(errors.deviation);
            self.info.own.add_most(errors.most);
            self.info.own.add_systematic(errors.systematic);
        }
        if errors.whole < self.info.deviation {
            (self.info.deviation, self.info.uneven) = (errors.whole, errors.whole);
        }
        self
    }

    /// The same ciphertext as one of a message that is at most `distance` from its own in every slot.
    pub fn approximating(mut self, distance: f64) -> Self {
        self.info.own.add_systematic(distance);
        let whole = distance / ErrorModel::BOUND_FACTOR;
        self.info.deviation += whole;
        self.info.uneven += whole;
        self
    }
}
