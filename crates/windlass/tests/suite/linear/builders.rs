//! Builders from matrices, maps inside the slots, inverses.

use windlass::circuits::{LinearMap, LinearPlan, PlanSpec, Strategy};
use windlass::{Error, Plaintext};
use windlass_ring::slots::SlotRing;

use super::common::*;

/// `matrix · x` modulo p^r, on integers.
fn product(ring: &SlotRing, matrix: impl Fn(usize, usize) -> u64, x: &[u64]) -> Vec<u64> {
    let modulus = ring.modulus();
    let row = |i: usize| x.iter().enumerate().fold(0, |sum, (k, &x)| modulus.add(sum, modulus.mul(matrix(i, k), x)));
    (0..x.len()).map(row).collect()
}

fn integers(ring: &SlotRing, seed: u64) -> Vec<u64> {
    (0..ring.slots() as u64).map(|i| number(seed + i) % ring.modulus().value()).collect()
}

/// The map gives what the matrix gives, by the cheapest plan.
fn check(map: &LinearMap, matrix: impl Fn(usize, usize) -> u64) {
    let ring = map.slot_ring();
    let x = integers(ring, 17);
    let expected = Plaintext::from_integers(ring, &product(ring, matrix, &x)).unwrap();
    check_plan(map, &PlanSpec::default(), &Plaintext::from_integers(ring, &x).unwrap(), &expected);
}

#[test]
fn matrices_by_their_entries() {
    for ring in [ring(105, 2, 3), ring(45, 2, 2), ring(64, 17, 1), ring(91, 3, 1)] {
        let (l, q) = (ring.slots(), ring.modulus().value());
        let random = |i: usize, k: usize| number((i * 1000 + k) as u64) % q;
        let dense: Vec<Vec<u64>> = (0..l).map(|i| (0..l).map(|k| random(i, k)).collect()).collect();
        check(&LinearMap::from_dense(&ring, &dense).unwrap(), random);
        let small: Vec<Vec<u64>> = (0..l - 1).map(|i| (0..2).map(|k| random(i, k)).collect()).collect();
        check(&LinearMap::from_dense(&ring, &small).unwrap(), |i, k| if i < l - 1 && k < 2 { random(i, k) } else { 0 });
        let sparse = [(0, l - 1, 1), (l - 1, 0, q - 1), (1, 1, 1), (1, 1, 1)];
        let map = LinearMap::from_sparse(&ring, sparse).unwrap();
        assert!(map.terms().len() <= 3);
        check(&map, |i, k| sparse.iter().filter(|e| (e.0, e.1) == (i, k)).map(|e| e.2).sum::<u64>() % q);
        let band = |i: usize, k: usize| if k + 1 >= i && k <= i + 2 { random(i, k) } else { 0 };
        check(&LinearMap::banded(&ring, 1, 2, random).unwrap(), band);
        let values = integers(&ring, 5);
        check(&LinearMap::from_diagonal(&ring, &values).unwrap(), |i, k| if i == k { values[i] } else { 0 });
        check(&LinearMap::mask(&ring, |slot| slot % 2 == 1).unwrap(), |i, k| u64::from(i == k && i % 2 == 1));
        let (column, row) = ([1, 2, 3].map(|x| x % q), [9, 1]);
        let toeplitz = |i: usize, k: usize| match (i >= k, i.abs_diff(k)) {
            (true, distance) => column.get(distance).copied().unwrap_or(0),
            (false, distance) => row.get(distance).copied().unwrap_or(0),
        };
        check(&LinearMap::toeplitz(&ring, &column[..l.min(3)], &row).unwrap(), toeplitz);
        let source: Vec<usize> = (0..l).rev().collect();
        check(&LinearMap::permutation(&ring, &source).unwrap(), |i, k| u64::from(k == l - 1 - i));
    }
}

