//! Polynomials and approximations against their values.

use windlass::Error;
use windlass::circuits::Polynomial;
use windlass::schemes::ckks::complex;

use crate::ckks::common::{check, encrypt, parties, spec};

fn grid(low: f64, high: f64, count: usize) -> Vec<f64> {
    (0..count).map(|j| low + (high - low) * j as f64 / (count - 1) as f64).collect()
}

#[test]
fn both_bases_and_every_small_degree() {
    let (client, server) = parties(&spec(512, 40, 9), &[]);
    let x = grid(-1.0, 1.0, 256);
    let ct = encrypt(&client, &complex(&x));
    for degree in [0, 1, 2, 3, 4, 5, 7, 8, 11, 16, 23, 31, 33, 63] {
        let coefficients: Vec<f64> = (0..=degree).map(|k| ((k * k + 1) as f64).sin() / (k + 1) as f64).collect();
        let monomial = Polynomial::monomial(&coefficients).unwrap();
        let chebyshev = Polynomial::chebyshev(&coefficients, -1.0, 1.0).unwrap();
        for p in [monomial, chebyshev] {
            let value = server.engine().evaluate(&p, &ct).unwrap();
            let expected: Vec<f64> = x.iter().map(|&x| p.value(x)).collect();
            check(&client, &format!("degree {degree}, {:?}", p.basis()), &value, &complex(&expected), 14.0);
            let used = ct.level() - server.engine().rescale(&value).unwrap().level();
            assert!(used <= p.depth(), "degree {degree}, {:?}: depth {used}, {} promised", p.basis(), p.depth());
        }
    }
    let sparse = Polynomial::chebyshev(&[0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], -1.0, 1.0).unwrap();
    let expected: Vec<f64> = x.iter().map(|&x| sparse.value(x)).collect();
    check(&client, "gaps", &server.engine().evaluate(&sparse, &ct).unwrap(), &complex(&expected), 10.0);
}

#[test]
fn sigmoid_exponential_and_inverse() {
    let (client, server) = parties(&spec(512, 45, 8), &[]);
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    type Function = fn(f64) -> f64;
    let cases: [(Polynomial, f64, f64, Function, f64); 3] = [
        (Polynomial::sigmoid(6.0, 31).unwrap(), -6.0, 6.0, sigmoid, 18.0),
        (Polynomial::exponential(-3.0, 1.0, 15).unwrap(), -3.0, 1.0, f64::exp, 18.0),
        (Polynomial::inverse(0.5, 4.0, 31).unwrap(), 0.5, 4.0, |x| 1.0 / x, 16.0),
    ];
    for (p, low, high, f, bits) in cases {
        let x = grid(low, high, 256);
        let bound = low.abs().max(high.abs());
        let ct = client.encrypt_complex(&complex(&x), bound).unwrap();
        let got = client.decrypt(&server.engine().evaluate(&p, &ct).unwrap()).unwrap();
        let worst = got.iter().zip(&x).map(|(y, &x)| (y - f(x)).abs()).fold(0.0, f64::max);
        assert!(worst < 2f64.powf(-bits), "{worst:e} on {low}..{high}");
    }
}

#[test]
fn too_deep_a_polynomial_is_refused() {
    let (client, server) = parties(&spec(256, 40, 2), &[]);
    let ct = encrypt(&client, &complex(&grid(-1.0, 1.0, 128)));
    let p = Polynomial::sigmoid(1.0, 31).unwrap();
    let refused = server.engine().evaluate(&p, &ct).unwrap_err();
    assert!(matches!(refused, Error::LevelsExhausted { .. } | Error::ModulusExhausted { .. }), "{refused}");
}
