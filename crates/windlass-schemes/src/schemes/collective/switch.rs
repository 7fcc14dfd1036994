//! Switches of a ciphertext to the key of someone outside, by several parties.

use std::sync::Arc;

use rand_core::RngCore;
use windlass_ring::slots::SlotRing;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::collective::{Flooding, Holder};
use windlass_rlwe::{Bound, Context, NoiseModel, PublicKey, noise};

use super::exact::{Chosen, choose};
use super::shares::{check_holder, sum_of_shares};
use crate::error::{Error, Result};
use crate::schemes::ckks::{self, CkksContext};
use crate::schemes::{Ciphertext, Publication, Scheme};

/// The share of one party: two polynomials over the primes of [`ExactSwitch::ciphertext`].
pub type SwitchingShare = [Poly<Eval>; 2];

/// A BGV or BFV ciphertext on its way to another key: what several parties send instead of shares of a decryption, so
/// that only the holder of that key reads the values.
#[derive(Debug, Clone)]
pub struct ExactSwitch {
    ciphertext: Ciphertext,
    flooding: Flooding,
    parties: u32,
    target: Arc<PublicKey>,
}

/// What the sum of masks adds: t·(e·u + e'·s' + noise), for each party at most as a fresh encryption.
fn masks(model: &NoiseModel, parties: u32) -> Bound {
    model.fresh_public() * Bound::of(f64::from(parties))
}

/// The canonical norm of a sum of so much uniform noise, divided by 2^w.
fn uniform(context: &Context, model: &NoiseModel, parties: u32) -> Bound {
    let variance = context.params().n() as f64 * f64::from(parties) / 3.0;
    // The mean of −1/2 in each coefficient, of noise that is 2^w ≥ 1.
    model.random_element(variance, 1) + Bound::of(context.params().n() as f64 * f64::from(parties) / 2.0)
}

impl ExactSwitch {
    /// The switch of a ciphertext by so many parties to this public key, which was made in the same context.
    ///
    /// Cost: a modulus switch.
    ///
    /// # Errors
    /// As [`super::ExactDecryption::plan`]; [`Error::ContextMismatch`] for a public key of another context.
    pub fn plan(
        context: &Arc<Context>,
        slots: (Scheme, &Arc<SlotRing>),
        ciphertext: &Ciphertext,
        (publication, parties): (Publication, u32),
        target: &Arc<PublicKey>,
    ) -> Result<Self> {
        check_target(context, target)?;
        let coefficient = Bound::of(noise::coefficient_factor(context.params().shape()));
        let bound = |noise: Bound, model: &NoiseModel| noise + masks(model, parties);
        let spread = |t: u64, model: &NoiseModel| coefficient * Bound::of(t as f64) * uniform(context, model, parties);
        let Chosen { ciphertext, flooding, .. } =
            choose(context, slots, ciphertext, (publication, parties), bound, spread)?;
        Ok(Self { ciphertext, flooding, parties, target: Arc::clone(target) })
    }

    /// The ciphertext at the level of the shares.
    pub fn ciphertext(&self) -> &Ciphertext {
        &self.ciphertext
    }

    /// The noise of each share.
    pub fn flooding(&self) -> Flooding {
        self.flooding
    }

    /// The share of one party.
    ///
    /// Cost: that of an encryption and of a share of a decryption.
    ///
    /// # Errors
    /// As [`super::ExactDecryption::share`].
    pub fn share(&self, holder: &Holder<'_>, rng: &mut impl RngCore) -> Result<SwitchingShare> {
        check_holder(holder, self.ciphertext.key_id(), self.parties)?;
        let ct = &self.ciphertext;
        let multiplier = if ct.scheme() == Scheme::Bgv { ct.prime().pow(ct.exponent()) } else { 1 };
        Ok(holder.switching_share(&ct.parts()[1], &self.target, (self.flooding, multiplier), rng)?)
    }

