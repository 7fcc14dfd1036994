//! The RNS gadget: a value modulo Q is cut into digits, one for each group of primes, each extended to a larger basis.
//!
//! Digit k of x is x mod D_k, D_k the product of the primes of group k that are in the basis of x. With the gadget vector
//! g_k ≡ 1 mod D_k, ≡ 0 mod the other groups, Σ_k digit_k·g_k ≡ x mod Q, whichever primes of Q are still there.

use std::sync::Arc;

use windlass_kernels::rows;

use crate::poly::{Coeff, Eval, Poly};
use crate::ring::Basis;

/// The groups of primes that make up the digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gadget {
    groups: Vec<Basis>,
}

impl Gadget {
    /// Cuts the first `primes` primes of a ring into `digits` consecutive groups whose sizes differ by at most one.
    pub fn balanced(primes: usize, digits: usize) -> Self {
        assert!(digits >= 1 && digits <= primes, "between one digit and one for each prime");
        let size = primes.div_ceil(digits);
        let groups = (0..digits)
            .map(|k| Basis::new((k * size).min(primes)..((k + 1) * size).min(primes)))
            .filter(|group| !group.is_empty())
            .collect();
        Self { groups }
    }

    /// The groups.
    pub fn groups(&self) -> &[Basis] {
        &self.groups
    }

    /// The part of each group that lies in `basis`, empty groups left out (they come last in a chain of prefixes).
    pub fn active(&self, basis: &Basis) -> Vec<Basis> {
        self.groups
            .iter()
            .map(|group| Basis::new(group.indices().filter(|&index| basis.row_of(index).is_some())))
            .filter(|group| !group.is_empty())
            .collect()
    }

    /// The digits of `multiplier^{-1}·x`, each over the basis of x joined with `special`: decompose-and-extend.
    ///
    /// Digit k is only determined up to small multiples of D_k (approximate base conversion): |digit| < |group|·D_k.
    /// Cost: one inverse transform for each prime of x, and for each digit one forward transform for each prime outside its group.
    pub fn decompose(&self, x: &Poly<Eval>, special: &Basis, multiplier: u64) -> Vec<Poly<Eval>> {
        let ring = Arc::clone(x.ring());
        let isa = ring.isa();
        let wide = x.basis().union(special);
        self.active(x.basis())
            .iter()
            .map(|group| {
                let others = wide.without(group);
                let converter = ring.converter(group, &others, 1);
                let weighed = converter.weigh(x, multiplier);
                // Rows outside the group are converted, then transformed; rows of the group are x itself.
                let mut digit = Poly::<Coeff>::unspecified(&ring, &wide);
                digit.fill(|index, q, row| {
                    if group.row_of(index).is_none() {
                        converter.convert_row(&weighed, index, row);
                        ring.plan(index).forward(row);
                        return;
                    }
                    row.copy_from_slice(x.row_of(index));
                    if multiplier != 1 {
                        rows::mul_scalar_assign(isa, q, row, q.inv(q.reduce(multiplier)));
                    }
                });
                digit.assume_eval()
            })
            .collect()
    }
}
