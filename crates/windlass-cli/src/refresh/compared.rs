//! Compares decrypted real numbers with those that were encrypted.

use windlass::schemes::ckks::Wide;

use crate::error::{CliError, Result};
use crate::report::Report;

/// Decrypted values, and what their ciphertext stated.
pub struct Compared {
    pub values: Vec<Wide>,
    /// The bound on the error of each.
    pub bound: f64,
    /// −log2 of the largest error that is to be expected.
    pub stated_bits: f64,
}

/// Errors in bits: −log2 of the largest, and of their mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    pub worst: f64,
    pub mean: f64,
}

impl Compared {
    /// The values as doubles.
    pub fn doubles(&self) -> Vec<f64> {
        self.values.iter().map(|value| value.high()).collect()
    }

    /// The errors of the values.
    ///
    /// # Errors
    /// [`CliError::RealsDiffer`] for one above the bound.
    pub fn against(&self, wanted: &[f64]) -> Result<Errors> {
        let errors: Vec<f64> =
            self.values.iter().zip(wanted).map(|(a, b)| (*a - Wide::from(*b)).high().abs()).collect();
        // Not a number is beyond every bound.
        if let Some(index) = errors.iter().position(|error| error.is_nan() || *error > self.bound) {
            let (found, wanted, bound) = (self.values[index].high(), wanted[index], self.bound);
            return Err(CliError::RealsDiffer { index, found, wanted, bound });
        }
        let worst = errors.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let mean = (errors.iter().sum::<f64>() / errors.len() as f64).max(f64::MIN_POSITIVE);
        Ok(Errors { worst: -worst.log2(), mean: -mean.log2() })
    }
}

impl Errors {
    /// Errors beside what the ciphertext stated.
    pub fn describe(self, report: &mut Report, stated_bits: f64) {
        let Self { worst, mean } = self;
        report.line(format!(
            "error: 2^-{worst:.1} at most, 2^-{mean:.1} on average; 2^-{stated_bits:.1} at most was stated"
        ));
        report.field("worst_error_bits", worst);
        report.field("mean_error_bits", mean);
        report.field("stated_error_bits", stated_bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_and_those_beyond_the_bound_refused() {
        let found = |values: &[f64]| {
            let values = values.iter().map(|&value| Wide::from(value)).collect();
            Compared { values, bound: 0.5, stated_bits: 2.0 }
        };
        let errors = found(&[1.0, 0.25]).against(&[0.75, 0.25]).unwrap();
        assert_eq!((errors.worst, errors.mean), (2.0, 3.0));
        assert!(found(&[0.0]).against(&[0.0]).unwrap().worst.is_finite());
        // Smaller than a double of this size shows.
        let near = Compared { values: vec![Wide::sum(1.0, 2f64.powi(-70))], bound: 0.5, stated_bits: 2.0 };
        assert_eq!(near.against(&[1.0]).unwrap().worst, 70.0);
        for bad in [0.51, f64::NAN] {
            let refused = found(&[0.0, bad]).against(&[0.0, 0.0]);
            assert!(matches!(refused, Err(CliError::RealsDiffer { index: 1, .. })));
        }
    }
}
