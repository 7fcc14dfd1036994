//! Linear models in the clear: what the encrypted scores are compared with.

use super::standardisation::{Standardisation, check_row};
use crate::error::{Error, Result};

/// Scores of a row, one for each class: w_c·x + b_c, x the standardised row.
///
/// A model of one score says which of two classes is the likelier by its sign; one of several
/// classes by the largest score.
///
/// ```
/// use windlass::scoring::{LinearModel, Standardisation};
///
/// let plain = Standardisation::none(2, Standardisation::BOUND)?;
/// let model = LinearModel::new(plain, vec![vec![0.5, -1.0], vec![2.0, 0.0]], vec![0.0, 1.0])?;
/// assert_eq!(model.scores(&[4.0, 1.0])?, [1.0, 9.0]);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModel {
    standardisation: Standardisation,
    /// `[classes][features]`.
    weights: Vec<Vec<f64>>,
    biases: Vec<f64>,
}

impl LinearModel {
    /// A model that was made elsewhere: weights `[classes][features]`, a bias for each class.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for no weights, or numbers of weights and biases that do not fit;
    /// [`Error::NotFinite`] for one that is no number (by its position).
    pub fn new(standardisation: Standardisation, weights: Vec<Vec<f64>>, biases: Vec<f64>) -> Result<Self> {
        let (classes, features) = (weights.len().max(1), standardisation.features().max(1));
        for (what, expected, got) in [
            ("classes", classes, weights.len()),
            ("biases", classes, biases.len()),
            ("features", features, standardisation.features()),
        ] {
            if expected != got {
                return Err(Error::ShapeMismatch { what, expected, got });
            }
        }
        for class in &weights {
            check_row(features, class)?;
        }
        check_row(classes, &biases)?;
        Ok(Self { standardisation, weights, biases })
    }

    /// The public constants of the features.
    pub fn standardisation(&self) -> &Standardisation {
        &self.standardisation
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.standardisation.features()
    }

    /// The number of scores of a row.
    pub fn classes(&self) -> usize {
        self.weights.len()
    }

    /// The weights of the standardised features, `[classes][features]`.
    pub fn weights(&self) -> &[Vec<f64>] {
        &self.weights
    }

    /// The b_c.
    pub fn biases(&self) -> &[f64] {
        &self.biases
    }

    /// The w_c·x + b_c.
    ///
    /// # Errors
    /// As [`Standardisation::apply`].
    pub fn scores(&self, row: &[f64]) -> Result<Vec<f64>> {
        let row = self.standardisation.apply(row)?;
        let product = |weights: &Vec<f64>| row.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
        Ok(self.weights.iter().zip(&self.biases).map(|(weights, bias)| product(weights) + bias).collect())
    }

    /// The largest absolute value of a score: max_c Σ|w_c|·bound + |b_c|; infinite where it
    /// overflows.
    pub fn largest_score(&self) -> f64 {
        let bound = self.standardisation.bound();
        let largest = |weights: &Vec<f64>| weights.iter().map(|w| w.abs() * bound).sum::<f64>();
        let each = self.weights.iter().zip(&self.biases).map(|(weights, bias)| largest(weights) + bias.abs());
        each.fold(0.0, f64::max)
    }
}

/// What scores say: with one of them whether it is positive (1) or not (0), with several the number
/// of the largest, the first of equals.
pub fn decision(scores: &[f64]) -> usize {
    match scores {
        [score] => usize::from(*score > 0.0),
        _ => (1..scores.len()).fold(0, |best, class| if scores[class] > scores[best] { class } else { best }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_models_are_refused() {
        let plain = || Standardisation::none(2, 4.0).unwrap();
        let refused = |weights: &[&[f64]], biases: &[f64]| {
            let weights = weights.iter().map(|class| class.to_vec()).collect();
            LinearModel::new(plain(), weights, biases.to_vec()).unwrap_err()
        };
        assert!(matches!(refused(&[], &[]), Error::ShapeMismatch { what: "classes", .. }));
        assert!(matches!(refused(&[&[1.0, 2.0]], &[]), Error::ShapeMismatch { what: "biases", .. }));
        assert!(matches!(refused(&[&[1.0, 2.0], &[1.0]], &[0.0; 2]), Error::ShapeMismatch { .. }));
        assert!(matches!(refused(&[&[1.0, f64::NAN]], &[0.0]), Error::NotFinite { index: 1 }));
        assert!(matches!(refused(&[&[1.0, 2.0]], &[f64::INFINITY]), Error::NotFinite { index: 0 }));
        let empty = Standardisation::none(0, 4.0).unwrap();
        assert!(matches!(LinearModel::new(empty, vec![vec![]], vec![0.0]), Err(Error::ShapeMismatch { .. })));
    }

    #[test]
    fn decisions_are_signs_or_the_first_largest() {
        let cases: [(&[f64], usize); 5] =
            [(&[0.0], 0), (&[0.1], 1), (&[-1.0, -2.0], 0), (&[1.0, 3.0, 3.0], 1), (&[1.0, 1.0], 0)];
        for (scores, expected) in cases {
            assert_eq!(decision(scores), expected, "{scores:?}");
        }
    }
}
