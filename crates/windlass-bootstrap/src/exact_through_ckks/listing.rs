//! What a plan says before anything runs.

use windlass_circuits::CostModel;
use windlass_schemes::file_sizes;

use super::plan::ExactRefreshPlan;
use crate::explain;

impl ExactRefreshPlan {
    /// The predicted time of a refresh with all passes, in transforms of one row: that of so many CKKS
    /// refreshes. The rest of a pass takes products with scalars and one modulus switch.
    pub fn price(&self) -> f64 {
        self.spec().passes as f64 * self.ckks().price()
    }

    /// Seconds that a refresh with all passes will take on one thread of this machine, roughly.
    ///
    /// Cost: some transforms.
    pub fn estimated_seconds(&self) -> f64 {
        self.price() * CostModel::transform_milliseconds(self.context().ring()) / 1000.0
    }

    /// The plan in words: passes, bounds, security, keys, and the stages of a pass.
    ///
    /// Cost: a few milliseconds.
    pub fn explain(&self) -> String {
        let (spec, params) = (self.spec(), self.context().params());
        let (p, r, n) = (spec.prime, spec.exponent, spec.refresh.n);
        let modulus = if r == 1 { p.to_string() } else { format!("{p}^{r}") };
        let gained: Vec<String> = self.gained_bits().iter().map(|bits| format!("{bits:.1}")).collect();
        let size = file_sizes::in_words(self.key_bytes().evaluation_memory);
        format!(
            "refresh modulo {modulus} through CKKS, n = {n}, log2 QP = {:.0}, λ = {}\n\
             ephemeral key of weight {}: λ = {}\n\
             {} passes, which gain {} bits; bounds fail with probability 2^−{:.0} at most\n\
             takes a ciphertext with {:.0} bits of capacity or more, gives one with {:.1}: {} products\n\
             {} Galois keys, {size} with the relinearisation key\n\
             each pass:\n{}",
            params.log2_qp(),
            params.security(),
            spec.refresh.ephemeral_weight,
            self.ckks().ephemeral_security(),
            spec.passes,
            gained.join(", "),
            self.failure_bits().floor(),
            self.least_input_bits().ceil(),
            explain::rounded_down(self.output_bits()),
            self.depth_between(),
            self.ckks().galois_levels().len(),
            explain::lines_of(&self.ckks().stages()),
        )
    }
}
