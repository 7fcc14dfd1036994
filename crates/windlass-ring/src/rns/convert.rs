//! Base conversion: from residues modulo the primes of one basis to residues modulo the primes of
//! another.
//!
//! With B = Π b_i and y_i = x·(B/b_i)^{-1} mod b_i, the integer x mod B is Σ y_i·(B/b_i) − u·B. The
//! *approximate* conversion leaves u out (result x + u·B with 0 ≤ u < |B|); the *exact* one
//! computes u = round(Σ y_i/b_i) in floating point, which gives the representative in (−B/2, B/2)
//! (Halevi–Polyakov–Shoup 2018). Cost: |B|·|C| multiply-adds a coefficient.

use windlass_kernels::{Isa, Modulus, overflow, rows};

use crate::basis::Basis;

/// The index of a prime, and the row of residues modulo it.
pub(crate) type PrimeRow<'a> = (usize, &'a mut [u64]);

/// Columns of all sources and several targets that are combined at a time: those of a dozen sources and
/// eight targets stay in a second-level cache.
const COLUMNS: usize = 1024;

/// Constants of the conversion x ↦ multiplier·\[multiplier^{-1}·x\]_B from basis B to basis C.
///
/// A multiplier other than 1 gives the residue that is 0 modulo it: the correction of a
/// plaintext-exact division. *Raised* by A, the product of some primes of C, the conversion is that
/// of A·x, divided by A again modulo the other primes: the multiplier is multiplier/A there.
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
    /// b_i and h_i = (b_i − 1)/2: what is added to the weighed rows of a centred conversion.
    shifts: Vec<(Modulus, u64)>,
    /// −Σ h_i·multiplier·B/b_i mod c_j: what takes them off again.
    centres: Vec<u64>,
}

impl BaseConverter {
    /// The conversion between two disjoint bases of `primes`, raised by the primes `added`.
    pub(crate) fn new(
        isa: Isa,
        primes: &[Modulus],
        (from, to): (&Basis, &Basis),
        multiplier: u64,
        added: &Basis,
    ) -> Self {
        let multiplier = |index: usize| {
            let (q, is_added) = (primes[index], added.row_of(index).is_some());
            let raise = added.indices().filter(|_| !is_added).fold(1, |a, i| q.mul(a, q.reduce(primes[i].value())));
            q.mul(q.reduce(multiplier), q.inv(raise))
        };
        let cofactor = |skip: usize, q: Modulus| {
            let others = from.indices().filter(|&index| index != skip);
            others.fold(1, |product, index| q.mul(product, q.reduce(primes[index].value())))
        };
        let weights = from.indices().map(|index| {
            let b = primes[index];
            b.inv(b.mul(cofactor(index, b), multiplier(index)))
        });
        let matrix = to.indices().map(|target| {
            let (c, multiplier) = (primes[target], multiplier(target));
            from.indices().map(|index| c.mul(cofactor(index, c), multiplier)).collect()
        });
        let overflow = to.indices().map(|target| {
            let c = primes[target];
            c.neg(c.mul(cofactor(usize::MAX, c), multiplier(target)))
        });
        let quotients = to.indices().map(|target| {
            let c = primes[target];
            c.neg(c.inv(cofactor(usize::MAX, c)))
        });
        let matrix: Vec<Vec<u64>> = matrix.collect();
        let shifts: Vec<(Modulus, u64)> =
            from.indices().map(|index| (primes[index], (primes[index].value() - 1) / 2)).collect();
        let centres = to.indices().zip(&matrix).map(|(target, row)| {
            let c = primes[target];
            shifts.iter().zip(row).fold(0, |sum, (&(_, shift), &x)| c.sub(sum, c.mul(c.reduce(shift), x)))
        });
        Self {
            isa,
            centres: centres.collect(),
            shifts,
            targets: to.indices().map(|index| primes[index]).collect(),
            quotients: quotients.collect(),
            from: from.clone(),
            to: to.clone(),
            weights: weights.collect(),
            inverses: from.indices().map(|index| 1.0 / primes[index].value() as f64).collect(),
            matrix,
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

    /// Rows of the conversion, each of a prime of the target basis, from the weighed rows.
    ///
    /// With one row for each source prime the conversion is approximate; with the row of
    /// [`Self::excess`] after them it is exact (centred).
    pub(crate) fn convert_rows(&self, weighed: &[&[u64]], rows: &mut [PrimeRow<'_>]) {
        let sources = self.from.len();
        assert!(weighed.len() == sources || weighed.len() == sources + 1, "a row for each source prime");
        self.combine(weighed, rows, |_| 0);
    }

    /// Prepares the weighed row of a prime of B for [`Self::convert_rows`] and [`Self::excess`].
    ///
    /// **Warning.** From here on the row holds no residues ([`rows::to_sources`]).
    pub(crate) fn prepare_weighed(&self, row: &mut [u64]) {
        rows::to_sources(self.isa, row);
    }

    /// Prepares the weighed row of prime `index` of B for [`Self::convert_centred_rows`].
    ///
    /// **Warning.** From here on the row holds no residues ([`rows::to_sources`]).
    pub(crate) fn prepare_centred(&self, index: usize, row: &mut [u64]) {
        let (b, shift) = self.shifts[self.from.row_of(index).expect("a prime of the source basis")];
        rows::add_scalar_assign(self.isa, b, row, shift);
        rows::to_sources(self.isa, row);
    }

    /// Rows of the approximate conversion from centred y_i, in \[−h_i, h_i\] with h_i = (b_i −
    /// 1)/2: to x + u·B of absolute value below |B|·B/2, and 0 for 0. The shifted rows hold (y_i +
    /// h_i) mod b_i, and h_i is taken off in the sum.
    pub(crate) fn convert_centred_rows(&self, shifted: &[&[u64]], rows: &mut [PrimeRow<'_>]) {
        assert_eq!(shifted.len(), self.from.len(), "a row for each source prime");
        self.combine(shifted, rows, |target| self.centres[target]);
    }

    /// The sums of the sources with the constants of each target, some columns of all rows at a time.
    fn combine(&self, sources: &[&[u64]], rows: &mut [PrimeRow<'_>], constant: impl Fn(usize) -> u64) {
        let n = sources[0].len();
        let width = if rows.len() == 1 { n } else { COLUMNS };
        let mut terms: Vec<(&[u64], u64)> = Vec::with_capacity(sources.len());
        for start in (0..n).step_by(width) {
            let columns = start..n.min(start + width);
            for (index, row) in rows.iter_mut() {
                let target = self.to.row_of(*index).expect("a prime of the target basis");
                let scalars = self.matrix[target].iter().chain([&self.overflow[target]]);
                terms.clear();
                terms.extend(sources.iter().zip(scalars).map(|(source, &scalar)| (&source[columns.clone()], scalar)));
                let (q, row) = (self.targets[target], &mut row[columns.clone()]);
                rows::dot_sources(self.isa, q, row, &terms, constant(target));
            }
        }
    }

    /// u = round(Σ y_i/b_i) for each coefficient.
    pub(crate) fn excess(&self, weighed: &[&[u64]], out: &mut [u64]) {
        assert_eq!(weighed.len(), self.from.len());
        let terms: Vec<(&[u64], f64)> = weighed.iter().copied().zip(self.inverses.iter().copied()).collect();
        overflow::rounded_sum(self.isa, out, &terms);
    }
}
