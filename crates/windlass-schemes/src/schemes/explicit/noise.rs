//! What encryptions, key switches and roundings add to a phase.
//!
//! Canonical norms are those of [`NoiseModel`](windlass_rlwe::NoiseModel), with t = 1 for CKKS. A coefficient of an
//! error or of a rounding is smaller, by about √n. With r_0, r_1 uniform in \[−t/2, t/2\] and h coefficients ±1
//! of the secret, a coefficient of r_0 + r_1·s is a sum of 1 + h of them: sub-Gaussian, of variance (1 + h)·t²/12.

use windlass_rlwe::{Bound, RlweParams};

use super::ciphertext::Noise;
use super::context::Context;

impl Context {
    /// t·e of a fresh encryption.
    pub(super) fn fresh_noise(&self) -> Noise {
        let (t, noise) = (Bound::of(self.multiplier() as f64), self.noise());
        let error = noise.tail_factor(1) * RlweParams::SIGMA;
        Noise { norm: t * noise.error(1), coefficients: t * Bound::of(error) }
    }

    /// A key switch at a level.
    pub(super) fn key_switch_noise(&self, level: usize) -> Noise {
        let level = self.rlwe_level(level);
        let product = Noise::of_norm(self.noise().base_qp_error(level));
        product.plus(self.rounding_noise(2))
    }

    /// The rounding of so many polynomials. Whoever chose a plaintext may have chosen how the first one is
    /// rounded: it counts as it is at most.
    pub(super) fn rounding_noise(&self, size: usize) -> Noise {
        let (t, noise) = (self.multiplier() as f64, self.noise());
        let norm = noise.rounding(size as u32) + noise.plaintext_worst();
        if size != 2 {
            return Noise::of_norm(norm);
        }
        let params = self.rlwe().params();
        let weight = params.secret().largest_squares(params.n());
        let random = noise.tail_factor(2) * ((1.0 + weight) / 12.0).sqrt();
        Noise { norm, coefficients: Bound::of(t * (random + 0.5)) }
    }
}
