//! Rings, moduli and keys of retrieval.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use subtle::{Choice, ConditionallySelectable};
use windlass_kernels::u32_rows::{Lowering, Multipliers};
use windlass_kernels::{Isa, Modulus, U32Plan};
use windlass_ring::{Basis, RingError};
use windlass_rlwe::context::Context;
use windlass_rlwe::{Assurance, RlweError, RlweParams, RlweSpec, SecretDistribution};

use crate::error::Result;
use crate::pool::Pool;

/// The moduli of a table, all at n = 4096 and at least 128 bits of security.
///
/// Q is the product of two primes below 2^31, so that residues of a prepared table take 32 bits and
/// products of them 62; P, one prime of 44 or 36 bits, is used only in key switching. log2(QP) ≤
/// 106 for ternary secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Moduli {
    /// Q of 60 bits, P of 44: most bits of a table in each coefficient.
    Wide,
    /// Q of 52 bits, P of 36: the smallest keys, queries and answers.
    Compact,
}

impl Moduli {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Wide, Self::Compact];

    /// Bits of each prime of Q.
    pub fn prime_bits(self) -> u32 {
        match self {
            Self::Wide => 30,
            Self::Compact => 26,
        }
    }

    /// Bits of P.
    pub fn special_bits(self) -> u32 {
        match self {
            Self::Wide => 44,
            Self::Compact => 36,
        }
    }

    /// The parameters of the RLWE layer.
    ///
    /// # Errors
    /// None for the sets of this build; those of [`RlweParams::new`].
    pub fn params(self) -> Result<RlweParams> {
        Ok(RlweParams::new(&RlweSpec {
            m: 2 * N as u64,
            q_prime_bits: vec![self.prime_bits(); PRIMES],
            spare_prime_bits: Vec::new(),
            special_prime_bits: vec![self.special_bits()],
            digits: PRIMES,
            secret: SecretDistribution::Ternary,
            assurance: Assurance::Secure,
        })?)
    }
}

/// The ring dimension n.
pub const N: usize = 4096;

/// The number of primes of Q.
pub const PRIMES: usize = 2;

/// Tiles that are kept for the next queries: those of one pass.
const TILES: usize = 16;

/// Ciphertexts that are kept for the next queries: 32 MiB of them.
const SPARE: usize = 512;

/// Sets of digits that are kept: two for each thread.
const DIGITS: usize = 64;

/// A ring with its moduli, and what retrieval computes with beside them.
#[derive(Debug)]
pub struct Setting {
    moduli: Moduli,
    context: Arc<Context>,
    basis: Basis,
    product: u64,
    /// q_0^{-1} mod q_1, and ⌊that·2^32/q_1⌋.
    inverse: [u64; 2],
    /// Memory of queries.
    pool: Arc<Pool>,
    /// Memory of ciphertexts, and of their digits.
    buffer_pool: Arc<Pool>,
    digits: Pool,
    /// Transforms modulo the primes of Q.
    plans: [U32Plan; PRIMES],
    /// From residues modulo P to those modulo the primes of Q.
    lowerings: [Lowering; PRIMES],
    /// The values of X^{−2^j} for j < log2 n.
    shifts: Vec<[Multipliers; PRIMES]>,
}

impl Setting {
    /// The setting of a choice of moduli.
    ///
    /// # Errors
    /// As [`Moduli::params`].
    pub fn new(moduli: Moduli) -> Result<Arc<Self>> {
        let context = Context::new(moduli.params()?)?;
        let basis = context.basis(PRIMES);
        let ring = context.ring();
        let [q0, q1, p] = [0, 1, PRIMES].map(|index| ring.modulus(index));
        let inverse = q1.inv(q1.reduce(q0.value()));
        let plan = |q: Modulus| U32Plan::new(N.ilog2(), q, ring.isa()).map_err(|e| RlweError::from(RingError::from(e)));
        let plans = [plan(q0)?, plan(q1)?];
        let shift = |plan: &U32Plan, j: u32| {
            let mut monomial = vec![0; N];
            // X^{−k} = −X^{n−k}.
            monomial[N - (1 << j)] = plan.modulus().value() as u32 - 1;
            plan.forward(&mut monomial);
            Multipliers::new(plan.modulus(), &monomial)
        };
        let shifts = (0..N.ilog2()).map(|j| plans.each_ref().map(|plan| shift(plan, j))).collect();
        Ok(Arc::new(Self {
            moduli,
            product: q0.value() * q1.value(),
            inverse: [inverse, (inverse << 32) / q1.value()],
            pool: Arc::new(Pool::of(TILES)),
            buffer_pool: Arc::new(Pool::of(SPARE)),
            digits: Pool::of(DIGITS),
            lowerings: [q0, q1].map(|q| Lowering::new(p, q)),
            plans,
            shifts,
            basis,
            context,
        }))
    }

