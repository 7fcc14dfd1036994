//! Shares of decryptions, and the noise that hides the secrets in them.

use rand_core::RngCore;
use windlass_ring::{Basis, Coeff, Eval, Poly};
use zeroize::Zeroizing;

use super::common::Common;
use super::secret::SecretShare;
use super::shamir::ThresholdShare;
use crate::error::RlweError;
use crate::keys::{PublicKey, SecretPoly};
use crate::limits::Limits;

/// Bits of a limb of flooding noise: a limb is a signed word.
const LIMB: u32 = 62;

/// The noise of one party in one share of a decryption: n coefficients, each uniform in \[−2^bits, 2^bits).
///
/// A number of coefficients x_j with |x_j| ≤ B is hidden by it up to a statistical distance of n·B/2^{bits+1}: shifting
/// a uniform value of 2^{bits+1} points by x changes its distribution by |x|/2^{bits+1}.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flooding {
    /// log2 of the largest coefficient.
    pub bits: u32,
}

impl Flooding {
    /// The most bits that a coefficient has.
    pub const MOST_BITS: u32 = 8 * LIMB;

    /// A polynomial of this noise. Constant time, exact: each coefficient is made of random bits alone.
    fn sample(self, common: &Common, basis: &Basis, rng: &mut impl RngCore) -> SecretPoly<Eval> {
        let (ring, n) = (common.context().ring(), common.context().params().n());
        let limbs = self.bits / LIMB;
        let top = self.bits % LIMB;
        let mut sum = SecretPoly(Poly::<Coeff>::zero(ring, basis));
        for limb in 0..=limbs {
            let coefficients: Zeroizing<Vec<i64>> = Zeroizing::new(
                (0..n)
                    .map(|_| match limb == limbs {
                        // Signed, of top + 1 bits.
                        true => (rng.next_u64() as i64) >> (63 - top),
                        false => (rng.next_u64() >> (64 - LIMB)) as i64,
                    })
                    .collect(),
            );
            let mut part = SecretPoly(Poly::from_signed(ring, basis, &coefficients));
            part.0.mul_scalar_assign(|q| q.pow(2, u64::from(limb * LIMB)));
            sum.0.add_assign(&part.0);
        }
        sum.into_eval()
    }
}

/// What a party decrypts with.
#[derive(Debug, Clone, Copy)]
pub enum Holder<'a> {
    /// Its own secret: all parties take part.
    All(&'a SecretShare),
    /// Its share of the collective secret, and the parties that take part. **Warning.** Mask the share.
    Threshold {
        /// The share.
        share: &'a ThresholdShare,
        /// The numbers of those that take part: exactly as many as are needed, ascending.
        participants: &'a [u32],
    },
}

impl Holder<'_> {
    /// What the parties agreed on.
    pub fn common(&self) -> &Common {
        match self {
            Self::All(secret) => secret.common(),
            Self::Threshold { share, .. } => share.common(),
        }
    }

    /// How many parties take part.
    pub fn participants(&self) -> usize {
        match self {
            Self::All(secret) => secret.common().parties() as usize,
            Self::Threshold { participants, .. } => participants.len(),
        }
    }

    /// The additive share of s over the primes of c_1.
    ///
    /// # Errors
    /// As [`super::check_participants`]; [`RlweError::BadKey`] for a polynomial of another context.
    fn secret(&self, c1: &Poly<Eval>) -> Result<SecretPoly<Eval>, RlweError> {
        if !std::sync::Arc::ptr_eq(c1.ring(), self.common().context().ring()) {
            return Err(RlweError::BadKey { what: "share of a decryption" });
        }
        match self {
            Self::All(secret) => Ok(secret.restricted(c1.basis())),
            Self::Threshold { share, participants } => share.restricted(participants, c1.basis()),
        }
    }

    /// The share s·c_1 + multiplier·E of a decryption, for this party's share of s: s_i, or λ_j·σ(j).
    ///
    /// **Warning.** The noise must be planned: what it has to hide is the error of the ciphertext. Before it leaves the
    /// party, a share must be masked by a sharing of zero among the parties that take part: to parties that have threshold − 1
    /// other values, λ_j·σ(j) is a fraction times the secret plus a known term, and noise does not hide the error of the
    /// ciphertext modulo its denominator (`docs/math/parties.md`).
    ///
    /// # Errors
    /// [`RlweError::OutOfRange`] for the bits of the noise and as [`super::check_participants`];
    /// [`RlweError::BadKey`] for a polynomial of another context.
    pub fn decryption_share(
        &self,
        c1: &Poly<Eval>,
        (flooding, multiplier): (Flooding, u64),
        rng: &mut impl RngCore,
    ) -> Result<Poly<Eval>, RlweError> {
        Limits::at_most(Flooding::MOST_BITS).check("the bits of the noise of a share", flooding.bits)?;
        let secret = self.secret(c1)?;
        let mut noise = flooding.sample(self.common(), c1.basis(), rng);
        noise.0.mul_scalar_assign(|q| q.reduce(multiplier));
        let mut share = c1.mul(&secret.0);
        share.add_assign(&noise.0);
        Ok(share)
    }

    /// The share s·c_1 + E of a decryption, and −E, which is this party's additive share of the phase: c_0, all shares
    /// and all −E add up to the phase.
    ///
    /// **Warning.** As [`Self::decryption_share`], and E has to hide the whole phase, not only its error.
    ///
    /// # Errors
    /// As there.
    pub fn split_share(
        &self,
        c1: &Poly<Eval>,
        flooding: Flooding,
        rng: &mut impl RngCore,
    ) -> Result<(Poly<Eval>, Zeroizing<Poly<Eval>>), RlweError> {
        Limits::at_most(Flooding::MOST_BITS).check("the bits of the noise of a share", flooding.bits)?;
        let secret = self.secret(c1)?;
        let mut own = Zeroizing::new(flooding.sample(self.common(), c1.basis(), rng).0.clone());
        let mut share = c1.mul(&secret.0);
        share.add_assign(&own);
        own.neg_assign();
        Ok((share, own))
    }

    /// The share of a switch to the key of someone outside, (s·c_1 + multiplier·(b·u + E), multiplier·(a·u + e)) for the
    /// public key (b, a), u uniform ternary: added up with c_0 they are an encryption of the same message under that key.
    ///
    /// **Warning.** As [`Self::decryption_share`].
    ///
    /// # Errors
    /// As there; [`RlweError::BadKey`] for a public key of another context.
    pub fn switching_share(
        &self,
        c1: &Poly<Eval>,
        target: &PublicKey,
        (flooding, multiplier): (Flooding, u64),
        rng: &mut impl RngCore,
    ) -> Result<[Poly<Eval>; 2], RlweError> {
        let context = self.common().context();
        if !std::sync::Arc::ptr_eq(target.context(), context) {
            return Err(RlweError::BadKey { what: "public key" });
        }
        let mut first = self.decryption_share(c1, (flooding, multiplier), rng)?;
        // The flooding noise is more than the error of the first half.
        let [masked, mut second] = target.mask(c1.basis(), rng);
        let mut masked = SecretPoly(masked);
        masked.0.mul_scalar_assign(|q| q.reduce(multiplier));
        second.mul_scalar_assign(|q| q.reduce(multiplier));
        first.add_assign(&masked.0);
        Ok([first, second])
    }
}
