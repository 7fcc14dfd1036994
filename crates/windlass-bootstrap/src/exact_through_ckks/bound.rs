//! What a pass leaves of the error: bounds that do not depend on the message.

use windlass_schemes::error::Result;

use super::spec::{ExactRefreshSpec, rounding};
use crate::approximate::{CoefficientError, RefreshPlan};

/// A slot exceeds so many deviations with probability below 2^−130 (docs/math/approximate.md).
const TAIL: f64 = 72.0;

/// The roundings of fixed constants: no slot of any constant is rounded by more than so many deviations.
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