/// Integers of any type go in, and negative ones are residues.
#[test]
fn integers_of_any_type() {
    let ring = ring(105, 2, 3);
    let q = ring.modulus().value();
    let literal = LinearMap::from_dense(&ring, &[[1, 2, 3], [4, -5, 6]]).unwrap();
    let wide = LinearMap::from_dense(&ring, &[vec![1u64, 2, 3], vec![4, q - 5, 6 + 7 * q]]).unwrap();
    let x = Plaintext::from_integers(&ring, &[7i8, 8, -9]).unwrap();
    assert_eq!(literal.apply(&x).unwrap(), wide.apply(&x).unwrap());
    let image = literal.apply(&x).unwrap().to_integers().unwrap();
    assert_eq!(image[..3], [(7 + 16 + q * 9 - 27) % q, (28 + q * 99 - 40 - 54) % q, 0]);
    let same = |a: LinearMap, b: LinearMap| assert_eq!(a.apply(&x).unwrap(), b.apply(&x).unwrap());
    same(LinearMap::from_diagonal(&ring, &[-1i32, 3]).unwrap(), LinearMap::from_diagonal(&ring, &[q - 1, 3]).unwrap());
    same(LinearMap::toeplitz(&ring, &[-1, 2], &[]).unwrap(), LinearMap::toeplitz(&ring, &[q - 1, 2], &[]).unwrap());
    let [signed, unsigned] = [
        LinearMap::convolution_1d(&ring, 0, &[-1i64]).unwrap(),
        LinearMap::matmul_1d(&ring, 0, |_, i, k| if i == k { q - 1 } else { 0 }).unwrap(),
    ];
    same(signed, unsigned);
    let reversed: Vec<i16> = (0..ring.slots() as i16).rev().collect();
    let indices: Vec<usize> = (0..ring.slots()).rev().collect();
    same(LinearMap::permutation(&ring, &reversed).unwrap(), LinearMap::permutation(&ring, &indices).unwrap());
    let negative: Vec<i16> = reversed.iter().map(|i| i - 1).collect();
    assert!(matches!(LinearMap::permutation(&ring, &negative), Err(Error::OutOfRange { .. })));
}

#[test]
fn convolutions_along_a_dimension() {
    for (p, good) in [(2, true), (2, false), (17, true)] {
        let (ring, s) = smallest(p, 2, good);
        let size = ring.hypercube().dimensions()[s].size;
        let kernel = [1, 0, 3];
        let map = LinearMap::convolution_1d(&ring, s, &kernel).unwrap();
        assert!(map.terms().len() <= if good { 2 } else { 4 });
        check(&map, |i, k| {
            let (cube, mut to) = (ring.hypercube(), 0);
            for (j, &c) in kernel.iter().enumerate() {
                to += if cube.rotated(k, s, j as i64) == i { c } else { 0 };
            }
            to
        });
        let long = vec![1; size + 1];
        assert!(matches!(LinearMap::convolution_1d(&ring, s, &long), Err(Error::OutOfRange { .. })));
    }
}

#[test]
fn bad_matrices_are_refused() {
    let ring = ring(31, 2, 1);
    let l = ring.slots();
    assert!(matches!(LinearMap::from_sparse(&ring, [(0, l, 1)]), Err(Error::OutOfRange { .. })));
    assert!(matches!(LinearMap::from_sparse(&ring, [(l, 0, 1)]), Err(Error::OutOfRange { .. })));
    assert!(matches!(LinearMap::from_dense(&ring, &[vec![1, 2], vec![1]]), Err(Error::ShapeMismatch { .. })));
    assert!(matches!(LinearMap::permutation(&ring, &[0, 1]), Err(Error::ShapeMismatch { .. })));
    assert!(matches!(LinearMap::permutation(&ring, &vec![0; l]), Err(Error::OutOfRange { .. })));
    assert!(matches!(LinearMap::toeplitz(&ring, &vec![1; l + 1], &[]), Err(Error::OutOfRange { .. })));
    assert!(matches!(LinearMap::coefficient(&ring, ring.degree()), Err(Error::OutOfRange { .. })));
}

