//! The root table of a transform on 32-bit words, in the order in which the passes read it. The order
//! is that of the transform on 50-bit residues (`pow2/tables.rs`), so one table serves both directions.

use crate::lanes::u32_lanes::{Line, WIDTH};
use crate::modulus::Modulus;
use crate::ntt::pow2::roots;

/// A pass over up to three layers, before the last six.
#[derive(Debug, Clone)]
pub(super) struct Pass {
    /// Its first layer: there are 2^layer nodes.
    pub layer: u32,
    /// Number of layers.
    pub log_radix: u32,
    /// The 2^log_radix − 1 roots of each node: one of its first layer, two of its second, ...
    pub roots: Vec<Line>,
}

/// Roots of 64 residues in the last six layers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    /// Seven of the first three layers, shared by all lanes.
    pub shared: Line,
    /// Seven vectors of the last three: lane j belongs to the j-th eight residues.
    pub vectors: [Line; WIDTH - 1],
}

/// Prepared roots of both directions.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    pub passes: Vec<Pass>,
    /// By node of the last six layers.
    pub tail: Vec<Tail>,
    /// n^{-1}, and the last root of the inverse times it.
    pub last: Line,
}

/// Splits the layers before the last six into passes: three layers each, the first one to three.
fn split(outer: u32) -> Vec<(u32, u32)> {
    let first = (outer + 2) % 3 + 1;
    std::iter::once((0, first)).chain((first..outer).step_by(3).map(|layer| (layer, 3))).collect()
}

impl Tables {
    /// Those of length 2^log_n with `root` of order 2^{log_n + 1}.
    pub fn new(log_n: u32, modulus: Modulus, root: u64) -> Self {
        let roots: Vec<u32> = roots(log_n, modulus, root).into_iter().map(|root| root as u32).collect();
        let scale = modulus.inv(modulus.reduce(1 << log_n));
        let last = [scale, modulus.mul(u64::from(roots[1]), scale)].map(|x| x as u32);
        let pass = |(layer, log_radix): (u32, u32)| {
            let node = |node: usize| Line::new(modulus, &subtree(&roots, layer, node, log_radix));
            Pass { layer, log_radix, roots: (0..1 << layer).map(node).collect() }
        };
        let layer = log_n - 6;
        let tail = |node: usize| Tail {
            shared: Line::new(modulus, &subtree(&roots, layer, node, 3)),
            vectors: vectors(modulus, &roots, layer + 3, node),
        };
        Self {
            passes: split(layer).into_iter().map(pass).collect(),
            tail: (0..1 << layer).map(tail).collect(),
            last: Line::new(modulus, &last),
        }
    }
}

/// The roots of a node and its descendants, `depth` layers in all.
fn subtree(roots: &[u32], layer: u32, node: usize, depth: u32) -> Vec<u32> {
    let below = |below: u32| (1usize << (layer + below)) + (node << below);
    (0..depth).flat_map(|d| &roots[below(d)..][..1 << d]).copied().collect()
}

/// The roots of eight neighbouring nodes, a lane for each, and their descendants, three layers in
/// all.
fn vectors(modulus: Modulus, roots: &[u32], layer: u32, eight: usize) -> [Line; WIDTH - 1] {
    let trees: [Vec<u32>; WIDTH] = std::array::from_fn(|lane| subtree(roots, layer, eight * WIDTH + lane, 3));
    std::array::from_fn(|i| Line::new(modulus, &trees.each_ref().map(|tree| tree[i])))
}
