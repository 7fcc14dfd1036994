//! How far a polynomial is from its tangent.
//!
//! If the argument v is off by e, |e| ≤ η, then p(v + e) is off by p'(v)·e and by at most
//!
//! ```text
//! Σ_{k=2..d} |p^(k)(v)|·η^k/k!
//! ```
//!
//! whether e is real or complex. The first of these derivatives are computed at v. The others are at most
//! those of T_d at 1 times the largest value of p (V. A. Markov 1892):
//!
//! ```text
//! |p^(k)| ≤ max|p|·Π_{j<k} (d² − j²)/(2j + 1)    on −1..1
//! ```

use crate::complex::{Polynomial, PowerBasis};

/// Derivatives that are computed.
const ORDERS: usize = 7;

/// The distance of a polynomial from its tangents.
pub(super) struct Curvature {
    /// The coefficients of the derivatives from the second on, in Chebyshev polynomials.
    derivatives: Vec<Vec<f64>>,
    /// Bounds on the derivatives of higher orders divided by factorials.
    tail: Vec<f64>,
    low: f64,
    high: f64,
}

impl Curvature {
    /// Of a polynomial in the Chebyshev basis.
    pub fn of(p: &Polynomial) -> Option<Self> {
        let PowerBasis::Chebyshev { low, high } = p.basis() else { return None };
        let orders = std::iter::successors(Some(p.coefficients().to_vec()), |c| Some(derivative(c)));
        let derivatives = orders.skip(2).take(ORDERS - 1).collect();
        let (d, largest) = (p.degree() as f64, p.coefficients().iter().map(|c| c.abs()).sum::<f64>());
        // Π (d² − j²)/((2j + 1)·(j + 1)) over j < k.
        let next = |(k, bound): &(usize, f64)| {
            let j = *k as f64;
            Some((k + 1, bound * (d * d - j * j).max(0.0) / (2.0 * j + 1.0) / (j + 1.0)))
        };
        let bounds = std::iter::successors(Some((0, largest)), next).map(|(_, bound)| bound);
        let tail = bounds.skip(ORDERS + 1).take_while(|&bound| bound > 0.0).collect();
        Some(Self { derivatives, tail, low, high })
    }

    /// The bound above for an argument that is off by η.
    pub fn at(&self, x: f64, off: f64) -> f64 {
        let scale = 2.0 / (self.high - self.low);
        let (u, step) = ((x - 0.5 * (self.low + self.high)) * scale, off * scale);
        let (mut power, mut sum) = (step, 0.0);
        for (order, coefficients) in self.derivatives.iter().enumerate() {
            power *= step / (order + 2) as f64;
            sum += value(coefficients, u).abs() * power;
        }
        let mut power = step.powi(ORDERS as i32);
        for bound in &self.tail {
            power *= step;
            sum += bound * power;
        }
        // For the rounding of doubles.
        sum * (1.0 + 1.0 / 64.0)
    }
}

/// Clenshaw's recurrence.
fn value(coefficients: &[f64], u: f64) -> f64 {
    let Some((first, rest)) = coefficients.split_first() else { return 0.0 };
    let (mut b1, mut b2) = (0.0, 0.0);
    for c in rest.iter().rev() {
        (b1, b2) = (2.0 * u * b1 - b2 + c, b1);
    }
    u * b1 - b2 + first
}

/// The derivative c' of Σ c_k·T_k: c'_{k−1} = c'_{k+1} + 2k·c_k, and half of that for k = 1.
fn derivative(coefficients: &[f64]) -> Vec<f64> {
    let degree = coefficients.len().saturating_sub(1);
    let mut own = vec![0.0; degree + 2];
    for k in (1..=degree).rev() {
        own[k - 1] = own[k + 1] + 2.0 * k as f64 * coefficients[k];
    }
    own.truncate(degree);
    if let Some(first) = own.first_mut() {
        *first /= 2.0;
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_as_near_to_their_tangents_as_stated() {
        for degree in [0, 1, 2, 5, 15, 31, 40] {
            let coefficients: Vec<f64> = (0..=degree).map(|k| ((k * k + 1) as f64).sin()).collect();
            let p = Polynomial::chebyshev(&coefficients, -2.0, 3.0).unwrap();
            let (curvature, first) = (Curvature::of(&p).unwrap(), derivative(&coefficients));
            for j in 0..=40 {
                let x = -1.9 + 4.8 * f64::from(j) / 40.0;
                let slope = value(&first, (x - 0.5) / 2.5) / 2.5;
                for off in [1e-4, 1e-3, 1e-2, 0.1] {
                    let stated = curvature.at(x, off);
                    for e in [off, -off, off / 3.0] {
                        let distance = (p.value(x + e) - p.value(x) - slope * e).abs();
                        assert!(distance <= stated + 1e-12, "degree {degree} at {x}, {e}: {distance:e}, {stated:e}");
                    }
                    // It is a bound of the second order: small where the error is.
                    assert!(off > 1e-4 || stated < 1e-2, "degree {degree} at {x}: {stated:e}");
                }
            }
        }
    }
}
