//! The slot ring E = GR(p^r; d) = Z_{p^r}\[ζ\].

use super::convolution::Convolver;
use super::division::{Divisor, series_inverse};
use super::factor::{derivative, lift_factor, one_factor};
use super::prime_power::PrimePower;
use crate::error::RingError;

/// GR(p^r; d) = Z_{p^r}\[x\]/F_1 with ζ = x of order m. Elements are `[d]` canonical coefficients
/// of 1, ζ, .., ζ^{d−1}.
#[derive(Debug)]
pub struct GaloisRing {
    m: u64,
    modulus: PrimePower,
    convolver: Convolver,
    divisor: Divisor,
    /// Tr(ζ^u) for 0 ≤ u < m + d.
    traces: Vec<u64>,
    /// 1/F_1'(ζ).
    different_inverse: Vec<u64>,
}

impl GaloisRing {
    /// The ring of degree `degree`, the order of p modulo m.
    pub(crate) fn new(m: u64, modulus: PrimePower, degree: usize) -> Result<Self, RingError> {
        Self::from_factor(m, modulus, &one_factor(m, modulus.with_exponent(1)?, degree))
    }

    /// The ring of the same F_1 to another precision.
    pub(crate) fn with_exponent(&self, exponent: u32) -> Result<Self, RingError> {
        let field = self.modulus.with_exponent(1)?;
        let factor: Vec<u64> = self.defining_polynomial().iter().map(|&x| field.reduce(x)).collect();
        Self::from_factor(self.m, self.modulus.with_exponent(exponent)?, &factor)
    }

    /// From F_1 modulo p.
    fn from_factor(m: u64, modulus: PrimePower, factor: &[u64]) -> Result<Self, RingError> {
        let degree = factor.len() - 1;
        let convolver = Convolver::new(modulus, 2 * m as usize);
        let factor = lift_factor(&convolver, m, factor);
        let divisor = Divisor::new(&convolver, factor);
        let mut traces = traces(&convolver, &divisor, m as usize);
        traces.extend_from_within(..degree.min(m as usize));
        let mut ring = Self { m, modulus, convolver, divisor, traces, different_inverse: Vec::new() };
        let derivative = derivative(modulus, ring.divisor.coefficients());
        ring.different_inverse = ring.inverse(&derivative)?;
        Ok(ring)
    }

    /// d.
    pub fn degree(&self) -> usize {
        self.divisor.degree()
    }

    /// p^r.
    pub fn modulus(&self) -> PrimePower {
        self.modulus
    }

    /// F_1, `[d + 1]` coefficients from the constant term up.
    pub fn defining_polynomial(&self) -> &[u64] {
        self.divisor.coefficients()
    }

    /// The integer c.
    pub fn constant(&self, c: u64) -> Vec<u64> {
        let mut a = vec![0; self.degree()];
        a[0] = self.modulus.reduce(c);
        a
    }

    /// ζ^u, by its traces against 1, ζ, ..
    pub fn zeta_power(&self, u: u64) -> Vec<u64> {
        let u = (u % self.m) as usize;
        self.from_dual(&self.traces[u..u + self.degree()])
    }

    /// `a + b`.
    pub fn add(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        a.iter().zip(b).map(|(&x, &y)| self.modulus.add(x, y)).collect()
    }

    /// `a − b`.
    pub fn sub(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        a.iter().zip(b).map(|(&x, &y)| self.modulus.sub(x, y)).collect()
    }

