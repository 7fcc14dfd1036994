//! A client: the secret key, encryption and decryption.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use windlass_rlwe::{PublicKey, ReceivingKey, ReencryptionKey, SecretKey, SecretRng, process_id};
use zeroize::Zeroizing;

use super::context::Context;
use super::family::{Approximate, Exact, Family, Mock};
use crate::Integer;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::plaintext::Plaintext;
use crate::schemes::ckks::{self, Complex64, Publication, Published, WideComplex, complex};
use crate::schemes::clear::{Clear, ClearCiphertext};
use crate::schemes::{Ciphertext, Decryptor, Encryptor};

/// The side that holds the secret key: it encrypts, decrypts, and makes the keys of servers.
///
/// A vector may be shorter than the number of slots; it is padded with zeros. Integers of any
/// primitive type are reduced modulo p^r. Decryption returns residues in [0, p^r).
///
/// ```
/// use windlass::{Context, needs::Products};
///
/// let context = Context::preset("insecure_toy_256")?;
/// let (client, server) = context.generate_keys([&Products])?;
/// let x = client.encrypt(&[3, -1, 200])?;
/// let squares = server.square(&x)?;
/// assert_eq!(client.decrypt(&squares)?[..4], [9, 1, 40_000 % 257, 0]);
/// # Ok::<(), windlass::Error>(())
/// ```
pub struct Client<F: Family = Exact> {
    context: Context<F>,
    secret: F::Secret,
    rng: Mutex<OwnRng>,
}

/// A generator and the process that it belongs to. A fork copies the generator, and two processes
/// must not draw the same numbers.
struct OwnRng {
    process: u32,
    rng: SecretRng,
}

impl<F: Family> fmt::Debug for Client<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("context", &self.context).finish_non_exhaustive()
    }
}

impl<F: Family> Client<F> {
    pub(crate) fn new(context: Context<F>, secret: F::Secret, rng: SecretRng) -> Self {
        Self { context, secret, rng: Mutex::new(OwnRng { process: process_id(), rng }) }
    }

    /// The context.
    pub fn context(&self) -> &Context<F> {
        &self.context
    }

    /// The secret of this family.
    pub(super) fn secret(&self) -> &F::Secret {
        &self.secret
    }

    /// A generator forked from the client's, so that many threads can encrypt at once. A panic in
    /// another thread cannot make the client's generator repeat its output. A forked process seeds
    /// it again from the operating system.
    ///
    /// # Errors
    /// [`Error::Rlwe`] if a forked process gets no entropy.
    pub(super) fn fork_rng(&self) -> Result<SecretRng> {
        let mut own = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        let process = process_id();
        if own.process != process {
            *own = OwnRng { process, rng: SecretRng::from_os()? };
        }
        Ok(SecretRng::fork(&mut own.rng))
    }
}

impl<F: Family<Secret = Arc<SecretKey>>> Client<F> {
    /// The secret key.
    pub fn secret_key(&self) -> &Arc<SecretKey> {
        &self.secret
    }

    /// A fresh public key, with which others can encrypt.
    ///
    /// # Errors
    /// [`Error::Rlwe`] if a forked process gets no entropy.
    pub fn public_key(&self) -> Result<PublicKey> {
        Ok(PublicKey::generate(&self.secret, &mut self.fork_rng()?))
    }
}

impl<F: Family<Secret = Arc<SecretKey>>> Client<F> {
    /// What others need to delegate ciphertexts to this client ([`Self::delegation_key`]).
    ///
    /// # Errors
    /// As [`Self::public_key`].
    pub fn receiving_key(&self) -> Result<ReceivingKey> {
        Ok(ReceivingKey::generate(&self.secret, &mut self.fork_rng()?))
    }

    /// A key that brings ciphertexts of this client to another key pair of the same owner, without decrypting them: for
    /// a server that stores them, when a key pair is changed.
    ///
    /// # Errors
    /// [`Error::Rlwe`] for a client of other parameters.
    pub fn reencryption_key(&self, to: &Self) -> Result<ReencryptionKey> {
        let level = self.secret.context().top_level();
        Ok(ReencryptionKey::between(&self.secret, &to.secret, level, &mut self.fork_rng()?)?)
    }

