//! Tables of vectors, prepared for scans.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::quantise::QuantisedTable;
use super::shape::SearchShape;
use crate::error::{Error, Result};
use crate::setting::{N, Setting};
use crate::tiles::Segment;

/// Called with the number of finished polynomials and the total; says whether to continue.
pub type Progress<'a> = dyn Fn(usize, usize) -> ControlFlow<()> + Sync + 'a;

/// Rows of a segment that is worth a task: what a scan takes from it in one block is 4 KiB.
const SEGMENT_ROWS: usize = 64;

/// A prepared table, in memory.
#[derive(Debug)]
pub struct VectorTable {
    shape: SearchShape,
    setting: Arc<Setting>,
    segments: Vec<Segment>,
    /// ‖X‖² of each vector, where the server adds it.
    norms: Vec<i64>,
}

impl VectorTable {
    /// Prepares a table, on all threads of the pool.
    ///
    /// Cost: two transforms for each of the R·C polynomials.
    ///
    /// # Errors
    /// As [`SearchShape::check`]; [`Error::OtherTable`] for a shape of other vectors;
    /// [`Error::OutOfMemory`]; [`Error::Cancelled`] if `progress` says so.
    pub fn prepare(table: &QuantisedTable, shape: &SearchShape, progress: &Progress<'_>) -> Result<Self> {
        let setting = shape.setting()?;
        if !shape.is_of(table) {
            return Err(Error::OtherTable { what: "the shape" });
        }
        let (rows, columns) = (shape.layout.all_rows(), shape.columns());
        let pairs = columns.div_ceil(2);
        let each = SEGMENT_ROWS.div_ceil(rows).min(pairs);
        let finished = AtomicUsize::new(0);
        let segment = |first: usize| {
            let mut segment = Segment::zeros(rows, each.min(pairs - first))?;
            for column in 2 * first..columns.min(2 * (first + each)) {
                fill(&setting, shape, table, &mut segment, column, 2 * first);
                let finished = finished.fetch_add(rows, Ordering::Relaxed) + rows;
                if progress(finished, rows * columns).is_break() {
                    return Err(Error::Cancelled);
                }
            }
            Ok(segment)
        };
        let firsts: Vec<usize> = (0..pairs).step_by(each).collect();
        let segments = firsts.into_par_iter().map(segment).collect::<Result<_>>()?;
        Ok(Self { shape: shape.clone(), setting, segments, norms: table.norms().to_vec() })
    }

    /// The public shape.
    pub fn shape(&self) -> &SearchShape {
        &self.shape
    }

    /// The setting.
    pub fn setting(&self) -> &Arc<Setting> {
        &self.setting
    }

    /// The columns.
    pub(super) fn segments(&self) -> Vec<&Segment> {
        self.segments.iter().collect()
    }

    /// Where the scores of a column stand, and what is added to each.
    pub(super) fn places(&self, column: usize) -> impl Iterator<Item = (usize, i64)> + '_ {
        let first = column * self.shape.layout.vectors();
        (0..self.shape.vectors_in(column)).map(move |j| {
            let addend = self.norms.get(first + j).copied().unwrap_or(0);
            (self.shape.layout.output(j), addend)
        })
    }
}

/// One column of a table into a segment that begins with column `first`.
fn fill(
    setting: &Setting,
    shape: &SearchShape,
    table: &QuantisedTable,
    segment: &mut Segment,
    column: usize,
    first: usize,
) {
    let from = column * shape.layout.vectors() * shape.dimension;
    let vectors = &table.values()[from..from + shape.vectors_in(column) * shape.dimension];
    let (mut coefficients, mut scratch) = (vec![0; N], vec![0; N]);
    for row in 0..shape.layout.all_rows() {
        shape.layout.table(vectors, shape.dimension, row, &mut coefficients);
        segment.put(setting, row, column - first, &coefficients, &mut scratch);
    }
}
