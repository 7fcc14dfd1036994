//! The secret of one party.

use std::sync::Arc;

use rand_core::RngCore;
use windlass_ring::{Basis, Eval, Poly};
use zeroize::Zeroizing;

use super::common::{Common, KeyName, hash};
use crate::error::RlweError;
use crate::keys::{SecretPoly, secret_eval, short_secret};
use crate::secret_rng::SecretRng;

/// A party's share s_i of the secret key, and the seed of the errors of its shares of keys.
///
/// Errors follow from the seed: a party that is asked again for a share gives the same one, also after a restart.
pub struct SecretShare {
    common: Common,
    coefficients: Zeroizing<Vec<i64>>,
    eval: SecretPoly<Eval>,
    errors: Zeroizing<[u8; 32]>,
}

impl std::fmt::Debug for SecretShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretShare").finish_non_exhaustive()
    }
}

impl SecretShare {
    /// A fresh share: uniform ternary, drawn again until its norm is within the bound.
    pub fn generate(common: &Common, rng: &mut impl RngCore) -> Self {
        let coefficients = short_secret(common.context(), rng);
        let mut errors = Zeroizing::new([0; 32]);
        rng.fill_bytes(errors.as_mut_slice());
        Self::build(common, coefficients, errors)
    }

    /// The share of these coefficients (powerful basis) and this seed of errors, as a file holds it.
    ///
    /// # Errors
    /// [`RlweError::BadSecretKey`] unless there are n of them, all in {−1, 0, 1}, with a norm within the bound.
    pub fn from_parts(
        common: &Common,
        coefficients: Zeroizing<Vec<i64>>,
        errors: Zeroizing<[u8; 32]>,
    ) -> Result<Self, RlweError> {
        let params = common.context().params();
        let bound = crate::noise::secret_norm_bound(params.shape(), crate::SecretDistribution::Ternary);
        let small = coefficients.len() == params.n() && coefficients.iter().all(|x| (-1..=1).contains(x));
        if !small || windlass_ring::norm::canonical_norm(params.shape(), &coefficients) > bound {
            return Err(RlweError::BadSecretKey);
        }
        Ok(Self::build(common, coefficients, errors))
    }

    fn build(common: &Common, coefficients: Zeroizing<Vec<i64>>, errors: Zeroizing<[u8; 32]>) -> Self {
        let context = common.context();
        let eval = secret_eval(context, &context.base_qp(context.top_level()), &coefficients);
        Self { common: common.clone(), coefficients, eval, errors }
    }

    /// What the parties agreed on.
    pub fn common(&self) -> &Common {
        &self.common
    }

    /// The coefficients, and the seed of errors. Secret: wipe every copy.
    pub fn expose_parts(&self) -> (&[i64], &[u8; 32]) {
        (&self.coefficients, &self.errors)
    }

    /// The values of s_i over all primes.
    pub(super) fn eval(&self) -> &Poly<Eval> {
        &self.eval.0
    }

    /// s_i over the primes of a level, as a share to decrypt with all parties.
    pub(super) fn restricted(&self, basis: &Basis) -> SecretPoly<Eval> {
        SecretPoly(self.eval.0.restrict(basis))
    }

    /// A generator for one purpose, which depends on everything that what it makes depends on: two different inputs
    /// never meet the same error.
    pub(super) fn generator(&self, purpose: &str, name: KeyName, input: &[u8]) -> SecretRng {
        let words = name.words().map(u64::to_le_bytes).concat();
        let id = self.common.key_id();
        let seed = Zeroizing::new(hash(purpose, &[self.errors.as_slice(), &id.0, &words, input]));
        SecretRng::from_seed(&seed)
    }

    /// A generator for another purpose, of the layers above.
    #[doc(hidden)]
    pub fn derived(&self, purpose: &str, input: &[u8]) -> SecretRng {
        self.generator(purpose, KeyName::Public, input)
    }

    /// u_i of the relinearisation key: drawn as s_i is.
    pub(super) fn ephemeral(&self, name: KeyName) -> SecretPoly<Eval> {
        let context = self.common.context();
        let coefficients = short_secret(context, &mut self.generator("windlass ephemeral 1", name, &[]));
        secret_eval(context, &context.base_qp(context.top_level()), &coefficients)
    }

    /// −s_i over all primes.
    pub(super) fn negated(&self) -> SecretPoly<Eval> {
        let mut negated = SecretPoly(self.eval.0.clone());
        negated.0.neg_assign();
        negated
    }

    /// θ^{-1}(s_i), over all primes.
    pub(super) fn moved_back(&self, element: u64) -> Result<SecretPoly<Eval>, RlweError> {
        let context = Arc::clone(self.common.context());
        let m = context.params().m();
        let inverse =
            windlass_ring::kernels::arith::inv_mod(element % m, m).ok_or(RlweError::BadKey { what: "Galois key" })?;
        Ok(SecretPoly(self.eval.0.automorphism(&*context.ring().automorphism(inverse)?)))
    }
}
