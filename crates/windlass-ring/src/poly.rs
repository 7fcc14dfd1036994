//! Polynomials in RNS form, coefficients or values by type.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use windlass_kernels::rows;
use windlass_kernels::{Automorphism, Isa, Modulus, ntt};
use zeroize::Zeroize;

use crate::basis::Basis;
use crate::buffer::RowBuffer;
use crate::ring::Ring;
use crate::signed::residues;

/// Columns that [`Poly::combinations`] takes at a time: those of a hundred polynomials stay in cache.
const COLUMNS: usize = 512;

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

/// An element of R/(Π q_i) over a [`Basis`]: `[basis.len()][n]` canonical residues, row by row,
/// each row aligned to 64 bytes.
pub struct Poly<R: Representation> {
    ring: Arc<Ring>,
    basis: Basis,
    data: RowBuffer,
    representation: PhantomData<R>,
}

impl<R: Representation> fmt::Debug for Poly<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poly").field("m", &self.ring.m()).field("rows", &self.basis.len()).finish_non_exhaustive()
    }
}

impl<R: Representation> Clone for Poly<R> {
    fn clone(&self) -> Self {
        let mut copy = Self::unspecified(&self.ring, &self.basis);
        self.ring.for_each_row(&mut copy.data, |row, x| x.copy_from_slice(self.row(row)));
        copy
    }
}

impl<R: Representation> Drop for Poly<R> {
    fn drop(&mut self) {
        self.ring.return_buffer(std::mem::take(&mut self.data));
    }
}

impl<R: Representation> PartialEq for Poly<R> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.ring, &other.ring) && self.basis == other.basis && self.data.iter().eq(other.data.iter())
    }
}

impl<R: Representation> Zeroize for Poly<R> {
    fn zeroize(&mut self) {
        self.data.zeroize();
    }
}

impl<R: Representation> Poly<R> {
    pub(crate) fn wrap(ring: &Arc<Ring>, basis: Basis, data: RowBuffer) -> Self {
        debug_assert_eq!(data.rows(), basis.len());
        Self { ring: Arc::clone(ring), basis, data, representation: PhantomData }
    }

    /// A polynomial with unspecified residues, to be overwritten.
    pub(crate) fn unspecified(ring: &Arc<Ring>, basis: &Basis) -> Self {
        Self::wrap(ring, basis.clone(), ring.take_buffer(basis.len()))
    }

    /// The zero polynomial.
    pub fn zero(ring: &Arc<Ring>, basis: &Basis) -> Self {
        let mut poly = Self::unspecified(ring, basis);
        poly.fill(|_, _, x| x.fill(0));
        poly
    }

    /// The polynomial with the given residues: `[basis.len()][n]`, row-major. `None` when the
    /// length is wrong or a residue is not canonical.
    pub fn from_rows(ring: &Arc<Ring>, basis: &Basis, data: Vec<u64>) -> Option<Self> {
        let n = ring.n();
        let canonical = data.len() == basis.len() * n
            && basis.indices().zip(data.chunks_exact(n)).all(|(index, row)| {
                let q = ring.modulus(index).value();
                row.iter().all(|&x| x < q)
            });
        canonical.then(|| {
            let mut poly = Self::unspecified(ring, basis);
            ring.for_each_row(&mut poly.data, |row, x| x.copy_from_slice(&data[row * n..(row + 1) * n]));
            poly
        })
    }

    /// The ring.
    pub fn ring(&self) -> &Arc<Ring> {
        &self.ring
    }

    /// The primes of the rows.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// A copy of all residues, `[basis.len()][n]`.
    pub fn data(&self) -> Vec<u64> {
        self.data.iter().flatten().copied().collect()
    }

    /// Bytes of all residues.
    pub fn bytes(&self) -> usize {
        self.basis.len() * self.ring.n() * size_of::<u64>()
    }

    /// Row number `row`.
    pub fn row(&self, row: usize) -> &[u64] {
        self.data.row(row)
    }

