//! Seeds of fresh ciphertexts: written by every door, forgotten by every operation.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::Arithmetic;
use windlass::needs::{KeyRequest, Products};
use windlass::schemes::pairs::RlweCiphertext;
use windlass::schemes::{Ciphertext, ckks};
use windlass::wire::{
    ApproximateCiphertextV1, CiphertextList, CiphertextV1, FileContext, NumberKind, Stored, to_payload,
};
use windlass::{Client, Context, Evaluator, Plaintext, Server, Switching};
use windlass_ring::sample;

use crate::fixture::{SCHEMES, chain, context};
use crate::wire::approximate;

/// The constant, the values and the ring of 64 slots modulo 257.
const M: u64 = 128;

fn sides(scheme: windlass::Scheme) -> (Context, Client, Server) {
    let context = context(scheme, (257, 1), chain(M, &[40, 33, 40], &[45]));
    let moved = KeyRequest::none("a test").with_galois([3]);
    let (client, server) = context.generate_keys_from_seed([&Products, &moved], 7).unwrap();
    (context, client, server)
}

/// A seed that is there is that of the second polynomial.
fn is_true<C: RlweCiphertext>(ct: &C) -> bool {
    let second = &ct.parts()[1];
    ct.seed().is_none_or(|seed| sample::uniform(second.ring(), second.basis(), seed, 0) == *second)
}

#[test]
fn every_operation_forgets_the_seed() {
    for scheme in SCHEMES {
        let (context, client, server) = sides(scheme);
        let (engine, constant) = (server.engine(), Plaintext::from_integers(&context, &[1, 2, 3]).unwrap());
        let fresh = client.encrypt(&[5u64, 6, 7]).unwrap();
        assert!(fresh.seed().is_some() && is_true(&fresh), "{scheme}");
        let copy = fresh.clone();
        assert_eq!(copy.seed(), fresh.seed());
        assert_eq!(copy.assume_integers().seed(), fresh.seed());
        let other = if scheme == SCHEMES[0] { SCHEMES[1] } else { SCHEMES[0] };
        let prepared = engine.prepare(&constant).unwrap();
        let made: Vec<(&str, Ciphertext)> = vec![
            ("add", server.add(&fresh, &fresh).unwrap()),
            ("sub", engine.sub(&fresh, &client.encrypt(&[1u64]).unwrap()).unwrap()),
            ("negate", engine.negate(&fresh).unwrap()),
            ("add_plain", engine.add_plain(&fresh, &constant).unwrap()),
            ("sub_plain", engine.sub_plain(&fresh, &constant).unwrap()),
            ("multiply_constant", engine.multiply_constant(&fresh, &prepared).unwrap()),
            ("multiply_scalar", engine.multiply_scalar(&fresh, 3).unwrap()),
            ("square", server.square(&fresh).unwrap()),
            ("automorphism", engine.automorphism(&fresh, 3).unwrap()),
            ("switch_modulus", engine.switch_modulus(&fresh, 2).unwrap()),
            ("mod_down", engine.mod_down(engine.extend(&fresh).unwrap()).unwrap()),
            ("to_scheme", fresh.to_scheme(other)),
            ("zero_like", engine.zero_like(&fresh).unwrap()),
        ];
        for (name, ct) in made {
            assert!(ct.seed().is_none(), "{scheme} {name}");
        }
    }
}

#[test]
fn every_operation_on_real_numbers_forgets_the_seed() {
    let context = approximate::golden_context();
    let (client, server) = context.generate_keys_from_seed([&Products], 5).unwrap();
    let engine = server.engine();
    let fresh = client.encrypt(&[0.5, -0.25]).unwrap();
    assert!(fresh.seed().is_some() && is_true(&fresh));
    assert_eq!(fresh.clone().with_magnitude(0.5).seed(), fresh.seed());
    let half = ckks::Complex64::new(0.3, 0.1);
    let base = context.ckks().base_level();
    let made: Vec<(&str, ckks::Ciphertext)> = vec![
        ("add", engine.add(&fresh, &fresh).unwrap()),
        ("negate", engine.negate(&fresh).unwrap()),
        ("add_plain", engine.add_plain(&fresh, &[half, half]).unwrap()),
        ("multiply_plain", engine.multiply_plain(&fresh, &[half, half]).unwrap()),
        ("multiply_integer", engine.multiply_integer(&fresh, 3).unwrap()),
        ("multiply_i", engine.multiply_i(&fresh).unwrap()),
        ("multiply_scalar", engine.multiply_scalar(&fresh, half).unwrap()),
        ("square", engine.square(&fresh).unwrap()),
        ("lower", engine.lower(&fresh, base).unwrap()),
    ];
    for (name, ct) in made {
        assert!(ct.seed().is_none(), "{name}");
    }
}

