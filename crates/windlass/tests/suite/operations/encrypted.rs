//! The same operations on ciphertexts, with the noise inside its bound, and what only ciphertexts have.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;
use windlass::schemes::{Ciphertext, Decryptor, Encryptor, Engine, Scheme};
use windlass::{Error, Evaluator, Plaintext};
use windlass_ring::kernels::Isa;
use windlass_ring::slots::{Hypercube, SlotRing};
use windlass_rlwe::{
    Assurance, Context, EvaluationKeys, PublicKey, RlweParams, RlweSpec, SecretDistribution, SecretKey,
};

use crate::operations::cases::Inputs;
use crate::operations::triples;

const SCHEMES: [Scheme; 2] = [Scheme::Bgv, Scheme::Bfv];

/// Keys of one client over one plaintext ring.
pub struct Client {
    pub engine: Engine,
    encryptor: Encryptor,
    decryptor: Decryptor,
    rng: ChaCha20Rng,
}

fn context(m: u64) -> Arc<Context> {
    let params = RlweParams::new(&RlweSpec {
        m,
        q_prime_bits: vec![50, 50, 48, 48, 48, 48, 48],
        special_prime_bits: vec![50, 50, 50],
        digits: 3,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    });
    Context::new(params.unwrap()).unwrap()
}

pub fn client(ring: &Arc<SlotRing>, scheme: Scheme, galois: &BTreeSet<u64>) -> Client {
    let context = context(ring.m());
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let secret = SecretKey::generate(&context, &mut rng);
    let public = Arc::new(PublicKey::generate(&secret, &mut rng));
    let mut keys = EvaluationKeys::empty(&context);
    keys.add_relinearisation(&secret, context.top_level(), &mut rng).unwrap();
    for &t in galois {
        keys.add_galois(&secret, t, context.top_level(), &mut rng).unwrap();
    }
    Client {
        engine: Engine::new(scheme, ring, Arc::new(keys)).unwrap(),
        encryptor: Encryptor::new(scheme, public),
        decryptor: Decryptor::new(scheme, ring, Arc::new(secret)),
        rng,
    }
}

impl Client {
    pub fn encrypt(&mut self, plaintext: &Plaintext) -> Ciphertext {
        self.encryptor.encrypt(plaintext, &mut self.rng).unwrap()
    }

    pub fn decrypt_plaintext(&self, ct: &Ciphertext) -> Plaintext {
        self.decryptor.decrypt(ct).unwrap()
    }

    /// The slots modulo the ciphertext's plaintext modulus; the exact noise must be inside the bound.
    fn decrypt(&self, ct: &Ciphertext, modulus: u64, label: &str) -> Vec<u64> {
        // A bound on the canonical norm is one on the coefficients but for a small factor of the ring: 2 for each odd prime.
        let exact = self.decryptor.exact_noise_leaks_the_secret_key(ct).unwrap();
        assert!(exact <= ct.log2_noise().max(0.0) + 4.0, "{label}: noise 2^{exact}, bound 2^{}", ct.log2_noise());
        let plaintext = self.decryptor.decrypt(ct).unwrap_or_else(|e| panic!("{label}: {e}"));
        plaintext.to_slots().iter().map(|x| x % modulus).collect()
    }
}

fn check(ring: &Arc<SlotRing>, label: &str) {
    let inputs = Inputs::new(ring);
    for scheme in SCHEMES {
        let label = format!("{scheme} {label}");
        let mut client = client(ring, scheme, &inputs.keys());
        let a = client.encrypt(&inputs.plaintext(&inputs.x));
        let (b, _) = client.decryptor.encrypt(&inputs.plaintext(&inputs.y), 6, &mut client.rng).unwrap();
        let cases = inputs.run(&client.engine, &a, &b).unwrap_or_else(|e| panic!("{label}: {e}"));
        for case in &cases {
            let label = format!("{label}: {}", case.name);
            let slots = client.decrypt(&case.ciphertext, case.modulus, &label);
            assert_eq!(slots, case.expected, "{label}");
            switch_and_convert(&client, scheme, &case.ciphertext, (&case.expected, case.modulus), &label);
        }
    }
}

