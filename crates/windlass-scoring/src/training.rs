//! Trains logistic regression in the clear.

use rayon::prelude::*;
use windlass::{Error, Result};

use crate::model::LinearModel;
use crate::standardisation::Standardisation;

/// How a model is trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainSpec {
    /// The penalty λ/2·‖w‖² on the weights.
    pub ridge: f64,
    /// Maximum number of steps of Newton's method.
    pub iterations: usize,
}

impl Default for TrainSpec {
    fn default() -> Self {
        Self { ridge: 1.0, iterations: 25 }
    }
}

/// The penalty on the bias: enough for a solution if all labels are equal.
const BIAS_RIDGE: f64 = 1e-9;

/// Rows are summed in blocks of this size, and the sums of blocks are added in order. The result
/// has the same bits for any number of threads.
const BLOCK: usize = 64;

impl LinearModel {
    /// Logistic regression, P(positive | row) = 1/(1 + exp(−(w·x + b))): the maximum of the
    /// penalised likelihood, by Newton's method with conjugate gradients. Deterministic.
    ///
    /// Cost: rows · features for each conjugate gradient step; each Newton step takes some tens of
    /// them. Memory for the standardised rows.
    ///
    /// # Errors
    /// As [`Standardisation::of`]; [`Error::ShapeMismatch`] if there is not one label for each row.
    pub fn train_logistic(rows: &[Vec<f64>], labels: &[bool], spec: TrainSpec) -> Result<Self> {
        if rows.len() != labels.len() {
            return Err(Error::ShapeMismatch { what: "labels", expected: rows.len(), got: labels.len() });
        }
        let standardisation = Standardisation::of(rows)?;
        let rows = rows.par_iter().map(|row| standardisation.apply(row)).collect::<Result<Vec<_>>>()?;
        let problem = Problem { rows, labels, ridge: spec.ridge };
        // The bias is the weight of a feature that is always 1.
        let mut weights = vec![0.0; standardisation.features() + 1];
        for _ in 0..spec.iterations {
            let Some(better) = problem.newton_step(&weights) else { break };
            weights = better;
        }
        let bias = weights.pop().expect("the bias was put there");
        Self::new(standardisation, vec![weights], vec![bias])
    }
}

/// The minimised function: Σ_rows log(1 + exp(∓score)) + λ/2·‖w‖².
struct Problem<'a> {
    rows: Vec<Vec<f64>>,
    labels: &'a [bool],
    ridge: f64,
}

