//! The ring, its primes, and what they are good for.

use std::sync::Arc;

use windlass::ring::Ring;
use windlass::ring::kernels::modulus::find_primes;
use windlass::ring::kernels::{Isa, Modulus, Shape, arith};
use windlass::rlwe::SecurityEstimate;
use windlass::rlwe::security::{SecretDistribution, security_bits};

use super::bound::Bounds;
use crate::error::Result;

/// Number of plaintext primes.
pub const PLAINTEXT_PRIMES: usize = 4;

/// Pairs of integers in a chunk: the ring dimension.
pub const SLOTS: usize = 1 << 12;

/// Bits of the ciphertext primes: one that answers keep, and one that they are switched away from.
const KEPT_BITS: u32 = 48;
const DROPPED_BITS: u32 = 32;

/// Row numbers of the primes in the ring: ciphertext primes, then plaintext primes.
pub const KEPT: usize = 0;
/// The prime that answers lose.
pub const DROPPED: usize = 1;
/// The first plaintext prime.
pub const PLAINTEXT: usize = 2;

/// Everything that both sides know before any key is made.
#[derive(Debug)]
pub struct Parameters {
    ring: Arc<Ring>,
    security: SecurityEstimate,
    bounds: [Bounds; PLAINTEXT_PRIMES],
}

impl Parameters {
    /// The parameters of the entry: n = 4096, Q of 48 + 32 bits, uniform ternary secrets.
    ///
    /// # Errors
    /// Those of [`Ring::new`] and [`security_bits`].
    pub fn new() -> Result<Self> {
        let step = 2 * SLOTS as u64;
        let kept = find_primes(step, KEPT_BITS, 1, &[])?[0];
        let dropped = find_primes(step, DROPPED_BITS, 1, &[])?[0];
        let plaintext = plaintext_primes(step)?;
        let primes: Vec<Modulus> = [kept, dropped].into_iter().chain(plaintext).collect();
        let ring = Ring::new(Arc::new(Shape::new(step)?), &primes, Isa::best())?;
        let log2_q = ring.log2_product(&windlass::ring::Basis::new([KEPT, DROPPED]));
        let security = security_bits(SLOTS, log2_q, SecretDistribution::Ternary)?;
        let bounds = plaintext.map(|t| Bounds::new(SLOTS, t.value(), kept.value(), dropped.value()));
        debug_assert!(security.bits >= 128.0 && bounds.iter().all(Bounds::decryptable));
        Ok(Self { ring, security, bounds })
    }

    /// The ring over all primes.
    pub fn ring(&self) -> &Arc<Ring> {
        &self.ring
    }

    /// λ of the ciphertext modulus.
    pub fn security(&self) -> SecurityEstimate {
        self.security
    }

    /// The bounds on errors for plaintext prime number `index`.
    pub fn bounds(&self, index: usize) -> &Bounds {
        &self.bounds[index]
    }

    /// Plaintext prime number `index`.
    pub fn plaintext_prime(&self, index: usize) -> Modulus {
        self.ring.modulus(PLAINTEXT + index)
    }

    /// The prime that answers keep.
    pub fn kept(&self) -> Modulus {
        self.ring.modulus(KEPT)
    }

    /// The prime that answers lose.
    pub fn dropped(&self) -> Modulus {
        self.ring.modulus(DROPPED)
    }
}

/// The least primes t ≡ 1 (mod step) whose product carries signed products of 2^63·2^63 with room
/// to tell their sign from the last digit of a mixed radix ([`super::numbers::Crt`]): t^4 > 2^{127}
/// + a little. The smaller they are, the smaller are all errors.
fn plaintext_primes(step: u64) -> Result<[Modulus; PLAINTEXT_PRIMES]> {
    // 2^{127/4}, from above.
    let least = 2f64.powf(31.75).ceil() as u64;
    let mut candidate = least.next_multiple_of(step) + 1;
    let mut found = Vec::with_capacity(PLAINTEXT_PRIMES);
    while found.len() < PLAINTEXT_PRIMES {
        if arith::is_prime(candidate) {
            found.push(Modulus::new(candidate)?);
        }
        candidate += step;
    }
    Ok(std::array::from_fn(|index| found[index]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_are_secure_and_decrypt() {
        let parameters = Parameters::new().unwrap();
        assert!(parameters.security().bits >= 128.0, "{}", parameters.security());
        assert_eq!((parameters.kept().bits(), parameters.dropped().bits()), (48, 32));
        for index in 0..PLAINTEXT_PRIMES {
            assert!(parameters.bounds(index).decryptable());
        }
        let primes: std::collections::BTreeSet<u64> = (0..6).map(|i| parameters.ring().modulus(i).value()).collect();
        assert_eq!(primes.len(), 6);
    }
}
