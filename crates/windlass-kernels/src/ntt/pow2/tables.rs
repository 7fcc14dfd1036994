//! Root tables, in the order in which the passes read them.

use crate::lanes::{Kernel, LANES, Lanes};
use crate::modulus::Modulus;

/// A pass over up to four layers, before the last six.
#[derive(Debug, Clone)]
pub(super) struct Pass {
    /// Its first layer: there are 2^layer nodes.
    pub layer: u32,
    /// Number of layers.
    pub log_radix: u32,
    /// Where its multipliers begin, in words of the table.
    offset: usize,
}

impl Pass {
    /// The 2^log_radix − 1 prepared multipliers of a node: one of its first layer, two of its second, ...
    #[inline(always)]
    pub fn multipliers<'a>(&self, table: &'a [u64], node: usize, words: usize) -> &'a [u64] {
        let length = ((1 << self.log_radix) - 1) * words;
        &table[self.offset + node * length..][..length]
    }
}

/// Prepared multipliers of both directions.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    pub log_n: u32,
    pub passes: Vec<Pass>,
    pub forward: Vec<u64>,
    pub inverse: Vec<u64>,
    /// n^{-1}, prepared.
    pub scale: [u64; 2],
    tail_offset: usize,
}

/// Prepared multipliers of 64 residues in the last six layers: seven single ones and seven vectors of eight.
pub(super) const TAIL: usize = 7 + 7 * LANES;

impl Tables {
    /// The multipliers of the last six layers of the 64-residue nodes `from..to`.
    #[inline(always)]
    pub fn tail<'a>(&self, table: &'a [u64], from: usize, to: usize, words: usize) -> &'a [u64] {
        &table[self.tail_offset + from * TAIL * words..self.tail_offset + to * TAIL * words]
    }
}

/// Splits the layers before the last six into passes: three layers each, the first one to four.
fn split(log_n: u32) -> Vec<(u32, u32)> {
    let outer = log_n - 6;
    let first = match outer % 3 {
        1 if outer >= 4 => 4,
        0 if outer >= 3 => 3,
        rest => rest,
    };
    let mut passes = Vec::new();
    let mut layer = 0;
    while layer < outer {
        let log_radix = if layer == 0 { first } else { 3 };
        passes.push((layer, log_radix));
        layer += log_radix;
    }
    passes
}

/// Builds the tables for one backend.
pub(super) struct Build {
    pub log_n: u32,
    pub modulus: Modulus,
    pub root: u64,
}

impl Kernel for Build {
    type Output = Tables;

    fn run<L: Lanes>(self, l: L) -> Tables {
        let Self { log_n, modulus, root } = self;
        let inverse_root = modulus.inv(root);
        let scale = modulus.inv(modulus.reduce(1 << log_n));
        let mut backward = roots(log_n, modulus, inverse_root);
        let (forward, passes, tail_offset) = arrange(l, log_n, &roots(log_n, modulus, root));
        // The last layer of the inverse, which has the one multiplier 1, also scales by n^{-1}.
        backward[1] = modulus.mul(backward[1], scale);
        let (inverse, ..) = arrange(l, log_n, &backward);
        Tables { log_n, passes, forward, inverse, scale: l.prepare(scale), tail_offset }
    }
}

/// Entry 2^l + i is the multiplier root^bitreverse(2^l + i) of node i in layer l, bits reversed within log_n.
pub(super) fn roots(log_n: u32, modulus: Modulus, root: u64) -> Vec<u64> {
    let n = 1usize << log_n;
    let mut table = vec![1; n];
    let mut power = 1;
    for exponent in 0..n {
        table[exponent.reverse_bits() >> (usize::BITS - log_n)] = power;
        power = modulus.mul(power, root);
    }
    table
}

/// Lays out the prepared multipliers pass by pass, node by node.
fn arrange<L: Lanes>(l: L, log_n: u32, roots: &[u64]) -> (Vec<u64>, Vec<Pass>, usize) {
    let mut table = Vec::new();
    let mut passes = Vec::new();
    for (layer, log_radix) in split(log_n) {
        passes.push(Pass { layer, log_radix, offset: table.len() });
        for node in 0..1usize << layer {
            subtree(l, roots, layer, node, log_radix, &mut table);
        }
    }
    let tail_offset = table.len();
    let layer = log_n - 6;
    for node in 0..1usize << layer {
        subtree(l, roots, layer, node, 3, &mut table);
        for depth in 0..3 {
            for child in 0..1 << depth {
                let first = (1usize << (layer + 3 + depth)) + (node << (3 + depth));
                let prepared: [[u64; 2]; LANES] =
                    std::array::from_fn(|lane| l.prepare(roots[first + (lane << depth) + child]));
                for part in 0..L::WORDS {
                    table.extend(prepared.iter().map(|words| words[part]));
                }
            }
        }
    }
    (table, passes, tail_offset)
}

/// The multipliers of a node and its descendants, `depth` layers in all.
fn subtree<L: Lanes>(l: L, roots: &[u64], layer: u32, node: usize, depth: u32, table: &mut Vec<u64>) {
    for below in 0..depth {
        let first = (1usize << (layer + below)) + (node << below);
        for &root in &roots[first..first + (1 << below)] {
            table.extend_from_slice(&l.prepare(root)[..L::WORDS]);
        }
    }
}
