//! What a plan says of itself.

use std::fmt::Write as _;

use windlass_rlwe::SecurityEstimate;

use super::bootstrap_plan::BootstrapPlan;
use super::safety;
use super::spec::DecryptionFormula;
use crate::file_sizes;

impl BootstrapPlan {
    /// λ of the ephemeral key's switching key, with its source: the table of sparse secrets, or an
    /// indication where that does not reach.
    pub fn ephemeral_security(&self) -> SecurityEstimate {
        safety::ephemeral_security(self.params(), self.input(), self.spec())
    }

    /// The bits of [`Self::ephemeral_security`].
    pub fn ephemeral_security_bits(&self) -> f64 {
        self.ephemeral_security().bits
    }

    /// The pipeline in words.
    pub fn explain(&self) -> String {
        let DecryptionFormula { prime, message_exponent, exponent, removed, bound, .. } = *self.formula();
        let mut text = format!(
            "bootstrapping, m = {}, n = {}, {} slots, plaintext modulus {prime}^{message_exponent}\n\
             digits modulo {prime}^{exponent}, {removed} removed, removed part at most {bound} but for 2^-{}\n\
             λ = {}\n\
             ephemeral key of weight {}, log2 QP = {:.0}: λ = {}\n\
             {}, front end {}; {}\n",
            self.params().m(),
            self.params().n(),
            self.message_ring().slots(),
            self.spec().failure_bits,
            self.params().security(),
            self.spec().ephemeral_weight,
            self.input().log2_modulus(self.params()),
            self.ephemeral_security(),
            self.spec().mode,
            self.spec().front_end,
            self.choices(),
        );
        let keys = self.required_keys().len();
        let size = file_sizes::in_words(self.key_bytes().evaluation_memory);
        let write = |text: &mut String| -> std::fmt::Result {
            for stage in self.stages() {
                let (before, after) = stage.capacity;
                let (name, level, keys) = (&stage.name, stage.level, stage.keys.len());
                let times = if stage.times > 1 { format!(", {} times", stage.times) } else { String::new() };
                writeln!(text, "{name}: level {level}, {before:.0} to {after:.0} bits, {keys} keys{times}")?;
                writeln!(text, "    {}", stage.work.replace('\n', "\n    "))?;
            }
            write!(
                text,
                "needs {:.0} bits, leaves {:.0}; {keys} Galois keys, {size} with the relinearisation key",
                self.least_input_bits(),
                self.output_bits()
            )
        };
        write(&mut text).expect("writing to a string cannot fail");
        text
    }
}
