//! Memory whose amount is known before it is needed.

use crate::error::{Error, Result};

/// Refuses work for which the system would not give the memory, now and in one piece: an error
/// before anything is made, where running out later ends the process. It is given back at once.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn check_memory(what: &'static str, bytes: u64) -> Result<()> {
    let reserved = usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if reserved { Ok(()) } else { Err(Error::OutOfMemory { what, bytes }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_is_is_refused() {
        assert!(check_memory("a word", 8).is_ok());
        for bytes in [1 << 62, u64::MAX] {
            assert!(check_memory("the keys", bytes).unwrap_err().to_string().contains("the keys take"));
        }
    }
}
