//! Factorings of a support set into inputs and outputs.
//!
//! A linear map `Σ_t κ_t·θ_t` with support `S ⊆ Z_m^*` is evaluated as `Σ_o θ_o( Σ_i θ_o^{-1}(κ_{oi}) · θ_i(v) )`. Which
//! `t ∈ S` is written as which product `o·i` is a [`Factoring`]; how the inputs `i` and outputs `o` are reached is a
//! [`Walk`] each. The papers' algorithms differ in nothing else.

use std::collections::BTreeSet;

use super::axes::Axes;
use super::tree::Tree;

/// How the powers of the split axis' generator are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Powers {
    /// One automorphism each, from a common parent.
    Direct,
    /// One step of the given length after the other: iteration on the way out, Horner's rule on the way in.
    Iterate { stride: usize },
    /// A long step of a multiple of `stride`, then a short one (Halevi–Shoup 2018, §5.1).
    TwoLevel { stride: usize },
}

/// How a cofactor (the part of an element off the split axis) joins the power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cofactors {
    /// Power and cofactor are one automorphism.
    Merged,
    /// First the cofactor in one step, then the power.
    Joint,
    /// First the cofactor axis by axis, then the power.
    PerAxis,
    /// First the cofactor axis by axis in unit steps, then the power.
    Iterate,
}

/// How one side of a factoring is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Walk {
    pub powers: Powers,
    pub cofactors: Cofactors,
}

impl Walk {
    pub(crate) const MERGED: Self = Self { powers: Powers::Direct, cofactors: Cofactors::Merged };

    /// The steps from the identity to `t`.
    fn steps(self, axes: &Axes, split: usize, t: u64) -> Vec<u64> {
        if self.cofactors == Cofactors::Merged && self.powers == Powers::Direct {
            return vec![t];
        }
        let mut exponents = axes.exponents(t);
        let exponent = std::mem::take(&mut exponents[split]);
        let power = axes.power(split, exponent);
        let mut steps = Vec::new();
        match self.cofactors {
            Cofactors::Merged | Cofactors::Joint => steps.push(axes.product(t, axes.inverse(power))),
            Cofactors::PerAxis => steps.extend(exponents.iter().enumerate().map(|(s, &e)| axes.power(s, e))),
            Cofactors::Iterate => {
                for (s, &e) in exponents.iter().enumerate() {
                    steps.extend(std::iter::repeat_n(axes.power(s, 1), e));
                }
            }
        }
        match self.powers {
            Powers::Direct => steps.push(power),
            Powers::Iterate { stride } => {
                steps.extend(std::iter::repeat_n(axes.power(split, stride), exponent / stride));
                steps.extend(std::iter::repeat_n(axes.power(split, 1), exponent % stride));
            }
            Powers::TwoLevel { stride } => {
                steps.push(axes.power(split, exponent - exponent % stride));
                steps.push(axes.power(split, exponent % stride));
            }
        }
        steps
    }
}

/// A rule that writes each element as `output · input`.
///
/// With `e` the exponent of `t` on the split axis and `e' = (e − origin) mod D`, the output is
/// `g^{babies·⌊e'/babies⌋}` times the coordinates of the outer axes, and the input is the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Factoring {
    pub split: usize,
    pub babies: usize,
    pub origin: usize,
    /// For each axis, whether its coordinate goes to the output; ignored for the split axis.
    pub outer: Vec<bool>,
    pub inputs: Walk,
    pub outputs: Walk,
}

/// A factoring worked out for one support set.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub inputs: Tree,
    pub outputs: Tree,
    /// For each output node: which input node it takes, with the element `t = output · input`.
    pub rows: Vec<Vec<(usize, u64)>>,
}

impl Factoring {
    /// The output part of `t`.
    fn output(&self, axes: &Axes, t: u64) -> u64 {
        let exponents = axes.exponents(t);
        let size = axes.list()[self.split].size;
        let relative = (exponents[self.split] + size - self.origin) % size;
        let mut output = axes.power(self.split, relative - relative % self.babies);
        for (s, &exponent) in exponents.iter().enumerate() {
            if s != self.split && self.outer[s] {
                output = axes.product(output, axes.power(s, exponent));
            }
        }
        output
    }

    /// Applies the rule to a support set.
    pub(crate) fn lay_out(&self, axes: &Axes, m: u64, support: &[u64]) -> Layout {
        let (mut inputs, mut outputs) = (Tree::new(m), Tree::new(m));
        let mut rows: Vec<Vec<(usize, u64)>> = vec![Vec::new()];
        for &t in support {
            let output = self.output(axes, t);
            let input = axes.product(t, axes.inverse(output));
            let o = outputs.reach(self.outputs.steps(axes, self.split, output));
            let i = inputs.reach(self.inputs.steps(axes, self.split, input));
            rows.resize(outputs.nodes().len(), Vec::new());
            rows[o].push((i, t));
        }
        Layout { inputs, outputs, rows }
    }
}

impl Layout {
    /// The automorphisms that need a key, in increasing order.
    pub(crate) fn keys(&self) -> BTreeSet<u64> {
        self.inputs.steps().chain(self.outputs.steps()).collect()
    }

    /// Whether no automorphism is needed, so that base `QP` is left out altogether.
    pub(crate) fn is_diagonal(&self) -> bool {
        self.inputs.nodes().len() == 1 && self.outputs.nodes().len() == 1
    }
}
