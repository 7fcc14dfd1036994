//! Matrices with few rows or few columns: folded or not, on the mock, in BGV, BFV and CKKS.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass::circuits::{Folding, MatrixPlan, MatrixSpec, PlanSpec};
use windlass::schemes::ckks::Complex64;
use windlass::schemes::clear::Clear;
use windlass::{Approximate, Client, Context, Error, Plaintext, Server};
use windlass_ring::kernels::Isa;
use windlass_ring::slots::SlotRing;

use super::common::*;
use crate::fixture::{SCHEMES, approximate, chain, context};

/// A dense matrix, a vector and their product modulo p^r.
fn problem(ring: &SlotRing, rows: usize, columns: usize) -> (Vec<Vec<u64>>, Vec<u64>, Vec<u64>) {
    let modulus = ring.modulus();
    let random = |seed: usize| number(seed as u64) % modulus.value();
    let matrix: Vec<Vec<u64>> = (0..rows).map(|i| (0..columns).map(|k| random(i * 9_173 + k)).collect()).collect();
    let x: Vec<u64> = (0..columns).map(|k| random(k + 999_999)).collect();
    let dot = |row: &Vec<u64>| row.iter().zip(&x).fold(0, |sum, (&a, &b)| modulus.add(sum, modulus.mul(a, b)));
    let y = matrix.iter().map(dot).collect();
    (matrix, x, y)
}

/// What a plan gives on the mock, all ciphertexts in one list; it does the operations that it
/// announced, with its own keys.
fn on_clear(plan: &MatrixPlan, ring: &Arc<SlotRing>, x: &[u64]) -> Vec<u64> {
    let clear = Clear::with_keys(ring, plan.required_keys());
    let encrypt = |part: &[u64]| clear.encrypt(&Plaintext::from_integers(ring, part).unwrap()).unwrap();
    let inputs: Vec<_> = x.chunks(ring.slots()).map(encrypt).collect();
    let outputs = plan.apply_grid(&plan.prepare(&clear).unwrap(), &clear, &inputs).unwrap();
    let (done, said) = (clear.counts(), plan.count());
    // A group of one automorphism is a whole key switch: hoist, automorphism and mod-down in one.
    let switches = done.automorphisms;
    assert_eq!(done.hoists + switches, said.hoists, "{}", plan.explain());
    assert_eq!(done.hoisted_automorphisms + switches, said.hoisted_automorphisms, "{}", plan.explain());
    assert_eq!(done.mod_downs + switches, said.mod_downs, "{}", plan.explain());
    assert_eq!(done.extended_automorphisms, said.extended_automorphisms, "{}", plan.explain());
    assert_eq!(done.constant_products, said.constant_products, "{}", plan.explain());
    outputs.iter().flat_map(|output| clear.decrypt(output).to_slots().into_iter().step_by(ring.degree())).collect()
}

fn always() -> MatrixSpec {
    MatrixSpec::with_folding(Folding::Always)
}

#[test]
fn a_layer_of_ten_neurons_at_full_size() {
    let ring = Arc::new(SlotRing::new(16384, 65537, 1, Isa::best()).unwrap());
    let (matrix, x, y) = problem(&ring, 10, 784);
    let plan = MatrixPlan::from_dense(&ring, &matrix, &MatrixSpec::default()).unwrap();
    let direct = MatrixPlan::from_dense(&ring, &matrix, &MatrixSpec::with_folding(Folding::Never)).unwrap();
    assert_eq!(on_clear(&plan, &ring, &x)[..10], y);
    let image = on_clear(&direct, &ring, &x);
    assert_eq!(image[..10], y);
    assert!(image[10..].iter().all(|&value| value == 0));
    // Rows and columns alternate between the two lines of this ring: 2 · (5 + 392 − 1) diagonals.
    let (folded, whole) = (plan.count(), direct.count());
    assert_eq!(whole.constant_products, 792);
    assert!(folded.constant_products <= 64 && folded.keys < 40, "{folded}");
    assert!(plan.price() * 3.0 < direct.price(), "{} against {}", plan.price(), direct.price());
    // The plan is its two parts: w diagonals in each of two directions, and B blocks to add.
    let sum = plan.sum().expect("a folded plan").count();
    let blocks: u64 = plan.sum().unwrap().chain().factors().iter().map(|factor| factor.count).product();
    let distance = folded.constant_products as u64 / 2;
    assert!(distance >= 5 && distance * blocks >= 5 + 392 - 1, "{distance} x {blocks}");
    assert_eq!(folded.hoisted_automorphisms, plan.products().count().hoisted_automorphisms + sum.hoisted_automorphisms);
    // Halves of a square's diagonals are joined by one more automorphism; nothing is gained for a
    // band.
    let (square, ..) = problem(&ring, 64, 64);
    let halved = MatrixPlan::from_dense(&ring, &square, &MatrixSpec::default()).unwrap();
    assert_eq!((halved.count().constant_products, halved.sum().unwrap().count().hoisted_automorphisms), (64, 1));
    let band = (0..300).flat_map(|i| [(i, i, 1), (i, i + 2, 1)]);
    assert!(MatrixPlan::from_sparse(&ring, 300, 302, band, &MatrixSpec::default()).unwrap().sum().is_none());
}

