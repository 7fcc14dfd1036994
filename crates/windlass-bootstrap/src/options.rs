//! Options of a refresh: a table that it evaluates, an observer, one batch for a list.

use std::fmt;
use std::ops::ControlFlow;

use windlass_circuits::SlotTable;
use windlass_schemes::schemes::Ciphertext;

use super::progress::{Observer, Progress};

/// What [`Bootstrapper::refresh_list`](super::Bootstrapper::refresh_list) does beside refreshing. By
/// default nothing: no table, no observer, and every ciphertext is refreshed by itself.
#[derive(Default)]
pub struct RefreshOptions<'a> {
    pub(super) table: Option<&'a SlotTable>,
    pub(super) observer: Option<Box<Observer<'a>>>,
    pub(super) one_batch: bool,
}

impl fmt::Debug for RefreshOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("RefreshOptions");
        text.field("table", &self.table.is_some()).field("observer", &self.observer.is_some());
        text.field("one_batch", &self.one_batch).finish()
    }
}

impl<'a> RefreshOptions<'a> {
    /// No options.
    pub fn new() -> Self {
        Self::default()
    }

    /// A refresh whose last stage evaluates this table at the integers in the slots. The keys are
    /// those of the refresh, and each call may bring another table.
    ///
    /// Cost: a refresh and [`SlotTable::products`] for each ciphertext.
    /// [`BootstrapPlan::forecast_table`](super::BootstrapPlan::forecast_table) says how much capacity
    /// is left.
    ///
    /// **Warning.** The table sees the integer that the ciphertext decrypts to, in \[0, p^r). A
    /// ciphertext that was said to hold integers ([`Ciphertext::assume_integers`]) and holds elements
    /// gets unspecified values. No error is returned.
    pub fn with_table(self, table: &'a SlotTable) -> Self {
        Self { table: Some(table), ..self }
    }

    /// Calls `observe` before each stage, and once after the last. `Break` stops before the stage.
    /// Reports are counted over the whole list.
    pub fn observed_by(self, mut observe: impl FnMut(&Progress) -> ControlFlow<()> + 'a) -> Self {
        self.traced_by(move |progress, _| observe(progress))
    }

    /// As [`Self::observed_by`]. `observe` also gets the ciphertext that enters the stage, and at the
    /// end the result.
    pub fn traced_by(self, observe: impl FnMut(&Progress, &Ciphertext) -> ControlFlow<()> + 'a) -> Self {
        Self { observer: Some(Box::new(observe)), ..self }
    }

    /// Refreshes the whole list, of up to d ciphertexts with integers in their slots, as one
    /// ciphertext of elements (Halevi–Shoup 2018, §8): see [`BatchPlan`](super::BatchPlan). It needs
    /// a packed plan and takes no table.
    pub fn in_one_batch(self) -> Self {
        Self { one_batch: true, ..self }
    }

    /// Whether the list is one batch.
    pub fn is_one_batch(&self) -> bool {
        self.one_batch
    }

    /// The same options for one more list, with the same observer.
    pub fn again(&mut self) -> RefreshOptions<'_> {
        let observer: Option<Box<Observer<'_>>> = match &mut self.observer {
            Some(observe) => Some(Box::new(|progress: &Progress, ct: &Ciphertext| observe(progress, ct))),
            None => None,
        };
        RefreshOptions { table: self.table, observer, one_batch: self.one_batch }
    }
}
