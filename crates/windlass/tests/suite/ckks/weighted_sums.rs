//! Matrices of real numbers times vectors of ciphertexts.

use windlass::Error;
use windlass::schemes::ckks::{Ciphertext, Complex64};

use crate::ckks::common::{check, encrypt, parties, sample, spec};
use crate::fixture::keys;

/// `Σ_k weights[k]·list[k]`, slot by slot.
fn expected(list: &[Vec<Complex64>], weights: &[f64]) -> Vec<Complex64> {
    let slot = |j: usize| list.iter().zip(weights).map(|(x, &weight)| x[j] * weight).sum();
    (0..list[0].len()).map(slot).collect()
}

/// More terms than one pass adds, zeros and numbers below the scale among the weights.
#[test]
fn values_and_stated_errors() {
    let (client, server) = parties(&spec(1024, 40, 2), &[]);
    let values: Vec<_> = (0..70).map(|seed| sample(512, seed)).collect();
    let list: Vec<Ciphertext> = values.iter().map(|x| encrypt(&client, x)).collect();
    let list: Vec<&Ciphertext> = list.iter().collect();
    let weights: Vec<Vec<f64>> = (0..3).map(|i| (0..70).map(|k| ((3 * i + k) as f64).sin()).collect()).collect();
    let mut rows: Vec<&[f64]> = weights.iter().map(Vec::as_slice).collect();
    let mut sparse = vec![0.0; 70];
    (sparse[5], sparse[69]) = (-2.5, 1e-9);
    rows.push(&sparse);
    let sums = server.engine().weighted_sums(&list, &rows).unwrap();
    assert_eq!(sums.len(), 4);
    for (i, (sum, weights)) in sums.iter().zip(&rows).enumerate() {
        check(&client, &format!("sum {i}"), sum, &expected(&values, weights), 7.0);
    }
    // The same numbers as one by one, from a sum that goes on.
    let product = server.engine().multiply(&sums[0], list[1]).unwrap();
    let wanted: Vec<_> = expected(&values, rows[0]).iter().zip(&values[1]).map(|(a, b)| a * b).collect();
    check(&client, "a product of a sum", &product, &wanted, 7.0);
}

#[test]
fn operands_of_different_levels_meet_at_the_lowest() {
    let (client, server) = parties(&spec(1024, 40, 4), &[]);
    let e = server.engine();
    let x = sample(512, 1);
    let fresh = encrypt(&client, &x);
    let square = e.square(&fresh).unwrap();
    let rescaled = e.rescale(&square).unwrap();
    let lowered = e.lower(&fresh, rescaled.level() - 1).unwrap();
    let squared: Vec<_> = x.iter().map(|z| z * z).collect();
    let weights = [0.5, -1.25, 2.0, 0.125];
    let sums = e.weighted_sums(&[&fresh, &square, &rescaled, &lowered], &[&weights]).unwrap();
    assert_eq!(sums[0].level(), lowered.level());
    check(&client, "levels", &sums[0], &expected(&[x.clone(), squared.clone(), squared, x], &weights), 7.0);
}

#[test]
fn refusals() {
    let (client, server) = parties(&spec(1024, 40, 1), &[]);
    let (other, _) = server.context().generate_keys_from_seed([&keys([])], 12).unwrap();
    let e = server.engine();
    let x = encrypt(&client, &sample(512, 1));
    let none = e.weighted_sums(&[], &[]);
    assert!(matches!(none, Err(Error::ShapeMismatch { expected: 1, got: 0, .. })));
    let few = e.weighted_sums(&[&x, &x], &[&[1.0, 2.0], &[1.0]]);
    assert!(matches!(few, Err(Error::ShapeMismatch { expected: 2, got: 1, .. })));
    assert!(e.weighted_sums(&[&x], &[]).unwrap().is_empty());
    for (weight, finite) in [(f64::NAN, false), (f64::INFINITY, false), (1e200, true)] {
        let refused = e.weighted_sums(&[&x], &[&[weight]]).unwrap_err();
        assert_eq!(matches!(refused, Error::NotFinite { .. }), !finite, "{refused}");
    }
    let foreign = encrypt(&other, &sample(512, 1));
    let refused = e.weighted_sums(&[&x, &foreign], &[&[1.0, 1.0]]).unwrap_err();
    assert!(matches!(refused, Error::OtherKeyPair(_)), "{refused}");
    let spent = e.rescale(&e.square(&x).unwrap()).unwrap();
    let refused = e.weighted_sums(&[&x, &spent], &[&[1.0, 1.0]]).unwrap_err();
    assert!(matches!(refused, Error::LevelsExhausted { needed: 1, left: 0, .. }), "{refused}");
}
