//! Passes over memory: load a column of vectors, do several layers in registers, store.

use super::Words;
use super::butterfly;
use super::tables::TAIL;
use crate::lanes::{Form, LANES, Lanes};

/// R vectors by index. A loop, since `std::array::from_fn` may stay a call, which the backend's instructions do not cross.
#[inline(always)]
fn gather<L: Lanes, const R: usize>(l: L, load: impl Fn(usize) -> L::Vector) -> [L::Vector; R] {
    let mut x = [l.zero(); R];
    for i in 0..R {
        x[i] = load(i);
    }
    x
}

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
    let (parts, stride) = parts::<R>(node);
    let table: [L::Multiplier; R] = spread(l, multipliers);
    let bound = if canonical { Form::ONE } else { butterfly::forward_carry(&L::FORM) };
    for j in 0..stride {
        let mut x: [L::Vector; R] =
            gather(l, |i| if canonical { l.load(&parts[i][j]) } else { l.load_raw(&parts[i][j]) });
        let bound = butterfly::forward(l, &mut x, |i| table[i], bound);
        debug_assert!(bound <= L::FORM.limit);
        for i in 0..R {
            l.store_raw(&mut parts[i][j], x[i]);
        }
    }
}

/// log2(R) layers of one node, inverse. With a scale the results are canonical.
#[inline(always)]
pub(super) fn inverse<L: Lanes, const R: usize>(l: L, node: &mut [Words], multipliers: &[u64], scale: Option<&[u64]>) {
    let (parts, stride) = parts::<R>(node);
    let table: [L::Multiplier; R] = spread(l, multipliers);
    let scale = scale.map(|words| l.multiplier(words));
    for j in 0..stride {
        let mut x: [L::Vector; R] = gather(l, |i| l.load_raw(&parts[i][j]));
        butterfly::inverse(l, &mut x, |i| table[i], butterfly::inverse_carry(&L::FORM), scale);
        for i in 0..R {
            match scale {
                Some(_) => l.store(&mut parts[i][j], x[i]),
                None => l.store_raw(&mut parts[i][j], x[i]),
            }
        }
    }
}

/// The last six layers, 64 residues at a time; gives canonical residues.
#[inline(always)]
pub(super) fn forward_tail<L: Lanes>(l: L, block: &mut [Words], multipliers: &[u64], canonical: bool) {
    let (nodes, _) = block.as_chunks_mut::<LANES>();
    let bound = if canonical { Form::ONE } else { butterfly::forward_carry(&L::FORM) };
    for (node, table) in nodes.iter_mut().zip(multipliers.chunks_exact(TAIL * L::WORDS)) {
        let (single, vectors) = table.split_at(7 * L::WORDS);
        let mut x: [L::Vector; LANES] = gather(l, |i| if canonical { l.load(&node[i]) } else { l.load_raw(&node[i]) });
        let bound = butterfly::forward(l, &mut x, |i| l.multiplier(&single[i * L::WORDS..]), bound);
        let mut x = l.transpose(x);
        butterfly::forward(l, &mut x, |i| l.multipliers(&vectors[i * LANES * L::WORDS..]), bound);
        let x = l.transpose(x);
        for i in 0..LANES {
            l.store(&mut node[i], x[i]);
        }
    }
}

/// The first six layers of the inverse, 64 canonical residues at a time. With a scale the results are canonical.
#[inline(always)]
pub(super) fn inverse_tail<L: Lanes>(l: L, block: &mut [Words], multipliers: &[u64], scale: Option<&[u64]>) {
    let (nodes, _) = block.as_chunks_mut::<LANES>();
    let scale = scale.map(|words| l.multiplier(words));
    for (node, table) in nodes.iter_mut().zip(multipliers.chunks_exact(TAIL * L::WORDS)) {
        let (single, vectors) = table.split_at(7 * L::WORDS);
        let x: [L::Vector; LANES] = gather(l, |i| l.load(&node[i]));
        let mut x = l.transpose(x);
        butterfly::inverse(l, &mut x, |i| l.multipliers(&vectors[i * LANES * L::WORDS..]), Form::ONE, None);
        let mut x = l.transpose(x);
        let bound = butterfly::inverse_carry(&L::FORM);
        butterfly::inverse(l, &mut x, |i| l.multiplier(&single[i * L::WORDS..]), bound, scale);
        for i in 0..LANES {
            match scale {
                Some(_) => l.store(&mut node[i], x[i]),
                None => l.store_raw(&mut node[i], x[i]),
            }
        }
    }
}