    /// A key that brings ciphertexts of this client to a recipient, who then reads them.
    ///
    /// **Warning.** The recipient, together with a server that has the key, can read *all* ciphertexts of this client, also
    /// those that are not given on. The recipient alone reads the errors of what is given on, which depend on the secret:
    /// who knows how it was encrypted learns the secret from enough of it. Make a key pair for what will be given on alone.
    ///
    /// # Errors
    /// [`Error::Rlwe`] for a recipient of other parameters.
    pub fn delegation_key(&self, to: &ReceivingKey) -> Result<ReencryptionKey> {
        let level = self.secret.context().top_level();
        Ok(ReencryptionKey::delegation(&self.secret, to, level, &mut self.fork_rng()?)?)
    }
}

impl Client {
    /// Encrypts one integer in each slot.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if there are more integers than slots.
    pub fn encrypt<T: Integer>(&self, values: &[T]) -> Result<Ciphertext> {
        self.encrypt_plaintext(&Plaintext::from_integers(self.context.slot_ring(), values)?)
    }

    /// Encrypts elements of GR(p^r; d), `[ℓ][d]` coefficients, row-major.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if there are more than ℓ·d coefficients.
    pub fn encrypt_elements<T: Integer>(&self, coefficients: &[T]) -> Result<Ciphertext> {
        self.encrypt_plaintext(&Plaintext::from_slots(self.context.slot_ring(), coefficients)?)
    }

    /// Encrypts any element of the plaintext ring, at the top level.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] if the element belongs to another ring.
    pub fn encrypt_plaintext(&self, plaintext: &Plaintext) -> Result<Ciphertext> {
        let top = self.context.params().top_level();
        Ok(self.decryptor().encrypt(plaintext, top, &mut self.fork_rng()?)?.0)
    }

    /// The integers in the slots, each in [0, p^e), where p^e is the plaintext modulus of the
    /// ciphertext.
    ///
    /// # Errors
    /// [`Error::CapacityExhausted`] or [`Error::NotDecryptable`] instead of a wrong answer;
    /// [`Error::ContextMismatch`]; [`Error::Ring`] if a slot holds an element that is not an
    /// integer.
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Vec<u64>> {
        self.decrypt_plaintext(ciphertext)?.to_integers()
    }

    /// The elements in the slots, `[ℓ][d]` coefficients, row-major.
    ///
    /// # Errors
    /// As [`Self::decrypt`], except [`Error::Ring`].
    pub fn decrypt_elements(&self, ciphertext: &Ciphertext) -> Result<Vec<u64>> {
        Ok(self.decrypt_plaintext(ciphertext)?.to_slots())
    }

    /// The decrypted element of the plaintext ring.
    ///
    /// # Errors
    /// As [`Self::decrypt_elements`].
    pub fn decrypt_plaintext(&self, ciphertext: &Ciphertext) -> Result<Plaintext> {
        self.decryptor().decrypt(ciphertext)
    }

    /// An encryptor for others, with a fresh public key.
    ///
    /// # Errors
    /// As [`Self::public_key`].
    pub fn encryptor(&self) -> Result<Encryptor> {
        let encryptor = Encryptor::new(self.context.scheme(), Arc::new(self.public_key()?));
        encryptor.at_level(self.context.params().top_level())
    }

    /// The decryptor of the layer below, which also controls levels and seeds.
    pub fn decryptor(&self) -> Decryptor {
        Decryptor::new(self.context.scheme(), self.context.slot_ring(), Arc::clone(&self.secret))
    }
}

impl Client<Approximate> {
    /// Encrypts real numbers of absolute value at most 1. The vector is padded with zeros to a
    /// power of two, which becomes the number of slots of the ciphertext. The unpadded numbers are
    /// its entries ([`ckks::Ciphertext::entries`]). The number of entries is public.
    ///
    /// # Errors
    /// [`Error::SlotCount`] if there are no numbers or more than n/2; [`Error::NotFinite`];
    /// [`Error::ValueTooLarge`].
    pub fn encrypt(&self, values: &[f64]) -> Result<ckks::Ciphertext> {
        self.encrypt_complex(&complex(values), 1.0)
    }

    /// Encrypts complex numbers of absolute value at most `bound`. The bound is public, so it must
    /// not depend on the values.
    ///
    /// # Errors
    /// As [`Self::encrypt`]; [`Error::BoundTooLarge`].
    pub fn encrypt_complex(&self, values: &[Complex64], bound: f64) -> Result<ckks::Ciphertext> {
        let padded = self.padded(values, Complex64::ZERO);
        let (decryptor, top) = (self.decryptor()?, self.context.ckks().top_level());
        let ciphertext = decryptor.encrypt(&padded, bound, top, &mut self.fork_rng()?)?.0;
        Ok(ciphertext.with_zeros_beside(values.len()))
    }

