//! R/(p^r) in the powerful basis.

use std::sync::Arc;

use windlass_kernels::{Isa, Shape, arith};

use super::convolution::Convolver;
use super::prime_power::PrimePower;
use crate::error::RingError;
use crate::lines::lines;

/// R/(p^r), R = Z\[X\]/Φ_m. Elements are `[n]` canonical residues in [0, p^r), powerful basis, in
/// the order of [`Shape`].
#[derive(Debug)]
pub struct QuotientRing {
    shape: Arc<Shape>,
    modulus: PrimePower,
    isa: Isa,
    convolver: Convolver,
    /// The exponent of X of each powerful-basis element, in [0, m).
    exponents: Vec<u32>,
    /// The place of X^u in the tensor Π Z\[X_i\]/(X_i^{m_i} − 1), row-major.
    tensor_places: Vec<u32>,
}

impl QuotientRing {
    /// Builds the ring.
    ///
    /// # Errors
    /// [`RingError::Kernel`] for an unsupported m, [`RingError::BadPrimePower`] for p not prime,
    /// r = 0 or p^r ≥ 2^45, [`RingError::PrimeDividesIndex`] when p divides m.
    pub fn new(m: u64, p: u64, r: u32, isa: Isa) -> Result<Self, RingError> {
        let shape = Arc::new(Shape::new(m)?);
        let modulus = PrimePower::new(p, r)?;
        if m % p == 0 {
            return Err(RingError::PrimeDividesIndex { prime: p, m });
        }
        Ok(Self::build(shape, modulus, isa))
    }

    /// R/(2^r) for a power of two m: 2 divides m, so elements cannot be divided by Φ_m'
    /// ([`Self::divide_by_different`]).
    pub(super) fn of_coefficients(m: u64, r: u32, isa: Isa) -> Result<Self, RingError> {
        Ok(Self::build(Arc::new(Shape::new(m)?), PrimePower::new(2, r)?, isa))
    }

    fn build(shape: Arc<Shape>, modulus: PrimePower, isa: Isa) -> Self {
        let m = shape.m();
        let mut exponents = vec![0u32];
        for axis in shape.axes() {
            let step = m / axis.index;
            let extend = |&u: &u32| (0..axis.dim as u64).map(move |j| ((u as u64 + j * step) % m) as u32);
            exponents = exponents.iter().flat_map(extend).collect();
        }
        let inverses: Vec<u64> = shape
            .axes()
            .iter()
            .map(|axis| arith::inv_mod(m / axis.index % axis.index, axis.index).expect("the axes are coprime"))
            .collect();
        let place = |u: u64| {
            let axes = shape.axes().iter().zip(&inverses);
            axes.fold(0, |place, (axis, inverse)| place * axis.index + u * inverse % axis.index) as u32
        };
        let tensor_places = (0..m).map(place).collect();
        let convolver = Convolver::new(modulus, 2 * m as usize);
        Self { shape, modulus, isa, convolver, exponents, tensor_places }
    }

    /// The tensor shape.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// The cyclotomic index m.
    pub fn m(&self) -> u64 {
        self.shape.m()
    }

    /// The dimension n = φ(m).
    pub fn n(&self) -> usize {
        self.shape.n()
    }

    /// p^r.
    pub fn modulus(&self) -> PrimePower {
        self.modulus
    }

