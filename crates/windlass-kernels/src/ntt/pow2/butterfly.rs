//! Radix-2^r butterflies on C columns of vectors in registers, side by side so that their latencies
//! overlap. Bounds are known when the code is compiled: after inlining, every comparison of bounds
//! is a constant and only the reductions that are needed remain.

use crate::lanes::{Form, Part};

/// Layers of the longest transform before its last six, which are one pass.
const LAYERS: u32 = 11;

/// Bound of the values in memory between two forward passes. A form that has room for all 17 layers
/// never reduces: its bound here is that after the last layer but six.
pub(super) const fn forward_carry(form: &Form) -> u32 {
    let (mut bound, mut carry) = (Form::ONE, form.limit);
    let mut layer = 0;
    while layer < LAYERS + 6 {
        if layer == LAYERS {
            carry = bound;
        }
        bound = grown(form, bound);
        layer += 1;
    }
    if bound <= form.limit { carry } else { form.limit }
}

/// Bound of `x ± w·y` for x and y of a bound.
const fn grown(form: &Form, bound: u32) -> u32 {
    let product = form.product_of(bound);
    let (sum, difference) = (bound + product, form.difference_within(bound, product));
    if sum > difference { sum } else { difference }
}

/// Bound of the values in memory between two inverse passes: after three layers a sum is eight
/// times as large.
pub(super) const fn inverse_carry(form: &Form) -> u32 {
    let eighth = form.subtrahend / 8;
    let least = if form.signed { 2 * Form::ONE } else { form.reduced };
    if eighth > least { eighth } else { least }
}

/// Butterflies whose products go through their stages together ([`Part::mul_many`]): enough to
/// hide the latency of a stage, few enough to stay in registers.
const GROUP: usize = 4;

/// Butterfly t of a layer on columns of R vectors, column by column: its column, its node, its two
/// vectors.
#[inline(always)]
const fn butterfly<const R: usize>(t: usize, half: usize) -> (usize, usize, usize, usize) {
    let (column, t) = (t / (R / 2), t % (R / 2));
    let (node, j) = (t / half, t % half);
    (column, node, 2 * half * node + j, 2 * half * node + half + j)
}

