//! What is refused, and how.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::circuits::{ComplexMap, ComplexSlots, LinearGrid, Polynomial};
use windlass::needs::Products;
use windlass::rlwe::SecretKey;
use windlass::schemes::ckks::{CkksContext, CkksSpec, Complex64, Decryptor, Publication};
use windlass::{Approximate, Beyond, Context, Error};
use zeroize::Zeroizing;

use crate::ckks::common::{encrypt, parties, sample, spec};

#[test]
fn values_that_cannot_be_encoded() {
    let (client, server) = parties(&spec(256, 40, 1), &[]);
    let (encryptor, e) = (client.encryptor().unwrap(), server.engine());
    let rng = &mut ChaCha20Rng::from_seed([11; 32]);
    let ones = |count: usize| vec![Complex64::new(1.0, 0.0); count];
    for count in [0, 3, 100, 256] {
        let refused = encryptor.encrypt(&ones(count), rng).unwrap_err();
        assert_eq!(refused, Error::SlotCount { got: count, most: 128 });
    }
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut values = ones(8);
        values[5].im = bad;
        assert_eq!(encryptor.encrypt(&values, rng).unwrap_err(), Error::NotFinite { index: 5 });
        let ct = encryptor.encrypt(&ones(8), rng).unwrap();
        assert_eq!(e.add_plain(&ct, &values).unwrap_err(), Error::NotFinite { index: 5 });
        assert_eq!(e.multiply_plain(&ct, &values).unwrap_err(), Error::NotFinite { index: 5 });
        assert_eq!(e.multiply_scalar(&ct, Complex64::new(bad, 0.0)).unwrap_err(), Error::NotFinite { index: 0 });
    }
    let large = vec![Complex64::new(0.0, 2.0); 4];
    assert!(matches!(encryptor.encrypt(&large, rng), Err(Error::ValueTooLarge { index: 0, .. })));
    // What is told of a message does not depend on its values.
    let larger = vec![Complex64::new(0.0, 77.0); 4];
    assert_eq!(encryptor.encrypt(&large, rng).unwrap_err(), encryptor.encrypt(&larger, rng).unwrap_err());
    assert!(encryptor.encrypt_bounded(&large, 2.0, rng).is_ok());
    let beyond = encryptor.encrypt_bounded(&large, 2f64.powi(60), rng);
    assert!(matches!(beyond, Err(Error::BoundTooLarge { value_bits: Some(61), .. })), "{beyond:?}");
    let huge = vec![Complex64::new(f64::MAX, f64::MAX); 4];
    let ct = encryptor.encrypt(&ones(4), rng).unwrap();
    assert!(matches!(e.add_plain(&ct, &huge), Err(Error::NumberTooLarge { value, .. }) if value == f64::MAX));
}

#[test]
fn values_that_outgrow_the_modulus() {
    let (client, server) = parties(&spec(256, 40, 0), &[]);
    let mut ct = encrypt(&client, &sample(128, 1));
    let outgrown = (0..20).find_map(|_| match server.engine().add(&ct, &ct) {
        Ok(sum) => {
            ct = sum;
            None
        }
        Err(error) => Some(error),
    });
    assert!(matches!(outgrown, Some(Error::ModulusExhausted { operation: "add", .. })), "{outgrown:?}");
    // 2^9 is what a base of 50 bits leaves above a scale of 40.
    assert_eq!(ct.magnitude(), 256.0);
    // What fits two primes does not fit one.
    let (client, server) = parties(&spec(256, 40, 1), &[]);
    let ct = client.encrypt_complex(&[Complex64::ONE; 4], 1e6).unwrap();
    let low = server.engine().lower(&ct, 1).unwrap_err();
    assert!(matches!(low, Error::ModulusExhausted { operation: "drop levels", .. }), "{low}");
}

