//! Key pairs, slot orders and contexts are not mixed: equal ones are one, others are refused by
//! name.

use std::sync::Arc;
use windlass::Arithmetic;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::circuits::{LinearMap, PolynomialPlan, TraceChain, TracePlan, TraceSpec};
use windlass::schemes::Engine;
use windlass::schemes::ckks::{CkksContext, CkksSpec};
use windlass::schemes::clear::Clear;
use windlass::{Error, Evaluator, Plaintext, Switching};
use windlass_ring::kernels::Isa;
use windlass_ring::slots::{Hypercube, SlotRing};
use windlass_rlwe::{Context, EvaluationKeys, OtherKeyPair, RlweParams, RlweSpec};

use super::{CHAIN, decrypt, encrypt, mismatch, none, parties, random};
use crate::fixture::{SCHEMES, approximate, chain, keys};

#[test]
fn two_key_pairs_of_one_context_are_kept_apart() {
    for scheme in SCHEMES {
        let (own, server) = parties((64, 17, 1), scheme, &CHAIN, &keys([63]));
        let (other, foreign) = own.context().generate_keys_from_seed([&keys([63])], 10).unwrap();
        let names = [&own, &other].map(|client| client.secret_key().key_id());
        assert_ne!(names[0], names[1]);
        let bare = own.context().server_without_keys().unwrap();
        let (e, f, bare) = (server.engine(), foreign.engine(), bare.engine());
        let [a, b] = [&own, &other].map(|client| encrypt(client, &random(client, 1)));
        let refuse = |label: &str, got: Error| match got {
            Error::OtherKeyPair(OtherKeyPair { left, right, .. }) => {
                assert!(left != right && names.contains(&left) && names.contains(&right), "{label}");
            }
            other => panic!("{label}: {other}"),
        };
        refuse("add", e.add(&a, &b).unwrap_err());
        refuse("subtract", e.sub(&a, &b).unwrap_err());
        refuse("multiply", e.multiply(&a, &b).unwrap_err());
        refuse("dot", e.dot_ciphertexts(&[(&a, &a), (&a, &b)]).unwrap_err());
        refuse("weighted sum", e.weighted_sum(&[(&a, 2), (&b, 3)], None).unwrap_err());
        refuse("foreign ciphertext", e.automorphism(&b, 63).unwrap_err());
        refuse("foreign hoisted", e.hoisted_automorphism(&f.hoist(&b).unwrap(), 63).unwrap_err());
        refuse("foreign extended", e.mod_down(f.extend(&b).unwrap()).unwrap_err());
        refuse("no keys, add", bare.add(&a, &b).unwrap_err());
        refuse("no keys, dot", bare.dot_ciphertexts(&[(&a, &b)]).unwrap_err());
        let mut sum = bare.extend(&a).unwrap();
        let foreign = bare.extend(&b).unwrap();
        refuse("no keys, base QP", bare.add_extended_assign(&mut sum, &foreign).unwrap_err());
        let identity = LinearMap::rotation(own.context(), 0, 0).unwrap().plan().unwrap();
        assert_eq!(identity.required_keys().len(), 0);
        assert_eq!(own.decrypt(&server.apply(&identity, &a).unwrap()), own.decrypt(&a));
        refuse("a map without keys", server.apply(&identity, &b).unwrap_err());
        let identity = PolynomialPlan::new(&[0, 1]);
        assert_eq!(own.decrypt(&server.apply(&identity, &a).unwrap()), own.decrypt(&a));
        refuse("a polynomial without products", server.apply(&identity, &b).unwrap_err());
        refuse("decrypt", own.decrypt(&b).unwrap_err());
        // Below the front door: a set of keys takes none of another pair.
        let mut keys = EvaluationKeys::clone(e.keys());
        let rng = &mut ChaCha20Rng::from_seed([9; 32]);
        let mixed = keys.add_galois(other.secret_key(), 5, 5, rng).unwrap_err();
        refuse("keys of two pairs", mixed.into());
        let key = f.keys().galois(63).unwrap();
        refuse("keys of two pairs", keys.insert_galois(63, (**key).clone()).unwrap_err().into());
        assert_eq!(bare.keys().key_id(), None);
    }
}

