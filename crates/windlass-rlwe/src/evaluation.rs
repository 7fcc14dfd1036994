//! Evaluation keys: relinearisation, Galois keys, and which Galois keys a strategy needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use rand_core::RngCore;
use windlass_ring::kernels::arith;
use windlass_ring::slots::Hypercube;

use crate::context::Context;
use crate::error::RlweError;
use crate::key_id::{KeyId, check_same_keys};
use crate::keys::{SecretKey, SecretPoly};
use crate::limits::Limits;
use crate::switching::{SwitchingKey, square};

/// The keys that a server holds: at most one relinearisation key, and Galois keys by their group
/// element.
///
/// The key of θ_t switches from s to θ_t^{-1}(s): a ciphertext is switched first and permuted
/// afterwards, so that hoisted digits are never permuted, only the two results.
#[derive(Debug, Clone)]
pub struct EvaluationKeys {
    context: Arc<Context>,
    id: Option<KeyId>,
    relinearisation: Option<Arc<SwitchingKey>>,
    galois: BTreeMap<u64, Arc<SwitchingKey>>,
}

impl EvaluationKeys {
    /// No keys at all, and of no key pair yet: the first key that is added or inserted says which.
    pub fn empty(context: &Arc<Context>) -> Self {
        Self { context: Arc::clone(context), id: None, relinearisation: None, galois: BTreeMap::new() }
    }

    /// No keys yet, of the key pair of this secret.
    pub fn of(secret: &SecretKey) -> Self {
        Self::of_pair(secret.context(), secret.key_id())
    }

    /// No keys yet, of the key pair with this name.
    pub fn of_pair(context: &Arc<Context>, key: KeyId) -> Self {
        Self { id: Some(key), ..Self::empty(context) }
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The name of the key pair; none as long as there are no keys.
    pub fn key_id(&self) -> Option<KeyId> {
        self.id
    }

    /// Takes the name of the first key; another one is refused.
    fn adopt(&mut self, operation: &'static str, key: KeyId) -> Result<(), RlweError> {
        Ok(check_same_keys(operation, *self.id.get_or_insert(key), key)?)
    }

    /// Makes the relinearisation key (s² to s), usable up to `level`.
    ///
    /// # Errors
    /// [`RlweError::OutOfRange`] for a level that the chain does not have; [`RlweError::BadKey`]
    /// for the secret of another context, [`RlweError::OtherKeyPair`] for that of another key pair.
    pub fn add_relinearisation(
        &mut self,
        secret: &SecretKey,
        level: usize,
        rng: &mut impl RngCore,
    ) -> Result<(), RlweError> {
        self.check(secret, level)?;
        let source = square(secret);
        let key = SwitchingKey::generate(secret, &source.0, secret.eval(), level, rng);
        self.relinearisation = Some(Arc::new(key));
        Ok(())
    }

    fn check(&mut self, secret: &SecretKey, level: usize) -> Result<(), RlweError> {
        if !Arc::ptr_eq(secret.context(), &self.context) {
            return Err(RlweError::BadKey { what: "secret key" });
        }
        Limits::between(1, self.context.top_level()).check("the level of a key", level)?;
        self.adopt("add an evaluation key", secret.key_id())
    }

    /// Makes the key of θ_t, usable up to `level`, unless one of at least that level is there. The
    /// identity needs none.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if t is not invertible modulo m; as [`Self::add_relinearisation`].
    pub fn add_galois(
        &mut self,
        secret: &SecretKey,
        element: u64,
        level: usize,
        rng: &mut impl RngCore,
    ) -> Result<(), RlweError> {
        self.check(secret, level)?;
        let m = self.context.params().m();
        let element = element % m;
        let ring = self.context.ring();
        ring.automorphism(element)?;
        if element == 1 || self.galois.get(&element).is_some_and(|key| key.level() >= level) {
            return Ok(());
        }
        let inverse = arith::inv_mod(element, m).expect("the automorphism exists, so t is a unit");
        let target = SecretPoly(secret.eval().automorphism(&*ring.automorphism(inverse)?));
        let key = SwitchingKey::generate(secret, secret.eval(), &target.0, level, rng);
        self.galois.insert(element, Arc::new(key));
        Ok(())
    }

    /// Puts a relinearisation key in place, as read from a file.
    ///
    /// # Errors
    /// [`RlweError::BadKey`] for a key of another context, [`RlweError::OtherKeyPair`] for one of
    /// another key pair.
    pub fn insert_relinearisation(&mut self, key: SwitchingKey) -> Result<(), RlweError> {
        key.check_context(&self.context)?;
        self.adopt("insert an evaluation key", key.key_id())?;
        self.relinearisation = Some(Arc::new(key));
        Ok(())
    }

    /// Puts a Galois key in place, as read from a file.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if t is not invertible modulo m; [`RlweError::BadKey`] for a key of
    /// another context, [`RlweError::OtherKeyPair`] for one of another key pair.
    pub fn insert_galois(&mut self, element: u64, key: SwitchingKey) -> Result<(), RlweError> {
        key.check_context(&self.context)?;
        self.context.ring().automorphism(element)?;
        self.adopt("insert an evaluation key", key.key_id())?;
        self.galois.insert(element % self.context.params().m(), Arc::new(key));
        Ok(())
    }

    /// The relinearisation key, if there is one.
    pub fn relinearisation(&self) -> Option<&Arc<SwitchingKey>> {
        self.relinearisation.as_ref()
    }

    /// The key of θ_t, if there is one.
    pub fn galois(&self, element: u64) -> Option<&Arc<SwitchingKey>> {
        self.galois.get(&(element % self.context.params().m()))
    }

    /// The elements t with a Galois key, ascending.
    pub fn galois_elements(&self) -> impl Iterator<Item = u64> + '_ {
        self.galois.keys().copied()
    }

