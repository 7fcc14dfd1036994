//! Refreshes of lists, with reports as the exact schemes make them.

use std::ops::ControlFlow;

use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::Refresh;
use windlass_schemes::schemes::ckks::Ciphertext;

use super::plan::RefreshPlan;
use super::refresher::Refresher;
use super::step::RefreshStep;
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
        let rounds = Rounds { plan: self.plan(), passes: 1 };
        let mut tell = |progress: &Progress, _: &&[Ciphertext]| observe(progress);
        rounds.run(&groups, &mut tell, |group, told| {
            let told = &mut |step| told(1, step);
            match group {
                [x, y] => Ok(self.refresh_real_pair([x, y], told)?.into()),
                _ => Ok(vec![self.refresh_with(&group[0], told)?]),
            }
        })
    }
}

/// Called after each step of a refresh with the number of its pass; says whether to continue.
type Told<'a> = dyn FnMut(usize, RefreshStep) -> ControlFlow<()> + 'a;

/// Refreshes one after the other, each in some passes of one plan.
pub(crate) struct Rounds<'a> {
    pub plan: &'a RefreshPlan,
    pub passes: usize,
}

impl Rounds<'_> {
    /// Refreshes each input by `refresh`. `observe` is called before each stage, with the input that goes through
    /// it, and once after the last. `Break` stops before the stage.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the observer breaks; those of `refresh`.
    pub fn run<I, O>(
        &self,
        inputs: &[I],
        observe: &mut dyn FnMut(&Progress, &I) -> ControlFlow<()>,
        mut refresh: impl FnMut(&I, &mut Told<'_>) -> Result<Vec<O>>,
    ) -> Result<Vec<O>> {
        let stages = self.plan.stages();
        let (of_a_pass, of_an_input) = (stages.len(), stages.len() * self.passes);
        let count = of_an_input * inputs.len();
        let mut tell = |number: usize| {
            let next = &stages[number % of_a_pass];
            let (stage, capacity) = match number == count {
                true => (String::new(), stages[of_a_pass - 1].capacity.1),
                false => (next.name.to_string(), next.capacity.0),
            };
            let progress = Progress { stage, number, count, round: number / of_a_pass, capacity };
            observe(&progress, &inputs[(number / of_an_input).min(inputs.len() - 1)])
        };
        let cancelled = || Error::Cancelled { operation: "refresh" };
        let mut done = Vec::with_capacity(inputs.len());
        if !inputs.is_empty() && tell(0).is_break() {
            return Err(cancelled());
        }
        for (at, input) in inputs.iter().enumerate() {
            let mut last = ControlFlow::Continue(());
            let told = &mut |pass: usize, step| {
                last = tell(at * of_an_input + (pass - 1) * of_a_pass + self.plan.place_of(step) + 1);
                last
            };
            done.extend(refresh(input, told)?);
            // What is told after the last stage comes before the first of the next input.
            if last.is_break() && at + 1 < inputs.len() {
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
