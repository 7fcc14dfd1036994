//! Passes over memory: load a column of vectors, do several layers in registers, store.
//!
//! With M = 2q for q < 2^30, else q (`LAZY` or not), a forward layer takes words below 2M, brings
//! the first of a pair below M and adds and subtracts a product below M, so its results are below 2M ≤
//! 2^32 again. An inverse layer takes and gives words below M. A product comes below 2q; where M = q
//! one more subtraction brings it below q.

use super::tables::{Pass, Tables, Tail};
use crate::lanes::u32_lanes::{Group, Line, U32Lanes, WIDTH};

/// q and M in all lanes.
#[derive(Clone, Copy)]
pub(super) struct Bounds<N: U32Lanes> {
    q: N::Vector,
    most: N::Vector,
}

impl<N: U32Lanes> Bounds<N> {
    #[inline(always)]
    pub fn new<const LAZY: bool>(n: N, q: u32) -> Self {
        Self { q: n.splat(q), most: n.splat(if LAZY { 2 * q } else { q }) }
    }

    /// x·w below M, for any word x.
    #[inline(always)]
    fn product<const LAZY: bool>(self, n: N, x: N::Vector, w: N::Multiplier) -> N::Vector {
        let product = n.times(x, w, self.q);
        if LAZY { product } else { n.min(product, n.sub(product, self.q)) }
    }

    /// A word below 2M brought below M.
    #[inline(always)]
    fn below(self, n: N, x: N::Vector) -> N::Vector {
        n.min(x, n.sub(x, self.most))
    }

    /// A word below 2M brought below q.
    #[inline(always)]
    fn canonical(self, n: N, x: N::Vector) -> N::Vector {
        let x = self.below(n, x);
        n.min(x, n.sub(x, self.q))
    }
}

/// `(x, y) ↦ (x + w·y, x − w·y)` in `nodes` nodes of `2·half` vectors; node i has root `nodes − 1 +
/// i`.
#[inline(always)]
fn forward_layer<N: U32Lanes, const R: usize, const LAZY: bool>(
    n: N,
    bounds: Bounds<N>,
    x: &mut [N::Vector; R],
    root: &impl Fn(usize) -> N::Multiplier,
    nodes: usize,
    half: usize,
) {
    for t in 0..R / 2 {
        let (node, first) = (t / half, t / half * 2 * half + t % half);
        let product = bounds.product::<LAZY>(n, x[first + half], root(nodes - 1 + node));
        let a = bounds.below(n, x[first]);
        x[first] = n.add(a, product);
        x[first + half] = n.add(n.sub(a, product), bounds.most);
    }
}

/// log2(R) forward layers.
#[inline(always)]
fn forward_layers<N: U32Lanes, const R: usize, const LAZY: bool>(
    n: N,
    bounds: Bounds<N>,
    x: &mut [N::Vector; R],
    root: impl Fn(usize) -> N::Multiplier,
) {
    if R >= 8 {
        forward_layer::<N, R, LAZY>(n, bounds, x, &root, R / 8, 4);
    }
    if R >= 4 {
        forward_layer::<N, R, LAZY>(n, bounds, x, &root, R / 4, 2);
    }
    forward_layer::<N, R, LAZY>(n, bounds, x, &root, R / 2, 1);
}

/// `(x, y) ↦ (x + y, w·(y − x))` in `nodes` nodes of `2·half` vectors; node i has root `nodes − 1 +
/// i`.
#[inline(always)]
fn inverse_layer<N: U32Lanes, const R: usize, const LAZY: bool>(
    n: N,
    bounds: Bounds<N>,
    x: &mut [N::Vector; R],
    root: &impl Fn(usize) -> N::Multiplier,
    nodes: usize,
    half: usize,
) {
    for t in 0..R / 2 {
        let (node, first) = (t / half, t / half * 2 * half + t % half);
        let (a, b) = (x[first], x[first + half]);
        x[first] = bounds.below(n, n.add(a, b));
        x[first + half] = bounds.product::<LAZY>(n, n.add(n.sub(b, a), bounds.most), root(nodes - 1 + node));
    }
}

