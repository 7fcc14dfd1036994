//! What a proposal costs at least, without working it out.
//!
//! A search offers hundreds of factorings, and joining the routes of one into trees takes longer
//! than all else in a plan. But how many inputs and outputs a rule has follows from the coordinates
//! of the support, and each of them takes an automorphism. The search goes through the proposals by
//! these bounds and ends at the first that is above the best price found: it chooses what trying
//! all would.

use std::cell::RefCell;

use super::factoring::{Cofactors, Factoring, Powers, Walk};
use super::spec::{HoistMode, PlanSpec};
use super::strategy::{Proposal, Support};

/// Sums of prices in another order may differ by as much.
const ROUNDING: f64 = 1.0 - 1e-9;

/// Lower bounds of prices, for one support.
pub(super) struct Bounds<'a> {
    spec: &'a PlanSpec,
    /// `[axis]`: the number of exponents, and whether the generator's power by it is 1.
    axes: Vec<(usize, bool)>,
    /// `[element][axis]`.
    exponents: Vec<Vec<usize>>,
    /// How many products with constants there are.
    products: usize,
    /// By flattened coordinates: the pass in which they were last seen.
    seen: RefCell<(u32, Vec<u32>)>,
}

/// What one side of a factoring amounts to.
#[derive(Clone, Copy, Default)]
struct Side {
    /// Elements reached.
    ends: usize,
    /// Whether the identity is one of them.
    identity: bool,
    /// The longest way to one, where ways are shared.
    longest: usize,
}

impl Side {
    /// Automorphisms at least: one for each end, and for each step of the longest way.
    fn automorphisms(self) -> usize {
        (self.ends - usize::from(self.identity)).max(self.longest)
    }
}

impl<'a> Bounds<'a> {
    pub fn new(support: &Support<'_>, spec: &'a PlanSpec, products: usize) -> Self {
        let list = support.axes.list();
        let axes = (0..list.len()).map(|s| (list[s].size, support.axes.power(s, list[s].size) == 1)).collect();
        let exponents = support.elements.iter().map(|&t| support.axes.exponents(t)).collect();
        let places = list.iter().map(|axis| axis.size).product();
        Self { spec, axes, exponents, products, seen: RefCell::new((0, vec![0; places])) }
    }

    /// A lower bound on the price of every plan of this proposal; 0 if none is known. A rule must fit the
    /// axes.
    pub fn lower_bound(&self, proposal: &Proposal) -> f64 {
        let Proposal::Rule(rule) = proposal else { return 0.0 };
        let (inputs, outputs) = (self.inputs(rule), self.outputs(rule));
        let (prices, products) = (&self.spec.cost, self.products as f64);
        let (inner, outer) = (inputs.automorphisms() as f64, outputs.automorphisms() as f64);
        let base_q = products * prices.multiply_base_q;
        let base_qp = products * prices.multiply_constant;
        let price = match self.spec.hoisting {
            _ if inner + outer == 0.0 => base_q.min(base_qp),
            HoistMode::Double => {
                let hoist = if inner > 0.0 { prices.hoist } else { 0.0 };
                let each = prices.hoisted_automorphism.min(prices.extended_automorphism);
                hoist + inner * each + outer * prices.extended_automorphism + base_qp + prices.mod_down
            }
            HoistMode::Single => {
                let hoist = if inner > 0.0 { prices.hoist } else { 0.0 };
                hoist + inner * (prices.hoisted_automorphism + prices.mod_down) + outer * prices.automorphism + base_q
            }
            HoistMode::Off => (inner + outer) * prices.automorphism + base_q,
        };
        price * ROUNDING
    }

    /// The outputs: the giant step, with the coordinates of the outer axes.
    fn outputs(&self, rule: &Factoring) -> Side {
        self.side(rule, rule.outputs, |exponents| {
            let relative = self.relative(rule, exponents);
            (relative - relative % rule.babies, true)
        })
    }

    /// The inputs: the baby step, with the coordinates of all other axes.
    ///
    /// Where a step wraps around in a bad dimension, the coordinates on the others change: only the
    /// baby steps are counted then.
    fn inputs(&self, rule: &Factoring) -> Side {
        let (size, good) = self.axes[rule.split];
        let countable = good || rule.origin == 0;
        let mut side = self.side(rule, rule.inputs, |exponents| {
            ((rule.first_input() + self.relative(rule, exponents) % rule.babies) % size, false)
        });
        if !countable {
            let babies = self.distinct(|exponents| self.relative(rule, exponents) % rule.babies);
            side = Side { ends: babies, identity: true, longest: 0 };
        }
        side
    }

