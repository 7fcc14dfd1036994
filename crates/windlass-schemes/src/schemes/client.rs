//! Encryption and checked decryption.

use std::sync::Arc;

use num_bigint::BigInt;
use rand_core::RngCore;
use windlass_ring::kernels::arith::{self, Reducer};
use windlass_ring::rns::IntegerLift;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::{Bound, Context, KeyId, Limits, NoiseModel, PublicKey, SecretKey};
use zeroize::Zeroize;

use super::engine::{Ciphertext, MARGIN_BITS, centred};
use crate::error::{Error, Result};
use crate::plaintext::Plaintext;
use crate::schemes::Scheme;
use crate::schemes::pairs::RlweCiphertext;
use windlass_ring::slots::SlotRing;

/// The message part of a fresh ciphertext over `level`: factor·message in BGV form, that divided by
/// t in BFV form.
pub(super) fn message(
    context: &Context,
    scheme: Scheme,
    plaintext: &Plaintext,
    factor: u64,
    level: usize,
) -> Poly<Eval> {
    let t = plaintext.slot_ring().modulus().value();
    let mut lifted: Vec<i64> =
        plaintext.coefficients().iter().map(|&x| centred(arith::mul_mod(x, factor, t), t)).collect();
    let mut message = Poly::from_signed(context.ring(), &context.basis(level), &lifted).into_eval();
    lifted.zeroize();
    if scheme == Scheme::Bfv {
        message.mul_scalar_assign(|q| q.inv(q.reduce(t)));
    }
    message
}

/// The factor of a fresh ciphertext at `level`: 1 for BGV; −Q mod t for BFV, whose phase is then
/// round(Q·m/t) + e.
fn fresh_factor(context: &Context, scheme: Scheme, t: u64, level: usize) -> u64 {
    match scheme {
        Scheme::Bgv => 1 % t,
        Scheme::Bfv => (t - context.levels().modulus(level, t)) % t,
    }
}

/// Refuses plaintexts that keys of this context cannot encrypt, before anything is sampled.
fn check_plaintext(context: &Context, plaintext: &Plaintext) -> Result<()> {
    let (slots, params) = (plaintext.slot_ring(), context.params());
    if slots.m() != params.m() {
        return Err(Error::ContextMismatch {
            operation: "encrypt",
            left: format!("keys for m = {}", params.m()),
            right: format!("a plaintext for m = {}", slots.m()),
        });
    }
    Ok(params.check_plaintext_prime(slots.prime())?)
}

fn fresh(
    (context, key): (&Arc<Context>, KeyId),
    scheme: Scheme,
    plaintext: &Plaintext,
    zero: [Poly<Eval>; 2],
    (model, noise): (&NoiseModel, Bound),
) -> Result<Ciphertext> {
    let slots = plaintext.slot_ring();
    let t = slots.modulus().value();
    let level = context.level_of(zero[0].basis());
    let log2_modulus = context.log2_modulus(level);
    let capacity = model.capacity(log2_modulus, noise);
    if capacity <= MARGIN_BITS {
        let left_bits = log2_modulus - 1.0;
        let needed_bits = left_bits - capacity;
        return Err(Error::CapacityExhausted { operation: "encrypt", needed_bits, left_bits });
    }
    let factor = fresh_factor(context, scheme, t, level);
    let mut parts = Vec::from(zero);
    if scheme == Scheme::Bgv {
        parts.iter_mut().for_each(|part| part.mul_scalar_assign(|q| q.reduce(t)));
    }
    let mut encoded = message(context, scheme, plaintext, factor, level);
    parts[0].add_assign(&encoded);
    encoded.zeroize();
    Ok(Ciphertext {
        context: Arc::clone(context),
        key,
        hypercube: Arc::clone(slots.hypercube()),
        scheme,
        parts: parts.into(),
        prime: slots.prime(),
        exponent: slots.modulus().exponent(),
        factor,
        noise,
        content: plaintext.content(),
    })
}

