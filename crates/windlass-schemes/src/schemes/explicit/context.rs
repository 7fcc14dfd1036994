//! What keys, plaintexts and ciphertexts with explicit steps share.

use std::fmt;
use std::sync::Arc;

use windlass_ring::Basis;
use windlass_ring::kernels::Isa;
use windlass_ring::kernels::arith;
use windlass_ring::slots::{Hypercube, SlotRing};
use windlass_rlwe::{Bound, Limits, NoiseModel, SecurityEstimate};

use super::chain::{Chain, Encoding};
use super::scale::Scale;
use crate::error::{Error, ExplicitError, Result};
use crate::schemes::ckks::{Embedding, MOST_BITS, Wide};

/// The chain of moduli, and how plaintexts are encoded.
///
/// *Level* l means the modulus `q_0·..·q_l`, q_i the steps of the chain. A fresh ciphertext can have any
/// level up to [`Self::top_level`]. At level 0 no step can be dropped.
#[derive(Debug)]
pub struct Context {
    rlwe: Arc<windlass_rlwe::Context>,
    /// The number of primes up to each step: the level of the layer below.
    primes: Vec<usize>,
    pub(super) slots: Slots,
    noise: NoiseModel,
}

/// How vectors become ring elements.
#[derive(Debug)]
pub(super) enum Slots {
    Ckks(Embedding),
    Bgv(Arc<SlotRing>),
}

impl Context {
    /// Chooses the primes, checks the security and builds the transforms.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for n, a modulus of the chain or the plaintext modulus; [`Error::Rlwe`] for a
    /// special modulus that is too small, and for security.
    pub fn new(chain: &Chain, encoding: Encoding) -> Result<Arc<Self>> {
        let (params, counts) = chain.params()?;
        let slots = match encoding {
            Encoding::Ckks => Slots::Ckks(Embedding::new(chain.n)),
            Encoding::Bgv { modulus } => {
                params.check_plaintext_prime(modulus)?;
                Slots::Bgv(Arc::new(integer_slots(2 * chain.n as u64, modulus)?))
            }
        };
        let t = match encoding {
            Encoding::Ckks => 1,
            Encoding::Bgv { modulus } => modulus,
        };
        let noise = NoiseModel::new(&params, t);
        let sums = counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        let primes = sums.collect();
        Ok(Arc::new(Self { rlwe: windlass_rlwe::Context::new(params)?, primes, slots, noise }))
    }

    /// The context of keys.
    pub fn rlwe(&self) -> &Arc<windlass_rlwe::Context> {
        &self.rlwe
    }

    /// How plaintexts are encoded.
    pub fn encoding(&self) -> Encoding {
        match &self.slots {
            Slots::Ckks(_) => Encoding::Ckks,
            Slots::Bgv(ring) => Encoding::Bgv { modulus: ring.modulus().value() },
        }
    }

    /// The ring dimension n.
    pub fn n(&self) -> usize {
        self.rlwe.params().n()
    }

    /// The number of slots of one row: n/2. CKKS has one row. BGV has two, which rotations do not mix.
    pub fn row_slots(&self) -> usize {
        self.n() / 2
    }

    /// The number of steps of the chain, less 1.
    pub fn top_level(&self) -> usize {
        self.primes.len() - 1
    }

    /// The primes of a step of the chain.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a level that is not there.
    pub fn step(&self, level: usize) -> Result<Vec<u64>> {
        self.check_level(level)?;
        Ok(self.primes_of_step(level).collect())
    }

