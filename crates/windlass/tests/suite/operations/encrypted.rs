//! The same operations on ciphertexts, with the noise inside its bound, and what only ciphertexts
//! have.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;
use windlass::schemes::{Ciphertext, Scheme};
use windlass::{Client, Error, Evaluator, NeedsKeys, Server};
use windlass_ring::kernels::Isa;
use windlass_ring::slots::SlotRing;

use crate::fixture::{SCHEMES, chain, context_over, keys};
use crate::operations::cases::Inputs;
use crate::operations::{triples, turned};

pub fn parties(ring: &Arc<SlotRing>, scheme: Scheme, needs: &dyn NeedsKeys) -> (Client, Server) {
    let spec = chain(ring.m(), &[50, 50, 48, 48, 48, 48, 48], &[50; 3]);
    context_over(ring, scheme, spec).generate_keys_from_seed([needs], 7).unwrap()
}

/// The slots modulo the ciphertext's plaintext modulus; the exact noise must be inside the bound.
fn decrypt(client: &Client, ct: &Ciphertext, modulus: u64, label: &str) -> Vec<u64> {
    // A bound on the canonical norm is one on the coefficients but for a small factor of the ring:
    // 2 for each odd prime.
    let exact = client.decryptor().exact_noise_leaks_the_secret_key(ct).unwrap();
    assert!(exact <= ct.log2_noise().max(0.0) + 4.0, "{label}: noise 2^{exact}, bound 2^{}", ct.log2_noise());
    let slots = client.decrypt_elements(ct).unwrap_or_else(|e| panic!("{label}: {e}"));
    slots.iter().map(|x| x % modulus).collect()
}

fn check(ring: &Arc<SlotRing>, label: &str) {
    let inputs = Inputs::new(ring);
    for scheme in SCHEMES {
        let label = format!("{scheme} {label}");
        let (client, server) = parties(ring, scheme, &keys(inputs.keys()));
        // With the public key, and with the secret key at a lower level.
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        let a = client.encryptor().unwrap().encrypt(&inputs.plaintext(&inputs.x), &mut rng).unwrap();
        let (b, _) = client.decryptor().encrypt(&inputs.plaintext(&inputs.y), 6, &mut rng).unwrap();
        let cases = inputs.run(server.engine(), &a, &b).unwrap_or_else(|e| panic!("{label}: {e}"));
        for case in &cases {
            let label = format!("{label}: {}", case.name);
            let slots = decrypt(&client, &case.ciphertext, case.modulus, &label);
            assert_eq!(slots, case.expected, "{label}");
            switch_and_convert((&client, &server), &case.ciphertext, (&case.expected, case.modulus), &label);
        }
    }
}

/// By hand to half the level, automatically to the least; there and back between the schemes.
fn switch_and_convert(parties: (&Client, &Server), ct: &Ciphertext, expected: (&[u64], u64), label: &str) {
    let ((client, server), (slots, modulus)) = (parties, expected);
    let (e, scheme) = (server.engine(), client.context().scheme());
    let reduced = e.reduce_level(ct, 2.0).unwrap_or_else(|error| panic!("{label}: {error}"));
    assert!(reduced.level() <= ct.level() && e.capacity(&reduced) > 0.0, "{label}");
    assert_eq!(decrypt(client, &reduced, modulus, label), slots, "{label}, lowest level {}", reduced.level());
    let between = (reduced.level() + ct.level()) / 2;
    let switched = e.switch_modulus(ct, between).unwrap();
    assert_eq!(switched.level(), between);
    assert_eq!(decrypt(client, &switched, modulus, label), slots, "{label}, level {between}");
    for level in [0, ct.level() + 1] {
        assert!(matches!(e.switch_modulus(ct, level), Err(Error::OutOfRange { .. })), "{label}: no level {level}");
    }
    let other = if scheme == Scheme::Bgv { Scheme::Bfv } else { Scheme::Bgv };
    let there = switched.to_scheme(other);
    assert!(matches!(client.decrypt(&there), Err(Error::ContextMismatch { .. })), "{label}: as {other}");
    assert!(matches!(e.negate(&there), Err(Error::ContextMismatch { .. })), "{label}: as {other}");
    assert_eq!(decrypt(client, &there.to_scheme(scheme), modulus, label), slots, "{label} there and back");
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
    for triple in [(105, 2, 3), (255, 2, 1), (64, 3, 2), (91, 3, 2)] {
        check(&turned(triple), &format!("{triple:?} with other generators"));
    }
}

/// A BFV ciphertext and a BGV ciphertext of one key meet after conversion.
#[test]
fn ciphertexts_of_both_schemes_meet() {
    for (m, p, r) in [(105, 2, 3), (64, 17, 1), (45, 127, 2)] {
        let ring = Arc::new(SlotRing::new(m, p, r, Isa::best()).unwrap());
        let inputs = Inputs::new(&ring);
        // Keys do not depend on the scheme: the same seed gives both clients the same secret.
        let [(bgv, server), (bfv, _)] = SCHEMES.map(|scheme| parties(&ring, scheme, &keys([])));
        let a = bgv.encrypt_plaintext(&inputs.plaintext(&inputs.x)).unwrap();
        let b = bfv.encrypt_plaintext(&inputs.plaintext(&inputs.y)).unwrap();
        let bytes = |ct: &Ciphertext| ct.parts()[0].data().to_vec();
        let foreign = b.to_scheme(Scheme::Bgv);
        assert_ne!(bytes(&foreign), bytes(&b));
        // Equal parameters are one context, and the same seed drew the same name for the key pair.
        let product = server.multiply(&a, &foreign).unwrap();
        let slots = decrypt(&bgv, &product, inputs.model.modulus(), "product");
        assert_eq!(slots, inputs.model.mul(&inputs.x, &inputs.y), "m = {m}");
    }
}
