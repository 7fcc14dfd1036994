//! Norms of ring elements in the canonical embedding.

use rustfft::{FftPlanner, num_complex::Complex64};
use windlass_kernels::Shape;
use zeroize::Zeroize;

/// max_t |a(ζ^t)| over t in Z_m^*, for powerful-basis coefficients: one complex Fourier transform along each axis.
///
/// Cost O(n·log n); relative error below 2^{−40}, rounded up.
pub fn canonical_norm(shape: &Shape, coefficients: &[i64]) -> f64 {
    assert_eq!(coefficients.len(), shape.n());
    let mut tensor: Vec<Complex64> = coefficients.iter().map(|&a| Complex64::new(a as f64, 0.0)).collect();
    let mut planner = FftPlanner::new();
    for (position, axis) in shape.axes().iter().enumerate() {
        let inner: usize = shape.axes()[position + 1..].iter().map(|axis| axis.dim).product();
        let length = axis.index as usize;
        let fft = planner.plan_fft_forward(length);
        let mut scratch = vec![Complex64::default(); fft.get_inplace_scratch_len()];
        let mut column = vec![Complex64::default(); length];
        for start in 0..tensor.len() / axis.dim {
            let base = start / inner * axis.dim * inner + start % inner;
            column.fill(Complex64::default());
            (0..axis.dim).for_each(|j| column[j] = tensor[base + j * inner]);
            fft.process_with_scratch(&mut column, &mut scratch);
            // Which point stands where does not matter for the norm.
            axis.points.iter().enumerate().for_each(|(u, &t)| tensor[base + u * inner] = column[t as usize]);
        }
        wipe(&mut scratch);
        wipe(&mut column);
    }
    let norm = tensor.iter().map(|z| z.norm_sqr()).fold(0.0, f64::max).sqrt() * (1.0 + 2f64.powi(-40));
    wipe(&mut tensor);
    norm
}

/// The coefficients may be those of a secret key.
fn wipe(values: &mut [Complex64]) {
    values.iter_mut().for_each(|z| {
        z.re.zeroize();
        z.im.zeroize();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_of_known_elements() {
        for m in [7, 9, 15, 16, 45, 60] {
            let shape = Shape::new(m).unwrap();
            let mut one = vec![0; shape.n()];
            one[0] = -3;
            assert!((canonical_norm(&shape, &one) - 3.0).abs() < 1e-9);
            // Σ of all n basis elements is at most n and at least √n by Parseval on each axis.
            let norm = canonical_norm(&shape, &vec![1; shape.n()]);
            assert!(norm <= shape.n() as f64 + 1e-6);
        }
        // |1 + ζ| is largest at the root nearest to 1: 2·cos(π/16) for m = 16.
        let shape = Shape::new(16).unwrap();
        let norm = canonical_norm(&shape, &[1, 1, 0, 0, 0, 0, 0, 0]);
        assert!((norm - 2.0 * (std::f64::consts::PI / 16.0).cos()).abs() < 1e-9);
    }
}
