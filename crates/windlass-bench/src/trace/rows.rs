//! Rows of residues, one modulus each, as operands of kernels.

/// l rows of n residues.
pub struct Rows<M> {
    pub moduli: Vec<M>,
    pub n: usize,
    pub data: Vec<u64>,
}

impl<M: Copy> Rows<M> {
    /// Residues all over [0, value), different for each seed.
    pub fn new(moduli: &[M], value: fn(M) -> u64, n: usize, seed: u64) -> Self {
        let residue = |i: usize| (i as u64 ^ seed << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
        let data = (0..moduli.len() * n).map(|i| residue(i) % value(moduli[i / n])).collect();
        Self { moduli: moduli.to_vec(), n, data }
    }

    /// Calls `f` with the modulus and the rows of each.
    pub fn each(&mut self, others: [&Self; 2], f: impl Fn(M, &mut [u64], &[u64], &[u64])) {
        let n = self.n;
        let rows = self.data.chunks_exact_mut(n).zip(others[0].data.chunks_exact(n));
        for ((row, x), (y, &q)) in rows.zip(others[1].data.chunks_exact(n).zip(&self.moduli)) {
            f(q, row, x, y);
        }
    }

    /// One row.
    pub fn row(&self, index: usize) -> &[u64] {
        &self.data[index * self.n..(index + 1) * self.n]
    }
}

/// Panics unless `got` is `a·b + c`, in arithmetic of double words.
pub fn check_mul_add<M: Copy>(what: &str, value: fn(M) -> u64, got: &Rows<M>, [a, b, c]: [&Rows<M>; 3]) {
    for (i, &x) in got.data.iter().enumerate() {
        let exact = u128::from(a.data[i]) * u128::from(b.data[i]) + u128::from(c.data[i]);
        assert_eq!(u128::from(x), exact % u128::from(value(got.moduli[i / got.n])), "{what}, residue {i}");
    }
}
