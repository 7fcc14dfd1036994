//! What a training is to be.

use windlass_rlwe::Limits;
use windlass_schemes::error::Result;

/// The parameters of a training.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingSpec {
    /// The number of rows N.
    pub rows: usize,
    /// The number of features of a row, the bias not among them.
    pub features: usize,
    /// The number of steps.
    pub steps: usize,
    /// The rate α. Without one it is 4/(features + 1): for standardised features no rate up to that makes
    /// the loss diverge.
    pub rate: Option<f64>,
    /// The largest absolute value of a feature. The client clips its features to it.
    pub feature_bound: f64,
    /// The largest absolute value of a score `x·w + bias` during the training.
    ///
    /// **Warning.** The server cannot see scores. If one of them is larger, the polynomial grows fast
    /// there and the weights are useless. Decryption refuses weights above their bound; others are
    /// returned without an error.
    pub score_bound: f64,
    /// The degree of the polynomial near the sigmoid, an odd number. It takes ⌈log2(degree + 1)⌉ levels.
    pub degree: usize,
    /// The largest absolute value of a weight during the training, the bias among them. A refresh takes
    /// the weights of two steps as one complex number, of which it is the bound.
    ///
    /// **Warning.** A weight that is larger is beyond the refresh, which returns a wrong number. No error
    /// is returned unless the result exceeds the bound.
    pub weight_bound: f64,
}

/// More steps than anyone has use for.
const MOST_STEPS: usize = 1000;

/// More rows than a server can keep encrypted.
const MOST_ROWS: usize = 1 << 24;

/// As many as a row of slots can have.
const MOST_FEATURES: usize = 1 << 16;

impl TrainingSpec {
    /// Standardised features that are clipped at 4, scores up to 32, and weights up to 8.
    pub fn new(rows: usize, features: usize, steps: usize) -> Self {
        Self { rows, features, steps, rate: None, feature_bound: 4.0, score_bound: 32.0, degree: 15, weight_bound: 8.0 }
    }

    /// α.
    pub fn learning_rate(&self) -> f64 {
        self.rate.unwrap_or(4.0 / (self.features as f64 + 1.0))
    }

    /// Refuses numbers that no training has.
    pub(super) fn check(&self) -> Result<()> {
        Limits::between(1, MOST_ROWS).check("the number of rows", self.rows)?;
        Limits::between(1, MOST_FEATURES).check("the number of features", self.features)?;
        Limits::between(1, MOST_STEPS).check("the number of steps", self.steps)?;
        let positive = Limits::between(2f64.powi(-20), 2f64.powi(20));
        positive.check("the learning rate", self.learning_rate())?;
        Limits::between(1.0, 2f64.powi(20)).check("the bound on features", self.feature_bound)?;
        Limits::between(1.0, 2f64.powi(20)).check("the bound on scores", self.score_bound)?;
        positive.check("the bound on weights", self.weight_bound)?;
        let degrees = Limits::between(3, 255).with("an odd number");
        degrees.check("the degree of the sigmoid's polynomial", self.degree)?;
        match self.degree % 2 {
            0 => Err(degrees.refuse("the degree of the sigmoid's polynomial", self.degree).into()),
            _ => Ok(()),
        }
    }
}
