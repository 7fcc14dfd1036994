//! The canonical embedding of a power-of-two ring on s slots, as fast Fourier transforms in double
//! precision.
//!
//! Slot j of `a ∈ R[X]/(X^{2s} + 1)` is `a(ξ^{5^j})`, `ξ = exp(iπ/2s)`: the order in which `θ_5` is
//! a rotation by one. A vector of s slots lives in the subring of `X^{n/2s}`, so that all n/2 slots
//! of the large ring hold it n/2s times over.

use std::ops::{Add, Mul, Sub};
use std::sync::OnceLock;

use num_complex::Complex64;
use zeroize::Zeroize;

use super::wide::{self, Wide, WideComplex};

/// Tables for ring dimension n and every number of slots that divides n/2.
#[derive(Debug)]
pub(crate) struct Embedding {
    /// exp(2πi·j/2n), `[2n]`.
    roots: Vec<Complex64>,
    /// 5^j mod 2n, `[n/2]`.
    powers: Vec<usize>,
    /// The same roots to some 100 bits: made when they are first needed.
    wide: OnceLock<Vec<WideComplex>>,
}

impl Embedding {
    /// Tables for a power of two n ≥ 2. Cost: n values of sine and cosine.
    pub(crate) fn new(n: usize) -> Self {
        assert!(n.is_power_of_two() && n >= 2);
        let angle = std::f64::consts::PI / n as f64;
        let roots = (0..2 * n).map(|j| eighths(j, 2 * n, angle)).collect();
        let powers = std::iter::successors(Some(1), |&power| Some(power * 5 % (2 * n))).take(n / 2).collect();
        Self { roots, powers, wide: OnceLock::new() }
    }

    /// n/2.
    pub(crate) fn most_slots(&self) -> usize {
        self.powers.len()
    }

    /// exp(2πi·exponent/length), length ≤ 2n a power of two.
    #[inline]
    pub(crate) fn root(&self, exponent: usize, length: usize) -> Complex64 {
        self.roots[exponent * (self.roots.len() / length)]
    }

    /// The 2s real coefficients whose slots are the given ones. Cost: s/2·log2(s) complex products.
    pub(crate) fn to_coefficients(&self, slots: &[Complex64]) -> Vec<f64> {
        self.taken_apart(&mut slots.to_vec())
    }

    /// The coefficients of slots, which may be a secret of the client: they are overwritten with zeros.
    fn taken_apart(&self, values: &mut [Complex64]) -> Vec<f64> {
        split_up(values, &self.powers, |exponent, length| self.root(exponent, length));
        let share = 1.0 / values.len() as f64;
        let coefficients = values.iter().map(|z| z.re * share).chain(values.iter().map(|z| z.im * share)).collect();
        for value in values {
            value.re.zeroize();
            value.im.zeroize();
        }
        coefficients
    }

    /// The s slots of 2s real coefficients.
    pub(crate) fn to_slots(&self, coefficients: &[f64]) -> Vec<Complex64> {
        let (re, im) = coefficients.split_at(coefficients.len() / 2);
        let mut values: Vec<Complex64> = re.iter().zip(im).map(|(&re, &im)| Complex64::new(re, im)).collect();
        join_up(&mut values, &self.powers, |exponent, length| self.root(exponent, length));
        values
    }

    /// As [`Self::to_coefficients`], to [`wide::WIDE_ROUNDING`] of the largest slot.
    pub(crate) fn to_wide_coefficients(&self, slots: &[WideComplex]) -> Vec<Wide> {
        let (mut values, roots) = (slots.to_vec(), self.wide_roots());
        split_up(&mut values, &self.powers, |exponent, length| roots[exponent * (roots.len() / length)]);
        let share = Wide::from(1.0 / values.len() as f64);
        let coefficients = values.iter().map(|z| z.re * share).chain(values.iter().map(|z| z.im * share)).collect();
        values.zeroize();
        coefficients
    }

    /// As [`Self::to_slots`], to [`wide::WIDE_ROUNDING`] of the largest slot.
    pub(crate) fn to_wide_slots(&self, coefficients: &[Wide]) -> Vec<WideComplex> {
        let ((re, im), roots) = (coefficients.split_at(coefficients.len() / 2), self.wide_roots());
        let mut values: Vec<WideComplex> = re.iter().zip(im).map(|(&re, &im)| WideComplex { re, im }).collect();
        join_up(&mut values, &self.powers, |exponent, length| roots[exponent * (roots.len() / length)]);
        values
    }

    fn wide_roots(&self) -> &[WideComplex] {
        self.wide.get_or_init(|| wide::roots(self.roots.len()))
    }
}

