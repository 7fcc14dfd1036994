//! The selection vector of a row whose number arrives encrypted bit by bit.

use std::sync::Arc;

use windlass_ring::slots::SlotRing;
use windlass_rlwe::Limits;
use windlass_schemes::{Error, Evaluator, Plaintext, Result};

use crate::polynomial::product_of_many;
use crate::trace::{TracePlan, replicate};

/// Computes the selection vector of a row from the K encrypted bits of its number: "other encrypted
/// information" from which a server computes it (Halevi–Shoup 2018, §1).
///
/// A slot that selects row r must hold `Π_k (b_k if bit k of r is 1, else 1 − b_k)`. This is 1 for
/// the row with those bits and 0 for all others. For all slots at once this is
///
/// ```text
/// v = s · Π_{k<K} (b_k − z_k),   z_k[slot] = 1 where bit k of r is 0,   s = (−1)^{bits of r that are 0}
/// ```
///
/// with b_k in every slot, and s = 0 in slots that select nothing. A number that no row has selects
/// nothing.
///
/// **Warning.** If an input is not a bit, the result is not a selection vector. No error is
/// returned.
///
/// Cost: K − 1 products of ciphertexts in depth ⌈log2 K⌉, and one product with a constant.
#[derive(Debug, Clone)]
pub struct IndexBits {
    rows: usize,
    /// z_k, lowest bit first.
    zeros: Vec<Plaintext>,
    /// s.
    signs: Plaintext,
}

impl IndexBits {
    /// For slots that select these rows, out of `rows` rows.
    pub(super) fn new(slots: &Arc<SlotRing>, rows: usize, selects: &[Option<usize>]) -> Result<Self> {
        let count = (usize::BITS - (rows - 1).leading_zeros()).max(1);
        let zero = |row: usize, bit: u32| row >> bit & 1 == 0;
        let zeros = |bit: u32| {
            let values: Vec<u64> = selects.iter().map(|row| row.map_or(0, |row| u64::from(zero(row, bit)))).collect();
            Plaintext::from_integers(slots, &values)
        };
        let sign = |row: usize| if (0..count).filter(|&bit| zero(row, bit)).count() % 2 == 0 { 1 } else { -1 };
        let signs: Vec<i64> = selects.iter().map(|row| row.map_or(0, sign)).collect();
        let zeros = (0..count).map(zeros).collect::<Result<_>>()?;
        Ok(Self { rows, zeros, signs: Plaintext::from_integers(slots, &signs)? })
    }

    /// K = ⌈log2 rows⌉, 1 for a single row.
    pub fn count(&self) -> usize {
        self.zeros.len()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The bits of a row, lowest first, each in every slot.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if there is no such row.
    pub fn of_row(&self, row: usize) -> Result<Vec<Plaintext>> {
        Limits::below(self.rows).check("row", row)?;
        let slots = self.signs.slot_ring();
        Ok((0..self.count()).map(|bit| Plaintext::scalar(slots, (row >> bit & 1) as i64)).collect())
    }

    /// Spreads the bits in the first K slots of one ciphertext, lowest first: each bit gets a
    /// ciphertext that holds it in every slot. `total` is a plan of
    /// [`crate::TraceChain::total`].
    ///
    /// Cost: K products with constants, and K sums of all slots.
    ///
    /// # Errors
    /// As [`replicate`]; [`Error::OutOfRange`] also if there are fewer than K slots.
    pub fn spread<E: Evaluator>(
        &self,
        evaluator: &E,
        total: &TracePlan,
        bits: &E::Ciphertext,
    ) -> Result<Vec<E::Ciphertext>> {
        (0..self.count()).map(|slot| replicate(evaluator, total, bits, slot)).collect()
    }

    /// The selection vector of the row with these bits, lowest first.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the number of bits differs; errors of the evaluator.
    pub fn select<E: Evaluator>(&self, evaluator: &E, bits: &[E::Ciphertext]) -> Result<E::Ciphertext> {
        let (expected, got) = (self.count(), bits.len());
        if got != expected {
            return Err(Error::ShapeMismatch { what: "bits of an index", expected, got });
        }
        let factor = |(bit, zeros)| evaluator.sub_plain(bit, zeros);
        let factors = bits.iter().zip(&self.zeros).map(factor).collect::<Result<Vec<_>>>()?;
        let product = product_of_many(evaluator, &factors)?;
        let signs = evaluator.prepare_at(&self.signs, evaluator.level_of(&product))?;
        evaluator.multiply_constant(&product, &signs)
    }
}
