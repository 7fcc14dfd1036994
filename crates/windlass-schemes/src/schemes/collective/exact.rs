//! Decryption of BGV and BFV by several parties.

use std::sync::Arc;

use rand_core::RngCore;
use windlass_ring::slots::SlotRing;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::collective::Flooding;
use windlass_rlwe::{Bound, Context, EvaluationKeys, Limits, noise};

use super::{Holder, log2_difference, needed};
use crate::error::{Error, Result};
use crate::plaintext::Plaintext;
use crate::schemes::client::read;
use crate::schemes::engine::rules::{Metadata, NoiseRules};
use crate::schemes::engine::{Ciphertext, Engine};
use crate::schemes::{Publication, Scheme};

/// One decryption of a BGV or BFV ciphertext by several parties: the ciphertext at the level of the shares, and their
/// noise.
///
/// The level is the lowest that has room for noise enough, since shares are then shortest. The noise is the most that
/// the level has room for, less [`SEEN_BITS`], and never less than what hides the error.
#[derive(Debug, Clone)]
pub struct ExactDecryption {
    ciphertext: Ciphertext,
    flooding: Flooding,
    needed_bits: f64,
    parties: u32,
}

/// Bits of the modulus that no decryption fills. A phase that does not belong to the ciphertext is uniform: each of its
/// n coefficients looks right with a probability of 2^−4, so that a wrong share is seen.
const SEEN_BITS: f64 = 4.0;

/// What decryptions of one ciphertext need and have room for at a level.
struct AtLevel {
    needed: f64,
    room: f64,
}

/// log2 of the sum of the absolute values of the coefficients of e, ε = factor·m + t·e with m centred.
///
/// Coefficients of e are at most C_m·‖ε‖/t + 1/2, so that n of them are at most n·(C_m·‖ε‖/t + 1/2). Where m is a power
/// of two, the Euclidean norm of the coefficients is at most the canonical norm, and the sum √n times that:
/// √n·(‖ε‖/t + n/2).
fn error_bits(context: &Context, (t, noise): (u64, Bound)) -> f64 {
    let shape = context.params().shape();
    let (n, relative) = (shape.n() as f64, noise / Bound::of(t as f64));
    let by_coefficient = Bound::of(n) * (Bound::of(noise::coefficient_factor(shape)) * relative + Bound::of(0.5));
    if !context.params().m().is_power_of_two() {
        return by_coefficient.bits();
    }
    let by_norm = Bound::of(n.sqrt()) * (relative + Bound::of(n / 2.0));
    by_coefficient.bits().min(by_norm.bits())
}