    /// Which moduli.
    pub fn moduli(&self) -> Moduli {
        self.moduli
    }

    /// The RLWE context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The primes of Q.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// The instruction set of all kernels.
    pub(crate) fn isa(&self) -> Isa {
        self.context.ring().isa()
    }

    /// Prime `index` of Q, or P after them.
    pub fn prime(&self, index: usize) -> Modulus {
        self.context.ring().modulus(index)
    }

    /// Q.
    pub fn modulus(&self) -> u64 {
        self.product
    }

    /// Memory of queries.
    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// log2 Q.
    pub fn log2_modulus(&self) -> f64 {
        (self.product as f64).log2()
    }

    /// Memory of ciphertexts.
    pub(crate) fn buffer_pool(&self) -> &Arc<Pool> {
        &self.buffer_pool
    }

    /// Memory of digits.
    pub(crate) fn digits(&self) -> &Pool {
        &self.digits
    }

    /// The transform modulo prime `index` of Q.
    pub(crate) fn plan(&self, index: usize) -> &U32Plan {
        &self.plans[index]
    }

    /// From residues modulo P to those modulo prime `index` of Q.
    pub(crate) fn lowering(&self, index: usize) -> &Lowering {
        &self.lowerings[index]
    }

    /// The values of X^{−2^j} modulo prime `index` of Q.
    pub(crate) fn shift(&self, j: usize, index: usize) -> &Multipliers {
        &self.shifts[j][index]
    }

    /// The integers in [0, Q) with these residues. No branch depends on them: what a compiler makes
    /// of a plain mask may be one, so the choices go through [`subtle`].
    pub(crate) fn integers<T: Copy + Into<u64>>(&self, rows: [&[T]; PRIMES]) -> Vec<u64> {
        let (q0, q1) = (self.prime(0).value(), self.prime(1).value());
        let [inverse, quotient] = self.inverse;
        let below = |x: u64, q: u64| {
            let less = x.wrapping_sub(q);
            u64::conditional_select(&less, &x, Choice::from((less >> 63) as u8))
        };
        let compose = |(&x, &y): (&T, &T)| {
            let (x, y): (u64, u64) = (x.into(), y.into());
            // (y − x)·q_0^{-1} mod q_1, x < q_0 < 2·q_1 (the primes have one size).
            let difference = y + q1 - below(x, q1);
            let high = (difference * quotient) >> 32;
            let rest = (difference * inverse).wrapping_sub(high * q1);
            x + q0 * below(below(rest, q1), q1)
        };
        rows[0].iter().zip(rows[1]).map(compose).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_moduli_are_secure() {
        for moduli in Moduli::ALL {
            let params = moduli.params().unwrap();
            assert!(params.security().bits >= 128.0 && params.log2_qp() <= 106.0, "{moduli:?}");
        }
    }

    #[test]
    fn integers_are_those_of_the_residues() {
        for moduli in Moduli::ALL {
            let setting = Setting::new(moduli).unwrap();
            let q = setting.modulus();
            let wanted: Vec<u64> = (0..N as u64)
                .map(|j| if j < 8 { q - 1 - j } else { j.wrapping_mul(0x9e37_79b9_7f4a_7c15) % q })
                .collect();
            let rows = [0, 1].map(|index| {
                let prime = setting.prime(index);
                wanted.iter().map(|&x| prime.reduce(x)).collect::<Vec<u64>>()
            });
            assert_eq!(setting.integers([&rows[0], &rows[1]]), wanted);
        }
    }
}
