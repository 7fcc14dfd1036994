//! The metric that defines which vectors are near.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The score of a vector x for a query q.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// x·q, largest first.
    #[serde(rename = "inner-product")]
    InnerProduct,
    /// x·q/(‖x‖·‖q‖), largest first.
    Cosine,
    /// ‖x − q‖², smallest first.
    Euclidean,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::InnerProduct, Self::Cosine, Self::Euclidean];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::InnerProduct => "inner-product",
            Self::Cosine => "cosine",
            Self::Euclidean => "euclidean",
        }
    }

    /// How far x is from q in double precision: less is nearer. That is −x·q, less the cosine, or
    /// ‖x − q‖².
    pub fn distance(self, x: &[f64], q: &[f64]) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        match self {
            Self::InnerProduct => -dot(x, q),
            Self::Cosine => -dot(x, q) / (dot(x, x).sqrt() * dot(q, q).sqrt()),
            Self::Euclidean => x.iter().zip(q).map(|(x, q)| (x - q).powi(2)).sum(),
        }
    }

    /// Whether larger scores are better.
    pub fn largest_first(self) -> bool {
        self != Self::Euclidean
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|metric| metric.name() == name);
        known.ok_or_else(|| format!("'{name}' is not a metric; choose one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}
