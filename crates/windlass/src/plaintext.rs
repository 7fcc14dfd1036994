//! Elements of the plaintext ring.

use std::sync::Arc;

use crate::error::{Error, Result};

/// The plaintext ring as far as this layer needs it.
#[derive(Debug)]
pub struct SlotRing {
    dimension: usize,
    modulus: u64,
    m: u64,
    p: u64,
    r: u32,
}

impl SlotRing {
    /// temp
    pub fn temporary(m: u64, n: usize, p: u64, r: u32) -> Self {
        Self { dimension: n, modulus: p.pow(r), m, p, r }
    }
    /// temp
    pub fn m(&self) -> u64 {
        self.m
    }
    /// temp
    pub fn p(&self) -> u64 {
        self.p
    }
    /// temp
    pub fn r(&self) -> u32 {
        self.r
    }
    /// The number n = φ(m) of coefficients.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The plaintext modulus p^r.
    pub fn modulus(&self) -> u64 {
        self.modulus
    }
}

/// An element of the plaintext ring `R/(p^r)`: `n` powerful-basis coefficients in `[0, p^r)`, tied to its ring.
#[derive(Clone)]
pub struct Plaintext {
    slots: Arc<SlotRing>,
    coefficients: Vec<u64>,
}

impl Plaintext {
    /// Wraps `n` powerful-basis coefficients, each reduced modulo `p^r` first.
    ///
    /// Errors: [`Error::ShapeMismatch`] if there are not exactly `n` of them.
    pub fn new(slots: &Arc<SlotRing>, mut coefficients: Vec<u64>) -> Result<Self> {
        let (dimension, modulus) = (slots.dimension(), slots.modulus());
        if coefficients.len() != dimension {
            let got = coefficients.len();
            return Err(Error::ShapeMismatch { what: "plaintext coefficients", expected: dimension, got });
        }
        coefficients.iter_mut().for_each(|c| *c %= modulus);
        Ok(Self { slots: Arc::clone(slots), coefficients })
    }

    /// The zero element.
    pub fn zero(slots: &Arc<SlotRing>) -> Self {
        Self { slots: Arc::clone(slots), coefficients: vec![0; slots.dimension()] }
    }

    /// The ring of this element.
    pub fn slots(&self) -> &Arc<SlotRing> {
        &self.slots
    }

    /// The powerful-basis coefficients, `[n]`, each in `[0, p^r)`.
    pub fn coefficients(&self) -> &[u64] {
        &self.coefficients
    }

    /// The coefficients, given away.
    pub fn into_coefficients(self) -> Vec<u64> {
        self.coefficients
    }
}
