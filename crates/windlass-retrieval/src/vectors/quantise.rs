//! Vectors of small integers, and what that does to scores.
//!
//! A number x becomes X = round(s·x), so x = X/s + e with |e| ≤ 1/(2s). A table has one scale s,
//! which takes its largest number to 2^{b−1} − 1. Integers are taken as they are, s = 1, where they
//! fit and need not be divided by a norm first.

use rayon::prelude::*;
use windlass_rlwe::Limits;

use super::metric::Metric;
use super::shape::SearchShape;
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
    values: Vec<i8>,
    /// ‖X‖² of each vector, where the metric asks for it.
    norms: Vec<i64>,
    row_sum: i64,
    largest_score: i64,
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
        let (values, scale) = match fitting(vectors, metric, query_limit(metric, bits) / reach(metric)) {
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
        Ok(Self { metric, bits, dimension, scale, values, norms, row_sum, largest_score })
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

    /// The integers, row by row.
    pub fn values(&self) -> &[i8] {
        &self.values
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

    /// The scores of all vectors for query `number` in the clear: what the client of an encrypted
    /// search gets, exactly.
    pub fn scores(&self, query: &QuantisedQuery, number: usize) -> Vec<i64> {
        let query = &query.sent[number];
        let score = |(index, vector): (usize, &[i8])| {
            let product: i64 = vector.iter().zip(query).map(|(&x, &q)| i64::from(x) * i64::from(q)).sum();
            product + self.norms.get(index).copied().unwrap_or(0)
        };
        self.values.par_chunks_exact(self.dimension).enumerate().map(score).collect()
    }
}

/// Queries as small integers.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantisedQuery {
    /// Q, or −2·Q where ‖x‖² − 2·x·q is asked for.
    sent: Vec<Vec<i32>>,
    scales: Vec<f64>,
    /// ‖Q‖² under [`Metric::Euclidean`], else 0.
    norms: Vec<i64>,
    /// Σ_k |q_k|, of the query as it was given, or normalised.
    sums: Vec<f64>,
}

impl QuantisedQuery {
    /// How many queries.
    pub fn count(&self) -> usize {
        self.sent.len()
    }

    /// The integers that are sent for one of them.
    pub fn sent(&self, number: usize) -> &[i32] {
        &self.sent[number]
    }

    /// The score that an integer stands for: x·q, the cosine, or ‖x − q‖².
    pub fn score(&self, shape: &SearchShape, number: usize, integer: i64) -> f64 {
        (integer + self.norms[number]) as f64 / (shape.scale * self.scales[number])
    }

    /// How far a score may be from that of the vectors as they were given, beside the rounding of
    /// doubles.
    ///
    /// With x = X/s + e, q = Q/r + f: x·q − X·Q/(s·r) = Σ x_k·f_k + Σ e_k·Q_k/r, at most
    /// ‖x‖₁/(2r) + ‖q‖₁/(2s) + D/(4sr) in absolute value; and ‖x‖₁ ≤ (‖X‖₁ + D/2)/s. Under
    /// [`Metric::Euclidean`], where r = s and d = ‖X − Q‖/s is the root of the score, (e − f)_k is at
    /// most 1/s: the score is off by at most 2·√D·d/s + D/s².
    pub fn error_bound(&self, shape: &SearchShape, number: usize, score: f64) -> f64 {
        let (s, r, dimension) = (shape.scale, self.scales[number], shape.dimension as f64);
        // Integers that were taken as they are have no error.
        let (of_table, of_query) = (f64::from(s != 1.0), f64::from(r != 1.0));
        match shape.metric {
            Metric::Euclidean => {
                let each = (of_table.max(f64::from(self.rounded(number)))) / s;
                2.0 * dimension.sqrt() * score.max(0.0).sqrt() * each + dimension * each * each
            }
            _ => {
                let table_sum = (shape.row_sum as f64 + of_table * dimension / 2.0) / s;
                let mixed = of_table * of_query * dimension / (4.0 * s * r);
                of_query * table_sum / (2.0 * r) + of_table * self.sums[number] / (2.0 * s) + mixed
            }
        }
    }

    /// Whether a query that has the table's scale is not the integers that it was given as.
    fn rounded(&self, number: usize) -> bool {
        let sum: i64 = self.sent[number].iter().map(|&q| i64::from(q).abs() / 2).sum();
        sum as f64 != self.sums[number] * self.scales[number]
    }
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
fn scale_of(largest: f64, bits: u32) -> f64 {
    let scale = f64::from((1 << (bits - 1)) - 1) / largest;
    // Nothing but zeros, or numbers so small that only zeros are left of them.
    if scale.is_finite() && scale > 0.0 { scale } else { 1.0 }
}

/// Divides by the norm where the metric asks for it; false when that cannot be done. The largest
/// number is divided by first, so that no square is too large or too small for a double.
fn prepared(metric: Metric, vector: &mut [f64]) -> bool {
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

impl SearchShape {
    /// Queries as this table wants them.
    ///
    /// # Errors
    /// [`Error::WrongDimension`]; [`Error::ZeroVector`] for a query without a direction under
    /// [`Metric::Cosine`]; [`Error::TooFar`] for one with numbers beyond twice the table's largest
    /// under [`Metric::Euclidean`].
    pub fn quantise(&self, vectors: &Vectors<'_>) -> Result<QuantisedQuery> {
        if vectors.dimension() != self.dimension {
            return Err(Error::WrongDimension { got: vectors.dimension(), expected: self.dimension });
        }
        let mut made = QuantisedQuery { sent: vec![], scales: vec![], norms: vec![], sums: vec![] };
        let mut vector = vec![0.0; self.dimension];
        for number in 0..vectors.count() {
            vectors.read(number, &mut vector);
            if !prepared(self.metric, &mut vector) {
                return Err(Error::ZeroVector { what: "query", number });
            }
            self.add_query(vectors, number, &vector, &mut made)?;
        }
        Ok(made)
    }

    fn add_query(&self, vectors: &Vectors<'_>, number: usize, vector: &[f64], made: &mut QuantisedQuery) -> Result<()> {
        let limit = query_limit(self.metric, self.bits);
        let largest = vector.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let integers = vectors.integers().is_some() && self.metric != Metric::Cosine && largest <= f64::from(limit);
        let scale = match self.metric {
            Metric::Euclidean => self.scale,
            _ if integers => 1.0,
            _ => scale_of(largest, self.bits),
        };
        if (largest * scale).round() > f64::from(limit) {
            return Err(Error::TooFar { number, value: largest, most: f64::from(limit) / scale });
        }
        let integers = vector.iter().map(|x| (scale * x).round() as i32);
        let (factor, norm) = match self.metric {
            Metric::Euclidean => (-2, integers.clone().map(|q| i64::from(q).pow(2)).sum()),
            _ => (1, 0),
        };
        made.sent.push(integers.map(|q| factor * q).collect());
        made.scales.push(scale);
        made.norms.push(norm);
        made.sums.push(vector.iter().map(|x| x.abs()).sum());
        Ok(())
    }
}
