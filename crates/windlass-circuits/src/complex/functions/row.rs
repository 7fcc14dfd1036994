//! A vector as a row of entries in the slots of a ciphertext.

use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::ckks::{Ciphertext, CkksContext};

use crate::trace::{PowerSum, TraceChain};

/// A vector of some entries, in ciphertexts of some number of slots.
///
/// Made from a number of entries, it is the vector that a client encrypts: the slots are the next power
/// of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Row {
    /// The number of entries.
    pub entries: usize,
    /// The number of slots of a ciphertext, which divides n/2.
    pub slots: usize,
}

impl From<usize> for Row {
    fn from(entries: usize) -> Self {
        Self { entries, slots: entries.checked_next_power_of_two().unwrap_or(usize::MAX) }
    }
}

impl Row {
    /// # Errors
    /// [`Error::OutOfRange`] for fewer than 2 entries or more than a number; [`Error::SlotCount`].
    pub(super) fn check(self, context: &CkksContext, most: usize) -> Result<()> {
        let most = most.min(context.most_slots()).min(self.slots);
        Limits::between(2, most).check("the number of entries", self.entries)?;
        context.check_slots(self.slots)
    }

    /// Refuses a ciphertext of another shape.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`].
    pub(super) fn check_ciphertext(self, x: &Ciphertext) -> Result<()> {
        for (what, expected, got) in
            [("entries of the vector", self.entries, x.entries()), ("slots of the vector", self.slots, x.slots())]
        {
            if expected != got {
                return Err(Error::ShapeMismatch { what, expected, got });
            }
        }
        Ok(())
    }

    /// The sum of the entries in the slot of every entry, if the other slots hold zeros: those of the
    /// next power of two c, if these are all; and otherwise of the c slots from each one on and of the c
    /// before it.
    pub(super) fn total(self, context: &CkksContext) -> Result<TraceChain> {
        let (m, count) = (2 * context.spec().n as u64, self.entries.next_power_of_two());
        let after = TraceChain::window(m, 1, count as u64)?;
        if count == self.slots {
            return Ok(after);
        }
        let element = context.rotation_element((self.slots - count) as i64);
        after.then(&TraceChain::new(m, [PowerSum { element, count: 2 }])?)
    }
}
