//! The messages of a lookup: a ciphertext, and the hash of the public schema of the table that it
//! is for.

use super::values::{Wire, WireContext};
use super::{CiphertextV1, FieldReader, FieldWriter, KeyId, Kind};
use crate::error::Result;

macro_rules! message {
    ($name:ident, $kind:expr, $what:literal) => {
        #[doc = concat!("Version 1 of ", $what, ": 32 bytes of schema hash, then a [`CiphertextV1`].")]
        #[derive(Debug, Clone)]
        pub struct $name {
            /// SHA-256 of the schema.
            pub schema: [u8; 32],
            /// The ciphertext.
            pub ciphertext: CiphertextV1,
        }

        impl Wire for $name {
            const KIND: Kind = $kind;

            fn key_id(&self) -> Option<KeyId> {
                self.ciphertext.key_id()
            }

            fn encode(&self, context: &WireContext, out: &mut FieldWriter) {
                out.bytes(&self.schema);
                self.ciphertext.encode(context, out);
            }

            fn decode(context: &WireContext, key: KeyId, mut fields: FieldReader<'_>) -> Result<Self> {
                let schema = fields.array("schema hash")?;
                Ok(Self { schema, ciphertext: CiphertextV1::decode(context, key, fields)? })
            }

            fn limit(context: &WireContext) -> u64 {
                32 + CiphertextV1::limit(context)
            }
        }
    };
}

message!(QueryV1, Kind::Query, "a query");
message!(AnswerV1, Kind::Answer, "an answer");
