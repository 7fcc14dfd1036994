//! Masks of shares, which add up to zero.
//!
//! The members of a decryption give λ_j·σ(j)·c_1 plus noise. A coalition of t − 1 parties knows t − 1 values of σ, so
//! that each other value is a_j·s + a known term for a known a_j. If only one other member takes part, λ_j·a_j is 1,
//! and its noise hides the error of the ciphertext. If more take part, λ_j·a_j is a fraction u/v modulo each prime. v
//! times the share then shows u times the error modulo v, whatever the noise: with a few decryptions, the secret
//! modulo v.
//!
//! Therefore each pair of members shares a polynomial that looks uniform. The one with the lower number adds it to its
//! share, the other subtracts it. The sum of all shares stays, and the shares of members outside of the coalition are
//! uniform except for their sum. The derivation is in `docs/math/parties.md`.

use sha2::{Digest, Sha256};
use windlass_ring::{Eval, Poly, sample};
use zeroize::{Zeroize, Zeroizing};

use crate::agreement::Agreement;
use crate::error::Result;
use crate::family::CollectiveFamily;
use crate::identity::Identity;
use crate::step::Step;

/// Which share is masked: the step, the member whose share it is, all that take part (ascending, with this member), and
/// what the share is for, the same bytes for all of them.
pub(crate) struct Masked<'a> {
    pub step: Step,
    pub number: u32,
    pub members: &'a [u32],
    pub about: &'a [u8],
}

/// The seed of the polynomial that this member and another one share. Both derive it from their identities alone.
fn seed<F: CollectiveFamily>(
    agreement: &Agreement<F>,
    identity: &Identity,
    masked: &Masked<'_>,
    other: u32,
) -> Result<Zeroizing<[u8; 32]>> {
    let shared = identity.shared(&agreement.members()[other as usize - 1].identity)?;
    let mut hash = Sha256::new();
    hash.update(b"windlass mask of a share 1\n");
    hash.update(*shared);
    hash.update(agreement.digest());
    hash.update(masked.number.min(other).to_le_bytes());
    hash.update(masked.number.max(other).to_le_bytes());
    hash.update([masked.step.code()]);
    hash.update((masked.members.len() as u64).to_le_bytes());
    masked.members.iter().for_each(|member| hash.update(member.to_le_bytes()));
    hash.update((masked.about.len() as u64).to_le_bytes());
    hash.update(masked.about);
    Ok(Zeroizing::new(hash.finalize().into()))
}

/// Adds masks to the polynomials of a member's share.
///
/// Cost: for each polynomial, a uniform one for each other member that takes part.
///
/// # Errors
/// [`crate::PartiesError::Text`] for an identity that agrees on no secret.
pub(crate) fn mask<F: CollectiveFamily>(
    agreement: &Agreement<F>,
    identity: &Identity,
    masked: &Masked<'_>,
    share: &mut [Poly<Eval>],
) -> Result<()> {
    for &other in masked.members.iter().filter(|&&other| other != masked.number) {
        let seed = seed(agreement, identity, masked, other)?;
        for (part, stream) in share.iter_mut().zip(0..) {
            let mut poly = sample::uniform(part.ring(), part.basis(), &seed, stream);
            if masked.number < other {
                part.add_assign(&poly);
            } else {
                part.sub_assign(&poly);
            }
            poly.zeroize();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