#[test]
fn two_slot_orders_of_one_ring_are_kept_apart() {
    for scheme in SCHEMES {
        let (own, server) = parties((64, 193, 1), scheme, &CHAIN, &keys([]));
        let (engine, context) = (server.engine(), own.context());
        // Another order of the same slots: the inverses of the generators generate as well.
        let cube = context.hypercube();
        let inverse = |g: u64| (1..64).find(|h| g * h % 64 == 1).unwrap();
        let generators: Vec<u64> = cube.dimensions().iter().map(|line| inverse(line.generator)).collect();
        let turned = Hypercube::with_generators(64, 193, &generators).unwrap();
        let turned = Arc::new(SlotRing::with_hypercube(turned, 1, Isa::best()).unwrap());
        let x = Plaintext::from_integers(&turned, &[1, 0, 1]).unwrap();
        let ours: Vec<u64> = cube.dimensions().iter().map(|line| line.generator).collect();
        let refuse = |label: &str, got: Error| match got {
            Error::OtherSlotOrder { left, right, .. } => {
                assert!([&left, &right].contains(&&ours) && [&left, &right].contains(&&generators), "{label}");
            }
            other => panic!("{label}: {other}"),
        };
        let a = own.encryptor().unwrap().encrypt(&x, &mut ChaCha20Rng::from_seed([9; 32])).unwrap();
        refuse("decrypt", own.decrypt(&a).unwrap_err());
        refuse("add", engine.add(&a, &a).unwrap_err());
        refuse("negate", engine.negate(&a).unwrap_err());
        refuse("hoist", engine.hoist(&a).map(drop).unwrap_err());
        // An engine of that order, with the same keys: what it prepares is for its own.
        let other = Engine::new(scheme, &turned, Arc::clone(engine.keys())).unwrap();
        let constant = other.prepare(&x).unwrap();
        let ours_encrypted = encrypt(&own, &Plaintext::one(context));
        refuse("constant", engine.multiply_constant(&ours_encrypted, &constant).unwrap_err());
        let wide = engine.extend(&ours_encrypted).unwrap();
        let sum = engine.dot_extended(&[&wide], &[vec![(0, Some(&constant))]]);
        refuse("constant in base QP", sum.map(drop).unwrap_err());
        let plan = LinearMap::diagonal(&random(&own, 2)).plan().unwrap();
        let prepared = plan.prepare(engine).unwrap();
        assert!(plan.apply(&prepared, engine, &ours_encrypted).is_ok());
        mismatch("constants of a plan", plan.apply(&prepared, &other, &a));
        mismatch("encrypt", own.encrypt_plaintext(&x));
        let chain = TraceChain::dimension(&turned, 0).unwrap();
        let plan = TracePlan::new(&chain, &TraceSpec::default()).unwrap();
        let (own_text, clear) = (random(&own, 1), Clear::new(context));
        let b = encrypt(&own, &own_text);
        refuse("trace", plan.apply(engine, &b).unwrap_err());
        refuse("trace of the mock", plan.apply(&clear, &clear.encrypt(&own_text).unwrap()).unwrap_err());
    }
}

/// Many threads that ask for one set get one context. A context that is no longer held is
/// forgotten.
#[test]
fn equal_parameters_are_one_context() {
    let spec = RlweSpec { digits: 2, ..chain(128, &[50, 49], &[50]) };
    let params = RlweParams::new(&spec).unwrap();
    let make = || Context::with_isa(params.clone(), Isa::Portable).unwrap();
    let contexts: Vec<Arc<Context>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(contexts.iter().all(|context| Arc::ptr_eq(context, &contexts[0])));
    let weak = Arc::downgrade(&contexts[0]);
    drop(contexts);
    assert!(weak.upgrade().is_none(), "the registry keeps nothing alive");
    let other = RlweParams::new(&RlweSpec { q_prime_bits: vec![50, 48], ..spec }).unwrap();
    assert!(!Arc::ptr_eq(&make(), &Context::with_isa(other, Isa::Portable).unwrap()));
}

/// A quotient by p is an element modulo p^{r−1}: its plaintext is of that ring, and says the
/// integers that are there.
#[test]
fn quotients_by_p_decrypt_in_their_own_ring() {
    for (m, p, r) in [(64, 193, 3), (105, 2, 5)] {
        for scheme in SCHEMES {
            let (own, server) = parties((m, p, r), scheme, &CHAIN, &none());
            let ring = own.context().slot_ring();
            let multiples: Vec<u64> = (0..ring.slots() as u64).map(|slot| p * (slot % 4)).collect();
            let x = Plaintext::from_integers(ring, &multiples).unwrap();
            let (a, clear) = (encrypt(&own, &x), Clear::new(ring));
            let quotients = [
                decrypt(&own, &server.engine().divide_by_p(&a).unwrap()),
                clear.decrypt(&clear.divide_by_p(&clear.encrypt(&x).unwrap()).unwrap()),
            ];
            for quotient in quotients {
                let expected: Vec<u64> = multiples.iter().map(|x| x / p).collect();
                assert_eq!(quotient.to_integers().unwrap(), expected, "m = {m}");
                assert_eq!(quotient.slot_ring().modulus().exponent(), r - 1);
                assert!(Arc::ptr_eq(quotient.slot_ring(), &ring.lower(r - 1).unwrap()), "one lower ring for all");
            }
        }
    }
}

#[test]
fn equal_ckks_specifications_are_one_context() {
    let spec = approximate(64, 40, 2);
    let make = || CkksContext::new(&spec).unwrap();
    let contexts: Vec<Arc<CkksContext>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(contexts.iter().all(|context| Arc::ptr_eq(context, &contexts[0])));
    // The same primes with other scales are another context.
    let coarser = CkksSpec { scale_bits: 39, base_prime_bits: vec![50, 40], depth: 1, ..spec.clone() };
    assert!(!Arc::ptr_eq(&CkksContext::new(&coarser).unwrap(), &contexts[0]));
}
