//! The memory that is held, and the most of it since an input was begun.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's memory, with a count of the bytes that are held.
struct Counted;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
/// What was held when the input was begun.
static BEFORE: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static MEMORY: Counted = Counted;

fn taken(size: usize) {
    let held = HELD.fetch_add(size, Ordering::Relaxed) + size;
    MOST.fetch_max(held, Ordering::Relaxed);
}

fn given_back(size: usize) {
    HELD.fetch_sub(size, Ordering::Relaxed);
}

// SAFETY: all calls go to the system's allocator as they came.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: the caller's promises are those of this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Where it moves, both are held for a moment.
        taken(size);
        given_back(layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        given_back(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// An input begins: from here on the maximum is counted again.
pub fn begin() {
    let held = HELD.load(Ordering::Relaxed);
    BEFORE.store(held, Ordering::Relaxed);
    MOST.store(held, Ordering::Relaxed);
}

/// The most bytes that were held at one time since then, beside those that were held before.
pub fn most() -> usize {
    MOST.load(Ordering::Relaxed) - BEFORE.load(Ordering::Relaxed)
}

/// The bytes that an input may hold at one time.
#[derive(Clone, Copy)]
pub struct Bound {
    /// For any length.
    pub fixed: usize,
    /// For each of its bytes.
    pub per_byte: usize,
}

impl Bound {
    /// Panics if the input that has been read held more.
    pub fn check(self, length: usize) {
        let (most, bound) = (most(), self.fixed + self.per_byte * length);
        assert!(most <= bound, "{most} bytes were held for an input of {length}, {bound} are allowed");
    }
}
