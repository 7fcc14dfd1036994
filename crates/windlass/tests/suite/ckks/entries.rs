//! Vectors that do not fill their ciphertexts: the bounds on entries hold for any contents of the
//! other slots.

use windlass::circuits::{Folding, MatrixPlan, MatrixSpec, Polynomial};
use windlass::needs::Products;
use windlass::schemes::ckks::{Ciphertext, Complex64, complex};
use windlass::wire::ApproximateCiphertextV1;
use windlass::{Approximate, Beyond, Context, Error};

use crate::ckks::common::{Client, SEED, Server, parties, spec};

/// So many numbers over an interval.
fn points(low: f64, high: f64, count: usize) -> Vec<f64> {
    (0..count).map(|j| low + (high - low) * (j as f64 + 0.5) / count as f64).collect()
}

/// The first slots are these numbers, as nearly as the ciphertext says.
fn check(what: &str, client: &Client, ct: &Ciphertext, expected: &[f64]) {
    let got = client.decrypt(ct).unwrap_or_else(|error| panic!("{what}: {error}"));
    let worst = got.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst <= ct.error_bound() && worst < 1e-4, "{what}: {worst:e}, bound {:e}", ct.error_bound());
    assert_eq!(ct.entries(), expected.len(), "{what}");
}

#[test]
fn polynomials_of_padded_vectors() {
    let (client, server) = parties(&spec(256, 40, 10), &[]);
    let context = server.context();
    let inverse = |low, high| Polynomial::inverse(low, high, 15).unwrap();
    let cases = [
        (inverse(0.5, 4.0), 0.5, 4.0),
        (inverse(-4.0, -0.5), -4.0, -0.5),
        (Polynomial::sigmoid(4.0, 15).unwrap(), -4.0, 4.0),
        (Polynomial::exponential(-1.0, 1.0, 7).unwrap(), -1.0, 1.0),
        (Polynomial::chebyshev(&[1.0, 2.0, -0.5], 3.0, 3.5).unwrap(), 3.0, 3.5),
    ];
    for count in [1, 3, 5, 9, 64, 100, 128] {
        for (p, low, high) in &cases {
            let what = format!("{count} entries on {low}..{high}");
            let x = points(*low, *high, count);
            let ct = client.encrypt_complex(&complex(&x), low.abs().max(high.abs())).unwrap();
            let expected: Vec<f64> = x.iter().map(|&x| p.value(x)).collect();
            check(&what, &client, &server.apply(p, &ct).unwrap(), &expected);
            // The server knows from the file which slots are entries.
            let bytes = context.to_bytes(&ApproximateCiphertextV1::new(ct)).unwrap();
            let back = context.from_bytes::<ApproximateCiphertextV1>(&bytes).unwrap().into_ciphertext();
            let value = server.apply(p, &back).unwrap();
            check(&format!("{what}, from a file"), &client, &value, &expected);
            // What stands beside them after one polynomial does not harm the next one.
            let most = expected.iter().fold(0.0, |a: f64, b| a.max(b.abs())) * 1.01;
            let square = Polynomial::chebyshev(&[0.5, 0.0, 0.5], -most, most).unwrap();
            let twice = server.apply(&square, &value.with_magnitude(most)).unwrap();
            let expected: Vec<f64> = expected.iter().map(|&y| square.value(y)).collect();
            check(&format!("{what}, twice"), &client, &twice, &expected);
        }
    }
}

/// One row of 100 columns, which is folded, and its product with some numbers.
fn folded(server_spec: usize) -> (Client, Server, MatrixPlan<windlass::circuits::ComplexSlots>, Vec<f64>, f64) {
    let context: Context<Approximate> = Context::approximate(&spec(256, 40, server_spec)).unwrap();
    let row: Vec<f64> = (0..100).map(|k| (k as f64 * 0.7).sin() / 8.0).collect();
    let vectors = context.vectors(128).unwrap();
    let plan =
        MatrixPlan::dense_matrix(&vectors, std::slice::from_ref(&row), &MatrixSpec::with_folding(Folding::Always))
            .unwrap();
    let (client, server) = context.generate_keys_from_seed([&plan, &Products], SEED).unwrap();
    let x: Vec<f64> = (0..100).map(|k| (k as f64 * 0.3).cos()).collect();
    let product = row.iter().zip(&x).map(|(a, b)| a * b).sum();
    (client, server, plan, x, product)
}

