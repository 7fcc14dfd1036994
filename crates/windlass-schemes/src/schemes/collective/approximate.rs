//! Decryption of CKKS by several parties.

use std::sync::Arc;

use num_complex::Complex64;
use rand_core::RngCore;
use windlass_ring::{Basis, Eval, Poly};
use windlass_rlwe::Limits;
use windlass_rlwe::collective::{Flooding, Holder};

use super::shares::{check_holder, needed, sum_of_shares};
use crate::error::{Error, Result};
use crate::schemes::Publication;
use crate::schemes::ckks::{Ciphertext, CkksContext, open_phase};

/// One decryption of a CKKS ciphertext by several parties: the primes of the shares, and their noise.
///
/// The primes are as few as have room for the values and the noise. The noise is the least that hides the error, since
/// the values keep it: they lose about κ + log2(decryptions) + log2 n bits of what the ciphertext has.
#[derive(Debug, Clone)]
pub struct ApproximateDecryption {
    ciphertext: Ciphertext,
    basis: Basis,
    flooding: Flooding,
    parties: u32,
    coalition_bits: f64,
}

/// What several parties have decrypted.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// The slots, with the noise of all shares in them. They are safe to publish.
    pub values: Vec<Complex64>,
    /// −log2 of the expected largest error, noise included.
    pub precision_bits: f64,
}

/// Why a plan cannot be: less than this many bits of the values would be left.
const LEAST_BITS: f64 = 1.0;

impl ApproximateDecryption {
    /// The decryption of a ciphertext by so many parties.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for the publication or no parties; [`Error::PrecisionExhausted`] if the noise leaves less
    /// than a bit of the values; [`Error::CapacityExhausted`] if it does not fit the modulus;
    /// [`Error::ContextMismatch`] for a ciphertext of other parameters.
    pub fn plan(
        context: &Arc<CkksContext>,
        ciphertext: &Ciphertext,
        (publication, parties): (Publication, u32),
    ) -> Result<Self> {
        const OPERATION: &str = "the noise of a decryption by several parties";
        publication.check()?;
        Limits::at_least(1).check("the number of parties that decrypt", parties)?;
        if !Arc::ptr_eq(context, ciphertext.context()) {
            let id = |context: &CkksContext| context.rlwe().params().id().to_string();
            let (left, right) = (id(context), id(ciphertext.context()));
            return Err(Error::ContextMismatch { operation: "decrypt with several parties", left, right });
        }
        let (n, scale) = (context.spec().n as f64, ciphertext.scale());
        // The Euclidean norm of the coefficients is at most the canonical norm, and their sum √n times that. A simulator
        // knows the values and rounds their n coefficients.
        let least = context.fresh_bound(ciphertext.level());
        let error_bits = (n.sqrt() * ciphertext.whole_error_bound().max(least) * scale + n / 2.0).log2();
        let bits = needed(publication, error_bits).ceil().max(0.0);
        Limits::at_most(f64::from(Flooding::MOST_BITS)).check("the bits of the noise of a share", bits)?;
        let (count, sum) = (2.0 * ciphertext.slots() as f64, bits + f64::from(parties).log2());
        // A coefficient of the noise has the variance 4^w/3 for each party.
        let deviation = |count: f64| (f64::from(parties) * count / 3.0).sqrt() * (bits - scale.log2()).exp2();
        // All but one of them subtract what they added.
        let of_one = [count, n].map(|count| deviation(count) / f64::from(parties).sqrt());
        let coalition_bits = ciphertext.clone().with_noise(of_one).precision_bits();
        let ciphertext = ciphertext.clone().with_noise([deviation(count), deviation(n)]);
        let left_bits = ciphertext.precision_bits() + ciphertext.magnitude().log2();
        if left_bits < LEAST_BITS {
            return Err(Error::PrecisionExhausted { left_bits });
        }
        let (phase, rlwe) = (ciphertext.log2_phase().max(sum) + 1.0, context.rlwe());
        let fits = |primes: &usize| rlwe.log2_modulus(*primes) > phase + 1.5;
        let Some(primes) = (1..=ciphertext.level()).find(fits) else {
            let left_bits = rlwe.log2_modulus(ciphertext.level()) - 1.5;
            return Err(Error::CapacityExhausted { operation: OPERATION, needed_bits: phase, left_bits });
        };
        Ok(Self {
            basis: rlwe.basis(primes),
            ciphertext,
            flooding: Flooding { bits: bits as u32 },
            parties,
            coalition_bits,
        })
    }

    /// The ciphertext, which states the noise of the shares too.
    pub fn ciphertext(&self) -> &Ciphertext {
        &self.ciphertext
    }

    /// The primes of shares.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// The noise of each share.
    pub fn flooding(&self) -> Flooding {
        self.flooding
    }

    /// The number of parties that take part.
    pub fn parties(&self) -> u32 {
        self.parties
    }

    /// −log2 of the expected largest error of the values.
    pub fn precision_bits(&self) -> f64 {
        self.ciphertext.precision_bits()
    }

    /// −log2 of the expected largest error of the values as a coalition sees them in the shares: parties subtract the noise
    /// that they added themselves, and that of at least one other party is left. No coalition sees more: a simulator makes
    /// all shares from the values with the noise of that one party.
    pub fn coalition_precision_bits(&self) -> f64 {
        self.coalition_bits
    }

    /// The share of one party.
    ///
    /// Cost: a product of polynomials and a transform for each prime of the shares.
    ///
    /// # Errors
    /// [`Error::Rlwe`] for parties that are not those of the plan, or a secret of another context.
    pub fn share(&self, holder: &Holder<'_>, rng: &mut impl RngCore) -> Result<Poly<Eval>> {
        check_holder(holder, self.ciphertext.key_id(), self.parties)?;
        let c1 = self.ciphertext.parts()[1].restrict(&self.basis);
        Ok(holder.decryption_share(&c1, (self.flooding, 1), rng)?)
    }

    /// The values, from the shares of all parties that take part.
    ///
    /// # Errors
    /// [`Error::NotDecryptable`] if the shares do not belong together: one is missing, twice there, of another
    /// ciphertext or of other parties; [`Error::ContextMismatch`] for polynomials of another ring or level.
    pub fn open(&self, shares: &[Poly<Eval>]) -> Result<Opened> {
        let ct = &self.ciphertext;
        let phase = sum_of_shares(ct.parts()[0].restrict(&self.basis), shares, self.parties)?;
        Ok(Opened { values: open_phase(ct, phase)?, precision_bits: ct.precision_bits() })
    }
}