    /// The instruction set given.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    pub(crate) fn convolver(&self) -> &Convolver {
        &self.convolver
    }

    /// Checks length and range of an element that comes from outside.
    ///
    /// # Errors
    /// [`RingError::WrongLength`], [`RingError::NotCanonical`].
    pub fn check(&self, a: &[u64]) -> Result<(), RingError> {
        if a.len() != self.n() {
            return Err(RingError::WrongLength { expected: self.n(), found: a.len() });
        }
        check_canonical(self.modulus, a)
    }

    /// The constant c.
    pub fn constant(&self, c: u64) -> Vec<u64> {
        let mut a = vec![0; self.n()];
        a[0] = self.modulus.reduce(c);
        a
    }

    /// `a + b`.
    pub fn add(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.zip(a, b, |x, y| self.modulus.add(x, y))
    }

    /// `a − b`.
    pub fn sub(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.zip(a, b, |x, y| self.modulus.sub(x, y))
    }

    /// `−a`.
    pub fn neg(&self, a: &[u64]) -> Vec<u64> {
        a.iter().map(|&x| self.modulus.neg(x)).collect()
    }

    /// `c·a` for an integer c.
    pub fn mul_scalar(&self, a: &[u64], c: u64) -> Vec<u64> {
        let c = self.modulus.reduce(c);
        a.iter().map(|&x| self.modulus.mul(x, c)).collect()
    }

    /// `a·b`: one exact product of polynomials of degree below m.
    pub fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.reduce_cyclic(self.convolver.mul_cyclic(&self.to_cyclic(a), &self.to_cyclic(b)))
    }

    /// `a^{-1}` in R/(2^r) for a power of two m, a local ring.
    ///
    /// Modulo 2 the n-th power of a is a(1), so a^{n−1} is the inverse of a unit; Newton's iteration
    /// lifts it to 2^r. 2·log2 n products, then 2·log2 r.
    ///
    /// # Errors
    /// [`RingError::NotInvertible`] if a(1) is even.
    pub(super) fn inverse_of_local(&self, a: &[u64]) -> Result<Vec<u64>, RingError> {
        if a.iter().fold(0, |sum, x| sum ^ x) & 1 == 0 {
            return Err(RingError::NotInvertible);
        }
        // a^{1 + 2 + 4 + .. + n/2}.
        let (mut inverse, mut power) = (self.constant(1), a.to_vec());
        for _ in 0..self.n().ilog2() {
            inverse = self.mul(&inverse, &power);
            power = self.mul(&power, &power);
        }
        let (two, mut precision) = (self.constant(2), 1);
        while precision < self.modulus.exponent() {
            let error = self.sub(&two, &self.mul(a, &inverse));
            inverse = self.mul(&inverse, &error);
            precision *= 2;
        }
        Ok(inverse)
    }

    /// θ_t(a) = a(X^t), in time linear in m.
    ///
    /// # Errors
    /// [`RingError::NotAnAutomorphism`] when gcd(t, m) > 1.
    pub fn automorphism(&self, a: &[u64], t: u64) -> Result<Vec<u64>, RingError> {
        let m = self.m();
        if arith::gcd(t, m) != 1 {
            return Err(RingError::NotAnAutomorphism { element: t, m });
        }
        // Along each axis X_i^j goes to X_i^{tj mod m_i}: a permutation of its own.
        let axes = self.shape.axes();
        let (mut places, mut distance) = (Vec::with_capacity(axes.len()), m);
        for axis in axes {
            distance /= axis.index;
            let step = t % axis.index;
            places.push((0..axis.dim as u64).map(|j| (j * step % axis.index * distance) as usize).collect::<Vec<_>>());
        }
        let (beginnings, innermost) = lines(places);
        let mut tensor = vec![0; m as usize];
        for (line, base) in a.chunks_exact(innermost.len()).zip(beginnings) {
            line.iter().zip(&innermost).for_each(|(&x, place)| tensor[base + place] = x);
        }
        Ok(self.reduce_tensor(tensor))
    }

    /// The coefficients of a in the power basis 1, X, .., X^{n−1}.
    pub fn to_power_basis(&self, a: &[u64]) -> Vec<u64> {
        let mut rest = self.times_complement(self.to_cyclic(a));
        rest.truncate(self.m() as usize);
        for exponent in self.complement_exponents().0 {
            divide_by_binomial(self.modulus, &mut rest, exponent);
        }
        for exponent in self.complement_exponents().1 {
            multiply_by_binomial(self.modulus, &mut rest, exponent);
        }
        rest.truncate(self.n());
        rest
    }

    /// The element Σ_j a_j X^j of any number of coefficients.
    pub fn from_power_basis(&self, a: &[u64]) -> Vec<u64> {
        let m = self.m() as usize;
        let mut cyclic = vec![0; m];
        for (j, &x) in a.iter().enumerate() {
            cyclic[j % m] = self.modulus.add(cyclic[j % m], x);
        }
        self.reduce_cyclic(cyclic)
    }

    fn zip(&self, a: &[u64], b: &[u64], f: impl Fn(u64, u64) -> u64) -> Vec<u64> {
        assert!(a.len() == self.n() && b.len() == self.n());
        a.iter().zip(b).map(|(&x, &y)| f(x, y)).collect()
    }

    /// A representative modulo X^m − 1: `[m]` coefficients.
    pub(crate) fn to_cyclic(&self, a: &[u64]) -> Vec<u64> {
        let mut cyclic = vec![0; self.m() as usize];
        for (&x, &u) in a.iter().zip(&self.exponents) {
            cyclic[u as usize] = x;
        }
        cyclic
    }

    /// The element with a given representative modulo X^m − 1.
    pub(crate) fn reduce_cyclic(&self, cyclic: Vec<u64>) -> Vec<u64> {
        let mut tensor = vec![0; cyclic.len()];
        for (&x, &place) in cyclic.iter().zip(&self.tensor_places) {
            tensor[place as usize] = x;
        }
        self.reduce_tensor(tensor)
    }

    /// The element with a given representative in the tensor Π Z\[X_i\]/(X_i^{m_i} − 1).
    fn reduce_tensor(&self, mut tensor: Vec<u64>) -> Vec<u64> {
        let axes = self.shape.axes();
        let mut reduced = Vec::with_capacity(tensor.len());
        for (index, axis) in axes.iter().enumerate() {
            // Axes before this one are reduced already, those after it still have m_i entries.
            let inner: usize = axes[index + 1..].iter().map(|axis| axis.index as usize).product();
            let block = (axis.index / axis.prime) as usize * inner;
            reduced.clear();
            for column in tensor.chunks_exact(axis.index as usize * inner) {
                let (low, top) = column.split_at(axis.dim * inner);
                if let &[top] = top {
                    reduced.extend(low.iter().map(|&x| self.modulus.sub(x, top)));
                    continue;
                }
                for part in low.chunks_exact(block) {
                    reduced.extend(part.iter().zip(top).map(|(&x, &y)| self.modulus.sub(x, y)));
                }
            }
            std::mem::swap(&mut tensor, &mut reduced);
        }
        tensor
    }

    /// `a·Ψ mod (x^m − 1)` for Ψ = (x^m − 1)/Φ_m: `[m]` coefficients, exact when a·Ψ has degree
    /// below 2m.
    fn times_complement(&self, mut a: Vec<u64>) -> Vec<u64> {
        let m = self.m() as usize;
        a.resize(2 * m, 0);
        let (factors, divisors) = self.complement_exponents();
        factors.into_iter().for_each(|exponent| multiply_by_binomial(self.modulus, &mut a, exponent));
        divisors.into_iter().for_each(|exponent| divide_by_binomial(self.modulus, &mut a, exponent));
        for j in 0..m {
            a[j] = self.modulus.add(a[j], a[m + j]);
        }
        a.truncate(m);
        a
    }

    /// Ψ = Π (x^e − 1) / Π (x^{e'} − 1): the lists of e and of e'.
    fn complement_exponents(&self) -> (Vec<usize>, Vec<usize>) {
        let (mut factors, mut divisors) = (Vec::new(), Vec::new());
        let primes: Vec<u64> = self.shape.axes().iter().map(|axis| axis.prime).collect();
        for subset in 1u32..1 << primes.len() {
            let chosen = primes.iter().enumerate().filter(|(index, _)| subset >> index & 1 == 1);
            let exponent = self.m() / chosen.map(|(_, &prime)| prime).product::<u64>();
            if subset.count_ones() % 2 == 1 { &mut factors } else { &mut divisors }.push(exponent as usize);
        }
        (factors, divisors)
    }

    /// `a/Φ_m'(X)`: 1/Φ_m' = X·Ψ/m, as m·X^{m−1} = Φ_m'·Ψ modulo Φ_m. Power basis in, powerful
    /// basis out.
    pub(crate) fn divide_by_different(&self, a: Vec<u64>) -> Vec<u64> {
        let inverse = self.modulus.inv(self.modulus.reduce(self.m())).expect("p does not divide m");
        let mut cyclic = self.times_complement(a);
        cyclic.iter_mut().for_each(|x| *x = self.modulus.mul(*x, inverse));
        cyclic.rotate_right(1);
        self.reduce_cyclic(cyclic)
    }
}

pub(crate) fn check_canonical(modulus: PrimePower, a: &[u64]) -> Result<(), RingError> {
    match a.iter().position(|&x| x >= modulus.value()) {
        None => Ok(()),
        Some(position) => Err(RingError::NotCanonical { position, value: a[position], modulus: modulus.value() }),
    }
}

/// a ← a·(x^e − 1) as a truncated power series.
pub(crate) fn multiply_by_binomial(modulus: PrimePower, a: &mut [u64], e: usize) {
    for j in (0..a.len()).rev() {
        let shifted = if j >= e { a[j - e] } else { 0 };
        a[j] = modulus.sub(shifted, a[j]);
    }
}

/// a ← a/(x^e − 1) as a truncated power series.
pub(crate) fn divide_by_binomial(modulus: PrimePower, a: &mut [u64], e: usize) {
    for j in 0..a.len() {
        let shifted = if j >= e { a[j - e] } else { 0 };
        a[j] = modulus.sub(shifted, a[j]);
    }
}
