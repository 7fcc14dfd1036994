//! Linear models in the clear, with which the encrypted scores are compared.

use windlass::{Error, Result};

use crate::standardisation::{Standardisation, check_row};

/// A linear model. The score of class c is w_c·x + b_c, where x is the standardised row.
///
/// A model with one score separates two classes by its sign. A model with several classes chooses
/// the class with the largest score.
///
/// ```
/// use windlass_scoring::{LinearModel, Standardisation};
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
    /// A model from existing weights `[classes][features]` and one bias for each class.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if there are no weights, or the numbers of weights and biases do
    /// not fit; [`Error::NotFinite`] with the position of a value that is not a finite number.
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

    /// The biases b_c.
    pub fn biases(&self) -> &[f64] {
        &self.biases
    }

    /// The scores w_c·x + b_c.
    ///
    /// # Errors
    /// As [`Standardisation::apply`].
    pub fn scores(&self, row: &[f64]) -> Result<Vec<f64>> {
        let row = self.standardisation.apply(row)?;
        let product = |weights: &Vec<f64>| row.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
        Ok(self.weights.iter().zip(&self.biases).map(|(weights, bias)| product(weights) + bias).collect())
    }

    /// The largest absolute value of a score: max_c Σ|w_c|·bound + |b_c|; infinite on overflow.
    pub fn largest_score(&self) -> f64 {
        let bound = self.standardisation.bound();
        let largest = |weights: &Vec<f64>| weights.iter().map(|w| w.abs() * bound).sum::<f64>();
        let each = self.weights.iter().zip(&self.biases).map(|(weights, bias)| largest(weights) + bias.abs());
        each.fold(0.0, f64::max)
    }
}

/// The decision from scores. With one score: 1 if it is positive, else 0. With several: the index
/// of the largest one, the first if several are equal.
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
