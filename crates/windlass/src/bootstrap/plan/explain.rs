//! What a plan says of itself.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use windlass_ring::slots::SlotRing;
use windlass_rlwe::security::EstimateSource;
use windlass_rlwe::{Assurance, RlweParams, SecretDistribution, SecurityEstimate, security};

use super::{BootstrapPlan, Stage};
use crate::bootstrap::encapsulation::InputModulus;
use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::spec::{BootstrapSpec, Numbers};
use crate::circuits::DigitRemoval;
use crate::error::Result;

fn ephemeral_security(params: &RlweParams, input: &InputModulus, spec: &BootstrapSpec) -> SecurityEstimate {
    let secret = SecretDistribution::Sparse { weight: spec.ephemeral_weight };
    security::indicative_security_bits(params.n(), input.log2_modulus(params), secret)
}

/// What is refused for the main secret of secure parameters is refused for the ephemeral one: fewer than 128 bits, or none by the tables.
pub(in crate::bootstrap) fn check_ephemeral_key(
    params: &RlweParams,
    input: &InputModulus,
    spec: &BootstrapSpec,
) -> Result<()> {
    let security = ephemeral_security(params, input, spec);
    let enough = security.bits >= 128.0 && security.source != EstimateSource::Indication;
    if enough || *params.assurance() != Assurance::Secure {
        return Ok(());
    }
    let (weight, log2_qp) = (spec.ephemeral_weight, input.log2_modulus(params));
    Err(BootstrapError::EphemeralKeyTooWeak { weight, log2_qp, security }.into())
}

impl BootstrapPlan {
    /// What was asked for.
    pub fn spec(&self) -> &BootstrapSpec {
        &self.spec
    }

    /// The parameters.
    pub fn params(&self) -> &RlweParams {
        &self.params
    }

    /// e, v and the bound on the removed part.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// R/(p^r), over the hypercube of the evaluation maps.
    pub fn message_ring(&self) -> &Arc<SlotRing> {
        &self.message
    }

    /// R/(p^e), over the same hypercube.
    pub fn working_ring(&self) -> &Arc<SlotRing> {
        &self.working
    }

    /// The stages in order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The digit removal.
    pub fn digits(&self) -> &DigitRemoval {
        &self.digits
    }

    /// The automorphisms that need keys.
    pub fn required_keys(&self) -> BTreeSet<u64> {
        self.stages.iter().flat_map(|stage| stage.keys.iter().copied()).collect()
    }

    /// The same with the highest level that each is used at: a key for that level is enough.
    pub fn required_key_levels(&self) -> Vec<(u64, usize)> {
        let level = |t: &u64| self.stages.iter().filter(|s| s.keys.contains(t)).map(|s| s.level).max().unwrap_or(1);
        self.required_keys().into_iter().map(|t| (t, level(&t))).collect()
    }

    /// Bits of capacity that a ciphertext needs to be refreshed, as forecast.
    pub fn least_input_bits(&self) -> f64 {
        self.least_input_bits
    }

    /// Bits of capacity after bootstrapping, as forecast.
    pub fn output_bits(&self) -> f64 {
        self.params.log2_q(self.output.level)
            - 1.0
            - self.output.noise.bits()
            - windlass_rlwe::noise::coefficient_factor(self.params.shape()).log2()
    }

    /// λ of the ephemeral key's switching key, with its source: the table of sparse secrets, or an indication where that does not reach.
    pub fn ephemeral_security(&self) -> SecurityEstimate {
        ephemeral_security(&self.params, &self.input, &self.spec)
    }

    /// The bits of [`Self::ephemeral_security`].
    pub fn ephemeral_security_bits(&self) -> f64 {
        self.ephemeral_security().bits
    }

    /// The pipeline in words.
    pub fn explain(&self) -> String {
        let Numbers { prime, message_exponent, exponent, removed, bound, .. } = self.numbers;
        let mut text = format!(
            "bootstrapping, m = {}, n = {}, {} slots, plaintext modulus {prime}^{message_exponent}\n\
             digits modulo {prime}^{exponent}, {removed} removed, removed part at most {bound} but for 2^-{}\n\
             λ = {}\n\
             ephemeral key of weight {}, log2 QP = {:.0}: λ = {}\n",
            self.params.m(),
            self.params.n(),
            self.message.slots(),
            self.spec.failure_bits,
            self.params.security(),
            self.spec.ephemeral_weight,
            self.input.log2_modulus(&self.params),
            self.ephemeral_security(),
        );
        let keys = self.required_keys().len();
        let write = |text: &mut String| -> std::fmt::Result {
            for stage in &self.stages {
                let (before, after) = stage.capacity;
                let (name, level, keys) = (&stage.name, stage.level, stage.keys.len());
                let times = if stage.times > 1 { format!(", {} times", stage.times) } else { String::new() };
                writeln!(text, "{name}: level {level}, {before:.0} to {after:.0} bits, {keys} keys{times}")?;
                writeln!(text, "    {}", stage.work.replace('\n', "\n    "))?;
            }
            write!(
                text,
                "needs {:.0} bits, leaves {:.0}; {keys} Galois keys",
                self.least_input_bits,
                self.output_bits()
            )
        };
        write(&mut text).expect("writing to a string cannot fail");
        text
    }
}
