//! Polynomials on a device.

use std::marker::PhantomData;
use std::sync::Arc;

use windlass_kernels::Modulus;
use windlass_ring::{Basis, Coeff, Eval, Poly, Representation, RingError};

use crate::argument::Argument::{Half, Span, Word};
use crate::device::Buffer;
use crate::error::DeviceError;
use crate::ring::{DeviceRing, Inverse, Rows, centred};

/// An element of R/(Π q_i) over a basis, as [`Poly`], on a device: `[basis.len()][n]` canonical residues, row by
/// row without gaps.
///
/// Operations make new polynomials or write to `self`. They fail with [`DeviceError::OtherRing`] and
/// [`DeviceError::OtherBasis`] for operands that do not fit, and with [`DeviceError::OutOfMemory`]; after an
/// error the operands are as before.
#[derive(Debug)]
pub struct DevicePoly<R: Representation> {
    ring: Arc<DeviceRing>,
    basis: Basis,
    words: Buffer,
    representation: PhantomData<R>,
}

impl<R: Representation> DevicePoly<R> {
    /// A polynomial of these words.
    pub(crate) fn wrap(ring: &Arc<DeviceRing>, basis: &Basis, words: Buffer) -> Self {
        Self { ring: Arc::clone(ring), basis: basis.clone(), words, representation: PhantomData }
    }

    /// A polynomial with unspecified residues, to be overwritten.
    pub(crate) fn unspecified(ring: &Arc<DeviceRing>, basis: &Basis) -> Result<Self, DeviceError> {
        let words = ring.device().buffer(basis.len() << ring.log_n())?;
        Ok(Self::wrap(ring, basis, words))
    }

    /// A copy of a polynomial on the device.
    ///
    /// # Errors
    /// [`DeviceError::OtherRing`], [`DeviceError::NoSuchPrime`] and [`DeviceError::OutOfMemory`].
    pub fn upload(ring: &Arc<DeviceRing>, poly: &Poly<R>) -> Result<Self, DeviceError> {
        if !Arc::ptr_eq(ring.ring(), poly.ring()) {
            return Err(DeviceError::OtherRing);
        }
        ring.rows(poly.basis())?;
        Ok(Self::wrap(ring, poly.basis(), ring.device().upload(&poly.data())?))
    }

    /// A copy on the processor.
    ///
    /// # Errors
    /// [`DeviceError::NotCanonical`] if a word is no residue, and what the device says.
    pub fn download(&self) -> Result<Poly<R>, DeviceError> {
        let words = self.words.download()?;
        Poly::from_rows(self.ring.ring(), &self.basis, words).ok_or(DeviceError::NotCanonical)
    }

    /// The ring.
    pub fn ring(&self) -> &Arc<DeviceRing> {
        &self.ring
    }

    /// The primes of the rows.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    pub(crate) fn words(&self) -> &Buffer {
        &self.words
    }

    fn rows(&self) -> Result<Arc<Rows>, DeviceError> {
        self.ring.rows(&self.basis)
    }

    pub(crate) fn check(&self, other: &Self) -> Result<(), DeviceError> {
        if !Arc::ptr_eq(&self.ring, &other.ring) {
            return Err(DeviceError::OtherRing);
        }
        if self.basis == other.basis { Ok(()) } else { Err(DeviceError::OtherBasis) }
    }

    fn n(&self) -> u64 {
        1 << self.ring.log_n()
    }

    /// One kernel on the rows of two polynomials.
    fn combined(&self, other: &Self, kernel: &'static str) -> Result<Self, DeviceError> {
        self.check(other)?;
        let (out, rows) = (Self::unspecified(&self.ring, &self.basis)?, self.rows()?);
        let operands = [Span(&out.words), Span(&self.words), Span(&other.words)];
        let modulo = [Span(&rows.primes), self.ring.moduli(), Word(self.n())];
        self.ring.on_columns(kernel, self.basis.len(), &[operands, modulo].concat())?;
        Ok(out)
    }

    /// `self + other`.
    ///
    /// # Errors
    /// See [`DevicePoly`].
    pub fn plus(&self, other: &Self) -> Result<Self, DeviceError> {
        self.combined(other, "add_rows")
    }

    /// `self - other`.
    ///
    /// # Errors
    /// See [`DevicePoly`].
    pub fn minus(&self, other: &Self) -> Result<Self, DeviceError> {
        self.combined(other, "sub_rows")
    }

    /// `factor(q)·self` for each prime q; the factor is reduced.
    ///
    /// # Errors
    /// See [`DevicePoly`].
    pub fn times_scalar(&self, factor: impl Fn(Modulus) -> u64) -> Result<Self, DeviceError> {
        let (out, rows) = (Self::unspecified(&self.ring, &self.basis)?, self.rows()?);
        let scalars = self.scalars(factor)?;
        let operands = [Span(&out.words), Span(&rows.places), Span(&self.words), Span(&rows.places)];
        let modulo = [Span(&scalars), Span(&rows.primes), self.ring.moduli(), Word(self.n())];
        self.ring.on_columns("scale_rows", self.basis.len(), &[operands, modulo].concat())?;
        Ok(out)
    }

    /// Reduced, centred factors of the rows.
    fn scalars(&self, factor: impl Fn(Modulus) -> u64) -> Result<Buffer, DeviceError> {
        let moduli = self.basis.indices().map(|index| self.ring.ring().modulus(index));
        let scalars: Vec<u64> = moduli.map(|q| centred(q, q.reduce(factor(q)))).collect();
        self.ring.device().upload(&scalars)
    }
}

