//! What a plan says before anything runs: its stages, its error, and the bytes of its keys.

use std::collections::BTreeSet;

use windlass_circuits::CostModel;
use windlass_schemes::error::short;
use windlass_schemes::file_sizes;

use super::plan::{self, RefreshPlan};
use super::spec::MapOrder;
use super::step::RefreshStep;
use crate::estimate::KeyBytes;
use crate::explain;
use crate::stage::{Stage, StageName};

impl RefreshPlan {
    /// All stages in order, with their levels and keys.
    pub fn stages(&self) -> Vec<Stage> {
        let (inner, outer) = (self.to_slots.len(), self.to_coefficients.len());
        let to_slots = |part| StageName::CoefficientsToSlots { part, count: inner };
        let back = |part| StageName::SlotsToCoefficients { part, count: outer };
        let maps = |list: &[plan::MapStage], name: &dyn Fn(usize) -> StageName| -> Vec<Stage> {
            list.iter().enumerate().map(|(k, stage)| self.map_stage(name(k + 1), stage)).collect()
        };
        let mut stages = vec![self.raise_stage()];
        stages.extend(maps(&self.to_slots, &to_slots));
        stages.extend(self.sine_stages());
        let maps_back = maps(&self.to_coefficients, &back);
        match self.spec().order {
            MapOrder::BackLast => [stages, maps_back].concat(),
            MapOrder::BackFirst => [maps_back, stages].concat(),
        }
    }

    /// The place of a step in [`Self::stages`].
    pub(super) fn place_of(&self, step: RefreshStep) -> usize {
        let (inner, sines) = (self.to_slots.len(), self.sines());
        let (raise, back) = match self.spec().order {
            MapOrder::BackLast => (0, 1 + inner + sines),
            MapOrder::BackFirst => (self.to_coefficients.len(), 0),
        };
        match step {
            RefreshStep::Raise => raise,
            RefreshStep::ToSlots(k) => raise + 1 + k,
            RefreshStep::Sine(k) => raise + 1 + inner + k,
            RefreshStep::ToCoefficients(k) => back + k,
        }
    }

    /// Sizes of the keys that a client makes for this plan, exactly as their files will be.
    pub fn key_bytes(&self) -> KeyBytes {
        let levels = self.galois_levels().values().copied().chain([self.relinearisation_level()]);
        KeyBytes::of(self.context().rlwe().params(), levels, &self.input())
    }

    /// The predicted time of a refresh, in transforms of one row.
    ///
    /// The maps by their plans; every product of the sine as a key switch at the level in the middle of it.
    pub fn price(&self) -> f64 {
        let params = self.context().rlwe().params();
        let first = self.relinearisation_level();
        let maps = self.to_slots.iter().chain(&self.to_coefficients).map(|stage| stage.plan.price());
        let last =
            (0..self.spec().sine_depth()).fold(first, |level, _| self.context().level_below(level).unwrap_or(level));
        let product = CostModel::at_level(params, (first + last) / 2).automorphism;
        maps.sum::<f64>() + self.sums.price() + (self.sines() * self.sine.products() + 1) as f64 * product
    }

    /// Seconds that one refresh will take on one thread of this machine, roughly: [`Self::price`] times what
    /// one transform of a row takes here and now.
    ///
    /// Cost: some transforms.
    pub fn estimated_seconds(&self) -> f64 {
        self.price() * CostModel::transform_milliseconds(self.context().rlwe().ring()) / 1000.0
    }

    /// Bits of the modulus that the products of a refreshed ciphertext may drop before it is refreshed
    /// again.
    pub fn output_bits(&self) -> f64 {
        self.bits(self.context().top_level()) - self.input_bits()
    }

    /// Bits of the modulus that a refresh itself takes.
    pub(super) fn input_bits(&self) -> f64 {
        self.bits(self.input_level())
    }

