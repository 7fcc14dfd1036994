//! Asking a service: over HTTP, with a secret key that stays here.

mod access;
mod ask;
mod causes;
mod connector;
mod error;
mod http;
pub mod mailbox;
mod pinned;
mod state;
mod validity;

pub use access::{Access, Token};
pub use ask::Asker;
pub use error::{AskError, Refused, Result};
pub use http::{Remote, Response};
pub use state::{SECURE_BITS, State};
pub use windlass_retrieval::Wanted;
