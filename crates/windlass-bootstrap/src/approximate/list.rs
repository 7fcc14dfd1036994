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
        self.refresh_groups(list, 1, observe)
    }

    /// As [`Self::refresh_list`] for messages whose slots are real: two at a time, where a refresh takes
    /// pairs ([`Self::refresh_real_pair`]). A pair takes as long as one ciphertext.
    ///
    /// **Warning.** An imaginary part of a message is added to another message, or lost. No error is returned.
    ///
    /// # Errors
    /// As there; [`Error::OtherKeyPair`] if the keys of a pair differ.
    pub fn refresh_real_list(
        &self,
        list: &[Ciphertext],
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Ciphertext>> {
        let together = if self.plan().takes_real_pairs() { 2 } else { 1 };
        self.refresh_groups(list, together, observe)
    }

    /// Groups of one, or of two that are real; what is left is a group of one.
    fn refresh_groups(
        &self,
        list: &[Ciphertext],
        together: usize,
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Ciphertext>> {
        list.iter().try_for_each(|ct| self.check(ct))?;
        let groups: Vec<&[Ciphertext]> = list.chunks(together).collect();
        let (plan, stages) = (self.plan(), self.plan().stages());
        let (each, count) = (stages.len(), stages.len() * groups.len());
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
        for (at, group) in groups.iter().enumerate() {
            let mut last = ControlFlow::Continue(());
            let told = &mut |step| {
                last = tell(at * each + plan.place_of(step) + 1);
                last
            };
            match group {
                [x, y] => done.extend(self.refresh_real_pair([x, y], told)?),
                _ => done.push(self.refresh_with(&group[0], told)?),
            }
            // What is told after the last stage comes before the first of the next ciphertext.
            if last.is_break() && at + 1 < groups.len() {
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