#[test]
fn maps_inside_the_slots() {
    for ring in [ring(31, 2, 3), ring(105, 2, 1), ring(64, 3, 2), ring(85, 127, 1)] {
        let (d, modulus) = (ring.degree(), ring.modulus());
        let map = LinearMap::slotwise(&ring, |slot, out| entry(&ring, 3, (slot, 0, 0), out)).unwrap();
        assert!(map.terms().len() <= d);
        let slots = random_slots(&ring, 9);
        let mut expected = Vec::new();
        for (slot, x) in slots.chunks(d).enumerate() {
            let mut matrix = vec![0; d * d];
            entry(&ring, 3, (slot, 0, 0), &mut matrix);
            let image = |row: usize| (0..d).fold(0, |s, i| modulus.add(s, modulus.mul(matrix[row * d + i], x[i])));
            expected.extend((0..d).map(image));
        }
        let (input, expected) =
            (Plaintext::from_slots(&ring, &slots).unwrap(), Plaintext::from_slots(&ring, &expected).unwrap());
        check_plan(&map, &PlanSpec::default(), &input, &expected);
        for index in 0..d {
            let coefficient = LinearMap::coefficient(&ring, index).unwrap().apply(&input).unwrap();
            let wanted: Vec<u64> = slots.chunks(d).map(|x| x[index]).collect();
            assert_eq!(coefficient.to_integers().unwrap(), wanted);
        }
    }
}

/// The same integer in every slot.
fn constants(ring: &SlotRing, value: u64) -> Vec<u64> {
    (0..ring.slots() * ring.degree()).map(|k| if k % ring.degree() == 0 { value } else { 0 }).collect()
}

/// Maps whose constants stay in slots do what the same maps with encoded constants do, and so do
/// their products; coefficients are residues, and zeros follow.
#[test]
fn maps_in_slots_are_those_with_encoded_constants() {
    for ring in [ring(31, 2, 2), ring(45, 2, 1), ring(64, 7, 1), ring(85, 127, 1)] {
        let (d, q) = (ring.degree(), ring.modulus().value());
        let matrix = |seed: u64| {
            move |row: usize, column: usize| {
                let given = if (row + column) % 3 == 0 { d } else { 1 };
                (0..given as u64).map(|k| number(seed + 97 * row as u64 + 7 * column as u64 + k) % (5 * q)).collect()
            }
        };
        let [first, second] = [1, 1000].map(|seed| LinearMap::from_matrix(&ring, matrix(seed)).unwrap());
        let slots = random_slots(&ring, 4);
        let input = Plaintext::from_slots(&ring, &slots).unwrap();
        let identity = LinearMap::identity(first.representation());
        assert_eq!(identity.apply(&slots).unwrap(), slots);
        let both = second.compose(&first).unwrap();
        for map in [&first, &second, &both, &identity.add(&both).unwrap()] {
            let image = map.to_linear_map().unwrap().apply(&input).unwrap();
            assert_eq!(map.apply(&slots).unwrap(), image.to_slots());
        }
        let entries = |row: usize, column: usize, out: &mut [u64]| {
            out.iter_mut().zip::<Vec<u64>>(matrix(1)(row, column)).for_each(|(out, x)| *out = x % q);
        };
        let direct = LinearMap::matmul_full_extension(&ring, entries).unwrap();
        assert_eq!(direct.apply(&input).unwrap().to_slots(), first.apply(&slots).unwrap());
        let long = LinearMap::from_matrix(&ring, |_, _| vec![1; d + 1]);
        assert!(matches!(long, Err(Error::ShapeMismatch { expected, got, .. }) if (expected, got) == (d, d + 1)));
        assert!(matches!(first.apply(&slots[1..].to_vec()), Err(Error::ShapeMismatch { .. })));
        let mut large = slots.clone();
        large[0] = q;
        assert!(matches!(first.apply(&large), Err(Error::OutOfRange(_))));
        // What cancels is no term, and maps of another ring are none of this one.
        let minus = first.multiplied_by(&constants(&ring, q - 1)).unwrap();
        assert!(first.add(&minus).unwrap().support().is_empty());
        let other = LinearMap::from_matrix(&super::common::ring(31, 2, 3), |_, _| vec![1]).unwrap();
        assert!(matches!(first.compose(&other), Err(Error::ContextMismatch { .. })));
        assert!(matches!(other.add(&first), Err(Error::ContextMismatch { .. })));
    }
}