/// log2(R) forward layers; `multiplier(c, i)` is the i-th of column c. All inputs of bound `bound`;
/// gives the bound of the outputs.
#[inline(always)]
pub(super) fn forward<L: Part, const R: usize, const C: usize>(
    l: L,
    x: &mut [[L::Vector; R]; C],
    multiplier: impl Fn(usize, usize) -> L::Multiplier,
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

/// `(x, y) ↦ (x + w·y, x − w·y)` in `nodes` nodes of `2·half` vectors; node i has multiplier `nodes
/// − 1 + i`.
#[inline(always)]
fn forward_layer<L: Part, const R: usize, const C: usize>(
    l: L,
    x: &mut [[L::Vector; R]; C],
    multiplier: &impl Fn(usize, usize) -> L::Multiplier,
    nodes: usize,
    half: usize,
    bound: u32,
) -> u32 {
    let form = &L::FORM;
    let product = form.product_of(bound);
    let grown = |bound: u32| form.difference_within(bound, product).max(bound + product);
    let reduce = grown(bound) > form.limit;
    let result = grown(if reduce { form.reduced } else { bound });
    debug_assert!(bound <= form.limit && result <= form.limit && product <= form.subtrahend);
    if L::TWO_COLUMNS && R * C / 2 >= GROUP {
        for group in 0..R * C / 2 / GROUP {
            forward_group::<L, R, C, GROUP>(l, x, multiplier, group, nodes, half, reduce, product);
        }
    } else {
        for group in 0..R * C / 2 {
            forward_group::<L, R, C, 1>(l, x, multiplier, group, nodes, half, reduce, product);
        }
    }
    result
}

#[inline(always)]
fn forward_group<L: Part, const R: usize, const C: usize, const G: usize>(
    l: L,
    x: &mut [[L::Vector; R]; C],
    multiplier: &impl Fn(usize, usize) -> L::Multiplier,
    group: usize,
    nodes: usize,
    half: usize,
    reduce: bool,
    product: u32,
) {
    let mut products = [l.zero(); G];
    let mut factors = [multiplier(0, 0); G];
    for k in 0..G {
        let (c, node, first, second) = butterfly::<R>(group * G + k, half);
        factors[k] = multiplier(c, nodes - 1 + node);
        products[k] = x[c][second];
        if reduce {
            x[c][first] = l.reduce(x[c][first]);
        }
    }
    l.mul_many(&mut products, &factors);
    for k in 0..G {
        let (c, _, first, second) = butterfly::<R>(group * G + k, half);
        let a = x[c][first];
        x[c][first] = l.add(a, products[k]);
        x[c][second] = l.sub_within(a, products[k], product);
    }
}

/// Which vectors of an inverse butterfly are reduced: before each of its layers, and at its end.
#[derive(Clone, Copy)]
struct Schedule {
    before: [[bool; MAX_RADIX]; 4],
    after: [bool; MAX_RADIX],
}

const MAX_RADIX: usize = 16;

/// Reduces only where a bound demands it. `canonical`: the inputs are, else they have bound
/// [`inverse_carry`].
const fn schedule(form: &Form, radix: usize, canonical: bool) -> Schedule {
    let mut bounds = [if canonical { Form::ONE } else { inverse_carry(form) }; MAX_RADIX];
    let mut schedule = Schedule { before: [[false; MAX_RADIX]; 4], after: [false; MAX_RADIX] };
    let (mut layer, mut half) = (0, 1);
    while half < radix {
        let mut first = 0;
        while first < radix {
            let second = first + half;
            if !fits(form, bounds[first], bounds[second]) {
                schedule.before[layer][first] = true;
                bounds[first] = form.reduced;
            }
            if !fits(form, bounds[first], bounds[second]) {
                schedule.before[layer][second] = true;
                bounds[second] = form.reduced;
            }
            assert!(fits(form, bounds[first], bounds[second]));
            let difference = form.difference(bounds[second], bounds[first]);
            bounds[first] += bounds[second];
            bounds[second] = form.product_of(difference);
            // The next first half of a node.
            first = if (first + 1) % half == 0 { first + half + 1 } else { first + 1 };
        }
        layer += 1;
        half *= 2;
    }
    let mut i = 0;
    while i < radix {
        schedule.after[i] = bounds[i] > inverse_carry(form);
        i += 1;
    }
    schedule
}

/// Whether the sum a + b and the difference b − a of values of bounds a and b can be formed and
/// multiplied.
const fn fits(form: &Form, a: u32, b: u32) -> bool {
    a + b <= form.limit && form.difference(b, a) <= form.limit && a <= form.subtrahend
}

/// log2(R) inverse layers; `multiplier(c, i)` is the i-th of column c. With a scale the results are
/// the last of the transform, else their bounds are at most [`inverse_carry`].
#[inline(always)]
pub(super) fn inverse<L: Part, const R: usize, const C: usize, const CANONICAL: bool>(
    l: L,
    x: &mut [[L::Vector; R]; C],
    multiplier: impl Fn(usize, usize) -> L::Multiplier,
    scale: Option<L::Multiplier>,
) {
    let schedule = const { schedule(&L::FORM, R, CANONICAL) };
    inverse_layer(l, x, &multiplier, R / 2, 1, &schedule.before[0]);
    if R >= 4 {
        inverse_layer(l, x, &multiplier, R / 4, 2, &schedule.before[1]);
    }
    if R >= 8 {
        inverse_layer(l, x, &multiplier, R / 8, 4, &schedule.before[2]);
    }
    if R >= 16 {
        inverse_layer(l, x, &multiplier, R / 16, 8, &schedule.before[3]);
    }
    match scale {
        Some(scale) => {
            for i in 0..R / 2 {
                for c in 0..C {
                    x[c][i] = l.mul(x[c][i], scale);
                }
            }
        }
        None => reduce_some(l, x, &schedule.after),
    }
}

/// Reduces the vectors so marked. A loop of its own, so that the compiler unrolls it and drops the
/// tests.
#[inline(always)]
fn reduce_some<L: Part, const R: usize, const C: usize>(l: L, x: &mut [[L::Vector; R]; C], marked: &[bool; MAX_RADIX]) {
    for i in 0..R {
        for c in 0..C {
            if marked[i] {
                x[c][i] = l.reduce(x[c][i]);
            }
        }
    }
}

/// `(x, y) ↦ (x + y, w·(y − x))` in `nodes` nodes of `2·half` vectors; node i has multiplier `nodes
/// − 1 + i`.
#[inline(always)]
fn inverse_layer<L: Part, const R: usize, const C: usize>(
    l: L,
    x: &mut [[L::Vector; R]; C],
    multiplier: &impl Fn(usize, usize) -> L::Multiplier,
    nodes: usize,
    half: usize,
    reduce: &[bool; MAX_RADIX],
) {
    reduce_some(l, x, reduce);
    if L::TWO_COLUMNS && R * C / 2 >= GROUP {
        for group in 0..R * C / 2 / GROUP {
            inverse_group::<L, R, C, GROUP>(l, x, multiplier, group, nodes, half);
        }
    } else {
        for group in 0..R * C / 2 {
            inverse_group::<L, R, C, 1>(l, x, multiplier, group, nodes, half);
        }
    }
}

#[inline(always)]
fn inverse_group<L: Part, const R: usize, const C: usize, const G: usize>(
    l: L,
    x: &mut [[L::Vector; R]; C],
    multiplier: &impl Fn(usize, usize) -> L::Multiplier,
    group: usize,
    nodes: usize,
    half: usize,
) {
    let mut products = [l.zero(); G];
    let mut factors = [multiplier(0, 0); G];
    for k in 0..G {
        let (c, node, first, second) = butterfly::<R>(group * G + k, half);
        let (a, b) = (x[c][first], x[c][second]);
        factors[k] = multiplier(c, nodes - 1 + node);
        x[c][first] = l.add(a, b);
        products[k] = l.sub(b, a);
    }
    l.mul_many(&mut products, &factors);
    for k in 0..G {
        let (c, _, _, second) = butterfly::<R>(group * G + k, half);
        x[c][second] = products[k];
    }
}
