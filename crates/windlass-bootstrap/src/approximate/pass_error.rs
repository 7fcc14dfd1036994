//! What one refresh of several in sequence leaves of an error: bounds that do not depend on the message.

use windlass_schemes::error::Result;

use super::coefficients::CoefficientError;
use super::plan::RefreshPlan;

/// The random errors exceed so many deviations in any slot with probability far below 2^−136.
///
/// Key switches, roundings and errors of keys are Gaussians or nearly, times an embedding of s. For a key of one
/// party, key generation keeps that below 4.3 deviations: a complex Gaussian would have to exceed 72/4.3 = 16
/// deviations, which has probability e^−256. For several parties only its parts are bounded, but it is a Gaussian
/// over the draw of s, once for all ciphertexts: a product of two exceeds 72 deviations with probability
/// √(72π)·e^−144 < 2^−200 for each slot. The rest is room, because the deviations inside a refresh are averages over samples
/// (docs/math/approximate.md, "Why 72 deviations", has the same factor for products with another secret).
/// A coefficient is bounded by as many of its deviations, 1/√n of those of a slot.
pub(crate) const TAIL: f64 = 72.0;

/// The roundings of fixed constants: no slot of any constant is rounded by more than so many deviations.
///
/// They are public and the same in all refreshes of a plan. That they behave like random numbers is an
/// assumption: then one of 2^30 slots exceeds 8 deviations with probability 2^30·e^−64. They are 2^−12 of the
/// whole error or less.
const CONSTANTS_TAIL: f64 = 8.0;

/// −log2 of the probability that a bound on roundings fails: 2^8 bounds together hold except with 2^−128.
pub(crate) const FAILURE_BITS: f64 = 136.0;

/// What no coefficient of `δ_0 + δ_1·s` exceeds, δ below a half, s ternary or a sum of so many ternary secrets: except with
/// probability 2^−136.
///
/// Given s it is a sum of independent numbers of mean 0: one in an interval of width 1, and for each s_k the product of
/// s_k and one in such an interval. s has n coefficients of at most the number of parties, so a coefficient has at most
/// the variance (1 + parties²·n)/12. A sum of uniform numbers has a lighter tail than a Gaussian of the same variance, whose bound is used.
pub(crate) fn rounding(n: usize, parties: u32) -> f64 {
    let tail = (2.0 * std::f64::consts::LN_2 * (FAILURE_BITS + (2.0 * n as f64).log2())).sqrt();
    tail * ((1.0 + f64::from(parties).powi(2) * n as f64) / 12.0).sqrt()
}

/// What a pass leaves in slots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlotError {
    /// The deviation of a slot from everything random.
    pub deviation: f64,
    /// The systematic part at most.
    pub systematic: f64,
    /// What may be in a slot at most beside that.
    pub most: f64,
}

impl SlotError {
    /// What no slot exceeds.
    pub fn bound(&self) -> f64 {
        TAIL * self.deviation + self.systematic + self.most
    }
}

/// The error η of a pass, for every ε within a bound on its coefficients.
#[derive(Debug, Clone)]
pub(crate) struct PassError {
    error: CoefficientError,
    /// The number of coefficients: n, or those of a subring.
    n: f64,
    /// Δ_B.
    scale: f64,
    /// What the next pass's roundings add to a coefficient of ε.
    pub rounding: f64,
    /// E: no coefficient of ε exceeds it.
    pub most: f64,
}

impl PassError {
    pub fn new(ckks: &RefreshPlan, rounding: f64, most: f64) -> Result<Self> {
        let context = ckks.context();
        Ok(Self {
            error: ckks.coefficient_error(most)?,
            n: (2 * ckks.spec().slots) as f64,
            scale: context.scale(context.base_level()),
            rounding,
            most,
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

    /// What the slots of η do not exceed if no coefficient of ε exceeds `largest`, and no slot `slots`.
    ///
    /// The mean of the squares of the slots is the sum of the squares of the coefficients. The systematic part
    /// of a coefficient grows with its fifth power, so in the sum of all of them it is at most that of a
    /// coefficient of `largest` for each `largest`² of that sum. The roundings of constants act on slots whose
    /// energy is that sum, with all of it in one of them.
    pub fn slots(&self, ckks: &RefreshPlan, largest: f64, slots: f64) -> SlotError {
        let CoefficientError { random, constants, rare } = self.error;
        let energy = (slots / largest).powi(2).min(self.n);
        let concentrated = CONSTANTS_TAIL * constants * largest * (energy / 2.0).sqrt();
        SlotError {
            deviation: self.scale * random,
            systematic: energy * self.systematic(ckks, largest),
            most: self.scale * TAIL * rare + concentrated,
        }
    }

    fn systematic(&self, ckks: &RefreshPlan, largest: f64) -> f64 {
        ckks.base_modulus() * ckks.systematic_of(largest / ckks.base_modulus())
    }
}
