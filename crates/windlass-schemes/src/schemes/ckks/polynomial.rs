//! Polynomials of a ciphertext, in monomials or Chebyshev polynomials: what they are, and what is done
//! to the argument.

use num_complex::Complex64;
use windlass_rlwe::Limits;

use super::ciphertext::Ciphertext;
use super::engine::Engine;
use super::evaluation::evaluated;
use crate::error::{Error, Result};

/// What the coefficients of a [`Polynomial`] multiply.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PowerBasis {
    /// x^k.
    Monomial,
    /// T_k(u), u = (2x − low − high)/(high − low): for low ≤ x ≤ high.
    Chebyshev {
        /// The lower end of the interval.
        low: f64,
        /// The upper end.
        high: f64,
    },
}

/// A polynomial with real coefficients, to be evaluated on the real slots of a ciphertext.
#[derive(Debug, Clone, PartialEq)]
pub struct Polynomial {
    coefficients: Vec<f64>,
    basis: PowerBasis,
}

impl Polynomial {
    /// Σ c_k·x^k, lowest first.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for a coefficient that is not finite; [`Error::ShapeMismatch`] if there
    /// are no coefficients.
    pub fn monomial(coefficients: &[f64]) -> Result<Self> {
        Self::new(coefficients, PowerBasis::Monomial)
    }

    /// Σ c_k·T_k on an interval.
    ///
    /// # Errors
    /// As [`Self::monomial`]; [`Error::OutOfRange`] if the interval is empty.
    pub fn chebyshev(coefficients: &[f64], low: f64, high: f64) -> Result<Self> {
        check_interval(low, high)?;
        Self::new(coefficients, PowerBasis::Chebyshev { low, high })
    }

    fn new(coefficients: &[f64], basis: PowerBasis) -> Result<Self> {
        if let Some(index) = coefficients.iter().position(|c| !c.is_finite()) {
            return Err(Error::NotFinite { index });
        }
        let Some(last) = coefficients.iter().rposition(|&c| c != 0.0).or((!coefficients.is_empty()).then_some(0))
        else {
            return Err(Error::ShapeMismatch { what: "coefficients of a polynomial", expected: 1, got: 0 });
        };
        Ok(Self { coefficients: coefficients[..=last].to_vec(), basis })
    }

    /// The coefficients, lowest first.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The basis.
    pub fn basis(&self) -> PowerBasis {
        self.basis
    }

    /// The degree.
    pub fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// The number of rescalings that [`Engine::evaluate`] uses, the one of its result (of degree 2)
    /// included: ⌈log2(degree + 1)⌉, and one more for an interval other than −1..1. It is one more
    /// for ciphertexts whose slots beside the entries have to be cleared first: see there.
    pub fn depth(&self) -> usize {
        usize::from(self.is_moved()) + self.least_depth()
    }

    /// ⌈log2(degree + 1)⌉: powers and coefficients.
    pub(super) fn least_depth(&self) -> usize {
        doublings(self.degree() + 1)
    }

    /// Whether slots beside the entries are cleared while the argument is brought to −1..1, at no
    /// further depth.
    pub fn masks_in_passing(&self) -> bool {
        self.is_moved()
    }

    /// Whether 0 goes to 0 by the form of the polynomial, so that slots with zeros keep them: there
    /// is no constant, and of Chebyshev polynomials on an interval around 0 only odd ones.
    pub fn keeps_zero(&self) -> bool {
        match self.basis {
            PowerBasis::Monomial => self.coefficients[0] == 0.0,
            PowerBasis::Chebyshev { low, high } => {
                low == -high && self.coefficients.iter().step_by(2).all(|&c| c == 0.0)
            }
        }
    }

    /// Whether the argument is brought to −1..1 first.
    fn is_moved(&self) -> bool {
        match self.basis {
            PowerBasis::Chebyshev { low, high } => (low, high) != (-1.0, 1.0),
            PowerBasis::Monomial => false,
        }
    }

