//! Checks that memory is available before it is needed.

#[cfg(target_os = "linux")]
mod groups;
mod room;

pub use room::has_memory;

use crate::error::{Error, Result};

/// Refuses work for which [`has_memory`] returns false. The caller gets an error before anything is
/// computed; otherwise the process would end when memory runs out.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn check_memory(what: &'static str, bytes: u64) -> Result<()> {
    if has_memory(bytes) { Ok(()) } else { Err(Error::OutOfMemory { what, bytes }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_is_is_refused() {
        assert!(check_memory("a word", 8).is_ok());
        for bytes in [1 << 62, u64::MAX] {
            assert!(check_memory("the keys", bytes).unwrap_err().to_string().contains("the keys need"));
        }
    }
}
