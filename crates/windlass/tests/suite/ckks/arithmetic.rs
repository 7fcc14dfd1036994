//! Every operation, its values and its error estimate.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::schemes::ckks::{Complex64, Publication, complex};

use crate::ckks::common::{check, encrypt, parties, sample, spec, zip};

#[test]
fn vectors_of_any_length_survive_encryption() {
    let (client, _) = parties(&spec(1024, 40, 1), &[]);
    let encryptor = client.encryptor().unwrap();
    let mut rng = ChaCha20Rng::from_seed([11; 32]);
    for log in 0..=9 {
        let values = sample(1 << log, 1);
        let ct = encryptor.encrypt(&values, &mut rng).unwrap();
        check(&client, &format!("{} slots", values.len()), &ct, &values, 9.0);
        let secret = encrypt(&client, &values);
        check(&client, "secret-key encryption", &secret, &values, 9.0);
        assert!(secret.precision_bits() > ct.precision_bits());
    }
    let real = [0.25, -3.5, 100.0, 1e-6];
    let ct = encryptor.encrypt_real(&real, 100.0, &mut rng).unwrap();
    check(&client, "reals", &ct, &complex(&real), 9.0);
    assert_eq!(ct.magnitude(), 100.0);
}

#[test]
fn scales_from_25_to_50_bits() {
    for scale_bits in [25, 30, 35, 40, 45, 50] {
        let (client, server) = parties(&spec(1024, scale_bits, 2), &[1]);
        let (x, y) = (sample(512, 1), sample(512, 2));
        let (a, b) = (encrypt(&client, &x), encrypt(&client, &y));
        let product = server.engine().multiply(&server.engine().multiply(&a, &b).unwrap(), &b).unwrap();
        let bits = check(&client, &format!("scale 2^{scale_bits}"), &product, &zip(&x, &y, |x, y| x * y * y), 5.0);
        assert!(bits > scale_bits as f64 - 17.0, "{bits}");
    }
}

#[test]
fn every_operation_is_that_of_complex_numbers() {
    let (client, server) = parties(&spec(1024, 40, 4), &[1, 5, -3]);
    let (x, y) = (sample(512, 1), sample(512, 2));
    let (a, b) = (encrypt(&client, &x), encrypt(&client, &y));
    let e = server.engine();
    let conj = |x: &[Complex64]| x.iter().map(|z| z.conj()).collect::<Vec<_>>();
    let turned = |amount: usize| [&x[amount..], &x[..amount]].concat();
    let number = Complex64::new(0.3, -0.7);
    let cases = [
        ("add", e.add(&a, &b), zip(&x, &y, |x, y| x + y)),
        ("sub", e.sub(&a, &b), zip(&x, &y, |x, y| x - y)),
        ("negate", e.negate(&a), zip(&x, &y, |x, _| -x)),
        ("multiply", e.multiply(&a, &b), zip(&x, &y, |x, y| x * y)),
        ("square", e.square(&a), zip(&x, &y, |x, _| x * x)),
        ("add_plain", e.add_plain(&a, &y), zip(&x, &y, |x, y| x + y)),
        ("multiply_plain", e.multiply_plain(&a, &y), zip(&x, &y, |x, y| x * y)),
        ("multiply_integer", e.multiply_integer(&a, -3), zip(&x, &y, |x, _| x * -3.0)),
        ("multiply_i", e.multiply_i(&a), zip(&x, &y, |x, _| x * Complex64::i())),
        ("multiply_scalar", e.multiply_scalar(&a, number), zip(&x, &y, |x, _| x * number)),
        ("conjugate", e.conjugate(&a), conj(&x)),
        ("rotate", e.rotate(&a, 5), turned(5)),
        ("rotate back", e.rotate(&a, -3), turned(509)),
    ];
    for (name, ct, expected) in cases {
        check(&client, name, &ct.unwrap(), &expected, 7.0);
    }
    let short = sample(8, 1);
    let ct = encrypt(&client, &short);
    check(&client, "a period of 8", &e.multiply(&a, &ct).unwrap(), &zip(&x, &short, |x, y| x * y), 5.0);
    let moved = [&short[1..], &short[..1]].concat();
    check(&client, "rotation of 8 slots", &e.rotate(&ct, 9).unwrap(), &moved, 8.0);
}

