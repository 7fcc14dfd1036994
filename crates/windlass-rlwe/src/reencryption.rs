//! Keys that bring ciphertexts from one key pair to another.
//!
//! Row k of a key from s to s' is (b_k, a_k) with b_k + a_k·s' = P·g_k·s + e_k. Two owners can make one:
//!
//! - The owner of both secrets: b_k = −a_k·s' + e_k + P·g_k·s, as any switching key. This changes a key pair without
//!   decrypting what is stored.
//! - The owner of s alone, with a [`ReceivingKey`] (b, a) of the other: (b·u_k + e_k + P·g_k·s, a·u_k + e'_k), an
//!   encryption of P·g_k·s for each k. This is a *delegation*.
//!
//! **Warning.** The holder of s' who also gets the key learns s: the key is an encryption of s under s'. So a delegation
//! lets the recipient and the server together read *all* ciphertexts of the owner, not only those that are given on.
//! And the recipient alone decrypts the errors of what is re-encrypted, which depend on s: a recipient who knows how it was
//! encrypted learns s from enough of it. Make a key pair for what will be given on alone, or decrypt and encrypt again. A key works in one direction, and results
//! can be given on with another key of the recipient's.
//!
//! Source: proxy re-encryption by key switching, Polyakov, Rohloff, Sahu and Vaikuntanathan, "Fast proxy re-encryption
//! for publish/subscribe systems" (2017).

use std::sync::Arc;

use rand_core::RngCore;
use rayon::prelude::*;
use windlass_ring::kernels::rows;
use windlass_ring::{Eval, Poly, sample};
use zeroize::Zeroizing;

use crate::context::Context;
use crate::error::RlweError;
use crate::key_id::{KeyId, OtherKeyPair, check_same_keys};
use crate::keys::{SecretKey, SecretPoly, secret_eval, short_secret, zero_under};
use crate::limits::Limits;
use crate::secret_rng::SecretRng;
use crate::switching::{Epilogue, SwitchingKey, switch};

/// What a recipient publishes so that others can delegate to it: (b, a) with b = −a·s' + e over all primes, a from a
/// seed.
#[derive(Debug, Clone)]
pub struct ReceivingKey {
    context: Arc<Context>,
    id: KeyId,
    seed: [u8; 32],
    b: Poly<Eval>,
}

impl ReceivingKey {
    /// The receiving key of a secret.
    ///
    /// Cost: a product and a transform for each prime of QP.
    pub fn generate(secret: &SecretKey, rng: &mut impl RngCore) -> Self {
        let context = Arc::clone(secret.context());
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let a = sample::uniform(context.ring(), &context.base_qp(context.top_level()), &seed, 0);
        let b = zero_under(&context, secret.eval(), &a, rng);
        Self { context, id: secret.key_id(), seed, b }
    }

    /// Rebuilds the key of the pair `id` from its seed and its b half.
    ///
    /// # Errors
    /// [`RlweError::BadKey`] if b is not over all primes of the context.
    pub fn from_parts(context: &Arc<Context>, id: KeyId, seed: [u8; 32], b: Poly<Eval>) -> Result<Self, RlweError> {
        if !Arc::ptr_eq(b.ring(), context.ring()) || b.basis() != &context.base_qp(context.top_level()) {
            return Err(RlweError::BadKey { what: "receiving key" });
        }
        Ok(Self { context: Arc::clone(context), id, seed, b })
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The name of the recipient's key pair.
    pub fn key_id(&self) -> KeyId {
        self.id
    }

    /// The seed of a, and b.
    pub fn parts(&self) -> (&[u8; 32], &Poly<Eval>) {
        (&self.seed, &self.b)
    }
}

/// A key that brings ciphertexts from one key pair to another, up to a level. See the module for its **Warning**.
#[derive(Debug, Clone)]
pub struct ReencryptionKey {
    context: Arc<Context>,
    from: KeyId,
    is_delegation: bool,
    key: SwitchingKey,
}

impl ReencryptionKey {
    /// The key between two key pairs of one owner.
    ///
    /// # Errors
    /// [`RlweError::BadKey`] for secrets of different contexts; [`RlweError::OutOfRange`] for the level.
    pub fn between(from: &SecretKey, to: &SecretKey, level: usize, rng: &mut impl RngCore) -> Result<Self, RlweError> {
        let context = check(from, to.context(), level)?;
        let key = SwitchingKey::generate(to, from.eval(), to.eval(), level, rng);
        Ok(Self { context, from: from.key_id(), is_delegation: false, key })
    }