    /// As [`Self::encrypt_complex`] for numbers of more bits than doubles have, on contexts with scales of more than
    /// 53 bits ([`Context::precise_refreshing`]). [`Self::decrypt_wide`] reads them.
    ///
    /// # Errors
    /// As there.
    pub fn encrypt_wide(&self, values: &[WideComplex], bound: f64) -> Result<ckks::Ciphertext> {
        let padded = Zeroizing::new(self.padded(values, WideComplex::default()));
        let (decryptor, top) = (self.decryptor()?, self.context.ckks().top_level());
        let ciphertext = decryptor.encrypt_wide(&padded, bound, top, &mut self.fork_rng()?)?.0;
        Ok(ciphertext.with_zeros_beside(values.len()))
    }

    /// The values and zeros up to a power of two; too many values as they are.
    fn padded<T: Clone>(&self, values: &[T], zero: T) -> Vec<T> {
        let fits = !values.is_empty() && values.len() <= self.context.slots();
        let count = if fits { values.len().next_power_of_two() } else { values.len() };
        let mut padded = Vec::with_capacity(count);
        padded.extend_from_slice(values);
        padded.resize(count, zero);
        padded
    }

    /// The real parts of the slots, each with an error of about
    /// 2^−[`ckks::Ciphertext::precision_bits`].
    ///
    /// **Warning.** The errors depend on the secret key. Before you share decrypted values, use
    /// [`Self::decrypt_public`] instead.
    ///
    /// # Errors
    /// [`Error::CapacityExhausted`] if the values may have overflowed; [`Error::ContextMismatch`].
    pub fn decrypt(&self, ciphertext: &ckks::Ciphertext) -> Result<Vec<f64>> {
        self.decryptor()?.decrypt_real(ciphertext)
    }

    /// The slots as complex numbers. The warning of [`Self::decrypt`] applies.
    ///
    /// # Errors
    /// As [`Self::decrypt`].
    pub fn decrypt_complex(&self, ciphertext: &ckks::Ciphertext) -> Result<Vec<Complex64>> {
        self.decryptor()?.decrypt(ciphertext)
    }

    /// The slots as numbers of two doubles, to some 90 bits of the largest slot. The warning of [`Self::decrypt`]
    /// applies.
    ///
    /// # Errors
    /// As [`Self::decrypt`].
    pub fn decrypt_wide(&self, ciphertext: &ckks::Ciphertext) -> Result<Vec<WideComplex>> {
        self.decryptor()?.decrypt_wide(ciphertext)
    }

    /// The slots with added noise that hides their errors. The result is safe to publish.
    ///
    /// # Errors
    /// As [`ckks::Decryptor::decrypt_public`].
    pub fn decrypt_public(&self, ciphertext: &ckks::Ciphertext, publication: Publication) -> Result<Published> {
        let decryptor = self.decryptor()?;
        decryptor.decrypt_public(ciphertext, publication, &mut self.fork_rng()?)
    }

    /// An encryptor for others, with a fresh public key.
    ///
    /// # Errors
    /// None if a context made the client.
    pub fn encryptor(&self) -> Result<ckks::Encryptor> {
        ckks::Encryptor::new(self.context.ckks(), Arc::new(self.public_key()?))
    }

    /// The decryptor of the layer below, which also controls levels and seeds.
    ///
    /// # Errors
    /// None if a context made the client.
    pub fn decryptor(&self) -> Result<ckks::Decryptor> {
        ckks::Decryptor::new(self.context.ckks(), Arc::clone(&self.secret))
    }
}

impl Client<Mock> {
    /// Wraps the integers as [`Client::<Exact>::encrypt`] would, without encryption.
    ///
    /// # Errors
    /// As [`Client::<Exact>::encrypt`].
    pub fn encrypt<T: Integer>(&self, values: &[T]) -> Result<ClearCiphertext> {
        self.encrypt_plaintext(&Plaintext::from_integers(self.context.slot_ring(), values)?)
    }

    /// Wraps any element of the plaintext ring, without encryption.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`].
    pub fn encrypt_plaintext(&self, plaintext: &Plaintext) -> Result<ClearCiphertext> {
        Clear::new(self.context.slot_ring()).encrypt(plaintext)
    }

    /// The integers in the slots.
    ///
    /// # Errors
    /// [`Error::Ring`] if a slot holds an element that is not an integer.
    pub fn decrypt(&self, ciphertext: &ClearCiphertext) -> Result<Vec<u64>> {
        ciphertext.plaintext().to_integers()
    }
}
