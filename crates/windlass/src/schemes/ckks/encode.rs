//! Encoding: from slots to ring elements and back.

use num_complex::Complex64;
use windlass_ring::{Basis, Eval, Poly, rns};
use zeroize::{Zeroize, Zeroizing};

use super::context::CkksContext;
use super::error_model::ErrorModel;
use crate::error::{Error, Result};

/// 2^60: coefficients are cut there into two words.
const HALF: f64 = (1u64 << 60) as f64;

impl CkksContext {
    /// Refuses slot counts that do not divide n/2, and values that are not finite or above `bound`.
    pub(crate) fn check_values(&self, values: &[Complex64], bound: f64) -> Result<()> {
        self.check_slots(values.len())?;
        for (index, z) in values.iter().enumerate() {
            if !z.re.is_finite() || !z.im.is_finite() {
                return Err(Error::NotFinite { index });
            }
            if z.norm() > bound {
                return Err(Error::ValueTooLarge { index, bound_bits: bound.log2() });
            }
        }
        Ok(())
    }

    /// round(scale·τ^{-1}(values)) over `basis`, values. The values have been checked.
    ///
    /// Cost: one complex transform of the number of slots, and one transform for each prime.
    pub(crate) fn encode(&self, values: &[Complex64], scale: f64, basis: &Basis) -> Poly<Eval> {
        let mut coefficients = self.scaled(values, scale);
        let poly = self.rounded(&coefficients, basis);
        coefficients.zeroize();
        poly
    }

    /// As [`Self::encode`] for public values: also the deviation of a slot that rounding leaves,
    /// measured, in units of the values.
    ///
    /// Cost: one more complex transform.
    pub(crate) fn encode_public(&self, values: &[Complex64], scale: f64, basis: &Basis) -> (Poly<Eval>, f64) {
        let mut coefficients = self.scaled(values, scale);
        let poly = self.rounded(&coefficients, basis);
        coefficients.iter_mut().for_each(|a| *a -= a.round_ties_even());
        (poly, ErrorModel::known(&self.embedding().to_slots(&coefficients)) / scale)
    }

    /// scale·τ^{-1}(values).
    fn scaled(&self, values: &[Complex64], scale: f64) -> Vec<f64> {
        let mut coefficients = self.embedding().to_coefficients(values);
        coefficients.iter_mut().for_each(|a| *a *= scale);
        coefficients
    }

    /// The nearest ring element to given coefficients of a subring, over `basis`.
    fn rounded(&self, coefficients: &[f64], basis: &Basis) -> Poly<Eval> {
        let (n, gap) = (self.spec().n, self.spec().n / coefficients.len());
        let (mut low, mut high) = (vec![0i64; n], vec![0i64; n]);
        let mut wide = false;
        for (k, a) in coefficients.iter().enumerate() {
            let scaled = a.round_ties_even();
            let upper = (scaled / HALF).trunc();
            // Both differences are exact: scaled has 53 significant bits.
            (low[k * gap], high[k * gap]) = ((scaled - upper * HALF) as i64, upper as i64);
            wide |= upper != 0.0;
        }
        let ring = self.rlwe().ring();
        let mut poly = Poly::from_signed(ring, basis, &low);
        if wide {
            let mut upper = Poly::from_signed(ring, basis, &high);
            upper.mul_scalar_assign(|q| q.reduce(1 << 60));
            poly.add_assign(&upper);
            upper.zeroize();
        }
        low.zeroize();
        high.zeroize();
        poly.into_eval()
    }

    /// All n coefficients of a phase below 2^bits in absolute value, centred. Time and memory
    /// accesses do not depend on them.
    pub(crate) fn centred(&self, phase: &Poly<Eval>, bits: f64) -> Zeroizing<Vec<f64>> {
        let level = phase.basis().len();
        // As many primes as hold the phase.
        let enough = |&primes: &usize| self.rlwe().log2_modulus(primes) > bits + 1.5;
        let basis = self.rlwe().basis((1..=level).find(enough).unwrap_or(level));
        let mut small = phase.restrict(&basis).into_coeff();
        let centred = rns::centred_floats(&small);
        small.zeroize();
        centred
    }
}