/// By `Client::encrypt` as by the layer below: alone, in a list, read and written again.
#[test]
fn fresh_ciphertexts_are_half_as_long_at_every_door() {
    for scheme in SCHEMES {
        let (context, client, server) = sides(scheme);
        let length = |ct: &Ciphertext| context.to_bytes(ct).unwrap().len();
        let fresh = client.encrypt(&[5u64, 6, 7]).unwrap();
        let full = length(&server.add(&fresh, &fresh).unwrap());
        let sizes = context.params().describe().sizes;
        assert_eq!((full - length(&fresh)) as u64, sizes.ciphertext_disk - sizes.fresh_ciphertext_disk);
        assert_eq!(context.to_bytes(&Stored::new(fresh.clone())).unwrap(), context.to_bytes(&fresh).unwrap());
        let public = client.encryptor().unwrap();
        let plaintext = Plaintext::from_integers(&context, &[5u64, 6, 7]).unwrap();
        let public = public.encrypt(&plaintext, &mut ChaCha20Rng::from_seed([1; 32])).unwrap();
        assert!(public.seed().is_none());
        assert_eq!(length(&public), full);
        let list = |ct: &Ciphertext| {
            let list = CiphertextList::new([1, 3], NumberKind::Unsigned, vec![Stored::new(ct.clone())]).unwrap();
            context.to_bytes(&list).unwrap().len()
        };
        assert_eq!(list(&public) - list(&fresh), full - length(&fresh));
        let back: Ciphertext = context.from_bytes(&context.to_bytes(&fresh).unwrap()).unwrap();
        assert_eq!((back.seed(), back.parts()), (fresh.seed(), fresh.parts()));
        assert_eq!(client.decrypt(&back).unwrap()[..3], [5, 6, 7]);
        assert_eq!(length(&back), length(&fresh));
    }
    let context = approximate::golden_context();
    let (client, server) = context.generate_keys_from_seed([&Products], 5).unwrap();
    let fresh = client.encrypt(&[0.5, -0.25]).unwrap();
    let doubled = server.engine().add(&fresh, &fresh).unwrap();
    assert!(context.to_bytes(&fresh).unwrap().len() < context.to_bytes(&doubled).unwrap().len());
}

/// What builds before wrote of `Client::encrypt`: a fresh ciphertext with both polynomials. It is
/// read as it was, and written again in the same bytes.
#[test]
fn fresh_ciphertexts_in_full_stay_readable() {
    let (context, client, _) = sides(SCHEMES[0]);
    let fresh = client.encrypt(&[5u64, 6, 7]).unwrap();
    let seeded = to_payload(context.files(), &fresh).to_vec();
    let mut unknown = fresh.clone();
    // Looking at the polynomials with the right to change them is enough.
    let _ = unknown.parts_mut();
    let full = to_payload(context.files(), &unknown).to_vec();
    assert_eq!((seeded[1] & 1, full[1] & 1), (1, 0));
    let files = context.files();
    let back: CiphertextV1 = crate::wire::common::decode(files, &full).unwrap();
    assert!(back.ciphertext().seed().is_none());
    assert_eq!(to_payload(files, &back).to_vec(), full);
    assert_eq!(back.ciphertext().parts(), fresh.parts());
    assert!(files.rlwe().top_level() > 1);
    let reals = approximate::golden_context();
    let (client, _) = reals.generate_keys_from_seed([], 5).unwrap();
    let mut unknown = client.encrypt(&[0.5]).unwrap();
    let _ = unknown.parts_mut();
    let full = to_payload(reals.files(), &unknown).to_vec();
    let back: ApproximateCiphertextV1 = crate::wire::common::decode(reals.files(), &full).unwrap();
    assert_eq!(to_payload(reals.files(), &back).to_vec(), full);
}