#[test]
fn levels_run_out() {
    let (client, server) = parties(&spec(256, 40, 1), &[]);
    let ct = encrypt(&client, &sample(128, 1));
    let square = server.engine().square(&ct).unwrap();
    let fourth = server.engine().square(&square);
    // The product itself still needs 80 bits under a modulus of 50: it is the depth that is lacking.
    assert_eq!(fourth.unwrap_err(), Error::LevelsExhausted { operation: "square", depth: 1, needed: 1, left: 0 });
    let low = server.engine().lower(&square, 1).unwrap();
    assert_eq!(low.depth_left(), 0);
    let spec = CkksSpec { base_prime_bits: vec![50, 50], ..spec(256, 40, 0) };
    let (client, server) = parties(&spec, &[]);
    let ct = encrypt(&client, &sample(128, 1));
    let square = server.engine().square(&ct).unwrap();
    let refused = server.engine().square(&square).unwrap_err();
    assert_eq!(refused, Error::LevelsExhausted { operation: "rescale", depth: 0, needed: 1, left: 0 });
    assert!(refused.to_string().contains("Choose parameters of depth 1"), "{refused}");
}

#[test]
fn contexts_and_keys_that_do_not_match() {
    let (client, server) = parties(&spec(256, 40, 1), &[]);
    let (stranger, _) = parties(&spec(256, 40, 2), &[]);
    let (a, b) = (encrypt(&client, &sample(8, 1)), encrypt(&stranger, &sample(8, 1)));
    for refused in [
        server.engine().add(&a, &b),
        server.engine().multiply(&a, &b),
        server.engine().square(&b),
        server.engine().conjugate(&b),
        // Keys of these levels are missing as well, but would not help.
        server.multiply(&a, &b),
        server.square(&b),
        server.rotate(&b, 1),
        server.conjugate(&b),
    ] {
        assert!(matches!(refused, Err(Error::ContextMismatch { .. })), "{refused:?}");
    }
    assert!(matches!(client.decrypt(&b), Err(Error::ContextMismatch { .. })));
    let element = server.context().ckks().rotation_element(1);
    let refused = server.engine().rotate(&a, 1).unwrap_err();
    assert!(matches!(refused, Error::MissingGaloisKey { element: t, .. } if t == element), "{refused}");
    assert!(matches!(server.engine().lower(&a, 3), Err(Error::OutOfRange { .. })));
}

#[test]
fn parameters_that_make_no_sense() {
    let refuse = |spec: CkksSpec| CkksContext::new(&spec).unwrap_err();
    for spec in [
        CkksSpec { n: 100, ..spec(256, 40, 1) },
        CkksSpec { scale_bits: 151, base_prime_bits: vec![50; 4], ..spec(256, 40, 1) },
        CkksSpec { scale_bits: 20, ..spec(256, 40, 1) },
        CkksSpec { base_prime_bits: vec![40], ..spec(256, 40, 1) },
    ] {
        assert!(matches!(refuse(spec.clone()), Error::OutOfRange { .. }), "{spec:?}");
    }
    let Err(Error::NoParameters { reason }) = CkksSpec::secure(100, 50, 9, 1) else { panic!("no ring is so large") };
    assert!(reason.contains("depth 100 with scale_bits 50 needs at least"), "{reason}");
    assert!(reason.contains("n = 65536, the largest ring") && !reason.contains("enlarge the ring"), "{reason}");
    let refused = CkksSpec::secure(1, 40, 0, 1).unwrap_err().to_string();
    assert_eq!(refused, "value_bits is 0, but must be between 1 and 850");
    for (depth, scale_bits, value_bits, slots) in [
        (2, 36, 4, 1 << 63),
        (2, 36, 4, 0),
        (2, u32::MAX, 0, 2),
        (2, 36, u32::MAX, 2),
        (usize::MAX, 36, 4, 2),
        (100_000, 36, 4, 2),
    ] {
        let refused = CkksSpec::secure(depth, scale_bits, value_bits, slots);
        assert!(matches!(refused, Err(Error::OutOfRange(_))), "{refused:?}");
    }
    let endless = CkksSpec { depth: usize::MAX, ..CkksSpec::secure(1, 36, 4, 2).unwrap() };
    assert!(matches!(CkksContext::new(&endless), Err(Error::OutOfRange(_))));
    let spec = CkksSpec::secure(3, 35, 9, 1000).unwrap();
    assert!(spec.n >= 2000 && spec.n <= 1 << 13, "{spec:?}");
    assert!(CkksContext::new(&spec).unwrap().rlwe().params().security().bits >= 128.0);
}

