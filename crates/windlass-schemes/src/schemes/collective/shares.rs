//! What every way of reading by shares has: who takes part, the sum of their shares, and the size of their noise.

use windlass_ring::{Eval, Poly};
use windlass_rlwe::collective::Holder;
use windlass_rlwe::{KeyId, Limits, check_same_keys};

use crate::error::{Error, Result};
use crate::schemes::Publication;

/// Refuses a party of another key pair, and another number of parties.
///
/// # Errors
/// [`Error::OtherKeyPair`], [`Error::OutOfRange`].
pub(super) fn check_holder(holder: &Holder<'_>, key: KeyId, parties: u32) -> Result<()> {
    check_same_keys("decrypt with several parties", holder.common().key_id(), key)?;
    let wanted = parties as usize;
    Ok(Limits::between(wanted, wanted).check("the number of parties that take part", holder.participants())?)
}

/// c_0 and the shares of all parties, added up.
pub(super) fn sum_of_shares(c0: Poly<Eval>, shares: &[Poly<Eval>], parties: u32) -> Result<Poly<Eval>> {
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
pub(super) fn log2_difference(a: f64, b: f64) -> Option<f64> {
    (b < a).then(|| a + (-(b - a).exp2()).ln_1p() / std::f64::consts::LN_2)
}

/// The least w that hides errors with Σ|e_j| ≤ 2^bits in all decryptions.
pub(super) fn needed(publication: Publication, bits: f64) -> f64 {
    f64::from(publication.security_bits) + f64::from(publication.decryptions).log2() + bits - 1.0
}