    /// The key to a recipient, made by the owner of what is given on.
    ///
    /// Cost: that of two switching keys.
    ///
    /// # Errors
    /// [`RlweError::BadKey`] for a recipient of another context; [`RlweError::OutOfRange`] for the level.
    pub fn delegation(
        from: &SecretKey,
        to: &ReceivingKey,
        level: usize,
        rng: &mut impl RngCore,
    ) -> Result<Self, RlweError> {
        let context = check(from, &to.context, level)?;
        let (ring, special, qp) = (context.ring(), context.special(), context.covering_basis(level));
        let groups = &context.gadget().groups()[..SwitchingKey::digits(&context, level)];
        let generators: Vec<_> = (0..3 * groups.len()).map(|_| SecretRng::fork(rng)).collect();
        // For each digit u, e and e'. The norm of u has the bound of a secret's, as estimates of CKKS need it.
        let draw = |(place, mut rng): (usize, SecretRng)| -> Zeroizing<Vec<i64>> {
            match place % 3 {
                0 => short_secret(&context, &mut rng),
                _ => sample::error(ring.shape(), context.gaussian(), &mut rng),
            }
        };
        let drawn: Vec<_> = generators.into_par_iter().enumerate().map(draw).collect();
        let masks: Vec<SecretPoly<Eval>> = drawn.chunks(3).map(|parts| secret_eval(&context, &qp, &parts[0])).collect();
        let a = sample::uniform(ring, &qp, &to.seed, 0);
        let b = to.b.restrict(&qp);
        let pairs = Poly::filled_batch(ring, &qp, 2 * groups.len(), |index, q, rows| {
            for (k, pair) in rows.chunks_exact_mut(2).enumerate() {
                let [first, second] = pair else { unreachable!("chunks of two") };
                let u = masks[k].0.row_of(index);
                ring.evaluate_signed(index, &drawn[3 * k + 1], first);
                rows::mul_add_assign(ring.isa(), q, first, b.row_of(index), u);
                if groups[k].row_of(index).is_some() {
                    let (source, factor) = (from.eval().row_of(index), ring.product(special, q));
                    rows::mul_scalar_add_assign(ring.isa(), q, first, source, factor);
                }
                ring.evaluate_signed(index, &drawn[3 * k + 2], second);
                rows::mul_add_assign(ring.isa(), q, second, a.row_of(index), u);
            }
        });
        let key = SwitchingKey::from_pairs(&context, to.id, level, [0; 32], pairs)?;
        Ok(Self { context, from: from.key_id(), is_delegation: true, key })
    }

    /// A key from its parts, as a file holds it: that of [`Self::between`] by its seed and b halves, that of
    /// [`Self::delegation`] by both halves of each digit.
    ///
    /// # Errors
    /// [`RlweError::BadKey`] if the polynomials do not fit the context and level.
    pub fn from_parts(
        context: &Arc<Context>,
        (from, to): (KeyId, KeyId),
        level: usize,
        seed: Option<[u8; 32]>,
        polys: Vec<Poly<Eval>>,
    ) -> Result<Self, RlweError> {
        let key = match seed {
            Some(seed) => SwitchingKey::from_parts(context, to, level, seed, polys)?,
            None => SwitchingKey::from_pairs(context, to, level, [0; 32], polys)?,
        };
        Ok(Self { context: Arc::clone(context), from, is_delegation: seed.is_none(), key })
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The key pairs that it brings ciphertexts from and to.
    pub fn pairs(&self) -> (KeyId, KeyId) {
        (self.from, self.key.key_id())
    }

    /// Whether it was made for a recipient: its errors are those of public-key encryptions.
    pub fn is_delegation(&self) -> bool {
        self.is_delegation
    }

    /// The highest level of ciphertexts.
    pub fn level(&self) -> usize {
        self.key.level()
    }

    /// The switching key inside.
    pub fn switching_key(&self) -> &SwitchingKey {
        &self.key
    }

    /// (c_0, c_1) under the other key pair; `multiplier` as in [`switch`].
    ///
    /// # Errors
    /// [`RlweError::OtherKeyPair`] for a ciphertext of another pair, [`RlweError::KeyLevelTooLow`].
    pub fn apply(&self, [c0, c1]: [&Poly<Eval>; 2], id: KeyId, multiplier: u64) -> Result<[Poly<Eval>; 2], RlweError> {
        let same: Result<(), OtherKeyPair> = check_same_keys("re-encrypt", self.from, id);
        same?;
        let epilogue = Epilogue { addends: [Some(c0), None], automorphism: None };
        switch(&self.context, c1, multiplier, &self.key, &epilogue)
    }
}

/// # Errors
/// [`RlweError::BadKey`], [`RlweError::OutOfRange`].
fn check(from: &SecretKey, to: &Arc<Context>, level: usize) -> Result<Arc<Context>, RlweError> {
    if !Arc::ptr_eq(from.context(), to) {
        return Err(RlweError::BadKey { what: "key of the recipient" });
    }
    Limits::between(1, to.top_level()).check("the level of a key", level)?;
    Ok(Arc::clone(to))
}
