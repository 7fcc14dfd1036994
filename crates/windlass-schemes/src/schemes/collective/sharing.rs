//! CKKS ciphertexts become additive shares of their values, and additive shares a ciphertext.
//!
//! The phase X = Δ·m + e of a ciphertext is a polynomial of integers. Party j draws R_j, uniform on 2^{w+1} integers a
//! coefficient, sends λ_j·σ(j)·c_1 + R_j, and keeps −R_j. A reader, who is one of the parties, adds up what is sent and
//! c_0, which gives X + Σ R_j, and adds that to its own share. No integer wraps modulo Q, so all shares together are X: as
//! integers, and modulo every 2^k.
//!
//! Whoever lacks the share of one honest party sees X + R_j at most, within statistical distance Σ|X_i|/2^{w+1} of what
//! says nothing of X. So the noise hides the values themselves, not their error alone: w ≥ κ + log2(decryptions) +
//! log2 Σ|X_i| − 1. It cancels, and the values lose no bits: ciphertexts of any scale have shares, if the modulus has room
//! for w bits.

use std::sync::Arc;

use rand_core::RngCore;
use windlass_ring::rns::centred_words;
use windlass_ring::{Basis, Eval, Poly};
use windlass_rlwe::collective::{Flooding, Holder};
use windlass_rlwe::{Limits, PublicKey, check_same_keys};
use zeroize::Zeroizing;

use super::shares::{check_holder, needed, sum_of_shares};
use super::switch::{SwitchingShare, check_target, sums};
use crate::error::{Error, Result};
use crate::schemes::Publication;
use crate::schemes::ckks::{Ciphertext, CkksContext};

/// log2 of how many shares can be added up before integers wrap modulo Q.
const SUM_BITS: u32 = 2;

/// One party's additive share of the values of a ciphertext: n integers, one for each coefficient of the plaintext
/// polynomial, in units of 1/Δ. Wiped when dropped.
#[derive(Clone)]
pub struct RealShare {
    poly: Zeroizing<Poly<Eval>>,
    /// The shares of ciphertexts that were added up.
    terms: u32,
}

impl std::fmt::Debug for RealShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RealShare").field("terms", &self.terms).finish_non_exhaustive()
    }
}

impl RealShare {
    /// This party's share of the sum of two ciphertexts of one level and scale, from its shares of each.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] for shares over other primes; [`Error::OutOfRange`] for a sum of more than four
    /// ciphertexts, which could wrap: add ciphertexts instead.
    pub fn plus(&self, other: &Self) -> Result<Self> {
        if !Arc::ptr_eq(self.poly.ring(), other.poly.ring()) || self.poly.basis() != other.poly.basis() {
            let (left, right) = ("a share".into(), "a share of other primes".into());
            return Err(Error::ContextMismatch { operation: "add additive shares", left, right });
        }
        let terms = self.terms.saturating_add(other.terms);
        Limits::at_most(1 << SUM_BITS).check("the number of additive shares in a sum", terms)?;
        let mut sum = Self { terms, ..self.clone() };
        sum.poly.add_assign(&other.poly);
        Ok(sum)
    }

    /// ⌊x/2^dropped⌋ modulo 2^modulus_bits of every coefficient x: fixed-point numbers with the scale Δ/2^dropped, for
    /// protocols that compute modulo powers of two.
    ///
    /// With `dropped` 0 the sum of all parties' is the phase modulo 2^modulus_bits. Otherwise it is the phase over
    /// 2^dropped, less a number from 0 to the number of parties. [`ApproximateSharing::modulus_bits`] says how many
    /// bits hold it. Time and memory accesses do not depend on the share.
    ///
    /// **Warning.** The phase has the error of the ciphertext, which depends on the secret. Neither the sum nor what
    /// follows from it may be published before noise has been added that hides the error, as much as a decryption has
    /// ([`super::ApproximateDecryption::flooding`]).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless `modulus_bits` is 1 or more and both together are 128 at most.
    pub fn fixed_point(&self, dropped: u32, modulus_bits: u32) -> Result<Zeroizing<Vec<u128>>> {
        Limits::between(1, 128).check("the bits of the modulus of shares", modulus_bits)?;
        Limits::at_most(128 - modulus_bits).check("the bits that shares drop", dropped)?;
        let mut coefficients = centred_words(&Zeroizing::new((*self.poly).clone().into_coeff()));
        let mask = u128::MAX >> (128 - modulus_bits);
        coefficients.iter_mut().for_each(|x| *x = (*x >> dropped) & mask);
        Ok(coefficients)
    }

