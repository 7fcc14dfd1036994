//! Why a schema, or what was made for one, is refused.

/// Why a schema, or what was made for one, is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// Bytes that are not a schema, or a schema that no model can have.
    #[error("not a scoring schema: {reason}")]
    Malformed {
        /// What is wrong.
        reason: String,
    },
    /// Encrypted rows or scores that were made for another schema.
    #[error(
        "this was made for the schema {found}, not {expected}: with other names, constants or another unit the scores would be wrong; ask for it again with this schema"
    )]
    OtherSchema {
        /// First bytes of the schema hash that was found, in hexadecimal.
        found: String,
        /// First bytes of the hash of this schema.
        expected: String,
    },
    /// What the schema says is refused by the library.
    #[error(transparent)]
    Library(#[from] windlass::Error),
}
