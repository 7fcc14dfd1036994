//! A refresh through CKKS with its levels, bounds and keys, before anything runs.

use std::sync::Arc;

use windlass_ring::kernels::Isa;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::{Bound, Context, NoiseModel};
use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::{Ciphertext, products_left};

use super::spec::ExactRefreshSpec;
use crate::approximate::{FAILURE_BITS, PassError, RefreshPlan, rounding};

/// A refresh of BGV and BFV ciphertexts through CKKS: see [`super`].
///
/// Exact ciphertexts and the CKKS refresh inside share one context of keys ([`Self::context`]): the
/// ring, the primes, the secret and all evaluation keys.
#[derive(Debug)]
pub struct ExactRefreshPlan {
    spec: ExactRefreshSpec,
    ckks: Arc<RefreshPlan>,
    slot_ring: Arc<SlotRing>,
    error: PassError,
    /// The largest coefficient of ε at the end of each pass, at the modulus of the next one.
    left: Vec<f64>,
    /// The bound on the canonical norm of ε after the last pass, at the highest modulus.
    result: Bound,
}

impl ExactRefreshPlan {
    /// The plan of a specification.
    ///
    /// Cost: that of the plan of a CKKS refresh; seconds for n = 2^16.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a plaintext modulus or passes out of range, and for t a prime of the
    /// chain; [`Error::NoParameters`] if a pass gains fewer bits than its prime has; those of
    /// [`RefreshPlan::new`].
    pub fn new(spec: &ExactRefreshSpec) -> Result<Self> {
        spec.check()?;
        let ckks = Arc::new(RefreshPlan::above(&spec.refresh, Some(spec.floor()))?);
        ckks.context().rlwe().params().check_plaintext_prime(spec.prime)?;
        let m = 2 * spec.refresh.n as u64;
        let slot_ring = match spec.prime {
            2 => SlotRing::of_coefficients(m, spec.exponent, Isa::best())?,
            prime => SlotRing::new(m, prime, spec.exponent, Isa::best())?,
        };
        // A modulus switch adds t roundings to a coefficient of ε.
        let of_a_switch = spec.plaintext_modulus() as f64 * rounding(spec.refresh.n, 1);
        let error = PassError::new(&ckks, of_a_switch, spec.most())?;
        let (left, result) = bounds(spec, &ckks, &error)?;
        Ok(Self { spec: spec.clone(), ckks, slot_ring: Arc::new(slot_ring), error, left, result })
    }

    /// What the plan was made from.
    pub fn spec(&self) -> &ExactRefreshSpec {
        &self.spec
    }

    /// The context of keys and of exact ciphertexts.
    pub fn context(&self) -> &Arc<Context> {
        self.ckks.context().rlwe()
    }

    /// The CKKS refresh of a pass. It shares context and keys.
    pub fn ckks(&self) -> &Arc<RefreshPlan> {
        &self.ckks
    }

    /// The plaintext ring. Modulo a power of two it has no slots, and plaintexts are made of
    /// coefficients ([`SlotRing::of_coefficients`]).
    pub fn slot_ring(&self) -> &Arc<SlotRing> {
        &self.slot_ring
    }

    /// The level of a refreshed ciphertext. Encryptions need no higher one.
    pub fn output_level(&self) -> usize {
        self.ckks.result_level()
    }

    /// The level at which a pass reads the error, pass 1 at the base.
    pub(super) fn level_of(&self, pass: usize) -> usize {
        self.ckks.context().base_level() + pass - 1
    }

    pub(super) fn error(&self) -> &PassError {
        &self.error
    }

    /// log2 of the noise bound of a refreshed ciphertext ([`Ciphertext::log2_noise`]), for an input
    /// that pass 1 can just read.
    pub fn output_noise(&self) -> f64 {
        self.result.bits()
    }

    /// Bits of capacity of a refreshed ciphertext.
    pub fn output_bits(&self) -> f64 {
        self.noise().capacity(self.context().log2_modulus(self.output_level()), self.result)
    }

    /// Bits of capacity that a ciphertext must have to be refreshed.
    pub fn least_input_bits(&self) -> f64 {
        let base = self.ckks.base_modulus().log2();
        base - 1.0 - (self.error.most - self.error.rounding).log2()
    }

    /// −log2 of a bound on the probability that a refresh with all its passes exceeds its stated noise: at
    /// each pass the bound on the roundings of a modulus switch, and the one on the errors of the refresh.
    ///
    /// It rests on two assumptions. The deviation inside the sine is measured on 4096 sample values and
    /// multiplied by 1.5: that bounds it. And the roundings of constants, which are fixed, behave like random
    /// numbers.
    pub fn failure_bits(&self) -> f64 {
        FAILURE_BITS - (2.0 * self.spec.passes as f64).log2()
    }

    /// How many bits of noise each pass removes, by the stated bounds.
    pub fn gained_bits(&self) -> Vec<f64> {
        let largest = |pass: usize| if pass == 0 { self.error.most } else { self.left[pass - 1] };
        let gain = |pass| (largest(pass) / self.error.coefficient(&self.ckks, largest(pass))).log2();
        (0..self.spec.passes).map(gain).collect()
    }

    /// The number of products in sequence after which a refreshed ciphertext can be refreshed again.
    pub fn depth_between(&self) -> u32 {
        let start = (self.output_level(), self.result);
        products_left(self.context().params(), &self.noise(), start, self.least_input_bits())
    }

    /// What no coefficient of ε exceeds when a ciphertext is brought to a level.
    pub(super) fn coefficient_at(&self, ct: &Ciphertext, level: usize) -> f64 {
        let change = self.context().log2_modulus(level) - self.context().log2_modulus(ct.level());
        let rounded = if ct.level() > level { self.error.rounding } else { 0.0 };
        (ct.log2_noise() + change).exp2() + rounded
    }

    fn noise(&self) -> NoiseModel {
        NoiseModel::new(self.context().params(), self.spec.plaintext_modulus())
    }
}

/// The largest coefficient of ε after each pass, at the modulus of the next one, and the norm after the
/// last pass.
fn bounds(spec: &ExactRefreshSpec, ckks: &RefreshPlan, error: &PassError) -> Result<(Vec<f64>, Bound)> {
    let first = ckks.context().base_level();
    let prime = |pass: usize| ckks.context().rlwe().params().q_primes()[first + pass].value() as f64;
    let (mut largest, mut left) = (error.most, Vec::new());
    for pass in 0..spec.passes {
        if pass + 1 == spec.passes {
            let norm = Bound::of(error.norm(ckks, largest)) * Bound::of(prime(pass));
            return Ok((left, norm));
        }
        largest = error.coefficient(ckks, largest) * prime(pass) + error.rounding;
        if largest > error.most {
            let gained = (error.most / error.coefficient(ckks, error.most)).log2();
            let (bits, n) = (spec.pass_bits, spec.refresh.n);
            let reason = format!(
                "n = {n}: a pass gains {gained:.1} bits beside the roundings of a modulus switch, too few for its prime of {bits} bits; choose larger scales of the sine, or smaller primes"
            );
            return Err(Error::NoParameters { reason });
        }
        left.push(largest);
    }
    unreachable!("there is a pass at least")
}
