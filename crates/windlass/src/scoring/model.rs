//! Logistic regression in the clear: what the encrypted scores are compared with.

use crate::error::{Error, Result};

/// Public constants that bring features to one size: x ↦ clip((x − mean)/scale).
#[derive(Debug, Clone, PartialEq)]
pub struct Standardisation {
    means: Vec<f64>,
    scales: Vec<f64>,
}

impl Standardisation {
    /// Standardised values beyond this are clipped: the public bound on what is encrypted.
    pub const BOUND: f64 = 16.0;

    /// Means and standard deviations of rows of equal length.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for rows of different lengths or none; [`Error::NotFinite`] for a
    /// value that is no number (by column).
    pub fn of(rows: &[Vec<f64>]) -> Result<Self> {
        let Some(first) = rows.first() else {
            return Err(Error::ShapeMismatch { what: "rows", expected: 1, got: 0 });
        };
        for row in rows {
            check_length(first.len(), row.len())?;
            if let Some(index) = row.iter().position(|x| !x.is_finite()) {
                return Err(Error::NotFinite { index });
            }
        }
        let columns = (0..first.len()).map(|j| moments(rows.iter().map(move |row| row[j])));
        let (means, scales) = columns.unzip();
        Ok(Self { means, scales })
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.means.len()
    }

    /// The standardised, clipped row.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::NotFinite`].
    pub fn apply(&self, row: &[f64]) -> Result<Vec<f64>> {
        check_length(self.features(), row.len())?;
        if let Some(index) = row.iter().position(|x| !x.is_finite()) {
            return Err(Error::NotFinite { index });
        }
        // Halves, so that the difference of two large numbers is finite.
        let bring = |(x, (mean, scale)): (&f64, (&f64, &f64))| (x * 0.5 - mean * 0.5) / scale * 2.0;
        let brought = row.iter().zip(self.means.iter().zip(&self.scales)).map(bring);
        Ok(brought.map(|x| x.clamp(-Self::BOUND, Self::BOUND)).collect())
    }
}

/// Mean and standard deviation (1 where all values are equal), of values divided by a power of two
/// near the largest: neither sums nor squares overflow or vanish.
fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let largest = values.clone().fold(0.0f64, |largest, x| largest.max(x.abs()));
    if largest == 0.0 {
        return (0.0, 1.0);
    }
    // A power of two: small tables of ordinary numbers get the same bits as without it.
    let unit = largest.log2().floor().clamp(-1022.0, 1023.0).exp2();
    let count = values.clone().count() as f64;
    let mean = values.clone().map(|x| x / unit).sum::<f64>() / count;
    let spread = (values.map(|x| (x / unit - mean).powi(2)).sum::<f64>() / count).sqrt();
    (mean * unit, if spread > 0.0 { spread * unit } else { 1.0 })
}

fn check_length(expected: usize, got: usize) -> Result<()> {
    if expected == got { Ok(()) } else { Err(Error::ShapeMismatch { what: "features of a row", expected, got }) }
}

/// How a model is trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainSpec {
    /// The penalty λ/2·‖w‖² on the weights.
    pub ridge: f64,
    /// Steps of Newton's method.
    pub iterations: usize,
}

impl Default for TrainSpec {
    fn default() -> Self {
        Self { ridge: 1.0, iterations: 25 }
    }
}

/// P(positive | row) = 1/(1 + exp(−(w·x + b))), x the standardised row.
#[derive(Debug, Clone, PartialEq)]
pub struct LogisticModel {
    standardisation: Standardisation,
    weights: Vec<f64>,
    bias: f64,
}

impl LogisticModel {
    /// The maximum of the penalised likelihood, by Newton's method. Deterministic.
    ///
    /// # Errors
    /// As [`Standardisation::of`]; [`Error::ShapeMismatch`] when there is not one label for each
    /// row.
    pub fn train(rows: &[Vec<f64>], labels: &[bool], spec: TrainSpec) -> Result<Self> {
        if rows.len() != labels.len() {
            return Err(Error::ShapeMismatch { what: "labels", expected: rows.len(), got: labels.len() });
        }
        let standardisation = Standardisation::of(rows)?;
        let rows = rows.iter().map(|row| standardisation.apply(row)).collect::<Result<Vec<_>>>()?;
        let features = standardisation.features();
        // The bias is the weight of a feature that is always 1.
        let mut weights = vec![0.0; features + 1];
        for _ in 0..spec.iterations {
            let step = newton_step(&rows, labels, &weights, spec.ridge);
            weights.iter_mut().zip(&step).for_each(|(w, d)| *w += d);
        }
        let bias = weights.pop().expect("the bias was put there");
        Ok(Self { standardisation, weights, bias })
    }

    /// The public constants of the features.
    pub fn standardisation(&self) -> &Standardisation {
        &self.standardisation
    }

    /// The weights of the standardised features.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// b.
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// w·x + b: positive exactly when the positive class is the likelier one.
    ///
    /// # Errors
    /// As [`Standardisation::apply`].
    pub fn score(&self, row: &[f64]) -> Result<f64> {
        let row = self.standardisation.apply(row)?;
        Ok(row.iter().zip(&self.weights).map(|(x, w)| x * w).sum::<f64>() + self.bias)
    }
}

