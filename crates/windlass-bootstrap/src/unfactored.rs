//! The cost of the maps without a factorisation: the baseline of Ma et al. 2024, Tables 4 and 5.

use std::collections::BTreeSet;
use std::fmt;

use windlass_circuits::CostModel;
use windlass_schemes::error::Result;

use super::bootstrap_plan::BootstrapPlan;
use super::maps;
use super::partition::{constant_bytes, price_of_one, to_coefficients_level};
use super::pipeline::PipelineStep;
use super::spec::Mode;
use super::stage::StageName;

/// One direction: all its stages in one map, beside the maps of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unfactored {
    /// The automorphisms of the one map, each with its constant.
    pub automorphisms: usize,
    /// Bytes of its constants, in evaluation form at the level of the plan's first map.
    pub constant_bytes: f64,
    /// Its price by baby and giant steps, in the unit of [`BootstrapPlan::price`].
    pub price: f64,
    /// What the plan's own maps of this direction cost, and how many there are.
    pub factored: (f64, usize),
}

impl fmt::Display for Unfactored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { automorphisms, constant_bytes, price, factored: (own, count) } = self;
        write!(
            f,
            "{automorphisms} automorphisms, {:.1} GB of constants, price {price:.0}: {:.1} times the {own:.0} of {count} maps",
            constant_bytes / 1e9,
            price / own
        )
    }
}

impl BootstrapPlan {
    /// The maps to the coefficients and those to the slots as one map each, counted: nothing of
    /// that size is made. In thin mode the trace stays separate, as in the plan. In packed mode the
    /// one map has all automorphisms of the ring. [`super::Partition::Single`] makes such maps in
    /// small rings.
    ///
    /// # Errors
    /// What building the elementary stages reports.
    pub fn unfactored(&self) -> Result<[Unfactored; 2]> {
        let (params, slots) = (self.params(), self.message_ring());
        let sizes = match self.spec().mode {
            Mode::Packed => [params.n(); 2],
            Mode::Thin => {
                let (m, name) = (params.m(), self.choices().transform);
                let transforms = self.spec().transform.choices(m, slots.prime())?;
                let transform = transforms.into_iter().find(|one| one.name() == name).expect("it was chosen");
                let fixed = maps::fixed(slots, transform);
                let reduced = |t: u64| fixed.as_ref().map_or(t, |fixed| fixed.representative(t));
                maps::thin_supports(slots, transform)?.map(|stages| {
                    let one = BTreeSet::from([1 % m]);
                    let product = |all: BTreeSet<u64>, stage: &BTreeSet<u64>| {
                        all.iter().flat_map(|a| stage.iter().map(move |b| a * b % m)).map(reduced).collect()
                    };
                    stages.iter().fold(one, product).len()
                })
            }
        };
        let levels = [to_coefficients_level(params, self.choices().order), params.top_level()];
        let own = [
            self.price_of_maps(|name| matches!(name, StageName::SlotsToCoefficients { .. })),
            self.price_of_maps(|name| matches!(name, StageName::CoefficientsToSlots { .. })),
        ];
        let one = |side: usize| {
            let (automorphisms, level) = (sizes[side], levels[side]);
            let constant_bytes = automorphisms as f64 * constant_bytes(params, level) as f64;
            let price = price_of_one(&CostModel::at_level(params, level), automorphisms);
            Unfactored { automorphisms, constant_bytes, price, factored: own[side] }
        };
        Ok([one(0), one(1)])
    }

    /// The price of all maps with such names, and how many they are, each counted once.
    fn price_of_maps(&self, wanted: impl Fn(&StageName) -> bool + Copy) -> (f64, usize) {
        fn of(steps: &[PipelineStep], wanted: impl Fn(&StageName) -> bool + Copy) -> (f64, usize) {
            let one = |step: &PipelineStep| match step {
                PipelineStep::Linear(step) if wanted(&step.name) => (step.price(), 1),
                PipelineStep::Parts(parts) => {
                    let (price, count) = of(&parts.steps, wanted);
                    (parts.by.parts() as f64 * price, count)
                }
                _ => (0.0, 0),
            };
            steps.iter().map(one).fold((0.0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1))
        }
        of(&self.pipeline.steps, wanted)
    }
}
