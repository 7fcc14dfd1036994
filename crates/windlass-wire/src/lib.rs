//! Durable file formats. Every container names its format version, kind, parameters and key pair,
//! and carries a checksum.
//!
//! Every reader gets the parameters that the bytes must belong to, and the key pair if it is known.
//! A size limit follows from them. Before it allocates memory, the reader refuses anything else
//! with a [`WireError`]: a wrong magic number, version, kind, context or key pair, missing or
//! trailing bytes, a wrong checksum, residues that are not canonical. Variants are append-only.
//! Golden files in `crates/windlass/tests/golden/` fix the bytes of each version.
//!
//! **Warning.** The checksum detects accidental damage. It does not authenticate.
#![forbid(unsafe_code)]

mod approximate;
mod bits;
mod bootstrap;
mod ciphertext;
mod container;
mod file;
mod keys;
mod list;
mod mapped;
mod messages;
mod prepared;
mod ready_keys;
mod refresh;
mod sealed;
mod secret_text;
mod source;
mod stored;
mod values;

pub use approximate::{ApproximateCiphertextV1, ApproximateContext};
pub use bits::{FieldReader, FieldWriter};
pub use bootstrap::BootstrapContext;
pub use ciphertext::CiphertextV1;
#[doc(hidden)]
pub use container::kind_of;
pub use container::{ContextHash, Expected, Label, VERSION, open, seal};
#[doc(hidden)]
pub use file::target_of;
pub use file::{
    Access, move_new, part_suffix, read_file, read_secret, temporary_name, write_file, write_new, write_new_with,
    write_over, write_over_state,
};
pub use list::{CiphertextList, NumberKind};
pub use messages::{AnswerV1, EncryptedRowsV1, EncryptedScoresV1, QueryV1};
pub use prepared::{PlanFiles, StoresConstants};
pub use ready_keys::ReadyKeys;
pub use refresh::RefreshContext;
pub use sealed::{
    Passphrase, PassphraseCost, check_sealed, from_sealed_bytes, is_sealed, load_sealed, open_secret, save_sealed,
    seal_secret,
};
pub use secret_text::{text_context, text_from_file, text_to_file};
pub use source::Source;
pub use stored::Stored;
pub use values::{FileContext, Wire, WireContext, from_bytes, load, load_for, save, to_bytes, to_payload};
#[doc(hidden)]
pub use values::{poly_len, read_poly, write_poly};
pub use windlass_rlwe::KeyId;
pub use windlass_schemes::error::{Kind, WireError};
pub use windlass_schemes::file_sizes::{OVERHEAD, packed_len, residue_bits};
pub use windlass_schemes::hex::hex;
#[doc(hidden)]
pub use windlass_schemes::hex::prefixes;
#[doc(hidden)]
pub use windlass_schemes::json::from_json;

/// SHA-256 of some bytes.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).into()
}
