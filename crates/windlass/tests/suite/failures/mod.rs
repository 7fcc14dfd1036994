//! What must be refused: missing keys, keys for lower levels, values of other contexts, spent
//! capacity. Never a wrong answer.

mod identity;

use std::sync::Arc;
use windlass::Arithmetic;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;
use windlass::circuits::{LinearMap, LinearPlan, PlanSpec};
use windlass::needs::KeyRequest;
use windlass::schemes::clear::Clear;
use windlass::schemes::{Ciphertext, Decryptor, Engine, Scheme};
use windlass::wire::{CiphertextV1, FieldReader, Wire, to_payload};
use windlass::{Client, Content, Error, Evaluator, Plaintext, Result, Server, Switching};
use windlass_ring::kernels::Isa;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::{RlweError, SecretKey};
use zeroize::Zeroizing;

use crate::fixture::{self, SCHEMES, keys};

fn parties((m, p, r): (u64, u64, u32), scheme: Scheme, bits: &[u32], needs: &KeyRequest) -> (Client, Server) {
    let context = fixture::context(scheme, (p, r), fixture::chain(m, bits, &[50, 50]));
    context.generate_keys_from_seed([needs], 9).unwrap()
}

const CHAIN: [u32; 5] = [50, 45, 45, 45, 45];

fn none() -> KeyRequest {
    KeyRequest::none("a test")
}

fn random(client: &Client, seed: u64) -> Plaintext {
    fixture::random(client.context(), Content::Elements, seed)
}

fn encrypt(client: &Client, plaintext: &Plaintext) -> Ciphertext {
    client.encrypt_plaintext(plaintext).unwrap()
}

fn decrypt(client: &Client, ciphertext: &Ciphertext) -> Plaintext {
    client.decrypt_plaintext(ciphertext).unwrap()
}

#[test]
fn missing_keys_name_the_call_that_makes_them() {
    for scheme in SCHEMES {
        let (client, server) = parties((105, 2, 1), scheme, &CHAIN, &none());
        let (engine, a) = (server.engine(), encrypt(&client, &random(&client, 1)));
        for product in [engine.multiply(&a, &a), engine.square(&a)] {
            let error = product.unwrap_err();
            assert_eq!(error, Error::MissingRelinearisationKey);
            assert!(error.to_string().contains("needs::Products"));
        }
        let (t, hoisted) = (104, engine.hoist(&a).unwrap());
        let map = LinearMap::automorphism(client.context().slot_ring(), t).unwrap();
        let plan = LinearPlan::new(&map, &PlanSpec::default()).unwrap();
        let refused = [
            engine.automorphism(&a, t).err(),
            engine.hoisted_automorphism(&hoisted, t).err(),
            engine.extended_automorphism(&engine.extend(&a).unwrap(), t).err(),
            plan.apply_once(engine, &a).err(),
        ];
        for error in refused {
            let Some(error @ Error::MissingGaloisKey { element: 104, .. }) = error else { panic!("{error:?}") };
            let message = error.to_string();
            let named =
                ["EvaluationKeys::add_galois", "LinearPlan::required_keys"].iter().any(|call| message.contains(call));
            assert!(message.contains("X^104") && named, "{message}");
        }
        assert!(!engine.has_key(t) && engine.has_key(1) && engine.has_key(106), "the identity needs no key");
        assert!(engine.automorphism(&a, 1).is_ok());
    }
}

#[test]
fn keys_of_a_level_serve_that_level_and_below() {
    for scheme in SCHEMES {
        let (client, server) = parties((64, 17, 1), scheme, &CHAIN, &keys([63]).up_to(2));
        let (engine, x) = (server.engine(), random(&client, 1));
        let a = encrypt(&client, &x);
        let refused = engine.automorphism(&a, 63);
        assert_eq!(refused.unwrap_err(), Error::Rlwe(RlweError::KeyLevelTooLow { key: 2, needed: 5 }));
        for level in [2, 1] {
            let low = engine.switch_modulus(&a, level).unwrap();
            let image = decrypt(&client, &engine.automorphism(&low, 63).unwrap());
            assert_eq!(image, x.automorphism(63).unwrap(), "{scheme} level {level}");
        }
    }
}

