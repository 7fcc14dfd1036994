//! From two primes to one.

use std::sync::Arc;

use windlass::ring::kernels::{Modulus, rows};

use super::packing::{pack, width};
use super::parameters::{DROPPED, KEPT, Parameters, SLOTS};

/// Drops the second prime d from parts that were divided by t before, modulo both primes.
///
/// What a part loses to be divisible by d is t times a residue u of part/t: part' = (part − t·u)/d
/// = (u − part/t)·(−t/d). With h = (d − 1)/2, the residue of u + h is not negative, so that it is
/// the same number modulo both primes; h is added before and taken away after, among the values.
#[derive(Debug)]
pub struct Division {
    parameters: Arc<Parameters>,
    /// The values of h·(1 + X + .. + X^{n−1}) modulo d.
    half: Vec<u64>,
    /// For each plaintext prime −t/d, and what h becomes.
    finish: Vec<(u64, Vec<u64>)>,
}

impl Division {
    /// Constants for all plaintext primes.
    pub fn new(parameters: &Arc<Parameters>) -> Self {
        let (ring, q, d) = (parameters.ring(), parameters.kept(), parameters.dropped());
        let halves = vec![(d.value() / 2) as i64; SLOTS];
        let values = |prime| {
            let mut row = vec![0; SLOTS];
            ring.evaluate_signed(prime, &halves, &mut row);
            row
        };
        let finish = |index| {
            let t = q.reduce(parameters.plaintext_prime(index).value());
            let factor = q.mul(q.neg(t), q.inv(q.reduce(d.value())));
            let mut offset = values(KEPT);
            rows::mul_scalar_assign(ring.isa(), q, &mut offset, q.neg(factor));
            (factor, offset)
        };
        Self {
            half: values(DROPPED),
            finish: (0..parameters.plaintext_primes()).map(finish).collect(),
            parameters: Arc::clone(parameters),
        }
    }

    /// 1/t modulo a ciphertext prime: what parts are multiplied by before.
    pub fn before(&self, index: usize, prime: usize) -> u64 {
        let q: Modulus = self.parameters.ring().modulus(prime);
        q.inv(q.reduce(self.parameters.plaintext_prime(index).value()))
    }

    /// Divides one part and packs it; the row modulo d is used up. Cost: a transform modulo each
    /// prime.
    pub fn apply(&self, index: usize, kept: &[u64], dropped: &mut [u64], out: &mut [u8]) {
        let (ring, q, d) = (self.parameters.ring(), self.parameters.kept(), self.parameters.dropped());
        let (factor, offset) = &self.finish[index];
        debug_assert_eq!(out.len(), SLOTS * width(q));
        rows::add_assign(ring.isa(), d, dropped, &self.half);
        ring.plan(DROPPED).inverse(dropped);
        ring.plan(KEPT).forward(dropped);
        rows::sub_mul_scalar_add_assign(ring.isa(), q, dropped, kept, *factor, offset);
        pack(q, dropped, out);
    }
}