/// (H + λI)^{-1}·(gradient − λw), the bias free of the penalty.
fn newton_step(rows: &[Vec<f64>], labels: &[bool], weights: &[f64], ridge: f64) -> Vec<f64> {
    let size = weights.len();
    let mut system = vec![vec![0.0; size + 1]; size];
    for (row, &label) in rows.iter().zip(labels) {
        let at = |j: usize| row.get(j).copied().unwrap_or(1.0);
        let score: f64 = (0..size).map(|j| weights[j] * at(j)).sum();
        let probability = 1.0 / (1.0 + (-score).exp());
        let (curvature, slope) = (probability * (1.0 - probability), f64::from(u8::from(label)) - probability);
        for j in 0..size {
            for k in 0..size {
                system[j][k] += curvature * at(j) * at(k);
            }
            system[j][size] += slope * at(j);
        }
    }
    for j in 0..size {
        let penalty = if j + 1 < size { ridge } else { 1e-9 };
        system[j][j] += penalty;
        system[j][size] -= penalty * weights[j];
    }
    solve(system)
}

/// Gauss–Jordan elimination with pivoting on an augmented system.
fn solve(mut system: Vec<Vec<f64>>) -> Vec<f64> {
    let size = system.len();
    for column in 0..size {
        let pivot = (column..size).max_by(|&a, &b| system[a][column].abs().total_cmp(&system[b][column].abs()));
        system.swap(column, pivot.expect("rows are left"));
        let row = system[column].clone();
        for (other, target) in system.iter_mut().enumerate() {
            if other != column {
                let factor = target[column] / row[column];
                target.iter_mut().zip(&row).skip(column).for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    (0..size).map(|j| system[j][size] / system[j][j]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn training_finds_the_maximum() {
        let rows: Vec<Vec<f64>> = (0..200).map(|j| vec![(j as f64 * 0.7).sin(), (j as f64 * 1.3).cos()]).collect();
        let labels: Vec<bool> =
            rows.iter().enumerate().map(|(j, x)| 2.0 * x[0] - x[1] + ((j * 37) as f64).sin() > 0.0).collect();
        let model = LogisticModel::train(&rows, &labels, TrainSpec::default()).unwrap();
        assert!(model.weights()[0] > 0.5 && model.weights()[1] < -0.2);
        // The gradient of the penalised likelihood vanishes.
        let mut gradient = vec![0.0; 2];
        for (row, &label) in rows.iter().zip(&labels) {
            let p = 1.0 / (1.0 + (-model.score(row).unwrap()).exp());
            let x = model.standardisation().apply(row).unwrap();
            (0..2).for_each(|j| gradient[j] += (f64::from(u8::from(label)) - p) * x[j]);
        }
        assert!((0..2).all(|j| (gradient[j] - model.weights()[j]).abs() < 1e-9), "{gradient:?}");
    }

    #[test]
    fn features_of_any_size_are_standardised_alike() {
        let plain: Vec<Vec<f64>> = (0..9).map(|j| vec![(j as f64 * 1.7).sin(), 1.0]).collect();
        let expected = Standardisation::of(&plain).unwrap();
        for exponent in [1022, 1000, 0, -1000] {
            let factor = 2f64.powi(exponent);
            let scaled: Vec<Vec<f64>> = plain.iter().map(|row| vec![row[0] * factor, factor]).collect();
            let found = Standardisation::of(&scaled).unwrap();
            for (row, plain) in scaled.iter().zip(&plain) {
                let (a, b) = (found.apply(row).unwrap(), expected.apply(plain).unwrap());
                assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9), "2^{exponent}: {a:?}, {b:?}");
            }
        }
        // Both ends of the range of doubles in one column.
        let ends = Standardisation::of(&[vec![f64::MAX], vec![f64::MIN], vec![0.0]]).unwrap();
        let apply = |x: f64| ends.apply(&[x]).unwrap()[0];
        assert!((apply(f64::MAX) - 1.5f64.sqrt()).abs() < 1e-9 && (apply(f64::MIN) + 1.5f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn malformed_rows_are_refused() {
        let rows = [vec![1.0, 2.0], vec![1.0]];
        assert!(matches!(Standardisation::of(&rows), Err(Error::ShapeMismatch { .. })));
        assert!(matches!(Standardisation::of(&[vec![f64::NAN]]), Err(Error::NotFinite { index: 0 })));
        assert!(matches!(Standardisation::of(&[]), Err(Error::ShapeMismatch { .. })));
        let some = Standardisation::of(&[vec![1.0], vec![3.0]]).unwrap();
        assert_eq!(some.apply(&[1e9]).unwrap(), [Standardisation::BOUND]);
        assert!(matches!(some.apply(&[f64::INFINITY]), Err(Error::NotFinite { .. })));
        assert!(LogisticModel::train(&[vec![1.0]], &[], TrainSpec::default()).is_err());
    }
}
