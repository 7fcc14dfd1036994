//! Base conversion: from residues modulo the primes of one basis to residues modulo the primes of
//! another.
//!
//! With B = Π b_i and y_i = x·(B/b_i)^{-1} mod b_i, the integer x mod B is Σ y_i·(B/b_i) − u·B. The
//! *approximate* conversion leaves u out (result x + u·B with 0 ≤ u < |B|); the *exact* one
//! computes u = round(Σ y_i/b_i) in floating point, which gives the representative in (−B/2, B/2)
//! (Halevi–Polyakov–Shoup 2018). Cost: |B|·|C| multiply-adds a coefficient.

use windlass_kernels::{Isa, Modulus, overflow, rows};

use crate::basis::Basis;

/// Constants of the conversion x ↦ multiplier·\[multiplier^{-1}·x\]_B from basis B to basis C.
///
/// A multiplier other than 1 gives the residue that is 0 modulo it: the correction of a
/// plaintext-exact division.
#[derive(Debug)]
pub struct BaseConverter {
    isa: Isa,
    /// The primes of the target basis.
    targets: Vec<Modulus>,
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
    /// −1/B mod c_j.
    quotients: Vec<u64>,
}

impl BaseConverter {
    /// The conversion between two disjoint bases of `primes`.
    pub(crate) fn new(isa: Isa, primes: &[Modulus], from: &Basis, to: &Basis, multiplier: u64) -> Self {
        let cofactor = |skip: usize, q: Modulus| {
            let others = from.indices().filter(|&index| index != skip);
            others.fold(1, |product, index| q.mul(product, q.reduce(primes[index].value())))
        };
        let weights = from.indices().map(|index| {
            let b = primes[index];
            b.inv(b.mul(cofactor(index, b), b.reduce(multiplier)))
        });
        let matrix = to.indices().map(|target| {
            let c = primes[target];
            from.indices().map(|index| c.mul(cofactor(index, c), c.reduce(multiplier))).collect()
        });
        let overflow = to.indices().map(|target| {
            let c = primes[target];
            c.neg(c.mul(cofactor(usize::MAX, c), c.reduce(multiplier)))
        });
        let quotients = to.indices().map(|target| {
            let c = primes[target];
            c.neg(c.inv(cofactor(usize::MAX, c)))
        });
        Self {
            isa,
            targets: to.indices().map(|index| primes[index]).collect(),
            quotients: quotients.collect(),
            from: from.clone(),
            to: to.clone(),
            weights: weights.collect(),
            inverses: from.indices().map(|index| 1.0 / primes[index].value() as f64).collect(),
            matrix: matrix.collect(),
            overflow: overflow.collect(),
        }
    }

    /// (B/b)^{-1}/multiplier mod b for prime `index` of B: what makes the weighed coefficients y of
    /// those of x.
    pub(crate) fn weight(&self, index: usize) -> u64 {
        self.weights[self.from.row_of(index).expect("a prime of the source basis")]
    }

    /// −1/B modulo prime `index` of the target basis.
    pub(crate) fn quotient(&self, index: usize) -> u64 {
        self.quotients[self.to.row_of(index).expect("a prime of the target basis")]
    }

    /// One row of the conversion: residues modulo prime `index` of the target basis, from the
    /// weighed rows.
    ///
    /// With one row for each source prime the conversion is approximate; with the row of
    /// [`Self::excess`] after them it is exact (centred).
    pub(crate) fn convert_row(&self, weighed: &[&[u64]], index: usize, row: &mut [u64]) {
        let sources = self.from.len();
        assert!(weighed.len() == sources || weighed.len() == sources + 1, "a row for each source prime");
        let target = self.to.row_of(index).expect("a prime of the target basis");
        let scalars = self.matrix[target].iter().chain([&self.overflow[target]]);
        let terms: Vec<(&[u64], u64)> = weighed.iter().zip(scalars).map(|(&row, &scalar)| (row, scalar)).collect();
        rows::dot_scalar(self.isa, self.targets[target], row, &terms);
    }

    /// u = round(Σ y_i/b_i) for each coefficient.
    pub(crate) fn excess(&self, weighed: &[&[u64]], out: &mut [u64]) {
        assert_eq!(weighed.len(), self.from.len());
        let terms: Vec<(&[u64], f64)> = weighed.iter().copied().zip(self.inverses.iter().copied()).collect();
        overflow::rounded_sum(self.isa, out, &terms);
    }
}