    /// The plan in words: error, security, stages, keys.
    ///
    /// Cost: a few milliseconds, for the error.
    pub fn explain(&self) -> String {
        let (spec, params) = (self.spec(), self.context().rlwe().params());
        let error = self.error().map_or_else(
            |refusal| refusal.to_string(),
            |error| {
                let (random, systematic) = (error.deviation().log2(), error.systematic.log2());
                format!("2^{random:.1} in a slot, and up to 2^{systematic:.1} more for numbers of absolute value 1")
            },
        );
        let size = file_sizes::in_words(self.key_bytes().evaluation_memory);
        format!(
            "refresh of CKKS, n = {}, {} slots, scale 2^{}, log2 QP = {:.0}\n\
             error: {error}\n\
             numbers of absolute value at most {}\n\
             λ = {}\n\
             ephemeral key of weight {}, log2 QP = {:.0}: λ = {}\n\
             {}leaves {:.0} bits, {} products; {} Galois keys, {size} with the relinearisation key",
            spec.n,
            spec.slots,
            spec.scale_bits,
            params.log2_qp(),
            short(self.most()),
            params.security(),
            spec.ephemeral_weight,
            self.input().log2_modulus(params),
            self.ephemeral_security(),
            explain::lines_of(&self.stages()),
            self.output_bits(),
            spec.depth,
            self.galois_levels().len(),
        )
    }

    /// One for the real and one for the imaginary parts, unless one ciphertext holds both.
    fn sines(&self) -> usize {
        if self.spec().is_joined() { 1 } else { 2 }
    }

    /// Bits of the modulus of a level above that of the base.
    fn bits(&self, level: usize) -> f64 {
        let rlwe = self.context().rlwe();
        rlwe.log2_modulus(level) - rlwe.log2_modulus(self.context().base_level())
    }

    fn stage(&self, name: StageName, [level, below]: [usize; 2], work: String, keys: BTreeSet<u64>) -> Stage {
        Stage { name, level, capacity: (self.bits(level), self.bits(below)), work, keys, times: 1 }
    }

    fn raise_stage(&self) -> Stage {
        let (spec, context) = (self.spec(), self.context());
        let keys = self.sums.required_keys();
        let sums = match keys.is_empty() {
            true => String::new(),
            false => format!(", then a sum over {} rotations: {}", spec.n / (2 * spec.slots), self.sums.count()),
        };
        let work = format!(
            "switch to the ephemeral key (weight {}) at {:.0} bits, times the encrypted key{sums}",
            spec.ephemeral_weight,
            context.rlwe().log2_modulus(context.base_level()),
        );
        let (base, top) = (context.base_level(), context.raised_level());
        Stage { level: top, ..self.stage(StageName::Raise, [base, top], work, keys) }
    }

    fn map_stage(&self, name: StageName, stage: &plan::MapStage) -> Stage {
        let below = self.context().level_below(stage.level).expect("a map is rescaled");
        let work = format!("{} automorphisms: {}", stage.plan.grid().support().len(), stage.plan.count());
        self.stage(name, [stage.level, below], work, stage.plan.required_keys())
    }

    /// Both start at the same level; the first takes the conjugate of both.
    fn sine_stages(&self) -> impl Iterator<Item = Stage> {
        let (spec, count) = (self.spec(), self.sines());
        let below = match spec.order {
            MapOrder::BackLast => self.to_coefficients[0].level,
            MapOrder::BackFirst => self.context().top_level(),
        };
        let level = self.relinearisation_level();
        let arcsine = if spec.arcsine { ", and an arcsine" } else { "" };
        let (degree, doublings) = (spec.degree, spec.doublings);
        let work = format!("a cosine by a polynomial of degree {degree}, {doublings} doublings of the angle{arcsine}");
        (1..=count).map(move |part| {
            let conjugation = (part == 1).then(|| self.context().conjugation_element());
            let keys = conjugation.into_iter().collect();
            self.stage(StageName::Sine { part, count }, [level, below], work.clone(), keys)
        })
    }
}
