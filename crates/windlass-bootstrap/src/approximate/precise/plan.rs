//! A refresh of several passes with its levels, bounds and keys, before anything runs.

use std::sync::Arc;

use windlass_schemes::error::Result;
use windlass_schemes::schemes::ckks::{Ciphertext, CkksContext};

use super::bound::{Bounds, PassBits};
use super::spec::PreciseRefreshSpec;
use crate::approximate::{PassShape, RefreshPlan};

/// A refresh of CKKS ciphertexts by several passes: see [`super`].
///
/// Ciphertexts have their own context ([`Self::context`]), whose scale is larger than that of the refresh of
/// a pass. Both share one context of keys: the ring, the primes, the secret and all evaluation keys.
#[derive(Debug)]
pub struct PreciseRefreshPlan {
    spec: PreciseRefreshSpec,
    context: Arc<CkksContext>,
    pass: Arc<RefreshPlan>,
    bounds: Bounds,
}

impl PreciseRefreshPlan {
    /// The plan of a specification.
    ///
    /// Cost: that of the plan of a CKKS refresh; seconds for n = 2^16.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::OutOfRange`] for numbers that no refresh has;
    /// [`windlass_schemes::Error::NoParameters`] if a pass gains fewer bits than its prime has; those of
    /// [`RefreshPlan::new`].
    pub fn new(spec: &PreciseRefreshSpec) -> Result<Self> {
        spec.check()?;
        let context = CkksContext::new(&spec.to_ckks())?;
        // Ciphertexts have another scale at the level of a result than at that of an input.
        let factor = context.scale(context.top_level()) / context.scale(context.base_level());
        let pass = Arc::new(RefreshPlan::above(&spec.refresh, Some(spec.floor(factor)))?);
        debug_assert!(Arc::ptr_eq(pass.context().rlwe(), context.rlwe()), "the same primes in the same order");
        debug_assert_eq!(pass.result_level(), context.top_level());
        let bounds = Bounds::new(spec, &context, &pass)?;
        Ok(Self { spec: spec.clone(), context, pass, bounds })
    }

    /// The plan of a specification with the fewest digits of key switches, and the special primes for
    /// them, that its assurance allows. Sets that are not called secure get as many digits as make P
    /// small.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::NoParameters`] if the chain is too long for 128 bits of security; those of
    /// [`Self::new`].
    pub fn of_shape(spec: &PreciseRefreshSpec) -> Result<Self> {
        spec.check()?;
        let shape = PassShape { refresh: &spec.refresh, chain_bits: spec.chain_bits() };
        shape.with_fewest_digits(&|refresh| Self::new(&PreciseRefreshSpec { refresh, ..spec.clone() }))
    }

    /// What the plan was made from.
    pub fn spec(&self) -> &PreciseRefreshSpec {
        &self.spec
    }

    /// The parameters of ciphertexts.
    pub fn context(&self) -> &Arc<CkksContext> {
        &self.context
    }

    /// The refresh of a pass. It shares the keys.
    pub fn pass(&self) -> &Arc<RefreshPlan> {
        &self.pass
    }

    /// What is right of a message after each pass.
    pub fn bits(&self) -> &[PassBits] {
        self.bounds.bits()
    }

    /// The largest bound on the values of a ciphertext, with the bound on their errors, that a refresh takes.
    pub fn most(&self) -> f64 {
        self.bounds.most()
    }

    /// −log2 of the stated deviation of a slot from a whole refresh, for numbers of absolute value 1.
    pub fn precision_bits(&self) -> f64 {
        self.bits().last().map_or(0.0, |bits| bits.mean)
    }

    /// Bits of the modulus that products may still drop of a ciphertext before it can no longer be refreshed.
    #[doc(hidden)]
    pub fn headroom_bits(&self, ct: &Ciphertext) -> f64 {
        ct.headroom_bits()
    }

    /// Whether a refresh accepts a ciphertext of its context: its levels and the bound on its values with their
    /// errors.
    #[doc(hidden)]
    pub fn accepts(&self, ct: &Ciphertext) -> bool {
        self.headroom_bits(ct) >= 0.0 && read_of(ct) <= self.most()
    }

    pub(super) fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The number of primes of the modulus that a pass reads, numbered from 1, before it is divided.
    pub(super) fn level_of(&self, pass: usize) -> usize {
        self.pass.context().base_level() + self.spec.passes - pass
    }
}

/// What no slot of the ring exceeds, the message and its error together: a first pass reads both.
pub(super) fn read_of(ct: &Ciphertext) -> f64 {
    ct.magnitude().max(ct.rest_magnitude()) + ct.whole_error_bound()
}
