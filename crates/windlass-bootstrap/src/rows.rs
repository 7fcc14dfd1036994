//! Bounds on the rows of the multiplication matrix of a sparse secret.
//!
//! The front end of a refresh multiplies rounding errors by the ephemeral secret. Each coefficient of
//! the product is one row of the secret's multiplication matrix times the errors. The sum of absolute
//! values of a row bounds it with certainty, and the sum of squares bounds its deviation.

use windlass_ring::kernels::Shape;

/// Axes of odd index: on each, reduction subtracts a top coefficient from others.
pub(super) fn odd_axes(shape: &Shape) -> u32 {
    shape.axes().iter().map(|axis| u32::from(axis.prime != 2)).sum()
}

/// The greatest sum of absolute values in a row of the multiplication matrix of a secret of this
/// weight: reduction on each odd axis doubles it.
pub(super) fn row_sum(shape: &Shape, weight: u32) -> f64 {
    weight as f64 * f64::from(1 << odd_axes(shape))
}

/// What key generation enforces of W: its mean 2^t·h, t the number of odd axes, which every secret
/// of a power of two has, and a tenth and 8 above it elsewhere, by drawing again.
pub(super) fn row_square_limit(shape: &Shape, weight: u32) -> f64 {
    let odd = odd_axes(shape);
    if odd == 0 { weight as f64 } else { weight as f64 * 1.1 * f64::from(1 << odd) + 8.0 }
}
