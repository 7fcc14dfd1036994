//! Functions made of sums of slots: see [`crate::trace`] for the sums themselves.

use num_complex::Complex64;
use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::ckks::{Ciphertext, CkksContext, Engine};

use crate::linear::CostModel;
use crate::trace::{TraceChain, TracePlan};

/// What the slots of a CKKS context are summed by, and what that costs.
pub trait SlotSums {
    /// Total sums over `slots` slots: every slot becomes the sum of all.
    ///
    /// # Errors
    /// [`Error::SlotCount`].
    fn total_sums(&self, slots: usize) -> Result<TraceChain>;

    /// Predicted prices of operations at a level (brought into 1 to [`CkksContext::top_level`]), for
    /// [`crate::TraceSpec`] and [`crate::PlanSpec`].
    fn cost_model(&self, level: usize) -> CostModel;
}

impl SlotSums for CkksContext {
    fn total_sums(&self, slots: usize) -> Result<TraceChain> {
        self.check_slots(slots)?;
        TraceChain::window(2 * self.spec().n as u64, 1, slots as u64)
    }

    fn cost_model(&self, level: usize) -> CostModel {
        let level = level.clamp(1, self.top_level());
        CostModel::at_level(self.rlwe().params(), level)
    }
}

/// Functions of CKKS ciphertexts that are sums of all slots.
pub trait TotalSums {
    /// The value of one slot in all slots: a mask, then `total`, a plan of
    /// [`SlotSums::total_sums`] over the ciphertext's slots.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if there is no such slot; [`Error::ContextMismatch`] for a plan of
    /// another sum; those of products and plans.
    fn replicate(&self, total: &TracePlan, ciphertext: &Ciphertext, slot: usize) -> Result<Ciphertext>;

    /// `Σ_j a_j·b_j` in every slot: a product, rescaled, then `total` as for [`Self::replicate`].
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] for a plan of another sum; those of products and plans.
    fn inner_product(&self, total: &TracePlan, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext>;
}

impl TotalSums for Engine {
    fn replicate(&self, total: &TracePlan, ciphertext: &Ciphertext, slot: usize) -> Result<Ciphertext> {
        Limits::below(ciphertext.slots()).check("the slot", slot)?;
        check_total(self, total, ciphertext.slots())?;
        let mut mask = vec![Complex64::ZERO; ciphertext.slots()];
        mask[slot] = Complex64::new(1.0, 0.0);
        let bound = ciphertext.magnitude();
        let kept = self.rescale(&self.multiply_plain(ciphertext, &mask)?)?;
        Ok(total.apply(self, &kept)?.with_magnitude(bound))
    }

    fn inner_product(&self, total: &TracePlan, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        check_total(self, total, a.slots().max(b.slots()))?;
        total.apply(self, &self.rescale(&self.multiply(a, b)?)?)
    }
}

/// Refuses a plan of another sum than that of all these slots.
fn check_total(engine: &Engine, total: &TracePlan, slots: usize) -> Result<()> {
    if *total.chain() == engine.context().total_sums(slots)? {
        return Ok(());
    }
    Err(Error::ContextMismatch {
        operation: "sum of all slots",
        left: format!("{slots} slots"),
        right: "a plan of another sum than that of these slots".into(),
    })
}
