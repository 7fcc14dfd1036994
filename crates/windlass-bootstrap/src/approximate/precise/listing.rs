//! What a plan says before anything runs.

use windlass_circuits::CostModel;
use windlass_schemes::error::short;
use windlass_schemes::file_sizes;

use super::plan::PreciseRefreshPlan;
use crate::explain;

impl PreciseRefreshPlan {
    /// The predicted time of a refresh with all passes, in transforms of one row: that of so many CKKS
    /// refreshes. The rest of a pass takes some transforms at each level of the caller.
    pub fn price(&self) -> f64 {
        self.spec().passes as f64 * self.pass().price()
    }

    /// Seconds that a refresh with all passes will take on one thread of this machine, roughly.
    ///
    /// Cost: some transforms.
    pub fn estimated_seconds(&self) -> f64 {
        self.price() * CostModel::transform_milliseconds(self.context().rlwe().ring()) / 1000.0
    }

    /// Bits of the modulus that the products of a refreshed ciphertext may drop before it is refreshed again.
    pub fn output_bits(&self) -> f64 {
        let [top, base] = [self.context().top_level(), self.context().base_level()];
        self.context().rlwe().log2_modulus(top) - self.context().rlwe().log2_modulus(base)
    }

    /// The plan in words: precision by pass, levels, security, keys, and the stages of a pass.
    pub fn explain(&self) -> String {
        let (spec, params) = (self.spec(), self.context().rlwe().params());
        let bits: Vec<String> =
            self.bits().iter().map(|bits| format!("{:.1} (at worst {:.1})", bits.mean, bits.worst)).collect();
        let size = file_sizes::in_words(self.key_bytes().evaluation_memory);
        format!(
            "refresh of CKKS in {} passes, n = {}, {} slots, scale 2^{}, log2 QP = {:.0}, λ = {}\n\
             ephemeral key of weight {}: λ = {}\n\
             bits that are right after each pass, for numbers of absolute value 1: {}\n\
             numbers of absolute value at most {}\n\
             leaves {} products; {} Galois keys, {size} with the relinearisation key\n\
             each pass, at scale 2^{} and with a prime of {} bits for the next:\n{}",
            spec.passes,
            spec.refresh.n,
            spec.refresh.slots,
            spec.scale_bits,
            params.log2_qp(),
            params.security(),
            spec.refresh.ephemeral_weight,
            self.pass().ephemeral_security(),
            bits.join(", "),
            short(self.most()),
            spec.depth,
            self.pass().galois_levels().len(),
            spec.refresh.scale_bits,
            spec.pass_bits,
            explain::lines_of(&self.pass().stages()),
        )
    }
}
