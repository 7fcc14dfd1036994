//! Radix-2^r butterflies on vectors in registers. Bounds are known when the code is compiled: after inlining, every
//! comparison of bounds is a constant and only the reductions that are needed remain.

use crate::lanes::{Form, Lanes};

/// Bound of the values in memory between two forward passes. A form that has room for all 17 layers never reduces: its
/// bound here is that after the last layer.
pub(super) const fn forward_carry(form: &Form) -> u32 {
    let unreduced = Form::ONE + 17 * form.subtrahend;
    if unreduced <= form.limit { unreduced } else { form.limit }
}

/// Bound of the values in memory between two inverse passes: after three layers a sum is eight times as large.
pub(super) const fn inverse_carry(form: &Form) -> u32 {
    let eighth = form.subtrahend / 8;
    let least = if form.signed { 2 * Form::ONE } else { form.reduced };
    if eighth > least { eighth } else { least }
}

/// log2(R) forward layers, all inputs of bound `bound`; gives the bound of the outputs.
#[inline(always)]
pub(super) fn forward<L: Lanes, const R: usize>(
    l: L,
    x: &mut [L::Vector; R],
    multiplier: impl Fn(usize) -> L::Multiplier,
    bound: u32,
) -> u32 {
    let mut bound = bound;
    if R >= 16 {
        bound = forward_layer(l, x, &multiplier, R / 16, 8, bound);
    }
    if R >= 8 {
        bound = forward_layer(l, x, &multiplier, R / 8, 4, bound);
    }
    if R >= 4 {
        bound = forward_layer(l, x, &multiplier, R / 4, 2, bound);
    }
    forward_layer(l, x, &multiplier, R / 2, 1, bound)
}

/// `(x, y) ↦ (x + w·y, x − w·y)` in `nodes` nodes of `2·half` vectors; node i has multiplier `nodes − 1 + i`.
#[inline(always)]
fn forward_layer<L: Lanes, const R: usize>(
    l: L,
    x: &mut [L::Vector; R],
    multiplier: &impl Fn(usize) -> L::Multiplier,
    nodes: usize,
    half: usize,
    bound: u32,
) -> u32 {
    let form = &L::FORM;
    let product = form.product_of(bound);
    let grown = |bound: u32| if form.signed { bound + product } else { bound + form.subtrahend.max(product) };
    let reduce = grown(bound) > form.limit;
    let result = grown(if reduce { form.reduced } else { bound });
    debug_assert!(bound <= form.limit && result <= form.limit && product <= form.subtrahend);
    for node in 0..nodes {
        let w = multiplier(nodes - 1 + node);
        for j in 0..half {
            let (first, second) = (2 * half * node + j, 2 * half * node + half + j);
            let a = if reduce { l.reduce(x[first]) } else { x[first] };
            let b = l.mul(x[second], w);
            x[first] = l.add(a, b);
            x[second] = l.sub(a, b);
        }
    }
    result
}

/// log2(R) inverse layers, all inputs of bound `bound`. With a scale the results are the last of the transform, else
/// their bounds are at most [`inverse_carry`].
#[inline(always)]
pub(super) fn inverse<L: Lanes, const R: usize>(
    l: L,
    x: &mut [L::Vector; R],
    multiplier: impl Fn(usize) -> L::Multiplier,
    bound: u32,
    scale: Option<L::Multiplier>,
) {
    let mut bounds = [bound; R];
    if R >= 16 {
        inverse_layer(l, x, &multiplier, R / 2, 1, &mut bounds);
        inverse_layer(l, x, &multiplier, R / 4, 2, &mut bounds);
        inverse_layer(l, x, &multiplier, R / 8, 4, &mut bounds);
        inverse_layer(l, x, &multiplier, R / 16, 8, &mut bounds);
    } else if R >= 8 {
        inverse_layer(l, x, &multiplier, R / 2, 1, &mut bounds);
        inverse_layer(l, x, &multiplier, R / 4, 2, &mut bounds);
        inverse_layer(l, x, &multiplier, R / 8, 4, &mut bounds);
    } else if R >= 4 {
        inverse_layer(l, x, &multiplier, R / 2, 1, &mut bounds);
        inverse_layer(l, x, &multiplier, R / 4, 2, &mut bounds);
    } else {
        inverse_layer(l, x, &multiplier, R / 2, 1, &mut bounds);
    }
    for i in 0..R {
        match scale {
            Some(scale) if i < R / 2 => x[i] = l.mul(x[i], scale),
            Some(_) => {}
            None if bounds[i] > inverse_carry(&L::FORM) => x[i] = l.reduce(x[i]),
            None => {}
        }
    }
}

/// `(x, y) ↦ (x + y, w·(x − y))` in `nodes` nodes of `2·half` vectors; node i has multiplier `nodes − 1 + i`.
#[inline(always)]
fn inverse_layer<L: Lanes, const R: usize>(
    l: L,
    x: &mut [L::Vector; R],
    multiplier: &impl Fn(usize) -> L::Multiplier,
    nodes: usize,
    half: usize,
    bounds: &mut [u32; R],
) {
    let form = &L::FORM;
    let fits = |a: u32, b: u32| a + b <= form.limit && form.difference(a, b) <= form.limit && b <= form.subtrahend;
    for node in 0..nodes {
        let w = multiplier(nodes - 1 + node);
        for j in 0..half {
            let (first, second) = (2 * half * node + j, 2 * half * node + half + j);
            if !fits(bounds[first], bounds[second]) {
                x[second] = l.reduce(x[second]);
                bounds[second] = form.reduced;
            }
            if !fits(bounds[first], bounds[second]) {
                x[first] = l.reduce(x[first]);
                bounds[first] = form.reduced;
            }
            debug_assert!(fits(bounds[first], bounds[second]));
            let (a, b) = (x[first], x[second]);
            x[first] = l.add(a, b);
            x[second] = l.mul(l.sub(a, b), w);
            let difference = form.difference(bounds[first], bounds[second]);
            bounds[first] += bounds[second];
            bounds[second] = form.product_of(difference);
        }
    }
}
