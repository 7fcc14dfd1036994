//! Values far beyond a machine word, as far as the modulus or doubles reach.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::Arithmetic;
use windlass::Error;
use windlass::schemes::ckks::{Ciphertext, CkksContext, CkksSpec, Complex64, Publication};

use crate::ckks::common::{Client, parties, sample, spec, zip};

/// Of a thousand bits; with two primes to a digit.
fn wide() -> CkksSpec {
    CkksSpec { base_prime_bits: vec![50; 20], digits: 11, ..spec(64, 40, 1) }
}

/// Values as far as doubles tell them apart: 53 bits, less what a transform of eight slots rounds.
fn check(client: &Client, what: &str, ct: &Ciphertext, expected: &[Complex64]) {
    check_to(46, client, what, ct, expected);
}

/// Values to so many bits of the largest.
fn check_to(bits: i32, client: &Client, what: &str, ct: &Ciphertext, expected: &[Complex64]) {
    let largest = expected.iter().map(|z| z.norm()).fold(0.0, f64::max);
    let got = client.decrypt_complex(ct).unwrap_or_else(|error| panic!("{what}: {error}"));
    let worst = zip(&got, expected, |a, b| (a - b) / largest).iter().map(|z| z.norm()).fold(0.0, f64::max);
    assert!(worst < 2f64.powi(-bits), "{what}: relative error {worst:e}");
    assert!(worst <= ct.error_bound() / largest, "{what}: {worst:e} above {:e}", ct.error_bound());
}

/// Of the largest absolute value `size`.
fn of_size(size: f64) -> Vec<Complex64> {
    let mut values: Vec<Complex64> = sample(8, 5).iter().map(|z| z * size).collect();
    values[3] = Complex64::new(0.0, -size);
    values
}

#[test]
fn come_back_from_every_entry() {
    let (client, server) = parties(&wide(), &[]);
    let e = server.engine();
    let rng = &mut ChaCha20Rng::from_seed([3; 32]);
    let one = client.encrypt_complex(&[Complex64::ONE], 1.0).unwrap();
    // 2^82 is the end of two words at this scale.
    for log2 in [21, 79, 81, 82, 83, 85, 99, 150, 300, 600, 870] {
        let what = |entry| format!("2^{log2}, {entry}");
        let size = 2f64.powi(log2);
        let x = of_size(size);
        let public = client.encryptor().unwrap().encrypt_bounded(&x, size, rng).unwrap();
        check(&client, &what("under the public key"), &public, &x);
        check(&client, &what("under the secret key"), &client.encrypt_complex(&x, size).unwrap(), &x);
        check(&client, &what("sum"), &e.add(&public, &public).unwrap(), &x.iter().map(|z| z * 2.0).collect::<Vec<_>>());
        let sum: Vec<Complex64> = x.iter().map(|z| z + 1.0).collect();
        check(&client, &what("sum with numbers"), &e.add_plain(&one, &x).unwrap(), &sum);
        // The encryption of 1 is off by 2^−35.
        let product = e.multiply_plain(&one, &x).unwrap();
        let twice = e.add_plain(&product, &x).unwrap();
        check_to(30, &client, &what("a product and numbers"), &twice, &of_size(2.0 * size));
        check_to(30, &client, &what("times numbers"), &e.rescale(&product).unwrap(), &x);
        let constant = e.prepare(&x, one.level()).unwrap();
        check_to(30, &client, &what("times a constant"), &e.multiply_constant(&one, &constant).unwrap(), &x);
    }
    let x = of_size(2f64.powi(400));
    let ct = client.encrypt_complex(&x, 2f64.powi(400)).unwrap();
    check_to(30, &client, "square", &e.square(&ct).unwrap(), &zip(&x, &x, |a, b| a * b));
}

/// What doubles or the modulus have no room for is refused.
#[test]
fn are_refused_where_doubles_end() {
    // The modulus has room for 2^1100.
    let (client, server) = parties(&CkksSpec { base_prime_bits: vec![50; 23], digits: 12, ..wide() }, &[]);
    let e = server.engine();
    let rng = &mut ChaCha20Rng::from_seed([3; 32]);
    let one = client.encrypt_complex(&[Complex64::ONE], 1.0).unwrap();
    for log2 in [921, 962, 1000, 1023] {
        let x = of_size(2f64.powi(log2));
        let encryptor = client.encryptor().unwrap();
        for refused in [
            encryptor.encrypt_bounded(&x, 2f64.powi(log2), rng),
            client.encrypt_complex(&x, f64::MAX),
            e.add_plain(&one, &x),
            e.multiply_plain(&one, &x),
            e.prepare(&x, one.level()).map(|_| one.clone()),
        ] {
            let refused = refused.unwrap_err();
            let right = matches!(refused, Error::BoundTooLarge { value_bits: None, .. } | Error::NumberTooLarge { .. });
            assert!(right, "2^{log2}: {refused:?}");
        }
    }
    let x = of_size(2f64.powi(915));
    let ct = client.encrypt_complex(&x, 2f64.powi(915)).unwrap();
    check(&client, "2^915", &ct, &x);
    let published = client.decrypt_public(&ct, Publication { security_bits: 10, decryptions: 1 }).unwrap();
    assert!(published.values.iter().zip(&x).all(|(a, b)| (a - b).norm() < 2f64.powi(900)));
    // Doublings leave the doubles long before the modulus.
    let grown = (0..10).try_fold(ct, |ct, _| e.add(&ct, &ct));
    assert!(matches!(grown, Err(Error::ModulusExhausted { operation: "add", .. })), "{grown:?}");
}

/// What [`CkksSpec::secure`] promises of values.
#[test]
fn grow_as_far_as_parameters_say() {
    for (scale_bits, value_bits) in [(40, 100), (50, 140)] {
        let spec = CkksSpec::secure(1, scale_bits, value_bits, 64).unwrap();
        let (client, server) = parties(&spec, &[]);
        let size = 0.99 * 2f64.powi(value_bits as i32 / 2);
        let x = of_size(size);
        let ct = client.encrypt_complex(&x, size).unwrap();
        let square = server.engine().rescale(&server.engine().square(&ct).unwrap()).unwrap();
        check(&client, &format!("{value_bits} bits"), &square, &zip(&x, &x, |a, b| a * b));
        let most = 2f64.powi(value_bits as i32 - 1);
        check(&client, "at once", &client.encrypt_complex(&of_size(most), most).unwrap(), &of_size(most));
    }
    assert!(matches!(CkksSpec::secure(1, 40, 851, 64), Err(Error::OutOfRange(_))));
    let most = CkksSpec::secure(1, 40, 850, 64).unwrap();
    assert!(CkksContext::new(&most).is_ok());
}
