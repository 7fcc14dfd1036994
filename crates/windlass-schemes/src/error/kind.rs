//! The kinds of files.

use std::fmt;

/// The kind of a file. Codes are append-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A secret key.
    SecretKey,
    /// A public encryption key.
    PublicKey,
    /// Relinearisation and Galois keys.
    EvaluationKeys,
    /// One ciphertext of BGV or BFV.
    Ciphertext,
    /// The encrypted query of a lookup.
    Query,
    /// The encrypted answer of a lookup.
    Answer,
    /// The keys that bootstrapping needs in addition to evaluation keys.
    BootstrapKeys,
    /// One ciphertext of CKKS.
    ApproximateCiphertext,
    /// Ciphertexts of any scheme that encrypt an array together.
    CiphertextList,
    /// Relinearisation and Galois keys in their memory layout.
    ReadyKeys,
    /// The constants of a linear plan in their memory layout.
    PreparedConstants,
    /// The encrypted query for a table of any size.
    TableQuery,
    /// The encrypted answer of such a table.
    TableAnswer,
    /// The contribution of one shard of such a table to an answer.
    TablePart,
    /// A secret key, encrypted under a passphrase.
    SealedSecretKey,
    /// Encrypted rows for a model.
    EncryptedRows,
    /// Encrypted scores of a model.
    EncryptedScores,
    /// Encrypted query vectors of a search for similar vectors.
    SearchQuery,
    /// The encrypted scores of a table's vectors.
    SearchAnswer,
    /// Blinded keys of rows, for a server that hides the keys of its table.
    TableBlindRequest,
    /// What such a server computed from them.
    TableBlindReply,
    /// The keys that a refresh of CKKS needs in addition to evaluation keys.
    RefreshKeys,
    /// What a party keeps of a key pair that several hold together.
    PartyState,
    /// A message of one party to others.
    PartyMessage,
    /// What others need to delegate to a recipient.
    ReceivingKey,
    /// A key that brings ciphertexts from one key pair to another.
    ReencryptionKey,
}

impl Kind {
    /// Every kind, its code in a header and its name.
    #[doc(hidden)]
    pub const ALL: [(Self, u16, &'static str); 26] = [
        (Self::SecretKey, 1, "a secret key"),
        (Self::PublicKey, 2, "a public key"),
        (Self::EvaluationKeys, 3, "evaluation keys"),
        (Self::Ciphertext, 4, "a ciphertext"),
        (Self::Query, 5, "a query"),
        (Self::Answer, 6, "an answer"),
        (Self::BootstrapKeys, 7, "bootstrapping keys"),
        (Self::ApproximateCiphertext, 8, "a CKKS ciphertext"),
        (Self::CiphertextList, 9, "a list of ciphertexts"),
        (Self::ReadyKeys, 10, "evaluation keys, ready for use"),
        (Self::PreparedConstants, 11, "prepared constants of a linear plan"),
        (Self::TableQuery, 12, "a query to a table"),
        (Self::TableAnswer, 13, "an answer of a table"),
        (Self::TablePart, 14, "a shard's part of an answer"),
        (Self::SealedSecretKey, 15, "an encrypted secret key"),
        (Self::EncryptedRows, 16, "encrypted rows for a model"),
        (Self::EncryptedScores, 17, "encrypted scores of a model"),
        (Self::SearchQuery, 18, "a query of a search"),
        (Self::SearchAnswer, 19, "an answer of a search"),
        (Self::TableBlindRequest, 20, "a blind request to a table"),
        (Self::TableBlindReply, 21, "a blind reply of a table"),
        (Self::RefreshKeys, 22, "keys of a refresh of CKKS"),
        (Self::PartyState, 23, "the state of a party"),
        (Self::PartyMessage, 24, "a message of a party"),
        (Self::ReceivingKey, 25, "a receiving key"),
        (Self::ReencryptionKey, 26, "a re-encryption key"),
    ];

    /// Whether only its owner may read it.
    pub const fn is_secret(self) -> bool {
        matches!(self, Self::SecretKey | Self::SealedSecretKey | Self::PartyState)
    }

    /// Whether its residues have the same layout in the file as in memory, so that it can be
    /// mapped.
    pub const fn is_mapped(self) -> bool {
        matches!(self, Self::ReadyKeys | Self::PreparedConstants)
    }

    /// Its code in a header.
    #[doc(hidden)]
    pub fn code(self) -> u16 {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or(0, |(_, code, _)| *code)
    }

    /// The kind of a code.
    #[doc(hidden)]
    pub fn from_code(code: u16) -> Option<Self> {
        Self::ALL.iter().find(|(_, c, _)| *c == code).map(|(kind, ..)| *kind)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|(kind, ..)| kind == self).map_or("", |(.., name)| name))
    }
}
