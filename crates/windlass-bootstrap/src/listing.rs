//! The stages that a plan lists, computed from its steps.

use super::pipeline::{LinearStep, Parts, Pipeline, PipelineStep, Separation};
use super::schedule::Schedule;
use super::stage::{Stage, StageName};

impl Pipeline {
    /// All stages in order, with their levels.
    pub fn stages(&self, schedule: &Schedule) -> Vec<Stage> {
        let mut stages = Vec::new();
        self.list(&self.steps, 1, schedule, &mut stages);
        stages
    }

    /// The stages of steps that are done `times` times.
    fn list(&self, steps: &[PipelineStep], times: usize, schedule: &Schedule, stages: &mut Vec<Stage>) {
        let stage = |name: StageName, times: usize, work: String| {
            let place = schedule.places[&name];
            Stage { name, level: place.level, capacity: place.capacity, work, keys: Default::default(), times }
        };
        for step in steps {
            match step {
                PipelineStep::Linear(LinearStep { name, plan, .. }) => {
                    let work = format!("{} automorphisms: {}", plan.grid().support().len(), plan.count());
                    stages.push(Stage { keys: plan.required_keys(), ..stage(*name, times, work) });
                }
                PipelineStep::FrontEnd => stages.push(stage(StageName::FrontEnd, times, self.describe_front_end())),
                PipelineStep::Digits(removal) => stages.push(stage(StageName::DigitRemoval, times, removal.explain())),
                PipelineStep::Parts(Parts { apart, together, by, steps, .. }) => {
                    let here = times * by.times();
                    let (work, back) = by.describe(here);
                    let keys = by.keys();
                    stages.push(Stage { keys, ..stage(*apart, here, work) });
                    self.list(steps, times * by.parts(), schedule, stages);
                    stages.push(stage(*together, here, back));
                }
            }
        }
    }

    fn describe_front_end(&self) -> String {
        let modulus = self.spec.front_end.method().switched_to(&self.formula_spec(), &self.formula);
        let digits = match self.input.pairs() {
            1 => String::new(),
            count => format!(" in {count} digits of base {}", self.input.base()),
        };
        format!(
            "switch to the ephemeral key (weight {}) at {:.0} bits{digits}, to modulus {modulus}, times the encrypted key",
            self.spec.ephemeral_weight,
            self.params.log2_q(self.input.level),
        )
    }
}

impl Separation {
    /// Taking apart and putting together, in words.
    fn describe(&self, times: usize) -> (String, String) {
        match self {
            Self::Constants(plans) => {
                let (parts, constants) = (self.parts(), plans[0].constants());
                (
                    format!("to {parts} ciphertexts with {constants} constants"),
                    format!("{parts} products with constants"),
                )
            }
            Self::Monomials(_) => {
                (format!("{times} in all to 2 each, by automorphisms and monomials"), "by monomials".into())
            }
        }
    }

    /// The automorphisms of taking apart.
    pub(super) fn keys(&self) -> std::collections::BTreeSet<u64> {
        match self {
            Self::Constants(plans) => plans[0].required_keys(),
            Self::Monomials(splits) => splits.iter().flat_map(|split| split.route.iter().copied()).collect(),
        }
    }
}
