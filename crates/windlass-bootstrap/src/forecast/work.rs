//! A sum of prices that several threads add to.

use std::sync::atomic::{AtomicU64, Ordering};

/// A sum of prices, in transforms of one row. It does not depend on the order in which threads add.
#[derive(Debug, Default)]
pub(super) struct Work(AtomicU64);

impl Work {
    /// Units to a transform.
    const UNITS: f64 = 1e4;

    /// Adds a price.
    pub(super) fn add(&self, transforms: f64) {
        self.0.fetch_add((transforms * Self::UNITS).round() as u64, Ordering::Relaxed);
    }

    /// The sum, which starts again.
    pub(super) fn take(&self) -> f64 {
        self.0.swap(0, Ordering::Relaxed) as f64 / Self::UNITS
    }
}
