//! Encoding: from slots to ring elements and back.

use std::sync::Arc;

use num_complex::Complex64;
use windlass_ring::kernels::Modulus;
use windlass_ring::{Basis, Coeff, Eval, Poly, Ring, Values, rns};
use zeroize::{Zeroize, Zeroizing};

use super::context::CkksContext;
use super::error_model::ErrorModel;
use super::wide::{Wide, WideComplex};
use crate::error::{Error, Result};

/// Coefficients are cut into words of so many bits.
const WORD_BITS: u32 = 60;

/// log2 of the largest phase: what is below 2^960 stays below 2^1024, where doubles end, modulo a
/// prime more than it needs, and in sums of 2^16 slots.
pub(crate) const MOST_BITS: f64 = 960.0;

/// As many words as that takes.
const MOST_WORDS: i32 = 17;

/// 2^(60·k).
fn word_value(k: i32) -> f64 {
    2f64.powi(WORD_BITS as i32 * k)
}

/// Word k of an integer: Σ word_k·2^(60·k), all with the sign of the integer.
fn nth_word(integer: f64, k: i32) -> i64 {
    // All of it is exact: quotients by powers of two, and differences that end where the integer's
    // 53 significant bits do.
    let above = (integer / word_value(k)).trunc();
    (above - (above / word_value(1)).trunc() * word_value(1)) as i64
}

/// An integer, below 2^1020 in absolute value, modulo q.
pub(super) fn residue(integer: f64, q: Modulus) -> u64 {
    let highest = (1..MOST_WORDS).take_while(|&k| word_value(k) <= integer.abs()).last().unwrap_or(0);
    let base = q.reduce(1 << WORD_BITS);
    (0..=highest).rev().fold(0, |sum, k| q.add(q.mul(sum, base), q.reduce_i64(nth_word(integer, k))))
}

/// As [`residue`], of an integer that is a sum of two.
pub(super) fn wide_residue(integer: Wide, q: Modulus) -> u64 {
    q.add(residue(integer.high(), q), residue(integer.low(), q))
}

/// After how many slots, a power of two, a vector repeats.
pub(super) fn period(values: &[Complex64]) -> usize {
    let mut period = values.len();
    while period > 1 && values[..period / 2] == values[period / 2..period] {
        period /= 2;
    }
    period
}

/// The ring element whose coefficients, in steps of n over their number, are the integers nearest to
/// numbers of at most `largest`, below 2^1020. No time or memory access depends on anything else.
///
/// Cost: for coefficients below 2^60, as nearly all are, one pass over the primes.
pub(crate) fn ring_element(ring: &Arc<Ring>, basis: &Basis, coefficients: &[f64], largest: f64) -> Poly<Eval> {
    let (n, gap) = (ring.n(), ring.n() / coefficients.len());
    let highest = (1..MOST_WORDS).take_while(|&k| word_value(k) <= largest).last().unwrap_or(0);
    let mut word = Zeroizing::new(vec![0i64; n]);
    // By Horner's rule from the highest word down.
    let mut sum: Option<Poly<Coeff>> = None;
    for k in (0..=highest).rev() {
        for (place, a) in word.iter_mut().step_by(gap).zip(coefficients) {
            *place = nth_word(a.round_ties_even(), k);
        }
        let mut poly = Poly::from_signed(ring, basis, &word);
        if let Some(mut upper) = sum.take() {
            upper.mul_scalar_assign(|q| q.reduce(1 << WORD_BITS));
            poly.add_assign(&upper);
            upper.zeroize();
        }
        sum = Some(poly);
    }
    sum.expect("there is a lowest word").into_eval()
}

impl CkksContext {
    /// How many bits a phase may have at a level: by its modulus, and by the doubles that it comes
    /// from and becomes.
    pub(crate) fn room(&self, level: usize) -> f64 {
        (self.rlwe().log2_modulus(level) - 1.0).min(MOST_BITS)
    }

    /// Refuses public values that are not finite, or too large for doubles at this scale.
    pub(crate) fn check_scaled(&self, values: &[Complex64], scale: f64) -> Result<()> {
        self.check_values(values, f64::INFINITY)?;
        let most_bits = MOST_BITS - scale.log2();
        match values.iter().find(|z| z.norm() > most_bits.exp2()) {
            Some(z) => Err(Error::NumberTooLarge { value: z.re.abs().max(z.im.abs()), most_bits }),
            None => Ok(()),
        }
    }

    /// Refuses slot counts that do not divide n/2, and values that are not finite or above `bound`.
    #[doc(hidden)]
    pub fn check_values(&self, values: &[Complex64], bound: f64) -> Result<()> {
        self.check_each(values.iter().copied(), bound)
    }

    fn check_each(&self, values: impl ExactSizeIterator<Item = Complex64>, bound: f64) -> Result<()> {
        self.check_slots(values.len())?;
        for (index, z) in values.enumerate() {
            if !z.re.is_finite() || !z.im.is_finite() {
                return Err(Error::NotFinite { index });
            }
            if z.norm() > bound {
                return Err(Error::ValueTooLarge { index, bound_bits: bound.log2() });
            }
        }
        Ok(())
    }