#[test]
fn polynomials_after_a_folded_matrix() {
    let (client, server, plan, x, product) = folded(7);
    let y = server.apply(&plan, &client.encrypt(&x).unwrap()).unwrap();
    assert!(plan.depth() == 1 && plan.sum().is_some() && y.entries() == 1 && y.rest_magnitude() > y.magnitude() / 4.0);
    // The sums beside the entry are larger than what is known of it.
    let known = product.abs() * 1.1;
    let y = y.with_magnitude(known);
    assert!(y.magnitude() == known && y.rest_magnitude() > 2.0 * known, "{}", y.rest_magnitude());
    check("assumed", &client, &y, &[product]);
    for (low, high) in [(-known, known), (product - 0.01, product + 0.2), (-1.0, 1.0)] {
        let p = Polynomial::interpolate(|x| (2.0 * x).tanh(), low, high, 11).unwrap();
        let used = |x: &Ciphertext| {
            let value = server.engine().evaluate(&p, x).unwrap();
            let levels = [x, &value].map(|ct| server.engine().rescale(ct).unwrap().level());
            (levels[0] - levels[1], value)
        };
        let (levels, value) = used(&y.clone().with_magnitude(low.abs().max(high.abs())));
        check(&format!("{low}..{high}"), &client, &value, &[p.value(product)]);
        // To clear them takes a level where no factor of an interval does it in passing.
        let (full, _) = used(&client.encrypt_complex(&complex(&[product; 128]), product.abs()).unwrap());
        assert_eq!(levels, full + usize::from((low, high) == (-1.0, 1.0)), "{low}..{high}");
        assert!(full <= p.depth());
    }
    let cube = Polynomial::monomial(&[0.0, 0.5, 0.0, 1.0]).unwrap();
    let value = server.engine().evaluate(&cube, &y).unwrap();
    assert!(value.rest_magnitude() <= 1.0);
    check("powers", &client, &value, &[cube.value(product)]);
}

/// |T_9(0.9i)| is about 970. The entries are real; the slots beside them need not be.
#[test]
fn imaginary_slots_beside_real_entries() {
    let (client, server) = parties(&spec(256, 40, 7), &[]);
    let p = Polynomial::chebyshev(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], -1.0, 1.0).unwrap();
    let entries = [0.3, -0.7, 0.9, 0.1];
    let values = [complex(&entries), vec![Complex64::new(0.0, 0.9); 4]].concat();
    let ct = client.encrypt_complex(&values, 1.0).unwrap().with_entries(4);
    assert_eq!(ct.rest_magnitude(), 1.0);
    check("T_9", &client, &server.apply(&p, &ct).unwrap(), &entries.map(|x| p.value(x)));
}

#[test]
fn depth_that_is_lacking_is_named() {
    let (client, server, plan, x, product) = folded(4);
    let y = server.apply(&plan, &client.encrypt(&x).unwrap()).unwrap();
    let p = Polynomial::interpolate(|x| x.sin(), -1.0, 1.0, 7).unwrap();
    let refused = server.engine().evaluate(&p, &y.with_magnitude(product.abs() * 1.1)).unwrap_err();
    // A matrix, what clears the sums beside its row, and the polynomial.
    let (needed, left) = (p.depth() + 1, 3);
    assert_eq!(refused, Error::LevelsExhausted { operation: "evaluate a polynomial", depth: 4, needed, left });
    assert!(refused.to_string().contains(&format!("parameters of depth {}", 1 + needed)), "{refused}");
}

