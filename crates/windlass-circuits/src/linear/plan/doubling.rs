//! Sums of all powers of one automorphism by repeated doubling (Halevi–Shoup 2018, §8).

use std::collections::BTreeSet;

use super::cost::OperationCount;
use super::spec::HoistMode;
use crate::linear::map::{Axes, LinearGrid, Plannable};

/// What is added to `θ_step(w)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Addend {
    /// w itself: `w^{(2s)} = θ^s(w^{(s)}) + w^{(s)}`.
    Sum,
    /// The input: `w^{(s+1)} = θ(w^{(s)}) + v`.
    Input,
}

/// `w ← θ_step(w) + addend`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DoublingStep {
    /// The automorphisms that make up θ_step, one after the other: itself, or two that have keys.
    pub path: Vec<u64>,
    pub addend: Addend,
}

/// `κ·Σ_{e<N} θ^e(v)` by the binary digits of N.
#[derive(Debug, Clone)]
pub(crate) struct Doubling {
    /// In order; w starts as the input.
    pub steps: Vec<DoublingStep>,
    /// Whether κ needs no product.
    pub plain: bool,
}

impl Doubling {
    /// The chain of a map `κ·Σ_{e<N} θ^e`, θ the generator of one axis and N > 1; `None` for any
    /// other map.
    ///
    /// The steps are θ^s for s = N/2, N/4, .. rounded down, and θ. Keys for baby and giant steps
    /// have few of them, but every one as a product of two: then the chain is at most three log2 N
    /// automorphisms, of which keys for all steps take two log2 N. A step that keys do not make up
    /// stays as it is, to be missed by name.
    pub(crate) fn of<R: Plannable>(axes: &Axes, grid: &LinearGrid<R>, keys: Option<&BTreeSet<u64>>) -> Option<Self> {
        if (grid.rows(), grid.columns()) != (1, 1) {
            return None;
        }
        let map = grid.block(0, 0)?;
        let constant = map.constant(1)?;
        let length = map.terms().len();
        let powers = |axis: usize| (0..length).map(move |e| axes.power(axis, e));
        let fits = |&axis: &usize| {
            axes.list()[axis].size >= length && powers(axis).all(|t| map.constant(t).is_some_and(|k| k == constant))
        };
        let axis = (0..axes.list().len()).find(fits).filter(|_| length > 1)?;
        let step = |exponent, addend| DoublingStep { path: path(axes, axes.power(axis, exponent), keys), addend };
        let mut steps = Vec::new();
        for bit in (0..length.ilog2()).rev() {
            steps.push(step(length >> (bit + 1), Addend::Sum));
            if length >> bit & 1 == 1 {
                steps.push(step(1, Addend::Input));
            }
        }
        Some(Self { steps, plain: grid.representation().is_one(constant) })
    }

    pub(crate) fn keys(&self) -> BTreeSet<u64> {
        self.steps.iter().flat_map(|step| step.path.iter().copied()).collect()
    }

    pub(crate) fn count(&self, hoisting: HoistMode) -> OperationCount {
        let products = usize::from(!self.plain);
        let automorphisms: usize = self.steps.iter().map(|step| step.path.len()).sum();
        let common = OperationCount {
            constant_products: products,
            base_q_products: products,
            keys: self.keys().len(),
            ..OperationCount::default()
        };
        match hoisting {
            HoistMode::Double => OperationCount {
                hoists: 1,
                hoisted_automorphisms: 1,
                extended_automorphisms: automorphisms - 1,
                mod_downs: 1,
                ..common
            },
            HoistMode::Single | HoistMode::Off => OperationCount { automorphisms, ..common },
        }
    }
}

/// One automorphism with a key, or two, that make up θ_step; θ_step itself if there are no such
/// keys.
fn path(axes: &Axes, step: u64, keys: Option<&BTreeSet<u64>>) -> Vec<u64> {
    let Some(keys) = keys.filter(|keys| !keys.contains(&step)) else { return vec![step] };
    let pair = |&first: &u64| {
        let second = axes.product(step, axes.inverse(first));
        keys.contains(&second).then(|| vec![first, second])
    };
    keys.iter().find_map(pair).unwrap_or_else(|| vec![step])
}
