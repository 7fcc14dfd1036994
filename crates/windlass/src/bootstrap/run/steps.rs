//! Telling an observer what comes next.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::Progress;
use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::plan::BootstrapPlan;
use crate::error::Result;
use crate::schemes::{Ciphertext, Engine};

/// What hears of a step; `Break` stops before it.
pub(super) type Observer<'a> = dyn FnMut(&Progress, &Ciphertext) -> ControlFlow<()> + 'a;

/// Counts the steps of one refresh.
pub(super) struct Steps<'a> {
    engine: &'a Engine,
    observe: &'a mut Observer<'a>,
    rounds: BTreeMap<String, usize>,
    number: usize,
    count: usize,
}

impl<'a> Steps<'a> {
    pub fn new(plan: &BootstrapPlan, engine: &'a Engine, observe: &'a mut Observer<'a>) -> Self {
        let count = plan.stages().iter().map(|stage| stage.times).sum();
        Self { engine, observe, rounds: BTreeMap::new(), number: 0, count }
    }

    /// Comes before each stage.
    ///
    /// # Errors
    /// [`BootstrapError::Cancelled`] where the observer says so.
    pub fn next(&mut self, stage: &str, ct: &Ciphertext) -> Result<()> {
        let rounds = self.rounds.entry(stage.into()).or_default();
        let (round, capacity) = (*rounds, self.engine.capacity(ct));
        *rounds += 1;
        let progress = Progress { stage: stage.into(), number: self.number, count: self.count, round, capacity };
        self.number += 1;
        match (self.observe)(&progress, ct) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(BootstrapError::Cancelled { stage: stage.into() }.into()),
        }
    }

    /// The last report.
    pub fn end(self, ct: &Ciphertext) {
        let capacity = self.engine.capacity(ct);
        let end = Progress { stage: String::new(), number: self.number, count: self.count, round: 0, capacity };
        let _ = (self.observe)(&end, ct);
    }
}
