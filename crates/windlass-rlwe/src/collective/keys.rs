//! Shares of keys, and their sums.

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use windlass_ring::kernels::rows;
use windlass_ring::{Basis, Eval, Poly, sample};
use zeroize::Zeroizing;

use super::common::{Common, KeyName};
use super::secret::SecretShare;
use crate::error::RlweError;
use crate::evaluation::EvaluationKeys;
use crate::key_id::{KeyId, check_same_keys};
use crate::keys::{PublicKey, zero_under};
use crate::secret_rng::SecretRng;
use crate::switching::SwitchingKey;

/// Which message of the making of a key a share is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// The only message of a public or Galois key; the first of a relinearisation key.
    First,
    /// The second message of a relinearisation key.
    Second,
}

/// A share of a key: polynomials to be added to those of the other parties. It may be public.
#[derive(Debug, Clone)]
pub struct KeyShare {
    id: KeyId,
    name: KeyName,
    stage: Stage,
    polys: Vec<Poly<Eval>>,
}

impl KeyShare {
    /// The primes of the polynomials of a share, and how many there are.
    ///
    /// # Errors
    /// [`RlweError::OutOfRange`], [`RlweError::Ring`] for a key that the parameters do not have;
    /// [`RlweError::BadKey`] for a second message of a key that has one.
    pub fn layout(common: &Common, name: KeyName, stage: Stage) -> Result<(Basis, usize), RlweError> {
        common.check(name)?;
        let context = common.context();
        let of_level = |level| (context.covering_basis(level), SwitchingKey::digits(context, level));
        Ok(match (name, stage) {
            (KeyName::Public, Stage::First) => (context.basis(context.top_level()), 1),
            (KeyName::Galois { level, .. }, Stage::First) | (KeyName::Relinearisation { level }, Stage::Second) => {
                of_level(level)
            }
            (KeyName::Relinearisation { level }, Stage::First) => {
                let (basis, digits) = of_level(level);
                (basis, 2 * digits)
            }
            (_, Stage::Second) => return Err(RlweError::BadKey { what: "second message" }),
        })
    }

    /// A share from its polynomials, as a file holds it.
    ///
    /// # Errors
    /// As [`Self::layout`]; [`RlweError::BadKey`] unless the polynomials are as it says.
    pub fn from_polys(common: &Common, name: KeyName, stage: Stage, polys: Vec<Poly<Eval>>) -> Result<Self, RlweError> {
        let (basis, count) = Self::layout(common, name, stage)?;
        let ring = common.context().ring();
        let fits = |poly: &Poly<Eval>| std::sync::Arc::ptr_eq(poly.ring(), ring) && poly.basis() == &basis;
        if polys.len() != count || !polys.iter().all(fits) {
            return Err(RlweError::BadKey { what: "share of a key" });
        }
        Ok(Self { id: common.key_id(), name, stage, polys })
    }

    /// The key that it is a share of.
    pub fn name(&self) -> KeyName {
        self.name
    }

    /// Which message it is.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Its polynomials.
    pub fn polys(&self) -> &[Poly<Eval>] {
        &self.polys
    }
}

/// −a_k·target + e_k + P·g_k·source for each digit k, a_k from a seed.
fn linear(
    common: &Common,
    level: usize,
    seed: &[u8; 32],
    (source, target): (Option<&Poly<Eval>>, &Poly<Eval>),
    errors: &mut SecretRng,
) -> Vec<Poly<Eval>> {
    let context = common.context();
    let (ring, special) = (context.ring(), context.special());
    let groups = &context.gadget().groups()[..SwitchingKey::digits(context, level)];
    let errors = errors_of(common, groups.len(), errors);
    Poly::filled_batch(ring, &context.covering_basis(level), groups.len(), |index, q, rows| {
        let mut a = vec![0; ring.n()];
        for (k, b) in rows.iter_mut().enumerate() {
            sample::uniform_row(index, q, seed, k as u32, &mut a);
            ring.evaluate_signed(index, &errors[k], b);
            rows::neg_assign(ring.isa(), q, b);
            rows::mul_add_assign(ring.isa(), q, b, &a, target.row_of(index));
            rows::neg_assign(ring.isa(), q, b);
            if let Some(source) = source.filter(|_| groups[k].row_of(index).is_some()) {
                rows::mul_scalar_add_assign(ring.isa(), q, b, source.row_of(index), ring.product(special, q));
            }
        }
    })
}