    /// The polynomial. Secret: wipe every copy.
    pub fn expose_poly(&self) -> &Poly<Eval> {
        &self.poly
    }
}

/// A CKKS ciphertext on its way to additive shares of its values, and back.
#[derive(Debug, Clone)]
pub struct ApproximateSharing {
    ciphertext: Ciphertext,
    mask: Flooding,
    parties: u32,
}

impl ApproximateSharing {
    /// The shares of a ciphertext for so many parties, two or more.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for the publication or fewer than two parties; [`Error::CapacityExhausted`] if the modulus
    /// of the ciphertext's level has no room for values and noise; [`Error::ContextMismatch`] for a ciphertext of other
    /// parameters.
    pub fn plan(
        context: &Arc<CkksContext>,
        ciphertext: &Ciphertext,
        (publication, parties): (Publication, u32),
    ) -> Result<Self> {
        publication.check()?;
        Limits::at_least(2).check("the number of parties that hold additive shares", parties)?;
        if !Arc::ptr_eq(context, ciphertext.context()) {
            let id = |context: &CkksContext| context.rlwe().params().id().to_string();
            let (left, right) = (id(context), id(ciphertext.context()));
            return Err(Error::ContextMismatch { operation: "decrypt to additive shares", left, right });
        }
        let (n, phase) = (context.spec().n as f64, ciphertext.log2_phase());
        let bits = needed(publication, phase + n.log2()).ceil().max(0.0);
        Limits::at_most(f64::from(Flooding::MOST_BITS)).check("the bits of the noise of a share", bits)?;
        // X and all R_j together, and sums of such shares, below Q/2.
        let needed_bits = phase.max(bits + f64::from(parties).log2()) + 1.0;
        let left_bits = context.rlwe().log2_modulus(ciphertext.level()) - 1.0 - f64::from(SUM_BITS);
        if needed_bits > left_bits {
            let operation = "the noise of additive shares";
            return Err(Error::CapacityExhausted { operation, needed_bits, left_bits });
        }
        Ok(Self { ciphertext: ciphertext.clone(), mask: Flooding { bits: bits as u32 }, parties })
    }

    /// The ciphertext.
    pub fn ciphertext(&self) -> &Ciphertext {
        &self.ciphertext
    }

    /// The primes of what is sent.
    pub fn basis(&self) -> &Basis {
        self.ciphertext.parts()[0].basis()
    }

    /// The noise of each share, which hides the values.
    pub fn mask(&self) -> Flooding {
        self.mask
    }

    /// The number of parties that take part.
    pub fn parties(&self) -> u32 {
        self.parties
    }

    /// A k for which the sum of all shares modulo 2^k says what the phase over 2^dropped is, as a signed number. For
    /// sums of shares ([`RealShare::plus`]) it is two more at most.
    pub fn modulus_bits(&self, dropped: u32) -> u32 {
        let size = (self.ciphertext.log2_phase() - f64::from(dropped)).max(f64::from(self.parties).log2());
        size.ceil() as u32 + 2
    }

