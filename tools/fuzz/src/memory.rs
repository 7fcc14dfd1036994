//! The largest piece of memory that was asked for: readers take it for bytes that are there.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's memory, with a note of the largest piece.
struct Noted;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static MEMORY: Noted = Noted;

// SAFETY: all calls go to the system's allocator as they came.
unsafe impl GlobalAlloc for Noted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are those of this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Forgets what was asked for.
pub fn forget() {
    LARGEST.store(0, Ordering::Relaxed);
}

/// The bytes of the largest piece since then.
pub fn largest() -> usize {
    LARGEST.load(Ordering::Relaxed)
}