impl ExactDecryption {
    /// The decryption of a ciphertext by so many parties.
    ///
    /// Cost: a modulus switch.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for the publication or no parties; [`Error::CapacityExhausted`] if no level has room for
    /// the noise; [`Error::ContextMismatch`], [`Error::OtherSlotOrder`] for a ciphertext of other parameters.
    pub fn plan(
        context: &Arc<Context>,
        (scheme, slot_ring): (Scheme, &Arc<SlotRing>),
        ciphertext: &Ciphertext,
        (publication, parties): (Publication, u32),
    ) -> Result<Self> {
        publication.check()?;
        Limits::at_least(1).check("the number of parties that decrypt", parties)?;
        let key = ciphertext.key_id();
        ciphertext.check("decrypt with several parties", context, Some(key), scheme, slot_ring)?;
        let rules = NoiseRules::new(context.params(), slot_ring.prime(), slot_ring.modulus().exponent());
        let t = rules.modulus(ciphertext.exponent());
        let at = |level: usize| {
            let lowered: Metadata = rules.switched(&ciphertext.metadata(), level, 2);
            let needed = needed(publication, error_bits(context, (t, lowered.noise))).ceil().max(0.0);
            // C_m·‖ε‖ + t·parties·2^w ≤ Q/2, less the bits that nothing fills.
            let half = context.log2_modulus(level) - 1.0 - SEEN_BITS;
            let used = context.log2_modulus(level) - 1.0 - rules.capacity_at(level, lowered.noise);
            let room = log2_difference(half, used)
                .map_or(f64::NEG_INFINITY, |bits| bits - (t as f64 * f64::from(parties)).log2());
            AtLevel { needed, room: room.floor() }
        };
        let all: Vec<AtLevel> = (1..=ciphertext.level()).map(at).collect();
        let Some(index) = all.iter().position(|at| at.room >= at.needed) else {
            let best = all.iter().max_by(|a, b| (a.room - a.needed).total_cmp(&(b.room - b.needed)));
            let (needed_bits, left_bits) = best.map_or((0.0, 0.0), |at| (at.needed, at.room.max(0.0)));
            return Err(Error::CapacityExhausted {
                operation: "the noise of a decryption by several parties",
                needed_bits,
                left_bits,
            });
        };
        let keys = Arc::new(EvaluationKeys::of_pair(context, key));
        let engine = Engine::new(scheme, slot_ring, keys)?;
        let ciphertext = engine.switched(ciphertext, index + 1).into_owned();
        let bits = (all[index].room as u32).min(Flooding::MOST_BITS);
        Ok(Self { ciphertext, flooding: Flooding { bits }, needed_bits: all[index].needed, parties })
    }

    /// The ciphertext at the level of the shares.
    pub fn ciphertext(&self) -> &Ciphertext {
        &self.ciphertext
    }

    /// The noise of each share.
    pub fn flooding(&self) -> Flooding {
        self.flooding
    }

    /// log2 of the least noise that hides the error.
    pub fn needed_bits(&self) -> f64 {
        self.needed_bits
    }

    /// The number of parties that take part.
    pub fn parties(&self) -> u32 {
        self.parties
    }

    fn t(&self) -> u64 {
        self.ciphertext.prime().pow(self.ciphertext.exponent())
    }

    /// The share of one party.
    ///
    /// Cost: a product of polynomials and a transform for each prime of the level.
    ///
    /// # Errors
    /// [`Error::Rlwe`] for parties that are not those of the plan, or a secret of another context.
    pub fn share(&self, holder: &Holder<'_>, rng: &mut impl RngCore) -> Result<Poly<Eval>> {
        holder.check(self.ciphertext.key_id(), self.parties)?;
        // In the form of BFV, ε is t times the phase.
        let multiplier = if self.ciphertext.scheme() == Scheme::Bgv { self.t() } else { 1 };
        holder.share(&self.ciphertext.parts()[1], (self.flooding, multiplier), rng)
    }

    /// The message, from the shares of all parties that take part.
    ///
    /// # Errors
    /// [`Error::NotDecryptable`] if the shares do not belong together: one is missing, twice there, of another
    /// ciphertext or of other parties; [`Error::ContextMismatch`] for polynomials of another ring or level.
    pub fn open(&self, slot_ring: &Arc<SlotRing>, shares: &[Poly<Eval>]) -> Result<Plaintext> {
        let (context, ct) = (self.ciphertext.context(), &self.ciphertext);
        let mut epsilon = super::sum_of_shares(ct.parts()[0].clone(), shares, self.parties)?;
        if ct.scheme() == Scheme::Bfv {
            epsilon.mul_scalar_assign(|q| q.reduce(self.t()));
        }
        // As a norm whose coefficients are as large as those of the sum.
        let shape = context.params().shape();
        let noise =
            Bound::from_bits(f64::from(self.flooding.bits)) * Bound::of(self.t() as f64 * f64::from(self.parties));
        let largest = Bound::of(noise::coefficient_factor(shape)) * ct.noise() + noise;
        let capacity = context.log2_modulus(ct.level()) - 1.0 - largest.bits();
        read(ct, epsilon, slot_ring, capacity)
    }
}