    /// The row of prime `index`; panics when the prime is not in the basis.
    pub fn row_of(&self, index: usize) -> &[u64] {
        self.row(self.basis.row_of(index).expect("the prime belongs to the basis"))
    }

    /// Fills the rows in parallel: `f(prime_index, modulus, row)`.
    pub(crate) fn fill(&mut self, f: impl Fn(usize, Modulus, &mut [u64]) + Sync) {
        let (ring, basis) = (Arc::clone(&self.ring), self.basis.clone());
        ring.for_each_row(&mut self.data, |row, x| {
            let index = basis.index(row);
            f(index, ring.modulus(index), x);
        });
    }

    /// The memory of the rows.
    pub(crate) fn rows_mut(&mut self) -> &mut RowBuffer {
        &mut self.data
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

    /// `self + other`.
    pub fn plus(&self, other: &Self) -> Self {
        self.check(other);
        let mut out = Self::unspecified(&self.ring, &self.basis);
        let isa = self.ring.isa();
        out.fill(|index, q, x| rows::add(isa, q, x, self.row_of(index), other.row_of(index)));
        out
    }

    /// `self - other`.
    pub fn minus(&self, other: &Self) -> Self {
        self.check(other);
        let mut out = Self::unspecified(&self.ring, &self.basis);
        let isa = self.ring.isa();
        out.fill(|index, q, x| rows::sub(isa, q, x, self.row_of(index), other.row_of(index)));
        out
    }

    /// `factor(q)·self` for each prime q; the factor is reduced.
    pub fn times_scalar(&self, factor: impl Fn(Modulus) -> u64 + Sync) -> Self {
        let mut out = Self::unspecified(&self.ring, &self.basis);
        let isa = self.ring.isa();
        out.fill(|index, q, x| rows::mul_scalar(isa, q, x, self.row_of(index), q.reduce(factor(q))));
        out
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

    /// `factor(q)·self` on the rows of the primes in `basis`, which must be a subset; the factor is
    /// reduced.
    pub fn restrict_times(&self, basis: &Basis, factor: impl Fn(Modulus) -> u64 + Sync) -> Self {
        let isa = self.ring.isa();
        let mut out = Self::unspecified(&self.ring, basis);
        out.fill(|index, q, x| rows::mul_scalar(isa, q, x, self.row_of(index), q.reduce(factor(q))));
        out
    }

    /// `factors[row]·row` on the rows of the basis, zero on the other rows of `larger`.
    pub fn embed_times(&self, larger: &Basis, factors: &[u64]) -> Self {
        let isa = self.ring.isa();
        let mut out = Self::unspecified(&self.ring, larger);
        out.fill(|index, q, x| match self.basis.row_of(index) {
            Some(row) => rows::mul_scalar(isa, q, x, self.row(row), factors[row]),
            None => x.fill(0),
        });
        out
    }

    /// `Σ_j factors_j\[row\]·x_j` over `larger`, for x_j over bases in it. A row that x_j does not
    /// have counts as zero. One pass over the rows of all x_j.
    pub fn combination(ring: &Arc<Ring>, larger: &Basis, terms: &[(&Self, &[u64])]) -> Self {
        debug_assert!(terms.iter().all(|(x, _)| x.basis.indices().all(|index| larger.row_of(index).is_some())));
        let isa = ring.isa();
        let mut out = Self::unspecified(ring, larger);
        out.fill(|index, q, x| {
            let of_row = terms.iter().filter_map(|(term, factors)| {
                let row = term.basis.row_of(index)?;
                Some((term.row(row), factors[row]))
            });
            let terms: Vec<(&[u64], u64)> = of_row.collect();
            add_up(isa, q, x, &terms);
        });
        out
    }

    /// `Σ_j factor(i, j, q)·x_j` for every i below `count`: a matrix of numbers times a vector of
    /// polynomials, all of which have the primes of `basis`. The factors are reduced; zeros cost nothing.
    ///
    /// Some columns of all x_j at a time: they stay in cache while every sum reads them.
    pub fn combinations(
        ring: &Arc<Ring>,
        basis: &Basis,
        x: &[&Self],
        count: usize,
        factor: impl Fn(usize, usize, Modulus) -> u64 + Sync,
    ) -> Vec<Self> {
        let mut out: Vec<Self> = (0..count).map(|_| Self::unspecified(ring, basis)).collect();
        let buffers = out.iter_mut().map(Self::rows_mut).collect();
        ring.for_each_rows_of(buffers, |row, mut out| {
            let index = basis.index(row);
            let q = ring.modulus(index);
            let rows: Vec<&[u64]> = x.iter().map(|x| x.row_of(index)).collect();
            let factors: Vec<Vec<(usize, u64)>> = (0..count)
                .map(|i| {
                    let reduced = (0..rows.len()).map(|j| (j, q.reduce(factor(i, j, q))));
                    reduced.filter(|&(_, factor)| factor != 0).collect()
                })
                .collect();
            for start in (0..ring.n()).step_by(COLUMNS) {
                let columns = start..ring.n().min(start + COLUMNS);
                for (out, factors) in out.iter_mut().zip(&factors) {
                    let terms: Vec<(&[u64], u64)> =
                        factors.iter().map(|&(j, factor)| (&rows[j][columns.clone()], factor)).collect();
                    add_up(ring.isa(), q, &mut out[columns.clone()], &terms);
                }
            }
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

/// `out = Σ factor·row`, for any number of terms.
fn add_up(isa: Isa, q: Modulus, out: &mut [u64], terms: &[(&[u64], u64)]) {
    let (first, more) = terms.split_at(terms.len().min(rows::MAX_TERMS));
    rows::dot_scalar(isa, q, out, first);
    more.iter().for_each(|(row, factor)| rows::mul_scalar_add_assign(isa, q, out, row, *factor));
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
        out.fill(|_, q, x| residues(ring.isa(), q, coefficients, x));
        out
    }

    /// Transforms every row, and leaves nothing of it in scratch memory: it may be secret. Cost:
    /// one forward transform for each prime.
    pub fn into_eval(mut self) -> Poly<Eval> {
        let ring = Arc::clone(&self.ring);
        self.fill(|index, _, x| {
            ring.plan(index).forward(x);
            ntt::wipe_scratch();
        });
        self.into_representation()
    }
}

impl Poly<Eval> {
    /// Transforms every row back, as [`Poly::into_eval`]. Cost: one inverse transform for each
    /// prime.
    pub fn into_coeff(mut self) -> Poly<Coeff> {
        let ring = Arc::clone(&self.ring);
        self.fill(|index, _, x| {
            ring.plan(index).inverse(x);
            ntt::wipe_scratch();
        });
        self.into_representation()
    }

    /// `self += number(q)`, an integer, for each prime q; the number is reduced.
    pub fn add_scalar_assign(&mut self, number: impl Fn(Modulus) -> u64 + Sync) {
        let isa = self.ring.isa();
        self.fill(|_, q, x| rows::add_scalar_assign(isa, q, x, q.reduce(number(q))));
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
        let mut out = Self::unspecified(&self.ring, &self.basis);
        let isa = self.ring.isa();
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

    /// `factor(q)·(a_0·b_0, a_0·b_1 + a_1·b_0, a_1·b_1)`: the product of two linear polynomials
    /// over the ring.
    pub fn tensor(a: [&Self; 2], b: [&Self; 2], factor: impl Fn(Modulus) -> u64 + Sync) -> [Self; 3] {
        b.iter().for_each(|b| a[0].check(b));
        a[0].check(a[1]);
        let (ring, basis) = (&a[0].ring, &a[0].basis);
        let mut out: [Self; 3] = std::array::from_fn(|_| Self::unspecified(ring, basis));
        ring.for_each_rows(out.each_mut().map(Self::rows_mut), |row, out| {
            let q = ring.modulus(basis.index(row));
            rows::tensor(ring.isa(), q, out, a.map(|a| a.row(row)), b.map(|b| b.row(row)), factor(q));
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
}
