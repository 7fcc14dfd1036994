//! Operations that refresh by themselves, on every engine.
//!
//! An engine with a refresher promises that the result of an operation can still be refreshed. So it
//! looks at what is left of the result: of the noise bound in BGV and BFV, of the levels in CKKS. If
//! that is too little, it refreshes the operands and repeats the operation: an operation that was done
//! in vain costs a hundredth of a refresh. If a refresh fails, the result before it is returned; the
//! error of the refresh is returned only if there was no result.
//!
//! A single operation goes through [`AutoRefresh::refreshing`], a whole circuit through
//! [`Arithmetic::with_refreshes`].

use crate::error::{Error, Result};
use crate::schemes::refresh::Refresh;
use crate::switching::Arithmetic;

/// A circuit with one input, on an engine.
type Circuit<'a, E> = &'a dyn Fn(&E, &<E as Arithmetic>::Ciphertext) -> Result<<E as Arithmetic>::Ciphertext>;

/// An engine that may have a refresher.
pub(crate) trait AutoRefresh: Arithmetic + Sized {
    /// What it refreshes with, if it does.
    fn refresher(&self) -> Option<&dyn Refresh<Self::Ciphertext>>;

    /// The same engine without that.
    fn without_refreshes(&self) -> Self;

    /// Bits of a ciphertext that operations may still spend.
    fn bits_left(&self, ct: &Self::Ciphertext) -> f64;

    /// Whether an operation failed since too little was left of its operands.
    fn is_shortage(&self, error: &Error) -> bool;

    /// One operation, and again with its poorest operand refreshed while its result has no room. An
    /// operand that cannot be refreshed, or gains nothing by it, stays as it is.
    fn refreshing(
        &self,
        operands: &[&Self::Ciphertext],
        operation: impl Fn(&[&Self::Ciphertext]) -> Result<Self::Ciphertext>,
    ) -> Result<Self::Ciphertext> {
        let mut best = operation(operands);
        let mut refreshed: Vec<Option<Self::Ciphertext>> = vec![None; operands.len()];
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
            let now: Vec<&Self::Ciphertext> =
                operands.iter().zip(&refreshed).map(|(old, new)| new.as_ref().unwrap_or(old)).collect();
            best = self.better(best, operation(&now));
        }
        best
    }

    /// A circuit as it is, then on a refreshed input. Only then it is refreshed at every operation
    /// inside, which circuits need that are deeper than a refresh reaches.
    fn circuit_with_refreshes(&self, input: &Self::Ciphertext, circuit: Circuit<'_, Self>) -> Result<Self::Ciphertext> {
        let plain = self.without_refreshes();
        let first = circuit(&plain, input);
        let Some(refresher) = self.refresher_for(&first) else { return first };
        let refreshed = match self.refreshed_if_better(refresher, input) {
            Ok(refreshed) => refreshed,
            Err(error) => return first.map_err(|_| error),
        };
        let mut best = first;
        if let Some(fresh) = &refreshed {
            match circuit(&plain, fresh) {
                Ok(second) if refresher.headroom_bits(&second) >= 0.0 => return Ok(second),
                second => best = self.better(best, second),
            }
        }
        self.better(best, circuit(self, refreshed.as_ref().unwrap_or(input)))
    }

    /// The refresher, if the result calls for it: the result has no room to be refreshed, or there was
    /// no room to compute it.
    fn refresher_for(&self, result: &Result<Self::Ciphertext>) -> Option<&dyn Refresh<Self::Ciphertext>> {
        let refresher = self.refresher()?;
        let short = match result {
            Ok(ct) => refresher.headroom_bits(ct) < 0.0,
            Err(error) => self.is_shortage(error),
        };
        short.then_some(refresher)
    }

    /// The place of the operand with the least left among those that were not tried yet.
    fn poorest(&self, operands: &[&Self::Ciphertext], tried: &[bool]) -> Option<usize> {
        let open = (0..operands.len()).filter(|&place| !tried[place]);
        open.min_by(|&a, &b| self.bits_left(operands[a]).total_cmp(&self.bits_left(operands[b])))
    }

    /// The ciphertext refreshed, if it can be and gains by it.
    fn refreshed_if_better(
        &self,
        refresher: &dyn Refresh<Self::Ciphertext>,
        ct: &Self::Ciphertext,
    ) -> Result<Option<Self::Ciphertext>> {
        let headroom_bits = refresher.headroom_bits(ct);
        if headroom_bits < 0.0 || headroom_bits == f64::INFINITY {
            return Ok(None);
        }
        let new = refresher.refresh(ct)?;
        Ok((self.bits_left(&new) > self.bits_left(ct)).then_some(new))
    }

    /// The result of which more is left; the first error if both failed.
    fn better(&self, first: Result<Self::Ciphertext>, second: Result<Self::Ciphertext>) -> Result<Self::Ciphertext> {
        match (first, second) {
            (Ok(a), Ok(b)) => Ok(if self.bits_left(&b) > self.bits_left(&a) { b } else { a }),
            (Ok(a), Err(_)) => Ok(a),
            (Err(_), Ok(b)) => Ok(b),
            (Err(first), Err(_)) => Err(first),
        }
    }
}
