//! Estimates the cost of a plan before anything is made: bytes of keys, and time.

use std::sync::Arc;

use windlass_circuits::{CostModel, LinearPlan};
use windlass_ring::kernels::{Isa, Modulus};
use windlass_ring::{Basis, Ring};
use windlass_rlwe::RlweParams;
use windlass_schemes::error::Result;
use windlass_schemes::file_sizes::{OVERHEAD, packed_len};

use super::bootstrap_plan::BootstrapPlan;
use super::encapsulation::InputModulus;
use super::partition::constant_bytes;
use super::pipeline::{Parts, PipelineStep, Separation};
use super::stage::StageName;

/// Sizes in bytes of the files of all keys of a plan, and of its evaluation keys in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyBytes {
    /// The secret key's file.
    pub secret: u64,
    /// The public key's file.
    pub public: u64,
    /// The file of the relinearisation key and all Galois keys.
    pub evaluation: u64,
    /// The file of the bootstrapping keys.
    pub bootstrap: u64,
    /// Evaluation keys in memory, both halves with eight bytes a residue.
    pub evaluation_memory: u64,
}

impl KeyBytes {
    /// Of a Galois or relinearisation key for each of these levels, and of the keys that meet a
    /// ciphertext at `input`.
    pub(super) fn of(params: &RlweParams, levels: impl IntoIterator<Item = usize>, input: &InputModulus) -> Self {
        const SEED: u64 = 32;
        const KEY_FIELDS: u64 = 8 + 2 + SEED;
        let n = params.n();
        let packed = |primes: &[Modulus]| primes.iter().map(|q| packed_len(n, q.value()) as u64).sum::<u64>();
        let of = |basis: &Basis| basis.indices().map(|i| packed(&params.q_primes()[i..=i])).sum::<u64>();
        let special = params.special_primes();
        let (mut evaluation, mut evaluation_memory) = (4, 0);
        for level in levels {
            let basis = params.levels().covering(level);
            let digits = (params.gadget().skipped(basis) + params.gadget().active(basis).len()) as u64;
            evaluation += KEY_FIELDS + digits * (of(basis) + packed(special));
            evaluation_memory += digits * 2 * constant_bytes(params, level) as u64;
        }
        let [level, own] = input.shape();
        let pair = SEED + of(params.levels().basis(level)) + packed(&special[..own]);
        let encapsulation = input.pairs() as u64 * pair;
        let whole = packed(params.q_primes());
        let file = |payload: u64| payload + OVERHEAD as u64;
        Self {
            secret: file(packed_len(n, 3) as u64),
            public: file(SEED + whole),
            evaluation: file(evaluation),
            bootstrap: file(encapsulation + SEED + whole + packed(special)),
            evaluation_memory,
        }
    }
}

impl BootstrapPlan {
    /// Sizes of the keys that [`Self::add_keys`] and [`super::BootstrapKeys::generate`] will make,
    /// exactly as their files will be.
    pub fn key_bytes(&self) -> KeyBytes {
        let galois = self.required_key_levels().into_iter().map(|(_, level)| level);
        KeyBytes::of(self.params(), galois.chain([self.params().top_level()]), self.input())
    }

    /// Seconds that one refresh will take on one thread of this machine, roughly: the prices of the
    /// linear maps, and a key switch and two modulus switches for each product of the digit
    /// removal, times what one transform of a row takes here and now.
    ///
    /// Cost: the transform tables of one prime, and some transforms.
    ///
    /// # Errors
    /// Those of building them.
    pub fn estimated_seconds(&self) -> Result<f64> {
        let ring = Ring::new(Arc::clone(self.params().shape()), &self.params().q_primes()[..1], Isa::best())?;
        Ok(self.price() * CostModel::transform_milliseconds(&ring) / 1000.0)
    }

    /// The price of one refresh in transforms of one row: what [`super::Order::Automatic`] and
    /// [`super::Unpacking::Automatic`] compare.
    pub fn price(&self) -> f64 {
        self.price_of(&self.pipeline.steps)
    }

    pub(super) fn price_of(&self, steps: &[PipelineStep]) -> f64 {
        let one = |step: &PipelineStep| match step {
            PipelineStep::Linear(step) => step.price(),
            PipelineStep::FrontEnd => 4.0 * self.params().q_primes().len() as f64,
            PipelineStep::Digits(removal) => removal.products() as f64 * self.price_of_product(),
            PipelineStep::Parts(parts) => {
                self.price_apart(parts) + parts.by.parts() as f64 * self.price_of(&parts.steps)
            }
        };
        steps.iter().map(one).sum()
    }

    /// A product in the middle of the digit removal: a key switch and two modulus switches.
    fn price_of_product(&self) -> f64 {
        let place = self.schedule.places[&StageName::DigitRemoval];
        let to = (1..=place.level).find(|&level| self.params().log2_q(level) >= place.capacity.1);
        let level = (place.level + to.unwrap_or(place.level)).div_ceil(2);
        let primes = self.params().levels().basis(level).len();
        CostModel::at_level(self.params(), level).automorphism + 4.0 * primes as f64
    }

    /// Taking one ciphertext apart, and putting it together.
    fn price_apart(&self, parts: &Parts) -> f64 {
        let [cost, cost_together] =
            [parts.apart, parts.together].map(|stage| CostModel::at_level(self.params(), self.schedule.level(stage)));
        parts.by.price([Some(&cost), Some(&cost_together)])
    }
}

impl Separation {
    /// The price of taking one ciphertext apart, and of putting one together, as far as costs are
    /// given; monomials come back without a key switch.
    pub(super) fn price(&self, [apart, together]: [Option<&CostModel>; 2]) -> f64 {
        match self {
            Self::Constants(plans) => {
                let price = |plan: &LinearPlan, cost: Option<&CostModel>| cost.map_or(0.0, |c| plan.count().price(c));
                price(&plans[0], apart) + price(&plans[1], together)
            }
            Self::Monomials(splits) => {
                // Split j is done with each of 2^j parts.
                let automorphisms: usize = splits.iter().enumerate().map(|(j, split)| split.route.len() << j).sum();
                apart.map_or(0.0, |cost| automorphisms as f64 * cost.automorphism)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use windlass_rlwe::{Assurance, RlweParams, RlweSpec, SecretDistribution};

    use super::*;
    use crate::{BootstrapSpec, Mode, Unpacking};

    #[test]
    fn repacking_is_paid_for() {
        let params = RlweParams::new(&RlweSpec {
            m: 105,
            q_prime_bits: vec![50; 14],
            spare_prime_bits: Vec::new(),
            special_prime_bits: vec![50; 5],
            digits: 3,
            secret: SecretDistribution::Ternary,
            assurance: Assurance::Insecure { name: "insecure_test".into() },
        });
        let (mode, unpacking) = (Mode::Packed, Unpacking::Constants);
        let spec = BootstrapSpec { mode, unpacking, ephemeral_weight: 6, ..BootstrapSpec::default() };
        let plan = BootstrapPlan::new(&params.unwrap(), (2, 1), spec).unwrap();
        let steps = &plan.pipeline.steps;
        let parts =
            steps.iter().find_map(|step| if let PipelineStep::Parts(parts) = step { Some(parts) } else { None });
        let parts = parts.expect("elements come apart");
        let Separation::Constants(plans) = &parts.by else { panic!("by constants") };
        let cost = CostModel::at_level(plan.params(), plan.schedule.level(parts.apart));
        assert!(plan.price_apart(parts) > plans[0].count().price(&cost));
    }
}
