//! The axis of two on eight columns, where its entries are not neighbours in memory.
//!
//! `x^{2h} − r² = (x^h − r)(x^h + r)`: radix-2 steps whose multiplier depends on the block, values
//! in bit-reversed order.

use crate::lanes::{Block, Form, Lanes};
use crate::modulus::Modulus;
use crate::ntt::odd::Direction;

/// Tables of a power-of-two axis of dimension D.
#[derive(Debug, Clone)]
pub(crate) struct ColumnPow2 {
    dim: usize,
    /// Prepared multiplier of node i (heap order, root 1): forward, inverse.
    nodes: [Vec<u64>; 2],
    scale: Vec<u64>,
}

impl ColumnPow2 {
    /// Tables for the root ψ of order 2D.
    pub fn new(dim: usize, q: Modulus, psi: u64, prepare: &dyn Fn(u64) -> Vec<u64>) -> Self {
        let mut exponents = vec![0, dim as u64 / 2];
        for node in 2..dim {
            exponents.push((exponents[node / 2] + (node as u64 & 1) * dim as u64) / 2);
        }
        let table = |w: u64| exponents.iter().flat_map(|&e| prepare(q.pow(w, e))).collect();
        let scale = prepare(q.inv(q.reduce(dim as u64)));
        Self { dim, nodes: [table(psi), table(q.inv(psi))], scale }
    }

    /// Transforms the first D blocks in place; stored values are reduced.
    #[inline(always)]
    pub fn run<L: Lanes>(&self, lanes: L, direction: Direction, blocks: &mut [Block]) {
        let depth = self.dim.trailing_zeros();
        for step in 0..depth {
            let level = if direction == Direction::Forward { step } else { depth - 1 - step };
            let half = self.dim >> (level + 1);
            for index in 0..1usize << level {
                let at = ((1 << level) + index) * L::WORDS;
                let node = lanes.multiplier(&self.nodes[direction.index()][at..at + L::WORDS]);
                for low in index * 2 * half..index * 2 * half + half {
                    let (x, y) = (lanes.load_raw(&blocks[low].0), lanes.load_raw(&blocks[low + half].0));
                    let (x, y) = match direction {
                        Direction::Forward => {
                            let y = lanes.mul(y, node);
                            (lanes.reduce(lanes.add(x, y)), lanes.reduce(lanes.sub(x, y)))
                        }
                        Direction::Inverse => (lanes.reduce(lanes.add(x, y)), lanes.mul(lanes.sub(x, y), node)),
                    };
                    lanes.store_raw(&mut blocks[low].0, x);
                    lanes.store_raw(&mut blocks[low + half].0, y);
                }
            }
        }
        if direction == Direction::Inverse {
            let scale = lanes.multiplier(&self.scale);
            for block in &mut blocks[..self.dim] {
                let x = lanes.mul(lanes.load_raw(&block.0), scale);
                lanes.store_raw(&mut block.0, x);
            }
        }
        debug_assert!(L::FORM.limit >= 2 * Form::ONE);
    }
}