/// Numbers of any size are shown as they were given.
#[test]
fn messages_show_what_was_given() {
    let refusal = |refused: Result<Polynomial, Error>| refused.unwrap_err().to_string();
    let end = |low, high| refusal(Polynomial::exponential(low, high, 3));
    assert_eq!(
        end(0.25, -0.5),
        "the upper end of the interval is -0.5, but must be at least 0.25, exclusive, and finite"
    );
    assert_eq!(
        end(1e300, 1.5),
        "the upper end of the interval is 1.5, but must be at least 1e300, exclusive, and finite"
    );
    assert_eq!(end(f64::NAN, 1.0), "the lower end of the interval is NaN, but must be finite");
    assert_eq!(
        end(0.0, f64::INFINITY),
        "the upper end of the interval is inf, but must be at least 0, exclusive, and finite"
    );
    let inverse = refusal(Polynomial::inverse(-0.75, 2.0, 3));
    assert!(inverse.starts_with("the lower end of the interval is -0.75, but must be positive"), "{inverse}");
    let (_, server) = parties(&spec(256, 40, 1), &[]);
    let level = server.engine().prepare(&[Complex64::ONE], usize::MAX).unwrap_err().to_string();
    assert!(level.contains("18446744073709551615"), "{level}");
}

#[test]
fn maps_whose_constants_overflow() {
    let context = Context::approximate(&spec(256, 40, 1)).unwrap();
    let large = vec![Complex64::ONE, Complex64::new(1e200, 0.0), Complex64::ONE, Complex64::ONE];
    let slots = context.vectors(4).unwrap();
    let map = ComplexMap::term(&slots, 0, false, &large).unwrap();
    assert_eq!(map.compose(&map).unwrap_err(), Error::NotFinite { index: 1 });
    let largest = ComplexMap::term(&slots, 1, true, &[Complex64::new(0.0, f64::MAX); 4]).unwrap();
    assert_eq!(largest.add(&largest).unwrap_err(), Error::NotFinite { index: 0 });
    assert!(map.compose(&ComplexMap::slot_rotation(&slots, 1).unwrap()).is_ok());
}

#[test]
fn publications_that_would_leave_nothing() {
    let (client, _) = parties(&spec(256, 30, 0), &[]);
    let ct = encrypt(&client, &sample(128, 1));
    let publish = |security_bits, decryptions| client.decrypt_public(&ct, Publication { security_bits, decryptions });
    assert!(matches!(publish(40, 1), Err(Error::PrecisionExhausted { .. })));
    for (security, decryptions) in [(0, 1), (129, 1), (20, 0)] {
        assert!(matches!(publish(security, decryptions), Err(Error::OutOfRange { .. })));
    }
}

#[test]
fn ciphertexts_of_other_keys() {
    for (n, scale_bits) in [(64, 40), (256, 40), (1024, 45)] {
        let (client, server) = parties(&spec(n, scale_bits, 2), &[]);
        let (context, rlwe) = (server.context().ckks(), server.context().ckks().rlwe());
        let mut rng = ChaCha20Rng::from_seed([23; 32]);
        // A key that claims to be that of the ciphertexts.
        let other = SecretKey::generate(rlwe, &mut rng);
        let name = encrypt(&client, &[Complex64::ONE]).key_id();
        let coefficients = Zeroizing::new(other.expose_coefficients().to_vec());
        let other = SecretKey::from_coefficients(rlwe, name, coefficients).unwrap();
        let other = Decryptor::new(context, Arc::new(other)).unwrap();
        for slots in [1, 4, n / 2] {
            let ct = encrypt(&client, &sample(slots, 1));
            let square = server.engine().square(&ct).unwrap();
            let low = server.engine().lower(&square, context.base_level()).unwrap();
            for ct in [ct, square, low] {
                assert!(client.decrypt(&ct).is_ok());
                let refused = other.decrypt(&ct).unwrap_err();
                let Error::NotDecryptable { beyond } = refused else { panic!("{slots} slots of n = {n}: {refused}") };
                // Under another key no slot is small.
                assert!(slots < 16 || beyond.is_some_and(|beyond| 2 * beyond.count > slots), "{beyond:?}");
                let publication = Publication { security_bits: 1, decryptions: 1 };
                let published = other.decrypt_public(&ct, publication, &mut rng);
                assert!(matches!(published, Err(Error::NotDecryptable { .. })));
            }
        }
    }
}