    fn relative(&self, rule: &Factoring, exponents: &[usize]) -> usize {
        let size = self.axes[rule.split].0;
        (exponents[rule.split] + size - rule.origin) % size
    }

    /// `step` gives the exponent on the split axis, and which side's axes belong to it.
    fn side(&self, rule: &Factoring, walk: Walk, step: impl Fn(&[usize]) -> (usize, bool)) -> Side {
        let mut side = Side::default();
        let flatten = |exponents: &[usize]| {
            let (split, outer) = step(exponents);
            let (mut place, mut off) = (0, 0);
            for (s, &(size, _)) in self.axes.iter().enumerate().rev() {
                let own = if s == rule.split { split } else { exponents[s] * usize::from(rule.outer[s] == outer) };
                place = place * size + own;
                off += if s == rule.split { 0 } else { own };
            }
            (place, split, off)
        };
        for exponents in &self.exponents {
            let (place, split, off) = flatten(exponents);
            side.identity |= place == 0;
            side.longest = side.longest.max(steps(walk, split, off));
        }
        side.ends = self.distinct(|exponents| flatten(exponents).0);
        side
    }

    /// How many different places there are.
    fn distinct(&self, place: impl Fn(&[usize]) -> usize) -> usize {
        let (pass, seen) = &mut *self.seen.borrow_mut();
        *pass += 1;
        let new = |exponents: &&Vec<usize>| std::mem::replace(&mut seen[place(exponents)], *pass) != *pass;
        self.exponents.iter().filter(new).count()
    }
}

/// Steps to a power of the split axis' generator and `off` units on the other axes, where each step
/// leads to an element of its own.
fn steps(walk: Walk, split: usize, off: usize) -> usize {
    let powers = match walk.powers {
        Powers::Iterate { stride } => split / stride + split % stride,
        Powers::Direct | Powers::TwoLevel { .. } => 0,
    };
    powers + if walk.cofactors == Cofactors::Iterate { off } else { 0 }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::layout::PlanLayout;
    use super::super::schedule::Schedule;
    use super::super::strategy::Strategy;
    use super::*;
    use crate::linear::map::{Axes, Axis};

    /// Good and bad axes, the last one Frobenius.
    fn groups() -> Vec<(u64, Axes)> {
        let axes = |m, list: &[(u64, usize)]| {
            let frobenius = list.len() - 1;
            let axis = |(s, &(generator, size))| Axis { generator, size, frobenius: s == frobenius };
            (m, Axes::new(m, list.iter().enumerate().map(axis).collect()))
        };
        vec![
            axes(64, &[(63, 2), (3, 16)]),
            axes(64, &[(5, 4), (63, 2), (49, 4)]),
            axes(105, &[(29, 2), (104, 2), (2, 12)]),
            axes(31, &[(6, 6), (2, 5)]),
            axes(31, &[(3, 6), (2, 5)]),
        ]
    }

    #[test]
    fn no_plan_costs_less_than_its_bound() {
        let (mut close, mut all) = (0, 0);
        for (m, axes) in groups() {
            let units: Vec<u64> = (1..m).filter(|&t| windlass_ring::kernels::arith::gcd(t, m) == 1).collect();
            let some = |step: usize| units.iter().copied().skip(step / 2).step_by(step).collect::<Vec<u64>>();
            for elements in [units.clone(), some(2), some(5), units[units.len() / 2..].to_vec(), vec![1]] {
                for hoisting in [HoistMode::Double, HoistMode::Single, HoistMode::Off] {
                    let spec = PlanSpec { hoisting, ..PlanSpec::default() };
                    let support = Support { m, axes: &axes, elements: &elements, keys: None };
                    let bounds = Bounds::new(&support, &spec, elements.len());
                    let blocks = BTreeMap::from([((0, 0), elements.iter().copied().collect::<BTreeSet<u64>>())]);
                    for proposal in Strategy::AUTOMATIC.proposals(&support) {
                        let Some(layout) = PlanLayout::of(&proposal, &support).unwrap() else { continue };
                        let count = Schedule::new((1, 1), &blocks, &layout).count(&layout, 0, hoisting);
                        let (least, price) = (bounds.lower_bound(&proposal), count.price(&spec.cost));
                        assert!(least <= price, "m = {m}, {hoisting:?}: {least} above {price} of {proposal:?}");
                        all += 1;
                        close += usize::from(least > 0.5 * price);
                    }
                }
            }
        }
        assert!(close * 2 > all, "{close} of {all} bounds are close");
    }
}