    /// What one party sends, and its own share.
    ///
    /// **Warning.** As [`Holder::decryption_share`]: what is sent must be masked and encrypted for the reader.
    ///
    /// Cost: a product of polynomials and a transform for each prime.
    ///
    /// # Errors
    /// [`Error::Rlwe`] for parties that are not those of the plan, or a secret of another context.
    pub fn share(&self, holder: &Holder<'_>, rng: &mut impl RngCore) -> Result<(Poly<Eval>, RealShare)> {
        check_holder(holder, self.ciphertext.key_id(), self.parties)?;
        let (sent, poly) = holder.split_share(&self.ciphertext.parts()[1], self.mask, rng)?;
        Ok((sent, RealShare { poly, terms: 1 }))
    }

    /// The share of the reader, from the one that it kept and what all parties sent, the reader too.
    ///
    /// **Warning.** A wrong share is not seen: the values are then without meaning.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::ContextMismatch`] for another number of shares, or of other primes.
    pub fn open(&self, kept: &RealShare, sent: &[Poly<Eval>]) -> Result<RealShare> {
        self.check_own(kept)?;
        let mut poly = Zeroizing::new(sum_of_shares(self.ciphertext.parts()[0].clone(), sent, self.parties)?);
        poly.add_assign(&kept.poly);
        Ok(RealShare { poly, terms: 1 })
    }

    /// One party's part of a ciphertext of the shared values: its share, encrypted under the public key of all parties.
    ///
    /// Cost: that of an encryption.
    ///
    /// # Errors
    /// [`Error::OtherKeyPair`] for another public key, whose holder would see the error of the ciphertext
    /// ([`super::ApproximateSwitch`] hides it); [`Error::ContextMismatch`] for a public key or a share of another context
    /// or level; [`Error::OutOfRange`] for a sum of shares: add ciphertexts.
    pub fn encrypt(&self, public: &PublicKey, share: &RealShare, rng: &mut impl RngCore) -> Result<SwitchingShare> {
        self.check_public(public)?;
        self.check_own(share)?;
        let [mut first, second] = public.encrypt_zero(rng).map(|half| half.restrict(self.basis()));
        first.add_assign(&share.poly);
        Ok([first, second])
    }

    /// The ciphertext, from the parts of all parties. Beside the error that it had it has those of as many encryptions as
    /// there are parties.
    ///
    /// **Warning.** It states the bounds of the ciphertext that was shared: the parts have to be of its shares.
    ///
    /// # Errors
    /// [`Error::OtherKeyPair`], [`Error::ContextMismatch`] as [`Self::encrypt`]; [`Error::OutOfRange`] for another number
    /// of parts, [`Error::ContextMismatch`] for parts of other primes; [`Error::CapacityExhausted`] if the level has no
    /// room for the errors of so many encryptions.
    pub fn finish(&self, public: &PublicKey, parts: &[SwitchingShare]) -> Result<Ciphertext> {
        self.check_public(public)?;
        let masked = self.ciphertext.clone().with_masks(self.parties);
        let (needed_bits, left_bits) =
            (masked.log2_phase(), masked.context().rlwe().log2_modulus(masked.level()) - 1.5);
        if needed_bits >= left_bits {
            return Err(Error::CapacityExhausted { operation: "encrypt additive shares", needed_bits, left_bits });
        }
        let zero = Poly::zero(self.ciphertext.parts()[0].ring(), self.basis());
        let sum = sums(&zero, parts, self.parties)?;
        Ok(masked.under_key(public.key_id(), sum))
    }

    fn check_public(&self, public: &PublicKey) -> Result<()> {
        check_target(self.ciphertext.context().rlwe(), public)?;
        Ok(check_same_keys("encrypt additive shares", self.ciphertext.key_id(), public.key_id())?)
    }

    /// Refuses a share of other primes, and sums.
    fn check_own(&self, share: &RealShare) -> Result<()> {
        if !Arc::ptr_eq(share.poly.ring(), self.ciphertext.parts()[0].ring()) || share.poly.basis() != self.basis() {
            let (left, right) = ("the ciphertext".into(), "a share of other primes".into());
            return Err(Error::ContextMismatch { operation: "use an additive share", left, right });
        }
        Ok(Limits::at_most(1).check("the number of additive shares in a sum", share.terms)?)
    }
}
