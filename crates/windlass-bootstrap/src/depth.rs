//! Forecasts how many multiplications a refreshed ciphertext allows.

use windlass_rlwe::{Bound, NoiseModel};
use windlass_schemes::schemes::products_left;

use super::bootstrap_plan::BootstrapPlan;

impl BootstrapPlan {
    /// Multiplications in sequence after a refresh that leave the result decryptable: by the noise
    /// bounds that the engine keeps, each of two factors with the same noise.
    pub fn depth_after(&self) -> u32 {
        self.depth_down_to(0.0)
    }

    /// Multiplications in sequence after a refresh whose result can still be refreshed: so many
    /// fit between two refreshes. With 0 the refresh is of no use for products.
    pub fn depth_between(&self) -> u32 {
        self.depth_down_to(self.least_input_bits())
    }

    fn depth_down_to(&self, least_bits: f64) -> u32 {
        let (params, formula) = (self.params(), self.formula());
        let noise = NoiseModel::new(params, formula.prime.pow(formula.message_exponent));
        let level = self.highest_output_level();
        // capacity = log2 Q − 1 − log2(C_m·ε), solved for ε.
        let refreshed = noise.capacity(params.log2_q(level), Bound::ONE) - self.output_bits();
        products_left(params, &noise, (level, Bound::from_bits(refreshed)), least_bits)
    }
}
