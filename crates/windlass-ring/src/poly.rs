//! Polynomials in RNS form, coefficients or values by type.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use windlass_kernels::{Automorphism, Modulus, rows};
use zeroize::Zeroize;

use crate::ring::{Basis, Ring};

/// What the rows of a [`Poly`] hold; either [`Coeff`] or [`Eval`].
pub trait Representation: sealed::Sealed + Copy + Send + Sync + 'static {}

/// Powerful-basis coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coeff;

/// Values at the primitive m-th roots of unity, in the order of the shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Eval;

impl Representation for Coeff {}
impl Representation for Eval {}

mod sealed {
    /// Closes [`super::Representation`].
    pub trait Sealed {}
    impl Sealed for super::Coeff {}
    impl Sealed for super::Eval {}
}

/// An element of R/(Π q_i) over a [`Basis`]: `[basis.len()][n]` canonical residues, row-major.
pub struct Poly<R: Representation> {
    ring: Arc<Ring>,
    basis: Basis,
    data: Vec<u64>,
    representation: PhantomData<R>,
}

impl<R: Representation> fmt::Debug for Poly<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poly").field("m", &self.ring.m()).field("rows", &self.basis.len()).finish_non_exhaustive()
    }
}

impl<R: Representation> Clone for Poly<R> {
    fn clone(&self) -> Self {
        let mut data = self.ring.take_buffer(self.basis.len());
        data.copy_from_slice(&self.data);
        Self::wrap(&self.ring, self.basis.clone(), data)
    }
}

impl<R: Representation> Drop for Poly<R> {
    fn drop(&mut self) {
        self.ring.return_buffer(std::mem::take(&mut self.data));
    }
}

impl<R: Representation> PartialEq for Poly<R> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.ring, &other.ring) && self.basis == other.basis && self.data == other.data
    }
}

impl<R: Representation> Zeroize for Poly<R> {
    fn zeroize(&mut self) {
        self.data.as_mut_slice().zeroize();
    }
}

impl<R: Representation> Poly<R> {
    fn wrap(ring: &Arc<Ring>, basis: Basis, data: Vec<u64>) -> Self {
        debug_assert_eq!(data.len(), basis.len() * ring.n());
        Self { ring: Arc::clone(ring), basis, data, representation: PhantomData }
    }

    /// A polynomial with unspecified residues, to be overwritten.
    pub(crate) fn unspecified(ring: &Arc<Ring>, basis: &Basis) -> Self {
        Self::wrap(ring, basis.clone(), ring.take_buffer(basis.len()))
    }

    /// The zero polynomial.
    pub fn zero(ring: &Arc<Ring>, basis: &Basis) -> Self {
        let mut poly = Self::unspecified(ring, basis);
        poly.data.fill(0);
        poly
    }

    /// Takes rows as they are: `[basis.len()][n]`. `None` when the length is wrong or a residue is not canonical.
    pub fn from_rows(ring: &Arc<Ring>, basis: &Basis, data: Vec<u64>) -> Option<Self> {
        let n = ring.n();
        let canonical = data.len() == basis.len() * n
            && basis.indices().zip(data.chunks_exact(n)).all(|(index, row)| {
                let q = ring.modulus(index).value();
                row.iter().all(|&x| x < q)
            });
        canonical.then(|| Self::wrap(ring, basis.clone(), data))
    }

    /// The ring.
    pub fn ring(&self) -> &Arc<Ring> {
        &self.ring
    }

    /// The primes of the rows.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// All residues, `[basis.len()][n]`.
    pub fn data(&self) -> &[u64] {
        &self.data
    }

    pub(crate) fn data_mut(&mut self) -> &mut [u64] {
        &mut self.data
    }

    /// Row number `row`.
    pub fn row(&self, row: usize) -> &[u64] {
        let n = self.ring.n();
        &self.data[row * n..(row + 1) * n]
    }

    /// The row of prime `index`; panics when the prime is not in the basis.
    pub fn row_of(&self, index: usize) -> &[u64] {
        self.row(self.basis.row_of(index).expect("the prime belongs to the basis"))
    }

    /// Fills the rows in parallel: `f(prime_index, modulus, row)`.
    pub(crate) fn fill(&mut self, f: impl Fn(usize, Modulus, &mut [u64]) + Sync) {
        let (ring, basis) = (Arc::clone(&self.ring), self.basis.clone());
        ring.for_each_row(&mut self.data, |row, x| {
            let index = basis.indices().nth(row).expect("one row for each prime");
            f(index, ring.modulus(index), x);
        });
    }

    fn check(&self, other: &Self) {
        assert!(Arc::ptr_eq(&self.ring, &other.ring) && self.basis == other.basis, "polynomials over one basis");
    }

    /// `self += other`.
    pub fn add_assign(&mut self, other: &Self) {
        self.check(other);
        let isa = self.ring.isa();
        self.fill(|index, q, x| rows::add_assign(isa, q, x, other.row_of(index)));
    }

    /// `self -= other`.
    pub fn sub_assign(&mut self, other: &Self) {
        self.check(other);
        let isa = self.ring.isa();
        self.fill(|index, q, x| rows::sub_assign(isa, q, x, other.row_of(index)));
    }

    /// `self = -self`.
    pub fn neg_assign(&mut self) {
        let isa = self.ring.isa();
        self.fill(|_, q, x| rows::neg_assign(isa, q, x));
    }