/// In memory as in files, for any operation.
#[test]
fn ciphertexts_of_two_key_pairs_are_not_mixed() {
    let context: Context<Approximate> = Context::approximate(&spec(256, 40, 2)).unwrap();
    let [(client, server), (other, _)] = [1, 2].map(|seed| context.generate_keys_from_seed([&Products], seed).unwrap());
    let e = server.engine();
    let own = encrypt(&client, &sample(128, 1));
    let foreign = encrypt(&other, &sample(128, 2));
    let refused = [
        ("add", e.add(&own, &foreign)),
        ("subtract", e.sub(&foreign, &own)),
        ("multiply", e.multiply(&own, &foreign)),
        ("square", e.square(&foreign)),
        ("decrypt", client.decrypt(&foreign).map(|_| own.clone())),
        (
            "publish",
            client.decrypt_public(&foreign, Publication { security_bits: 1, decryptions: 1 }).map(|_| own.clone()),
        ),
    ];
    for (what, outcome) in refused {
        assert!(matches!(outcome, Err(Error::OtherKeyPair(_))), "{what}: {outcome:?}");
    }
}

#[test]
fn values_above_a_stated_bound() {
    let (client, _) = parties(&spec(256, 40, 1), &[]);
    let message = Error::NotDecryptable { beyond: None }.to_string();
    assert!(["another key", "the interval of a polynomial", "assumed"].iter().all(|cause| message.contains(cause)));
    let ct = encrypt(&client, &[Complex64::ONE]);
    assert!(client.decrypt(&ct.clone().with_magnitude(1.0)).is_ok());
    let beyond = Some(Beyond { slot: 0, count: 1 });
    assert_eq!(client.decrypt(&ct.with_magnitude(0.9)).unwrap_err(), Error::NotDecryptable { beyond });
}

/// Nothing refreshes in CKKS: no refusal sends its reader there.
#[test]
fn no_refusal_tells_of_refreshing() {
    let (client, server) = parties(&spec(256, 40, 1), &[]);
    let (stranger, _) = parties(&spec(256, 40, 2), &[]);
    let e = server.engine();
    let rng = &mut ChaCha20Rng::from_seed([11; 32]);
    let ct = encrypt(&client, &sample(128, 1));
    let large = client.encrypt_complex(&[Complex64::ONE; 4], 1e6).unwrap();
    let other = encrypt(&stranger, &sample(128, 1));
    let low = e.lower(&e.square(&ct).unwrap(), 1).unwrap();
    let many = [f64::NAN, 2.0, 2f64.powi(60)].map(|x| vec![Complex64::from(x); 4]);
    let polynomial = Polynomial::monomial(&[0.5; 40]).unwrap();
    let publication = Publication { security_bits: 40, decryptions: u32::MAX };
    let refused = [
        ("outgrown", (0..20).try_fold(low.clone(), |sum, _| e.add(&sum, &sum))),
        ("square", e.square(&low)),
        ("multiply", e.multiply(&low, &ct)),
        ("times numbers", e.multiply_plain(&low, &many[1])),
        ("times a number", e.multiply_scalar(&ct, Complex64::from(1e30))),
        ("times an integer", e.multiply_integer(&ct, i64::MAX)),
        ("sum with numbers", e.add_plain(&low, &many[2])),
        ("no numbers", e.add_plain(&low, &many[0])),
        ("lower", e.lower(&large, 1)),
        ("level", e.lower(&ct, 9)),
        ("rotate", e.rotate(&ct, 1)),
        ("polynomial", e.evaluate(&polynomial, &ct)),
        ("contexts", e.add(&ct, &other)),
        ("encrypt", client.encryptor().unwrap().encrypt(&many[1], rng)),
        ("bound", client.encrypt_complex(&many[2], 2f64.powi(60))),
        ("slots", client.encrypt_complex(&[Complex64::ONE; 256], 2.0)),
        ("decrypt", client.decrypt(&other).map(|_| ct.clone())),
        ("too small a bound", client.decrypt(&ct.clone().with_magnitude(0.1)).map(|_| ct.clone())),
        ("publication", client.decrypt_public(&ct, publication).map(|_| ct.clone())),
    ];
    for (what, outcome) in refused {
        let error = outcome.err().unwrap_or_else(|| panic!("{what} is not refused"));
        assert!(!error.to_string().contains("refresh"), "{what}: {error}");
    }
}

