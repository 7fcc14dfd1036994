//! What each pass leaves of the error: bounds that do not depend on the message.

use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::ckks::{CkksContext, SlotErrors, Wide};

use super::spec::PreciseRefreshSpec;
use crate::approximate::{PassError, RefreshPlan, SlotError, TAIL, rounding};

/// What is right of a message of absolute value 1 after a pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassBits {
    /// −log2 of the deviation of a slot; 90 at most, for messages are encoded to so many bits.
    pub mean: f64,
    /// −log2 of what no slot exceeds, except with negligible probability; 90 at most.
    pub worst: f64,
}

/// A first pass may read a little more than Δ_B.
const PRIMES: f64 = 1.0 + 1.0 / 1024.0;

/// By how many parts in Δ the integer near the ratio of two scales is off at most, by which y is multiplied before
/// it is lowered: the ratio is Δ/16 or more.
const RATIO: f64 = 8.0;

/// The bounds of all passes.
#[derive(Debug)]
pub(super) struct Bounds {
    error: PassError,
    pass: std::sync::Arc<RefreshPlan>,
    /// Δ_B.
    pass_scale: f64,
    /// Δ.
    scale: f64,
    /// q_1, .., q_{J−1}, as doubles, in the order in which passes follow: the last of them first.
    primes: Vec<f64>,
    /// The rounding of both parts of a ciphertext, in slots.
    rounding: SlotError,
    /// In a coefficient.
    coefficient_rounding: f64,
    bits: Vec<PassBits>,
    /// The largest coefficient that each pass reads, in units of Δ_B.
    largest: Vec<f64>,
}

/// The largest coefficient and the largest slot of what a pass reads.
#[derive(Debug, Clone, Copy)]
struct Input {
    coefficient: f64,
    slot: f64,
}

impl Bounds {
    /// # Errors
    /// [`Error::NoParameters`] if a pass gains fewer bits than its prime has.
    pub fn new(spec: &PreciseRefreshSpec, context: &CkksContext, pass: &std::sync::Arc<RefreshPlan>) -> Result<Self> {
        let (inner, base) = (pass.context(), pass.context().base_level());
        let pass_scale = inner.scale(base);
        let primes = &inner.rlwe().params().q_primes()[base..base + spec.passes - 1];
        let refresh = &spec.refresh;
        let slots = refresh.slots as f64;
        // Of the part that others may have chosen, all coefficients are 1/2 at most.
        let rounding = SlotError {
            deviation: inner.rescaling_deviation(base, refresh.slots) * pass_scale,
            systematic: 0.0,
            most: 2.0 * slots / std::f64::consts::PI + 1.0,
        };
        let coefficient_rounding = rounding_of_any(refresh.n, refresh.parties);
        let largest = pass_scale * PRIMES + coefficient_rounding;
        let mut bounds = Self {
            error: PassError::new(pass, coefficient_rounding, largest)?,
            pass: std::sync::Arc::clone(pass),
            pass_scale,
            scale: context.scale(context.base_level()),
            primes: primes.iter().rev().map(|q| q.value() as f64).collect(),
            rounding,
            coefficient_rounding,
            bits: Vec::new(),
            largest: Vec::new(),
        };
        bounds.fill(spec)?;
        Ok(bounds)
    }