    /// `a·b`.
    pub fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.divisor.mul(&self.convolver, a, b)
    }

    /// `a^{-1}`: extended Euclid modulo p, then Newton's iteration to p^r.
    ///
    /// # Errors
    /// [`RingError::NotInvertible`] when a is divisible by p.
    pub fn inverse(&self, a: &[u64]) -> Result<Vec<u64>, RingError> {
        let field = self.modulus.with_exponent(1)?;
        let reduce = |f: &[u64]| f.iter().map(|&x| field.reduce(x)).collect::<Vec<u64>>();
        let mut inverse =
            euclid(field, reduce(self.divisor.coefficients()), reduce(a)).ok_or(RingError::NotInvertible)?;
        inverse.resize(self.degree(), 0);
        let two = self.constant(2);
        let mut precision = 1;
        while precision < self.modulus.exponent() {
            let error = self.sub(&two, &self.mul(a, &inverse));
            inverse = self.mul(&inverse, &error);
            precision *= 2;
        }
        Ok(inverse)
    }

    /// σ^k(a), σ: ζ ↦ ζ^p.
    pub fn frobenius(&self, a: &[u64], k: usize) -> Vec<u64> {
        let h = windlass_kernels::arith::pow_mod(self.modulus.prime(), (k % self.degree()) as u64, self.m);
        self.substitute(a, h)
    }

    /// Tr(a) = Σ_k σ^k(a), in Z_{p^r}.
    pub fn trace(&self, a: &[u64]) -> u64 {
        let sum = a.iter().zip(&self.traces).map(|(&x, &y)| x as u128 * y as u128).sum();
        self.modulus.reduce_u128(sum)
    }

    /// Σ_k c_k ζ^{hk} for d coefficients c: the map Z_{p^r}\[x\]/F_h → E that sends x to ζ^h.
    pub fn substitute(&self, c: &[u64], h: u64) -> Vec<u64> {
        self.from_dual(&self.traces_along(c, h))
    }

    /// t_j = Σ_k c_k Tr(ζ^{hk + j}), j < d: the trace coordinates of Σ c_k ζ^{hk}.
    fn traces_along(&self, c: &[u64], h: u64) -> Vec<u64> {
        let windows = c.iter().zip(self.windows(h)).filter(|(x, _)| **x != 0);
        if self.sums_fit_a_word() {
            let mut sums = vec![0u64; self.degree()];
            for (&x, window) in windows {
                sums.iter_mut().zip(window).for_each(|(sum, &y)| *sum += x * y);
            }
            return sums.into_iter().map(|sum| self.modulus.reduce(sum)).collect();
        }
        let mut sums = vec![0u128; self.degree()];
        for (&x, window) in windows {
            sums.iter_mut().zip(window).for_each(|(sum, &y)| *sum += x as u128 * y as u128);
        }
        sums.into_iter().map(|sum| self.modulus.reduce_u128(sum)).collect()
    }

    /// t_k = Tr(v·ζ^{hk}), k < d: the transpose of the above.
    pub(crate) fn traces_against(&self, v: &[u64], h: u64) -> Vec<u64> {
        let windows = self.windows(h).take(self.degree());
        if self.sums_fit_a_word() {
            let sum = |window: &[u64]| v.iter().zip(window).map(|(&x, &y)| x * y).sum();
            windows.map(|window| self.modulus.reduce(sum(window))).collect()
        } else {
            let sum = |window: &[u64]| v.iter().zip(window).map(|(&x, &y)| x as u128 * y as u128).sum();
            windows.map(|window| self.modulus.reduce_u128(sum(window))).collect()
        }
    }

    /// For k = 0, 1, ..: Tr(ζ^{hk + j}), 0 ≤ j < d.
    fn windows(&self, h: u64) -> impl Iterator<Item = &[u64]> {
        let (h, m) = ((h % self.m) as usize, self.m as usize);
        std::iter::successors(Some(0), move |&start| Some((start + h) % m))
            .map(|start| &self.traces[start..start + self.degree()])
    }

    /// Whether d products of residues add up below 2^64.
    fn sums_fit_a_word(&self) -> bool {
        let value = self.modulus.value() as u128;
        value * value * self.degree() as u128 <= 1 << 64
    }

    /// The v with Tr(v·ζ^j) = t_j: the dual basis of ζ^j is b_j/F'(ζ) with Σ_j b_j x^j = F(x)/(x −
    /// ζ) (Euler).
    pub fn from_dual(&self, t: &[u64]) -> Vec<u64> {
        let sum = dual_numerator(&self.convolver, t, self.divisor.coefficients());
        self.mul(&sum, &self.different_inverse)
    }

    /// λ_0, .., λ_{d−1} with M(η) = Σ_j λ_j σ^j(η) for the Z_{p^r}-linear map M with M(ζ^i) =
    /// `images[i]` (Halevi–Shoup 2018, §2.4): λ_j = Σ_i M(ζ^i)·σ^j(ζ^i*), ζ^i* the dual basis. d²
    /// products in E.
    pub fn linearised_polynomial(&self, images: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let degree = self.degree();
        assert!(images.len() == degree && images.iter().all(|image| image.len() == degree));
        let dual: Vec<Vec<u64>> =
            (0..degree).map(|i| self.from_dual(&(0..degree).map(|j| (i == j) as u64).collect::<Vec<u64>>())).collect();
        let coefficient = |j| {
            images
                .iter()
                .zip(&dual)
                .fold(vec![0; degree], |sum, (image, dual)| self.add(&sum, &self.mul(image, &self.frobenius(dual, j))))
        };
        (0..degree).map(coefficient).collect()
    }

    pub(crate) fn trace_table(&self) -> &[u64] {
        &self.traces
    }
}