/// Numbers of slots that do not divide n/2, entries that are no place, constants of another length.
#[test]
fn maps_that_are_none_are_refused() {
    let context = Context::approximate(&spec(64, 40, 1)).unwrap();
    assert!(matches!(context.vectors(12).err(), Some(Error::SlotCount { got: 12, most: 32 })));
    let space = context.vectors(8).unwrap();
    let one = Complex64::ONE;
    for (row, column) in [(8, 0), (0, 8)] {
        assert!(matches!(ComplexMap::sparse_matrix(&space, [(row, column, one)]), Err(Error::OutOfRange(_))));
    }
    let grid = |row, column, value| LinearGrid::<ComplexSlots>::sparse_matrix(&space, 10, 3, [(row, column, value)]);
    assert_eq!(grid(9, 2, one).unwrap().rows(), 2);
    for (row, column) in [(10, 0), (0, 3)] {
        assert!(matches!(grid(row, column, one), Err(Error::OutOfRange(_))));
    }
    assert!(matches!(grid(9, 2, one / 0.0).err(), Some(Error::NotFinite { index: 0 })));
    assert!(matches!(ComplexMap::automorphism(&space, 2), Err(Error::Ring(_))));
    let constant = |values: Vec<Complex64>| ComplexMap::from_terms(&space, [(1, values)]);
    assert!(matches!(constant(vec![one; 7]), Err(Error::ShapeMismatch { expected: 8, got: 7, .. })));
    assert!(matches!(constant(vec![one / 0.0; 8]), Err(Error::NotFinite { .. })));
    // What cancels is no term.
    let nothing = ComplexMap::sparse_matrix(&space, [(1, 3, one), (1, 3, -one)]).unwrap();
    assert!(nothing.support().is_empty());
}

/// Maps meet over equal parameters, made twice or once, and over no others.
#[test]
fn complex_maps_of_other_parameters_are_refused() {
    let map = |spec: &CkksSpec, slots| {
        let context = Context::approximate(spec).unwrap();
        ComplexMap::slot_rotation(&context.vectors(slots).unwrap(), 1).unwrap()
    };
    let own = map(&spec(64, 40, 1), 8);
    own.add(&map(&spec(64, 40, 1), 8)).unwrap();
    for other in [map(&spec(64, 40, 1), 16), map(&spec(128, 40, 1), 8)] {
        assert!(matches!(own.add(&other), Err(Error::ContextMismatch { .. })));
    }
}

/// Constants are for engines of equal parameters, and for ciphertexts whose slots are as many or
/// divide them.
#[test]
fn complex_plans_are_for_their_own_parameters_and_slots() {
    let plan = |spec: &CkksSpec| {
        let context = Context::approximate(spec).unwrap();
        ComplexMap::slot_rotation(&context.vectors(8).unwrap(), 1).unwrap().plan().unwrap()
    };
    let (client, server) = parties(&spec(64, 40, 1), &[1]);
    let own = plan(&spec(64, 40, 1));
    let prepared = own.prepare(server.engine()).unwrap();
    for count in [4, 8] {
        let image = own.apply(&prepared, server.engine(), &encrypt(&client, &sample(count, 1))).unwrap();
        assert_eq!(image.slots(), 8);
    }
    let wide = own.apply(&prepared, server.engine(), &encrypt(&client, &sample(16, 1)));
    assert!(matches!(wide, Err(Error::ShapeMismatch { expected: 8, got: 16, .. })));
    for other in [spec(128, 40, 1), spec(64, 38, 1)] {
        let refused = plan(&other).prepare(server.engine());
        assert!(matches!(refused.err(), Some(Error::ContextMismatch { operation: "constants of a linear map", .. })));
    }
}
