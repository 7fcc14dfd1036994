//! The root table, in the order in which the passes read it.
//!
//! One table serves both directions. Node i of layer l has the root w_{l,i} = ψ^e, e =
//! n·(2·bitreverse_l(i) + 1)/2^{l+1}, and the node at the other end of the layer, 2^l − 1 − i, has
//! ψ^{n − e} = −w_{l,i}^{-1}. So the inverse goes through the table backwards, and the sign is in
//! the order of its subtractions.

use crate::lanes::{Kernel, LANES, Lanes};
use crate::modulus::Modulus;

/// Eight residues of a row.
pub(super) type Words = [u64; LANES];

/// Eight roots, in one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Line(pub [u64; LANES]);

/// A pass over up to four layers, before the last six.
#[derive(Debug, Clone)]
pub(super) struct Pass {
    /// Its first layer: there are 2^layer nodes.
    pub layer: u32,
    /// Number of layers.
    pub log_radix: u32,
    /// The 2^log_radix − 1 roots of each node, padded to whole lines: one of its first layer, two
    /// of its second, ...
    roots: Vec<Line>,
}

impl Pass {
    /// The roots of a node.
    #[inline(always)]
    pub fn node(&self, node: usize) -> &[Line] {
        let lines = (1usize << self.log_radix).div_ceil(LANES);
        &self.roots[node * lines..(node + 1) * lines]
    }

    /// The node at the other end of the layer.
    #[inline(always)]
    pub fn opposite(&self, node: usize) -> usize {
        (1 << self.layer) - 1 - node
    }
}

/// Roots of 64 residues in the last six layers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    /// Seven of the first three layers, shared by all lanes.
    pub shared: Line,
    /// Seven vectors of the last three: lane j belongs to the j-th eight residues.
    pub vectors: [Line; LANES - 1],
}

/// Prepared roots of both directions.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    pub log_n: u32,
    pub passes: Vec<Pass>,
    /// By node of the last six layers.
    pub tail: Vec<Tail>,
    pub last: Last,
}

/// The last layer of the inverse, its one root times n^{-1}.
#[derive(Debug, Clone, Copy)]
pub(super) struct Last {
    /// n^{-1}.
    pub scale: u64,
    /// w_{0,0}·n^{-1}.
    pub root: u64,
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
        let roots = roots(log_n, modulus, root);
        let scale = modulus.inv(modulus.reduce(1 << log_n));
        let last = Last { scale: l.prepare_root(scale), root: l.prepare_root(modulus.mul(roots[1], scale)) };
        let pass = |(layer, log_radix): (u32, u32)| {
            let nodes = (0..1usize << layer).flat_map(|node| {
                let tree = subtree(l, &roots, layer, node, log_radix);
                tree.chunks(LANES).map(line).collect::<Vec<_>>()
            });
            Pass { layer, log_radix, roots: nodes.collect() }
        };
        let passes = split(log_n).into_iter().map(pass).collect();
        let layer = log_n - 6;
        let tail = (0..1usize << layer).map(|node| Tail {
            shared: line(&subtree(l, &roots, layer, node, 3)),
            vectors: vectors(l, &roots, layer + 3, node),
        });
        Tables { log_n, passes, tail: tail.collect(), last }
    }
}

/// Entry 2^l + i is the multiplier root^bitreverse(2^l + i) of node i in layer l, bits reversed
/// within log_n.
pub(in crate::ntt) fn roots(log_n: u32, modulus: Modulus, root: u64) -> Vec<u64> {
    let n = 1usize << log_n;
    let mut table = vec![1; n];
    let mut power = 1;
    for exponent in 0..n {
        table[exponent.reverse_bits() >> (usize::BITS - log_n)] = power;
        power = modulus.mul(power, root);
    }
    table
}

/// The roots of a node and its descendants, `depth` layers in all.
fn subtree<L: Lanes>(l: L, roots: &[u64], layer: u32, node: usize, depth: u32) -> Vec<u64> {
    let below = |below: u32| (1usize << (layer + below)) + (node << below);
    (0..depth).flat_map(|d| &roots[below(d)..][..1 << d]).map(|&root| l.prepare_root(root)).collect()
}

/// The roots of eight neighbouring nodes, a lane for each, and their descendants, three layers in
/// all.
fn vectors<L: Lanes>(l: L, roots: &[u64], layer: u32, eight: usize) -> [Line; LANES - 1] {
    let trees: [Vec<u64>; LANES] = std::array::from_fn(|lane| subtree(l, roots, layer, eight * LANES + lane, 3));
    std::array::from_fn(|i| Line(std::array::from_fn(|lane| trees[lane][i])))
}

/// At most eight words, padded.
fn line(words: &[u64]) -> Line {
    let mut line = Line([0; LANES]);
    line.0[..words.len()].copy_from_slice(words);
    line
}
