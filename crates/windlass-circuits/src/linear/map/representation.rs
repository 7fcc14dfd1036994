//! What the constants of a map are written in.

use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use windlass_ring::slots::SlotRing;
use windlass_ring::{RingError, norm};
use windlass_schemes::error::Result;
use windlass_schemes::plaintext::{Content, Plaintext, check_same_ring};

use super::axes::{Axes, greatest_common_divisor};

/// An algebra of constants on which a group of automorphisms acts: what a [`super::LinearMap`] is
/// made over.
///
/// A slot ring represents constants by their powerful-basis coefficients ([`Plaintext`]),
/// [`super::InSlots`] by their slots, and [`super::ComplexSlots`] by vectors of complex numbers.
/// Maps, grids and plans are written once over this trait.
pub trait Representation: Clone + fmt::Debug + Send + Sync {
    /// A constant κ.
    type Constant: Clone + PartialEq + fmt::Debug + Send + Sync;

    /// The conductor m: automorphisms are units modulo m.
    fn conductor(&self) -> u64;
    /// The automorphism that stands for all that act as `θ_t`.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::Ring`] if `t` is no unit.
    fn element(&self, t: u64) -> Result<u64> {
        let m = self.conductor();
        let t = t % m.max(2);
        match greatest_common_divisor(t, m) {
            1 => Ok(t),
            _ => Err(RingError::NotAnAutomorphism { element: t, m }.into()),
        }
    }

