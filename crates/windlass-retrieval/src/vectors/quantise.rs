//! Quantises vectors to small integers, and bounds the effect on scores.
//!
//! A number x becomes X = round(s·x), so x = X/s + e with |e| ≤ 1/(2s). A table has one scale s,
//! which maps its largest number to 2^{b−1} − 1. Integers are used unchanged (s = 1) if they fit
//! and need no division by a norm.

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use windlass_rlwe::Limits;

use super::metric::Metric;
use super::values::Vectors;
use crate::error::{Error, Result};

/// Bits of a number, its sign included.
pub(super) const BITS: std::ops::RangeInclusive<u32> = 2..=8;

/// How far beyond the table's numbers those of a query may be where both have one scale.
const REACH: i32 = 2;

/// A table of small integers.
#[derive(Debug, Clone)]
pub struct QuantisedTable {
    metric: Metric,
    bits: u32,
    dimension: usize,
    scale: f64,
    exact: bool,
    values: Vec<i8>,
    /// ‖X‖² of each vector, where the metric asks for it.
    norms: Vec<i64>,
    row_sum: i64,
    largest_score: i64,
    digest: [u8; 32],
}

impl QuantisedTable {
    /// Quantises a table to numbers of `bits` bits; under [`Metric::Cosine`] each vector is divided
    /// by its norm first.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for bits that are not 2 to 8; [`Error::ZeroVector`] for a vector
    /// without a direction under [`Metric::Cosine`].
    pub fn new(vectors: &Vectors<'_>, metric: Metric, bits: u32) -> Result<Self> {
        Limits::between(*BITS.start(), *BITS.end()).check("the bits of a number", bits)?;
        let dimension = vectors.dimension();
        let integers = fitting(vectors, metric, query_limit(metric, bits) / reach(metric));
        let exact = integers.is_some();
        let (values, scale) = match integers {
            Some(values) => (values.to_vec(), 1.0),
            None => quantised(vectors, metric, bits)?,
        };
        let square = |vector: &[i8]| vector.iter().map(|&x| i64::from(x).pow(2)).sum::<i64>();
        let rows = || values.par_chunks_exact(dimension);
        let sum = |vector: &[i8]| vector.iter().map(|&x| i64::from(x).abs()).sum::<i64>();
        let row_sum = rows().map(sum).max().unwrap_or(0);
        let limit = i64::from(query_limit(metric, bits));
        let (norms, largest_score) = match metric {
            Metric::Euclidean => {
                let worst = |vector: &[i8]| square(vector) + 2 * limit * sum(vector);
                (rows().map(square).collect(), rows().map(worst).max().unwrap_or(0))
            }
            _ => (Vec::new(), row_sum * limit),
        };
        let digest = digest_of(dimension, &values);
        Ok(Self { metric, bits, dimension, scale, exact, values, norms, row_sum, largest_score, digest })
    }

    /// The metric.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// b.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// D.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many vectors.
    pub fn count(&self) -> usize {
        self.values.len() / self.dimension
    }

    /// s.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Whether the integers are the numbers as they were given.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The integers, row by row.
    pub fn values(&self) -> &[i8] {
        &self.values
    }

    /// SHA-256 of the integers, in their order: vectors or dimensions that change places give
    /// another.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The largest Σ_k |X_k|.
    pub fn row_sum(&self) -> i64 {
        self.row_sum
    }

    /// No query has a larger score than this, in absolute value.
    pub fn largest_score(&self) -> i64 {
        self.largest_score
    }

    /// ‖X‖² for each vector under [`Metric::Euclidean`], nothing else.
    pub fn norms(&self) -> &[i64] {
        &self.norms
    }
}

/// What [`QuantisedTable::digest`] gives.
fn digest_of(dimension: usize, values: &[i8]) -> [u8; 32] {
    const TOGETHER: usize = 1 << 12;
    let mut hash = Sha256::new();
    hash.update(b"windlass table of vectors 1\n");
    hash.update((dimension as u64).to_le_bytes());
    let mut bytes = Vec::with_capacity(TOGETHER);
    for values in values.chunks(TOGETHER) {
        bytes.clear();
        bytes.extend(values.iter().map(|&x| x as u8));
        hash.update(&bytes);
    }
    hash.finalize().into()
}

/// The largest |Q_k| that a table is made for.
pub(super) fn query_limit(metric: Metric, bits: u32) -> i32 {
    reach(metric) << (bits - 1)
}

fn reach(metric: Metric) -> i32 {
    if metric == Metric::Euclidean { REACH } else { 1 }
}

/// The integers, if that is what they are and none is larger than `limit`, and no norm divides
/// them.
fn fitting<'a>(vectors: &Vectors<'a>, metric: Metric, limit: i32) -> Option<&'a [i8]> {
    let values = vectors.integers().filter(|_| metric != Metric::Cosine)?;
    values.iter().all(|&x| i32::from(x).abs() <= limit).then_some(values)
}

/// A table times the scale that takes its largest number to 2^{b−1} − 1, rounded.
fn quantised(vectors: &Vectors<'_>, metric: Metric, bits: u32) -> Result<(Vec<i8>, f64)> {
    let (dimension, count) = (vectors.dimension(), vectors.count());
    let read = |index: usize, out: &mut [f64]| {
        vectors.read(index, out);
        prepared(metric, out).then_some(()).ok_or(Error::ZeroVector { what: "vector", number: index })
    };
    let largest = (0..count).into_par_iter().map_init(
        || vec![0.0; dimension],
        |vector, index| {
            read(index, vector)?;
            Ok::<f64, Error>(vector.iter().fold(0.0, |most: f64, x| most.max(x.abs())))
        },
    );
    let largest = largest.try_reduce(|| 0.0, |a, b| Ok(a.max(b)))?;
    let scale = scale_of(largest, bits);
    let mut values = vec![0; count * dimension];
    values.par_chunks_exact_mut(dimension).enumerate().try_for_each_init(
        || vec![0.0; dimension],
        |vector, (index, out)| {
            read(index, vector)?;
            out.iter_mut().zip(&*vector).for_each(|(out, x)| *out = (scale * x).round() as i8);
            Ok::<(), Error>(())
        },
    )?;
    Ok((values, scale))
}

/// What takes numbers of at most `largest` to 2^{b−1} − 1.
pub(super) fn scale_of(largest: f64, bits: u32) -> f64 {
    let scale = f64::from((1 << (bits - 1)) - 1) / largest;
    // Nothing but zeros, or numbers so small that only zeros are left of them.
    if scale.is_finite() && scale > 0.0 { scale } else { 1.0 }
}

/// Divides by the norm where the metric asks for it; false when that cannot be done. The largest
/// number is divided by first, so that no square is too large or too small for a double.
pub(super) fn prepared(metric: Metric, vector: &mut [f64]) -> bool {
    if metric != Metric::Cosine {
        return true;
    }
    let largest = vector.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if largest == 0.0 {
        return false;
    }
    vector.iter_mut().for_each(|x| *x /= largest);
    let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    vector.iter_mut().for_each(|x| *x /= norm);
    true
}
