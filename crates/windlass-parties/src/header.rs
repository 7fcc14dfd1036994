//! What a share of a decryption says it is for.

use sha2::{Digest, Sha256};
use windlass::wire::{self, FieldWriter};
use windlass_ring::Basis;
use windlass_rlwe::PublicKey;
use windlass_rlwe::collective::check_participants;

use crate::agreement::Agreement;
use crate::error::Result;
use crate::family::CollectiveFamily;

/// SHA-256 of a public key's bytes.
pub(crate) fn target_digest<F: CollectiveFamily>(agreement: &Agreement<F>, target: &PublicKey) -> Result<[u8; 32]> {
    Ok(Sha256::digest(wire::to_bytes(F::files(agreement.context()), target)?).into())
}

/// Refuses members that cannot decrypt together.
pub(crate) fn check_members<F: CollectiveFamily>(agreement: &Agreement<F>, members: &[u32]) -> Result<()> {
    Ok(check_participants(members, agreement.threshold(), agreement.common().parties())?)
}

/// Bytes of [`header`] for so many members.
pub(crate) fn header_len(members: u32) -> usize {
    32 + 2 + 2 * members as usize + 2 + 2
}

/// What a share of a decryption says it is for: SHA-256 of the ciphertext's bytes, the members, and what was planned:
/// primes and noise, which builds on other machines could round otherwise.
pub(crate) fn header<F: CollectiveFamily>(
    agreement: &Agreement<F>,
    ciphertext: &F::Ciphertext,
    members: &[u32],
    (basis, noise_bits): (&Basis, u32),
) -> Result<Vec<u8>> {
    let bytes = wire::to_bytes(F::files(agreement.context()), ciphertext)?;
    let mut header = FieldWriter::with_capacity(header_len(members.len() as u32));
    header.bytes(&Sha256::digest(&*bytes));
    header.u16(members.len() as u16);
    members.iter().for_each(|&number| header.u16(number as u16));
    header.u16(basis.len() as u16);
    header.u16(noise_bits as u16);
    Ok(header.finish())
}