    fn primes_of_step(&self, level: usize) -> impl Iterator<Item = u64> + '_ {
        let start = level.checked_sub(1).map_or(0, |below| self.primes[below]);
        self.rlwe.params().q_primes()[start..self.primes[level]].iter().map(|q| q.value())
    }

    /// λ of the modulus QP.
    pub fn security(&self) -> SecurityEstimate {
        self.rlwe.params().security()
    }

    /// t, by which errors are multiplied: 1 in CKKS.
    pub(super) fn multiplier(&self) -> u64 {
        match self.encoding() {
            Encoding::Ckks => 1,
            Encoding::Bgv { modulus } => modulus,
        }
    }

    pub(super) fn noise(&self) -> &NoiseModel {
        &self.noise
    }

    /// The level of the layer below.
    pub(super) fn rlwe_level(&self, level: usize) -> usize {
        self.primes[level]
    }

    pub(super) fn basis(&self, level: usize) -> Basis {
        self.rlwe.basis(self.rlwe_level(level))
    }

    pub(super) fn check_level(&self, level: usize) -> Result<()> {
        Ok(Limits::between(0, self.top_level()).check("level", level)?)
    }

    /// Refuses a scale of the other scheme, one that is not between 2^−64 and 2^960, and a factor that is not a unit.
    pub(super) fn check_scale(&self, scale: Scale) -> Result<()> {
        match (scale, self.encoding()) {
            (Scale::Real(scale), Encoding::Ckks) => {
                let (least, most) = (MIN_SCALE_BITS.exp2(), MOST_BITS.exp2());
                Ok(Limits::between(least, most).check("the scale", scale.high())?)
            }
            (Scale::Factor(factor), Encoding::Bgv { modulus }) => {
                Ok(Limits::between(1, modulus - 1).check("the plaintext factor", factor)?)
            }
            (_, Encoding::Ckks) => Err(ExplicitError::OtherEncoding { expected: "a real scale" }.into()),
            (_, Encoding::Bgv { .. }) => Err(ExplicitError::OtherEncoding { expected: "a plaintext factor" }.into()),
        }
    }

    /// The scale of a product. Both are scales of this context.
    pub(super) fn product(&self, a: Scale, b: Scale) -> Scale {
        match (a, b) {
            (Scale::Factor(a), Scale::Factor(b)) => Scale::Factor(arith::mul_mod(a, b, self.multiplier())),
            (Scale::Real(a), Scale::Real(b)) => Scale::Real(a * b),
            _ => unreachable!("ciphertexts and plaintexts have scales of their context"),
        }
    }

    /// The scale after the step of a level is dropped by a division.
    pub(super) fn divided(&self, scale: Scale, level: usize) -> Scale {
        match scale {
            Scale::Real(scale) => {
                let step = self.primes_of_step(level).fold(Wide::ONE, |product, q| product * Wide::from(q as f64));
                Scale::Real(scale / step)
            }
            Scale::Factor(factor) => {
                let t = self.multiplier();
                let step = self.primes_of_step(level).fold(1, |product, q| arith::mul_mod(product, q % t, t));
                let inverse = arith::inv_mod(step, t).expect("no prime of Q is the plaintext modulus");
                Scale::Factor(arith::mul_mod(factor, inverse, t))
            }
        }
    }

    /// log2 of the product of the primes of a step.
    pub(super) fn log2_step(&self, level: usize) -> f64 {
        self.primes_of_step(level).map(|q| (q as f64).log2()).sum()
    }

    /// The bits that a phase may have at a level.
    pub(super) fn room(&self, level: usize) -> f64 {
        let bits = self.rlwe.log2_modulus(self.rlwe_level(level)) - 1.0;
        match self.slots {
            Slots::Ckks(_) => bits.min(MOST_BITS),
            Slots::Bgv(_) => bits,
        }
    }

    /// Refuses a phase that does not fit the modulus of a level.
    pub(super) fn check_room(&self, operation: &'static str, level: usize, phase: Bound) -> Result<()> {
        let (needed_bits, left_bits) = (phase.bits(), self.room(level));
        // The centred lift of residues is exact up to (1/2 − 2^{−30})·Q.
        if needed_bits < left_bits - 1e-8 {
            return Ok(());
        }
        Err(ExplicitError::NoRoom { operation, needed_bits, left_bits }.into())
    }

    /// Refuses values of a context with other moduli or another encoding.
    pub(super) fn check_same(&self, operation: &'static str, other: &Self) -> Result<()> {
        if Arc::ptr_eq(&self.rlwe, &other.rlwe) && self.primes == other.primes && self.encoding() == other.encoding() {
            return Ok(());
        }
        Err(Error::ContextMismatch { operation, left: self.to_string(), right: other.to_string() })
    }

    /// The exponent of the automorphism that moves slot j + amount of each row to slot j.
    pub(super) fn rotation_element(&self, amount: i64) -> u64 {
        let exponent = amount.rem_euclid(self.row_slots() as i64) as u64;
        arith::pow_mod(5, exponent, 2 * self.n() as u64)
    }
}

/// log2 of the smallest scale.
const MIN_SCALE_BITS: f64 = -64.0;

/// n slots of integers modulo t, in two rows of n/2.
fn integer_slots(m: u64, t: u64) -> Result<SlotRing> {
    if t % m != 1 || !arith::is_prime(t) {
        return Err(Limits::only("a prime that is 1 modulo 2n, so that there are n slots")
            .refuse("the plaintext modulus", t)
            .into());
    }
    // The slots of a hypercube move against the powers of its generator.
    let generator = arith::inv_mod(5, m).expect("m is a power of two");
    let hypercube = Hypercube::with_generators(m, t, &[m - 1, generator])?;
    Ok(SlotRing::with_hypercube(hypercube, 1, Isa::best())?)
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.rlwe.params();
        match self.encoding() {
            Encoding::Ckks => write!(f, "CKKS")?,
            Encoding::Bgv { modulus } => write!(f, "BGV modulo {modulus}")?,
        }
        write!(f, ", n = {}, steps of", params.n())?;
        for level in 0..=self.top_level() {
            write!(f, " {:.1}", self.log2_step(level))?;
        }
        let (special, total, security) = (params.log2_p(), params.log2_qp(), self.security().bits);
        write!(f, " bits, P of {special:.1} bits, log2 QP = {total:.1}, {security:.0} bits of security")
    }
}