#[test]
fn values_that_may_lie_outside_are_refused() {
    let (client, server) = parties(&spec(256, 40, 7), &[]);
    let p = Polynomial::sigmoid(8.0, 15).unwrap();
    let x = [-7.5, 3.0, 0.25];
    let ct = client.encrypt_complex(&complex(&x), 32.0).unwrap();
    let refused = server.engine().evaluate(&p, &ct).unwrap_err();
    assert_eq!(refused, Error::OutsideInterval { bound: 32.0, low: -8.0, high: 8.0 });
    let message = refused.to_string();
    assert!(["32", "from -8 to 8", "with_magnitude(8)"].iter().all(|part| message.contains(part)), "{message}");
    let expected = x.map(|x| p.value(x));
    check("inside", &client, &server.engine().evaluate(&p, &ct.with_magnitude(8.0)).unwrap(), &expected);
    // Who says so of what is not true gets no wrong number.
    let ct = client.encrypt_complex(&complex(&[3.0, 12.0, 0.25]), 32.0).unwrap();
    let value = server.engine().evaluate(&p, &ct.with_magnitude(8.0)).unwrap();
    let refused = client.decrypt(&value).unwrap_err();
    assert_eq!(refused, beyond(1, 1));
    // It says where, and nothing of the value.
    let message = refused.to_string();
    assert!(message.contains("in slot 1 alone: ") && !message.contains("12"), "{message}");
}

fn beyond(slot: usize, count: usize) -> Error {
    Error::NotDecryptable { beyond: Some(Beyond { slot, count }) }
}

/// Zeros that an operation puts beside the entries are known, and so is what it leaves there.
#[test]
fn what_stands_beside_the_entries_is_followed() {
    let (client, server) = parties(&spec(256, 40, 3), &[1]);
    let engine = server.engine();
    let x = client.encrypt(&[0.5, -0.25, 0.75]).unwrap();
    let known = |ct: &Ciphertext| (ct.entries(), ct.magnitude(), ct.rest_magnitude());
    assert_eq!(known(&x), (3, 1.0, 0.0));
    assert_eq!(known(&engine.add(&x, &x).unwrap()), (3, 2.0, 0.0));
    assert_eq!(known(&server.add_reals(&x, &[2.0; 3]).unwrap()), (3, 3.0, 0.0));
    let shifted = server.add_real(&x, 2.0).unwrap();
    assert_eq!(known(&shifted), (3, 3.0, 2.0));
    assert_eq!(known(&server.multiply_reals(&shifted, &[1.0; 3]).unwrap()), (3, 3.0, 0.0));
    assert_eq!(known(&engine.multiply(&x, &shifted).unwrap()), (3, 3.0, 0.0));
    assert_eq!(known(&engine.conjugate(&shifted).unwrap()), (3, 3.0, 2.0));
    assert_eq!(known(&engine.rotate(&shifted, 1).unwrap()), (4, 3.0, 0.0));
    let four = client.encrypt(&[0.5; 4]).unwrap();
    assert_eq!(known(&engine.add(&shifted, &four).unwrap()), (4, 4.0, 0.0));
    for (ct, expected) in
        [(&shifted, [2.5, 1.75, 2.75, 2.0]), (&engine.rotate(&shifted, 1).unwrap(), [1.75, 2.75, 2.0, 2.5])]
    {
        let got = client.decrypt_complex(ct).unwrap();
        assert!(got.iter().zip(expected).all(|(a, b)| (a - Complex64::from(b)).norm() < 1e-5));
    }
    // Neither may be larger than is said.
    assert_eq!(client.decrypt(&shifted.clone().with_zeros_beside(3)).unwrap_err(), beyond(3, 1));
    assert_eq!(client.decrypt(&shifted.clone().with_magnitude(2.5)).unwrap_err(), beyond(2, 1));
    let refused = client.decrypt(&shifted.with_magnitude(1.0)).unwrap_err();
    assert_eq!(refused, beyond(0, 3));
    assert!(refused.to_string().contains("first in slot 0 (3 slots in all)"), "{refused}");
}
