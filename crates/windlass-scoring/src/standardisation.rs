//! Standardisation: brings all features to a similar size.

use windlass::rlwe::{Limits, Number};
use windlass::{Error, Result};

use crate::layout::MOST_FEATURES;

/// Public constants that standardise features: x ↦ (x − mean)/scale, at most [`Self::bound`] in
/// absolute value.
#[derive(Debug, Clone, PartialEq)]
pub struct Standardisation {
    means: Vec<f64>,
    scales: Vec<f64>,
    bound: f64,
    clips: bool,
}

/// Allowed bounds. Within them, features keep at least twelve bits beside the largest value.
const BOUNDS: Limits = Limits {
    least: Some(Number::Natural(1)),
    most: Some(Number::Natural(1 << 20)),
    note: "standardise features that are larger",
};

impl Standardisation {
    /// The default bound, in standard deviations.
    pub const BOUND: f64 = 16.0;

    /// Means and standard deviations of rows of equal length. Values beyond [`Self::BOUND`]
    /// deviations are clipped.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if there are no rows, or if they differ in length;
    /// [`Error::NotFinite`] with the column of a value that is not a finite number.
    pub fn of(rows: &[Vec<f64>]) -> Result<Self> {
        let Some(first) = rows.first() else {
            return Err(Error::ShapeMismatch { what: "rows", expected: 1, got: 0 });
        };
        for row in rows {
            check_row(first.len(), row)?;
        }
        let columns = (0..first.len()).map(|j| moments(rows.iter().map(move |row| row[j])));
        let (means, scales) = columns.unzip();
        Ok(Self { means, scales, bound: Self::BOUND, clips: true })
    }

    /// Given constants. A standardised value beyond the bound is clipped if `clips` is set, and
    /// refused otherwise.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there is one scale for each mean; [`Error::NotFinite`] if a
    /// constant is not a finite number; [`Error::OutOfRange`] if a scale is 0 or negative, or if
    /// the bound is outside 1 to 2^20.
    pub fn new(means: Vec<f64>, scales: Vec<f64>, bound: f64, clips: bool) -> Result<Self> {
        check_row(means.len(), &scales)?;
        check_row(means.len(), &means)?;
        if let Some(&scale) = scales.iter().find(|&&scale| scale < f64::MIN_POSITIVE) {
            let positive = Limits::at_least(f64::MIN_POSITIVE).with("the deviation of a feature is positive");
            return Err(positive.refuse("a scale", scale).into());
        }
        BOUNDS.check("the bound on features", bound)?;
        Ok(Self { means, scales, bound, clips })
    }

    /// Features are used unchanged. Values beyond the bound are refused.
    ///
    /// # Errors
    /// As [`Self::new`]; [`Error::OutOfRange`] if there are more than [`MOST_FEATURES`].
    pub fn none(features: usize, bound: f64) -> Result<Self> {
        Limits::at_most(MOST_FEATURES).check("the number of features", features)?;
        Self::new(vec![0.0; features], vec![1.0; features], bound, false)
    }

    /// As [`Self::new`] for constants of which either or both may be left out: means are then 0, scales 1.
    ///
    /// # Errors
    /// As [`Self::new`] and [`Self::none`]. The number of features is checked before memory is taken for as
    /// many.
    pub fn given(
        features: usize,
        means: Option<Vec<f64>>,
        scales: Option<Vec<f64>>,
        bound: f64,
        clips: bool,
    ) -> Result<Self> {
        let none = Self::none(features, bound)?;
        let (means, scales) = (means.unwrap_or(none.means), scales.unwrap_or(none.scales));
        if means.len() != features {
            return Err(Error::ShapeMismatch { what: "means", expected: features, got: means.len() });
        }
        Self::new(means, scales, bound, clips)
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.means.len()
    }

    /// The means.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// The standard deviations.
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// The public bound on the encrypted values.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// Whether values beyond the bound are clipped; otherwise they are refused.
    pub fn clips(&self) -> bool {
        self.clips
    }

    /// The standardised row.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::NotFinite`]; [`Error::ValueTooLarge`] if a value is
    /// beyond the bound and values are not clipped.
    pub fn apply(&self, row: &[f64]) -> Result<Vec<f64>> {
        check_row(self.features(), row)?;
        // Halved first, so that the difference of two large numbers is finite.
        let bring = |(x, (mean, scale)): (&f64, (&f64, &f64))| (x * 0.5 - mean * 0.5) / scale * 2.0;
        let mut row: Vec<f64> = row.iter().zip(self.means.iter().zip(&self.scales)).map(bring).collect();
        if self.clips {
            row.iter_mut().for_each(|x| *x = x.clamp(-self.bound, self.bound));
        }
        match row.iter().position(|x| x.is_nan() || x.abs() > self.bound) {
            Some(index) => Err(Error::ValueTooLarge { index, bound_bits: self.bound.log2() }),
            None => Ok(row),
        }
    }
}

/// Mean and standard deviation. The deviation is 1 if all values are equal, even if rounding moves
/// their computed mean. The values are divided by a power of two near the largest one first, so
/// that neither sums nor squares overflow or underflow.
fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let largest = values.clone().fold(0.0f64, |largest, x| largest.max(x.abs()));
    let mut distinct = values.clone();
    if let Some(first) = distinct.next()
        && distinct.all(|x| x == first)
    {
        return (first, 1.0);
    }
    // A power of two, so that small tables of ordinary numbers give the same bits as without it.
    let unit = largest.log2().floor().clamp(-1022.0, 1023.0).exp2();
    let count = values.clone().count() as f64;
    let mean = values.clone().map(|x| x / unit).sum::<f64>() / count;
    let spread = (values.map(|x| (x / unit - mean).powi(2)).sum::<f64>() / count).sqrt();
    (mean * unit, if spread > 0.0 { spread * unit } else { 1.0 })
}

/// Checks that every feature has a finite number.
pub(crate) fn check_row(expected: usize, row: &[f64]) -> Result<()> {
    if expected != row.len() {
        return Err(Error::ShapeMismatch { what: "features of a row", expected, got: row.len() });
    }
    match row.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(Error::NotFinite { index }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }

    #[test]
    fn given_constants_are_checked_and_large_values_are_refused() {
        let made = Standardisation::new(vec![1.0, 2.0], vec![0.5, 4.0], 8.0, false).unwrap();
        assert_eq!(made.apply(&[0.0, 34.0]).unwrap(), [-2.0, 8.0]);
        assert!(matches!(made.apply(&[0.0, 34.1]), Err(Error::ValueTooLarge { index: 1, .. })));
        let refused = |means: &[f64], scales: &[f64], bound| {
            Standardisation::new(means.to_vec(), scales.to_vec(), bound, false).unwrap_err()
        };
        assert!(matches!(refused(&[1.0], &[1.0, 2.0], 8.0), Error::ShapeMismatch { .. }));
        assert!(matches!(refused(&[1.0, f64::NAN], &[1.0, 2.0], 8.0), Error::NotFinite { index: 1 }));
        for scale in [0.0, -1.0] {
            assert!(matches!(refused(&[1.0], &[scale], 8.0), Error::OutOfRange(_)));
        }
        for bound in [0.5, -1.0, f64::NAN, f64::INFINITY, 2e6] {
            assert!(matches!(refused(&[1.0], &[1.0], bound), Error::OutOfRange(_)), "{bound}");
        }
    }
}
