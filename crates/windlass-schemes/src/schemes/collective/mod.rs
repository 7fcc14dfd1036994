//! Decryption by several parties, none of whom has the secret key.
//!
//! A ciphertext (c_0, c_1) has the phase c_0 + s·c_1. Party i gives s_i·c_1 + t·E_i, E_i noise that hides the error of
//! the ciphertext, which depends on the secrets. A reader with c_0 and all shares has the phase plus t·ΣE_i, and reads
//! the message as from any other ciphertext.
//!
//! *How much noise.* Let e be the error that the shares have to hide: a vector of integers with Σ|e_j| ≤ B. The
//! coefficients of E_i are uniform on 2^{w+1} points, so that the sum of the shares of all honest parties is within
//! statistical distance B/2^{w+1} of one that a simulator makes from the message alone. All decryptions together are
//! within 2^−κ for w ≥ κ + log2(decryptions) + log2 B − 1. This is the distance to shares without any error of the
//! ciphertext, for BGV, BFV and CKKS, and it does not need the noise of other parties.
//!
//! **Warning.** Noise hides the error in the *sum* of the honest parties' shares, not in each of them. Where fewer than
//! all parties are needed, a share alone shows the error modulo small numbers (`docs/math/parties.md`). Each share that
//! leaves a party must therefore be masked: the parties of a decryption add polynomials that look uniform and whose sum
//! is zero. `windlass-parties` does so.
//!
//! **Warning.** B follows from the bound that the ciphertext states. Whoever decrypts a ciphertext must know that the
//! bound is one of this library, for a circuit that was agreed on: a file with a forged bound makes the noise too small.
//! Each ciphertext that is decrypted counts, the same one again as well.

mod approximate;
mod exact;
mod switch;

#[cfg(test)]
mod tests;

use windlass_ring::{Eval, Poly};

use windlass_rlwe::{KeyId, Limits, check_same_keys};

use crate::error::{Error, Result};

pub use approximate::{ApproximateDecryption, Opened};
pub use exact::ExactDecryption;
pub use switch::{ApproximateSwitch, ExactSwitch, SwitchingShare};
pub use windlass_rlwe::collective::Holder;

/// Bits of the modulus that no decryption fills. A phase that does not belong to the ciphertext is uniform: each of its
/// n coefficients looks right with a probability of 2^−4, so that a wrong share is seen.
pub(crate) const SEEN_BITS: f64 = 4.0;

/// Refuses a party of another key pair, and another number of parties.
///
/// # Errors
/// [`Error::OtherKeyPair`], [`Error::OutOfRange`].
fn check_holder(holder: &Holder<'_>, key: KeyId, parties: u32) -> Result<()> {
    check_same_keys("decrypt with several parties", holder.common().key_id(), key)?;
    let wanted = parties as usize;
    Ok(Limits::between(wanted, wanted).check("the number of parties that take part", holder.participants())?)
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
