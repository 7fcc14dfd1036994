//! The messages of a lookup and of scoring: ciphertexts, and the hash of the public schema that
//! they belong to.
//!
//! **Warning.** Every reader must compare that hash with the hash of its own schema. If both sides
//! have different names, constants or units, correct values become wrong ones.

use windlass_schemes::error::Result;
use windlass_schemes::schemes::ckks::Ciphertext;

use super::values::{Wire, WireContext};
use super::{ApproximateContext, CiphertextList, CiphertextV1, FieldReader, FieldWriter, KeyId, Kind};

macro_rules! message {
    ($name:ident, $kind:expr, $what:literal, $field:ident: $inner:ty, $context:ty) => {
        #[doc = concat!("Version 1 of ", $what, ": 32 bytes of schema hash, then a `", stringify!($inner), "`.")]
        #[derive(Debug, Clone)]
        pub struct $name {
            /// SHA-256 of the schema.
            pub schema: [u8; 32],
            /// What is encrypted.
            pub $field: $inner,
        }

        impl Wire<$context> for $name {
            const KIND: Kind = $kind;

            fn key_id(&self) -> Option<KeyId> {
                Wire::<$context>::key_id(&self.$field)
            }

            fn encode(&self, context: &$context, out: &mut FieldWriter) {
                out.bytes(&self.schema);
                self.$field.encode(context, out);
            }

            fn decode(context: &$context, key: KeyId, mut fields: FieldReader<'_>) -> Result<Self> {
                let schema = fields.array("schema hash")?;
                Ok(Self { schema, $field: <$inner as Wire<$context>>::decode(context, key, fields)? })
            }

            fn limit(context: &$context) -> u64 {
                <$inner as Wire<$context>>::limit(context).saturating_add(32)
            }
        }
    };
}

message!(QueryV1, Kind::Query, "a query", ciphertext: CiphertextV1, WireContext);
message!(AnswerV1, Kind::Answer, "an answer", ciphertext: CiphertextV1, WireContext);
message!(
    EncryptedRowsV1, Kind::EncryptedRows, "rows for a model",
    list: CiphertextList<Ciphertext>, ApproximateContext
);
message!(
    EncryptedScoresV1, Kind::EncryptedScores, "the scores of a model",
    list: CiphertextList<Ciphertext>, ApproximateContext
);