/// log2(R) inverse layers.
#[inline(always)]
fn inverse_layers<N: U32Lanes, const R: usize, const LAZY: bool>(
    n: N,
    bounds: Bounds<N>,
    x: &mut [N::Vector; R],
    root: impl Fn(usize) -> N::Multiplier,
) {
    inverse_layer::<N, R, LAZY>(n, bounds, x, &root, R / 2, 1);
    if R >= 4 {
        inverse_layer::<N, R, LAZY>(n, bounds, x, &root, R / 4, 2);
    }
    if R >= 8 {
        inverse_layer::<N, R, LAZY>(n, bounds, x, &root, R / 8, 4);
    }
}

/// The place of root i of a node in the table of the opposite node, where the roots of a layer
/// stand in reverse order.
#[inline(always)]
const fn opposite(i: usize) -> usize {
    3 * ((1 << (i + 1).ilog2()) - 1) - i
}

/// What the first pass of a transform reads instead of the row: words, to each of which one is
/// added.
pub(super) type Source<'a> = Option<(&'a [Group], u32)>;

/// One node of a pass, forward.
#[inline(always)]
fn forward_node<N: U32Lanes, const R: usize, const LAZY: bool>(
    n: N,
    bounds: Bounds<N>,
    source: Source<'_>,
    node: &mut [Group],
    roots: &Line,
) {
    let stride = node.len() / R;
    let mut table = [n.factor([roots; 2], 0); R];
    for i in 1..R - 1 {
        table[i] = n.factor([roots; 2], i);
    }
    for j in (0..stride).step_by(N::GROUPS) {
        let mut x = [bounds.q; R];
        for i in 0..R {
            x[i] = match source {
                Some((words, addend)) => n.add(n.load_groups(&words[i * stride + j..], 1), n.splat(addend)),
                None => n.load_groups(&node[i * stride + j..], 1),
            };
        }
        forward_layers::<N, R, LAZY>(n, bounds, &mut x, |i| table[i]);
        for i in 0..R {
            n.store_groups(&mut node[i * stride + j..], 1, x[i]);
        }
    }
}

/// All nodes of a pass, forward. A source comes with the first pass, which has one node.
#[inline(always)]
pub(super) fn forward<N: U32Lanes, const LAZY: bool>(
    n: N,
    bounds: Bounds<N>,
    pass: &Pass,
    source: Source<'_>,
    row: &mut [Group],
) {
    for (node, roots) in row.chunks_exact_mut(row.len() >> pass.layer).zip(&pass.roots) {
        match pass.log_radix {
            1 => forward_node::<N, 2, LAZY>(n, bounds, source, node, roots),
            2 => forward_node::<N, 4, LAZY>(n, bounds, source, node, roots),
            _ => forward_node::<N, 8, LAZY>(n, bounds, source, node, roots),
        }
    }
}

/// One node of a pass, inverse, with the roots of the opposite node. With the last constants the
/// results are canonical.
#[inline(always)]
fn inverse_node<N: U32Lanes, const R: usize, const LAZY: bool>(
    n: N,
    bounds: Bounds<N>,
    node: &mut [Group],
    roots: &Line,
    last: Option<&Line>,
) {
    let stride = node.len() / R;
    let mut table = [n.factor([last.unwrap_or(roots); 2], last.map_or(0, |_| 1)); R];
    for i in 1..R - 1 {
        table[i] = n.factor([roots; 2], opposite(i));
    }
    for j in (0..stride).step_by(N::GROUPS) {
        let mut x = [bounds.q; R];
        for i in 0..R {
            x[i] = n.load_groups(&node[i * stride + j..], 1);
        }
        inverse_layers::<N, R, LAZY>(n, bounds, &mut x, |i| table[i]);
        if let Some(last) = last {
            let scale = n.factor([last; 2], 0);
            for i in 0..R {
                let scaled = if i < R / 2 { n.times(x[i], scale, bounds.q) } else { x[i] };
                x[i] = n.min(scaled, n.sub(scaled, bounds.q));
            }
        }
        for i in 0..R {
            n.store_groups(&mut node[i * stride + j..], 1, x[i]);
        }
    }
}

