//! Operations that refresh by themselves.
//!
//! An engine that was given a refresher promises that what comes out of an operation can still be
//! refreshed. So it looks at the noise bound of the result. Where that leaves too little, it
//! refreshes the operands and works again: an operation that was done in vain costs a hundredth of
//! a bootstrapping. A refresh that fails takes nothing away: what came out before it
//! is the result, and its own error comes only where there was none.

use std::sync::Arc;

use super::{Ciphertext, Engine};
use crate::error::{Error, Result};
use crate::schemes::refresh::{Refresh, Refresher};

impl Engine {
    /// The same engine, which refreshes operands where the result of an operation would otherwise
    /// be left with too little capacity to be refreshed itself.
    pub fn refreshing_with(self, refresher: Arc<dyn Refresh<Ciphertext>>) -> Self {
        Self { refresher: Some(Refresher(refresher)), ..self }
    }

    /// The same engine without that.
    #[doc(hidden)]
    pub fn plain(&self) -> Self {
        Self { refresher: None, ..self.clone() }
    }

    /// One operation, and again with its poorest operand refreshed while its result has no room. An
    /// operand that cannot be refreshed, or gains nothing by it, stays as it is.
    pub(super) fn refreshing(
        &self,
        operands: &[&Ciphertext],
        operation: impl Fn(&[&Ciphertext]) -> Result<Ciphertext>,
    ) -> Result<Ciphertext> {
        let mut best = operation(operands);
        let mut refreshed: Vec<Option<Ciphertext>> = vec![None; operands.len()];
        let mut tried = vec![false; operands.len()];
        while let Some(refresher) = self.refresher_for(&best) {
            let Some(poorest) = self.poorest(operands, &tried) else { break };
            let new = match self.gain(refresher, operands[poorest]) {
                Ok(new) => new,
                Err(error) => return best.map_err(|_| error),
            };
            // A square has one operand twice.
            for (place, operand) in operands.iter().enumerate() {
                if std::ptr::eq(*operand, operands[poorest]) {
                    tried[place] = true;
                    refreshed[place].clone_from(&new);
                }
            }
            if new.is_none() {
                continue;
            }
            let now: Vec<&Ciphertext> =
                operands.iter().zip(&refreshed).map(|(old, new)| new.as_ref().unwrap_or(old)).collect();
            best = better(self, best, operation(&now));
        }
        best
    }

    /// A whole circuit: first as it is, then on a refreshed input, and only then refreshing at
    /// every operation inside, which is what circuits need that are deeper than a refresh reaches.
    pub(super) fn run_refreshing(
        &self,
        input: &Ciphertext,
        circuit: &dyn Fn(&Self, &Ciphertext) -> Result<Ciphertext>,
    ) -> Result<Ciphertext> {
        let plain = self.plain();
        let first = circuit(&plain, input);
        let Some(refresher) = self.refresher_for(&first) else { return first };
        let refreshed = match self.gain(refresher, input) {
            Ok(refreshed) => refreshed,
            Err(error) => return first.map_err(|_| error),
        };
        let mut best = first;
        if let Some(fresh) = &refreshed {
            match circuit(&plain, fresh) {
                Ok(second) if refresher.headroom_bits(&second) >= 0.0 => return Ok(second),
                second => best = better(self, best, second),
            }
        }
        better(self, best, circuit(self, refreshed.as_ref().unwrap_or(input)))
    }

    /// The refresher, if the result calls for it: it has no room, or there was none to make it.
    fn refresher_for(&self, result: &Result<Ciphertext>) -> Option<&dyn Refresh<Ciphertext>> {
        let refresher = &*self.refresher.as_ref()?.0;
        let short = match result {
            Ok(ct) => refresher.headroom_bits(ct) < 0.0,
            Err(Error::CapacityExhausted { .. }) => true,
            Err(_) => false,
        };
        short.then_some(refresher)
    }

    /// The place of the operand with the least capacity among those that were not tried yet.
    fn poorest(&self, operands: &[&Ciphertext], tried: &[bool]) -> Option<usize> {
        let open = (0..operands.len()).filter(|&place| !tried[place]);
        open.min_by(|&a, &b| self.capacity(operands[a]).total_cmp(&self.capacity(operands[b])))
    }

    /// The ciphertext refreshed, if it can be and gains capacity by it.
    fn gain(&self, refresher: &dyn Refresh<Ciphertext>, ct: &Ciphertext) -> Result<Option<Ciphertext>> {
        let headroom_bits = refresher.headroom_bits(ct);
        if headroom_bits < 0.0 || headroom_bits == f64::INFINITY {
            return Ok(None);
        }
        let new = refresher.refresh(ct)?;
        Ok((self.capacity(&new) > self.capacity(ct)).then_some(new))
    }
}

/// The result with more capacity; the first error where there are two.
fn better(engine: &Engine, first: Result<Ciphertext>, second: Result<Ciphertext>) -> Result<Ciphertext> {
    match (first, second) {
        (Ok(a), Ok(b)) => Ok(if engine.capacity(&b) > engine.capacity(&a) { b } else { a }),
        (Ok(a), Err(_)) => Ok(a),
        (Err(_), Ok(b)) => Ok(b),
        (Err(first), Err(_)) => Err(first),
    }
}
