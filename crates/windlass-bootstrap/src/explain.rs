//! The description of a plan in words.

use std::fmt::Write as _;

use windlass_rlwe::{Bound, FailureProbability, RandomEvents, SecurityEstimate};
use windlass_schemes::file_sizes;

use super::bootstrap_plan::BootstrapPlan;
use super::formula::DecryptionFormula;
use super::map_choice::MapChoice;
use super::maps::FactorOrder;
use super::safety;
use super::stage::Stage;

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

    /// The random events on which the noise bounds of one refresh depend. They are counted by
    /// running the pipeline on noise bounds. The result is an upper bound for every ciphertext, for
    /// all levels that its noise leads to.
    pub fn random_events(&self) -> RandomEvents {
        self.schedule.events
    }

    /// x of the probability 2^−x that a refresh fails at most with, given a ciphertext whose own
    /// bound holds: `−log2(N·2^−128 + F)`, N the number of [`Self::random_events`] and F the front
    /// end's share, `2^−f + 2^−g·3·2^−8` for f = [`super::DecryptionFormula::failure_bits`] and g =
    /// [`super::BootstrapSpec::failure_bits`]. They are the same for [`super::FrontEnd::PrimePower`];
    /// other methods may promise less, or nothing (0). Source: the union bound, docs/math/noise.md.
    pub fn failure_bits(&self) -> f64 {
        self.failure_bits_with(self.random_events())
    }

    /// The same for one front end and these events.
    pub(super) fn failure_bits_with(&self, events: RandomEvents) -> f64 {
        let noise = events.union_bound(FailureProbability::default());
        (-(noise + self.front_end_failure()).bits()).max(0.0)
    }

    /// The bound on I fails with 2^−f; each of the roundings to Q_in and by P_in, and the product
    /// with the switching key, with 2^−(g+8).
    fn front_end_failure(&self) -> Bound {
        let [of_bound, others] = [self.formula().failure_bits, self.spec().failure_bits].map(|f| Bound::from_bits(-f));
        if of_bound == others {
            return others * Bound::of(1.0 + 3.0 / 256.0);
        }
        of_bound + others * Bound::of(3.0 / 256.0)
    }

    /// What was asked for of maps and keys, in words; nothing where that is the planner's.
    fn restrictions(&self) -> String {
        let spec = self.spec();
        let mut text = String::new();
        if spec.maps != MapChoice::AUTOMATIC {
            let _ = write!(text, "; maps {}", spec.maps);
        }
        if let Some(keys) = spec.keys {
            let _ = write!(text, "; {keys} keys");
        }
        if let Some(most) = spec.max_keys {
            let _ = write!(text, "; at most {most} keys");
        }
        if let FactorOrder::Given(_) = spec.factors {
            let _ = write!(text, "; factors {}", spec.factors);
        }
        text
    }

    /// The pipeline in words.
    pub fn explain(&self) -> String {
        let DecryptionFormula { prime, message_exponent, exponent, removed, bound, .. } = *self.formula();
        let mut text = format!(
            "bootstrapping, m = {}, n = {}, {} slots, plaintext modulus {prime}^{message_exponent}\n\
             digits modulo {prime}^{exponent}, {removed} removed, removed part at most {bound} but for 2^-{}\n\
             fails with probability at most 2^-{:.1} ({} events of 2^-{} each, the front end 2^-{:.1})\n\
             λ = {}\n\
             ephemeral key of weight {}, log2 QP = {:.0}: λ = {}\n\
             {}, front end {}; {}{}\n",
            self.params().m(),
            self.params().n(),
            self.message_ring().slots(),
            rounded_down(self.formula().failure_bits),
            rounded_down(self.failure_bits()),
            self.random_events().total(),
            FailureProbability::default().bits(),
            rounded_down(-self.front_end_failure().bits()),
            self.params().security(),
            self.spec().ephemeral_weight,
            self.input().log2_modulus(self.params()),
            self.ephemeral_security(),
            self.spec().mode,
            self.spec().front_end,
            self.choices(),
            self.restrictions(),
        );
        let keys = self.required_keys().len();
        let size = file_sizes::in_words(self.key_bytes().evaluation_memory);
        text.push_str(&lines_of(self.stages()));
        let (needs, leaves) = (self.least_input_bits(), self.output_bits());
        let last = format!(
            "needs {needs:.0} bits, leaves {leaves:.0}; {keys} Galois keys, {size} with the relinearisation key"
        );
        text + &last
    }
}

/// Stages with their levels and keys, two lines each or more.
pub(super) fn lines_of(stages: &[Stage]) -> String {
    let line = |stage: &Stage| {
        let (before, after) = stage.capacity;
        let (name, level, keys) = (&stage.name, stage.level, stage.keys.len());
        let times = if stage.times > 1 { format!(", {} times", stage.times) } else { String::new() };
        let work = stage.work.replace('\n', "\n    ");
        format!("{name}: level {level}, {before:.0} to {after:.0} bits, {keys} keys{times}\n    {work}\n")
    };
    stages.iter().map(line).collect()
}

/// With one digit behind the point.
pub(super) fn rounded_down(bits: f64) -> f64 {
    (bits * 10.0).floor() / 10.0
}
