//! Special primes, digits and ephemeral secrets of refreshes that are passes of others.

use windlass_rlwe::{Assurance, RlweError, RlweParams, SecretDistribution, security};
use windlass_schemes::error::{BootstrapError, Error, Result};

use super::spec::RefreshSpec;

/// The weights of the ephemeral secret that are tried.
const WEIGHTS: [u32; 3] = [28, 30, 32];

/// Most digits of a key switch.
const MOST_DIGITS: usize = 8;

/// A pass, and log2 of the modulus of all levels together, without special primes.
pub(crate) struct PassShape<'a> {
    pub refresh: &'a RefreshSpec,
    pub chain_bits: u32,
}

impl PassShape<'_> {
    /// What `make` makes of the pass with the fewest digits of key switches, and the special primes for
    /// them, that its assurance allows. Sets that are not called secure get as many digits as make P
    /// small.
    ///
    /// # Errors
    /// [`Error::NoParameters`] if the chain is too long for 128 bits of security; those of `make`.
    pub fn with_fewest_digits<P>(&self, make: &dyn Fn(RefreshSpec) -> Result<P>) -> Result<P> {
        let is_secure = self.refresh.assurance == Assurance::Secure;
        let (n, own) = (self.refresh.n, self.chain_bits);
        let most = match is_secure {
            true => security::max_log2_qp(n, RlweParams::REQUIRED_SECURITY, SecretDistribution::Ternary)?,
            false => f64::INFINITY,
        };
        for digits in if is_secure { 1..=MOST_DIGITS } else { 5..=MOST_DIGITS } {
            let least = own.div_ceil(digits as u32).div_ceil(50);
            for special in [least, least + 1] {
                if f64::from(own + 50 * special) > most {
                    break;
                }
                match self.with_weight(digits, special as usize, make) {
                    Err(Error::Rlwe(RlweError::SpecialModulusTooSmall { .. })) => {}
                    other => return other,
                }
            }
        }
        let least = own + own.div_ceil(MOST_DIGITS as u32);
        let reason = format!(
            "n = {n}: the chain takes {least} bits, but 128 bits of security leave {most:.0}; ask for fewer products, or a larger ring"
        );
        Err(Error::NoParameters { reason })
    }

    /// With the sparsest ephemeral secret that is secure.
    fn with_weight<P>(&self, digits: usize, special: usize, make: &dyn Fn(RefreshSpec) -> Result<P>) -> Result<P> {
        let own = self.refresh.ephemeral_weight;
        let mut weights: Vec<u32> = WEIGHTS.into_iter().filter(|&weight| weight > own).collect();
        weights.insert(0, own);
        let (last, others) = weights.split_last().expect("there is its own");
        let special_prime_bits = vec![50; special];
        let of = |ephemeral_weight| {
            let special_prime_bits = special_prime_bits.clone();
            make(RefreshSpec { digits, special_prime_bits, ephemeral_weight, ..self.refresh.clone() })
        };
        for &weight in others {
            match of(weight) {
                Err(Error::Bootstrap(BootstrapError::EphemeralKeyTooWeak { .. })) => {}
                other => return other,
            }
        }
        of(*last)
    }
}
