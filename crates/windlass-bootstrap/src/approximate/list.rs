//! Refreshes of lists, with reports as the exact schemes make them.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::Refresh;
use windlass_schemes::schemes::ckks::{Ciphertext, RefreshTerms};

use super::plan::RefreshPlan;
use super::refresher::Refresher;
use super::step::RefreshStep;
use crate::progress::Progress;

/// What no observer does.
pub(super) fn unobserved(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

impl Refresher {
    /// Each message of a list with new levels, in the order of the list: as many at a time as there are threads, and
    /// one after the other on one thread. `observe` is called before each stage, and once after the last
    /// ([`Progress`]). `Break` stops before the stage. A stage of several messages at a time is reported once, when
    /// all of them have come to it.
    ///
    /// # Errors
    /// Those of [`Self::check`], before any work, if it is true of any ciphertext of the list;
    /// [`Error::Cancelled`] if the observer breaks; those of [`Self::refresh`].
    pub fn refresh_list(
        &self,
        list: &[Ciphertext],
        observe: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<Vec<Ciphertext>> {
        self.refresh_groups(list, 1, observe)
    }

    /// As [`Self::refresh_list`] for messages whose slots are real: two of them in one refresh, where the parameters
    /// allow it ([`Self::refresh_real_pair`]). A pair takes as long as one ciphertext. What is left of an odd number
    /// takes one sine ([`Self::refresh_real`]).
    ///
    /// **Warning.** An imaginary part of a message is added to another message, or lost. No error is returned.
    ///
    /// # Errors
    /// As there; [`Error::OtherKeyPair`] if the keys of a pair differ.
    pub fn refresh_real_list(
        &self,
        list: &[Ciphertext],
        observe: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<Vec<Ciphertext>> {
        let together = if self.plan().takes_real_pairs() { 2 } else { 1 };
        self.refresh_groups(list, together, observe)
    }

    /// Groups of one, or of up to two that are real.
    fn refresh_groups(
        &self,
        list: &[Ciphertext],
        together: usize,
        observe: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<Vec<Ciphertext>> {
        list.iter().try_for_each(|ct| self.check(ct))?;
        let groups: Vec<&[Ciphertext]> = list.chunks(together).collect();
        let threads = rayon::current_num_threads();
        if threads > 1 && groups.len() > 1 {
            return self.side_by_side(&groups, (threads, together == 2), observe);
        }
        let rounds = Rounds { plan: self.plan(), passes: 1 };
        let mut tell = |progress: &Progress, _: &&[Ciphertext]| observe(progress);
        rounds
            .run(&groups, &mut tell, |group, told| self.refresh_group(group, together == 2, &mut |step| told(1, step)))
    }

    fn refresh_group(
        &self,
        group: &[Ciphertext],
        is_real: bool,
        observe: &mut dyn FnMut(RefreshStep) -> ControlFlow<()>,
    ) -> Result<Vec<Ciphertext>> {
        match group {
            [x, y] => Ok(self.refresh_real_pair([x, y], observe)?.into()),
            [x] if is_real => Ok(vec![self.refresh_real(x, observe)?]),
            _ => Ok(vec![self.refresh_with(&group[0], observe)?]),
        }
    }

    /// Rounds of as many groups as there are threads, a group on each.
    fn side_by_side(
        &self,
        groups: &[&[Ciphertext]],
        (threads, is_real): (usize, bool),
        observe: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<Vec<Ciphertext>> {
        let rounds = Rounds { plan: self.plan(), passes: 1 };
        let batches: Vec<&[&[Ciphertext]]> = groups.chunks(threads).collect();
        let of_a_round = self.plan().stages().len();
        let count = of_a_round * batches.len();
        let cancelled = || Error::Cancelled { operation: "refresh" };
        if observe(&rounds.progress(0, count)).is_break() {
            return Err(cancelled());
        }
        let mut done = Vec::with_capacity(groups.len());
        for (round, batch) in batches.iter().enumerate() {
            // The stages that each group has done, and what the observer said last.
            let state = Mutex::new((vec![0; batch.len()], ControlFlow::Continue(()), &mut *observe));
            let refreshed = batch.par_iter().with_max_len(1).enumerate().map(|(own, group)| {
                let told = &mut |step| {
                    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                    let (places, flow, observe) = &mut *state;
                    let before = places.iter().copied().min().unwrap_or(0);
                    places[own] = self.plan().place_of(step) + 1;
                    let least = places.iter().copied().min().unwrap_or(0);
                    for place in before + 1..=least {
                        if flow.is_continue() {
                            *flow = observe(&rounds.progress(round * of_a_round + place, count));
                        }
                    }
                    *flow
                };
                self.refresh_group(group, is_real, told)
            });
            let refreshed: Vec<Vec<Ciphertext>> = refreshed.collect::<Result<_>>()?;
            done.extend(refreshed.into_iter().flatten());
            let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
            // What is given after the last stage comes before the first of the next round.
            if state.1.is_break() && round + 1 < batches.len() {
                return Err(cancelled());
            }
        }
        Ok(done)
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
    /// The report after so many stages of all.
    fn progress(&self, number: usize, count: usize) -> Progress {
        let stages = self.plan.stages();
        let next = &stages[number % stages.len()];
        let (stage, capacity) = match number == count {
            true => (String::new(), stages[stages.len() - 1].capacity.1),
            false => (next.name.to_string(), next.capacity.0),
        };
        Progress { stage, number, count, round: number / stages.len(), capacity }
    }

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
        let of_a_pass = self.plan.stages().len();
        let of_an_input = of_a_pass * self.passes;
        let count = of_an_input * inputs.len();
        let mut tell = |number: usize| {
            observe(&self.progress(number, count), &inputs[(number / of_an_input).min(inputs.len() - 1)])
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

    fn refresh_real_all(&self, list: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        self.refresh_real_list(list, &mut unobserved)
    }

    fn terms(&self, slots: usize) -> Option<RefreshTerms> {
        (slots <= self.plan().spec().slots).then(|| self.plan().terms().ok()).flatten()
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