    /// Whether the slots beside the entries are cleared before anything else, which takes a
    /// rescaling: nothing else is done to them, and they may be larger than the entries or, if these
    /// are in −1..1, anything but zero. The library does not know whether a value there is real, and
    /// |T_k(z)| is up to (1 + √2)^k for |z| ≤ 1.
    fn clears(&self, x: &Ciphertext) -> bool {
        let most = match self.basis {
            PowerBasis::Chebyshev { .. } => 0.0,
            PowerBasis::Monomial => x.magnitude().max(1.0),
        };
        !self.is_moved() && x.rest_magnitude() > most
    }

    /// The value at a number.
    pub fn value(&self, x: f64) -> f64 {
        match self.basis {
            PowerBasis::Monomial => self.coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c),
            PowerBasis::Chebyshev { low, high } => {
                // Clenshaw's recurrence.
                let u = (2.0 * x - low - high) / (high - low);
                let (mut b1, mut b2) = (0.0, 0.0);
                for c in self.coefficients[1..].iter().rev() {
                    (b1, b2) = (2.0 * u * b1 - b2 + c, b1);
                }
                u * b1 - b2 + self.coefficients[0]
            }
        }
    }

    /// The number g of baby powers, a power of two: the one with the fewest products.
    pub(super) fn babies(&self) -> usize {
        let candidates = (0..=doublings(self.degree().max(1))).map(|log| 1 << log);
        let products = |&babies: &usize| {
            let powers = babies - 1 + (self.degree() / babies).checked_ilog2().unwrap_or(0) as usize;
            powers + pieces(self.degree(), babies, self.least_depth())
        };
        candidates.filter(|&babies| babies <= self.degree().max(1)).min_by_key(products).unwrap_or(1)
    }

    /// `p = q·B_m + r` for degrees below 2m, B the basis.
    pub(super) fn divide(&self, p: &[f64], m: usize) -> (Vec<f64>, Vec<f64>) {
        let (low, high) = p.split_at(m);
        let (mut remainder, mut quotient) = (low.to_vec(), high.to_vec());
        if self.basis != PowerBasis::Monomial {
            // T_{m+j} = 2·T_m·T_j − T_{m−j}.
            for (j, &c) in high.iter().enumerate().skip(1) {
                quotient[j] = 2.0 * c;
                remainder[m - j] -= c;
            }
        }
        (quotient, remainder)
    }
}

/// ⌈log2 k⌉: the depth of B_k.
pub(super) fn doublings(k: usize) -> usize {
    k.next_power_of_two().ilog2() as usize
}

/// Whether a piece of a degree is a sum of baby powers with coefficients, at a depth.
pub(super) fn is_sum(degree: usize, babies: usize, depth: usize) -> bool {
    degree == 0 || degree < babies.max(2) && doublings(degree) < depth
}

/// The products of a piece, those of powers left out.
fn pieces(degree: usize, babies: usize, depth: usize) -> usize {
    if is_sum(degree, babies, depth) {
        return 0;
    }
    let top = 1usize << degree.ilog2();
    1 + pieces(degree - top, babies, depth - 1) + pieces(top - 1, babies, depth)
}

pub(super) fn check_interval(low: f64, high: f64) -> Result<()> {
    if low.is_finite() && high.is_finite() && low < high {
        return Ok(());
    }
    let refusal = match low.is_finite() {
        false => Limits::only("finite").refuse("the lower end of the interval", low),
        true => Limits::at_least(low).with("exclusive, and finite").refuse("the upper end of the interval", high),
    };
    Err(refusal.into())
}

/// Refuses values that are not known to lie in an interval. Errors: [`Error::OutsideInterval`].
fn check_inside(x: &Ciphertext, low: f64, high: f64) -> Result<()> {
    let bound = x.magnitude();
    // Bounds are products of doubles.
    if bound <= low.abs().max(high.abs()) * (1.0 + 1e-9) {
        return Ok(());
    }
    Err(Error::OutsideInterval { bound, low, high })
}

