//! From vectors to ring elements and back.

use std::sync::Arc;

use num_complex::Complex64;
use windlass_ring::kernels::arith::{self, Reducer};
use windlass_ring::rns::{self, IntegerLift};
use windlass_ring::slots::SlotRing;
use windlass_ring::{Basis, Eval, Poly, norm};
use windlass_rlwe::{Bound, Limits};
use zeroize::{Zeroize, Zeroizing};

use super::ciphertext::{Bounds, Ciphertext, Noise, Plaintext};
use super::context::{Context, Slots};
use super::scale::Scale;
use crate::error::{Beyond, Error, ExplicitError, Result};
use crate::schemes::ckks::{Embedding, MOST_BITS, ring_element};

/// A vector: complex numbers for CKKS, integers for BGV.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Complex numbers.
    Complex(Vec<Complex64>),
    /// Integers; results lie between −t/2 and t/2.
    Integers(Vec<i64>),
}

impl From<&[f64]> for Values {
    fn from(reals: &[f64]) -> Self {
        Self::Complex(reals.iter().map(|&x| x.into()).collect())
    }
}

impl From<Vec<Complex64>> for Values {
    fn from(values: Vec<Complex64>) -> Self {
        Self::Complex(values)
    }
}

impl From<&[i64]> for Values {
    fn from(integers: &[i64]) -> Self {
        Self::Integers(integers.to_vec())
    }
}

impl Values {
    /// Overwrites the numbers: for secret ones after their encryption.
    pub fn wipe(&mut self) {
        match self {
            Self::Complex(values) => values.iter_mut().for_each(|z| {
                z.re.zeroize();
                z.im.zeroize();
            }),
            Self::Integers(values) => values.zeroize(),
        }
    }
}

/// Relative error of encoding and decoding doubles.
const DOUBLES: f64 = 1.0 / (1u64 << 49) as f64;

/// What a computed slot may be above its bound, by the rounding of transforms.
const TRANSFORMS: f64 = 1.0 / (1u64 << 40) as f64;

impl Context {
    /// A public vector at a level and a scale. A vector of s values is repeated over each row, s a divisor of
    /// n/2. In BGV n values fill both rows.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for the level or scale; [`Error::SlotCount`]; [`Error::NotFinite`];
    /// [`Error::ValueTooLarge`] above 2^960; [`ExplicitError::OtherEncoding`] for values or a scale of the other scheme;
    /// [`ExplicitError::NoRoom`] if the values at this scale do not fit the modulus.
    pub fn encode(self: &Arc<Self>, values: &Values, level: usize, scale: Scale) -> Result<Plaintext> {
        self.check_level(level)?;
        self.check_scale(scale)?;
        let basis = self.basis(level);
        let (poly, bounds) = match (values, &self.slots) {
            (Values::Complex(values), Slots::Ckks(embedding)) => {
                self.check_values(values, f64::INFINITY)?;
                let largest = norm::largest(values.iter().map(|z| z.norm()));
                let bounds = self.encoded_bounds(largest, scale, values.len());
                self.check_room("encode", level, bounds.phase())?;
                (self.real_element(embedding, values, largest, scale, &basis), bounds)
            }
            (Values::Integers(values), Slots::Bgv(ring)) => {
                let lifted = self.integer_element(ring, values, scale)?;
                let noise = Noise { norm: Bound::of(norm::public_norm(ring.shape(), &lifted)), ..self.any_message() };
                let poly = Poly::from_signed(self.rlwe().ring(), &basis, &lifted).into_eval();
                (poly, Bounds { signal: Bound::ZERO, noise })
            }
            _ => return Err(self.other_values()),
        };
        self.check_room("encode", level, bounds.phase())?;
        Ok(Plaintext { context: Arc::clone(self), poly, level, scale, bounds })
    }

    /// The message part of an encryption, with bounds that do not depend on the values.
    pub(super) fn secret_element(
        &self,
        values: &Values,
        bound: f64,
        level: usize,
        scale: Scale,
    ) -> Result<(Poly<Eval>, Bounds)> {
        self.check_level(level)?;
        self.check_scale(scale)?;
        let basis = self.basis(level);
        match (values, &self.slots) {
            (Values::Complex(values), Slots::Ckks(embedding)) => {
                Limits::between(0.0, f64::MAX).check("the bound on the values", bound)?;
                self.check_values(values, bound)?;
                let bounds = self.encoded_bounds(bound, scale, values.len());
                self.check_room("encrypt", level, bounds.phase())?;
                Ok((self.real_element(embedding, values, bound, scale, &basis), bounds))
            }
            (Values::Integers(values), Slots::Bgv(ring)) => {
                let lifted = self.integer_element(ring, values, scale)?;
                let poly = Poly::from_signed(self.rlwe().ring(), &basis, &lifted).into_eval();
                Ok((poly, Bounds { signal: Bound::ZERO, noise: self.any_message() }))
            }
            _ => Err(self.other_values()),
        }
    }

    fn other_values(&self) -> Error {
        let expected = match &self.slots {
            Slots::Ckks(_) => "complex numbers",
            Slots::Bgv(_) => "integers",
        };
        ExplicitError::OtherEncoding { expected }.into()
    }

    fn check_values(&self, values: &[Complex64], bound: f64) -> Result<()> {
        let most = self.row_slots();
        if values.is_empty() || !most.is_multiple_of(values.len()) {
            return Err(Error::SlotCount { got: values.len(), most });
        }
        // Transforms add up to n/2 of them as doubles.
        let bound = bound.min(MOST_BITS.exp2());
        for (index, z) in values.iter().enumerate() {
            if !z.re.is_finite() || !z.im.is_finite() {
                return Err(Error::NotFinite { index });
            }
            if z.norm() > bound {
                return Err(Error::ValueTooLarge { index, bound_bits: bound.log2() });
            }
        }
        Ok(())
    }