    /// Bytes in memory of all keys, those in mapped files included.
    pub fn bytes(&self) -> usize {
        self.relinearisation.iter().chain(self.galois.values()).map(|key| key.bytes()).sum()
    }
}

/// Which Galois keys to hold for one hypercube dimension (or for Frobenius): Halevi–Shoup 2018,
/// §2.5, §4.3, §4.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum KeyStrategy {
    /// θ^i for 0 < i < D.
    Full,
    /// θ^j for 0 < j < g and θ^{g·k} for 0 < k < ⌈D/g⌉, g = ⌈√D⌉.
    BabyGiant,
    /// θ and θ^g, g = ⌈√D⌉.
    Minimal,
    /// All of a dimension of size [`KeyStrategy::SMALL`] at most, baby and giant steps of a larger
    /// one: what HElib does by default (§2.5).
    #[default]
    Default,
}

impl fmt::Display for KeyStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            KeyStrategy::Full => "full",
            KeyStrategy::BabyGiant => "baby-giant",
            KeyStrategy::Minimal => "minimal",
            KeyStrategy::Default => "default",
        })
    }
}

impl KeyStrategy {
    /// Every strategy.
    pub const ALL: [KeyStrategy; 4] =
        [KeyStrategy::Full, KeyStrategy::BabyGiant, KeyStrategy::Minimal, KeyStrategy::Default];

    /// The largest dimension of which [`KeyStrategy::Default`] has all keys.
    pub const SMALL: u64 = 50;

    /// The strategy that is printed as this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|strategy| strategy.to_string() == name)
    }

    /// The group elements for a whole ring, ascending: of every dimension, and of Frobenius, which
    /// counts as one more good dimension.
    pub fn of_ring(self, hypercube: &Hypercube) -> BTreeSet<u64> {
        let m = hypercube.m();
        let frobenius = self.elements(hypercube.prime() % m, hypercube.slot_degree() as u64, true, m);
        let dimensions = hypercube.dimensions().iter();
        dimensions.flat_map(|s| self.elements(s.generator, s.size as u64, s.good, m)).chain(frobenius).collect()
    }

    /// The group elements for θ = θ_g of a dimension of size D modulo m, ascending; a bad dimension
    /// adds θ^{−D}.
    pub fn elements(self, generator: u64, size: u64, good: bool, m: u64) -> BTreeSet<u64> {
        let power = |e: u64| arith::pow_mod(generator, e, m);
        let step = (size as f64).sqrt().ceil() as u64;
        let mut elements: BTreeSet<u64> = match self {
            KeyStrategy::Default if size <= Self::SMALL => return KeyStrategy::Full.elements(generator, size, good, m),
            KeyStrategy::Default => return KeyStrategy::BabyGiant.elements(generator, size, good, m),
            KeyStrategy::Full => (1..size).map(power).collect(),
            KeyStrategy::BabyGiant => {
                (1..step.min(size)).chain((1..size.div_ceil(step)).map(|k| k * step)).map(power).collect()
            }
            KeyStrategy::Minimal if size <= 3 => (1..size.min(2)).map(power).collect(),
            KeyStrategy::Minimal => [power(1), power(step)].into(),
        };
        if !good {
            elements.insert(arith::inv_mod(power(size), m).expect("a generator is a unit"));
        }
        elements.remove(&1);
        elements
    }
}
