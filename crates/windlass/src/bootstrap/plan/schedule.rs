//! The levels of all stages, fixed by running the pipeline on noise bounds.

use std::collections::BTreeSet;

use windlass_rlwe::Bound;

use super::{BootstrapPlan, DIGITS, FRONT_END, LinearStage, Stage};
use crate::bootstrap::encapsulation::EncryptedSecret;
use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::forecast::{Expected, Forecast};
use crate::bootstrap::packed::Way;
use crate::bootstrap::spec::FrontEnd;
use crate::error::Result;

impl BootstrapPlan {
    /// Fixes the levels by running the pipeline on noise bounds.
    pub(super) fn schedule(&mut self) -> Result<()> {
        let low = Forecast::new(&self.params, &self.message);
        let high = Forecast::new(&self.params, &self.working);
        let mut stages = Vec::new();
        self.least_input_bits = self.input.needed_bits;
        let thin = matches!(self.way, Way::Thin);
        if thin {
            (stages, self.least_input_bits) = self.schedule_input(&low)?;
        }
        let mut ct = self.front_end_forecast(&high);
        stages.push(self.front_end_stage(high.capacity(&ct)));
        ct = self.schedule_split_elements(&high, ct, &mut stages)?;
        let times = self.way.elements();
        for stage in &mut self.to_slots {
            ct = stage.schedule(&high, &ct, times, &mut stages)?;
        }
        ct = self.schedule_unpacking(&high, ct, &mut stages)?;
        ct = high.reduce(&ct);
        let after = self.digits.apply(&high, &ct)?;
        let stage = Stage::between(DIGITS, &high, [&ct, &after], self.digits.explain());
        record(&mut stages, Stage { times: self.way.parts(), ..stage })?;
        ct = after;
        ct = self.schedule_repacking(&low, ct, &mut stages)?;
        if !thin {
            let times = self.way.elements();
            for stage in &mut self.to_coefficients {
                ct = stage.schedule(&low, &ct, times, &mut stages)?;
            }
        }
        ct = self.schedule_join_elements(&low, ct, &mut stages)?;
        // A bootstrapping that leaves less than it needs to start is of no use.
        check("what is left for computing", low.capacity(&ct) - self.least_input_bits)?;
        self.output = ct;
        self.stages = stages;
        Ok(())
    }

    fn front_end_stage(&self, after: f64) -> Stage {
        Stage {
            name: FRONT_END.into(),
            level: self.input.arrival,
            capacity: (self.input.needed_bits, after),
            work: format!(
                "switch to the ephemeral key (weight {}) at {:.0} bits, to modulus {}, times the encrypted key",
                self.spec.ephemeral_weight,
                self.params.log2_q(self.input.level),
                match self.spec.front_end {
                    FrontEnd::PrimePower => format!("{}^{}", self.numbers.prime, self.numbers.exponent),
                    FrontEnd::NearPrimePower => format!(
                        "{}^{} + 1, {} digits cleared",
                        self.numbers.prime,
                        self.numbers.removed + self.numbers.cleared,
                        self.numbers.cleared
                    ),
                }
            ),
            keys: BTreeSet::new(),
            times: 1,
        }
    }

    /// The stages before the front end, from the lowest level that carries them; and the least capacity to arrive with.
    fn schedule_input(&mut self, low: &Forecast) -> Result<(Vec<Stage>, f64)> {
        let prepared: Vec<_> =
            self.to_coefficients.iter().map(|stage| stage.plan.prepare(low)).collect::<Result<_>>()?;
        let run = |start: Expected| -> Result<Vec<(Expected, Expected)>> {
            let mut ct = start;
            let mut trail = Vec::new();
            for (stage, prepared) in self.to_coefficients.iter().zip(&prepared) {
                let before = low.reduce(&ct);
                ct = stage.plan.apply(prepared, low, &before)?;
                trail.push((before, ct));
            }
            Ok(trail)
        };
        let spare = |trail: &[(Expected, Expected)], start: &Expected| {
            let last = trail.last().map_or(start, |(_, after)| after);
            low.capacity(&low.switch(last, self.input.arrival)).min(low.capacity(last)) - self.input.needed_bits
        };
        let mut short = 0.0;
        for level in self.input.arrival..=self.params.top_level() {
            let start = low.floor(level, self.numbers.message_exponent);
            let trail = run(start)?;
            let margin = spare(&trail, &start);
            if margin < 0.0 {
                short = -margin;
                continue;
            }
            let least = low.capacity(&start) - margin;
            let mut stages = Vec::new();
            for (stage, (before, after)) in self.to_coefficients.iter_mut().zip(trail) {
                stage.level = before.level;
                stages.push(stage.describe(low.capacity(&before), low.capacity(&after), 1));
            }
            return Ok((stages, least));
        }
        Err(BootstrapError::ChainTooShort { stage: "slots to coefficients".into(), missing_bits: short }.into())
    }

