//! What must be refused: missing keys, keys for lower levels, values of other contexts, spent capacity. Never a wrong answer.

mod identity;

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;
use windlass::circuits::{LinearMap, LinearPlan, PlanSpec};
use windlass::schemes::{Ciphertext, Decryptor, Encryptor, Engine, Scheme};
use windlass::wire::{CiphertextV1, FieldReader, Wire, WireContext, to_payload};
use windlass::{Error, Evaluator, Plaintext, Result, Switching};
use windlass_ring::kernels::Isa;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::{
    Assurance, Context, EvaluationKeys, PublicKey, RlweError, RlweParams, RlweSpec, SecretDistribution, SecretKey,
};
use zeroize::Zeroizing;

const SCHEMES: [Scheme; 2] = [Scheme::Bgv, Scheme::Bfv];

/// A secret key and what encrypts and decrypts with it; evaluation keys are made by each test.
struct Client {
    context: Arc<Context>,
    ring: Arc<SlotRing>,
    scheme: Scheme,
    secret: Arc<SecretKey>,
    encryptor: Encryptor,
    decryptor: Decryptor,
    rng: ChaCha20Rng,
}

fn client((m, p, r): (u64, u64, u32), scheme: Scheme, bits: &[u32]) -> Client {
    let params = RlweParams::new(&RlweSpec {
        m,
        q_prime_bits: bits.to_vec(),
        special_prime_bits: vec![50, 50],
        digits: 3,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    });
    seeded_client((m, p, r), scheme, &Context::new(params.unwrap()).unwrap(), 9)
}

fn seeded_client((m, p, r): (u64, u64, u32), scheme: Scheme, context: &Arc<Context>, seed: u8) -> Client {
    let context = Arc::clone(context);
    let mut rng = ChaCha20Rng::from_seed([seed; 32]);
    let secret = Arc::new(SecretKey::generate(&context, &mut rng));
    let public = Arc::new(PublicKey::generate(&secret, &mut rng));
    let ring = Arc::new(SlotRing::new(m, p, r, Isa::best()).unwrap());
    let decryptor = Decryptor::new(scheme, &ring, Arc::clone(&secret));
    Client { context, ring, scheme, secret, encryptor: Encryptor::new(scheme, public), decryptor, rng }
}

const CHAIN: [u32; 5] = [50, 45, 45, 45, 45];

impl Client {
    /// An engine with a relinearisation key, and Galois keys at given levels.
    fn engine(&mut self, relinearisation: bool, galois: &[(u64, usize)]) -> Engine {
        let mut keys = EvaluationKeys::empty(&self.context);
        if relinearisation {
            keys.add_relinearisation(&self.secret, self.context.top_level(), &mut self.rng).unwrap();
        }
        for &(t, level) in galois {
            keys.add_galois(&self.secret, t, level, &mut self.rng).unwrap();
        }
        Engine::new(self.scheme, &self.ring, Arc::new(keys)).unwrap()
    }

    fn random(&mut self) -> Plaintext {
        let t = self.ring.modulus().value();
        let coefficients = (0..self.ring.n()).map(|_| self.rng.next_u64() % t).collect();
        Plaintext::new(&self.ring, coefficients).unwrap()
    }

    fn encrypt(&mut self, x: &Plaintext) -> Ciphertext {
        self.encryptor.encrypt(x, &mut self.rng).unwrap()
    }
}

