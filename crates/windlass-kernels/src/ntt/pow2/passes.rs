//! The passes of a transform over memory.
//!
//! A layer of butterflies does little work on each residue, so a transform that read and wrote memory
//! once for each layer would wait for the cache. A pass loads a column of R vectors, does log2 R layers
//! on it in registers, and stores it.

use super::butterfly;
use super::tables::{Last, Line, Tail, Words};
use crate::lanes::{Form, Kernel, LANES, Lanes, Part, fetch};

/// R − 1 roots; the last place, never read, holds the first root.
#[inline(always)]
fn spread<L: Part, const R: usize>(l: L, lines: &[Line]) -> [L::Multiplier; R] {
    let mut table = [l.root(lines[0].0[0]); R];
    for i in 1..R - 1 {
        table[i] = l.root(lines[i / LANES].0[i % LANES]);
    }
    table
}

/// The place of root i of a node in the table of the opposite node, where the roots of a layer
/// stand in reverse order.
#[inline(always)]
const fn opposite(i: usize) -> usize {
    3 * ((1 << (i + 1).ilog2()) - 1) - i
}

/// The R parts of a node, of equal length.
#[inline(always)]
fn parts<const R: usize>(node: &mut [Words]) -> ([&mut [Words]; R], usize) {
    let stride = node.len() / R;
    let mut rest = node.chunks_exact_mut(stride);
    (std::array::from_fn(|_| rest.next().expect("a node has R parts")), stride)
}

// Each pass is a kernel of its own, which the backends with vectors compile as a function of its
// own: in one function with the loops of all passes, constants of one are in the way of another
// (`docs/design/0002`).

/// log2(R) layers of one node, forward. `CANONICAL`: the node holds canonical residues, else
/// internal form.
pub(super) struct Forward<'a, const R: usize, const CANONICAL: bool> {
    pub node: &'a mut [Words],
    pub roots: &'a [Line],
}

impl<const R: usize, const CANONICAL: bool> Kernel for Forward<'_, R, CANONICAL> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        forward::<L, R>(l, self.node, self.roots, CANONICAL);
    }
}

/// log2(R) layers of one node, inverse, with the roots of the opposite node. `LAST`: these are the
/// last layers, and the results are canonical.
pub(super) struct Inverse<'a, const R: usize, const LAST: bool> {
    pub node: &'a mut [Words],
    pub roots: &'a [Line],
    pub last: &'a Last,
}

impl<const R: usize, const LAST: bool> Kernel for Inverse<'_, R, LAST> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        inverse::<L, R>(l, self.node, self.roots, if LAST { Some(self.last) } else { None });
    }
}

/// The last six layers of a block, forward; gives canonical residues. `CANONICAL`: the block holds
/// canonical residues, else internal form.
pub(super) struct ForwardTail<'a, const CANONICAL: bool> {
    pub block: &'a mut [Words],
    /// From the first one of the block on.
    pub tails: &'a [Tail],
}

impl<const CANONICAL: bool> Kernel for ForwardTail<'_, CANONICAL> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        forward_tail(l, self.block, self.tails, CANONICAL);
    }
}

/// The first six layers of the inverse of a block of canonical residues, with the tails of the
/// opposite block. `LAST`: there are no others, and the results are canonical.
pub(super) struct InverseTail<'a, const LAST: bool> {
    pub block: &'a mut [Words],
    /// Up to the one that is opposite to the first of the block.
    pub tails: &'a [Tail],
    pub last: &'a Last,
}

impl<const LAST: bool> Kernel for InverseTail<'_, LAST> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        inverse_tail(l, self.block, self.tails, if LAST { Some(self.last) } else { None });
    }
}

#[inline(always)]
fn forward<L: Lanes, const R: usize>(l: L, node: &mut [Words], roots: &[Line], canonical: bool) {
    let (mut parts, stride) = parts::<R>(node);
    if !L::Part::TWO_COLUMNS {
        let table: [L::Multiplier; R] = spread(l, roots);
        for j in 0..stride {
            forward_columns::<L, R, 1>(l, &mut parts, j, &table, canonical);
        }
        return;
    }
    // With one root in all lanes a multiplier is the same for every part.
    let table: [<L::Part as Part>::Multiplier; R] = spread(l.part(0), roots);
    if R <= 8 && stride % 2 == 0 {
        for j in (0..stride).step_by(2) {
            for part in 0..L::PARTS {
                forward_columns::<L::Part, R, 2>(l.part(part), &mut parts, j, &table, canonical);
            }
        }
    } else {
        for j in 0..stride {
            for part in 0..L::PARTS {
                forward_columns::<L::Part, R, 1>(l.part(part), &mut parts, j, &table, canonical);
            }
        }
    }
}

