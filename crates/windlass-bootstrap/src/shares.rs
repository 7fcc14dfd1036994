//! Keys of refreshes that several parties make together: of bootstrappings, and of refreshes of CKKS.
//!
//! The ephemeral secret is s̃ = Σ s̃_i, each s̃_i sparse, of the weight of the specification. Both keys are linear in
//! the secrets, so that shares are added up in one round: Σ (−a·s̃_i + e_i + P·s_i) for the encapsulation, and
//! Σ (−a·s_i + e_i + (P/t)·s̃_i) for the encrypted ephemeral secret (t = 1 for CKKS). Plans count the sums. Those of
//! bootstrappings count W times the square of the number of parties, their norms added, and the errors of keys as sums.
//! Those of CKKS count larger integers (`approximate/integers.rs`).
//!
//! Security: a party that holds all other parts faces one sparse secret of that weight, as with a key of one party.

use std::sync::Arc;

use windlass_ring::{Basis, Eval, Poly};
use windlass_rlwe::collective::{Common, SecretShare};
use windlass_rlwe::{Context, KeyId};
use windlass_schemes::error::{BootstrapError, Result};
use windlass_schemes::schemes::Scheme;

use super::approximate::{RefreshKeys, RefreshPlan};
use super::bootstrap_plan::BootstrapPlan;
use super::encapsulation::{EncapsulationKey, EncryptedSecret, InputModulus};
use super::ephemeral::EphemeralSecret;
use super::keys::BootstrapKeys;

/// A share of the keys of a refresh ([`SharedRefresh`]), or a sum of shares. Public.
#[derive(Debug, Clone)]
pub struct BootstrapShare {
    encapsulation: Vec<Poly<Eval>>,
    encrypted_secret: Poly<Eval>,
}

/// A seed of a uniform half, and the other half.
type Seeded = ([u8; 32], Poly<Eval>);

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::BootstrapPlan {}
    impl Sealed for super::RefreshPlan {}
}

/// A refresh whose keys several parties can make: a bootstrapping of BGV and BFV, or a refresh of CKKS.
pub trait SharedRefresh: sealed::Sealed {
    /// The modulus at which a ciphertext meets the ephemeral secret.
    #[doc(hidden)]
    fn input_modulus(&self) -> InputModulus;

    /// t: the ephemeral secret is encrypted as (P/t)·s̃.
    #[doc(hidden)]
    fn divisor(&self) -> u64;

    /// Non-zero coefficients of the part of one party.
    #[doc(hidden)]
    fn weight(&self) -> u32;

    /// What the parts of the ephemeral secret depend on beside their weight: two refreshes with different secrets never
    /// have the same uniform halves.
    #[doc(hidden)]
    fn limit(&self) -> u64;

    /// The beginning of every purpose: keys of different kinds have different seeds and errors.
    #[doc(hidden)]
    fn kind(&self) -> &'static str;

    /// Whether the plan is for the parameters of this context.
    #[doc(hidden)]
    fn is_for(&self, context: &Context) -> bool;

    /// One party's part of the ephemeral secret.
    #[doc(hidden)]
    fn part(&self, context: &Context, rng: &mut windlass_rlwe::SecretRng) -> Result<Part>;
}

/// One party's part of the ephemeral secret.
#[doc(hidden)]
pub struct Part(EphemeralSecret);

impl SharedRefresh for BootstrapPlan {
    fn input_modulus(&self) -> InputModulus {
        self.input().clone()
    }

    fn divisor(&self) -> u64 {
        self.working_ring().modulus().value()
    }

    fn weight(&self) -> u32 {
        self.spec().ephemeral_weight
    }

    fn limit(&self) -> u64 {
        self.formula().row_square.to_bits()
    }

    fn kind(&self) -> &'static str {
        "windlass bootstrapping"
    }

    fn is_for(&self, context: &Context) -> bool {
        context.params().id() == self.params().id()
    }

    fn part(&self, context: &Context, rng: &mut windlass_rlwe::SecretRng) -> Result<Part> {
        EphemeralSecret::generate(context.params(), self.spec(), self.formula(), rng).map(Part)
    }
}

impl SharedRefresh for RefreshPlan {
    fn input_modulus(&self) -> InputModulus {
        self.input()
    }

    fn divisor(&self) -> u64 {
        1
    }

    fn weight(&self) -> u32 {
        self.spec().ephemeral_weight
    }

    fn limit(&self) -> u64 {
        0
    }

    fn kind(&self) -> &'static str {
        "windlass refresh"
    }

    fn is_for(&self, context: &Context) -> bool {
        context.params().id() == self.context().rlwe().params().id()
    }

    fn part(&self, context: &Context, rng: &mut windlass_rlwe::SecretRng) -> Result<Part> {
        Ok(Part(EphemeralSecret::sum_of_sparse(context.params().n(), self.weight(), 1, rng)))
    }
}