    /// The ciphertext under the other key, from the shares of all parties that take part. It is one as any other: its
    /// noise bound holds if the shares are what they should be, and the holder of the key can compute with it.
    ///
    /// **Warning.** A wrong share is seen when the ciphertext is decrypted.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for another number of shares, [`Error::ContextMismatch`] for shares of other primes.
    pub fn finish(&self, shares: &[SwitchingShare]) -> Result<Ciphertext> {
        let ct = &self.ciphertext;
        let [first, second] = sums(&ct.parts()[0], shares, self.parties)?;
        let (params, t) = (ct.context().params(), ct.prime().pow(ct.exponent()));
        let model = NoiseModel::new(params, t);
        let flooding = Bound::of(t as f64) * Bound::from_bits(f64::from(self.flooding.bits));
        let noise = ct.noise() + masks(&model, self.parties) + flooding * uniform(ct.context(), &model, self.parties);
        Ok(ct.under_key(self.target.key_id(), [first, second], noise))
    }
}

/// A CKKS ciphertext on its way to another key, as [`ExactSwitch`].
#[derive(Debug, Clone)]
pub struct ApproximateSwitch {
    ciphertext: ckks::Ciphertext,
    flooding: Flooding,
    parties: u32,
    target: Arc<PublicKey>,
}

impl ApproximateSwitch {
    /// The switch of a ciphertext by so many parties to this public key, which was made in the same context.
    ///
    /// # Errors
    /// As [`super::ApproximateDecryption::plan`]; [`Error::ContextMismatch`] for a public key of another context.
    pub fn plan(
        context: &Arc<CkksContext>,
        ciphertext: &ckks::Ciphertext,
        (publication, parties): (Publication, u32),
        target: &Arc<PublicKey>,
    ) -> Result<Self> {
        check_target(context.rlwe(), target)?;
        let plan = super::ApproximateDecryption::plan(context, ciphertext, (publication, parties))?;
        let masked = plan.ciphertext().clone().with_masks(parties);
        let (needed_bits, left_bits) = (masked.log2_phase(), context.rlwe().log2_modulus(masked.level()) - 1.5);
        if needed_bits >= left_bits {
            let operation = "the noise of a decryption by several parties";
            return Err(Error::CapacityExhausted { operation, needed_bits, left_bits });
        }
        Ok(Self { ciphertext: masked, flooding: plan.flooding(), parties, target: Arc::clone(target) })
    }

    /// The ciphertext, which states the noise of the shares too.
    pub fn ciphertext(&self) -> &ckks::Ciphertext {
        &self.ciphertext
    }

    /// The noise of each share.
    pub fn flooding(&self) -> Flooding {
        self.flooding
    }

    /// The share of one party.
    ///
    /// Cost and errors: as [`ExactSwitch::share`].
    ///
    /// # Errors
    /// As there.
    pub fn share(&self, holder: &Holder<'_>, rng: &mut impl RngCore) -> Result<SwitchingShare> {
        check_holder(holder, self.ciphertext.key_id(), self.parties)?;
        Ok(holder.switching_share(&self.ciphertext.parts()[1], &self.target, (self.flooding, 1), rng)?)
    }

    /// The ciphertext under the other key. As [`ExactSwitch::finish`].
    ///
    /// # Errors
    /// As there.
    pub fn finish(&self, shares: &[SwitchingShare]) -> Result<ckks::Ciphertext> {
        let parts = sums(&self.ciphertext.parts()[0], shares, self.parties)?;
        Ok(self.ciphertext.under_key(self.target.key_id(), parts))
    }
}

pub(super) fn check_target(context: &Arc<Context>, target: &PublicKey) -> Result<()> {
    if Arc::ptr_eq(context, target.context()) {
        return Ok(());
    }
    let id = |context: &Context| context.params().id().to_string();
    let (left, right) = (id(context), id(target.context()));
    Err(Error::ContextMismatch { operation: "switch to the key of someone outside", left, right })
}

/// (c_0 + Σ first halves, Σ second halves).
pub(super) fn sums(c0: &Poly<Eval>, shares: &[SwitchingShare], parties: u32) -> Result<SwitchingShare> {
    let [first, second] = [0, 1].map(|half| shares.iter().map(|share| share[half].clone()).collect::<Vec<_>>());
    let zero = Poly::zero(c0.ring(), c0.basis());
    Ok([sum_of_shares(c0.clone(), &first, parties)?, sum_of_shares(zero, &second, parties)?])
}
