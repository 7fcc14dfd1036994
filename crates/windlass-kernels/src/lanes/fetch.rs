//! Prefetches memory into the cache, which changes the speed and no result.

use super::contract::LANES;

/// Into the first-level cache: needed within a microsecond.
#[inline(always)]
pub(crate) fn near(words: &[u64; LANES]) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has it, and it reads nothing.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(words.as_ptr().cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = words;
}
