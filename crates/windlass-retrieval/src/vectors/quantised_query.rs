//! Queries as small integers, the scores that the integers represent, and the error bound of
//! scores.

use hmac::{Hmac, Mac};
use rayon::prelude::*;
use sha2::Sha256;

use super::metric::Metric;
use super::quantise::{QuantisedTable, prepared, query_limit, scale_of};
use super::shape::SearchShape;
use super::values::Vectors;
use crate::error::{Error, Result};
use crate::query_name::QueryContent;

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
    /// Whether the integers are the numbers as they were given.
    exact: Vec<bool>,
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
        let (of_table, of_query) = (f64::from(!shape.exact), f64::from(!self.exact[number]));
        match shape.metric {
            Metric::Euclidean => {
                let each = (of_table + of_query) / (2.0 * s);
                2.0 * dimension.sqrt() * score.max(0.0).sqrt() * each + dimension * each * each
            }
            _ => {
                let table_sum = (shape.row_sum as f64 + of_table * dimension / 2.0) / s;
                let mixed = of_table * of_query * dimension / (4.0 * s * r);
                of_query * table_sum / (2.0 * r) + of_table * self.sums[number] / (2.0 * s) + mixed
            }
        }
    }
}

/// The numbers that are sent, and all that makes scores of the integers that come back.
impl QueryContent for QuantisedQuery {
    fn write(&self, code: &mut Hmac<Sha256>) {
        code.update(b"v");
        code.update(&(self.count() as u64).to_le_bytes());
        for number in 0..self.count() {
            let sent = &self.sent[number];
            code.update(&(sent.len() as u64).to_le_bytes());
            sent.iter().for_each(|x| code.update(&x.to_le_bytes()));
            code.update(&self.scales[number].to_le_bytes());
            code.update(&self.norms[number].to_le_bytes());
            code.update(&self.sums[number].to_le_bytes());
            code.update(&[u8::from(self.exact[number])]);
        }
    }
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
        let mut made = QuantisedQuery { sent: vec![], scales: vec![], norms: vec![], sums: vec![], exact: vec![] };
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
        made.exact.push(scale == 1.0 && vector.iter().all(|x| x.round() == *x));
        made.sums.push(vector.iter().map(|x| x.abs()).sum());
        Ok(())
    }
}

impl QuantisedTable {
    /// The scores of all vectors for query `number` in the clear: what the client of an encrypted
    /// search gets, exactly.
    pub fn scores(&self, query: &QuantisedQuery, number: usize) -> Vec<i64> {
        let query = &query.sent[number];
        let score = |(index, vector): (usize, &[i8])| {
            let product: i64 = vector.iter().zip(query).map(|(&x, &q)| i64::from(x) * i64::from(q)).sum();
            product + self.norms().get(index).copied().unwrap_or(0)
        };
        self.values().par_chunks_exact(self.dimension()).enumerate().map(score).collect()
    }
}