/// Coefficient s of Σ_j t_j b_j: Σ_j t_j f_{s+j+1}.
pub(crate) fn dual_numerator(convolver: &Convolver, t: &[u64], f: &[u64]) -> Vec<u64> {
    let degree = f.len() - 1;
    let reversed: Vec<u64> = t.iter().rev().copied().collect();
    convolver.mul(&reversed, f)[degree..2 * degree].to_vec()
}

/// Power sums of the roots of f: Σ_u Tr(ζ^u) x^u = reversed(f')/reversed(f).
fn traces(convolver: &Convolver, divisor: &Divisor, count: usize) -> Vec<u64> {
    let f = divisor.coefficients();
    let reversed: Vec<u64> = f.iter().rev().copied().collect();
    let mut derivative = derivative(convolver.modulus(), f);
    derivative.reverse();
    let mut traces = convolver.mul(&derivative, &series_inverse(convolver, &reversed, count));
    traces.truncate(count);
    traces
}

/// 1/a modulo f over F_p.
fn euclid(p: PrimePower, f: Vec<u64>, a: Vec<u64>) -> Option<Vec<u64>> {
    let (mut r0, mut r1) = (trimmed(f), trimmed(a));
    let (mut t0, mut t1) = (Vec::new(), vec![1u64]);
    while r1.len() > 1 {
        let leading = p.inv(*r1.last()?)?;
        while r0.len() >= r1.len() {
            let factor = p.mul(*r0.last()?, leading);
            let shift = r0.len() - r1.len();
            subtract_multiple(p, &mut r0, &r1, factor, shift);
            subtract_multiple(p, &mut t0, &t1, factor, shift);
            r0 = trimmed(r0);
        }
        std::mem::swap(&mut r0, &mut r1);
        std::mem::swap(&mut t0, &mut t1);
    }
    let unit = p.inv(*r1.first()?)?;
    Some(trimmed(t1).into_iter().map(|x| p.mul(x, unit)).collect())
}

fn subtract_multiple(p: PrimePower, a: &mut Vec<u64>, b: &[u64], factor: u64, shift: usize) {
    if a.len() < b.len() + shift {
        a.resize(b.len() + shift, 0);
    }
    for (x, &y) in a[shift..].iter_mut().zip(b) {
        *x = p.sub(*x, p.mul(factor, y));
    }
}

fn trimmed(mut a: Vec<u64>) -> Vec<u64> {
    while a.last() == Some(&0) {
        a.pop();
    }
    a
}
