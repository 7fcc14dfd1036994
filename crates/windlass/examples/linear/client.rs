//! The two sides of the examples: a client with its secret key, and the evaluation keys that it gives to a server.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass::ring::slots::SlotRing;
use windlass::rlwe::{Context, EvaluationKeys, PublicKey, SecretKey, context::os_rng};
use windlass::schemes::{Ciphertext, Decryptor, Encryptor, Engine};
use windlass::{Params, Plaintext};

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

pub struct Client {
    params: Params,
    context: Arc<Context>,
    slots: Arc<SlotRing>,
    secret: Arc<SecretKey>,
    encryptor: Encryptor,
}

impl Client {
    pub fn new(preset: &str, scheme: windlass::schemes::Scheme) -> Result<Self> {
        let params = Params::preset(preset, scheme)?;
        let (context, slots) = (params.context()?, params.slot_ring()?);
        let mut rng = os_rng()?;
        let secret = Arc::new(SecretKey::generate(&context, &mut rng));
        let encryptor = Encryptor::new(scheme, Arc::new(PublicKey::generate(&secret, &mut rng)));
        Ok(Self { params, context, slots, secret, encryptor })
    }

    pub fn slots(&self) -> &Arc<SlotRing> {
        &self.slots
    }

    /// What the server needs: keys for just these automorphisms, and one for products.
    pub fn server(&self, automorphisms: &BTreeSet<u64>) -> Result<Engine> {
        let mut keys = EvaluationKeys::empty(&self.context);
        keys.add_relinearisation(&self.secret, self.context.top_level(), &mut os_rng()?)?;
        for &t in automorphisms {
            keys.add_galois(&self.secret, t, self.context.top_level(), &mut os_rng()?)?;
        }
        Ok(Engine::new(self.params.scheme(), &self.slots, Arc::new(keys))?)
    }

    /// Encrypts integers, one for each slot; missing ones are 0.
    pub fn encrypt(&self, values: &[u64]) -> Result<Ciphertext> {
        let mut padded = values.to_vec();
        padded.resize(self.slots.slots(), 0);
        let plaintext = Plaintext::from_integers(&self.slots, &padded)?;
        Ok(self.encryptor.encrypt(&plaintext, &mut os_rng()?)?)
    }

    pub fn encrypt_plaintext(&self, plaintext: &Plaintext) -> windlass::Result<Ciphertext> {
        self.encryptor.encrypt(plaintext, &mut os_rng()?)
    }

    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Vec<u64>> {
        let decryptor = Decryptor::new(self.params.scheme(), &self.slots, Arc::clone(&self.secret));
        Ok(decryptor.decrypt(ciphertext)?.to_integers()?)
    }
}
