//! Bounds of matrices by their norms.

use windlass::circuits::{ComplexSlots, Folding, MatrixPlan, MatrixSpec};
use windlass::schemes::ckks::{CkksSpec, Complex64, complex};
use windlass::{Approximate, Context};

use crate::ckks::common::{Client, SEED, Server, check, sample, spec};

type Plan = MatrixPlan<ComplexSlots>;

fn planned(spec: &CkksSpec, rows: &[Vec<Complex64>]) -> (Client, Server, Plan) {
    let context: Context<Approximate> = Context::approximate(spec).unwrap();
    let vectors = context.vectors(context.slots()).unwrap();
    let plan = MatrixPlan::dense_matrix(&vectors, rows, &MatrixSpec::with_folding(Folding::Never)).unwrap();
    let (client, server) = context.generate_keys_from_seed([&plan], SEED).unwrap();
    (client, server, plan)
}

fn product(rows: &[Vec<Complex64>], x: &[Complex64]) -> Vec<Complex64> {
    rows.iter().map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
}

/// Zeros up to the slots of the ciphertext.
fn padded(x: &[Complex64], slots: usize) -> Vec<Complex64> {
    let mut padded = x.to_vec();
    padded.resize(slots, Complex64::ZERO);
    padded
}

#[test]
fn a_permutation_leaves_bounds_as_they_are() {
    let count = 100;
    let rows: Vec<Vec<Complex64>> = (0..count)
        .map(|i| (0..count).map(|k| Complex64::from(f64::from(u8::from(37 * i % count == k)))).collect())
        .collect();
    let (client, server, plan) = planned(&spec(256, 40, 2), &rows);
    let x = sample(count, 3);
    let ct = client.encrypt_complex(&x, 1.0).unwrap();
    let image = server.apply(&plan, &ct).unwrap();
    assert!((image.magnitude() - 1.0).abs() < 1e-6 && image.rest_magnitude() == 0.0, "{}", image.magnitude());
    assert_eq!((image.entries(), image.slots()), (count, 128));
    // Nor does the error grow by more than its own products add.
    assert!(image.deviation() < 5.0 * ct.deviation(), "{:e} from {:e}", image.deviation(), ct.deviation());
    check(&client, "permutation", &image, &padded(&product(&rows, &x), 128), 3.0);
}

/// A reflection: its rows have sums of about 2.7, its spectral norm is 1.
#[test]
fn a_loop_of_a_unitary_matrix_keeps_its_bounds() {
    let count = 15;
    let v: Vec<f64> = (0..count).map(|i| ((i * i + 1) as f64).sin()).collect();
    let square: f64 = v.iter().map(|x| x * x).sum();
    let entry = |i: usize, k: usize| f64::from(u8::from(i == k)) - 2.0 * v[i] * v[k] / square;
    let rows: Vec<Vec<Complex64>> =
        (0..count).map(|i| (0..count).map(|k| Complex64::from(entry(i, k))).collect()).collect();
    let spec = CkksSpec { base_prime_bits: vec![50; 2], special_prime_bits: vec![50; 3], ..spec(64, 40, 15) };
    let (client, server, plan) = planned(&spec, &rows);
    let x: Vec<f64> = (0..count).map(|i| ((3 * i) as f64).cos()).collect();
    let mut expected = complex(&x);
    let mut ct = client.encrypt_complex(&expected, 1.0).unwrap();
    for step in 1..=15 {
        ct = server.apply(&plan, &ct).unwrap();
        expected = product(&rows, &expected);
        // No entry is above the Euclidean norm of all, which never grows.
        assert!(ct.magnitude() < 15f64.sqrt() * 1.001, "step {step}: {}", ct.magnitude());
        assert!(ct.precision_bits() > 15.0, "step {step}: {}", ct.precision_bits());
        let got = client.decrypt_complex(&ct).unwrap();
        let worst = got.iter().zip(padded(&expected, 32)).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(worst <= ct.error_bound() && -worst.log2() >= ct.precision_bits() - 1.5, "step {step}: {worst:e}");
    }
}

/// A folded matrix: its row by the sum of its absolute values, and the other slots separately.
#[test]
fn a_folded_matrix_is_bounded_by_its_own_rows() {
    let context: Context<Approximate> = Context::approximate(&spec(256, 40, 2)).unwrap();
    let row: Vec<f64> = (0..100).map(|k| (k as f64).sin()).collect();
    let vectors = context.vectors(128).unwrap();
    let spec = MatrixSpec::with_folding(Folding::Always);
    let plan = MatrixPlan::dense_matrix(&vectors, std::slice::from_ref(&row), &spec).unwrap();
    let (client, server) = context.generate_keys_from_seed([&plan], SEED).unwrap();
    let image = server.apply(&plan, &client.encrypt(&[0.5; 100]).unwrap()).unwrap();
    let sum: f64 = row.iter().map(|x| x.abs()).sum();
    assert!((image.magnitude() / sum - 1.0).abs() < 1e-6, "{} for {sum}", image.magnitude());
    let got = client.decrypt(&image).unwrap()[0];
    assert!((got - 0.5 * row.iter().sum::<f64>()).abs() < image.error_bound());
    assert!(image.precision_bits() > 12.0, "{}", image.precision_bits());
}