/// Fresh errors, one for each digit.
fn errors_of(common: &Common, count: usize, rng: &mut SecretRng) -> Vec<Zeroizing<Vec<i64>>> {
    let context = common.context();
    let generators: Vec<_> = (0..count).map(|_| SecretRng::fork(rng)).collect();
    let sample = |mut rng| sample::error(context.ring().shape(), context.gaussian(), &mut rng);
    generators.into_par_iter().map(sample).collect()
}

impl SecretShare {
    /// The first message of a key: the only one unless it is the relinearisation key.
    ///
    /// Cost: as of making the key alone; for the relinearisation key, of two.
    ///
    /// # Errors
    /// [`RlweError::OutOfRange`], [`RlweError::Ring`] for a key that the parameters do not have.
    pub fn first(&self, name: KeyName) -> Result<KeyShare, RlweError> {
        let common = self.common();
        common.check(name)?;
        let seed = common.seed_of(name, 0);
        let mut errors = self.generator("windlass errors of shares 1", name, &[]);
        let polys = match name {
            KeyName::Public => {
                let context = common.context();
                let basis = context.basis(context.top_level());
                let a = sample::uniform(context.ring(), &basis, &seed, 0);
                vec![zero_under(context, self.eval(), &a, &mut errors)]
            }
            KeyName::Galois { element, level } => {
                let target = self.moved_back(element)?;
                linear(common, level, &seed, (Some(self.eval()), &target.0), &mut errors)
            }
            KeyName::Relinearisation { level } => {
                let (ephemeral, negated) = (self.ephemeral(name), self.negated());
                let mut polys = linear(common, level, &seed, (Some(self.eval()), &ephemeral.0), &mut errors);
                polys.extend(linear(common, level, &seed, (None, &negated.0), &mut errors));
                polys
            }
        };
        Ok(KeyShare { id: common.key_id(), name, stage: Stage::First, polys })
    }

    /// The second message of the relinearisation key, made of the sum of all first ones:
    /// s_i·(h_0 − a') + u_i·h_1 + e.
    ///
    /// **Warning.** One sum for each key, of first messages that keep to the protocol. The error depends on the sum, so
    /// that another sum meets another error, but this is not enough: from two second messages of one party, whoever made
    /// the first messages in which their sums differ computes the secret of that party.
    ///
    /// # Errors
    /// [`RlweError::BadKey`], [`RlweError::OtherKeyPair`] for a sum of another key; [`RlweError::IncompleteSum`].
    pub fn second(&self, first: &KeySum) -> Result<KeyShare, RlweError> {
        let common = self.common();
        let name = first.name;
        first.check_complete(common, Stage::First)?;
        let KeyName::Relinearisation { level } = name else {
            return Err(RlweError::BadKey { what: "first message of a relinearisation key" });
        };
        let context = common.context();
        let (ring, digits) = (context.ring(), SwitchingKey::digits(context, level));
        let (h0, h1) = first.polys.split_at(digits);
        let seed = common.seed_of(name, 1);
        let errors =
            errors_of(common, digits, &mut self.generator("windlass errors of shares 2", name, &first.digest()));
        let ephemeral = self.ephemeral(name);
        let polys = Poly::filled_batch(ring, &context.covering_basis(level), digits, |index, q, rows| {
            let mut difference = vec![0; ring.n()];
            for (k, b) in rows.iter_mut().enumerate() {
                sample::uniform_row(index, q, &seed, k as u32, &mut difference);
                rows::neg_assign(ring.isa(), q, &mut difference);
                rows::add_assign(ring.isa(), q, &mut difference, h0[k].row_of(index));
                ring.evaluate_signed(index, &errors[k], b);
                rows::mul_add_assign(ring.isa(), q, b, &difference, self.eval().row_of(index));
                rows::mul_add_assign(ring.isa(), q, b, h1[k].row_of(index), ephemeral.0.row_of(index));
            }
        });
        Ok(KeyShare { id: common.key_id(), name, stage: Stage::Second, polys })
    }
}

/// The sum of shares of one key, and how many were added. Anyone can make it: it holds no secret.
#[derive(Debug, Clone)]
pub struct KeySum {
    id: KeyId,
    name: KeyName,
    stage: Stage,
    added: u32,
    polys: Vec<Poly<Eval>>,
}

impl KeySum {
    /// The sum that begins with this share.
    pub fn of(share: KeyShare) -> Self {
        let KeyShare { id, name, stage, polys } = share;
        Self { id, name, stage, added: 1, polys }
    }

