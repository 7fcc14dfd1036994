//! Keys of a bootstrapping that several parties make together.
//!
//! The ephemeral secret is s̃ = Σ s̃_i, each s̃_i sparse, of the weight of the specification. Both keys are linear in
//! the secrets, so that shares are added up in one round: Σ (−a·s̃_i + e_i + P·s_i) for the encapsulation, and
//! Σ (−a·s_i + e_i + (P/t)·s̃_i) for the encrypted ephemeral secret. The plan counts the sums: W times the square of the
//! number of parties, their norms added, and the errors of keys as sums.
//!
//! Security: a party that holds all other parts faces one sparse secret of that weight, as with a key of one party.

use windlass_ring::{Basis, Eval, Poly};
use windlass_rlwe::collective::{Common, SecretShare};
use windlass_schemes::error::BootstrapError;
use windlass_schemes::schemes::Scheme;

use super::bootstrap_plan::BootstrapPlan;
use super::encapsulation::{EncapsulationKey, EncryptedSecret};
use super::ephemeral::EphemeralSecret;
use super::keys::BootstrapKeys;

/// A share of the keys of a bootstrapping, or a sum of shares. Public.
#[derive(Debug, Clone)]
pub struct BootstrapShare {
    encapsulation: Vec<Poly<Eval>>,
    encrypted_secret: Poly<Eval>,
}

/// The purpose of the seed of one pair.
fn purpose(plan: &BootstrapPlan, place: usize) -> Vec<u8> {
    let mut words = plan.working_ring().modulus().value().to_le_bytes().to_vec();
    let [level, special] = plan.input().shape();
    let numbers = [level, special, plan.input().base() as usize, plan.spec().ephemeral_weight as usize, place];
    numbers.iter().for_each(|&number| words.extend_from_slice(&(number as u64).to_le_bytes()));
    words
}

/// The seeds of the encapsulation key, and of the encrypted secret.
fn seeds(plan: &BootstrapPlan, common: &Common) -> (Vec<[u8; 32]>, [u8; 32]) {
    let pairs = plan.input().pairs();
    let of = |place| common.derived("windlass bootstrapping of several parties 1", &purpose(plan, place));
    ((0..pairs).map(of).collect(), of(pairs))
}

impl BootstrapShare {
    /// The share of one party. Its part of the ephemeral secret and its errors follow from its secret: asked again it
    /// gives the same share.
    ///
    /// # Errors
    /// [`BootstrapError::WrongContext`] for a secret of other parameters; [`BootstrapError::Unsupported`] for a weight
    /// at which no short secret is found.
    pub fn generate(plan: &BootstrapPlan, secret: &SecretShare) -> windlass_schemes::Result<Self> {
        let (common, context) = (secret.common(), secret.common().context());
        if context.params().id() != plan.params().id() {
            return Err(BootstrapError::WrongContext { what: "the secret of a party" }.into());
        }
        let mut rng = secret.derived("windlass bootstrapping share 1", &purpose(plan, 0));
        let ephemeral = EphemeralSecret::generate(context.params(), plan.spec(), plan.formula(), &mut rng)?;
        let (of_pairs, of_secret) = seeds(plan, common);
        let (own, _) = secret.expose_parts();
        let encapsulation = EncapsulationKey::share(context, own, &ephemeral, (plan.input(), &of_pairs), &mut rng);
        let modulus = plan.working_ring().modulus().value();
        let encrypted_secret = EncryptedSecret::share(context, own, &ephemeral, (modulus, &of_secret), &mut rng);
        Ok(Self { encapsulation, encrypted_secret })
    }

    /// The primes of its polynomials, in their order.
    pub fn layout(plan: &BootstrapPlan, common: &Common) -> Vec<Basis> {
        let context = common.context();
        let mut layout = vec![plan.input().base_qp(context); plan.input().pairs()];
        layout.push(context.base_qp(context.top_level()));
        layout
    }

    /// Its polynomials.
    pub fn polys(&self) -> impl Iterator<Item = &Poly<Eval>> {
        self.encapsulation.iter().chain([&self.encrypted_secret])
    }

    /// A share from its polynomials, as a file holds it; `None` unless they are as [`Self::layout`] says.
    pub fn from_polys(plan: &BootstrapPlan, common: &Common, mut polys: Vec<Poly<Eval>>) -> Option<Self> {
        let (layout, ring) = (Self::layout(plan, common), common.context().ring());
        let fits =
            |(poly, basis): (&Poly<Eval>, &Basis)| std::sync::Arc::ptr_eq(poly.ring(), ring) && poly.basis() == basis;
        if polys.len() != layout.len() || !polys.iter().zip(&layout).all(fits) {
            return None;
        }
        let encrypted_secret = polys.pop()?;
        Some(Self { encapsulation: polys, encrypted_secret })
    }

    /// Adds the share of another party.
    ///
    /// # Errors
    /// [`BootstrapError::WrongContext`] for a share of other parameters or another bootstrapping.
    pub fn add(&mut self, other: &Self) -> Result<(), BootstrapError> {
        let fits =
            |(a, b): (&Poly<Eval>, &Poly<Eval>)| std::sync::Arc::ptr_eq(a.ring(), b.ring()) && a.basis() == b.basis();
        if self.encapsulation.len() != other.encapsulation.len() || !self.polys().zip(other.polys()).all(fits) {
            return Err(BootstrapError::WrongContext { what: "the share of bootstrapping keys" });
        }
        self.encapsulation.iter_mut().zip(&other.encapsulation).for_each(|(sum, poly)| sum.add_assign(poly));
        self.encrypted_secret.add_assign(&other.encrypted_secret);
        Ok(())
    }

    /// The keys, from the sum of the shares of all parties. **Warning.** Nothing here counts them.
    ///
    /// # Errors
    /// [`BootstrapError::WrongContext`] for shares of other parameters.
    pub fn into_keys(
        self,
        plan: &BootstrapPlan,
        scheme: Scheme,
        common: &Common,
    ) -> windlass_schemes::Result<BootstrapKeys> {
        let (of_pairs, of_secret) = seeds(plan, common);
        let encapsulation = of_pairs.into_iter().zip(self.encapsulation).collect();
        let pair = (common.context(), common.key_id());
        let keys = BootstrapKeys::from_parts(plan, pair, scheme, encapsulation, (of_secret, self.encrypted_secret));
        keys.ok_or_else(|| BootstrapError::WrongContext { what: "the shares of bootstrapping keys" }.into())
    }
}