impl DevicePoly<Coeff> {
    /// Transforms every row. Cost: one forward transform for each prime.
    ///
    /// # Errors
    /// What the device says.
    pub fn into_eval(self) -> Result<DevicePoly<Eval>, DeviceError> {
        let rows = self.rows()?;
        self.ring.forward(&self.words, &rows.places, &rows.primes)?;
        Ok(DevicePoly::wrap(&self.ring, &self.basis, self.words))
    }
}

impl DevicePoly<Eval> {
    /// Transforms every row back. Cost: one inverse transform for each prime.
    ///
    /// # Errors
    /// What the device says.
    pub fn into_coeff(self) -> Result<DevicePoly<Coeff>, DeviceError> {
        let rows = self.rows()?;
        self.ring.inverse(&Inverse {
            out: &self.words,
            places: &rows.places,
            input: &self.words,
            sources: &rows.places,
            primes: &rows.primes,
            scales: &rows.scales,
            shifts: None,
        })?;
        Ok(DevicePoly::wrap(&self.ring, &self.basis, self.words))
    }

    /// `self * other`.
    ///
    /// # Errors
    /// See [`DevicePoly`].
    pub fn mul(&self, other: &Self) -> Result<Self, DeviceError> {
        self.combined(other, "mul_rows")
    }

    /// `self += x * y`.
    ///
    /// # Errors
    /// See [`DevicePoly`].
    pub fn mul_add_assign(&mut self, x: &Self, y: &Self) -> Result<(), DeviceError> {
        self.check(x)?;
        self.check(y)?;
        let rows = self.rows()?;
        let operands = [Span(&self.words), Span(&x.words), Span(&y.words)];
        let modulo = [Span(&rows.primes), self.ring.moduli(), Word(self.n())];
        self.ring.on_columns("mul_add_rows", self.basis.len(), &[operands, modulo].concat())
    }

    /// `factor(q)·(a_0·b_0, a_0·b_1 + a_1·b_0, a_1·b_1)`: the product of two linear polynomials over the ring.
    ///
    /// # Errors
    /// See [`DevicePoly`].
    pub fn tensor(a: [&Self; 2], b: [&Self; 2], factor: impl Fn(Modulus) -> u64) -> Result<[Self; 3], DeviceError> {
        let first = a[0];
        for other in [a[1], b[0], b[1]] {
            first.check(other)?;
        }
        let out = || Self::unspecified(&first.ring, &first.basis);
        let (out, rows, scalars) = ([out()?, out()?, out()?], first.rows()?, first.scalars(factor)?);
        let [x, y, z] = &out;
        let operands = [x, y, z, a[0], a[1], b[0], b[1]].map(|poly| Span(&poly.words));
        let modulo = [Span(&scalars), Span(&rows.primes), first.ring.moduli(), Word(first.n())];
        first.ring.on_columns("tensor_rows", first.basis.len(), &[&operands[..], &modulo[..]].concat())?;
        Ok(out)
    }

    /// `θ_t(self)` with t odd: X ↦ X^t, a permutation of each row.
    ///
    /// # Errors
    /// [`RingError::NotAnAutomorphism`] for an even t.
    pub fn automorphism(&self, element: u64) -> Result<Self, DeviceError> {
        let (out, element) = (Self::unspecified(&self.ring, &self.basis)?, self.ring.odd(element)?);
        let arguments = [Span(&out.words), Span(&self.words), Half(self.ring.log_n()), Word(element)];
        self.ring.on_columns("permute_rows", self.basis.len(), &arguments)?;
        Ok(out)
    }

    /// `self += θ_t(x)` with t odd.
    ///
    /// # Errors
    /// As [`Self::automorphism`].
    pub fn add_automorphism_assign(&mut self, x: &Self, element: u64) -> Result<(), DeviceError> {
        self.check(x)?;
        let (element, rows) = (self.ring.odd(element)?, self.rows()?);
        let rows = [Span(&self.words), Span(&x.words), Span(&rows.primes), self.ring.moduli()];
        let arguments = [&rows[..], &[Half(self.ring.log_n()), Word(element)]].concat();
        self.ring.on_columns("permute_add_rows", self.basis.len(), &arguments)
    }
}

impl DeviceRing {
    /// A Galois element modulo m.
    pub(crate) fn odd(&self, element: u64) -> Result<u64, DeviceError> {
        let m = self.ring().m();
        if element % 2 == 0 {
            return Err(RingError::NotAnAutomorphism { element: element % m, m }.into());
        }
        Ok(element % m)
    }
}