#[inline(always)]
fn forward_columns<L: Part, const R: usize, const C: usize>(
    l: L,
    parts: &mut [&mut [Words]; R],
    j: usize,
    table: &[L::Multiplier; R],
    canonical: bool,
) {
    let mut x = [[l.zero(); R]; C];
    for i in 0..R {
        let words = &parts[i][j..j + C];
        for c in 0..C {
            x[c][i] = if canonical { l.load(&words[c]) } else { l.load_raw(&words[c]) };
        }
    }
    let bound = if canonical { Form::ONE } else { const { butterfly::forward_carry(&L::FORM) } };
    let bound = butterfly::forward(l, &mut x, |_, i| table[i], bound);
    debug_assert!(bound <= L::FORM.limit);
    for i in 0..R {
        let words = &mut parts[i][j..j + C];
        for c in 0..C {
            l.store_raw(&mut words[c], x[c][i]);
        }
    }
}

#[inline(always)]
fn inverse<L: Lanes, const R: usize>(l: L, node: &mut [Words], roots: &[Line], last: Option<&Last>) {
    let (mut parts, stride) = parts::<R>(node);
    if !L::Part::TWO_COLUMNS && R != 8 {
        let (table, scale) = inverse_table(l, roots, last);
        for j in 0..stride {
            inverse_columns::<L, R, 1>(l, &mut parts, j, &table, scale);
        }
        return;
    }
    // Eight vectors of a part stay in registers (`docs/design/0002`).
    let (table, scale) = inverse_table(l.part(0), roots, last);
    if L::Part::TWO_COLUMNS && R <= 8 && stride % 2 == 0 {
        for j in (0..stride).step_by(2) {
            for part in 0..L::PARTS {
                inverse_columns::<L::Part, R, 2>(l.part(part), &mut parts, j, &table, scale);
            }
        }
    } else {
        for j in 0..stride {
            for part in 0..L::PARTS {
                inverse_columns::<L::Part, R, 1>(l.part(part), &mut parts, j, &table, scale);
            }
        }
    }
}

/// The roots of the opposite node, and the scale of the last layers.
#[inline(always)]
fn inverse_table<P: Part, const R: usize>(
    l: P,
    roots: &[Line],
    last: Option<&Last>,
) -> ([P::Multiplier; R], Option<P::Multiplier>) {
    let mut table = [l.root(roots[0].0[0]); R];
    for i in 1..R - 1 {
        let place = opposite(i);
        table[i] = l.root(roots[place / LANES].0[place % LANES]);
    }
    let Some(last) = last else { return (table, None) };
    table[0] = l.root(last.root);
    (table, Some(l.root(last.scale)))
}

#[inline(always)]
fn inverse_columns<L: Part, const R: usize, const C: usize>(
    l: L,
    parts: &mut [&mut [Words]; R],
    j: usize,
    table: &[L::Multiplier; R],
    scale: Option<L::Multiplier>,
) {
    let mut x = [[l.zero(); R]; C];
    for i in 0..R {
        let words = &parts[i][j..j + C];
        for c in 0..C {
            x[c][i] = l.load_raw(&words[c]);
        }
    }
    butterfly::inverse::<L, R, C, false>(l, &mut x, |_, i| table[i], scale);
    for i in 0..R {
        let words = &mut parts[i][j..j + C];
        for c in 0..C {
            match scale {
                Some(_) => l.store(&mut words[c], x[c][i]),
                None => l.store_raw(&mut words[c], x[c][i]),
            }
        }
    }
}

/// How many nodes ahead their roots are fetched: tables of many primes come from memory.
const AHEAD: usize = 16;

#[inline(always)]
fn fetch_tail(tail: &Tail) {
    fetch::near(&tail.shared.0);
    for line in &tail.vectors {
        fetch::near(&line.0);
    }
}

/// A node of the last six layers: 64 residues.
type Node = [Words; LANES];

/// 64 residues at a time.
#[inline(always)]
fn forward_tail<L: Lanes>(l: L, block: &mut [Words], tails: &[Tail], canonical: bool) {
    let (nodes, _) = block.as_chunks_mut::<LANES>();
    if L::TWO_COLUMNS && nodes.len() % 2 == 0 {
        forward_groups::<L, 2>(l, nodes, tails, canonical);
    } else {
        forward_groups::<L, 1>(l, nodes, tails, canonical);
    }
}

#[inline(always)]
fn forward_groups<L: Lanes, const C: usize>(l: L, nodes: &mut [Node], tails: &[Tail], canonical: bool) {
    let ((nodes, _), (tails, _)) = (nodes.as_chunks_mut::<C>(), tails.as_chunks::<C>());
    for (i, (nodes, now)) in nodes.iter_mut().zip(tails).enumerate() {
        if let Some(next) = tails.get(i + AHEAD / C) {
            next.iter().for_each(fetch_tail);
        }
        forward_nodes(l, nodes, now, canonical);
    }
}

