//! Secret and public keys, encryptions of zero, phases.

use std::sync::Arc;

use rand_core::RngCore;
use windlass_ring::{Basis, Coeff, Eval, Poly, Representation, sample};
use zeroize::{Zeroize, Zeroizing};

use crate::context::Context;
use crate::error::RlweError;
use crate::key_id::KeyId;
use crate::security::SecretDistribution;

/// A polynomial that is wiped when dropped.
#[derive(Debug)]
pub(crate) struct SecretPoly<R: Representation>(pub(crate) Poly<R>);

impl SecretPoly<Coeff> {
    /// Transforms every row.
    pub(crate) fn into_eval(mut self) -> SecretPoly<Eval> {
        let empty = Poly::zero(self.0.ring(), &Basis::new([]));
        SecretPoly(std::mem::replace(&mut self.0, empty).into_eval())
    }
}

impl<R: Representation> Drop for SecretPoly<R> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// The values of small secret coefficients over `basis`.
pub(crate) fn secret_eval(context: &Context, basis: &Basis, coefficients: &[i64]) -> SecretPoly<Eval> {
    SecretPoly(Poly::from_signed(context.ring(), basis, coefficients).into_eval())
}

/// A fresh error over `basis`.
pub(crate) fn error(context: &Context, basis: &Basis, rng: &mut impl RngCore) -> SecretPoly<Eval> {
    let coefficients = sample::error(context.ring().shape(), context.gaussian(), rng);
    secret_eval(context, basis, &coefficients)
}

/// Coefficients of a secret of the distribution of the parameters, of one party's for a key of several, whose norm
/// is within the bound.
pub(crate) fn short_secret(context: &Context, rng: &mut impl RngCore) -> Zeroizing<Vec<i64>> {
    let params = context.params();
    let of_one = match params.secret() {
        SecretDistribution::Collective { .. } => SecretDistribution::Ternary,
        own => own,
    };
    let bound = crate::noise::secret_norm_bound(params.shape(), of_one);
    loop {
        let coefficients = match of_one {
            SecretDistribution::Sparse { weight } => sample::sparse(params.n(), weight as usize, rng),
            _ => sample::ternary(params.n(), rng),
        };
        if windlass_ring::norm::canonical_norm(params.shape(), &coefficients) <= bound {
            return coefficients;
        }
    }
}

/// The secret key s: small coefficients, and its values modulo all primes.
pub struct SecretKey {
    context: Arc<Context>,
    id: KeyId,
    coefficients: Zeroizing<Vec<i64>>,
    eval: SecretPoly<Eval>,
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretKey").finish_non_exhaustive()
    }
}

impl SecretKey {
    /// A fresh key of the distribution of the parameters, drawn again until its canonical norm is
    /// within the stated bound (less than one draw in a hundred fails it); then its name.
    ///
    /// **Warning.** Whoever calls this holds the whole key, also with parameters for a key of several parties.
    pub fn generate(context: &Arc<Context>, rng: &mut impl RngCore) -> Self {
        let mut coefficients = short_secret(context, rng);
        for _ in 1..context.params().secret().parties() {
            let share = short_secret(context, rng);
            coefficients.iter_mut().zip(share.iter()).for_each(|(sum, x)| *sum += x);
        }
        Self::build(context, KeyId::generate(rng), coefficients)
    }

    /// The key with the given name and coefficients (powerful basis).
    ///
    /// # Errors
    /// [`RlweError::BadSecretKey`] if there are not n of them, all in {−1, 0, 1} (in \[−k, k\] for a key of k
    /// parties) and as many not zero as a sparse key has, or the norm bound does not hold.
    pub fn from_coefficients(
        context: &Arc<Context>,
        id: KeyId,
        coefficients: Zeroizing<Vec<i64>>,
    ) -> Result<Self, RlweError> {
        let params = context.params();
        let largest = i64::from(params.secret().parties());
        let small = coefficients.len() == params.n() && coefficients.iter().all(|x| (-largest..=largest).contains(x));
        let weight: u64 = coefficients.iter().map(|x| x.unsigned_abs()).fold(0, u64::saturating_add);
        let weighs = match params.secret() {
            SecretDistribution::Sparse { weight: wanted } => weight == u64::from(wanted),
            SecretDistribution::Ternary | SecretDistribution::Collective { .. } => true,
        };
        let bound = crate::noise::secret_norm_bound(params.shape(), params.secret());
        if !small || !weighs || windlass_ring::norm::canonical_norm(params.shape(), &coefficients) > bound {
            return Err(RlweError::BadSecretKey);
        }
        Ok(Self::build(context, id, coefficients))
    }

