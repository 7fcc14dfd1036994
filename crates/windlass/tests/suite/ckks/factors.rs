//! Large and small public factors: one rule for numbers, vectors, matrices and coefficients.

use windlass::circuits::{MatrixPlan, MatrixSpec, Polynomial};
use windlass::needs::Products;
use windlass::schemes::ckks::{Ciphertext, CkksSpec, Complex64, complex};
use windlass::{Approximate, Context, Error};

use crate::ckks::common::{Client, SEED, Server, spec};

/// With room for values up to 2^100.
fn wide() -> (Client, Server, MatrixPlan<windlass::circuits::ComplexSlots>) {
    let spec = CkksSpec { base_prime_bits: vec![50; 3], special_prime_bits: vec![50; 3], digits: 4, ..spec(64, 40, 4) };
    let context: Context<Approximate> = Context::approximate(&spec).unwrap();
    let rows = [[1e15 + 0.5, 0.0], [0.0, 1e15 + 0.5]];
    let matrix = MatrixPlan::dense_matrix(&context.vectors(32).unwrap(), &rows, &MatrixSpec::default()).unwrap();
    let (client, server) = context.generate_keys_from_seed([&matrix, &Products], SEED).unwrap();
    (client, server, matrix)
}

const X: [f64; 2] = [0.5, -0.75];

fn near(what: &str, client: &Client, ct: &Ciphertext, expected: [f64; 2]) {
    let got = client.decrypt(ct).unwrap_or_else(|error| panic!("{what}: {error}"));
    let largest = expected.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    for (got, expected) in got.iter().zip(expected) {
        assert!((got - expected).abs() <= ct.error_bound(), "{what}: {got}, bound {:e}", ct.error_bound());
        assert!((got - expected).abs() < 1e-7 * largest.max(1e-3), "{what}: {got}, not {expected}");
    }
}

#[test]
fn factors_of_every_size_go_by_every_door() {
    let (client, server, matrix) = wide();
    let engine = server.engine();
    let x = client.encrypt(&X).unwrap();
    for factor in [1e-6, 1e7, 1e7 + 0.5, 1e15, 1e15 + 0.5, -(2f64.powi(50) + 0.25), 1e22, 3e25] {
        let what = |door| format!("{door} by {factor}");
        let expected = X.map(|x| factor * x);
        near(&what("number"), &client, &server.multiply_real(&x, factor).unwrap(), expected);
        near(&what("vector"), &client, &server.multiply_reals(&x, &[factor; 2]).unwrap(), expected);
        let turned = engine.multiply_scalar(&x, Complex64::new(0.0, factor)).unwrap();
        let back = engine.multiply_i(&turned).unwrap();
        near(&what("imaginary"), &client, &engine.negate(&back).unwrap(), expected);
        let p = Polynomial::monomial(&[factor, factor, 0.0, factor]).unwrap();
        near(&what("coefficients"), &client, &engine.evaluate(&p, &x).unwrap(), X.map(|x| p.value(x)));
        // An integer costs no level.
        let level = engine.rescale(&server.multiply_real(&x, factor).unwrap()).unwrap().level();
        assert_eq!(level, x.level() - usize::from(factor.fract() != 0.0), "{factor}");
    }
    near("matrix", &client, &server.apply(&matrix, &x).unwrap(), X.map(|x| (1e15 + 0.5) * x));
    // A narrow interval has a large factor of its own.
    let p = Polynomial::chebyshev(&[0.0, 1.0, 1.0], 0.5 - 1e-9, 0.5 + 1e-9).unwrap();
    let narrow = client.encrypt_complex(&complex(&[0.5, 0.5]), 0.5).unwrap();
    let got = client.decrypt(&engine.evaluate(&p, &narrow).unwrap()).unwrap();
    assert!(got.iter().all(|y| (y + 1.0).abs() < 2.0), "{got:?}");
}

/// Between 2^23 and 2^24.
const FACTOR: f64 = 1e7 + 0.5;

/// What a refusal says does something.
#[test]
fn refusals_name_values_and_remedies() {
    let context: Context<Approximate> = Context::approximate(&CkksSpec::secure(1, 40, 16, 4).unwrap()).unwrap();
    let (client, server) = context.generate_keys_from_seed([&Products], SEED).unwrap();
    let x = client.encrypt(&X).unwrap();
    let refused = server.multiply_real(&x, FACTOR).unwrap_err();
    let Error::ModulusExhausted { value_bits: Some(bits), .. } = refused else { panic!("{refused}") };
    assert!(refused.to_string().contains(&format!("value_bits = {bits}")), "{refused}");
    for (value_bits, fits) in [(bits, true), (bits - 2, false)] {
        let context: Context<Approximate> =
            Context::approximate(&CkksSpec::secure(1, 40, value_bits, 4).unwrap()).unwrap();
        let (client, server) = context.generate_keys_from_seed([&Products], SEED).unwrap();
        assert_eq!(server.multiply_real(&client.encrypt(&X).unwrap(), FACTOR).is_ok(), fits, "{value_bits} bits");
    }
    let beyond = server.multiply_reals(&x, &[1.0, 1e290]).unwrap_err();
    assert!(matches!(beyond, Error::NumberTooLarge { value: 1e290, .. }) && beyond.to_string().contains("1e290"));
    let bound = client.encrypt_complex(&complex(&X), 1e20).unwrap_err();
    let Error::BoundTooLarge { value_bits: Some(bits), .. } = bound else { panic!("{bound}") };
    let context: Context<Approximate> = Context::approximate(&CkksSpec::secure(1, 40, bits, 4).unwrap()).unwrap();
    let (client, server) = context.generate_keys_from_seed([&Products], SEED).unwrap();
    let ct = client.encrypt_complex(&complex(&X), 1e20).unwrap();
    // At every level.
    server.engine().lower(&ct, context.ckks().base_level()).unwrap();
}
