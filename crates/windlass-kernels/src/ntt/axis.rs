//! One prime-power axis of a ring.

use crate::arith;

/// One tensor factor `Z[X_i]/Φ_{m_i}` with `m_i` a prime power and `X_i = X^{m/m_i}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The prime power m_i.
    pub index: u64,
    /// The prime dividing m_i.
    pub prime: u64,
    /// The exponent: m_i = prime^exponent.
    pub exponent: u32,
    /// φ(m_i).
    pub dim: usize,
    /// Evaluation order: position u on this axis holds the value at ω_i^{points\[u\]}, ω_i of order
    /// m_i.
    ///
    /// Odd axes: powers g^u of the least generator g of (Z/m_i)^*, so that an automorphism is a
    /// cyclic shift. The axis of 2: 2·bitreverse(u) + 1.
    pub points: Vec<u64>,
}

impl Axis {
    /// The axis of `prime^exponent`.
    pub(crate) fn new(prime: u64, exponent: u32) -> Self {
        let index = prime.pow(exponent);
        let dim = (index / prime * (prime - 1)) as usize;
        let points = if prime == 2 {
            let log = dim.trailing_zeros();
            (0..dim as u64).map(|u| 2 * if log == 0 { 0 } else { u.reverse_bits() >> (64 - log) } + 1).collect()
        } else {
            let g = arith::least_generator(index);
            std::iter::successors(Some(1), |&power| Some(arith::mul_mod(power, g, index))).take(dim).collect()
        };
        Self { index, prime, exponent, dim, points }
    }
}
