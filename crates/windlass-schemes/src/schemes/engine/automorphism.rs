//! What key switches and sums do to the metadata of exact ciphertexts.

use std::sync::Arc;

use windlass_ring::{Eval, Poly, Values};
use windlass_rlwe::{EvaluationKeys, KeyId};

use super::{Ciphertext, Constant, Engine};
use crate::error::{Error, Result};
use crate::schemes::Seed;
use crate::schemes::pairs::{self, Growth, RlweCiphertext, SchemeMetadata};
use crate::schemes::refreshing::AutoRefresh;

/// A ciphertext after decompose-and-extend of its second part.
pub type Hoisted = pairs::Hoisted<Ciphertext>;

/// P times a ciphertext, over Q_level·P.
pub type Extended = pairs::Extended<Ciphertext>;

impl RlweCiphertext for Ciphertext {
    fn parts(&self) -> &[Poly<Eval>] {
        &self.parts
    }

    fn parts_mut(&mut self) -> &mut [Poly<Eval>] {
        &mut self.parts
    }

    fn with_polys(&self, parts: Vec<Poly<Eval>>) -> Self {
        self.with_parts(parts)
    }

    fn key_id(&self) -> KeyId {
        self.key
    }

    fn seed(&self) -> Option<&Seed> {
        self.parts.seed()
    }

    fn with_seed(mut self, seed: Seed) -> Self {
        self.parts = self.parts.with_seed(seed);
        self
    }
}

impl SchemeMetadata for Engine {
    fn evaluation_keys(&self) -> &Arc<EvaluationKeys> {
        &self.keys
    }

    fn check_alike(&self, a: &Ciphertext, b: &Ciphertext) -> Result<()> {
        if (a.exponent, a.factor) == (b.exponent, b.factor) {
            return Ok(());
        }
        let describe = |x: &Ciphertext| format!("plaintext exponent {}, factor {}", x.exponent, x.factor);
        Err(Error::ContextMismatch { operation: "sum in base QP", left: describe(a), right: describe(b) })
    }

    fn phase_multiplier(&self, ct: &Ciphertext) -> u64 {
        self.multiplier(ct.exponent)
    }

    fn add_noise(&self, ct: &mut Ciphertext, level: usize, growth: Growth) {
        let (error, events) = self.rules.growth(ct.exponent, level, growth);
        ct.noise = ct.noise + error;
        self.events.add(events);
    }

    fn add_metadata(&self, sum: &mut Ciphertext, term: &Ciphertext) {
        sum.noise = sum.noise + term.noise;
        sum.content = sum.content.max(term.content);
    }

    fn scale_metadata(&self, ct: &Ciphertext, level: usize, constant: &Constant) -> Result<Ciphertext> {
        self.check_constant(constant, ct, level)?;
        let (noise, content) = (ct.noise * constant.norm, ct.content.max(constant.content));
        Ok(Ciphertext { noise, content, ..ct.with_parts(Vec::new()) })
    }

    fn values(constant: &Constant) -> &Values {
        &constant.values
    }

    fn accept_result(
        &self,
        operation: &'static str,
        (before, level): (&Ciphertext, usize),
        ct: Ciphertext,
    ) -> Result<Ciphertext> {
        self.accept(operation, self.capacity_at(level, before.noise), ct)
    }

    fn refreshing(
        &self,
        operands: &[&Ciphertext],
        operation: impl Fn(&[&Ciphertext]) -> Result<Ciphertext>,
    ) -> Result<Ciphertext> {
        AutoRefresh::refreshing(self, operands, operation)
    }
}
