//! The textbook transform in plain Rust: Harvey's butterflies with Shoup's quotients, radix 2,
//! bit-reversed output.
//!
//! This is what `tfhe-ntt` does where it finds no vector instructions. Its interface cannot be told
//! to do so on a machine that has them, so this stands in for it. Harvey, *Faster arithmetic for
//! number-theoretic transforms*, 2014, Algorithm 2; Longa–Naehrig 2016, Algorithm 1.

use windlass_kernels::Modulus;

/// Tables of the negacyclic transform of length n modulo q < 2^62.
pub struct Textbook {
    q: u64,
    /// (ψ^{bitreverse(i)}, ⌊2^64·ψ^{bitreverse(i)}/q⌋), ψ of order 2n.
    twiddles: Vec<(u64, u64)>,
}

impl Textbook {
    /// Tables for a prime that is 1 modulo 2n.
    pub fn new(n: usize, q: Modulus) -> Self {
        let psi = q.root_of_unity(2 * n as u64).expect("the prime splits");
        let bits = n.trailing_zeros();
        let twiddle = |i: usize| {
            let w = q.pow(psi, if bits == 0 { 0 } else { (i as u64).reverse_bits() >> (64 - bits) });
            (w, (((w as u128) << 64) / q.value() as u128) as u64)
        };
        Self { q: q.value(), twiddles: (0..n).map(twiddle).collect() }
    }

    /// Canonical coefficients to canonical values, bit-reversed.
    pub fn forward(&self, row: &mut [u64]) {
        let (q, n) = (self.q, row.len());
        let mut half = n / 2;
        let mut blocks = 1;
        while half >= 1 {
            for (block, &(w, quotient)) in row.chunks_exact_mut(2 * half).zip(&self.twiddles[blocks..2 * blocks]) {
                let (low, high) = block.split_at_mut(half);
                for (x, y) in low.iter_mut().zip(high) {
                    // x, y in [0, 4q).
                    let a = (*x).min((*x).wrapping_sub(2 * q));
                    let estimate = ((quotient as u128 * *y as u128) >> 64) as u64;
                    let b = w.wrapping_mul(*y).wrapping_sub(estimate.wrapping_mul(q));
                    (*x, *y) = (a + b, a + 2 * q - b);
                }
            }
            (half, blocks) = (half / 2, blocks * 2);
        }
        for x in row {
            *x = (*x).min((*x).wrapping_sub(2 * q));
            *x = (*x).min((*x).wrapping_sub(q));
        }
    }
}