    /// `self *= factor(q)` for each prime q; the factor is reduced.
    pub fn mul_scalar_assign(&mut self, factor: impl Fn(Modulus) -> u64 + Sync) {
        let isa = self.ring.isa();
        self.fill(|_, q, x| rows::mul_scalar_assign(isa, q, x, q.reduce(factor(q))));
    }

    /// `self *= factor(index, q)`, row by row.
    pub fn mul_scalar_rows(&mut self, factor: impl Fn(usize, Modulus) -> u64 + Sync) {
        let isa = self.ring.isa();
        self.fill(|index, q, x| rows::mul_scalar_assign(isa, q, x, factor(index, q)));
    }

    /// `factor(q)·self` on the rows of the basis, zero on the other rows of `wide`.
    pub fn embed_times(&self, wide: &Basis, factor: impl Fn(Modulus) -> u64 + Sync) -> Self {
        let isa = self.ring.isa();
        let mut out = Self::unspecified(&self.ring, wide);
        out.fill(|index, q, x| match self.basis.row_of(index) {
            Some(row) => {
                x.copy_from_slice(self.row(row));
                rows::mul_scalar_assign(isa, q, x, factor(q));
            }
            None => x.fill(0),
        });
        out
    }

    /// The rows of the primes in `basis`, which must be a subset.
    pub fn restrict(&self, basis: &Basis) -> Self {
        let mut out = Self::unspecified(&self.ring, basis);
        out.fill(|index, _, x| x.copy_from_slice(self.row_of(index)));
        out
    }

    fn into_representation<S: Representation>(mut self) -> Poly<S> {
        let data = std::mem::take(&mut self.data);
        Poly::wrap(&self.ring, self.basis.clone(), data)
    }
}

impl Poly<Coeff> {
    /// Reads the rows as values: the caller has transformed them.
    pub(crate) fn assume_eval(self) -> Poly<Eval> {
        self.into_representation()
    }

    /// The polynomial with the given signed coefficients (powerful basis, n of them) in every row.
    pub fn from_signed(ring: &Arc<Ring>, basis: &Basis, coefficients: &[i64]) -> Self {
        assert_eq!(coefficients.len(), ring.n());
        let mut out = Self::unspecified(ring, basis);
        out.fill(|_, q, x| {
            for (x, &a) in x.iter_mut().zip(coefficients) {
                // No branch on the sign: the coefficients may be secret.
                let lifted = a.unsigned_abs() % q.value();
                let negative = 0u64.wrapping_sub((a < 0) as u64 & (lifted != 0) as u64);
                *x = (lifted ^ negative).wrapping_sub(negative).wrapping_add(q.value() & negative);
            }
        });
        out
    }

    /// Transforms every row. Cost: one forward transform for each prime.
    pub fn into_eval(mut self) -> Poly<Eval> {
        let ring = Arc::clone(&self.ring);
        self.fill(|index, _, x| ring.plan(index).forward(x));
        self.into_representation()
    }
}

impl Poly<Eval> {
    /// Transforms every row back. Cost: one inverse transform for each prime.
    pub fn into_coeff(mut self) -> Poly<Coeff> {
        let ring = Arc::clone(&self.ring);
        self.fill(|index, _, x| ring.plan(index).inverse(x));
        self.into_representation()
    }

    /// `self *= other`.
    pub fn mul_assign(&mut self, other: &Self) {
        self.check(other);
        let isa = self.ring.isa();
        self.fill(|index, q, x| rows::mul_assign(isa, q, x, other.row_of(index)));
    }

    /// `self * other`.
    pub fn mul(&self, other: &Self) -> Self {
        self.check(other);
        let isa = self.ring.isa();
        let mut out = Self::unspecified(&self.ring, &self.basis);
        out.fill(|index, q, x| rows::mul(isa, q, x, self.row_of(index), other.row_of(index)));
        out
    }

    /// `self += x * y`.
    pub fn mul_add_assign(&mut self, x: &Self, y: &Self) {
        self.check(x);
        self.check(y);
        let isa = self.ring.isa();
        self.fill(|index, q, acc| rows::mul_add_assign(isa, q, acc, x.row_of(index), y.row_of(index)));
    }

    /// `Σ x_i * y_i` over the primes of `basis`; all operands must cover them.
    pub fn dot(ring: &Arc<Ring>, basis: &Basis, pairs: &[(&Self, &Self)]) -> Self {
        let isa = ring.isa();
        let mut out = Self::unspecified(ring, basis);
        out.fill(|index, q, x| {
            let rows: Vec<_> = pairs.iter().map(|(a, b)| (a.row_of(index), b.row_of(index))).collect();
            rows::dot(isa, q, x, &rows);
        });
        out
    }

    /// `θ_t(self)`: a permutation of each row.
    pub fn automorphism(&self, automorphism: &Automorphism) -> Self {
        let isa = self.ring.isa();
        let mut out = Self::unspecified(&self.ring, &self.basis);
        out.fill(|index, _, x| automorphism.apply(isa, x, self.row_of(index)));
        out
    }

    /// `self += θ_t(other)`.
    pub fn add_automorphism_assign(&mut self, other: &Self, automorphism: &Automorphism) {
        self.check(other);
        let isa = self.ring.isa();
        self.fill(|index, q, x| automorphism.add_assign(isa, q, x, other.row_of(index)));
    }
}