/// Encrypts under a public key.
///
/// A key serves every plaintext modulus and slot order of its m, so a plaintext brings its own. The
/// ciphertext says which they are, and who works with others refuses it.
#[derive(Debug, Clone)]
pub struct Encryptor {
    scheme: Scheme,
    key: Arc<PublicKey>,
    level: usize,
}

impl Encryptor {
    /// An encryptor for one scheme and key.
    pub fn new(scheme: Scheme, key: Arc<PublicKey>) -> Self {
        let level = key.context().top_level();
        Self { scheme, key, level }
    }

    /// The same for ciphertexts at a lower level: the levels above are those of a refresh.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a level outside the chain.
    pub fn at_level(self, level: usize) -> Result<Self> {
        Limits::between(1, self.key.context().top_level()).check("level", level)?;
        Ok(Self { level, ..self })
    }

    /// A fresh encryption at the top level, or at that of [`Self::at_level`].
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] for a plaintext of another m than the key's;
    /// [`Error::OutOfRange`] for a plaintext prime that is one of the modulus chain;
    /// [`Error::CapacityExhausted`] for a modulus without room for p^r.
    pub fn encrypt(&self, plaintext: &Plaintext, rng: &mut impl RngCore) -> Result<Ciphertext> {
        let context = self.key.context();
        check_plaintext(context, plaintext)?;
        // The bound must not depend on the message: it covers every one.
        let model = NoiseModel::new(context.params(), plaintext.slot_ring().modulus().value());
        let noise = (&model, model.fresh_public());
        let mut zero = self.key.encrypt_zero(rng);
        if self.level < context.top_level() {
            zero = zero.map(|part| part.restrict(&context.basis(self.level)));
        }
        fresh((context, self.key.key_id()), self.scheme, plaintext, zero, noise)
    }
}

/// Encrypts and decrypts under a secret key.
#[derive(Debug)]
pub struct Decryptor {
    scheme: Scheme,
    key: Arc<SecretKey>,
    slot_ring: Arc<SlotRing>,
    noise: NoiseModel,
}

impl Decryptor {
    /// A decryptor for one scheme, plaintext ring and key.
    pub fn new(scheme: Scheme, slot_ring: &Arc<SlotRing>, key: Arc<SecretKey>) -> Self {
        let noise = NoiseModel::new(key.context().params(), slot_ring.modulus().value());
        Self { scheme, key, slot_ring: Arc::clone(slot_ring), noise }
    }

    /// A fresh secret-key encryption at `level` of an element of the plaintext ring, modulo p^r or
    /// a lower power of p, and the seed from which its second part is expanded. The ciphertext
    /// knows it too ([`Ciphertext::seed`]): half the size on the wire.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] for a plaintext of another ring or slot order;
    /// [`Error::OutOfRange`] for a level outside the chain or a plaintext prime that is one of the
    /// chain; [`Error::CapacityExhausted`] for a level without room for p^r.
    pub fn encrypt(
        &self,
        plaintext: &Plaintext,
        level: usize,
        rng: &mut impl RngCore,
    ) -> Result<(Ciphertext, [u8; 32])> {
        let context = self.key.context();
        check_plaintext(context, plaintext)?;
        plaintext.check_ring_or_lower(&self.slot_ring, "encrypt")?;
        Limits::between(1, context.top_level()).check("level", level)?;
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let t = plaintext.slot_ring().modulus().value();
        let multiplier = if self.scheme == Scheme::Bgv { t } else { 1 };
        let zero = self.key.encrypt_zero(level, seed, multiplier, rng);
        let model = self.noise.with_plaintext_modulus(t);
        let noise = (&model, model.fresh_secret());
        let ct = fresh((context, self.key.key_id()), self.scheme, plaintext, zero, noise)?;
        Ok((ct.with_seed(seed), seed))
    }

