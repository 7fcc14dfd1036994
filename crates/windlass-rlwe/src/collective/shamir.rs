//! Shares of which any t parties have enough (Shamir 1979, over the residues of each prime).

use rand_core::RngCore;
use windlass_ring::kernels::Modulus;
use windlass_ring::{Basis, Eval, Poly, sample};
use zeroize::Zeroize;

use super::common::{Common, KeyName};
use super::secret::SecretShare;
use crate::error::RlweError;
use crate::key_id::check_same_keys;
use crate::keys::SecretPoly;
use crate::limits::Limits;

/// What one party deals to another: the value at the other's number of a random polynomial of degree t − 1 whose value
/// at 0 is the dealer's secret. **Secret**: it must reach that party alone.
pub struct DealtShare {
    common: Common,
    value: SecretPoly<Eval>,
}

impl std::fmt::Debug for DealtShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DealtShare").finish_non_exhaustive()
    }
}

/// The bases of dealt shares: all primes.
fn basis(common: &Common) -> Basis {
    common.context().base_qp(common.context().top_level())
}

impl DealtShare {
    /// A share from its polynomial, as a file holds it.
    ///
    /// # Errors
    /// [`RlweError::BadKey`] unless it has all primes of the parameters.
    pub fn from_poly(common: &Common, poly: Poly<Eval>) -> Result<Self, RlweError> {
        // Wiped, whatever becomes of it.
        let value = SecretPoly(poly);
        if !std::sync::Arc::ptr_eq(value.0.ring(), common.context().ring()) || value.0.basis() != &basis(common) {
            return Err(RlweError::BadKey { what: "dealt share" });
        }
        Ok(Self { common: common.clone(), value })
    }

    /// Its polynomial. Secret: wipe every copy.
    pub fn expose_poly(&self) -> &Poly<Eval> {
        &self.value.0
    }

    /// Adds the share that another party dealt to the same one.
    ///
    /// # Errors
    /// [`RlweError::OtherKeyPair`], [`RlweError::BadKey`] for a share of another key or context.
    pub fn add(&mut self, other: &Self) -> Result<(), RlweError> {
        check_same_keys("add dealt shares", self.common.key_id(), other.common.key_id())?;
        check_context(&self.common, &other.common, "dealt share")?;
        self.value.0.add_assign(&other.value.0);
        Ok(())
    }
}

/// The shares of a party's secret for the parties 1 to n, in this order: any `threshold` of them have the secret, fewer
/// know nothing of it.
///
/// The polynomial follows from the secret and its seed of errors: a party that deals again deals the same shares.
///
/// Cost: n·(t − 1) products with a number for each residue.
///
/// # Errors
/// [`RlweError::OutOfRange`] unless the threshold is from 1 to the number of parties.
pub fn deal(secret: &SecretShare, threshold: u32) -> Result<Vec<DealtShare>, RlweError> {
    let common = secret.common();
    let parties = common.parties();
    check_threshold(threshold, parties)?;
    let (ring, basis) = (common.context().ring(), basis(common));
    // The coefficients of X^1 to X^{t−1} come from a seed of their own, which is wiped. How long their sampling takes
    // depends on the candidates that are thrown away alone.
    let mut seed = [0; 32];
    let words = threshold.to_le_bytes();
    secret.generator("windlass dealt shares 1", KeyName::Public, &words).fill_bytes(&mut seed);
    let coefficients: Vec<SecretPoly<Eval>> =
        (1..threshold).map(|power| SecretPoly(sample::uniform(ring, &basis, &seed, power))).collect();
    seed.zeroize();
    let value_at = |point: u32| {
        // Horner's rule, the highest coefficient first.
        let mut value = SecretPoly(Poly::<Eval>::zero(ring, &basis));
        for coefficient in coefficients.iter().rev() {
            value.0.add_assign(&coefficient.0);
            value.0.mul_scalar_assign(|q| q.reduce(point.into()));
        }
        value.0.add_assign(secret.eval());
        DealtShare { common: common.clone(), value }
    };
    Ok((1..=parties).map(value_at).collect())
}

/// # Errors
/// [`RlweError::BadKey`] for two contexts.
fn check_context(left: &Common, right: &Common, what: &'static str) -> Result<(), RlweError> {
    match std::sync::Arc::ptr_eq(left.context(), right.context()) {
        true => Ok(()),
        false => Err(RlweError::BadKey { what }),
    }
}