    /// # Errors
    /// [`windlass_schemes::Error::ContextMismatch`] unless constants of both may meet.
    fn check_same(&self, other: &Self, operation: &'static str) -> Result<()>;
    /// # Errors
    /// What makes this no constant of this representation.
    fn check(&self, constant: &Self::Constant, operation: &'static str) -> Result<()>;

    /// The constant 0.
    fn zero(&self) -> Self::Constant;
    /// The constant 1.
    fn one(&self) -> Self::Constant;
    /// Whether this is 0.
    fn is_zero(&self, constant: &Self::Constant) -> bool;
    /// `a ← a + b`.
    fn add_assign(&self, a: &mut Self::Constant, b: &Self::Constant) -> Result<()>;
    /// `a · b`.
    fn multiply(&self, a: &Self::Constant, b: &Self::Constant) -> Result<Self::Constant>;
    /// `θ_t(a)`.
    fn automorphism(&self, a: &Self::Constant, t: u64) -> Result<Self::Constant>;
    /// `outer · θ_t(a)` for many a, in parallel: one row of a product of maps.
    fn twisted_products(
        &self,
        outer: &Self::Constant,
        t: u64,
        inner: &[&Self::Constant],
    ) -> Result<Vec<Self::Constant>> {
        inner.par_iter().map(|a| self.multiply(outer, &self.automorphism(a, t)?)).collect()
    }
}

/// A representation whose maps can be planned: plaintexts and vectors of complex numbers.
pub trait Plannable: Representation {
    /// A constant in as few bytes as it takes, for plans that do not hold theirs ready.
    type Packed: Send + Sync;

    /// Coordinates on the group of automorphisms.
    fn axes(&self) -> Axes;
    /// Whether a product with this constant can be left out, by what it does to a ciphertext too.
    fn is_one(&self, constant: &Self::Constant) -> bool;
    /// By how much a product with this constant makes noise grow.
    fn norm(&self, constant: &Self::Constant) -> f64;
    /// Where the constant lies in memory, if copies of it share the place: constants that the map
    /// holds once are prepared once.
    fn place(&self, _constant: &Self::Constant) -> Option<usize> {
        None
    }
    /// The constant in few bytes.
    fn pack(&self, constant: Self::Constant) -> Self::Packed;
    /// The constant again.
    fn unpack(&self, packed: &Self::Packed) -> Result<Self::Constant>;
    /// SHA-256 of a constant as it is packed: the same in every process.
    fn digest(&self, constant: &Self::Constant) -> [u8; 32];
    /// Bytes of a packed constant.
    fn packed_bytes(&self, packed: &Self::Packed) -> usize;

    /// The slots in words, as plans print them.
    fn describe(&self) -> String;
}

/// Coefficients in as few bytes as the plaintext modulus allows, with their content.
#[derive(Debug)]
pub enum PackedPlaintext {
    /// Modulus up to 2^8.
    Bytes(Vec<u8>, Content),
    /// Modulus up to 2^16.
    Shorts(Vec<u16>, Content),
    /// Larger ones.
    Words(Plaintext),
}

impl Representation for Arc<SlotRing> {
    type Constant = Plaintext;

    fn conductor(&self) -> u64 {
        self.m()
    }

    fn check_same(&self, other: &Self, operation: &'static str) -> Result<()> {
        check_same_ring(self, other, operation)
    }

    fn check(&self, constant: &Plaintext, operation: &'static str) -> Result<()> {
        constant.check_ring(self, operation)
    }

    fn zero(&self) -> Plaintext {
        Plaintext::zero(self)
    }

    fn one(&self) -> Plaintext {
        Plaintext::one(self)
    }

    fn is_zero(&self, constant: &Plaintext) -> bool {
        constant.is_zero()
    }

    fn add_assign(&self, a: &mut Plaintext, b: &Plaintext) -> Result<()> {
        *a = a.add(b)?;
        Ok(())
    }

    fn multiply(&self, a: &Plaintext, b: &Plaintext) -> Result<Plaintext> {
        a.multiply(b)
    }

    fn automorphism(&self, a: &Plaintext, t: u64) -> Result<Plaintext> {
        a.automorphism(t)
    }
}

impl Plannable for Arc<SlotRing> {
    type Packed = PackedPlaintext;

    fn axes(&self) -> Axes {
        Axes::of(self)
    }

    fn is_one(&self, constant: &Plaintext) -> bool {
        constant.is_one()
    }

    /// The canonical norm of centred coefficients.
    fn norm(&self, constant: &Plaintext) -> f64 {
        let modulus = self.modulus();
        let centred: Vec<i64> = constant.coefficients().iter().map(|&x| modulus.centred(x)).collect();
        norm::public_norm(self.shape(), &centred)
    }

    fn place(&self, constant: &Plaintext) -> Option<usize> {
        Some(constant.coefficients().as_ptr() as usize)
    }

    fn pack(&self, constant: Plaintext) -> PackedPlaintext {
        let (coefficients, content) = (constant.coefficients(), constant.content());
        match self.modulus().value() {
            0..=0x100 => PackedPlaintext::Bytes(coefficients.iter().map(|&c| c as u8).collect(), content),
            0x101..=0x1_0000 => PackedPlaintext::Shorts(coefficients.iter().map(|&c| c as u16).collect(), content),
            _ => PackedPlaintext::Words(constant),
        }
    }

    fn unpack(&self, packed: &PackedPlaintext) -> Result<Plaintext> {
        let (coefficients, content) = match packed {
            PackedPlaintext::Bytes(list, content) => (list.iter().map(|&c| c.into()).collect(), content),
            PackedPlaintext::Shorts(list, content) => (list.iter().map(|&c| c.into()).collect(), content),
            PackedPlaintext::Words(constant) => return Ok(constant.clone()),
        };
        Ok(Plaintext::new(self, coefficients)?.declared(*content))
    }

    fn digest(&self, constant: &Plaintext) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update([u8::from(constant.content() == Content::Integers)]);
        match self.pack(constant.clone()) {
            PackedPlaintext::Bytes(list, _) => hash.update(list),
            PackedPlaintext::Shorts(list, _) => list.iter().for_each(|c| hash.update(c.to_le_bytes())),
            PackedPlaintext::Words(words) => words.coefficients().iter().for_each(|c| hash.update(c.to_le_bytes())),
        }
        hash.finalize().into()
    }

    fn packed_bytes(&self, packed: &PackedPlaintext) -> usize {
        match packed {
            PackedPlaintext::Bytes(list, _) => list.len(),
            PackedPlaintext::Shorts(list, _) => 2 * list.len(),
            PackedPlaintext::Words(constant) => 8 * constant.coefficients().len(),
        }
    }

    fn describe(&self) -> String {
        format!("{} slots of degree {}, m = {}", self.slots(), self.degree(), self.m())
    }
}
