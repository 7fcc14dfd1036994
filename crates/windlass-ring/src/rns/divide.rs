//! Dividing by part of the modulus, with rounding.

use std::sync::Arc;

use windlass_kernels::rows;

use crate::poly::{Coeff, Eval, Poly};
use crate::ring::Basis;

impl Poly<Eval> {
    /// `multiplier · round(multiplier^{-1}·x / D)` modulo the primes of `keep`, D the product of the other primes of the
    /// basis: x minus the residue δ ≡ x mod D, δ ≡ 0 mod multiplier, |δ| ≤ multiplier·D/2, divided by D.
    ///
    /// Multiplier 1 is the plain rounded division. The multiplier must be invertible modulo D.
    /// Cost: |D| inverse and |keep| forward transforms, (|D|+1)·|keep| multiply-adds a coefficient.
    pub fn divide_rounded(&self, keep: &Basis, multiplier: u64) -> Self {
        self.divide(keep, multiplier, 1)
    }

    /// `factor · round(x / D)`: as [`Self::divide_rounded`] with multiplier 1, times a scalar at no extra cost.
    pub fn divide_rounded_times(&self, keep: &Basis, factor: u64) -> Self {
        self.divide(keep, 1, factor)
    }

    fn divide(&self, keep: &Basis, multiplier: u64, factor: u64) -> Self {
        let ring = Arc::clone(self.ring());
        let drop = self.basis().without(keep);
        let converter = ring.converter(&drop, keep, multiplier);
        let residue = converter.weigh(self, 1);
        let excess = converter.excess(&residue);
        let isa = ring.isa();
        let mut out = Poly::<Coeff>::unspecified(&ring, keep);
        // Each row is converted, transformed and combined while it is in cache.
        out.fill(|index, q, x| {
            converter.convert_row_exact(&residue, &excess, index, x);
            ring.plan(index).forward(x);
            let product = drop.indices().fold(1, |p, d| q.mul(p, q.reduce(ring.modulus(d).value())));
            // (δ − x)·(−factor/D)
            let quotient = q.mul(q.inv(product), q.reduce(factor));
            rows::sub_mul_scalar_assign(isa, q, x, self.row_of(index), q.neg(quotient));
        });
        out.assume_eval()
    }
}
