//! What builders and maps refuse: places out of range, and constants of other rings.

use std::collections::BTreeSet;

use windlass::circuits::{LinearGrid, LinearMap, LinearPlan, PlanSpec};
use windlass::schemes::clear::Clear;
use windlass::{Error, Plaintext};

use super::common::*;

fn out_of_range<T>(result: Result<T, Error>, what: &str) {
    assert!(matches!(result, Err(Error::OutOfRange(_))), "{what}");
}

fn of_another_ring<T>(result: Result<T, Error>, what: &str) {
    assert!(matches!(result, Err(Error::ContextMismatch { .. })), "{what}");
}

/// Height and width need not be multiples of the number of slots: what lies beyond them is refused,
/// though the last ciphertexts have room for it.
#[test]
fn entries_beyond_a_matrix_are_refused() {
    let ring = ring(31, 2, 1);
    let l = ring.slots();
    let matrix = |row, column| LinearGrid::from_sparse(&ring, l + 2, 3, [(row, column, 1)]);
    assert_eq!(matrix(l + 1, 2).unwrap().rows(), 2);
    out_of_range(matrix(l + 2, 2), "row");
    out_of_range(matrix(0, 3), "column");
    out_of_range(LinearMap::toeplitz(&ring, &[1], &vec![1; l + 1]), "first row");
    assert!(LinearMap::toeplitz(&ring, &vec![1; l], &vec![1; l]).is_ok());
}

#[test]
fn dimensions_that_a_ring_lacks_are_refused() {
    let ring = ring(31, 2, 1);
    let none = ring.hypercube().dimensions().len();
    out_of_range(LinearMap::rotation(&ring, none, 1), "rotation");
    out_of_range(LinearMap::convolution_1d(&ring, none, &[1]), "convolution");
    out_of_range(LinearMap::matmul_1d(&ring, none, |_, _, _| 1), "matrix");
    out_of_range(LinearMap::block_matmul_1d(&ring, none, |_, _, _, _| ()), "blocks");
}

/// Rings of as many slots, so that nothing but the ring tells their constants apart.
#[test]
fn constants_of_another_ring_are_refused() {
    let (own, other) = (ring(31, 2, 1), ring(31, 2, 2));
    let [map, foreign] = [&own, &other].map(LinearMap::identity);
    let turn = LinearMap::automorphism(&other, 3).unwrap();
    of_another_ring(LinearMap::from_terms(&own, [(1, Plaintext::one(&other))]), "from terms");
    // Without an automorphism in common no constants would meet.
    of_another_ring(map.add(&turn), "sum");
    of_another_ring(map.compose(&foreign), "product");
    of_another_ring(LinearMap::zero(&own).compose(&foreign), "product with nothing");
    of_another_ring(map.apply(&Plaintext::one(&other)), "image");
    of_another_ring(LinearMap::zero(&own).apply(&Plaintext::one(&other)), "image of nothing");
    let mut grid = LinearGrid::zero(&own, 1, 1).unwrap();
    of_another_ring(grid.set(0, 0, foreign), "block");
    assert!(grid.block(0, 0).is_none() && grid.set(0, 0, map).is_ok());
}

fn shape<T>(result: Result<T, Error>, what: &str) {
    assert!(matches!(result, Err(Error::ShapeMismatch { .. })), "{what}");
}

#[test]
fn plans_of_several_outputs_or_inputs_are_no_maps() {
    let ring = ring(31, 2, 1);
    let clear = Clear::new(&ring);
    let one = clear.encrypt(&Plaintext::one(&ring)).unwrap();
    for (rows, columns) in [(2, 1), (1, 2)] {
        let mut grid = LinearGrid::zero(&ring, rows, columns).unwrap();
        grid.set(rows - 1, columns - 1, LinearMap::automorphism(&ring, 3).unwrap()).unwrap();
        let plan = LinearPlan::for_grid(&grid, &PlanSpec::default()).unwrap();
        let prepared = plan.prepare(&clear).unwrap();
        shape(plan.apply(&prepared, &clear, &one), "one");
        shape(plan.apply_each(&prepared, &clear, &[one.clone(), one.clone()]), "each");
        shape(plan.apply_grid(&prepared, &clear, &vec![one.clone(); columns + 1]), "grid");
        assert_eq!(plan.apply_grid(&prepared, &clear, &vec![one.clone(); columns]).unwrap().len(), rows);
    }
}

/// A plan without constants converts none, which could notice.
#[test]
fn evaluators_of_another_ring_are_refused() {
    let (own, other) = (ring(31, 2, 1), ring(31, 2, 2));
    let plan = LinearPlan::new(&LinearMap::automorphism(&own, 3).unwrap(), &PlanSpec::default()).unwrap();
    let refused = plan.prepare(&Clear::new(&other));
    assert!(matches!(refused.err(), Some(Error::ContextMismatch { operation: "constants of a linear map", .. })));
    let clear = Clear::new(&own);
    let foreign = LinearGrid::single(&LinearMap::automorphism(&other, 3).unwrap());
    of_another_ring(plan.encrypt_matrix::<Clear>(&foreign, |constant| Clear::new(&other).encrypt(constant)), "matrix");
    let matrix = plan.encrypt_matrix::<Clear>(plan.grid(), |constant| clear.encrypt(constant)).unwrap();
    let one = clear.encrypt(&Plaintext::one(&own)).unwrap();
    assert_eq!(plan.apply_encrypted(&matrix, &clear, std::slice::from_ref(&one)).unwrap().len(), 1);
    shape(plan.apply_encrypted(&matrix, &clear, &[one.clone(), one]), "two vectors for one column");
}

/// A list is refused before the first of it is moved.
#[test]
fn lists_without_a_key_are_refused_before_any_work() {
    let ring = ring(31, 2, 1);
    let map = LinearMap::matmul_full(&ring, |i, k| (i + 2 * k + 1) as u64).unwrap();
    let plan = LinearPlan::new(&map, &PlanSpec::default()).unwrap();
    let keys = plan.required_keys();
    for &left_out in &keys {
        let fewer: BTreeSet<u64> = keys.iter().copied().filter(|&t| t != left_out).collect();
        let clear = Clear::with_keys(&ring, fewer);
        let prepared = plan.prepare(&clear).unwrap();
        let list = vec![clear.encrypt(&Plaintext::one(&ring)).unwrap(); 3];
        let before = clear.counts();
        let refused = plan.apply_each(&prepared, &clear, &list);
        assert!(matches!(refused, Err(Error::MissingGaloisKey { element, .. }) if element == left_out));
        assert_eq!(clear.counts(), before);
    }
}