    /// s values of at most `largest`: each of 2s coefficients is rounded by at most 1/2.
    fn encoded_bounds(&self, largest: f64, scale: Scale, count: usize) -> Bounds {
        let signal = Bound::of(largest) * Bound::from_bits(scale.log2());
        let encoded = Noise { norm: Bound::of(count as f64), coefficients: Bound::of(0.5) };
        Bounds { signal, noise: encoded.plus(Noise::of_norm(signal * Bound::of(DOUBLES))) }
    }

    /// Integers modulo t as centred coefficients.
    fn any_message(&self) -> Noise {
        Noise { norm: self.noise().plaintext_worst(), coefficients: Bound::of(self.multiplier() as f64 / 2.0) }
    }

    fn real_element(
        &self,
        embedding: &Embedding,
        values: &[Complex64],
        largest: f64,
        scale: Scale,
        basis: &Basis,
    ) -> Poly<Eval> {
        let Scale::Real(scale) = scale else { unreachable!("the scale was checked") };
        let mut coefficients = Zeroizing::new(embedding.to_coefficients(values));
        coefficients.iter_mut().for_each(|a| *a *= scale.high());
        // Transforms may exceed the largest value by their rounding.
        ring_element(self.rlwe().ring(), basis, &coefficients, 2.0 * largest * scale.high())
    }

    /// factor·values modulo t, centred.
    fn integer_element(&self, ring: &SlotRing, values: &[i64], scale: Scale) -> Result<Zeroizing<Vec<i64>>> {
        let Scale::Factor(factor) = scale else { unreachable!("the scale was checked") };
        let (n, t) = (self.n(), ring.modulus());
        let most = self.row_slots();
        if values.is_empty() || (values.len() != n && !most.is_multiple_of(values.len())) {
            return Err(Error::SlotCount { got: values.len(), most });
        }
        let residues = Zeroizing::new(values.iter().cycle().take(n).map(|&x| t.reduce_i64(x)).collect::<Vec<u64>>());
        let coefficients = Zeroizing::new(ring.encode_integers(&residues)?);
        Ok(Zeroizing::new(coefficients.iter().map(|&x| t.centred(t.mul(x, factor))).collect()))
    }

    /// The vector of a phase that a ciphertext describes: n/2 complex numbers, or n integers.
    pub(super) fn decode(&self, ct: &Ciphertext, phase: Poly<Eval>) -> Result<Values> {
        match &self.slots {
            Slots::Ckks(embedding) => self.decode_reals(embedding, ct, phase),
            Slots::Bgv(ring) => self.decode_integers(ring, ct, phase),
        }
    }

    fn decode_reals(&self, embedding: &Embedding, ct: &Ciphertext, mut phase: Poly<Eval>) -> Result<Values> {
        let Scale::Real(scale) = ct.scale else { unreachable!("ciphertexts have scales of their context") };
        // As many primes as hold the phase.
        let enough = |&primes: &usize| self.rlwe().log2_modulus(primes) > ct.log2_phase() + 1.5;
        let all = self.rlwe_level(ct.level);
        let mut small = phase.restrict(&self.rlwe().basis((1..=all).find(enough).unwrap_or(all))).into_coeff();
        phase.zeroize();
        let mut coefficients = rns::centred_floats(&small);
        small.zeroize();
        coefficients.iter_mut().for_each(|a| *a /= scale.high());
        let mut slots = embedding.to_slots(&coefficients);
        let bound = (ct.magnitude() + ct.error_bound()) * (1.0 + TRANSFORMS);
        // A norm that is not a number is beyond, too.
        let within = |z: &Complex64| z.norm() <= bound;
        let mut beyond = slots.iter().enumerate().filter(|(_, z)| !within(z));
        let Some((slot, _)) = beyond.next() else { return Ok(Values::Complex(slots)) };
        let count = 1 + beyond.count();
        Values::Complex(std::mem::take(&mut slots)).wipe();
        Err(Error::NotDecryptable { beyond: Some(Beyond { slot, count }) })
    }

    fn decode_integers(&self, ring: &Arc<SlotRing>, ct: &Ciphertext, phase: Poly<Eval>) -> Result<Values> {
        let Scale::Factor(factor) = ct.scale else { unreachable!("ciphertexts have scales of their context") };
        let t = ring.modulus();
        let mut phase = phase.into_coeff();
        let (residues, fraction) = IntegerLift::new(phase.ring(), phase.basis()).centred_mod(&phase, t.value());
        phase.zeroize();
        let mut residues = Zeroizing::new(residues);
        // The bound says |ε| ≤ 2^{−1−room}·Q; fractions are off by less than 2^{−40}.
        if fraction > (-1.0 - ct.room_bits()).exp2() * 1.001 + 2f64.powi(-39) {
            return Err(Error::NotDecryptable { beyond: None });
        }
        let inverse = arith::inv_mod(factor, t.value()).expect("factors are units");
        let reducer = Reducer::new(t.value());
        residues.iter_mut().for_each(|x| *x = reducer.mul(*x, inverse));
        let slots = Zeroizing::new(ring.decode_integers(&residues)?);
        Ok(Values::Integers(slots.iter().map(|&x| t.centred(x)).collect()))
    }
}
