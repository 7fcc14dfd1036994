//! Shares of decryptions, and the noise that hides the secrets in them.

use rand_core::RngCore;
use windlass_ring::{Basis, Eval, Poly};
use zeroize::Zeroizing;

use super::common::Common;
use super::secret::SecretShare;
use super::shamir::ThresholdShare;
use crate::error::RlweError;
use crate::keys::SecretPoly;
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
        let mut sum = SecretPoly(Poly::<Eval>::zero(ring, basis).into_coeff());
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
        SecretPoly(std::mem::replace(&mut sum.0, Poly::from_signed(ring, basis, &vec![0; n])).into_eval())
    }
}

/// s·c_1 + multiplier·E.
fn partial(
    (common, secret): (&Common, SecretPoly<Eval>),
    c1: &Poly<Eval>,
    (flooding, multiplier): (Flooding, u64),
    rng: &mut impl RngCore,
) -> Result<Poly<Eval>, RlweError> {
    Limits::at_most(Flooding::MOST_BITS).check("the bits of the noise of a share", flooding.bits)?;
    let mut noise = flooding.sample(common, c1.basis(), rng);
    noise.0.mul_scalar_assign(|q| q.reduce(multiplier));
    let mut share = c1.mul(&secret.0);
    share.add_assign(&noise.0);
    Ok(share)
}

fn check_context(common: &Common, c1: &Poly<Eval>) -> Result<(), RlweError> {
    if std::sync::Arc::ptr_eq(c1.ring(), common.context().ring()) {
        return Ok(());
    }
    Err(RlweError::BadKey { what: "share of a decryption" })
}

impl SecretShare {
    /// The share s_i·c_1 + multiplier·E of a decryption in which all parties take part.
    ///
    /// **Warning.** The noise must be planned: what it has to hide is the error of the ciphertext.
    ///
    /// # Errors
    /// [`RlweError::OutOfRange`] for the bits of the noise, [`RlweError::BadKey`] for a polynomial of another context.
    pub fn decryption_share(
        &self,
        c1: &Poly<Eval>,
        noise: (Flooding, u64),
        rng: &mut impl RngCore,
    ) -> Result<Poly<Eval>, RlweError> {
        check_context(self.common(), c1)?;
        partial((self.common(), self.restricted(c1.basis())), c1, noise, rng)
    }
}

impl ThresholdShare {
    /// The share λ_j·σ(j)·c_1 + multiplier·E of a decryption in which exactly these parties take part.
    ///
    /// **Warning.** As [`SecretShare::decryption_share`].
    ///
    /// # Errors
    /// As there; as [`super::check_participants`].
    pub fn decryption_share(
        &self,
        common: &Common,
        participants: &[u32],
        c1: &Poly<Eval>,
        noise: (Flooding, u64),
        rng: &mut impl RngCore,
    ) -> Result<Poly<Eval>, RlweError> {
        check_context(common, c1)?;
        partial((common, self.restricted(participants, c1.basis())?), c1, noise, rng)
    }
}