#[test]
fn every_ring_with_a_line_that_is_long_enough() {
    let mut folded = 0;
    for ring in rings() {
        let l = ring.slots();
        for (rows, columns) in [(1, l), (2, l - l / 4), (l / 3, l / 2), (1, 2 * l + 1), (1, 1)] {
            if rows == 0 || columns == 0 {
                continue;
            }
            let (matrix, x, y) = problem(&ring, rows, columns);
            let plan = match MatrixPlan::from_dense(&ring, &matrix, &always()) {
                Err(Error::Unplannable { .. }) => continue,
                plan => plan.unwrap(),
            };
            folded += 1;
            // What lies behind the vector does not matter.
            let mut filled = x.clone();
            filled.resize(columns.div_ceil(l) * l, 1);
            assert_eq!(on_clear(&plan, &ring, &filled)[..rows], y, "{ring:?} {rows} x {columns}: {}", plan.explain());
        }
    }
    assert!(folded >= 20, "{folded}");
}

#[test]
fn keys_limits_and_refusals() {
    let ring = ring(64, 3, 2);
    let (matrix, x, y) = problem(&ring, 1, ring.slots());
    let free = MatrixPlan::from_dense(&ring, &matrix, &always()).unwrap();
    let with = |linear: PlanSpec, folding| {
        MatrixPlan::from_dense(&ring, &matrix, &MatrixSpec { linear, folding, ..MatrixSpec::default() })
    };
    let held = with(PlanSpec::with_keys(free.required_keys()), Folding::Automatic).unwrap();
    assert!(held.required_keys().is_subset(&free.required_keys()));
    assert_eq!(on_clear(&held, &ring, &x)[..1], y);
    let most = free.required_keys().len();
    let few = with(PlanSpec { max_keys: Some(most), ..PlanSpec::default() }, Folding::Always).unwrap();
    assert!(few.required_keys().len() <= most);
    let none = with(PlanSpec::with_keys([]), Folding::Automatic);
    assert!(matches!(none, Err(Error::MissingGaloisKey { .. })), "{none:?}");
    let all = vec![vec![1; 5]; ring.slots()];
    let refused = MatrixPlan::from_dense(&ring, &all, &always());
    assert!(matches!(refused, Err(Error::Unplannable { .. })));
    let empty: [Vec<u64>; 0] = [];
    assert!(matches!(MatrixPlan::from_dense(&ring, &empty, &always()), Err(Error::OutOfRange { .. })));
    let outside = MatrixPlan::from_sparse(&ring, 1, 4, [(0, 4, 1)], &always());
    assert!(matches!(outside, Err(Error::OutOfRange { .. })));
    let ragged = MatrixPlan::from_dense(&ring, &[vec![1, 2], vec![3]], &always());
    assert!(matches!(ragged, Err(Error::ShapeMismatch { .. })));
    // A missing key of the sum is found before the products are made.
    let sum: BTreeSet<u64> = free.sum().unwrap().required_keys();
    let without = Clear::with_keys(&ring, free.products().required_keys().difference(&sum).copied());
    let input = without.encrypt(&Plaintext::from_integers(&ring, &x).unwrap()).unwrap();
    let refused = free.apply(&free.prepare(&without).unwrap(), &without, &input);
    assert!(matches!(refused, Err(Error::MissingGaloisKey { .. })));
    assert_eq!(without.counts().constant_products, 0);
}