/// The purpose of the seed of one pair.
fn purpose(plan: &impl SharedRefresh, place: usize) -> Vec<u8> {
    let input = plan.input_modulus();
    let [level, special] = input.shape();
    let mut words = [plan.divisor(), plan.limit()].map(u64::to_le_bytes).concat();
    let numbers = [level, special, input.base() as usize, plan.weight() as usize, place];
    numbers.iter().for_each(|&number| words.extend_from_slice(&(number as u64).to_le_bytes()));
    words
}

/// The seeds of the encapsulation key, and of the encrypted secret.
fn seeds(plan: &impl SharedRefresh, common: &Common) -> (Vec<[u8; 32]>, [u8; 32]) {
    let pairs = plan.input_modulus().pairs();
    let name = format!("{} of several parties 1", plan.kind());
    let of = |place| common.derived(&name, &purpose(plan, place));
    ((0..pairs).map(of).collect(), of(pairs))
}

impl BootstrapShare {
    /// The share of one party. Its part of the ephemeral secret and its errors follow from its secret: asked again it
    /// gives the same share.
    ///
    /// # Errors
    /// [`BootstrapError::WrongContext`] for a secret of other parameters; [`BootstrapError::Unsupported`] for a weight
    /// at which no short secret is found.
    pub fn generate(plan: &impl SharedRefresh, secret: &SecretShare) -> Result<Self> {
        let (common, context) = (secret.common(), secret.common().context());
        if !plan.is_for(context) {
            return Err(BootstrapError::WrongContext { what: "the secret of a party" }.into());
        }
        let mut rng = secret.derived(&format!("{} share 1", plan.kind()), &purpose(plan, 0));
        let Part(ephemeral) = plan.part(context, &mut rng)?;
        let (of_pairs, of_secret) = seeds(plan, common);
        let (own, _) = secret.expose_parts();
        let at = (&plan.input_modulus(), &of_pairs[..]);
        let encapsulation = EncapsulationKey::share(context, own, &ephemeral, at, &mut rng);
        let encrypted_secret = EncryptedSecret::share(context, own, &ephemeral, (plan.divisor(), &of_secret), &mut rng);
        Ok(Self { encapsulation, encrypted_secret })
    }

    /// The primes of its polynomials, in their order.
    pub fn layout(plan: &impl SharedRefresh, common: &Common) -> Vec<Basis> {
        let (context, input) = (common.context(), plan.input_modulus());
        let mut layout = vec![input.base_qp(context); input.pairs()];
        layout.push(context.base_qp(context.top_level()));
        layout
    }

    /// Its polynomials.
    pub fn polys(&self) -> impl Iterator<Item = &Poly<Eval>> {
        self.encapsulation.iter().chain([&self.encrypted_secret])
    }

    /// A share from its polynomials, as a file holds it; `None` unless they are as [`Self::layout`] says.
    pub fn from_polys(plan: &impl SharedRefresh, common: &Common, mut polys: Vec<Poly<Eval>>) -> Option<Self> {
        let (layout, ring) = (Self::layout(plan, common), common.context().ring());
        let fits = |(poly, basis): (&Poly<Eval>, &Basis)| Arc::ptr_eq(poly.ring(), ring) && poly.basis() == basis;
        if polys.len() != layout.len() || !polys.iter().zip(&layout).all(fits) {
            return None;
        }
        let encrypted_secret = polys.pop()?;
        Some(Self { encapsulation: polys, encrypted_secret })
    }

    /// Adds the share of another party.
    ///
    /// # Errors
    /// [`BootstrapError::WrongContext`] for a share of other parameters or another refresh.
    pub fn add(&mut self, other: &Self) -> std::result::Result<(), BootstrapError> {
        let fits = |(a, b): (&Poly<Eval>, &Poly<Eval>)| Arc::ptr_eq(a.ring(), b.ring()) && a.basis() == b.basis();
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
    pub fn into_keys(self, plan: &BootstrapPlan, scheme: Scheme, common: &Common) -> Result<BootstrapKeys> {
        let (encapsulation, encrypted) = self.with_seeds(plan, common);
        let pair: (&Arc<Context>, KeyId) = (common.context(), common.key_id());
        let keys = BootstrapKeys::from_parts(plan, pair, scheme, encapsulation, encrypted);
        keys.ok_or_else(|| BootstrapError::WrongContext { what: "the shares of bootstrapping keys" }.into())
    }

    /// The keys of a refresh of CKKS. As [`Self::into_keys`].
    ///
    /// # Errors
    /// As there.
    pub fn into_refresh_keys(self, plan: &RefreshPlan, common: &Common) -> Result<RefreshKeys> {
        let (mut parts, encrypted) = self.with_seeds(plan, common);
        parts.push(encrypted);
        let keys = RefreshKeys::from_parts(plan, common.key_id(), parts);
        keys.ok_or_else(|| BootstrapError::WrongContext { what: "the shares of refresh keys" }.into())
    }

    fn with_seeds(self, plan: &impl SharedRefresh, common: &Common) -> (Vec<Seeded>, Seeded) {
        let (of_pairs, of_secret) = seeds(plan, common);
        (of_pairs.into_iter().zip(self.encapsulation).collect(), (of_secret, self.encrypted_secret))
    }
}
