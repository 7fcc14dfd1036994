//! Why a service does not start.

use std::io;
use std::net::SocketAddr;

use crate::tokens::BadTokens;

/// Why a service does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The table cannot be opened.
    #[error(transparent)]
    Table(#[from] windlass_retrieval::Error),
    /// The system refuses.
    #[error("the system refuses: {0}")]
    System(#[from] std::io::Error),
    /// The keys of no client fit.
    #[error(
        "the evaluation keys of a client need {least} bytes of memory, but the limit is {room}: raise it (--key-cache, --client-keys)"
    )]
    SmallCache {
        /// Bytes of the cache.
        room: u64,
        /// Bytes of a client's keys.
        least: u64,
    },
    /// A table whose keys are hidden, without what hides them.
    #[error("the keys of this table are hidden: give the OPRF key that hides them (--oprf-key FILE)")]
    NoOprfKey,
    /// The file of tokens cannot be read.
    #[error(transparent)]
    Tokens(#[from] BadTokens),
    /// The directory of keys cannot be had.
    #[error("{path}: {reason}: choose another directory for keys, or ask its owner")]
    Shelf {
        /// The directory.
        path: String,
        /// Why.
        reason: String,
    },
    /// A file of the page cannot be read, or belongs to another version.
    #[error(
        "{path}: {reason}: give the folder js of this version of Windlass after `make wasm`, or its npm package windlass (--page)"
    )]
    Page {
        /// The file.
        path: String,
        /// Why.
        reason: std::io::Error,
    },
    /// The address is not available.
    #[error("{address}: {reason}")]
    Listen {
        /// Where the service was to listen.
        address: SocketAddr,
        /// Why it cannot, and what to do.
        reason: String,
    },
    /// A certificate or a key that cannot be used.
    #[error("{path}: {reason}")]
    Tls {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
}

impl StartError {
    /// An address on which the system lets no program listen.
    pub fn listen(address: SocketAddr, error: &io::Error) -> Self {
        let reason = match error.kind() {
            io::ErrorKind::AddrInUse => {
                "another program listens there: stop it, or choose another port with --listen (port 0 takes a free one)"
                    .to_owned()
            }
            io::ErrorKind::AddrNotAvailable => {
                "this machine does not have that address: give one that it has with --listen (0.0.0.0 takes all)"
                    .to_owned()
            }
            io::ErrorKind::PermissionDenied => {
                "the system does not allow it: choose a port of at least 1024 with --listen".to_owned()
            }
            _ => format!("the service cannot listen there ({error}): choose another address with --listen"),
        };
        Self::Listen { address, reason }
    }
}
