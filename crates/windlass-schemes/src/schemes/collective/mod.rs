//! Decryption by several parties, none of whom has the secret key.
//!
//! A ciphertext (c_0, c_1) has the phase c_0 + s·c_1. Party i gives s_i·c_1 + t·E_i, E_i noise that hides the error of
//! the ciphertext, which depends on the secrets. A reader with c_0 and all shares has the phase plus t·ΣE_i, and reads
//! the message as from any other ciphertext.
//!
//! *How much noise.* Let e be the error that a share has to hide: a vector of integers with Σ|e_j| ≤ B. The
//! coefficients of E_i are uniform on 2^{w+1} points, so that the shares of one decryption are within statistical
//! distance B/2^{w+1} of shares that a simulator makes from the message alone. All decryptions together are within 2^−κ
//! for w ≥ κ + log2(decryptions) + log2 B − 1. This is the distance to shares without any error of the ciphertext, for
//! BGV, BFV and CKKS, and it does not need the noise of other parties.
//!
//! **Warning.** B follows from the bound that the ciphertext states. Whoever decrypts a ciphertext must know that the
//! bound is one of this library, for a circuit that was agreed on: a file with a forged bound makes the noise too small.
//! Each ciphertext that is decrypted counts, the same one again as well.

mod approximate;
mod exact;

#[cfg(test)]
mod tests;

use rand_core::RngCore;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::collective::{Common, Flooding, SecretShare, ThresholdShare};
use windlass_rlwe::{KeyId, Limits, check_same_keys};

use crate::error::{Error, Result};

pub use approximate::{ApproximateDecryption, Opened};
pub use exact::ExactDecryption;

/// What a party decrypts with.
#[derive(Debug, Clone, Copy)]
pub enum Holder<'a> {
    /// Its own secret: all parties take part.
    All(&'a SecretShare),
    /// Its share of the collective secret, and the parties that take part.
    Some {
        /// What the parties agreed on.
        common: &'a Common,
        /// The share.
        share: &'a ThresholdShare,
        /// The numbers of those that take part: exactly as many as are needed, ascending.
        participants: &'a [u32],
    },
}

impl Holder<'_> {
    /// s·c_1 + multiplier·E for its part of s.
    fn share(&self, c1: &Poly<Eval>, noise: (Flooding, u64), rng: &mut impl RngCore) -> Result<Poly<Eval>> {
        Ok(match self {
            Self::All(secret) => secret.decryption_share(c1, noise, rng)?,
            Self::Some { common, share, participants } => {
                share.decryption_share(common, participants, c1, noise, rng)?
            }
        })
    }
}

impl Holder<'_> {
    /// # Errors
    /// [`Error::OtherKeyPair`] for another key pair, [`Error::OutOfRange`] for another number of parties.
    fn check(&self, key: KeyId, parties: u32) -> Result<()> {
        let (common, taking_part) = match self {
            Self::All(secret) => (secret.common(), secret.common().parties() as usize),
            Self::Some { common, participants, .. } => (*common, participants.len()),
        };
        check_same_keys("decrypt with several parties", common.key_id(), key)?;
        let wanted = parties as usize;
        Ok(Limits::between(wanted, wanted).check("the number of parties that take part", taking_part)?)
    }
}

/// c_0 and the shares of all parties, added up.
fn sum_of_shares(c0: Poly<Eval>, shares: &[Poly<Eval>], parties: u32) -> Result<Poly<Eval>> {
    let wanted = parties as usize;
    Limits::between(wanted, wanted).check("the number of shares of a decryption", shares.len())?;
    let mut sum = c0;
    for share in shares {
        if !std::sync::Arc::ptr_eq(share.ring(), sum.ring()) || share.basis() != sum.basis() {
            return Err(Error::ContextMismatch {
                operation: "decrypt with several parties",
                left: "the ciphertext".into(),
                right: "a share of other primes".into(),
            });
        }
        sum.add_assign(share);
    }
    Ok(sum)
}

/// log2 of 2^a − 2^b, if that is a positive number.
fn log2_difference(a: f64, b: f64) -> Option<f64> {
    (b < a).then(|| a + (-(b - a).exp2()).ln_1p() / std::f64::consts::LN_2)
}

/// The least w that hides errors with Σ|e_j| ≤ 2^bits in all decryptions.
fn needed(publication: super::Publication, bits: f64) -> f64 {
    f64::from(publication.security_bits) + f64::from(publication.decryptions).log2() + bits - 1.0
}
