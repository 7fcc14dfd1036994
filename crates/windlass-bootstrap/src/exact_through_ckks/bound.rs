//! What a pass leaves of the error: bounds that do not depend on the message.

use windlass_schemes::error::Result;

use super::spec::{ExactRefreshSpec, rounding};
use crate::approximate::{CoefficientError, RefreshPlan};

/// The random errors exceed so many deviations in any slot with probability far below 2^−136.
///
/// Key switches, roundings and errors of keys are Gaussians or nearly, times an embedding of s, which key
/// generation keeps below 4.3 deviations: a complex Gaussian would have to exceed 72/4.3 = 16 deviations, which
/// has probability e^−256. The rest is room, because the deviations inside a refresh are averages over samples
/// (docs/math/approximate.md, "Why 72 deviations", has the same factor for products with another secret).
/// A coefficient is bounded by as many of its deviations, 1/√n of those of a slot.
const TAIL: f64 = 72.0;

/// The roundings of fixed constants: no slot of any constant is rounded by more than so many deviations.
///
/// They are public and the same in all refreshes of a plan. That they behave like random numbers is an
/// assumption: then one of 2^30 slots exceeds 8 deviations with probability 2^30·e^−64. They are 2^−12 of the
/// whole error or less.
const CONSTANTS_TAIL: f64 = 8.0;

/// The error of a pass, for every ε within a bound on its coefficients.
#[derive(Debug, Clone)]
pub(super) struct PassError {
    error: CoefficientError,
    n: f64,
    /// Δ_B.
    scale: f64,
    /// t·R: what a modulus switch adds to a coefficient of ε.
    pub rounding: f64,
    /// E.
    pub most: f64,
}

impl PassError {
    pub fn new(spec: &ExactRefreshSpec, ckks: &RefreshPlan) -> Result<Self> {
        let context = ckks.context();
        Ok(Self {
            error: ckks.coefficient_error()?,
            n: spec.refresh.n as f64,
            scale: context.scale(context.base_level()),
            rounding: spec.plaintext_modulus() as f64 * rounding(spec.refresh.n),
            most: spec.most(),
        })
    }

    /// What no coefficient of η exceeds if none of ε exceeds `largest`.
    pub fn coefficient(&self, ckks: &RefreshPlan, largest: f64) -> f64 {
        let CoefficientError { random, constants, rare } = self.error;
        let spread = TAIL * random + CONSTANTS_TAIL * constants * largest / self.scale;
        self.scale * (spread / self.n.sqrt() + rare) + self.systematic(ckks, largest)
    }

    /// What the canonical norm of η does not exceed.
    ///
    /// The systematic parts of all n coefficients may point one way. The roundings of constants act on
    /// the slots of ε, all of whose energy may be in one pair of them: √(n/2) deviations. Errors of rare
    /// integers are independent and at most `rare`: by Bernstein's inequality at 2^−130 they add up to
    /// 72 of them at most beside the deviation, which `random` includes.
    pub fn norm(&self, ckks: &RefreshPlan, largest: f64) -> f64 {
        let CoefficientError { random, constants, rare } = self.error;
        let concentrated = CONSTANTS_TAIL * (self.n / 2.0).sqrt() * constants * largest / self.scale;
        self.scale * (TAIL * (random + rare) + concentrated) + self.n * self.systematic(ckks, largest)
    }

    fn systematic(&self, ckks: &RefreshPlan, largest: f64) -> f64 {
        ckks.base_modulus() * ckks.systematic_of(largest / ckks.base_modulus())
    }
}