#[test]
fn full_block_products() {
    for ring in [ring(31, 2, 2), ring(45, 2, 1), ring(64, 7, 1)] {
        let (l, d, modulus) = (ring.slots(), ring.degree(), ring.modulus());
        let map = LinearMap::block_matmul_full(&ring, |i, k, out| entry(&ring, 7, (0, i, k), out)).unwrap();
        let slots = random_slots(&ring, 2);
        let mut expected = vec![0; l * d];
        for (i, k) in (0..l).flat_map(|i| (0..l).map(move |k| (i, k))) {
            let mut block = vec![0; d * d];
            entry(&ring, 7, (0, i, k), &mut block);
            for (row, column) in (0..d).flat_map(|a| (0..d).map(move |b| (a, b))) {
                let term = modulus.mul(block[row * d + column], slots[k * d + column]);
                expected[i * d + row] = modulus.add(expected[i * d + row], term);
            }
        }
        let (input, expected) =
            (Plaintext::from_slots(&ring, &slots).unwrap(), Plaintext::from_slots(&ring, &expected).unwrap());
        for strategy in [Strategy::AUTOMATIC, Strategy::BLOCK, Strategy::BABY_GIANT_INNER] {
            check_plan(&map, &PlanSpec::with_strategy(strategy), &input, &expected);
        }
    }
}

#[test]
fn inverses() {
    let mut inverted = 0;
    for (p, r, good) in [(2, 1, true), (2, 3, false), (3, 2, true), (17, 1, false), (127, 2, true)] {
        let (ring, s) = smallest(p, r, good);
        for seed in 0..4 {
            let map =
                LinearMap::matmul_1d_extension(&ring, s, |c, i, k, out| entry(&ring, seed, (c, i, k), out)).unwrap();
            let block =
                LinearMap::block_matmul_1d(&ring, s, |c, i, k, out| entry(&ring, seed, (c, i, k), out)).unwrap();
            let small = ring.hypercube().dimensions()[s].size * ring.degree() <= 60;
            for map in [Some(map), small.then_some(block)].into_iter().flatten() {
                match map.inverse() {
                    Ok(inverse) => {
                        inverted += 1;
                        let one = LinearMap::identity(&ring);
                        for product in [inverse.compose(&map).unwrap(), map.compose(&inverse).unwrap()] {
                            assert_eq!(product.support(), one.support());
                            assert_eq!(product.constant(1), one.constant(1));
                        }
                    }
                    Err(error) => assert_eq!(error, Error::SingularMap { prime: ring.prime() }),
                }
            }
        }
        let rotation = LinearMap::rotation(&ring, s, 1).unwrap();
        assert_eq!(rotation.inverse().unwrap().support(), LinearMap::rotation(&ring, s, -1).unwrap().support());
        let singular = LinearMap::zero(&ring).inverse().unwrap_err();
        assert_eq!(singular, Error::SingularMap { prime: ring.prime() });
        assert!(singular.to_string().contains("matrix is singular"), "{singular}");
    }
    assert!(inverted >= 10, "{inverted}");
}

#[test]
fn zero_diagonals_cost_nothing() {
    let ring = ring(127, 2, 1);
    let size = ring.hypercube().dimensions()[0].size;
    let tridiagonal =
        LinearMap::matmul_1d(&ring, 0, |_, i, k| u64::from((i + size - k) % size <= 1 || (k + 1) % size == i)).unwrap();
    assert_eq!(tridiagonal.terms().len(), 2);
    let plan = LinearPlan::new(&tridiagonal, &PlanSpec::default()).unwrap();
    assert_eq!(plan.count().hoisted_automorphisms + plan.count().extended_automorphisms, 1);
}