/// Slots to coefficients, times the number of slots: a + i·b holds two coefficients.
fn split_up<C>(values: &mut [C], powers: &[usize], root: impl Fn(usize, usize) -> C)
where
    C: Copy + Add<Output = C> + Sub<Output = C> + Mul<Output = C>,
{
    let mut length = values.len();
    while length >= 2 {
        let (half, order) = (length / 2, 4 * length);
        for block in values.chunks_exact_mut(length) {
            let (low, high) = block.split_at_mut(half);
            for ((a, b), power) in low.iter_mut().zip(high).zip(powers) {
                let root = root(order - power % order, order);
                (*a, *b) = (*a + *b, (*a - *b) * root);
            }
        }
        length = half;
    }
    reverse_bits(values);
}

/// Coefficients to slots.
fn join_up<C>(values: &mut [C], powers: &[usize], root: impl Fn(usize, usize) -> C)
where
    C: Copy + Add<Output = C> + Sub<Output = C> + Mul<Output = C>,
{
    reverse_bits(values);
    let mut length = 2;
    while length <= values.len() {
        let (half, order) = (length / 2, 4 * length);
        for block in values.chunks_exact_mut(length) {
            let (low, high) = block.split_at_mut(half);
            for ((a, b), power) in low.iter_mut().zip(high).zip(powers) {
                let moved = *b * root(power % order, order);
                (*a, *b) = (*a + moved, *a - moved);
            }
        }
        length *= 2;
    }
}

/// exp(i·angle·j), by symmetry from arguments in the first eighth, where sine and cosine are most
/// exact.
fn eighths(j: usize, full: usize, angle: f64) -> Complex64 {
    let quarter = full / 4;
    let (turns, rest) = (j / quarter, j % quarter);
    let (sin, cos) = if 2 * rest <= quarter {
        (angle * rest as f64).sin_cos()
    } else {
        let (sin, cos) = (angle * (quarter - rest) as f64).sin_cos();
        (cos, sin)
    };
    match turns {
        0 => Complex64::new(cos, sin),
        1 => Complex64::new(-sin, cos),
        2 => Complex64::new(-cos, -sin),
        _ => Complex64::new(sin, -cos),
    }
}

fn reverse_bits<C>(values: &mut [C]) {
    let bits = values.len().trailing_zeros();
    if bits == 0 {
        return;
    }
    for i in 0..values.len() {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            values.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(count: usize) -> Vec<Complex64> {
        let part = |j: usize, k: f64| (k * (j * j + 1) as f64).sin();
        (0..count).map(|j| Complex64::new(part(j, 0.7), part(j, 1.3))).collect()
    }

    #[test]
    fn slots_are_values_at_the_powers_of_five() {
        let embedding = Embedding::new(64);
        for count in [1, 2, 4, 8, 16, 32] {
            let slots = sample(count);
            let coefficients = embedding.to_coefficients(&slots);
            let mut power = 1u64;
            for slot in &slots {
                let value: Complex64 = coefficients
                    .iter()
                    .enumerate()
                    .map(|(k, &a)| {
                        Complex64::from_polar(a, std::f64::consts::TAU * (k as u64 * power) as f64 / (4 * count) as f64)
                    })
                    .sum();
                assert!((value - slot).norm() < 1e-12, "{count} slots: {value} against {slot}");
                power = power * 5 % (4 * count as u64);
            }
        }
    }

    #[test]
    fn nothing_is_left_of_slots_that_were_taken_apart() {
        let (embedding, mut slots) = (Embedding::new(64), sample(16));
        let expected = embedding.to_coefficients(&slots);
        assert_eq!(embedding.taken_apart(&mut slots), expected);
        assert!(slots.iter().all(|z| *z == Complex64::new(0.0, 0.0)));
    }

    #[test]
    fn there_and_back_is_exact_to_fifty_bits() {
        let embedding = Embedding::new(1 << 15);
        for count in [1 << 14, 1 << 7] {
            let slots = sample(count);
            let back = embedding.to_slots(&embedding.to_coefficients(&slots));
            let worst = slots.iter().zip(&back).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            assert!(worst < 2f64.powi(-49), "{worst:e}");
        }
    }

    #[test]
    fn wide_transforms_agree_with_doubles_and_are_exact_to_ninety_bits() {
        let embedding = Embedding::new(1 << 12);
        for count in [1, 2, 1 << 5, 1 << 11] {
            let slots = sample(count);
            let third = Wide::ONE / Wide::from(3.0);
            let wide: Vec<WideComplex> =
                slots.iter().map(|z| WideComplex::new(Wide::from(z.re) * third, Wide::from(z.im) * third)).collect();
            let coefficients = embedding.to_wide_coefficients(&wide);
            for (near, exact) in embedding.to_coefficients(&slots).iter().zip(&coefficients) {
                assert!((near / 3.0 - exact.high()).abs() < 1e-14);
            }
            let back = embedding.to_wide_slots(&coefficients);
            let worst = wide.iter().zip(&back).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max);
            assert!(worst < wide::WIDE_ROUNDING / 8.0, "{count} slots: {worst:e}");
        }
    }
}
