//! Encoding: from slots to ring elements and back.

use num_bigint::BigInt;
use num_complex::Complex64;
use num_traits::ToPrimitive;
use windlass_ring::rns::IntegerLift;
use windlass_ring::{Basis, Coeff, Eval, Poly};
use zeroize::Zeroize;

use super::context::CkksContext;
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
                return Err(Error::ValueTooLarge { index, bits: z.norm().log2(), bound_bits: bound.log2() });
            }
        }
        Ok(())
    }

    /// round(scale·τ^{-1}(values)) over `basis`, values. The values have been checked.
    ///
    /// Cost: one complex transform of the number of slots, and one transform for each prime.
    pub(crate) fn encode(&self, values: &[Complex64], scale: f64, basis: &Basis) -> Poly<Eval> {
        let mut coefficients = self.embedding().to_coefficients(values);
        let (n, gap) = (self.spec().n, self.most_slots() / values.len());
        let (mut low, mut high) = (vec![0i64; n], vec![0i64; n]);
        let mut wide = false;
        for (k, a) in coefficients.iter().enumerate() {
            let scaled = (a * scale).round_ties_even();
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
        coefficients.zeroize();
        low.zeroize();
        high.zeroize();
        poly.into_eval()
    }

    /// The coefficients of the subring of `count` slots, centred, divided by the scale, of a phase below 2^bits in absolute value.
    pub(crate) fn coefficients(&self, phase: &Poly<Eval>, bits: f64, count: usize, scale: f64) -> Vec<f64> {
        let ring = self.rlwe().ring();
        let level = phase.basis().len();
        // As many primes as hold the phase.
        let enough = |&primes: &usize| self.rlwe().log2_modulus(primes) > bits + 1.5;
        let basis = self.rlwe().basis((1..=level).find(enough).unwrap_or(level));
        let mut small = phase.restrict(&basis).into_coeff();
        let gap = self.most_slots() / count;
        let centred = centred(ring, &small);
        small.zeroize();
        (0..2 * count).map(|k| centred[k * gap] / scale).collect()
    }
}

/// The centred coefficients as floating-point numbers.
fn centred(ring: &windlass_ring::Ring, poly: &Poly<Coeff>) -> Vec<f64> {
    let indices: Vec<usize> = poly.basis().indices().collect();
    match indices[..] {
        [index] => {
            let q = ring.modulus(index).value() as i64;
            poly.row(0).iter().map(|&x| if x as i64 > q / 2 { x as i64 - q } else { x as i64 } as f64).collect()
        }
        [first, second] => {
            let (q0, q1) = (ring.modulus(first), ring.modulus(second));
            let inverse = q1.inv(q1.reduce(q0.value()));
            let product = q0.value() as i128 * q1.value() as i128;
            let lift = |(&x, &y): (&u64, &u64)| {
                let upper = q1.mul(q1.sub(y, q1.reduce(x)), inverse);
                let value = x as i128 + q0.value() as i128 * upper as i128;
                if value > product / 2 { (value - product) as f64 } else { value as f64 }
            };
            poly.row(0).iter().zip(poly.row(1)).map(lift).collect()
        }
        _ => {
            let lift = IntegerLift::new(ring, poly.basis());
            lift.centred(poly).iter().map(|x: &BigInt| x.to_f64().unwrap_or(f64::NAN)).collect()
        }
    }
}
