//! Checks that memory is available whose amount is known before it is needed.

use crate::error::{CliError, Result};

/// Refuses work for which the system would not give the memory: an error before anything is made,
/// where running out later ends the process.
///
/// # Errors
/// [`CliError::Memory`].
pub fn check(what: &'static str, bytes: u64) -> Result<()> {
    if windlass::has_memory(bytes) { Ok(()) } else { Err(CliError::Memory { what, bytes }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_is_is_refused() {
        assert!(check("a word", 8).is_ok());
        for bytes in [1 << 62, u64::MAX] {
            assert!(check("the keys", bytes).unwrap_err().to_string().contains("the keys need"));
        }
    }
}