/// Asserts that every result is a mismatch of contexts.
fn mismatch<T>(label: &str, result: Result<T>) {
    match result {
        Err(Error::ContextMismatch { operation, left, right }) => {
            assert!(!operation.is_empty() && left != right, "{label}: {left} and {right} do not differ");
        }
        Err(other) => panic!("{label}: {other}"),
        Ok(_) => panic!("{label} took a value of another context"),
    }
}

#[test]
fn values_of_other_contexts_are_refused_by_every_operation() {
    for scheme in SCHEMES {
        let (own, server) = parties((64, 17, 1), scheme, &CHAIN, &keys([63]));
        let (e, x) = (server.engine(), random(&own, 1));
        let a = encrypt(&own, &x);
        // Another chain; another plaintext modulus; another ring.
        let others = [((64, 17, 1), &CHAIN[..4]), ((64, 257, 1), &CHAIN[..3]), ((105, 17, 1), &CHAIN[..])];
        for (ring, chain) in others {
            let (other, foreign) = parties(ring, scheme, chain, &keys([]));
            let (f, y) = (foreign.engine(), random(&other, 2));
            let b = encrypt(&other, &y);
            let foreign = f.prepare(&y).unwrap();
            mismatch("add", e.add(&a, &b));
            mismatch("add", e.add(&b, &a));
            mismatch("subtract", e.sub(&a, &b));
            mismatch("negate", e.negate(&b));
            mismatch("multiply", e.multiply(&a, &b));
            mismatch("multiply", e.multiply(&b, &a));
            mismatch("square", e.square(&b));
            mismatch("scalar", e.multiply_scalar(&b, 3));
            mismatch("constant", e.multiply_constant(&a, &foreign));
            mismatch("constant", e.multiply_constant(&b, &foreign));
            mismatch("automorphism", e.automorphism(&b, 63));
            mismatch("hoist", e.hoist(&b));
            mismatch("extend", e.extend(&b));
            let extended = f.extend(&b).unwrap();
            mismatch("giant step", e.extended_automorphism(&extended, 63));
            mismatch("mod-down", e.mod_down(extended.clone()));
            mismatch("dot", e.dot_extended(&[&extended], &[vec![(0, Some(&foreign))]]));
            mismatch("switch", e.switch_modulus(&b, 1));
            mismatch("divide", e.divide_by_p(&b));
            mismatch("decrypt", own.decrypt_plaintext(&b));
            mismatch("noise", own.decryptor().exact_noise_leaks_the_secret_key(&b));
            if own.context().modulus() != other.context().modulus() || ring.0 != 64 {
                mismatch("add plaintext", e.add_plain(&a, &y));
                mismatch("subtract plaintext", e.sub_plain(&a, &y));
                mismatch("prepare", e.prepare(&y));
                mismatch("encrypt", own.encrypt_plaintext(&y));
            }
        }
        let (other, _) = parties((105, 17, 1), scheme, &CHAIN, &none());
        let (one, mut rng) = (Plaintext::one(other.context()), ChaCha20Rng::from_seed([9; 32]));
        mismatch("engine", Engine::new(scheme, other.context(), Arc::clone(e.keys())));
        mismatch("server", other.context().server_from_keys(Arc::clone(e.keys()), Vec::new()));
        mismatch("encrypt", own.encryptor().unwrap().encrypt(&one, &mut rng));
        mismatch("encrypt", own.decryptor().encrypt(&one, 1, &mut rng));
    }
}