fn check_threshold(threshold: u32, parties: u32) -> Result<(), RlweError> {
    Ok(Limits::between(1, parties).with("the number of parties").check("the threshold", threshold)?)
}

/// A party's share of the collective secret, of which any t parties have enough.
pub struct ThresholdShare {
    common: Common,
    party: u32,
    threshold: u32,
    value: SecretPoly<Eval>,
}

impl std::fmt::Debug for ThresholdShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { party, threshold, .. } = self;
        f.debug_struct("ThresholdShare").field("party", party).field("threshold", threshold).finish_non_exhaustive()
    }
}

impl ThresholdShare {
    /// The sum of what all parties dealt to party `party`, its own share included.
    ///
    /// # Errors
    /// [`RlweError::OutOfRange`] unless there is one from each party; for the threshold and the number of the party;
    /// [`RlweError::OtherKeyPair`], [`RlweError::BadKey`] for shares of another key or context.
    pub fn new(party: u32, threshold: u32, dealt: Vec<DealtShare>) -> Result<Self, RlweError> {
        let count = dealt.len();
        let mut dealt = dealt.into_iter();
        let missing = || Limits::at_least(2).with("one from each party").refuse("the number of dealt shares", count);
        let mut sum = dealt.next().ok_or_else(missing)?;
        let parties = sum.common.parties() as usize;
        let limits = Limits::between(parties, parties).with("one from each party");
        limits.check("the number of dealt shares", count)?;
        dealt.try_for_each(|share| sum.add(&share))?;
        Self::of_sum(party, threshold, sum)
    }

    /// The share of a party from the sum of what all parties dealt to it.
    ///
    /// # Errors
    /// [`RlweError::OutOfRange`] for the threshold and the number of the party.
    pub fn of_sum(party: u32, threshold: u32, sum: DealtShare) -> Result<Self, RlweError> {
        let parties = sum.common.parties();
        check_threshold(threshold, parties)?;
        Limits::between(1, parties).check("the number of the party", party)?;
        Ok(Self { common: sum.common, party, threshold, value: sum.value })
    }

    /// What the parties agreed on.
    pub fn common(&self) -> &Common {
        &self.common
    }

    /// The number of the party, from 1 on.
    pub fn party(&self) -> u32 {
        self.party
    }

    /// How many parties are needed.
    pub fn threshold(&self) -> u32 {
        self.threshold
    }

    /// Its polynomial. Secret: wipe every copy.
    pub fn expose_poly(&self) -> &Poly<Eval> {
        &self.value.0
    }

    /// λ_j·σ(j) over the primes of a level: the additive share of this party where exactly these take part.
    ///
    /// # Errors
    /// As [`check_participants`]; [`RlweError::OutOfRange`] if this party is not among them.
    pub(super) fn restricted(&self, participants: &[u32], basis: &Basis) -> Result<SecretPoly<Eval>, RlweError> {
        check_participants(participants, self.threshold, self.common.parties())?;
        if !participants.contains(&self.party) {
            return Err(Limits::only("one of the parties that take part")
                .refuse("the number of the party", self.party)
                .into());
        }
        Ok(SecretPoly(self.value.0.restrict_times(basis, |q| lagrange(self.party, participants, q))))
    }
}

/// Π_{k≠j} k/(k − j) modulo a prime.
fn lagrange(party: u32, participants: &[u32], q: Modulus) -> u64 {
    let others = participants.iter().filter(|&&k| k != party);
    others.fold(1, |product, &k| {
        let difference = q.sub(q.reduce(k.into()), q.reduce(party.into()));
        q.mul(product, q.mul(q.reduce(k.into()), q.inv(difference)))
    })
}

/// Refuses lists of parties that cannot decrypt together: it has to be ascending, with exactly `threshold` numbers from
/// 1 to `parties`.
///
/// # Errors
/// [`RlweError::OutOfRange`].
pub fn check_participants(participants: &[u32], threshold: u32, parties: u32) -> Result<(), RlweError> {
    let limits = Limits::between(threshold as usize, threshold as usize).with("the threshold");
    limits.check("the number of parties that take part", participants.len())?;
    for &party in participants {
        Limits::between(1, parties).check("the number of a party", party)?;
    }
    match participants.windows(2).find(|pair| pair[0] >= pair[1]) {
        None => Ok(()),
        Some(pair) => {
            let limits = Limits::at_least(pair[0] + 1).with("for the numbers are ascending, each once");
            Err(limits.refuse("the number of a party", pair[1]).into())
        }
    }
}
