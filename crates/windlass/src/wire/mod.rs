//! Durable bytes: containers that name their format version, kind and parameters, and carry a checksum.
//!
//! Every reader takes the parameters that the bytes must belong to and a size limit that follows from them, and refuses
//! anything else with a [`WireError`] before it takes memory: wrong magic, version, kind or context, missing or trailing
//! bytes, a wrong checksum, residues that are not canonical. Variants are append-only; golden files in `tests/golden/`
//! pin the bytes of each version. The checksum finds accidents; it does not authenticate.

mod bits;
mod ciphertext;
mod container;
mod error;
mod file;
mod keys;
mod lookup;
mod values;

pub use bits::{FieldReader, FieldWriter, packed_len, residue_bits};
pub use ciphertext::CiphertextV1;
pub use container::{ContextHash, Kind, OVERHEAD, VERSION, hex, open, seal};
pub use error::WireError;
pub use file::{Access, move_new, read_file, write_file, write_new};
pub use lookup::{AnswerV1, QueryV1};
pub use values::{Wire, WireContext, load, save, to_payload};

/// SHA-256 of some bytes.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).into()
}
