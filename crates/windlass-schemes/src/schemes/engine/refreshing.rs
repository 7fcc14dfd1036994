//! Operations that refresh by themselves.
//!
//! An engine with a refresher promises that the result of an operation can still be refreshed. So it
//! looks at the noise bound of the result. If too little capacity is left, it refreshes the operands
//! and repeats the operation: an operation that was done in vain costs a hundredth of a
//! bootstrapping. If a refresh fails, the result before it is returned; the error of the refresh is
//! returned only if there was no result.
//!
//! A single operation goes through [`Engine::refreshing`], a whole circuit through
//! [`Arithmetic::with_refreshes`](crate::switching::Arithmetic::with_refreshes).

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
            let new = match self.refreshed_if_better(refresher, operands[poorest]) {
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

    /// The refresher, if the result calls for it: the result has no room to be refreshed, or there was
    /// no room to compute it.
    pub(super) fn refresher_for(&self, result: &Result<Ciphertext>) -> Option<&dyn Refresh<Ciphertext>> {
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
    pub(super) fn refreshed_if_better(
        &self,
        refresher: &dyn Refresh<Ciphertext>,
        ct: &Ciphertext,
    ) -> Result<Option<Ciphertext>> {
        let headroom_bits = refresher.headroom_bits(ct);
        if headroom_bits < 0.0 || headroom_bits == f64::INFINITY {
            return Ok(None);
        }
        let new = refresher.refresh(ct)?;
        Ok((self.capacity(&new) > self.capacity(ct)).then_some(new))
    }
}

/// The result with more capacity; the first error if both failed.
pub(super) fn better(engine: &Engine, first: Result<Ciphertext>, second: Result<Ciphertext>) -> Result<Ciphertext> {
    match (first, second) {
        (Ok(a), Ok(b)) => Ok(if engine.capacity(&b) > engine.capacity(&a) { b } else { a }),
        (Ok(a), Err(_)) => Ok(a),
        (Err(_), Ok(b)) => Ok(b),
        (Err(first), Err(_)) => Err(first),
    }
}
