//! Refreshes of lists, with reports as the exact schemes make them.

use std::ops::ControlFlow;

use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::Refresh;
use windlass_schemes::schemes::ckks::Ciphertext;

use super::refresher::Refresher;
use crate::progress::Progress;

/// What no observer does.
pub(super) fn unobserved(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

impl Refresher {
    /// Each message of a list with new levels, in the order of the list, one after the other.
    /// `observe` is called before each stage, and once after the last ([`Progress`]). `Break` stops
    /// before the stage.
    ///
    /// # Errors
    /// Those of [`Self::check`], before any work, if it is true of any ciphertext of the list;
    /// [`Error::Cancelled`] if the observer breaks; those of [`Self::refresh`].
    pub fn refresh_list(
        &self,
        list: &[Ciphertext],
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Ciphertext>> {
        list.iter().try_for_each(|ct| self.check(ct))?;
        let (plan, stages) = (self.plan(), self.plan().stages());
        let (each, count) = (stages.len(), stages.len() * list.len());
        let mut tell = |number: usize| {
            let (round, next) = (number / each, &stages[number % each]);
            let (stage, capacity) = match number == count {
                true => (String::new(), stages[each - 1].capacity.1),
                false => (next.name.to_string(), next.capacity.0),
            };
            observe(&Progress { stage, number, count, round, capacity })
        };
        let cancelled = || Error::Cancelled { operation: "refresh" };
        let mut done = Vec::with_capacity(list.len());
        if !list.is_empty() && tell(0).is_break() {
            return Err(cancelled());
        }
        for (at, ct) in list.iter().enumerate() {
            let mut last = ControlFlow::Continue(());
            done.push(self.refresh_with(ct, &mut |step| {
                last = tell(at * each + plan.place_of(step) + 1);
                last
            })?);
            // What is told after the last stage comes before the first of the next ciphertext.
            if last.is_break() && at + 1 < list.len() {
                return Err(cancelled());
            }
        }
        Ok(done)
    }
}

impl Refresh<Ciphertext> for Refresher {
    fn refresh(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        Refresher::refresh(self, ct)
    }

    fn refresh_all(&self, list: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        self.refresh_list(list, &mut unobserved)
    }

    fn headroom_bits(&self, ct: &Ciphertext) -> f64 {
        self.plan().headroom_bits(ct)
    }

    fn levels(&self) -> usize {
        self.plan().spec().input_levels()
    }

    fn accepts(&self, ct: &Ciphertext) -> bool {
        self.plan().accepts(ct)
    }
}
