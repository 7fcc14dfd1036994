//! Polynomials of a ciphertext, in monomials or Chebyshev polynomials: what they are, and what is done
//! to the argument.

use windlass_rlwe::Limits;

#[cfg(doc)]
use super::ciphertext::Ciphertext;
#[cfg(doc)]
use super::engine::Engine;
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
    pub(super) fn is_moved(&self) -> bool {
        match self.basis {
            PowerBasis::Chebyshev { low, high } => (low, high) != (-1.0, 1.0),
            PowerBasis::Monomial => false,
        }
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

    /// The largest number of products of ciphertexts in an evaluation, squares included.
    pub fn products(&self) -> usize {
        self.products_with(self.babies())
    }

    fn products_with(&self, babies: usize) -> usize {
        let powers = babies - 1 + (self.degree() / babies).checked_ilog2().unwrap_or(0) as usize;
        powers + pieces(self.degree(), babies, self.least_depth())
    }

    /// The number g of baby powers, a power of two: the one with the fewest products.
    pub(super) fn babies(&self) -> usize {
        let candidates = (0..=doublings(self.degree().max(1))).map(|log| 1 << log);
        let fitting = candidates.filter(|&babies| babies <= self.degree().max(1));
        fitting.min_by_key(|&babies| self.products_with(babies)).unwrap_or(1)
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