    /// c_0 + c_1·Enc(s̃) with uniform c_0, c_1 modulo p^e.
    fn front_end_forecast(&self, high: &Forecast) -> Expected {
        let model = high.model(self.numbers.exponent);
        let norm = high.constant_norm(self.numbers.exponent);
        let t = self.working.modulus().value();
        let secret = EncryptedSecret::noise(&self.params, model, self.spec.ephemeral_weight, t);
        let noise = secret * norm + model.rounding(2) + norm;
        Expected { level: self.params.top_level(), exponent: self.numbers.exponent, factor: 1, noise }
    }

    /// Whether a ciphertext of this level and noise can be refreshed; the first stage that it would not survive.
    pub(in crate::bootstrap) fn check_input(&self, level: usize, noise: Bound) -> Result<()> {
        let low = Forecast::new(&self.params, &self.message);
        let mut ct = Expected { level, exponent: self.numbers.message_exponent, factor: 1, noise };
        let left_bits = low.capacity(&ct);
        let refuse = |stage: &str, missing_bits: f64| {
            Err(BootstrapError::CapacityTooLow { stage: stage.into(), left_bits, missing_bits }.into())
        };
        let before = if matches!(self.way, Way::Thin) { &self.to_coefficients[..] } else { &[] };
        for stage in before {
            ct = stage.plan.apply_once(&low, &low.switch(&ct, stage.level))?;
            if low.capacity(&ct) <= 0.0 {
                return refuse(&stage.name, -low.capacity(&ct));
            }
        }
        let missing = self.input.needed_bits - low.capacity(&low.switch(&ct, self.input.arrival));
        if ct.level < self.input.level || missing > 0.0 { refuse(FRONT_END, missing.max(0.0)) } else { Ok(()) }
    }
}

impl LinearStage {
    /// Fixes the level and records the stage.
    fn schedule(
        &mut self,
        forecast: &Forecast,
        ct: &Expected,
        times: usize,
        stages: &mut Vec<Stage>,
    ) -> Result<Expected> {
        let before = forecast.reduce(ct);
        self.level = before.level;
        let after = self.plan.apply_once(forecast, &before)?;
        record(stages, self.describe(forecast.capacity(&before), forecast.capacity(&after), times))?;
        Ok(after)
    }

    fn describe(&self, before: f64, after: f64, times: usize) -> Stage {
        Stage {
            name: self.name.clone(),
            level: self.level,
            capacity: (before, after),
            work: format!("{} automorphisms: {}", self.plan.grid().support().len(), self.plan.count()),
            keys: self.plan.required_keys(),
            times,
        }
    }
}

impl Stage {
    /// A stage that comes once, from one ciphertext to another without keys.
    pub(super) fn between(name: &str, forecast: &Forecast, [before, after]: [&Expected; 2], work: String) -> Self {
        let capacity = (forecast.capacity(before), forecast.capacity(after));
        Self { name: name.into(), level: before.level, capacity, work, keys: BTreeSet::new(), times: 1 }
    }
}

/// Records a stage that leaves capacity, and refuses others.
pub(super) fn record(stages: &mut Vec<Stage>, stage: Stage) -> Result<()> {
    check(&stage.name, stage.capacity.1)?;
    stages.push(stage);
    Ok(())
}

/// Refuses negative capacity.
fn check(stage: &str, bits: f64) -> Result<()> {
    if bits > 0.0 {
        return Ok(());
    }
    Err(BootstrapError::ChainTooShort { stage: stage.into(), missing_bits: -bits }.into())
}
