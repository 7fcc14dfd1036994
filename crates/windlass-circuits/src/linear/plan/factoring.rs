//! Factorings of a support set into inputs and outputs.
//!
//! A linear map `Σ_t κ_t·θ_t` with support `S ⊆ Z_m^*` is evaluated as `Σ_o θ_o( Σ_i
//! θ_o^{-1}(κ_{oi}) · θ_i(v) )`. Which `t ∈ S` is written as which product `o·i` is a
//! [`Factoring`]; how the inputs `i` and outputs `o` are reached is a [`Walk`] each. The papers'
//! algorithms differ in nothing else.

use crate::linear::map::Axes;

/// How the powers of the split axis' generator are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Powers {
    /// One automorphism each, from a common parent.
    Direct,
    /// One step of the given length after the other: iteration on the way out, Horner's rule on the
    /// way in.
    Iterate {
        /// Its exponent of the generator, at least 1; what is left over goes by single steps.
        stride: usize,
    },
    /// A long step of a multiple of `stride`, then a short one (Halevi–Shoup 2018, §5.1).
    TwoLevel {
        /// Its exponent of the generator, at least 1.
        stride: usize,
    },
}

/// How a cofactor (the part of an element off the split axis) joins the power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cofactors {
    /// Power and cofactor are one automorphism.
    Merge,
    /// First the cofactor in one step, then the power.
    Joint,
    /// First the cofactor axis by axis, then the power.
    PerAxis,
    /// First the cofactor axis by axis, by a long step of a multiple of `⌈√size⌉` and a short one,
    /// then the power.
    TwoLevel,
    /// First the cofactor axis by axis in unit steps, then the power.
    Iterate,
}

/// How one side of a factoring is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walk {
    /// To the power of the split axis' generator.
    pub powers: Powers,
    /// To the rest.
    pub cofactors: Cofactors,
    /// Whether a step that several ways begin with is taken once; else every element has a way of
    /// its own.
    pub shared: bool,
}

/// The way to one automorphism `t = Π output · Π input`: steps from the ciphertext to an input, and
/// from the sum of products to the output. Routes share the inputs, outputs and steps that they
/// have in common.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Route {
    /// The automorphisms that lead from the ciphertext to an input, first step first.
    pub input: Vec<u64>,
    /// The automorphisms that a sum of products still has to go through, last step first.
    pub output: Vec<u64>,
}

impl Walk {
    /// One automorphism for each element.
    pub const MERGED: Self = Self { powers: Powers::Direct, cofactors: Cofactors::Merge, shared: true };

    /// The steps from the identity to `t`.
    fn steps(self, axes: &Axes, split: usize, t: u64) -> Vec<u64> {
        if self.cofactors == Cofactors::Merge && self.powers == Powers::Direct {
            return vec![t];
        }
        let mut exponents = axes.exponents(t);
        let exponent = std::mem::take(&mut exponents[split]);
        let power = axes.power(split, exponent);
        let mut steps = Vec::new();
        match self.cofactors {
            Cofactors::Merge | Cofactors::Joint => steps.push(axes.product(t, axes.inverse(power))),
            Cofactors::PerAxis => steps.extend(exponents.iter().enumerate().map(|(s, &e)| axes.power(s, e))),
            Cofactors::TwoLevel => {
                for (s, &e) in exponents.iter().enumerate() {
                    let short = e % ceil_sqrt(axes.list()[s].size);
                    steps.extend([axes.power(s, e - short), axes.power(s, short)]);
                }
            }
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

/// `⌈√size⌉`: the baby steps of an axis where keys are for baby and giant steps (Halevi–Shoup 2018,
/// §2.5).
pub(super) fn ceil_sqrt(size: usize) -> usize {
    let root = size.isqrt();
    root + usize::from(root * root < size)
}

/// A rule that writes each element as `output · input`.
///
/// With `e` the exponent of `t` on the split axis and `e' = (e − origin) mod D`, the output is
/// `g^{babies·⌊e'/babies⌋}` times the coordinates of the outer axes, and the input is the rest. If
/// inputs are reached by iteration, `g^origin` is the last step of every output: from the identity
/// it may be far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factoring {
    /// The number of the axis that is split into baby and giant steps.
    pub split: usize,
    /// The number of baby steps, at least 1.
    pub babies: usize,
    /// The exponent where the first giant step begins, less than the size of the axis.
    pub origin: usize,
    /// For each axis, whether its coordinate goes to the output; ignored for the split axis.
    pub outer: Vec<bool>,
    /// How inputs are reached.
    pub inputs: Walk,
    /// How outputs are reached.
    pub outputs: Walk,
}

impl Factoring {
    /// Whether this is a rule on these axes at all.
    pub(super) fn fits(&self, axes: &Axes) -> bool {
        let strides = [self.inputs.powers, self.outputs.powers].map(|powers| match powers {
            Powers::Direct => 1,
            Powers::Iterate { stride } | Powers::TwoLevel { stride } => stride,
        });
        let split = axes.list().get(self.split);
        split.is_some_and(|axis| self.origin < axis.size)
            && self.outer.len() == axes.list().len()
            && self.babies > 0
            && strides.iter().all(|&stride| stride > 0)
    }

    /// The exponent of the first input on the split axis.
    pub(super) fn first_input(&self) -> usize {
        if matches!(self.inputs.powers, Powers::Iterate { .. }) { 0 } else { self.origin }
    }

    /// The route to `t`, on axes that the rule fits.
    pub(super) fn route(&self, axes: &Axes, t: u64) -> Route {
        let (last, output) = (axes.power(self.split, self.origin - self.first_input()), self.output(axes, t));
        let input = axes.product(t, axes.inverse(axes.product(last, output)));
        let steps = |walk: Walk, element| walk.steps(axes, self.split, element);
        let outputs = std::iter::once(last).chain(steps(self.outputs, output)).collect();
        Route { input: steps(self.inputs, input), output: outputs }
    }

    /// The output part of `t`, without the last step.
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
}

#[cfg(test)]
mod tests {
    use super::ceil_sqrt;

    #[test]
    fn square_roots_are_rounded_up() {
        assert_eq!([1, 2, 4, 5, 16, 17].map(ceil_sqrt), [1, 2, 2, 3, 4, 5]);
    }
}