/// By hand to half the level, automatically to the least; there and back between the schemes.
fn switch_and_convert(client: &Client, scheme: Scheme, ct: &Ciphertext, expected: (&[u64], u64), label: &str) {
    let (e, (slots, modulus)) = (&client.engine, expected);
    let reduced = e.reduce_level(ct, 2.0).unwrap_or_else(|error| panic!("{label}: {error}"));
    assert!(reduced.level() <= ct.level() && e.capacity(&reduced) > 0.0, "{label}");
    assert_eq!(client.decrypt(&reduced, modulus, label), slots, "{label}, lowest level {}", reduced.level());
    let between = (reduced.level() + ct.level()) / 2;
    let switched = e.switch_modulus(ct, between).unwrap();
    assert_eq!(switched.level(), between);
    assert_eq!(client.decrypt(&switched, modulus, label), slots, "{label}, level {between}");
    for level in [0, ct.level() + 1] {
        assert!(matches!(e.switch_modulus(ct, level), Err(Error::OutOfRange { .. })), "{label}: no level {level}");
    }
    let other = if scheme == Scheme::Bgv { Scheme::Bfv } else { Scheme::Bgv };
    let there = switched.to_scheme(other);
    assert!(matches!(client.decryptor.decrypt(&there), Err(Error::ContextMismatch { .. })), "{label}: as {other}");
    assert!(matches!(e.negate(&there), Err(Error::ContextMismatch { .. })), "{label}: as {other}");
    assert_eq!(client.decrypt(&there.to_scheme(scheme), modulus, label), slots, "{label} there and back");
}

/// Prime, prime power, composite, odd × power of two, powers of two: every p and r.
#[test]
fn operations_on_ciphertexts_for_every_kind_of_ring() {
    triples(&[31, 27, 45, 105, 12, 60, 16, 64]).into_par_iter().for_each(|(m, p, r)| {
        let ring = Arc::new(SlotRing::new(m, p, r, Isa::best()).unwrap());
        check(&ring, &format!("m = {m}, p = {p}, r = {r}"));
    });
}

#[test]
fn operations_on_ciphertexts_of_larger_rings() {
    [(1023, 2, 2), (4369, 2, 1), (4095, 17, 1), (1024, 127, 1)].into_par_iter().for_each(|(m, p, r)| {
        let ring = Arc::new(SlotRing::new(m, p, r, Isa::best()).unwrap());
        check(&ring, &format!("m = {m}, p = {p}, r = {r}"));
    });
}

#[test]
fn operations_on_ciphertexts_with_bad_dimensions() {
    for (m, p, r) in [(105, 2, 3), (255, 2, 1), (64, 3, 2), (91, 3, 2)] {
        let automatic = Hypercube::automatic(m, p).unwrap();
        let generators: Vec<u64> = automatic.dimensions().iter().map(|s| s.generator * p % m).collect();
        let cube = Hypercube::with_generators(m, p, &generators).unwrap();
        let ring = Arc::new(SlotRing::with_hypercube(cube, r, Isa::best()).unwrap());
        check(&ring, &format!("m = {m}, p = {p}, r = {r}, generators {generators:?}"));
    }
}

/// A BFV ciphertext and a BGV ciphertext of one key meet after conversion.
#[test]
fn ciphertexts_of_both_schemes_meet() {
    for (m, p, r) in [(105, 2, 3), (64, 17, 1), (45, 127, 2)] {
        let ring = Arc::new(SlotRing::new(m, p, r, Isa::best()).unwrap());
        let inputs = Inputs::new(&ring);
        // Keys do not depend on the scheme: the same seed gives both clients the same secret.
        let [mut bgv, mut bfv] = SCHEMES.map(|scheme| client(&ring, scheme, &BTreeSet::new()));
        let a = bgv.encrypt(&inputs.plaintext(&inputs.x));
        let b = bfv.encrypt(&inputs.plaintext(&inputs.y));
        let bytes = |ct: &Ciphertext| ct.parts()[0].data().to_vec();
        let foreign = b.to_scheme(Scheme::Bgv);
        assert_ne!(bytes(&foreign), bytes(&b));
        // Equal parameters are one context, and the same seed drew the same name for the key pair.
        let product = bgv.engine.multiply(&a, &foreign).unwrap();
        let slots = bgv.decrypt(&product, inputs.model.modulus(), "product");
        assert_eq!(slots, inputs.model.mul(&inputs.x, &inputs.y), "m = {m}");
    }
}
