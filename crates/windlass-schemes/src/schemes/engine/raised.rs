//! Sums at a level with the primes of all of their terms.
//!
//! A term of level l enters a sum of level L as `Q_L/Q_l·ε`, whose other rows are zero: a product
//! with constants, which costs neither noise nor a transform. The operation that takes the sum
//! brings it down once for all of its terms, to a level that suits its noise. Terms that are brought
//! together at a lower level would take a switch each, and weights would multiply the rounding errors
//! of these switches.

use windlass_ring::kernels::Modulus;
use windlass_ring::{Eval, Poly};

use super::{Ciphertext, Engine};
use crate::schemes::Scheme;

impl Engine {
    /// The two parts of `Σ k_j·ε_j` with the primes of all terms, as of ciphertexts modulo
    /// p^exponent, which may be less than the plaintext moduli of the terms.
    pub(super) fn raised(&self, exponent: u32, terms: &[(&Ciphertext, i64)]) -> Vec<Poly<Eval>> {
        debug_assert!(terms.iter().all(|(ct, _)| ct.parts.len() == 2), "products are relinearised before");
        let scale = |ct: &Ciphertext| match self.scheme {
            Scheme::Bgv => 1,
            Scheme::Bfv => self.slot_ring.prime().pow(ct.exponent - exponent),
        };
        let list: Vec<&Ciphertext> = terms.iter().map(|(ct, _)| *ct).collect();
        self.raised_parts(&list, |j, q| q.mul(q.reduce(scale(terms[j].0)), q.reduce_i64(terms[j].1)))
    }

    /// The parts of `Σ c_j·Q_L/Q_j·x_j` at the level L that joins those of the x_j, the c_j given
    /// modulo each prime. A ciphertext may have two parts or three.
    pub(super) fn raised_parts(
        &self,
        list: &[&Ciphertext],
        coefficient: impl Fn(usize, Modulus) -> u64,
    ) -> Vec<Poly<Eval>> {
        let ring = self.context.ring();
        let levels = self.context.levels();
        let top = levels.join_all(list.iter().map(|ct| ct.level())).expect("there are terms");
        let factors = |(j, ct): (usize, &&Ciphertext)| -> Vec<u64> {
            let own = ct.parts[0].basis();
            let more = levels.basis(top).without(own);
            let factor = |index: usize| {
                let q = ring.modulus(index);
                q.mul(ring.product(&more, q), coefficient(j, q))
            };
            own.indices().map(factor).collect()
        };
        let factors: Vec<Vec<u64>> = list.iter().enumerate().map(factors).collect();
        let sum = |part: usize| {
            let terms = list.iter().zip(&factors).filter_map(|(ct, factors)| Some((ct.parts.get(part)?, &factors[..])));
            Poly::combination(ring, &self.context.basis(top), &terms.collect::<Vec<_>>())
        };
        let parts = list.iter().map(|ct| ct.parts.len()).max().expect("there are terms");
        (0..parts).map(sum).collect()
    }
}