/// One context of keys serves every plaintext modulus and both schemes, so ciphertexts have to say
/// which is theirs.
#[test]
fn plaintext_moduli_and_schemes_of_one_context_are_kept_apart() {
    for scheme in SCHEMES {
        let (own, server) = parties((64, 17, 2), scheme, &CHAIN, &keys([63]));
        let engine = server.engine();
        // The same key pair under another plaintext modulus or scheme.
        let with = |modulus: (u64, u32), scheme| {
            let context = fixture::context(scheme, modulus, fixture::chain(64, &CHAIN, &[50, 50]));
            let client = context.client_from_key(Arc::clone(own.secret_key())).unwrap();
            let server = context.server_from_keys(Arc::clone(engine.keys()), Vec::new()).unwrap();
            (client, server.engine().clone(), Plaintext::scalar(&context, 3))
        };
        let (other_client, other, three) = with((257, 1), scheme);
        let (low_client, low, low_three) = with((17, 1), scheme);
        let turned = if scheme == Scheme::Bgv { Scheme::Bfv } else { Scheme::Bgv };
        let (_, across, _) = with((17, 2), turned);
        let a = encrypt(&own, &random(&own, 1));
        for (label, engine, client, constant) in
            [("prime", &other, &other_client, &three), ("exponent", &low, &low_client, &low_three)]
        {
            mismatch(label, engine.add(&a, &a));
            mismatch(label, engine.multiply(&a, &a));
            mismatch(label, engine.automorphism(&a, 63));
            mismatch(label, engine.add_plain(&a, constant));
            mismatch(label, client.decrypt_plaintext(&a));
            mismatch(label, client.encrypt_plaintext(&random(&own, 1)));
        }
        mismatch("constant", engine.multiply_constant(&a, &other.prepare(&three).unwrap()));
        mismatch("constant of a lower exponent", engine.multiply_constant(&a, &low.prepare(&low_three).unwrap()));
        mismatch("hoisted", across.hoisted_automorphism(&engine.hoist(&a).unwrap(), 63));
        mismatch("sum", across.sum_hoisted(&engine.hoist(&a).unwrap(), &[63, 1]));
        // A lower exponent of the same prime is what division by p leaves: it goes on.
        let b = encrypt(&own, &low_three);
        let square = decrypt(&own, &engine.multiply(&b, &b).unwrap());
        assert_eq!(square.coefficients(), Plaintext::scalar(own.context(), 9).coefficients(), "{scheme}");
    }
}

