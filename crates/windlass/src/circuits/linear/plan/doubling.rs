//! Sums of all powers of one automorphism by repeated doubling (Halevi–Shoup 2018, §8).

use std::collections::BTreeSet;

use super::cost::OperationCount;
use super::spec::HoistMode;
use crate::circuits::linear::map::{Axes, LinearGrid, Plannable};

/// What is added to `θ_step(w)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Addend {
    /// w itself: `w^{(2s)} = θ^s(w^{(s)}) + w^{(s)}`.
    Sum,
    /// The input: `w^{(s+1)} = θ(w^{(s)}) + v`.
    Input,
}

/// `κ·Σ_{e<N} θ^e(v)` by the binary digits of N.
#[derive(Debug, Clone)]
pub(crate) struct Doubling {
    /// `w ← θ_step(w) + addend`, in order; w starts as the input.
    pub steps: Vec<(u64, Addend)>,
    /// Whether κ needs no product.
    pub plain: bool,
}

impl Doubling {
    /// The chain of a map `κ·Σ_{e<N} θ^e`, θ the generator of one axis and N > 1; `None` for any
    /// other map.
    pub(crate) fn of<R: Plannable>(axes: &Axes, grid: &LinearGrid<R>) -> Option<Self> {
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
        let mut steps = Vec::new();
        for bit in (0..length.ilog2()).rev() {
            steps.push((axes.power(axis, length >> (bit + 1)), Addend::Sum));
            if length >> bit & 1 == 1 {
                steps.push((axes.power(axis, 1), Addend::Input));
            }
        }
        Some(Self { steps, plain: grid.representation().is_one(constant) })
    }

    pub(crate) fn keys(&self) -> BTreeSet<u64> {
        self.steps.iter().map(|(step, _)| *step).collect()
    }

    pub(crate) fn count(&self, hoisting: HoistMode) -> OperationCount {
        let products = usize::from(!self.plain);
        let common = OperationCount {
            constant_products: products,
            narrow_products: products,
            keys: self.keys().len(),
            ..OperationCount::default()
        };
        match hoisting {
            HoistMode::Double => OperationCount {
                hoists: 1,
                hoisted_automorphisms: 1,
                extended_automorphisms: self.steps.len() - 1,
                mod_downs: 1,
                ..common
            },
            HoistMode::Single | HoistMode::Off => OperationCount { automorphisms: self.steps.len(), ..common },
        }
    }
}