/// Sums, differences and products of operands of all levels and degrees, with and without rescaling
/// in between.
#[test]
fn operands_of_different_depth_just_work() {
    let (client, server) = parties(&spec(1024, 40, 6), &[]);
    let x = sample(512, 1);
    let e = server.engine();
    let mut powers = vec![(encrypt(&client, &x), x.clone())];
    for _ in 0..3 {
        let (ct, values) = powers[powers.len() - 1].clone();
        powers.push((e.square(&ct).unwrap(), values.iter().map(|z| z * z).collect()));
        let (ct, values) = powers[powers.len() - 1].clone();
        powers.push((e.rescale(&ct).unwrap(), values));
    }
    for (i, (a, x)) in powers.iter().enumerate() {
        for (j, (b, y)) in powers.iter().enumerate() {
            // A value less itself may have no error at all.
            check(&client, &format!("{i} + {j}"), &e.add(a, b).unwrap(), &zip(x, y, |x, y| x + y), 6.0);
            check(&client, &format!("{i} - {j}"), &e.sub(a, b).unwrap(), &zip(x, y, |x, y| x - y), f64::INFINITY);
            check(&client, &format!("{i} * {j}"), &e.multiply(a, b).unwrap(), &zip(x, y, |x, y| x * y), 6.0);
        }
        check(&client, &format!("{i} lowered"), &e.lower(a, 1 + server.context().ckks().base_level()).unwrap(), x, 6.0);
    }
}

/// Twenty squarings of numbers of absolute value 1 keep every scale exact.
#[test]
fn depth_of_twenty() {
    let (client, server) = parties(&spec(512, 40, 20), &[]);
    let x: Vec<Complex64> = (0..256).map(|j| Complex64::from_polar(1.0, 1e-6 * (j + 1) as f64)).collect();
    let mut ct = encrypt(&client, &x);
    for _ in 0..20 {
        ct = server.engine().square(&ct).unwrap();
    }
    let expected: Vec<Complex64> = (0..256).map(|j| Complex64::from_polar(1.0, 1.048576 * (j + 1) as f64)).collect();
    check(&client, "x^(2^20)", &ct, &expected, 8.0);
}

#[test]
fn published_decryptions_are_flooded_as_promised() {
    let (client, _) = parties(&spec(1024, 50, 1), &[]);
    let values = sample(512, 1);
    let ct = encrypt(&client, &values);
    let exact = client.decrypt_complex(&ct).unwrap();
    let publication = Publication { security_bits: 20, decryptions: 4 };
    let published = client.decrypt_public(&ct, publication).unwrap();
    let noise: f64 =
        exact.iter().zip(&published.values).map(|(a, b)| (a - b).norm_sqr()).sum::<f64>() / exact.len() as f64;
    let wanted = 48f64.sqrt() * 1024.0 * ct.error_bound() * 1024f64.sqrt();
    assert!((noise.sqrt() / wanted - 1.0).abs() < 0.1, "{:e} against {wanted:e}", noise.sqrt());
    let worst = values.iter().zip(&published.values).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!((-worst.log2() - published.precision_bits).abs() < 1.5, "{} {}", -worst.log2(), published.precision_bits);
}

/// Coefficients just below 1/2 all round towards 0: the error in slot 0 is the whole value.
#[test]
fn plaintexts_that_round_to_nothing_stay_within_the_bound() {
    let (client, server) = parties(&spec(1 << 14, 40, 1), &[]);
    let slots = server.context().ckks().most_slots();
    let mut ones = vec![Complex64::ONE; slots];
    // With the public key: beside its error that of a plaintext is small.
    let ct = client.encryptor().unwrap().encrypt(&ones, &mut ChaCha20Rng::from_seed([11; 32])).unwrap();
    let v = 0.99 * slots as f64 / 2.0 / server.context().ckks().scale(ct.level());
    ones.fill(Complex64::ZERO);
    ones[0].re = v;
    let product = server.engine().multiply_plain(&ct, &ones).unwrap();
    let error = (client.decrypt_complex(&product).unwrap()[0] - v).norm();
    assert!(error > 0.9 * v, "the plaintext rounds to zero");
    assert!(error <= product.error_bound(), "{error:e} above the bound {:e}", product.error_bound());
    let sum = server.engine().add_plain(&ct, &ones).unwrap();
    let error = (client.decrypt_complex(&sum).unwrap()[0] - 1.0 - v).norm();
    assert!(error <= sum.error_bound() && sum.deviation() < ct.deviation() * 1.1);
}

/// What rounds to nothing adds nothing: integers as constants are exact.
#[test]
fn constants_that_are_encoded_exactly_cost_no_precision() {
    let (client, server) = parties(&spec(256, 40, 1), &[]);
    let ct = encrypt(&client, &sample(128, 1));
    let product = server.engine().multiply_plain(&ct, &[Complex64::new(-1.0, 0.0)]).unwrap();
    let same = ct.deviation() / product.deviation();
    assert!((0.99..=1.0).contains(&same), "{same}");
}