/// Folded by columns or not at all.
fn tall(folding: Folding) -> MatrixSpec {
    MatrixSpec { folding, zeros_beyond: true, ..MatrixSpec::default() }
}

#[test]
fn tall_matrices_in_every_ring_with_a_line_that_is_long_enough() {
    let mut folded = 0;
    for ring in rings() {
        let l = ring.slots();
        for (rows, columns) in [(l, 1), (l - l / 4, 2), (l / 2, l / 3), (2 * l + 1, 1), (l, 3), (3 * l - 1, l / 4)] {
            if rows == 0 || columns == 0 {
                continue;
            }
            let (matrix, x, y) = problem(&ring, rows, columns);
            let plan = match MatrixPlan::from_dense(&ring, &matrix, &tall(Folding::Always)) {
                Err(Error::Unplannable { .. }) => continue,
                plan => plan.unwrap(),
            };
            folded += usize::from(plan.copies().is_some());
            let image = on_clear(&plan, &ring, &x);
            assert_eq!(image[..rows], y, "{ring:?} {rows} x {columns}: {}", plan.explain());
            if plan.copies().is_some() {
                assert!(image[rows..].iter().all(|&value| value == 0), "{ring:?} {rows} x {columns}");
            }
        }
    }
    assert!(folded >= 20, "{folded}");
}

#[test]
fn a_tall_matrix_costs_what_its_transpose_does() {
    let ring = Arc::new(SlotRing::new(16384, 65537, 1, Isa::best()).unwrap());
    let (matrix, x, y) = problem(&ring, 784, 10);
    let plan = MatrixPlan::from_dense(&ring, &matrix, &tall(Folding::Automatic)).unwrap();
    let image = on_clear(&plan, &ring, &x);
    assert_eq!(image[..784], y);
    assert!(image[784..].iter().all(|&value| value == 0));
    let wide = MatrixPlan::from_dense(&ring, &problem(&ring, 10, 784).0, &MatrixSpec::default()).unwrap();
    assert!(plan.price() < 1.5 * wide.price(), "{} against {}", plan.price(), wide.price());
    assert!(plan.required_keys().len() < 40, "{}", plan.count());
    // Without the promise about the slots beyond the vector there is no such plan.
    let direct = MatrixPlan::from_dense(&ring, &matrix, &MatrixSpec::default()).unwrap();
    assert!(direct.copies().is_none() && direct.price() > 3.0 * plan.price());
    // What the warning says: a slot beyond the vector that holds anything makes a wrong product.
    let mut filled = x.clone();
    filled.resize(ring.slots(), 1);
    assert_ne!(on_clear(&plan, &ring, &filled)[..784], y);
}

#[test]
fn servers_multiply_tall_matrices() {
    for scheme in SCHEMES {
        let context = context(scheme, (257, 1), chain(256, &[40, 40, 40], &[45, 45]));
        let l = context.slots();
        for (rows, columns) in [(100, 3), (l, 1), (2 * l + 30, 2)] {
            let (matrix, x, y) = problem(&context, rows, columns);
            let plan = MatrixPlan::from_dense(&context, &matrix, &tall(Folding::Always)).unwrap();
            assert!(plan.copies().is_some());
            let (client, server) = context.generate_keys_from_seed([&plan], 3).unwrap();
            let answer = server.apply_grid(&plan, &[client.encrypt(&x).unwrap()]).unwrap();
            let image: Vec<u64> = answer.iter().flat_map(|part| client.decrypt(part).unwrap()).collect();
            assert_eq!(image[..rows], y, "{scheme}");
        }
    }
}

