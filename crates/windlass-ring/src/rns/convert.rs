//! Base conversion: from residues modulo the primes of one basis to residues modulo the primes of another.
//!
//! With B = Π b_i and y_i = x·(B/b_i)^{-1} mod b_i, the integer x mod B is Σ y_i·(B/b_i) − u·B. The *approximate* conversion
//! leaves u out (result x + u·B with 0 ≤ u < |B|); the *exact* one computes u = round(Σ y_i/b_i) in floating point, which
//! gives the representative in (−B/2, B/2) (Halevi–Polyakov–Shoup 2018). Cost: |B|·|C| multiply-adds a coefficient.

use std::sync::Arc;

use windlass_kernels::{Modulus, overflow, rows};

use crate::poly::{Coeff, Eval, Poly};
use crate::ring::{Basis, Ring};

/// Columns handled at a time, so that the source rows stay in the first-level cache.
const BLOCK: usize = 1024;

/// Constants of the conversion x ↦ multiplier·\[multiplier^{-1}·x\]_B from basis B to basis C.
///
/// A multiplier other than 1 gives the residue that is 0 modulo it: the correction of a plaintext-exact division.
#[derive(Debug)]
pub struct BaseConverter {
    from: Basis,
    to: Basis,
    /// multiplier^{-1}·(B/b_i)^{-1} mod b_i.
    weights: Vec<u64>,
    /// 1/b_i.
    inverses: Vec<f64>,
    /// `[to][from]`: multiplier·B/b_i mod c_j.
    matrix: Vec<Vec<u64>>,
    /// −multiplier·B mod c_j.
    overflow: Vec<u64>,
}

impl Ring {
    /// The cached converter between two disjoint bases.
    pub fn converter(&self, from: &Basis, to: &Basis, multiplier: u64) -> Arc<BaseConverter> {
        let key = (from.clone(), to.clone(), multiplier);
        if let Some(found) = self.converters.read().expect("no panic while caching").get(&key) {
            return Arc::clone(found);
        }
        let built = Arc::new(BaseConverter::new(self, from, to, multiplier));
        self.converters.write().expect("no panic while caching").insert(key, Arc::clone(&built));
        built
    }
}

impl BaseConverter {
    fn new(ring: &Ring, from: &Basis, to: &Basis, multiplier: u64) -> Self {
        let cofactor = |skip: usize, q: Modulus| {
            let others = from.indices().filter(|&index| index != skip);
            others.fold(1, |product, index| q.mul(product, q.reduce(ring.modulus(index).value())))
        };
        let weights = from.indices().map(|index| {
            let b = ring.modulus(index);
            b.inv(b.mul(cofactor(index, b), b.reduce(multiplier)))
        });
        let matrix = to.indices().map(|target| {
            let c = ring.modulus(target);
            from.indices().map(|index| c.mul(cofactor(index, c), c.reduce(multiplier))).collect()
        });
        let overflow = to.indices().map(|target| {
            let c = ring.modulus(target);
            c.neg(c.mul(cofactor(usize::MAX, c), c.reduce(multiplier)))
        });
        Self {
            from: from.clone(),
            to: to.clone(),
            weights: weights.collect(),
            inverses: from.indices().map(|index| 1.0 / ring.modulus(index).value() as f64).collect(),
            matrix: matrix.collect(),
            overflow: overflow.collect(),
        }
    }

    /// The weighed coefficients y_i of `multiplier^{-1}·x`, from the values of x over a basis that covers `from`: one inverse transform a row,
    /// weighed while it is in cache.
    pub fn weigh(&self, x: &Poly<Eval>, multiplier: u64) -> Poly<Coeff> {
        let ring = Arc::clone(x.ring());
        let mut weighed = Poly::<Coeff>::unspecified(&ring, &self.from);
        weighed.fill(|index, q, row| {
            row.copy_from_slice(x.row_of(index));
            ring.plan(index).inverse(row);
            let weight = self.weights[self.from.row_of(index).expect("a row of the basis")];
            let factor = if multiplier == 1 { weight } else { q.mul(weight, q.inv(q.reduce(multiplier))) };
            rows::mul_scalar_assign(ring.isa(), q, row, factor);
        });
        weighed
    }

    /// One row of the approximate conversion: residues modulo prime `index` of the target basis.
    pub fn convert_row(&self, weighed: &Poly<Coeff>, index: usize, row: &mut [u64]) {
        self.convert(weighed, &[], index, row);
    }

    /// One row of the exact (centred) conversion, given [`Self::excess`].
    pub fn convert_row_exact(&self, weighed: &Poly<Coeff>, excess: &[u64], index: usize, row: &mut [u64]) {
        assert_eq!(excess.len(), row.len());
        self.convert(weighed, excess, index, row);
    }

    fn convert(&self, weighed: &Poly<Coeff>, excess: &[u64], index: usize, row: &mut [u64]) {
        assert_eq!(weighed.basis(), &self.from);
        let ring = weighed.ring();
        let target = self.to.row_of(index).expect("a row of the target basis");
        for start in (0..row.len()).step_by(BLOCK) {
            let range = start..(start + BLOCK).min(row.len());
            let mut terms: Vec<(&[u64], u64)> = Vec::with_capacity(self.from.len() + 1);
            let weights = self.matrix[target].iter().enumerate();
            terms.extend(weights.map(|(i, &w)| (&weighed.row(i)[range.clone()], w)));
            if !excess.is_empty() {
                terms.push((&excess[range.clone()], self.overflow[target]));
            }
            rows::dot_scalar(ring.isa(), ring.modulus(index), &mut row[range], &terms);
        }
    }

    /// u = round(Σ y_i/b_i) for each coefficient.
    pub fn excess(&self, weighed: &Poly<Coeff>) -> Vec<u64> {
        let mut out = vec![0; weighed.ring().n()];
        let terms: Vec<_> = self.inverses.iter().enumerate().map(|(i, &inverse)| (weighed.row(i), inverse)).collect();
        overflow::rounded_sum(&mut out, &terms);
        out
    }
}
