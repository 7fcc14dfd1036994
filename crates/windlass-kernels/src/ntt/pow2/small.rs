//! Lengths below 64, one butterfly at a time.

use super::tables;
use crate::modulus::Modulus;

/// Roots of both directions and n^{-1}.
#[derive(Debug, Clone)]
pub(super) struct Small {
    modulus: Modulus,
    forward: Vec<u64>,
    inverse: Vec<u64>,
    scale: u64,
}

impl Small {
    pub fn new(log_n: u32, modulus: Modulus, root: u64) -> Self {
        let forward = tables::roots(log_n, modulus, root);
        let inverse = tables::roots(log_n, modulus, modulus.inv(root));
        Self { modulus, forward, inverse, scale: modulus.inv(modulus.reduce(1 << log_n)) }
    }

    pub fn forward(&self, row: &mut [u64]) {
        let (n, q) = (self.forward.len(), self.modulus);
        assert_eq!(row.len(), n);
        let mut nodes = 1;
        while nodes < n {
            for (node, part) in row.chunks_exact_mut(n / nodes).enumerate() {
                let w = self.forward[nodes + node];
                let (x, y) = part.split_at_mut(n / nodes / 2);
                for (x, y) in x.iter_mut().zip(y) {
                    let product = q.mul(*y, w);
                    (*x, *y) = (q.add(*x, product), q.sub(*x, product));
                }
            }
            nodes *= 2;
        }
    }

    pub fn inverse(&self, row: &mut [u64]) {
        let (n, q) = (self.inverse.len(), self.modulus);
        assert_eq!(row.len(), n);
        let mut nodes = n / 2;
        while nodes > 0 {
            for (node, part) in row.chunks_exact_mut(n / nodes).enumerate() {
                let w = self.inverse[nodes + node];
                let (x, y) = part.split_at_mut(n / nodes / 2);
                for (x, y) in x.iter_mut().zip(y) {
                    (*x, *y) = (q.add(*x, *y), q.mul(q.sub(*x, *y), w));
                }
            }
            nodes /= 2;
        }
        row.iter_mut().for_each(|x| *x = q.mul(*x, self.scale));
    }
}
