//! Reports to an observer what comes next.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use windlass_schemes::error::{BootstrapError, Result};
use windlass_schemes::schemes::Ciphertext;

use super::stage::StageName;

/// What a refresh reports to the observer of its options ([`super::RefreshOptions::observed_by`])
/// before each stage, and once after the last.
///
/// Where several ciphertexts go through a stage together their reports come together, before the
/// first of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The stage that comes next; empty at the end.
    pub stage: String,
    /// The number of this report, from 0.
    pub number: usize,
    /// How many reports there are before the end: for one ciphertext the sum of
    /// [`super::Stage::times`].
    pub count: usize,
    /// How often the stage has come before.
    pub round: usize,
    /// Bits of capacity of the ciphertext that enters it; in CKKS [`super::Stage::capacity`].
    pub capacity: f64,
}

/// What is called before each stage; `Break` stops before it.
pub(super) type Observer<'a> = dyn FnMut(&Progress, &Ciphertext) -> ControlFlow<()> + 'a;

/// Counts the reports of one refresh.
pub(super) struct Reports<'a> {
    observe: Option<Box<Observer<'a>>>,
    rounds: BTreeMap<StageName, usize>,
    number: usize,
    count: usize,
}

impl<'a> Reports<'a> {
    pub fn new(count: usize, observe: Option<Box<Observer<'a>>>) -> Self {
        Self { observe, rounds: BTreeMap::new(), number: 0, count }
    }

    /// Comes before each stage.
    ///
    /// # Errors
    /// [`BootstrapError::Cancelled`] if the observer breaks.
    pub fn next(&mut self, stage: StageName, ct: &Ciphertext, capacity: f64) -> Result<()> {
        let Some(observe) = &mut self.observe else { return Ok(()) };
        let rounds = self.rounds.entry(stage).or_default();
        let (stage, round) = (stage.to_string(), *rounds);
        *rounds += 1;
        let progress = Progress { stage, number: self.number, count: self.count, round, capacity };
        self.number += 1;
        match observe(&progress, ct) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(BootstrapError::Cancelled { stage: progress.stage }.into()),
        }
    }

    /// The last report.
    pub fn end(self, ct: &Ciphertext, capacity: f64) {
        let end = Progress { stage: String::new(), number: self.number, count: self.count, round: 0, capacity };
        if let Some(mut observe) = self.observe {
            let _ = observe(&end, ct);
        }
    }
}
