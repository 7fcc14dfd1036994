//! Bluestein's algorithm on the whole ring: what general rings cost without a transform along each
//! axis (HElib's way).
//!
//! `a(ζ^t) = ξ^{t²}·Σ_i (a_i·ξ^{i²})·ξ^{−(t−i)²}`, ξ² = ζ, m odd: one convolution with a fixed
//! kernel, here by Windlass's own power-of-two transform of length N ≥ 2m − 1. A negacyclic product
//! will do: what wraps around falls below the indices that are read.

use std::sync::Arc;

use windlass_kernels::modulus::find_primes;
use windlass_kernels::{Isa, Modulus, NttPlan, Shape, arith, rows};

/// Tables for one odd m and one prime.
pub struct Bluestein {
    isa: Isa,
    q: Modulus,
    plan: NttPlan,
    /// ξ^{i²}, i < m.
    chirp: Vec<u64>,
    /// The transformed kernel ξ^{−(j−m+1)²}, j < 2m − 1, divided by nothing: the inverse transform
    /// is exact.
    kernel: Vec<u64>,
    buffer: Vec<u64>,
}

impl Bluestein {
    /// The length N of the convolution.
    pub fn length(m: u64) -> u64 {
        (2 * m - 1).next_power_of_two()
    }

    /// A prime of 50 bits that serves both this and the transform along the axes.
    pub fn prime(shape: &Shape) -> Modulus {
        let order = arith::lcm(shape.root_order(), 2 * Self::length(shape.m()));
        find_primes(order, 50, 1, &[]).expect("a prime of 50 bits")[0]
    }

    /// Tables.
    pub fn new(m: u64, q: Modulus, isa: Isa) -> Self {
        let length = Self::length(m) as usize;
        let shape = Arc::new(Shape::new(2 * length as u64).expect("a power of two"));
        let plan = NttPlan::new(&shape, q, isa).expect("the prime splits");
        let zeta = q.root_of_unity(m).expect("the prime splits");
        let xi = q.pow(zeta, m.div_ceil(2));
        let square = |i: u64| q.pow(xi, arith::mul_mod(i, i, m));
        let chirp: Vec<u64> = (0..m).map(square).collect();
        let mut kernel = vec![0; length];
        for (j, entry) in kernel.iter_mut().enumerate().take(2 * m as usize - 1) {
            *entry = q.inv(chirp[j.abs_diff(m as usize - 1)]);
        }
        plan.forward(&mut kernel);
        Self { isa, q, plan, chirp, kernel, buffer: vec![0; length] }
    }

    /// Values at ζ^0, .., ζ^{m−1} of a polynomial with m coefficients (modulo X^m − 1).
    pub fn forward(&mut self, row: &mut [u64]) {
        let m = self.chirp.len();
        self.buffer[m..].fill(0);
        rows::mul(self.isa, self.q, &mut self.buffer[..m], row, &self.chirp);
        self.plan.forward(&mut self.buffer);
        rows::mul_assign(self.isa, self.q, &mut self.buffer, &self.kernel);
        self.plan.inverse(&mut self.buffer);
        rows::mul(self.isa, self.q, row, &self.buffer[m - 1..2 * m - 1], &self.chirp);
    }
}

/// Powerful-basis coefficients as coefficients modulo X^m − 1: entry (j_1, .., j_k) at exponent Σ
/// j_i·m/m_i.
pub fn unpack(shape: &Shape, row: &[u64]) -> Vec<u64> {
    let mut out = vec![0; shape.m() as usize];
    for (position, &x) in row.iter().enumerate() {
        out[exponent(shape, position) as usize] = x;
    }
    out
}

/// The exponent of X that belongs to a position of the powerful basis, modulo m.
pub fn exponent(shape: &Shape, position: usize) -> u64 {
    let mut rest = position;
    let axes = shape.axes().iter().rev();
    let sum = axes.fold(0, |sum, axis| {
        let j = rest % axis.dim;
        rest /= axis.dim;
        sum + j as u64 * (shape.m() / axis.index)
    });
    sum % shape.m()
}
