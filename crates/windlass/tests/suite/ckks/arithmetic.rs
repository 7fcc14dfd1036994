//! Every operation, its values and its error estimate.

use windlass::schemes::ckks::{Complex64, Publication, complex};

use crate::ckks::common::{Setup, sample, spec, zip};

#[test]
fn vectors_of_any_length_survive_encryption() {
    let mut s = Setup::new(&spec(1024, 40, 1), &[]);
    for log in 0..=9 {
        let values = sample(1 << log, &mut s.rng.clone());
        let ct = s.encrypt(&values);
        s.check(&format!("{} slots", values.len()), &ct, &values, 9.0);
        let level = s.context.top_level();
        let (secret, _) = s.decryptor.encrypt(&values, 1.0, level, &mut s.rng).unwrap();
        s.check("secret-key encryption", &secret, &values, 9.0);
        assert!(secret.precision_bits() > ct.precision_bits());
    }
    let real = [0.25, -3.5, 100.0, 1e-6];
    let ct = s.encryptor.encrypt_real(&real, 100.0, &mut s.rng).unwrap();
    s.check("reals", &ct, &complex(&real), 9.0);
    assert_eq!(ct.magnitude(), 100.0);
}

#[test]
fn scales_from_25_to_50_bits() {
    for scale_bits in [25, 30, 35, 40, 45, 50] {
        let mut s = Setup::new(&spec(1024, scale_bits, 2), &[1]);
        let (x, y) = (sample(512, &mut s.rng.clone()), sample(512, &mut s.rng));
        let (a, b) = (s.encrypt(&x), s.encrypt(&y));
        let product = s.engine.multiply(&s.engine.multiply(&a, &b).unwrap(), &b).unwrap();
        let bits = s.check(&format!("scale 2^{scale_bits}"), &product, &zip(&x, &y, |x, y| x * y * y), 5.0);
        assert!(bits > scale_bits as f64 - 17.0, "{bits}");
    }
}

#[test]
fn every_operation_is_that_of_complex_numbers() {
    let mut s = Setup::new(&spec(1024, 40, 4), &[1, 5, -3]);
    let (x, y) = (sample(512, &mut s.rng.clone()), sample(512, &mut s.rng));
    let (a, b) = (s.encrypt(&x), s.encrypt(&y));
    let e = s.engine.clone();
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
        s.check(name, &ct.unwrap(), &expected, 7.0);
    }
    let short = sample(8, &mut s.rng);
    let ct = s.encrypt(&short);
    s.check("a period of 8", &e.multiply(&a, &ct).unwrap(), &zip(&x, &short, |x, y| x * y), 5.0);
    let moved = [&short[1..], &short[..1]].concat();
    s.check("rotation of 8 slots", &e.rotate(&ct, 9).unwrap(), &moved, 8.0);
}

/// Sums, differences and products of operands of all levels and degrees, with and without rescaling in between.
#[test]
fn operands_of_different_depth_just_work() {
    let mut s = Setup::new(&spec(1024, 40, 6), &[]);
    let x = sample(512, &mut s.rng);
    let e = s.engine.clone();
    let mut powers = vec![(s.encrypt(&x), x.clone())];
    for _ in 0..3 {
        let (ct, values) = powers[powers.len() - 1].clone();
        powers.push((e.square(&ct).unwrap(), values.iter().map(|z| z * z).collect()));
        let (ct, values) = powers[powers.len() - 1].clone();
        powers.push((e.rescale(&ct).unwrap(), values));
    }
    for (i, (a, x)) in powers.iter().enumerate() {
        for (j, (b, y)) in powers.iter().enumerate() {
            // A value less itself may have no error at all.
            s.check(&format!("{i} + {j}"), &e.add(a, b).unwrap(), &zip(x, y, |x, y| x + y), 6.0);
            s.check(&format!("{i} - {j}"), &e.sub(a, b).unwrap(), &zip(x, y, |x, y| x - y), f64::INFINITY);
            s.check(&format!("{i} * {j}"), &e.multiply(a, b).unwrap(), &zip(x, y, |x, y| x * y), 6.0);
        }
        s.check(&format!("{i} lowered"), &e.lower(a, 1 + s.context.base_level()).unwrap(), x, 6.0);
    }
}

/// Twenty squarings of numbers of absolute value 1 keep every scale exact.
#[test]
fn depth_of_twenty() {
    let mut s = Setup::new(&spec(512, 40, 20), &[]);
    let x: Vec<Complex64> = (0..256).map(|j| Complex64::from_polar(1.0, 1e-6 * (j + 1) as f64)).collect();
    let mut ct = s.encrypt(&x);
    for _ in 0..20 {
        ct = s.engine.square(&ct).unwrap();
    }
    let expected: Vec<Complex64> = (0..256).map(|j| Complex64::from_polar(1.0, 1.048576 * (j + 1) as f64)).collect();
    s.check("x^(2^20)", &ct, &expected, 8.0);
}

#[test]
fn published_decryptions_are_flooded_as_promised() {
    let mut s = Setup::new(&spec(1024, 50, 1), &[]);
    let values = sample(512, &mut s.rng);
    let ct = s.encrypt(&values);
    let exact = s.decryptor.decrypt(&ct).unwrap();
    let publication = Publication { security_bits: 20, decryptions: 4 };
    let published = s.decryptor.decrypt_public(&ct, publication, &mut s.rng).unwrap();
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
    let mut s = Setup::new(&spec(1 << 14, 40, 1), &[]);
    let slots = s.context.most_slots();
    let mut ones = vec![Complex64::ONE; slots];
    let ct = s.encrypt(&ones);
    let v = 0.99 * slots as f64 / 2.0 / s.context.scale(ct.level());
    ones.fill(Complex64::ZERO);
    ones[0].re = v;
    let product = s.engine.multiply_plain(&ct, &ones).unwrap();
    let error = (s.decryptor.decrypt(&product).unwrap()[0] - v).norm();
    assert!(error > 0.9 * v, "the plaintext rounds to zero");
    assert!(error <= product.error_bound(), "{error:e} above the bound {:e}", product.error_bound());
    let sum = s.engine.add_plain(&ct, &ones).unwrap();
    let error = (s.decryptor.decrypt(&sum).unwrap()[0] - 1.0 - v).norm();
    assert!(error <= sum.error_bound() && sum.deviation() < ct.deviation() * 1.1);
}

/// What rounds to nothing adds nothing: integers as constants are exact.
#[test]
fn constants_that_are_encoded_exactly_cost_no_precision() {
    let mut s = Setup::new(&spec(256, 40, 1), &[]);
    let ct = s.encrypt(&sample(128, &mut s.rng.clone()));
    let product = s.engine.multiply_plain(&ct, &[Complex64::new(-1.0, 0.0)]).unwrap();
    let same = ct.deviation() / product.deviation();
    assert!((0.99..=1.0).contains(&same), "{same}");
}