    /// Runs all passes for a message at its bound.
    fn fill(&mut self, spec: &PreciseRefreshSpec) -> Result<()> {
        let mut input = self.first(self.most());
        for pass in 0..spec.passes {
            self.largest.push(input.coefficient / self.pass_scale);
            let error = self.slots(input);
            let unit = self.after(pass) / self.scale;
            // Of the quotient that it reads, or of the result.
            let rounding = self.rounding.deviation * self.after(pass);
            let of_rounding = (TAIL * self.rounding.deviation + self.rounding.most) * self.after(pass);
            self.bits.push(PassBits {
                mean: -(error.deviation * unit).hypot(rounding / self.scale).hypot(Wide::ENCODING).log2(),
                worst: -(error.bound() * unit + of_rounding / self.scale + Wide::ENCODING).log2(),
            });
            if pass + 1 == spec.passes {
                return Ok(());
            }
            let gained = (input.coefficient / self.coefficient(input)).log2();
            input = self.next((pass, self.most()), input);
            if input.coefficient > self.pass_scale * PRIMES {
                let (bits, n) = (spec.pass_bits, spec.refresh.n);
                let reason = format!(
                    "n = {n}: a pass gains {gained:.1} bits, too few beside the roundings for its prime of {bits} bits; choose larger scales of the sine, or smaller primes"
                );
                return Err(Error::NoParameters { reason });
            }
        }
        Ok(())
    }

    /// The largest bound on messages with their errors: what a first pass reads is at most Δ_B.
    pub fn most(&self) -> f64 {
        self.pass_scale * self.after(0) / self.scale * PRIMES
    }

    pub fn bits(&self) -> &[PassBits] {
        &self.bits
    }

    /// The largest coefficient that a pass reads, in units of Δ_B.
    pub fn largest(&self, pass: usize) -> f64 {
        self.largest[pass - 1]
    }

    /// The largest coefficient that the errors of a pass are stated for.
    #[cfg(test)]
    pub fn covered(&self) -> f64 {
        self.error.most / self.pass_scale
    }

    /// What a refresh adds to a message and its error that are within this bound together.
    pub fn stated(&self, bound: f64) -> SlotErrors {
        let mut input = self.first(bound);
        let passes = self.primes.len() + 1;
        for pass in 0..passes - 1 {
            input = self.next((pass, bound), input);
        }
        let error = self.slots(input);
        // What a last pass reads is random; what an only one reads is the message.
        let (systematic, most) = if passes == 1 { (error.systematic, 0.0) } else { (0.0, error.systematic) };
        let deviation = error.deviation.hypot(self.rounding.deviation) / self.scale;
        let most = (error.most + most + self.rounding.most + RATIO * bound) / self.scale;
        let systematic = systematic / self.scale;
        SlotErrors { deviation, most, systematic, whole: deviation + (most + systematic) / TAIL }
    }

    /// What the first pass reads of a message of this bound.
    fn first(&self, bound: f64) -> Input {
        let size = (bound * self.scale / self.after(0)).max(1.0);
        match self.primes.is_empty() {
            true => Input { coefficient: size, slot: size },
            false => Input { coefficient: size + self.coefficient_rounding, slot: size + self.rounding.bound() },
        }
    }

    /// What the next pass reads.
    fn next(&self, (pass, bound): (usize, f64), input: Input) -> Input {
        let prime = self.primes[pass];
        // The pass read a rounded quotient: the next one reads that rounding as a part of its error. y is rounded
        // and multiplied by an integer at Δ, and the difference is rounded when it is divided.
        let after = self.after(pass + 1);
        let (roundings, ratio) = (1.0 + 1.0 / after, RATIO * bound / after);
        let read = |error: f64, rounding: f64| prime * (error + rounding) + roundings * rounding + ratio;
        Input {
            coefficient: read(self.coefficient(input), self.coefficient_rounding),
            slot: read(self.slots(input).bound(), self.rounding.bound()),
        }
    }

    /// C after a pass, numbered from 0.
    fn after(&self, pass: usize) -> f64 {
        self.primes[pass..].iter().product()
    }

    fn coefficient(&self, input: Input) -> f64 {
        self.error.coefficient(&self.pass, input.coefficient)
    }

    fn slots(&self, input: Input) -> SlotError {
        self.error.slots(&self.pass, input.coefficient, input.slot)
    }
}

/// What no coefficient of a rounded ciphertext is off by, if others chose its first part.
fn rounding_of_any(n: usize, parties: u32) -> f64 {
    rounding(n, parties) + 0.5
}