    /// The message, in the ring modulo p^e for a ciphertext of exponent e: lower than r after exact
    /// divisions by p. The lower ring is made once, when it is first needed ([`SlotRing::lower`]).
    ///
    /// # Errors
    /// [`Error::CapacityExhausted`] if the noise bound no longer guarantees the right answer;
    /// [`Error::NotDecryptable`] if the noise is seen to exceed its bound (another key, a
    /// ciphertext changed on its way, an inexact division by p); [`Error::ContextMismatch`];
    /// [`Error::OtherKeyPair`]; [`Error::OtherSlotOrder`].
    pub fn decrypt(&self, ct: &Ciphertext) -> Result<Plaintext> {
        self.check(ct)?;
        let capacity = self.noise.capacity(self.key.context().log2_modulus(ct.level()), ct.noise);
        if capacity <= MARGIN_BITS {
            return Err(Error::CapacityExhausted { operation: "decrypt", needed_bits: -capacity, left_bits: 0.0 });
        }
        read(ct, self.epsilon(ct), &self.slot_ring, capacity)
    }

    /// log2 of the largest powerful-basis coefficient of ε in the ciphertext.
    ///
    /// The value depends on the secret key and on the message: published, or used to answer
    /// queries, it is a decryption oracle (IND-CPA-D). For tests and experiments on keys of your
    /// own.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`].
    pub fn exact_noise_leaks_the_secret_key(&self, ct: &Ciphertext) -> Result<f64> {
        self.check(ct)?;
        let epsilon = self.epsilon(ct).into_coeff();
        let coefficients = IntegerLift::new(epsilon.ring(), epsilon.basis()).centred(&epsilon);
        let largest = coefficients.iter().map(BigInt::magnitude).max().map_or(0, |x| x.bits());
        Ok(largest as f64)
    }

    fn check(&self, ct: &Ciphertext) -> Result<()> {
        ct.check("decrypt", self.key.context(), Some(self.key.key_id()), self.scheme, &self.slot_ring)
    }

    fn epsilon(&self, ct: &Ciphertext) -> Poly<Eval> {
        let mut phase = self.key.phase(&ct.parts);
        if self.scheme == Scheme::Bfv {
            let t = ct.prime.pow(ct.exponent);
            phase.mul_scalar_assign(|q| q.reduce(t));
        }
        phase
    }
}

/// The message of ε, whose coefficients are at most 2^{−1−capacity}·Q. `epsilon` is wiped.
pub(super) fn read(
    ct: &Ciphertext,
    epsilon: Poly<Eval>,
    slot_ring: &Arc<SlotRing>,
    capacity: f64,
) -> Result<Plaintext> {
    let t = ct.prime.pow(ct.exponent);
    let mut epsilon = epsilon.into_coeff();
    let lift = IntegerLift::new(epsilon.ring(), epsilon.basis());
    let (mut residues, fraction) = lift.centred_mod(&epsilon, t);
    epsilon.zeroize();
    // The bound holds coefficient by coefficient; fractions are off by less than 2^{−40}.
    if fraction > (-1.0 - capacity).exp2() * 1.001 + 2f64.powi(-39) {
        residues.zeroize();
        return Err(Error::NotDecryptable { beyond: None });
    }
    let (inverse, reducer) = (arith::inv_mod(ct.factor, t).expect("factors are units"), Reducer::new(t));
    residues.iter_mut().for_each(|x| *x = reducer.mul(*x, inverse));
    Ok(Plaintext::new(&slot_ring.lower(ct.exponent)?, residues)?.declared(ct.content))
}

impl Ciphertext {
    /// The same message, noise and level in the form of the other scheme: one scalar
    /// multiplication, no noise.
    pub fn to_scheme(&self, scheme: Scheme) -> Self {
        let mut out = self.clone();
        let t = self.prime.pow(self.exponent);
        match (self.scheme, scheme) {
            (Scheme::Bgv, Scheme::Bfv) => {
                out.parts.iter_mut().for_each(|part| part.mul_scalar_assign(|q| q.inv(q.reduce(t))));
            }
            (Scheme::Bfv, Scheme::Bgv) => out.parts.iter_mut().for_each(|part| part.mul_scalar_assign(|q| q.reduce(t))),
            _ => {}
        }
        out.scheme = scheme;
        out
    }
}