#[test]
fn servers_multiply_in_bgv_and_bfv() {
    for scheme in SCHEMES {
        let context = context(scheme, (257, 1), chain(256, &[40, 40, 40], &[45, 45]));
        let l = context.slots();
        for (rows, columns) in [(3, 100), (1, l), (2, l + 30)] {
            let (matrix, x, y) = problem(&context, rows, columns);
            let plan = MatrixPlan::from_dense(&context, &matrix, &always()).unwrap();
            let (client, server) = context.generate_keys_from_seed([&plan], 3).unwrap();
            let inputs: Vec<_> = x.chunks(l).map(|part| client.encrypt(part).unwrap()).collect();
            let answer = server.apply_grid(&plan, &inputs).unwrap();
            assert_eq!(client.decrypt(&answer[0]).unwrap()[..rows], y, "{scheme}");
            if columns <= l {
                let answer = server.apply(&plan, &inputs[0]).unwrap();
                assert_eq!(client.decrypt(&answer).unwrap()[..rows], y, "{scheme}");
            }
        }
    }
}

#[test]
fn servers_multiply_in_ckks() {
    let context = Context::approximate(&approximate(256, 40, 2)).unwrap();
    let entry = |i: usize, k: usize| Complex64::from_polar(0.1, (i * i + 3 * i * k + k) as f64);
    for (count, rows, columns) in [(128, 4, 100), (16, 1, 16), (64, 3, 130)] {
        let slots = context.vectors(count).unwrap();
        let matrix: Vec<Vec<Complex64>> = (0..rows).map(|i| (0..columns).map(|k| entry(i, k)).collect()).collect();
        let x: Vec<f64> = (0..columns).map(|k| (k % 7) as f64 / 7.0).collect();
        let plan = MatrixPlan::dense_matrix(&slots, &matrix, &always()).unwrap();
        let (client, server): (Client<Approximate>, Server<Approximate>) =
            context.generate_keys_from_seed([&plan], 3).unwrap();
        let encrypt = |part: &[f64]| {
            let mut values: Vec<Complex64> = part.iter().map(|&re| Complex64::new(re, 0.0)).collect();
            values.resize(count, Complex64::ZERO);
            client.encrypt_complex(&values, 1.0).unwrap()
        };
        let inputs: Vec<_> = x.chunks(count).map(encrypt).collect();
        let answer = client.decrypt_complex(&server.apply_grid(&plan, &inputs).unwrap()[0]).unwrap();
        for (i, row) in matrix.iter().enumerate() {
            let wanted: Complex64 = row.iter().zip(&x).map(|(a, b)| a * b).sum();
            assert!((answer[i] - wanted).norm() < 1e-6, "{} for {wanted}", answer[i]);
        }
    }
    // Few columns. A sum of four copies would take the bound to four times as much.
    for (count, rows, columns) in [(128, 100, 4), (16, 16, 1), (64, 130, 3)] {
        let slots = context.vectors(count).unwrap();
        let matrix: Vec<Vec<f64>> = (0..rows).map(|i| (0..columns).map(|k| entry(i, k).re).collect()).collect();
        let x: Vec<Complex64> = (0..count).map(|k| if k < columns { 0.5 } else { 0.0 }).map(Complex64::from).collect();
        let plan = MatrixPlan::dense_matrix(&slots, &matrix, &tall(Folding::Always)).unwrap();
        assert!(plan.copies().is_some());
        let (client, server): (Client<Approximate>, Server<Approximate>) =
            context.generate_keys_from_seed([&plan], 3).unwrap();
        let answer = server.apply_grid(&plan, &[client.encrypt_complex(&x, 1.0).unwrap()]).unwrap();
        let answer: Vec<Complex64> = answer.iter().flat_map(|part| client.decrypt_complex(part).unwrap()).collect();
        for (row, got) in matrix.iter().zip(&answer) {
            let wanted: f64 = row.iter().sum::<f64>() / 2.0;
            assert!((got - wanted).norm() < 1e-6, "{got} instead of {wanted}");
        }
    }
    let nan = MatrixPlan::dense_matrix(&context.vectors(16).unwrap(), &[[1.0, f64::NAN]], &MatrixSpec::default());
    assert!(matches!(nan, Err(Error::NotFinite { index: 1 })));
}
