//! Rows and labels in vectors, and weights from them.

use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};

use super::plan::Training;

/// Weights for standardised features, and the bias.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainedWeights {
    /// One for each feature.
    pub weights: Vec<f64>,
    /// What is added to the score of every row.
    pub bias: f64,
}

impl TrainedWeights {
    /// The score of a standardised row: its label is 1 if this is positive.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for another number of features.
    pub fn score(&self, row: &[f64]) -> Result<f64> {
        let (expected, got) = (self.weights.len(), row.len());
        if expected != got {
            return Err(Error::ShapeMismatch { what: "features of a row", expected, got });
        }
        Ok(row.iter().zip(&self.weights).map(|(x, w)| x * w).sum::<f64>() + self.bias)
    }
}

impl Training {
    /// The vectors that a client encrypts, each for one ciphertext: numbers of absolute value at most
    /// [`Self::data_bound`]. Rows are standardised, labels are 0 or 1.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for another number of rows, labels or features; [`Error::NotFinite`] with
    /// the column of a feature that is not a finite number; [`Error::ValueTooLarge`] with the column of one
    /// above the bound on features; [`Error::OutOfRange`] for another label.
    pub fn encode(&self, rows: &[Vec<f64>], labels: &[f64]) -> Result<Vec<Vec<f64>>> {
        let signed = self.signed_rows(rows, labels)?;
        let columns = self.columns();
        let pack = |part: &[Vec<f64>]| {
            let mut packed = vec![0.0; self.slots()];
            for (place, row) in packed.chunks_exact_mut(columns).zip(part) {
                place.iter_mut().zip(row).for_each(|(slot, z)| *slot = z * self.data_scale());
            }
            packed
        };
        Ok(signed.chunks(self.rows_per_ciphertext()).map(pack).collect())
    }

    /// `±(x_i, 1)` for every row.
    pub(super) fn signed_rows(&self, rows: &[Vec<f64>], labels: &[f64]) -> Result<Vec<Vec<f64>>> {
        let spec = self.spec();
        for (what, expected, got) in [("rows", spec.rows, rows.len()), ("labels", spec.rows, labels.len())] {
            if expected != got {
                return Err(Error::ShapeMismatch { what, expected, got });
            }
        }
        let signed = |(row, &label): (&Vec<f64>, &f64)| {
            self.check_row(row)?;
            if label != 0.0 && label != 1.0 {
                return Err(Limits::only("0 or 1").refuse("a label", label).into());
            }
            let sign = 2.0 * label - 1.0;
            Ok(row.iter().chain([&1.0]).map(|x| sign * x).collect())
        };
        rows.iter().zip(labels).map(signed).collect()
    }

    fn check_row(&self, row: &[f64]) -> Result<()> {
        let (expected, got, bound) = (self.spec().features, row.len(), self.spec().feature_bound);
        if expected != got {
            return Err(Error::ShapeMismatch { what: "features of a row", expected, got });
        }
        if let Some(index) = row.iter().position(|x| !x.is_finite()) {
            return Err(Error::NotFinite { index });
        }
        match row.iter().position(|x| x.abs() > bound) {
            Some(index) => Err(Error::ValueTooLarge { index, bound_bits: bound.log2() }),
            None => Ok(()),
        }
    }

    /// The weights from the slots of the decrypted result.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for another number of slots than [`Self::columns`].
    pub fn weights(&self, slots: &[f64]) -> Result<TrainedWeights> {
        let (expected, got) = (self.columns(), slots.len());
        if expected != got {
            return Err(Error::ShapeMismatch { what: "slots of weights", expected, got });
        }
        let scaled: Vec<f64> = slots[..=self.spec().features].iter().map(|x| x * self.spec().weight_bound).collect();
        Ok(split(&scaled))
    }

    /// The same training in the clear: the same steps with the same polynomial, in double precision. It
    /// shows whether scores and weights stay within the bounds of the plan, which a server cannot see.
    ///
    /// # Errors
    /// As [`Self::encode`]; [`Error::OutsideInterval`] if a score exceeds its bound;
    /// [`Error::ValueTooLarge`] with the place of a weight that does, the bias last.
    pub fn in_the_clear(&self, rows: &[Vec<f64>], labels: &[f64]) -> Result<TrainedWeights> {
        let rows = self.signed_rows(rows, labels)?;
        let size = self.spec().features + 1;
        let rate = self.spec().learning_rate() / self.spec().rows as f64;
        let [mut v, mut w] = [vec![0.0; size], vec![0.0; size]];
        for factors in self.factors() {
            let gradient = self.clear_gradient(&rows, &v)?;
            let combined = |[a, b]: [f64; 2], c: f64| -> Vec<f64> {
                (0..size).map(|j| a * v[j] + b * w[j] + c * gradient[j]).collect()
            };
            (v, w) = (combined(factors.next, factors.gradient * rate), combined(factors.kept, 0.0));
            let bound = self.spec().weight_bound;
            if let Some(index) = v.iter().zip(&w).position(|(v, w)| v.hypot(*w) > bound) {
                return Err(Error::ValueTooLarge { index, bound_bits: bound.log2() });
            }
        }
        Ok(split(&v))
    }

    /// `Σ (1/2 − o(z_i·v))·z_i`.
    fn clear_gradient(&self, rows: &[Vec<f64>], v: &[f64]) -> Result<Vec<f64>> {
        let (mut gradient, high) = (vec![0.0; v.len()], self.spec().score_bound);
        for row in rows {
            let score: f64 = row.iter().zip(v).map(|(z, v)| z * v).sum();
            if score.abs() > high {
                return Err(Error::OutsideInterval { bound: score.abs(), low: -high, high });
            }
            let weight = 0.5 - self.odd_part(score);
            gradient.iter_mut().zip(row).for_each(|(g, z)| *g += weight * z);
        }
        Ok(gradient)
    }
}

fn split(all: &[f64]) -> TrainedWeights {
    let (&bias, weights) = all.split_last().expect("the bias is there");
    TrainedWeights { weights: weights.to_vec(), bias }
}
