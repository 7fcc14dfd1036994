//! Says λ before anything is made, and refuses weak parameters.

use std::fmt::Display;

use windlass::Params;

use crate::error::{CliError, Result};
use crate::report::print_message;

/// Below this many bits a schema's parameters are refused.
pub const SECURE_BITS: f64 = 128.0;

/// Runs before anything is made under parameters that the user chose: fewer than 128 bits must be
/// accepted. The name of a preset does, for it begins with `insecure` or `paper`; the name of a
/// file does not.
pub fn vouch(name: &str, bits: f64, given: &str, insecure: bool, quiet: bool) -> Result<()> {
    if Params::is_file_name(given) && bits < SECURE_BITS && !insecure {
        return Err(CliError::WeakFile { path: given.into(), parameters: name.to_owned(), bits });
    }
    tell_security(format_args!("parameters '{name}':"), bits, "", quiet);
    Ok(())
}

/// Tells λ of what is named, before anything is made; with `quiet` only where it is a warning.
pub fn tell_security(what: impl Display, bits: f64, more: &str, quiet: bool) {
    let weak = bits < SECURE_BITS;
    let warning = if weak { ", fewer than 128: use it only in tests" } else { "" };
    if weak || !quiet {
        print_message(format_args!("{what} {bits:.1} bits of security{warning}{more}"));
    }
}