impl Problem<'_> {
    /// w·x + b of every row.
    fn scores(&self, weights: &[f64]) -> Vec<f64> {
        let (bias, weights) = weights.split_last().expect("the bias is there");
        self.rows.par_iter().map(|row| dot(row, weights) + bias).collect()
    }

    /// Σ_rows factor·(x, 1).
    fn gather(&self, factors: &[f64], size: usize) -> Vec<f64> {
        let block = |(rows, factors): (&[Vec<f64>], &[f64])| {
            let mut sum = vec![0.0; size];
            for (row, factor) in rows.iter().zip(factors) {
                sum.iter_mut().zip(row).for_each(|(s, x)| *s += factor * x);
                sum[size - 1] += factor;
            }
            sum
        };
        let blocks: Vec<Vec<f64>> = self.rows.par_chunks(BLOCK).zip(factors.par_chunks(BLOCK)).map(block).collect();
        let mut blocks = blocks.into_iter();
        let mut total = blocks.next().expect("there are rows");
        blocks.for_each(|block| total.iter_mut().zip(block).for_each(|(t, b)| *t += b));
        total
    }

    fn penalty(&self, index: usize, size: usize) -> f64 {
        if index + 1 < size { self.ridge } else { BIAS_RIDGE }
    }

    fn loss(&self, weights: &[f64]) -> f64 {
        // log(1 + exp(−s)) without overflow.
        let of = |(score, &label): (f64, &bool)| {
            let signed = if label { score } else { -score };
            (-signed).max(0.0) + (-signed.abs()).exp().ln_1p()
        };
        let fit: f64 = self.scores(weights).into_iter().zip(self.labels).map(of).sum();
        let size = weights.len();
        let penalty: f64 = weights.iter().enumerate().map(|(j, w)| self.penalty(j, size) * w * w).sum();
        fit + penalty / 2.0
    }

    /// Better weights; `None` if the gradient is zero or no step makes the loss smaller.
    fn newton_step(&self, weights: &[f64]) -> Option<Vec<f64>> {
        let size = weights.len();
        let probabilities: Vec<f64> = self.scores(weights).iter().map(|score| 1.0 / (1.0 + (-score).exp())).collect();
        let slopes: Vec<f64> =
            probabilities.iter().zip(self.labels).map(|(p, &label)| f64::from(u8::from(label)) - p).collect();
        let mut descent = self.gather(&slopes, size);
        descent.iter_mut().enumerate().for_each(|(j, d)| *d -= self.penalty(j, size) * weights[j]);
        if dot(&descent, &descent).sqrt() <= 1e-11 * self.rows.len() as f64 {
            return None;
        }
        let curvatures: Vec<f64> = probabilities.iter().map(|p| p * (1.0 - p)).collect();
        let step = self.solve(&curvatures, &descent);
        // A full step overshoots only far from the maximum.
        let before = self.loss(weights);
        let moved = |length: f64| weights.iter().zip(&step).map(|(w, d)| w + length * d).collect::<Vec<_>>();
        let lengths = (0..30).map(|halvings| 0.5f64.powi(halvings));
        lengths.map(moved).find(|better| self.loss(better) <= before)
    }

    /// (H + λI)^{-1}·target by conjugate gradients, H = Σ_rows curvature·(x, 1)(x, 1)ᵀ. H + λI is
    /// positive definite, so constant columns and fewer rows than features are allowed.
    fn solve(&self, curvatures: &[f64], target: &[f64]) -> Vec<f64> {
        let size = target.len();
        let product = |v: &[f64]| {
            let weighed: Vec<f64> = self.scores(v).iter().zip(curvatures).map(|(s, c)| s * c).collect();
            let mut product = self.gather(&weighed, size);
            product.iter_mut().enumerate().for_each(|(j, x)| *x += self.penalty(j, size) * v[j]);
            product
        };
        let (mut solution, mut residual) = (vec![0.0; size], target.to_vec());
        let mut direction = residual.clone();
        let mut square = dot(&residual, &residual);
        let enough = square * 1e-24;
        // In exact arithmetic the rank of H bounds the number of steps; rounding adds some.
        for _ in 0..2 * size.min(self.rows.len() + 1) + 10 {
            if square <= enough {
                break;
            }
            let image = product(&direction);
            let length = square / dot(&direction, &image);
            solution.iter_mut().zip(&direction).for_each(|(x, d)| *x += length * d);
            residual.iter_mut().zip(&image).for_each(|(r, i)| *r -= length * i);
            let next = dot(&residual, &residual);
            let turn = next / square;
            direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + turn * *d);
            square = next;
        }
        solution
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gradient of the penalised likelihood vanishes in the weights.
    fn check(rows: &[Vec<f64>], labels: &[bool]) -> LinearModel {
        let model = LinearModel::train_logistic(rows, labels, TrainSpec::default()).unwrap();
        let mut gradient: Vec<f64> = model.weights()[0].iter().map(|w| -w).collect();
        for (row, &label) in rows.iter().zip(labels) {
            let p = 1.0 / (1.0 + (-model.scores(row).unwrap()[0]).exp());
            let x = model.standardisation().apply(row).unwrap();
            gradient.iter_mut().zip(x).for_each(|(g, x)| *g += (f64::from(u8::from(label)) - p) * x);
        }
        assert!(gradient.iter().all(|g| g.abs() < 1e-8), "{gradient:?}");
        model
    }

    #[test]
    fn training_finds_the_maximum() {
        let rows: Vec<Vec<f64>> = (0..200).map(|j| vec![(j as f64 * 0.7).sin(), (j as f64 * 1.3).cos()]).collect();
        let labels: Vec<bool> =
            rows.iter().enumerate().map(|(j, x)| 2.0 * x[0] - x[1] + ((j * 37) as f64).sin() > 0.0).collect();
        let model = check(&rows, &labels);
        assert!(model.weights()[0][0] > 0.5 && model.weights()[0][1] < -0.2);
        assert!(LinearModel::train_logistic(&[vec![1.0]], &[], TrainSpec::default()).is_err());
    }

    #[test]
    fn more_features_than_rows_and_constant_ones_do_no_harm() {
        let value = |j: usize, k: usize| if k % 5 == 0 { 3.0 } else { ((31 * j + 7) * (17 * k + 3)) as f64 % 7.3 };
        let rows: Vec<Vec<f64>> = (0..40).map(|j| (0..300).map(|k| value(j, k)).collect()).collect();
        let labels: Vec<bool> = (0..40).map(|j| j % 3 == 0).collect();
        let model = check(&rows, &labels);
        assert!(model.weights()[0].iter().step_by(5).all(|&w| w == 0.0));
        assert!(rows.iter().zip(labels).all(|(row, label)| (model.scores(row).unwrap()[0] > 0.0) == label));
    }
}
