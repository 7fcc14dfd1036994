//! The cost of tables and queries, in seconds of one core.

use serde::Serialize;

use crate::shape::{Shape, Sizes, index_bits};

/// Seconds on one core of the machine whose rates are built in: an AMD EPYC with AVX2.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Seconds {
    /// Preparing the table.
    pub prepare: f64,
    /// Answering a query for one row.
    pub answer: f64,
}

/// Seconds of a key switch of an expansion, its part of the tile included.
const SWITCH: f64 = 0.17e-3;
/// Seconds of an external product: transforms of the ciphertext, and of each digit.
const PRODUCT: [f64; 2] = [0.07e-3, 0.032e-3];
/// Bytes of prepared table that a scan reads in a second, for one selection and for each that
/// follows.
const SCAN: [f64; 2] = [11e9, 25e9];
/// Bytes of data that are prepared in a second.
pub(crate) const PREPARE: f64 = 110e6;

impl Shape {
    /// Seconds that a query of `selections` selections takes to answer.
    pub fn seconds(&self, sizes: &Sizes, selections: usize) -> f64 {
        let times = selections as f64;
        let switches = self.switches();
        let products = self.columns - 1 + index_bits(self.records) as usize;
        let product = PRODUCT[0] + PRODUCT[1] * f64::from(self.gadget.digits);
        let scan = sizes.prepared as f64 * (1.0 / SCAN[0] + (times - 1.0) / SCAN[1]);
        times * (switches as f64 * SWITCH + products as f64 * product + 0.3e-3) + scan
    }
}
