//! What programs that hold secret keys share: files of secret keys, the passphrases that open them,
//! what killed programs left of them, memory that is not dumped, a last line if it runs out,
//! whether standard output is open, and how arguments are read.
//!
//! A passphrase is typed on the terminal, where it does not show, or is the first line of a file.
//! It is never an argument, which every user of the machine could list, and never the value of an
//! environment variable, which child processes, core dumps and logs of builds inherit: the variable
//! [`VARIABLE`] names a file.
#![deny(unsafe_code)]

mod abort;
mod args;
mod error;
mod numbers;
mod passphrase;
mod privacy;
mod signals;
mod stale;
mod stdout;
mod terminal;

#[cfg(unix)]
pub use abort::tell_when_aborted;
pub use args::{KeepArgs, OpenArgs, SealArgs};
pub use error::{Result, SecretError, VARIABLE};
pub use numbers::parse_from;
pub use passphrase::{
    OpenedSecret, new_passphrase, open_file, open_file_beside, open_file_to_keep, open_sealed_file, open_to_seal,
};
pub use privacy::keep_memory_private;
#[cfg(unix)]
pub use signals::{show_again_at_end, watch_for_end};
pub use stale::sweep;
pub use stdout::stdout_is_closed;
pub use terminal::show_again;
