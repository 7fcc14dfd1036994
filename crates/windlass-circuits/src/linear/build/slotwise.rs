//! Maps that act inside the slots: Z_{p^r}-linear maps on E, through linearised polynomials
//! (Halevi–Shoup 2018, §2.4).

use std::sync::Arc;

use windlass_ring::slots::SlotRing;
use windlass_rlwe::Limits;
use windlass_schemes::error::Result;

use super::blocks::from_blocks;
use crate::linear::map::LinearMap;

impl LinearMap {
    /// A Z_{p^r}-linear map on every slot: `matrix(slot, out)` writes a `d × d` matrix, row-major,
    /// into a zeroed buffer; it takes the coefficients of an element of `E` to those of its image.
    ///
    /// At most d automorphisms, the powers of Frobenius. Cost: d² products in `E` for each slot.
    pub fn slotwise(slot_ring: &Arc<SlotRing>, matrix: impl Fn(usize, &mut [u64]) + Sync) -> Result<Self> {
        from_blocks(slot_ring, &[1], |row, column, out| {
            if row == column {
                matrix(row, out);
            }
        })
    }

    /// The coefficient of ζ^index of every slot, as an integer: the projection `E → Z_{p^r}` for
    /// index 0 (§8's π).
    ///
    /// # Errors
    /// [`windlass_schemes::Error::OutOfRange`] unless `index < d`.
    pub fn coefficient(slot_ring: &Arc<SlotRing>, index: usize) -> Result<Self> {
        Limits::below(slot_ring.degree()).check("the index of a coefficient", index)?;
        Self::slotwise(slot_ring, |_, out| out[index] = 1)
    }
}
