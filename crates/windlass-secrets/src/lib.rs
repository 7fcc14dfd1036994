//! What programs that hold secret keys share: files of secret keys, the passphrases that open them,
//! what killed programs left of them, and memory that is not dumped.
//!
//! A passphrase is typed on the terminal, where it does not show, or is the first line of a file.
//! It is never an argument, which every user of the machine could list, and never the value of an
//! environment variable, which child processes, core dumps and logs of builds inherit: the variable
//! [`VARIABLE`] names a file.
#![forbid(unsafe_code)]

mod args;
mod error;
mod passphrase;
mod privacy;
mod signals;
mod stale;
mod terminal;

pub use args::{KeepArgs, OpenArgs, SealArgs};
pub use error::{Result, SecretError, VARIABLE};
pub use passphrase::{new_passphrase, open_file, open_sealed_file, open_to_seal};
pub use privacy::keep_memory_private;
#[cfg(unix)]
pub use signals::{show_again_at_end, watch_for_end};
pub use stale::sweep;
pub use terminal::show_again;
