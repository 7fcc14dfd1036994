//! What can go wrong when a service is asked.

use std::path::PathBuf;

use windlass::wire::WireError;

/// A result of asking.
pub type Result<T> = std::result::Result<T, AskError>;

/// Why a query was not answered.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The service cannot be reached, or says nothing that can be understood.
    #[error("{address}: {reason}")]
    Unreachable {
        /// Where it should be.
        address: String,
        /// Why.
        reason: String,
    },
    /// An address that is not asked.
    #[error("{reason}")]
    Address {
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// The program at the address redirects.
    #[error("{address} redirects to '{place}', and redirects are not followed; ask that address if you trust it")]
    Elsewhere {
        /// Who was asked.
        address: String,
        /// Where to.
        place: String,
    },
    /// Standard output is closed, so the answer would be lost.
    #[error(
        "standard output is closed, so the answer would be lost and nothing was asked; redirect it to a file (> FILE) or to /dev/null"
    )]
    Unheard,
    /// The service refused.
    #[error("{0}")]
    Refused(Box<Refused>),
    /// The service has another table than when it was first asked.
    #[error(
        "{address} has another table than before: its schema is {found}..., not {known}...; if you expect that, accept it with --accept-schema {found}"
    )]
    OtherSchema {
        /// Which service.
        address: String,
        /// First digits of the schema that it has.
        found: String,
        /// First digits of the schema that it had.
        known: String,
    },
    /// Parameters below 128 bits.
    #[error(
        "the parameters of the table have {bits:.1} bits of security, fewer than 128; ask its owner for 128 bits, or accept them with --insecure"
    )]
    Weak {
        /// λ.
        bits: f64,
    },
    /// A file of the state directory.
    #[error("{}: {reason}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A secret key or its passphrase was refused.
    #[error(transparent)]
    Secret(#[from] windlass_secrets::SecretError),
    /// No signal can be watched for, and a passphrase may be asked for.
    #[error("cannot watch for Ctrl-C: {0}")]
    Signals(std::io::Error),
    /// Bytes that are not a row.
    #[error(
        "the answer decrypts to a row without the fields of the table; ask its owner whether the schema and the table belong together"
    )]
    NotARow,
    /// The table refused the query.
    #[error(transparent)]
    Table(#[from] windlass_retrieval::Error),
    /// The library refused, an answer among others.
    #[error(transparent)]
    Windlass(#[from] windlass::Error),
    /// Bytes that cannot be made.
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// What a service said when it refused.
#[derive(Debug, thiserror::Error)]
#[error("{address} refuses ({status}): {title}: {cause}; {fix}")]
pub struct Refused {
    /// Which service.
    pub address: String,
    /// The status of its response.
    pub status: u16,
    /// The kind of the problem, where it named one.
    pub kind: String,
    /// The problem.
    pub title: String,
    /// What was wrong with this request.
    pub cause: String,
    /// What to do.
    pub fix: String,
}