    /// A sum of so many shares from its polynomials, as a file holds it.
    ///
    /// # Errors
    /// As [`KeyShare::from_polys`].
    pub fn from_polys(
        common: &Common,
        (name, stage): (KeyName, Stage),
        added: u32,
        polys: Vec<Poly<Eval>>,
    ) -> Result<Self, RlweError> {
        Ok(Self { added, ..Self::of(KeyShare::from_polys(common, name, stage, polys)?) })
    }

    /// The key.
    pub fn name(&self) -> KeyName {
        self.name
    }

    /// Which message it is a sum of.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// How many shares it has.
    pub fn added(&self) -> u32 {
        self.added
    }

    /// Its polynomials.
    pub fn polys(&self) -> &[Poly<Eval>] {
        &self.polys
    }

    /// Adds the share of one more party. **Warning.** Nothing here knows from whom it is.
    ///
    /// # Errors
    /// [`RlweError::OtherKeyPair`], [`RlweError::BadKey`] for a share of another key, message or context.
    pub fn add(&mut self, share: &KeyShare) -> Result<(), RlweError> {
        check_same_keys("add shares of a key", self.id, share.id)?;
        let same = self.name == share.name && self.stage == share.stage && self.polys.len() == share.polys.len();
        let fits =
            |(a, b): (&Poly<Eval>, &Poly<Eval>)| std::sync::Arc::ptr_eq(a.ring(), b.ring()) && a.basis() == b.basis();
        if !same || !self.polys.iter().zip(&share.polys).all(fits) {
            return Err(RlweError::BadKey { what: "share of a key" });
        }
        self.polys.iter_mut().zip(&share.polys).for_each(|(sum, poly)| sum.add_assign(poly));
        self.added += 1;
        Ok(())
    }

    fn check_complete(&self, common: &Common, stage: Stage) -> Result<(), RlweError> {
        check_same_keys("finish a key", common.key_id(), self.id)?;
        let ours = self.polys.iter().all(|poly| std::sync::Arc::ptr_eq(poly.ring(), common.context().ring()));
        if !ours || self.stage != stage {
            return Err(RlweError::BadKey { what: "sum of shares of a key" });
        }
        let (added, parties) = (self.added, common.parties());
        if added != parties {
            return Err(RlweError::IncompleteSum { added, parties });
        }
        Ok(())
    }

    /// SHA-256 of the residues.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        for poly in &self.polys {
            for row in 0..poly.basis().len() {
                poly.row(row).iter().for_each(|x| hash.update(x.to_le_bytes()));
            }
        }
        hash.finalize().into()
    }

    /// The public key.
    ///
    /// # Errors
    /// [`RlweError::BadKey`], [`RlweError::OtherKeyPair`] for another key; [`RlweError::IncompleteSum`].
    pub fn into_public_key(self, common: &Common) -> Result<PublicKey, RlweError> {
        self.check_complete(common, Stage::First)?;
        let seed = common.seed_of(KeyName::Public, 0);
        match (self.name, <[Poly<Eval>; 1]>::try_from(self.polys)) {
            (KeyName::Public, Ok([b])) => PublicKey::from_parts(common.context(), common.key_id(), seed, b),
            _ => Err(RlweError::BadKey { what: "public key" }),
        }
    }

    /// Puts the finished key among others.
    ///
    /// # Errors
    /// [`RlweError::BadKey`] for a public key or a first message of a relinearisation key;
    /// [`RlweError::IncompleteSum`]; those of [`EvaluationKeys::insert_galois`].
    pub fn insert_into(self, common: &Common, keys: &mut EvaluationKeys) -> Result<(), RlweError> {
        let (context, id) = (common.context(), common.key_id());
        match self.name {
            KeyName::Galois { element, level } => {
                self.check_complete(common, Stage::First)?;
                let seed = common.seed_of(self.name, 0);
                keys.insert_galois(element, SwitchingKey::from_parts(context, id, level, seed, self.polys)?)
            }
            KeyName::Relinearisation { level } => {
                self.check_complete(common, Stage::Second)?;
                let seed = common.seed_of(self.name, 1);
                keys.insert_relinearisation(SwitchingKey::from_parts(context, id, level, seed, self.polys)?)
            }
            KeyName::Public => Err(RlweError::BadKey { what: "evaluation key" }),
        }
    }
}
