//! Passes over memory: load a column of vectors, do several layers in registers, store.

use super::Words;
use super::butterfly;
use super::tables::TAIL;
use crate::lanes::{Form, LANES, Lanes};

/// R − 1 multipliers, the last one twice.
#[inline(always)]
fn spread<L: Lanes, const R: usize>(l: L, words: &[u64]) -> [L::Multiplier; R] {
    assert!(words.len() == (R - 1) * L::WORDS);
    let mut table = [l.multiplier(words); R];
    for i in 1..R - 1 {
        table[i] = l.multiplier(&words[i * L::WORDS..]);
    }
    table
}

/// The R parts of a node, of equal length.
#[inline(always)]
fn parts<const R: usize>(node: &mut [Words]) -> ([&mut [Words]; R], usize) {
    let stride = node.len() / R;
    let mut rest = node.chunks_exact_mut(stride);
    (std::array::from_fn(|_| rest.next().expect("a node has R parts")), stride)
}

/// log2(R) layers of one node, forward. `canonical`: the node holds canonical residues, else internal form.
#[inline(always)]
pub(super) fn forward<L: Lanes, const R: usize>(l: L, node: &mut [Words], multipliers: &[u64], canonical: bool) {
    let (mut parts, stride) = parts::<R>(node);
    let table: [L::Multiplier; R] = spread(l, multipliers);
    if L::TWO_COLUMNS && R <= 8 && stride % 2 == 0 {
        for j in (0..stride).step_by(2) {
            forward_columns::<L, R, 2>(l, &mut parts, j, &table, canonical);
        }
    } else {
        for j in 0..stride {
            forward_columns::<L, R, 1>(l, &mut parts, j, &table, canonical);
        }
    }
}

#[inline(always)]
fn forward_columns<L: Lanes, const R: usize, const C: usize>(
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
    let bound = if canonical { Form::ONE } else { butterfly::forward_carry(&L::FORM) };
    let bound = butterfly::forward(l, &mut x, |_, i| table[i], bound);
    debug_assert!(bound <= L::FORM.limit);
    for i in 0..R {
        let words = &mut parts[i][j..j + C];
        for c in 0..C {
            l.store_raw(&mut words[c], x[c][i]);
        }
    }
}

/// log2(R) layers of one node, inverse. With a scale the results are canonical.
#[inline(always)]
pub(super) fn inverse<L: Lanes, const R: usize>(l: L, node: &mut [Words], multipliers: &[u64], scale: Option<&[u64]>) {
    let (mut parts, stride) = parts::<R>(node);
    let table: [L::Multiplier; R] = spread(l, multipliers);
    let scale = scale.map(|words| l.multiplier(words));
    if L::TWO_COLUMNS && R <= 8 && stride % 2 == 0 {
        for j in (0..stride).step_by(2) {
            inverse_columns::<L, R, 2>(l, &mut parts, j, &table, scale);
        }
    } else {
        for j in 0..stride {
            inverse_columns::<L, R, 1>(l, &mut parts, j, &table, scale);
        }
    }
}

#[inline(always)]
fn inverse_columns<L: Lanes, const R: usize, const C: usize>(
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

/// A node of the last six layers: 64 residues.
type Node = [Words; LANES];

/// The last six layers, 64 residues at a time; gives canonical residues.
#[inline(always)]
pub(super) fn forward_tail<L: Lanes>(l: L, block: &mut [Words], multipliers: &[u64], canonical: bool) {
    let (nodes, _) = block.as_chunks_mut::<LANES>();
    if L::TWO_COLUMNS && nodes.len() % 2 == 0 {
        let (pairs, _) = nodes.as_chunks_mut::<2>();
        for (pair, table) in pairs.iter_mut().zip(multipliers.chunks_exact(2 * TAIL * L::WORDS)) {
            forward_nodes(l, pair, table, canonical);
        }
    } else {
        let (single, _) = nodes.as_chunks_mut::<1>();
        for (node, table) in single.iter_mut().zip(multipliers.chunks_exact(TAIL * L::WORDS)) {
            forward_nodes(l, node, table, canonical);
        }
    }
}

#[inline(always)]
fn forward_nodes<L: Lanes, const C: usize>(l: L, nodes: &mut [Node; C], table: &[u64], canonical: bool) {
    let single = |c: usize, i: usize| l.multiplier(&table[(c * TAIL + i) * L::WORDS..]);
    let vector = |c: usize, i: usize| l.multipliers(&table[(c * TAIL + 7 + i * LANES) * L::WORDS..]);
    let mut x = [[l.zero(); LANES]; C];
    for c in 0..C {
        for i in 0..LANES {
            x[c][i] = if canonical { l.load(&nodes[c][i]) } else { l.load_raw(&nodes[c][i]) };
        }
    }
    let bound = if canonical { Form::ONE } else { butterfly::forward_carry(&L::FORM) };
    let bound = butterfly::forward(l, &mut x, single, bound);
    for c in 0..C {
        x[c] = l.transpose(x[c]);
    }
    butterfly::forward(l, &mut x, vector, bound);
    for c in 0..C {
        x[c] = l.transpose(x[c]);
        for i in 0..LANES {
            l.store(&mut nodes[c][i], x[c][i]);
        }
    }
}

/// The first six layers of the inverse, 64 canonical residues at a time. With a scale the results are canonical.
#[inline(always)]
pub(super) fn inverse_tail<L: Lanes>(l: L, block: &mut [Words], multipliers: &[u64], scale: Option<&[u64]>) {
    let (nodes, _) = block.as_chunks_mut::<LANES>();
    let scale = scale.map(|words| l.multiplier(words));
    if L::TWO_COLUMNS && nodes.len() % 2 == 0 {
        let (pairs, _) = nodes.as_chunks_mut::<2>();
        for (pair, table) in pairs.iter_mut().zip(multipliers.chunks_exact(2 * TAIL * L::WORDS)) {
            inverse_nodes(l, pair, table, scale);
        }
    } else {
        let (single, _) = nodes.as_chunks_mut::<1>();
        for (node, table) in single.iter_mut().zip(multipliers.chunks_exact(TAIL * L::WORDS)) {
            inverse_nodes(l, node, table, scale);
        }
    }
}

#[inline(always)]
fn inverse_nodes<L: Lanes, const C: usize>(l: L, nodes: &mut [Node; C], table: &[u64], scale: Option<L::Multiplier>) {
    let single = |c: usize, i: usize| l.multiplier(&table[(c * TAIL + i) * L::WORDS..]);
    let vector = |c: usize, i: usize| l.multipliers(&table[(c * TAIL + 7 + i * LANES) * L::WORDS..]);
    let mut x = [[l.zero(); LANES]; C];
    for c in 0..C {
        for i in 0..LANES {
            x[c][i] = l.load(&nodes[c][i]);
        }
        x[c] = l.transpose(x[c]);
    }
    butterfly::inverse::<L, LANES, C, true>(l, &mut x, vector, None);
    for c in 0..C {
        x[c] = l.transpose(x[c]);
    }
    butterfly::inverse::<L, LANES, C, false>(l, &mut x, single, scale);
    for c in 0..C {
        for i in 0..LANES {
            match scale {
                Some(_) => l.store(&mut nodes[c][i], x[c][i]),
                None => l.store_raw(&mut nodes[c][i], x[c][i]),
            }
        }
    }
}