/// A number in the entries, zeros beside them.
fn on_entries(x: &Ciphertext, value: f64) -> Vec<Complex64> {
    let mut values = vec![Complex64::ZERO; x.slots()];
    values[..x.entries()].fill(Complex64::new(value, 0.0));
    values
}

impl Engine {
    /// `p(x)` on every entry. In the Chebyshev basis the entries must be real numbers in the
    /// interval; outside it the polynomial grows fast.
    ///
    /// The slots beside the entries get unspecified values, but stay inside the interval. If they
    /// hold zeros, only the entries are shifted. If they may hold more, the factor of the interval
    /// is replaced by a mask. Both are free. If no factor is needed (monomials, and the interval
    /// −1..1), they are cleared first: before monomials if they may be larger than the entries and
    /// 1, and before the interval −1..1 if they may hold anything but zeros, for example after a
    /// folded matrix or another polynomial. That costs one rescaling.
    ///
    /// **Warning.** The bound of a ciphertext limits the absolute value of its entries. It does not
    /// show that no entry lies below the lower end of the interval. If an entry lies outside,
    /// decryption refuses the result ([`Error::NotDecryptable`]).
    ///
    /// Cost: about 2√degree products; depth as [`Polynomial::depth`].
    ///
    /// # Errors
    /// [`Error::OutsideInterval`] unless the bound on the entries
    /// ([`Ciphertext::magnitude`]) is inside the interval, up to its sign; [`Error::LevelsExhausted`], and those
    /// of products.
    pub fn evaluate(&self, p: &Polynomial, x: &Ciphertext) -> Result<Ciphertext> {
        self.value(p, x).map_err(|error| match error {
            Error::LevelsExhausted { depth, .. } => {
                let left = x.depth_left().saturating_sub(usize::from(x.degree() > 1));
                let needed = (p.depth() + usize::from(p.clears(x))).max(left + 1);
                Error::LevelsExhausted { operation: "evaluate a polynomial", depth, needed, left }
            }
            other => other,
        })
    }

    fn value(&self, p: &Polynomial, x: &Ciphertext) -> Result<Ciphertext> {
        let x = self.argument(p, x)?;
        if p.degree() == 0 {
            return self.add_plain(&self.zeroed(&x), &[Complex64::new(p.coefficients[0], 0.0)]);
        }
        evaluated(self, p, x)
    }

    /// x itself, or u for the Chebyshev basis.
    fn argument(&self, p: &Polynomial, x: &Ciphertext) -> Result<Ciphertext> {
        if let PowerBasis::Chebyshev { low, high } = p.basis {
            check_inside(x, low, high)?;
        }
        let mut x = self.rescale(x)?;
        if p.clears(&x) {
            x = self.rescale(&self.multiply_plain(&x, &on_entries(&x, 1.0))?)?;
        }
        match p.basis {
            PowerBasis::Monomial => Ok(x),
            PowerBasis::Chebyshev { .. } if !p.is_moved() => Ok(x.within(1.0)),
            PowerBasis::Chebyshev { low, high } => Ok(self.moved(&x, low, high)?.within(1.0)),
        }
    }

    /// (2x − low − high)/(high − low) on the entries. Beside them 0 becomes 0, as it is or by a
    /// mask, unless the interval holds 0: then it becomes what 0 becomes.
    fn moved(&self, x: &Ciphertext, low: f64, high: f64) -> Result<Ciphertext> {
        let (factor, shift) = (2.0 / (high - low), -(low + high) / (high - low));
        let scaled = match x.rest_magnitude() {
            0.0 => self.multiply_scalar(x, Complex64::new(factor, 0.0))?,
            _ => self.multiply_plain(x, &on_entries(x, factor))?,
        };
        let shifts = if shift.abs() <= 1.0 { vec![Complex64::new(shift, 0.0)] } else { on_entries(x, shift) };
        self.rescale(&self.add_plain(&scaled, &shifts)?)
    }
}