    fn build(context: &Arc<Context>, id: KeyId, coefficients: Zeroizing<Vec<i64>>) -> Self {
        let eval = secret_eval(context, &context.base_qp(context.top_level()), &coefficients);
        Self { context: Arc::clone(context), id, coefficients, eval }
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The name of the key pair.
    pub fn key_id(&self) -> KeyId {
        self.id
    }

    /// The coefficients. Secret: wipe every copy.
    pub fn expose_coefficients(&self) -> &[i64] {
        &self.coefficients
    }

    /// The values of s over all primes.
    pub(crate) fn eval(&self) -> &Poly<Eval> {
        &self.eval.0
    }

    /// The phase Σ_i parts\[i\]·s^i. Secret-dependent: wipe it after use.
    pub fn phase(&self, parts: &[Poly<Eval>]) -> Poly<Eval> {
        let basis = parts[0].basis();
        let secret = SecretPoly(self.eval().restrict(basis));
        let mut phase = parts[parts.len() - 1].clone();
        for part in parts[..parts.len() - 1].iter().rev() {
            phase.mul_assign(&secret.0);
            phase.add_assign(part);
        }
        phase
    }

    /// A seeded encryption of zero under s at `level`, with plain error: (−a·s + e, a) with
    /// `multiplier`·a expanded from `seed` and stream 0. A BGV ciphertext is t times such a pair:
    /// with multiplier t its own second half is what the seed gives.
    pub fn encrypt_zero(
        &self,
        level: usize,
        seed: [u8; 32],
        multiplier: u64,
        rng: &mut impl RngCore,
    ) -> [Poly<Eval>; 2] {
        let basis = self.context.basis(level);
        let mut a = sample::uniform(self.context.ring(), &basis, &seed, 0);
        if multiplier != 1 {
            a.mul_scalar_assign(|q| q.inv(q.reduce(multiplier)));
        }
        let b = zero_under(&self.context, self.eval(), &a, rng);
        [b, a]
    }
}

/// −a·s + e over the basis of a, s given over a larger basis.
pub(crate) fn zero_under(context: &Context, secret: &Poly<Eval>, a: &Poly<Eval>, rng: &mut impl RngCore) -> Poly<Eval> {
    let secret = SecretPoly(secret.restrict(a.basis()));
    let mut b = a.mul(&secret.0);
    b.neg_assign();
    b.add_assign(&error(context, a.basis(), rng).0);
    b
}

/// The public encryption key: (b, a) with b = −a·s + e at the top level, a expanded from a seed.
#[derive(Debug, Clone)]
pub struct PublicKey {
    context: Arc<Context>,
    id: KeyId,
    seed: [u8; 32],
    b: Poly<Eval>,
    a: Poly<Eval>,
}

impl PublicKey {
    /// The public key of `secret`.
    pub fn generate(secret: &SecretKey, rng: &mut impl RngCore) -> Self {
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let context = Arc::clone(secret.context());
        let [b, a] = secret.encrypt_zero(context.top_level(), seed, 1, rng);
        Self { context, id: secret.id, seed, b, a }
    }

    /// Rebuilds the key of the pair `id` from its seed and its b half.
    ///
    /// # Errors
    /// [`RlweError::BadKey`] if b is not at the top level of the context.
    pub fn from_parts(context: &Arc<Context>, id: KeyId, seed: [u8; 32], b: Poly<Eval>) -> Result<Self, RlweError> {
        let basis = context.basis(context.top_level());
        if !Arc::ptr_eq(b.ring(), context.ring()) || b.basis() != &basis {
            return Err(RlweError::BadKey { what: "public key" });
        }
        let a = sample::uniform(context.ring(), &basis, &seed, 0);
        Ok(Self { context: Arc::clone(context), id, seed, b, a })
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The name of the key pair.
    pub fn key_id(&self) -> KeyId {
        self.id
    }

    /// The seed of a, and b.
    pub fn parts(&self) -> (&[u8; 32], &Poly<Eval>) {
        (&self.seed, &self.b)
    }

    /// (b·u, a·u + e) over some of the primes, u uniform ternary.
    pub(crate) fn mask(&self, basis: &Basis, rng: &mut impl RngCore) -> [Poly<Eval>; 2] {
        let ephemeral = sample::ternary(self.context.params().n(), rng);
        let u = secret_eval(&self.context, basis, &ephemeral);
        let [first, mut second] = [&self.b, &self.a].map(|half| half.restrict(basis).mul(&u.0));
        second.add_assign(&error(&self.context, basis, rng).0);
        [first, second]
    }

    /// An encryption of zero at the top level: (b·u + e_0, a·u + e_1), u uniform ternary.
    pub fn encrypt_zero(&self, rng: &mut impl RngCore) -> [Poly<Eval>; 2] {
        let basis = self.b.basis();
        let ephemeral = sample::ternary(self.context.params().n(), rng);
        let u = secret_eval(&self.context, basis, &ephemeral);
        [&self.b, &self.a].map(|half| {
            let mut part = half.mul(&u.0);
            part.add_assign(&error(&self.context, basis, rng).0);
            part
        })
    }
}