#[inline(always)]
fn forward_nodes<L: Lanes, const C: usize>(l: L, nodes: &mut [Node; C], tails: &[Tail; C], canonical: bool) {
    let mut x = [[l.zero(); LANES]; C];
    for c in 0..C {
        for i in 0..LANES {
            x[c][i] = if canonical { l.load(&nodes[c][i]) } else { l.load_raw(&nodes[c][i]) };
        }
    }
    let bound = if canonical { Form::ONE } else { const { butterfly::forward_carry(&L::FORM) } };
    // Where there are no vectors, finding the roots anew for every butterfly would not be optimised
    // away.
    let mut roots = [[l.root(0); LANES - 1]; C];
    if L::ONE_BY_ONE {
        for c in 0..C {
            for i in 0..LANES - 1 {
                roots[c][i] = l.root(tails[c].shared.0[i]);
            }
        }
    }
    let shared = |c: usize, i: usize| if L::ONE_BY_ONE { roots[c][i] } else { l.root(tails[c].shared.0[i]) };
    let bound = butterfly::forward(l, &mut x, shared, bound);
    for c in 0..C {
        x[c] = l.transpose(x[c]);
    }
    if L::ONE_BY_ONE {
        for c in 0..C {
            for i in 0..LANES - 1 {
                roots[c][i] = l.roots(&tails[c].vectors[i].0);
            }
        }
    }
    let vector = |c: usize, i: usize| if L::ONE_BY_ONE { roots[c][i] } else { l.roots(&tails[c].vectors[i].0) };
    butterfly::forward(l, &mut x, vector, bound);
    for c in 0..C {
        x[c] = l.transpose(x[c]);
        for i in 0..LANES {
            l.store(&mut nodes[c][i], x[c][i]);
        }
    }
}

/// 64 residues at a time.
#[inline(always)]
fn inverse_tail<L: Lanes>(l: L, block: &mut [Words], tails: &[Tail], last: Option<&Last>) {
    let (nodes, _) = block.as_chunks_mut::<LANES>();
    if L::TWO_COLUMNS && nodes.len() % 2 == 0 {
        inverse_groups::<L, 2>(l, nodes, tails, last);
    } else {
        inverse_groups::<L, 1>(l, nodes, tails, last);
    }
}

#[inline(always)]
fn inverse_groups<L: Lanes, const C: usize>(l: L, nodes: &mut [Node], tails: &[Tail], last: Option<&Last>) {
    let ((nodes, _), (tails, _)) = (nodes.as_chunks_mut::<C>(), tails.as_chunks::<C>());
    for (i, (nodes, now)) in nodes.iter_mut().zip(tails.iter().rev()).enumerate() {
        if let Some(next) = tails.len().checked_sub(1 + i + AHEAD / C) {
            tails[next].iter().for_each(fetch_tail);
        }
        inverse_nodes(l, nodes, now, last);
    }
}

/// Vectors are taken in reverse order, so that lane j holds the eight residues that are opposite to
/// lane j of the roots.
#[inline(always)]
fn inverse_nodes<L: Lanes, const C: usize>(l: L, nodes: &mut [Node; C], tails: &[Tail; C], last: Option<&Last>) {
    let mut x = [[l.zero(); LANES]; C];
    for c in 0..C {
        for i in 0..LANES {
            x[c][LANES - 1 - i] = l.load(&nodes[c][i]);
        }
        x[c] = l.transpose(x[c]);
    }
    butterfly::inverse::<L, LANES, C, true>(l, &mut x, |c, i| l.roots(&tails[C - 1 - c].vectors[opposite(i)].0), None);
    let mut y = [[l.zero(); LANES]; C];
    for c in 0..C {
        x[c] = l.transpose(x[c]);
        for i in 0..LANES {
            y[c][i] = x[c][LANES - 1 - i];
        }
    }
    let scale = last.map(|last| l.root(last.scale));
    // A loop: as a closure this would be a call, compiled without the backend's instructions.
    let mut shared = [[l.root(tails[0].shared.0[0]); LANES - 1]; C];
    for c in 0..C {
        for i in 0..LANES - 1 {
            shared[c][i] = l.root(tails[C - 1 - c].shared.0[opposite(i)]);
        }
        if let Some(last) = last {
            shared[c][0] = l.root(last.root);
        }
    }
    butterfly::inverse::<L, LANES, C, false>(l, &mut y, |c, i| shared[c][i], scale);
    for c in 0..C {
        for i in 0..LANES {
            match scale {
                Some(_) => l.store(&mut nodes[c][i], y[c][i]),
                None => l.store_raw(&mut nodes[c][i], y[c][i]),
            }
        }
    }
}
