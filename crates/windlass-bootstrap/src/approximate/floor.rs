//! Levels of exact ciphertexts below those of a refresh.

use windlass_schemes::schemes::ckks::{CkksContext, RefreshLevel};

use super::spec::RefreshSpec;

/// Levels of BGV and BFV ciphertexts between the base and the levels of a refresh
/// ([`crate::exact_through_ckks`]).
///
/// A refresh ends at the highest of them. Its result has the phase `(q/t)·φ` for an input of phase φ
/// at the base: q the prime of that level, t the plaintext modulus. The constants of the maps back
/// have this factor.
#[derive(Debug, Clone)]
pub(crate) struct ExactFloor {
    /// Sizes of their primes in bits, from the lowest up.
    pub prime_bits: Vec<u32>,
    /// t.
    pub plaintext_modulus: u64,
}

impl ExactFloor {
    /// All of them have the scale of the base.
    pub fn levels(&self, spec: &RefreshSpec) -> Vec<RefreshLevel> {
        let level = |&bits: &u32| RefreshLevel { prime_bits: vec![bits], scale_bits: Some(spec.scale_bits) };
        self.prime_bits.iter().map(level).collect()
    }

    /// q/t.
    pub fn factor(&self, context: &CkksContext) -> f64 {
        let last = context.base_level() + self.prime_bits.len() - 1;
        context.rlwe().params().q_primes()[last].value() as f64 / self.plaintext_modulus as f64
    }
}
