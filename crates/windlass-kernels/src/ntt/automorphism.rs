//! Galois automorphisms θ_t: X ↦ X^t on transformed rows: a permutation of positions.

use crate::isa::Isa;
use crate::modulus::Modulus;
use crate::ntt::Shape;

/// The permutation by which θ_t acts on transformed rows: `out[i] = in[source(i)]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Automorphism {
    element: u64,
    source: Vec<u32>,
}

impl Automorphism {
    /// The permutation of θ_t; `None` when gcd(t, m) > 1.
    pub fn new(shape: &Shape, element: u64) -> Option<Self> {
        shape.position(element)?;
        let source = shape
            .exponents()
            .iter()
            .map(|&e| {
                let image = crate::arith::mul_mod(e as u64, element, shape.m());
                shape.position(image).expect("units are closed under multiplication") as u32
            })
            .collect();
        Some(Self { element: element % shape.m(), source })
    }

    /// The group element t.
    pub fn element(&self) -> u64 {
        self.element
    }

    /// `out = θ_t(x)` on one transformed row.
    pub fn apply(&self, _isa: Isa, out: &mut [u64], x: &[u64]) {
        assert!(out.len() == self.source.len() && x.len() == out.len());
        for (out, &source) in out.iter_mut().zip(&self.source) {
            *out = x[source as usize];
        }
    }

    /// `acc += θ_t(x)` on one transformed row.
    pub fn add_assign(&self, _isa: Isa, q: Modulus, acc: &mut [u64], x: &[u64]) {
        assert!(acc.len() == self.source.len() && x.len() == acc.len());
        for (acc, &source) in acc.iter_mut().zip(&self.source) {
            *acc = q.add(*acc, x[source as usize]);
        }
    }
}