/// Over composite m too, where coefficients may be larger than the norm that is bounded.
#[test]
fn a_refused_encryption_needs_more_than_is_left() {
    let mut refused = 0;
    for bits in 28..=45 {
        let (own, _) = parties((105, 101, 3), Scheme::Bgv, &[bits, 45, 45], &none());
        let x = random(&own, 1);
        match own.decryptor().encrypt(&x, 1, &mut ChaCha20Rng::from_seed([9; 32])) {
            Ok((ct, _)) => assert_eq!(decrypt(&own, &ct), x),
            Err(Error::CapacityExhausted { needed_bits, left_bits, .. }) => {
                assert!(left_bits <= needed_bits, "{bits} bits: {needed_bits} of {left_bits}");
                refused += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!((1..18).contains(&refused), "{refused} of 18 sizes");
}

/// A modulus without room for p^r is refused at encryption, with finite numbers; a noiseless zero
/// drags no sum down.
#[test]
fn what_does_not_fit_is_refused_at_once() {
    for scheme in SCHEMES {
        let (own, server) = parties((64, 193, 3), scheme, &[30, 45, 45], &none());
        let (x, mut rng) = (random(&own, 1), ChaCha20Rng::from_seed([9; 32]));
        match own.decryptor().encrypt(&x, 1, &mut rng).unwrap_err() {
            Error::CapacityExhausted { operation: "encrypt", needed_bits, left_bits } => {
                assert!(needed_bits.is_finite() && left_bits < needed_bits, "{needed_bits} of {left_bits}");
            }
            other => panic!("{other}"),
        }
        let engine = server.engine();
        let a = encrypt(&own, &x);
        let low = own.decryptor().encrypt(&x, 2, &mut rng).unwrap().0;
        let zero = engine.multiply_scalar(&low, 0).unwrap();
        for sum in [engine.add(&a, &zero), engine.add(&zero, &a), engine.sub(&a, &zero)] {
            let sum = sum.unwrap();
            assert_eq!((sum.level(), decrypt(&own, &sum)), (a.level(), x.clone()), "{scheme}");
        }
        let negative = engine.sub(&zero, &a).unwrap();
        let expected = Plaintext::zero(own.context()).sub(&x).unwrap();
        assert_eq!(decrypt(&own, &negative), expected);
    }
}

#[test]
fn what_is_no_encryption_under_the_key_is_refused() {
    for scheme in SCHEMES {
        let (own, _) = parties((256, 257, 1), scheme, &CHAIN, &none());
        let (context, x) = (own.context(), random(&own, 1));
        let a = encrypt(&own, &x);
        let rlwe = context.rlwe();
        let stranger = SecretKey::generate(rlwe, &mut ChaCha20Rng::from_seed([1; 32]));
        // Also a stranger who goes by the name of the key pair.
        let coefficients = Zeroizing::new(stranger.expose_coefficients().to_vec());
        let stranger = SecretKey::from_coefficients(rlwe, a.key_id(), coefficients).unwrap();
        let other = context.client_from_key(Arc::new(stranger)).unwrap();
        assert_eq!(other.decrypt(&a).unwrap_err(), Error::NotDecryptable { beyond: None });
        // One bit of one residue changed, behind the checksum: no coefficient stays small.
        let mut payload = to_payload(context.files(), &CiphertextV1::new(a.clone()));
        payload[24 + 3] ^= 1;
        assert_eq!(own.decrypt(&read(&own, &payload)).unwrap_err(), Error::NotDecryptable { beyond: None });
        assert_eq!(decrypt(&own, &a), x);
    }
}

/// The ciphertext in a payload of this client's.
fn read(client: &Client, payload: &[u8]) -> Ciphertext {
    let (files, key) = (client.context().files(), client.secret_key().key_id());
    CiphertextV1::decode(files, key, FieldReader::new(payload)).unwrap().into_ciphertext()
}

#[test]
fn an_inexact_division_by_p_is_refused_at_decryption() {
    for scheme in SCHEMES {
        let (own, server) = parties((64, 17, 2), scheme, &CHAIN, &none());
        for (value, exact) in [(34, true), (35, false)] {
            let a = encrypt(&own, &Plaintext::scalar(own.context(), value));
            let quotient = own.decrypt_plaintext(&server.engine().divide_by_p(&a).unwrap());
            match exact {
                true => assert_eq!(quotient.unwrap().coefficients()[0], 2),
                false => assert_eq!(quotient.unwrap_err(), Error::NotDecryptable { beyond: None }),
            }
        }
    }
}

/// Repeats an operation until it is refused; every result before that decrypts rightly. Returns how
/// often it was done.
fn until_refused(
    (client, engine): (&Client, &Engine),
    step: impl Fn(&Engine, &Ciphertext) -> Result<Ciphertext>,
    expected: impl Fn(&Plaintext) -> Plaintext,
    label: &str,
) -> usize {
    let mut plaintext = random(client, 1);
    let mut ct = encrypt(client, &plaintext);
    for done in 0..1000 {
        let before = engine.capacity(&ct);
        match step(engine, &ct) {
            Ok(next) => ct = next,
            Err(Error::CapacityExhausted { needed_bits, left_bits, .. }) => {
                assert!(needed_bits > left_bits && left_bits <= before.max(0.0) + 1e-6, "{label}");
                return done;
            }
            Err(other) => panic!("{label}: {other}"),
        }
        plaintext = expected(&plaintext);
        assert!(engine.capacity(&ct) > 0.0, "{label}");
        assert_eq!(decrypt(client, &ct), plaintext, "{label} after {} steps", done + 1);
    }
    unreachable!("{label}: capacity is finite")
}

#[test]
fn spent_capacity_is_an_error_never_a_wrong_answer() {
    let rings = [(105, 2, 3), (27, 7, 2), (60, 17, 1), (31, 127, 2), (64, 3, 2), (128, 65537, 1), (45, 2, 1)];
    rings.into_par_iter().for_each(|triple| {
        for scheme in SCHEMES {
            let label = format!("{scheme} {triple:?}");
            let (client, server) = parties(triple, scheme, &CHAIN, &keys([]));
            let (c, e) = (&client, server.engine());
            let square = |x: &Plaintext| x.multiply(x).unwrap();
            let products = until_refused((c, e), |e, a| e.square(a), square, &label);
            let y = random(c, 2);
            let constant = e.prepare(&y).unwrap();
            let scale = |x: &Plaintext| x.multiply(&y).unwrap();
            let constants = until_refused((c, e), |e, a| e.multiply_constant(a, &constant), scale, &label);
            let t = triple.1.pow(triple.2);
            let half = t as i64 / 2;
            let scalar = Plaintext::scalar(c.context(), half);
            let scalars = |x: &Plaintext| x.multiply(&scalar).unwrap();
            // Modulo 2 that is 1, which costs nothing.
            let scalars =
                if t == 2 { 3 } else { until_refused((c, e), |e, a| e.multiply_scalar(a, half), scalars, &label) };
            assert!(products >= 2 && constants >= products, "{label}: {products} squares, {constants} constants");
            assert!(scalars > 2, "{label}: {scalars} scalars");
        }
    });
}

/// A decryptor believes no ciphertext whose bound leaves no room, however it came by the bound.
#[test]
fn decryption_beyond_the_bound_is_refused() {
    for scheme in SCHEMES {
        let (client, server) = parties((105, 2, 3), scheme, &CHAIN, &keys([]));
        let (files, x) = (client.context().files(), random(&client, 1));
        let honest = to_payload(files, &CiphertextV1::new(encrypt(&client, &x)));
        let with_bound = |bits: f64| {
            let mut payload = honest.to_vec();
            payload[16..24].copy_from_slice(&bits.to_le_bytes());
            read(&client, &payload)
        };
        let log2_q = files.context().log2_modulus(5);
        for bits in [log2_q, log2_q - 1.0] {
            let refused = client.decrypt_plaintext(&with_bound(bits));
            let Err(Error::CapacityExhausted { operation: "decrypt", needed_bits, left_bits: 0.0 }) = refused else {
                panic!("{refused:?}");
            };
            assert!(needed_bits > 0.0);
        }
        let engine = server.engine();
        assert!(engine.capacity(&with_bound(log2_q)) < 0.0);
        assert!(matches!(engine.square(&with_bound(log2_q - 20.0)), Err(Error::CapacityExhausted { .. })), "{scheme}");
        assert_eq!(decrypt(&client, &with_bound(log2_q - 20.0)), x, "{scheme}: an overstated bound");
    }
}

/// Zero times a ciphertext has a noise bound of 0, which files and further operations must take.
#[test]
fn noiseless_ciphertexts_go_on() {
    for scheme in SCHEMES {
        let (client, server) = parties((64, 17, 1), scheme, &CHAIN, &keys([63]));
        let (e, x) = (server.engine(), random(&client, 1));
        let a = encrypt(&client, &x);
        let zero = e.multiply_scalar(&a, 0).unwrap();
        let payload = to_payload(client.context().files(), &CiphertextV1::new(zero.clone()));
        let is_zero = |ct: &Ciphertext| decrypt(&client, ct).is_zero();
        for zero in [zero, read(&client, &payload)] {
            assert!(is_zero(&zero));
            assert_eq!(decrypt(&client, &e.add(&zero, &a).unwrap()), x);
            for image in [e.square(&zero), e.multiply(&zero, &a), e.automorphism(&zero, 63), e.switch_modulus(&zero, 1)]
            {
                assert!(is_zero(&image.unwrap()), "{scheme}");
            }
            assert!(is_zero(&e.reduce_level(&zero, 4.0).unwrap()));
        }
    }
}

#[test]
fn constants_for_levels_that_are_not_there_are_refused() {
    for scheme in SCHEMES {
        let (client, server) = parties((64, 17, 1), scheme, &CHAIN, &none());
        let (engine, one) = (server.engine(), Plaintext::one(client.context()));
        let top = engine.context().top_level();
        assert!((1..=top).all(|level| engine.prepare_at(&one, level).is_ok()));
        for level in [0, top + 1, usize::MAX] {
            assert!(matches!(engine.prepare_at(&one, level).err(), Some(Error::OutOfRange(_))), "level {level}");
            let many = engine.prepare_many(2, level, &|_| Ok(one.clone()));
            assert!(matches!(many.err(), Some(Error::OutOfRange(_))), "level {level}");
        }
    }
}

/// Modulo a prime of the chain the plaintext prime has no inverse.
#[test]
fn plaintext_primes_of_the_chain_are_refused() {
    for scheme in SCHEMES {
        let (client, server) = parties((64, 17, 1), scheme, &[50, 40, 45], &none());
        let p = server.engine().context().params().q_primes()[1].value();
        let ring = Arc::new(SlotRing::new(64, p, 1, Isa::best()).unwrap());
        let (one, mut rng) = (Plaintext::one(&ring), ChaCha20Rng::from_seed([9; 32]));
        let decryptor = Decryptor::new(scheme, &ring, Arc::clone(client.secret_key()));
        let refused = [
            client.encryptor().unwrap().encrypt(&one, &mut rng).err(),
            decryptor.encrypt(&one, 2, &mut rng).err(),
            Engine::new(scheme, &ring, Arc::clone(server.engine().keys())).err(),
        ];
        for error in refused {
            let Some(Error::OutOfRange(refused)) = error else { panic!("{error:?}") };
            assert_eq!(refused.what, "plaintext prime p");
        }
    }
}

/// Rows of sums come from the caller.
#[test]
fn sums_over_inputs_that_are_not_there_are_refused() {
    for scheme in SCHEMES {
        let (client, server) = parties((64, 17, 1), scheme, &CHAIN, &keys([63]));
        let x = Plaintext::one(client.context());
        let clear = Clear::new(client.context());
        sums_of_one_input(server.engine(), &encrypt(&client, &x), 63);
        sums_of_one_input(&clear, &clear.encrypt(&x).unwrap(), 63);
    }
}

fn sums_of_one_input<E: Switching>(evaluator: &E, a: &E::Ciphertext, t: u64) {
    let (wide, hoisted) = ([evaluator.extend(a).unwrap()], evaluator.hoist(a).unwrap());
    for (j, fits) in [(0, true), (1, false), (usize::MAX, false)] {
        let rows = [vec![(0, None)], vec![(j, None)]];
        let sums = [evaluator.dot_extended(&wide.each_ref(), &rows), evaluator.dot_hoisted(&hoisted, &[t], &rows)];
        for sum in sums {
            assert_eq!(sum.is_ok(), fits, "input {j}");
            assert!(fits || matches!(sum.err(), Some(Error::OutOfRange(_))), "input {j}");
        }
    }
}

/// What the engine refuses, the mock refuses.
#[test]
fn the_mock_is_no_laxer_than_the_engine() {
    let (client, server) = parties((64, 193, 2), Scheme::Bgv, &CHAIN, &keys([]));
    let (ring, engine) = (client.context().slot_ring(), server.engine());
    let clear = Clear::new(ring);
    let multiple = Plaintext::scalar(ring, 193);
    let (of_mock, ct) = (clear.encrypt(&multiple).unwrap(), encrypt(&client, &multiple));
    let (low_of_mock, low) = (clear.divide_by_p(&of_mock).unwrap(), engine.divide_by_p(&ct).unwrap());
    let both = |of_mock: Result<()>, of_engine: Result<()>| {
        mismatch("the mock", of_mock);
        mismatch("the engine", of_engine);
    };
    both(clear.add(&of_mock, &low_of_mock).map(drop), engine.add(&ct, &low).map(drop));
    both(clear.sub(&low_of_mock, &of_mock).map(drop), engine.sub(&low, &ct).map(drop));
    both(clear.multiply(&of_mock, &low_of_mock).map(drop), engine.multiply(&ct, &low).map(drop));
    // Values of another ring.
    let other = Clear::new(&SlotRing::new(64, 17, 2, Isa::best()).map(Arc::new).unwrap());
    mismatch("extend", other.extend(&of_mock));
    mismatch("add", other.add(&of_mock, &of_mock));
    mismatch("mod-down", other.mod_down(of_mock.clone()));
    mismatch("constant", other.multiply_constant(&of_mock, &multiple));
    mismatch("sum", other.dot_extended(&[&of_mock], &[vec![(0, None)]]));
}
