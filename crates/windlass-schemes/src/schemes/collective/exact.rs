//! Decryption of BGV and BFV by several parties.

use std::sync::Arc;

use rand_core::RngCore;
use windlass_ring::slots::SlotRing;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::collective::{Flooding, Holder};
use windlass_rlwe::{Bound, Context, EvaluationKeys, Limits, NoiseModel, noise};
use zeroize::Zeroize;

use super::shares::{check_holder, log2_difference, needed, sum_of_shares};
use crate::error::{Error, Result};
use crate::plaintext::Plaintext;
use crate::schemes::client::{message, read};
use crate::schemes::engine::rules::{Metadata, NoiseRules};
use crate::schemes::engine::{Ciphertext, Engine};
use crate::schemes::publication::SEEN_BITS;
use crate::schemes::{Publication, Scheme};

/// One decryption of a BGV or BFV ciphertext by several parties: the ciphertext at the level of the shares, and their
/// noise.
///
/// The level is the lowest that has room for noise enough, since shares are then shortest. The noise is the most that
/// the level has room for and [`Flooding`] has, less 4 by which a wrong share is seen, and never less than what hides the error.
#[derive(Debug, Clone)]
pub struct ExactDecryption {
    ciphertext: Ciphertext,
    flooding: Flooding,
    needed_bits: f64,
    parties: u32,
}

/// log2 of the sum of the absolute values of the coefficients of e, ε = factor·m + t·e with m centred.
///
/// Coefficients of e are at most C_m·‖ε‖/t + 1/2, so that n of them are at most n·(C_m·‖ε‖/t + 1/2). Where m is a power
/// of two, the Euclidean norm of the coefficients of ε is at most the canonical norm, and the sum of their absolute
/// values √n times that: √n·‖ε‖/t + n/2.
fn error_bits(context: &Context, (t, noise): (u64, Bound)) -> f64 {
    let shape = context.params().shape();
    let (n, relative) = (shape.n() as f64, noise / Bound::of(t as f64));
    let factor = if context.params().m().is_power_of_two() { n.sqrt() } else { n * noise::coefficient_factor(shape) };
    (Bound::of(factor) * relative + Bound::of(n / 2.0)).bits()
}

/// A ciphertext at the level of shares, and their noise.
pub(super) struct Chosen {
    pub ciphertext: Ciphertext,
    pub flooding: Flooding,
    pub needed_bits: f64,
}

/// The lowest level that has room for noise enough, and the most noise that it has room for.
///
/// `bound(‖ε‖, model)` is what the result has beside the noise of shares, as a canonical norm; `spread(t, model)` is by
/// how much noise of 2^w makes its coefficients larger, divided by 2^w.
pub(super) fn choose(
    context: &Arc<Context>,
    (scheme, slot_ring): (Scheme, &Arc<SlotRing>),
    ciphertext: &Ciphertext,
    (publication, parties): (Publication, u32),
    bound: impl Fn(Bound, &NoiseModel) -> Bound,
    spread: impl Fn(u64, &NoiseModel) -> Bound,
) -> Result<Chosen> {
    publication.check()?;
    Limits::at_least(1).check("the number of parties that decrypt", parties)?;
    let key = ciphertext.key_id();
    ciphertext.check("decrypt with several parties", context, Some(key), scheme, slot_ring)?;
    let rules = NoiseRules::new(context.params(), slot_ring.prime(), slot_ring.modulus().exponent());
    let (t, model) = (rules.modulus(ciphertext.exponent()), rules.model(ciphertext.exponent()));
    let spread = spread(t, model).bits();
    // The bits that a level needs and has room for: C_m·bound + spread·2^w ≤ Q/2, less the bits that nothing fills.
    let at = |level: usize| {
        let lowered: Metadata = rules.switched(&ciphertext.metadata(), level, 2);
        let needed = needed(publication, error_bits(context, (t, lowered.noise))).ceil().max(0.0);
        let half = context.log2_modulus(level) - 1.0;
        let used = half - rules.capacity_at(level, bound(lowered.noise, model));
        let room = log2_difference(half - SEEN_BITS, used).map_or(f64::NEG_INFINITY, |bits| bits - spread);
        (needed, room.floor().min(f64::from(Flooding::MOST_BITS)))
    };
    let all: Vec<(f64, f64)> = (1..=ciphertext.level()).map(at).collect();
    let Some(index) = all.iter().position(|(needed, room)| room >= needed) else {
        let best = all.iter().max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
        let (needed_bits, left_bits) = best.map_or((0.0, 0.0), |(needed, room)| (*needed, room.max(0.0)));
        let operation = "the noise of a decryption by several parties";
        return Err(Error::CapacityExhausted { operation, needed_bits, left_bits });
    };
    let (needed_bits, room) = all[index];
    let keys = Arc::new(EvaluationKeys::of_pair(context, key));
    let ciphertext = Engine::new(scheme, slot_ring, keys)?.switched(ciphertext, index + 1).into_owned();
    Ok(Chosen { ciphertext, flooding: Flooding { bits: room as u32 }, needed_bits })
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
        let bound = |noise: Bound, _: &NoiseModel| noise;
        let chosen = choose(context, (scheme, slot_ring), ciphertext, (publication, parties), bound, |t, _| {
            // Coefficient by coefficient, at most 2^w from each party.
            Bound::of(t as f64 * f64::from(parties))
        })?;
        let Chosen { ciphertext, flooding, needed_bits } = chosen;
        Ok(Self { ciphertext, flooding, needed_bits, parties })
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
        check_holder(holder, self.ciphertext.key_id(), self.parties)?;
        // In the form of BFV, ε is t times the phase.
        let multiplier = if self.ciphertext.scheme() == Scheme::Bgv { self.t() } else { 1 };
        Ok(holder.decryption_share(&self.ciphertext.parts()[1], (self.flooding, multiplier), rng)?)
    }

    /// As [`Self::share`], less a mask: what is opened then is the message minus the masks of all parties that subtract
    /// one. With uniform masks each party is left with an additive share of the message modulo p^r, the reader with the
    /// last one.
    ///
    /// # Errors
    /// As there; [`Error::ContextMismatch`] for a mask of another plaintext ring than that of the ciphertext.
    pub fn masked_share(&self, holder: &Holder<'_>, mask: &Plaintext, rng: &mut impl RngCore) -> Result<Poly<Eval>> {
        let (ct, ring) = (&self.ciphertext, mask.slot_ring());
        let fits = ring.m() == ct.context().params().m() && ring.modulus().value() == self.t();
        if !fits {
            let (left, right) =
                (format!("values modulo {}", self.t()), format!("a mask modulo {}", ring.modulus().value()));
            return Err(Error::ContextMismatch { operation: "decrypt to additive shares", left, right });
        }
        let mut share = self.share(holder, rng)?;
        let mut masked = message(ct.context(), ct.scheme(), mask, ct.metadata().factor, ct.level());
        share.sub_assign(&masked);
        masked.zeroize();
        Ok(share)
    }

    /// The message, from the shares of all parties that take part.
    ///
    /// # Errors
    /// [`Error::NotDecryptable`] if the shares do not belong together: one is missing, twice there, of another
    /// ciphertext or of other parties; [`Error::ContextMismatch`] for polynomials of another ring or level.
    pub fn open(&self, slot_ring: &Arc<SlotRing>, shares: &[Poly<Eval>]) -> Result<Plaintext> {
        let (context, ct) = (self.ciphertext.context(), &self.ciphertext);
        let mut epsilon = sum_of_shares(ct.parts()[0].clone(), shares, self.parties)?;
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