    /// As [`Self::check_values`].
    pub(crate) fn check_wide_values(&self, values: &[WideComplex], bound: f64) -> Result<()> {
        if let Some(index) = values.iter().position(|z| !z.re.is_finite() || !z.im.is_finite()) {
            return Err(Error::NotFinite { index });
        }
        self.check_each(values.iter().map(|z| z.high()), bound)
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

    /// As [`Self::encode_public`], of which only those values are held that differ: slots that repeat
    /// have few.
    ///
    /// Cost: of slots with a short period, less in proportion.
    pub(crate) fn encode_constant(&self, values: &[Complex64], scale: f64, basis: &Basis) -> (Values, f64) {
        let short = &values[..period(values)];
        let coefficients = self.scaled(short, scale);
        let (n, gap) = (self.spec().n, self.spec().n / coefficients.len());
        if coefficients.iter().any(|a| a.abs() >= word_value(1)) {
            let (poly, rounding) = self.encode_public(values, scale, basis);
            return (poly.into(), rounding);
        }
        let mut integers = vec![0i64; n];
        let rounded = |a: &f64| a.round_ties_even() as i64;
        integers.iter_mut().step_by(gap).zip(&coefficients).for_each(|(place, a)| *place = rounded(a));
        let rest: Vec<f64> = coefficients.iter().map(|a| a - a.round_ties_even()).collect();
        let rounding = ErrorModel::known(&self.embedding().to_slots(&rest)) / scale;
        (Values::of_signed(self.rlwe().ring(), basis, &integers), rounding)
    }

    /// As [`Self::encode`], for values and a scale of some 100 bits.
    ///
    /// Cost: one complex transform in [`Wide`] numbers, and two transforms for each prime.
    pub(crate) fn encode_wide(&self, values: &[WideComplex], scale: Wide, basis: &Basis) -> Poly<Eval> {
        let mut coefficients = self.embedding().to_wide_coefficients(values);
        coefficients.iter_mut().for_each(|a| *a = (*a * scale).round());
        let poly = self.rounded_wide(&coefficients, basis);
        coefficients.zeroize();
        poly
    }

    /// The ring element with given integers as coefficients of a subring.
    fn rounded_wide(&self, coefficients: &[Wide], basis: &Basis) -> Poly<Eval> {
        let part = |of: fn(Wide) -> f64| Zeroizing::new(coefficients.iter().map(|&a| of(a)).collect::<Vec<f64>>());
        let mut poly = self.rounded(&part(Wide::high), basis);
        let mut low = self.rounded(&part(Wide::low), basis);
        poly.add_assign(&low);
        low.zeroize();
        poly
    }

    /// scale·τ^{-1}(values).
    fn scaled(&self, values: &[Complex64], scale: f64) -> Vec<f64> {
        let mut coefficients = self.embedding().to_coefficients(values);
        coefficients.iter_mut().for_each(|a| *a *= scale);
        coefficients
    }

    /// The nearest ring element to given coefficients of a subring, over `basis`. They are finite:
    /// see [`Self::check_scaled`].
    ///
    /// Cost: for coefficients below 2^60, as nearly all are, one pass over the primes.
    fn rounded(&self, coefficients: &[f64], basis: &Basis) -> Poly<Eval> {
        let largest = coefficients.iter().fold(0.0f64, |most, a| most.max(a.abs()));
        ring_element(self.rlwe().ring(), basis, coefficients, largest)
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

/// What [`CkksContext::centred`] is off by at most, relative to a coefficient, with room: in bits.
const CENTRED_BITS: f64 = 45.0;

impl CkksContext {
    /// As [`Self::centred`], to some 95 bits: the doubles next to the coefficients, and those next to what is
    /// left.
    pub(crate) fn centred_wide(&self, phase: &Poly<Eval>, bits: f64) -> Zeroizing<Vec<Wide>> {
        let high = self.centred(phase, bits);
        let mut left = phase.clone();
        // They are integers: a double above 2^53 is one, and below that none is off.
        let mut taken = ring_element(self.rlwe().ring(), phase.basis(), &high, (bits + 1.0).exp2());
        left.sub_assign(&taken);
        taken.zeroize();
        let low = self.centred(&left, (bits - CENTRED_BITS).max(1.0));
        left.zeroize();
        Zeroizing::new(high.iter().zip(low.iter()).map(|(&high, &low)| Wide::sum(high, low)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the powers of two that a double is made of.
    #[test]
    fn residues_of_large_integers() {
        let q = Modulus::new((1 << 40) - 87).unwrap();
        for (mantissa, exponent) in [(0i64, 0), (1, 0), (-1, 0), (12_345_678_901, 3), (-(1 << 52) - 1, 100), (3, 950)] {
            let integer = mantissa as f64 * 2f64.powi(exponent);
            let expected = q.mul(q.reduce_i64(mantissa), q.pow(2, exponent as u64));
            assert_eq!(residue(integer, q), expected, "{mantissa}·2^{exponent}");
        }
    }
}
