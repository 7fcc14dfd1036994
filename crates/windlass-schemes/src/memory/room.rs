//! Checks how much memory is available.

/// Whether this many bytes are available now. Two checks: the system allocates them in one piece
/// (they are freed at once), and on Linux they fit the limits of the process's control groups. The
/// second is needed because an allocation above a container's limit succeeds, but the process is
/// killed without a message when it uses the memory.
#[must_use]
pub fn has_memory(bytes: u64) -> bool {
    let reserved = usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    #[cfg(target_os = "linux")]
    let reserved = reserved && super::groups::room().is_none_or(|room| bytes <= room);
    reserved
}