/// All nodes of a pass, inverse. The first pass comes last.
#[inline(always)]
pub(super) fn inverse<N: U32Lanes, const LAZY: bool>(
    n: N,
    bounds: Bounds<N>,
    pass: &Pass,
    last: Option<&Line>,
    row: &mut [Group],
) {
    for (node, roots) in row.chunks_exact_mut(row.len() >> pass.layer).zip(pass.roots.iter().rev()) {
        match pass.log_radix {
            1 => inverse_node::<N, 2, LAZY>(n, bounds, node, roots, last),
            2 => inverse_node::<N, 4, LAZY>(n, bounds, node, roots, last),
            _ => inverse_node::<N, 8, LAZY>(n, bounds, node, roots, last),
        }
    }
}

/// The last six layers, 64 residues of each group at a time; gives canonical residues.
#[inline(always)]
pub(super) fn forward_tail<N: U32Lanes, const LAZY: bool>(n: N, bounds: Bounds<N>, tails: &[Tail], row: &mut [Group]) {
    for (nodes, tails) in row.chunks_exact_mut(N::GROUPS * WIDTH).zip(tails.chunks_exact(N::GROUPS)) {
        let tails = [&tails[0], &tails[N::GROUPS - 1]];
        let mut x = [bounds.q; WIDTH];
        for i in 0..WIDTH {
            x[i] = n.load_groups(&nodes[i..], WIDTH);
        }
        forward_layers::<N, WIDTH, LAZY>(n, bounds, &mut x, |i| n.factor([&tails[0].shared, &tails[1].shared], i));
        x = n.transpose(x);
        let vectors = |i: usize| n.factors([&tails[0].vectors[i], &tails[1].vectors[i]]);
        forward_layers::<N, WIDTH, LAZY>(n, bounds, &mut x, vectors);
        x = n.transpose(x);
        for i in 0..WIDTH {
            n.store_groups(&mut nodes[i..], WIDTH, bounds.canonical(n, x[i]));
        }
    }
}

/// The first six layers of the inverse, 64 residues of each group at a time, with the tails of the
/// opposite nodes. Vectors are taken in reverse order, so that lane j holds the eight residues that
/// are opposite to lane j of the roots.
#[inline(always)]
pub(super) fn inverse_tail<N: U32Lanes, const LAZY: bool>(n: N, bounds: Bounds<N>, tails: &[Tail], row: &mut [Group]) {
    for (nodes, tails) in row.chunks_exact_mut(N::GROUPS * WIDTH).zip(tails.rchunks_exact(N::GROUPS)) {
        let tails = [&tails[N::GROUPS - 1], &tails[0]];
        let mut x = [bounds.q; WIDTH];
        for i in 0..WIDTH {
            x[WIDTH - 1 - i] = n.load_groups(&nodes[i..], WIDTH);
        }
        x = n.transpose(x);
        let vectors = |i: usize| n.factors([&tails[0].vectors[opposite(i)], &tails[1].vectors[opposite(i)]]);
        inverse_layers::<N, WIDTH, LAZY>(n, bounds, &mut x, vectors);
        x = n.transpose(x);
        let mut y = x;
        for i in 0..WIDTH {
            y[i] = x[WIDTH - 1 - i];
        }
        let shared = |i: usize| n.factor([&tails[0].shared, &tails[1].shared], opposite(i));
        inverse_layers::<N, WIDTH, LAZY>(n, bounds, &mut y, shared);
        for i in 0..WIDTH {
            n.store_groups(&mut nodes[i..], WIDTH, y[i]);
        }
    }
}

/// All layers, forward.
#[inline(always)]
pub(super) fn transform<N: U32Lanes, const LAZY: bool>(
    n: N,
    q: u32,
    tables: &Tables,
    source: Source<'_>,
    row: &mut [Group],
) {
    let bounds = Bounds::new::<LAZY>(n, q);
    for (index, pass) in tables.passes.iter().enumerate() {
        forward::<N, LAZY>(n, bounds, pass, source.filter(|_| index == 0), row);
    }
    forward_tail::<N, LAZY>(n, bounds, &tables.tail, row);
}

/// All layers, inverse.
#[inline(always)]
pub(super) fn transform_back<N: U32Lanes, const LAZY: bool>(n: N, q: u32, tables: &Tables, row: &mut [Group]) {
    let bounds = Bounds::new::<LAZY>(n, q);
    inverse_tail::<N, LAZY>(n, bounds, &tables.tail, row);
    for (index, pass) in tables.passes.iter().enumerate().rev() {
        inverse::<N, LAZY>(n, bounds, pass, (index == 0).then_some(&tables.last), row);
    }
}
