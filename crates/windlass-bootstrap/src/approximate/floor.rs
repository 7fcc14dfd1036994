//! Levels of other ciphertexts below those of a refresh.

use windlass_schemes::schemes::ckks::{CkksContext, RefreshLevel};

use super::spec::RefreshSpec;

/// Levels between the base and the levels of a refresh: those of BGV and BFV ciphertexts
/// ([`crate::exact_through_ckks`]), or those of CKKS ciphertexts whose scale is larger than that of the
/// refresh ([`super::precise`]).
///
/// A refresh ends at the highest of them. Its result has the phase `factor·φ` for an input of phase φ at the
/// base. The constants of the maps back have this factor.
#[derive(Debug, Clone)]
pub(crate) struct Floor {
    /// Sizes in bits of the primes that each level has more than the one below, from the lowest up.
    pub levels: Vec<Vec<u32>>,
    /// By what a refresh multiplies the phase.
    pub factor: PhaseFactor,
}

/// What a phase is multiplied by.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PhaseFactor {
    /// q/t: the highest prime of the floor over the plaintext modulus.
    LastPrimeOver(u64),
    /// A number.
    Number(f64),
}

impl Floor {
    /// All of them have the scale of the base.
    pub fn levels(&self, spec: &RefreshSpec) -> Vec<RefreshLevel> {
        let level = |bits: &Vec<u32>| RefreshLevel { prime_bits: bits.clone(), scale_bits: Some(spec.scale_bits) };
        self.levels.iter().map(level).collect()
    }

    pub fn factor(&self, context: &CkksContext) -> f64 {
        match self.factor {
            PhaseFactor::LastPrimeOver(modulus) => {
                let last = context.base_level() + self.levels.iter().map(Vec::len).sum::<usize>() - 1;
                context.rlwe().params().q_primes()[last].value() as f64 / modulus as f64
            }
            PhaseFactor::Number(number) => number,
        }
    }
}
