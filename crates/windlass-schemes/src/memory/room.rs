//! How much memory is available.

/// Whether the system would give this many bytes, now and in one piece (they are given back at
/// once), and, on Linux, whether they fit the limits of the control groups that the process is in:
/// a container's limit is not asked for by the system's allocation, which succeeds, but ends the
/// process without a word when the memory is used.
#[must_use]
pub fn has_memory(bytes: u64) -> bool {
    let reserved = usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    #[cfg(target_os = "linux")]
    let reserved = reserved && super::groups::room().is_none_or(|room| bytes <= room);
    reserved
}