#[test]
fn missing_keys_name_the_call_that_makes_them() {
    for scheme in SCHEMES {
        let mut client = client((105, 2, 1), scheme, &CHAIN);
        let engine = client.engine(false, &[]);
        let x = client.random();
        let a = client.encrypt(&x);
        for product in [engine.multiply(&a, &a), engine.square(&a)] {
            let error = product.unwrap_err();
            assert_eq!(error, Error::MissingRelinearisationKey);
            assert!(error.to_string().contains("add_relinearisation"));
        }
        let (t, hoisted) = (104, engine.hoist(&a).unwrap());
        let map = LinearMap::automorphism(&client.ring, t).unwrap();
        let plan = LinearPlan::new(&map, &PlanSpec::default()).unwrap();
        let refused = [
            engine.automorphism(&a, t).err(),
            engine.hoisted_automorphism(&hoisted, t).err(),
            engine.extended_automorphism(&engine.extend(&a).unwrap(), t).err(),
            plan.apply_once(&engine, &a).err(),
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
        let mut client = client((64, 17, 1), scheme, &CHAIN);
        let engine = client.engine(true, &[(63, 2)]);
        let x = client.random();
        let a = client.encrypt(&x);
        let refused = engine.automorphism(&a, 63);
        assert_eq!(refused.unwrap_err(), Error::Rlwe(RlweError::KeyLevelTooLow { key: 2, needed: 5 }));
        for level in [2, 1] {
            let low = engine.switch_modulus(&a, level).unwrap();
            let image = client.decryptor.decrypt(&engine.automorphism(&low, 63).unwrap()).unwrap();
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
        let mut own = client((64, 17, 1), scheme, &CHAIN);
        // Another chain; another plaintext modulus; another ring.
        let others = [((64, 17, 1), &CHAIN[..4]), ((64, 257, 1), &CHAIN[..3]), ((105, 17, 1), &CHAIN[..])];
        for (ring, chain) in others {
            let mut other = client(ring, scheme, chain);
            let (e, f) = (own.engine(true, &[(63, 5)]), other.engine(true, &[]));
            let (x, y) = (own.random(), other.random());
            let (a, b) = (own.encrypt(&x), other.encrypt(&y));
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
            mismatch("dot", e.dot_extended(std::slice::from_ref(&extended), &[vec![(0, Some(&foreign))]]));
            mismatch("switch", e.switch_modulus(&b, 1));
            mismatch("divide", e.divide_by_p(&b));
            mismatch("decrypt", own.decryptor.decrypt(&b));
            mismatch("noise", own.decryptor.exact_noise_leaks_the_secret_key(&b));
            if own.ring.modulus() != other.ring.modulus() || ring.0 != 64 {
                mismatch("add plaintext", e.add_plain(&a, &y));
                mismatch("subtract plaintext", e.sub_plain(&a, &y));
                mismatch("prepare", e.prepare(&y));
            }
        }
        let other_ring = client((105, 17, 1), scheme, &CHAIN);
        let keys = Arc::new(EvaluationKeys::empty(&own.context));
        mismatch("engine", Engine::new(scheme, &other_ring.ring, keys));
        mismatch("encrypt", own.encryptor.encrypt(&Plaintext::one(&other_ring.ring), &mut own.rng));
        mismatch("encrypt", own.decryptor.encrypt(&Plaintext::one(&other_ring.ring), 1, &mut own.rng));
    }
}

/// One context serves every plaintext modulus and both schemes, so ciphertexts have to say which is theirs.
#[test]
fn plaintext_moduli_and_schemes_of_one_context_are_kept_apart() {
    for scheme in SCHEMES {
        let mut own = client((64, 17, 2), scheme, &CHAIN);
        let engine = own.engine(true, &[(63, 5)]);
        let with = |(p, r): (u64, u32), scheme| {
            let ring = Arc::new(SlotRing::new(64, p, r, Isa::best()).unwrap());
            let engine = Engine::new(scheme, &ring, Arc::clone(engine.keys())).unwrap();
            (Decryptor::new(scheme, &ring, Arc::clone(&own.secret)), engine, Plaintext::scalar(&ring, 3))
        };
        let (other_decryptor, other, three) = with((257, 1), scheme);
        let (low_decryptor, low, low_three) = with((17, 1), scheme);
        let turned = if scheme == Scheme::Bgv { Scheme::Bfv } else { Scheme::Bgv };
        let (_, across, _) = with((17, 2), turned);
        let x = own.random();
        let a = own.encrypt(&x);
        for (label, engine, decryptor, constant) in
            [("prime", &other, &other_decryptor, &three), ("exponent", &low, &low_decryptor, &low_three)]
        {
            mismatch(label, engine.add(&a, &a));
            mismatch(label, engine.multiply(&a, &a));
            mismatch(label, engine.automorphism(&a, 63));
            mismatch(label, engine.add_plain(&a, constant));
            mismatch(label, decryptor.decrypt(&a));
        }
        mismatch("constant", engine.multiply_constant(&a, &other.prepare(&three).unwrap()));
        mismatch("constant of a lower exponent", engine.multiply_constant(&a, &low.prepare(&low_three).unwrap()));
        mismatch("hoisted", across.hoisted_automorphism(&engine.hoist(&a).unwrap(), 63));
        mismatch("sum", across.sum_hoisted(&engine.hoist(&a).unwrap(), &[63, 1]));
        // A lower exponent of the same prime is what division by p leaves: it goes on.
        let b = own.encrypt(&low_three);
        let square = own.decryptor.decrypt(&engine.multiply(&b, &b).unwrap()).unwrap();
        assert_eq!(square.coefficients(), Plaintext::scalar(&own.ring, 9).coefficients(), "{scheme}");
    }
}

/// A modulus without room for p^r is refused at encryption, with finite numbers; a noiseless zero drags no sum down.
#[test]
fn what_does_not_fit_is_refused_at_once() {
    for scheme in SCHEMES {
        let mut own = client((64, 193, 3), scheme, &[30, 45, 45]);
        let x = own.random();
        match own.decryptor.encrypt(&x, 1, &mut own.rng).unwrap_err() {
            Error::CapacityExhausted { operation: "encrypt", needed_bits, left_bits } => {
                assert!(needed_bits.is_finite() && left_bits < needed_bits, "{needed_bits} of {left_bits}");
            }
            other => panic!("{other}"),
        }
        let engine = own.engine(false, &[]);
        let a = own.encrypt(&x);
        let low = own.decryptor.encrypt(&x, 2, &mut own.rng).unwrap().0;
        let zero = engine.multiply_scalar(&low, 0).unwrap();
        for sum in [engine.add(&a, &zero), engine.add(&zero, &a), engine.sub(&a, &zero)] {
            let sum = sum.unwrap();
            assert_eq!((sum.level(), own.decryptor.decrypt(&sum).unwrap()), (a.level(), x.clone()), "{scheme}");
        }
        let negative = engine.sub(&zero, &a).unwrap();
        let expected = Plaintext::zero(&own.ring).sub(&x).unwrap();
        assert_eq!(own.decryptor.decrypt(&negative).unwrap(), expected);
    }
}

#[test]
fn what_is_no_encryption_under_the_key_is_refused() {
    for scheme in SCHEMES {
        let mut own = client((256, 257, 1), scheme, &CHAIN);
        let x = own.random();
        let a = own.encrypt(&x);
        let stranger = SecretKey::generate(&own.context, &mut ChaCha20Rng::from_seed([1; 32]));
        // Also a stranger who goes by the name of the key pair.
        let coefficients = Zeroizing::new(stranger.expose_coefficients().to_vec());
        let stranger = SecretKey::from_coefficients(&own.context, a.key_id(), coefficients).unwrap();
        let other = Decryptor::new(scheme, &own.ring, Arc::new(stranger));
        assert_eq!(other.decrypt(&a).unwrap_err(), Error::NotDecryptable);
        // One bit of one residue changed, behind the checksum: no coefficient stays small.
        let wire = WireContext::new(&own.context, &own.ring, scheme);
        let mut payload = to_payload(&wire, &CiphertextV1::new(a.clone()));
        payload[24 + 3] ^= 1;
        let changed = CiphertextV1::decode(&wire, a.key_id(), FieldReader::new(&payload)).unwrap().into_ciphertext();
        assert_eq!(own.decryptor.decrypt(&changed).unwrap_err(), Error::NotDecryptable);
        assert_eq!(own.decryptor.decrypt(&a).unwrap(), x);
    }
}

#[test]
fn an_inexact_division_by_p_is_refused_at_decryption() {
    for scheme in SCHEMES {
        let mut own = client((64, 17, 2), scheme, &CHAIN);
        let engine = own.engine(false, &[]);
        for (value, exact) in [(34, true), (35, false)] {
            let a = own.encrypt(&Plaintext::scalar(&own.ring, value));
            let quotient = own.decryptor.decrypt(&engine.divide_by_p(&a).unwrap());
            match exact {
                true => assert_eq!(quotient.unwrap().coefficients()[0], 2),
                false => assert_eq!(quotient.unwrap_err(), Error::NotDecryptable),
            }
        }
    }
}

/// Repeats an operation until it is refused; every result before that decrypts rightly. Returns how often it was done.
fn until_refused(
    client: &mut Client,
    engine: &Engine,
    step: impl Fn(&Engine, &Ciphertext) -> Result<Ciphertext>,
    expected: impl Fn(&Plaintext) -> Plaintext,
    label: &str,
) -> usize {
    let mut plaintext = client.random();
    let mut ct = client.encrypt(&plaintext);
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
        assert_eq!(client.decryptor.decrypt(&ct).unwrap(), plaintext, "{label} after {} steps", done + 1);
    }
    unreachable!("{label}: capacity is finite")
}

#[test]
fn spent_capacity_is_an_error_never_a_wrong_answer() {
    let rings = [(105, 2, 3), (27, 7, 2), (60, 17, 1), (31, 127, 2), (64, 3, 2), (128, 65537, 1), (45, 2, 1)];
    rings.into_par_iter().for_each(|triple| {
        for scheme in SCHEMES {
            let label = format!("{scheme} {triple:?}");
            let mut c = client(triple, scheme, &CHAIN);
            let m = triple.0;
            let e = c.engine(true, &[(m - 1, 5)]);
            let square = |x: &Plaintext| x.multiply(x).unwrap();
            let products = until_refused(&mut c, &e, |e, a| e.square(a), square, &label);
            let y = c.random();
            let constant = e.prepare(&y).unwrap();
            let scale = |x: &Plaintext| x.multiply(&y).unwrap();
            let constants = until_refused(&mut c, &e, |e, a| e.multiply_constant(a, &constant), scale, &label);
            let t = triple.1.pow(triple.2);
            let half = t as i64 / 2;
            let scalar = Plaintext::scalar(&c.ring, half);
            let scalars = |x: &Plaintext| x.multiply(&scalar).unwrap();
            // Modulo 2 that is 1, which costs nothing.
            let scalars =
                if t == 2 { 3 } else { until_refused(&mut c, &e, |e, a| e.multiply_scalar(a, half), scalars, &label) };
            assert!(products >= 2 && constants >= products, "{label}: {products} squares, {constants} constants");
            assert!(scalars > 2, "{label}: {scalars} scalars");
        }
    });
}

/// A decryptor believes no ciphertext whose bound leaves no room, however it came by the bound.
#[test]
fn decryption_beyond_the_bound_is_refused() {
    for scheme in SCHEMES {
        let mut c = client((105, 2, 3), scheme, &CHAIN);
        let x = c.random();
        let wire = WireContext::new(&c.context, &c.ring, scheme);
        let honest = to_payload(&wire, &CiphertextV1::new(c.encrypt(&x)));
        let key = c.secret.key_id();
        let with_bound = |bits: f64| {
            let mut payload = honest.to_vec();
            payload[16..24].copy_from_slice(&bits.to_le_bytes());
            CiphertextV1::decode(&wire, key, FieldReader::new(&payload)).unwrap().into_ciphertext()
        };
        let log2_q = c.context.log2_modulus(5);
        for bits in [log2_q, log2_q - 1.0] {
            let refused = c.decryptor.decrypt(&with_bound(bits));
            let Err(Error::CapacityExhausted { operation: "decrypt", needed_bits, left_bits: 0.0 }) = refused else {
                panic!("{refused:?}");
            };
            assert!(needed_bits > 0.0);
        }
        let engine = c.engine(true, &[]);
        assert!(engine.capacity(&with_bound(log2_q)) < 0.0);
        assert!(matches!(engine.square(&with_bound(log2_q - 20.0)), Err(Error::CapacityExhausted { .. })), "{scheme}");
        assert_eq!(c.decryptor.decrypt(&with_bound(log2_q - 20.0)).unwrap(), x, "{scheme}: an overstated bound");
    }
}

/// Zero times a ciphertext has a noise bound of 0, which files and further operations must take.
#[test]
fn noiseless_ciphertexts_go_on() {
    for scheme in SCHEMES {
        let mut c = client((64, 17, 1), scheme, &CHAIN);
        let e = c.engine(true, &[(63, 5)]);
        let x = c.random();
        let a = c.encrypt(&x);
        let zero = e.multiply_scalar(&a, 0).unwrap();
        let wire = WireContext::new(&c.context, &c.ring, scheme);
        let payload = to_payload(&wire, &CiphertextV1::new(zero.clone()));
        let back = CiphertextV1::decode(&wire, a.key_id(), FieldReader::new(&payload)).unwrap().into_ciphertext();
        for zero in [zero, back] {
            assert!(c.decryptor.decrypt(&zero).unwrap().is_zero());
            assert_eq!(c.decryptor.decrypt(&e.add(&zero, &a).unwrap()).unwrap(), x);
            for image in [e.square(&zero), e.multiply(&zero, &a), e.automorphism(&zero, 63), e.switch_modulus(&zero, 1)]
            {
                assert!(c.decryptor.decrypt(&image.unwrap()).unwrap().is_zero(), "{scheme}");
            }
            assert!(c.decryptor.decrypt(&e.reduce_level(&zero, 4.0).unwrap()).unwrap().is_zero());
        }
    }
}
