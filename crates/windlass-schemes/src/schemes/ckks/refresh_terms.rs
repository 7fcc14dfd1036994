//! What a refresh takes and adds, for plans of circuits that refresh between their steps.

use super::slot_errors::SlotErrors;

/// What a refresh takes of a ciphertext, and the error that it adds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[doc(hidden)]
pub struct RefreshTerms {
    /// The lowest level of a ciphertext that is refreshed.
    pub input_level: usize,
    /// The largest bound on its values.
    pub most: f64,
    /// What is added to a message of 0.
    pub least: SlotErrors,
    /// What is added in every slot to a message of absolute value 1: it grows with the power of the message.
    pub systematic: f64,
    /// That power.
    pub power: i32,
    /// Whether two real messages take one refresh. The result of each then has the error of both.
    pub takes_real_pairs: bool,
}

impl RefreshTerms {
    /// What is added to a message whose slots are at most `bound`.
    pub fn errors(&self, bound: f64) -> SlotErrors {
        let systematic = self.systematic * bound.powi(self.power);
        let whole = systematic / SlotErrors::BOUND_FACTOR;
        self.least.plus(SlotErrors { systematic, whole, ..SlotErrors::default() })
    }

    /// Whether values within a bound are refreshed.
    pub fn takes(&self, bound: f64) -> bool {
        bound <= self.most
    }
}
