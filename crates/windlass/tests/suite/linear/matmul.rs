//! Matrices on one dimension, on all slots, and inside them.

use windlass::circuits::{LinearMap, LinearPlan, PlanSpec, Strategy};
use windlass::schemes::clear::Clear;
use windlass::{Error, Plaintext};
use windlass_ring::slots::SlotRing;

use super::common::*;

#[test]
fn one_dimensional_products_by_every_strategy() {
    for ring in rings() {
        for dimension in 0..ring.hypercube().dimensions().len() {
            let seed = 7 + dimension as u64;
            let map = LinearMap::matmul_1d_extension(&ring, dimension, |c, i, k, out| {
                entry(&ring, seed, (c, i, k), out);
            })
            .unwrap();
            let size = ring.hypercube().dimensions()[dimension].size;
            let terms = if ring.hypercube().dimensions()[dimension].good { size } else { 2 * size - 1 };
            assert!(map.terms().len() <= terms);
            let slots = random_slots(&ring, 1);
            let expected = Plaintext::from_slots(&ring, &matrix_product(&ring, dimension, seed, &slots)).unwrap();
            let input = Plaintext::from_slots(&ring, &slots).unwrap();
            assert_eq!(map.apply(&input).unwrap(), expected, "m = {}", ring.m());
            for strategy in strategies() {
                check_plan(&map, &PlanSpec::with_strategy(strategy), &input, &expected);
            }
        }
    }
}

#[test]
fn full_products() {
    for ring in rings().into_iter().filter(|ring| ring.slots() > 1) {
        let (l, d, galois) = (ring.slots(), ring.degree(), ring.galois());
        let map = LinearMap::matmul_full_extension(&ring, |i, k, out| entry(&ring, 3, (0, i, k), out)).unwrap();
        let slots = random_slots(&ring, 2);
        let mut expected = Vec::new();
        for i in 0..l {
            let mut sum = vec![0; d];
            for k in 0..l {
                let mut factor = vec![0; d];
                entry(&ring, 3, (0, i, k), &mut factor);
                sum = galois.add(&sum, &galois.mul(&factor, &slots[k * d..(k + 1) * d]));
            }
            expected.extend(sum);
        }
        let expected = Plaintext::from_slots(&ring, &expected).unwrap();
        let input = Plaintext::from_slots(&ring, &slots).unwrap();
        for strategy in [Strategy::AUTOMATIC, Strategy::HOISTED, Strategy::HORNER] {
            check_plan(&map, &PlanSpec::with_strategy(strategy), &input, &expected);
        }
    }
}

/// `M·x` for the d×d block of a place, on coefficient vectors.
fn apply_block(ring: &SlotRing, place: (usize, usize, usize), x: &[u64]) -> Vec<u64> {
    let (d, modulus) = (ring.degree(), ring.modulus());
    let mut block = vec![0; d * d];
    entry(ring, 11, place, &mut block);
    (0..d).map(|k| (0..d).fold(0, |sum, i| modulus.add(sum, modulus.mul(block[k * d + i], x[i])))).collect()
}

#[test]
fn block_products() {
    for ring in [ring(105, 2, 1), ring(31, 2, 2), ring(45, 2, 3), ring(64, 7, 1), ring(91, 3, 1)] {
        for dimension in 0..ring.hypercube().dimensions().len() {
            let d = ring.degree();
            let map =
                LinearMap::block_matmul_1d(&ring, dimension, |c, i, k, out| entry(&ring, 11, (c, i, k), out)).unwrap();
            let slots = random_slots(&ring, 3);
            let mut expected = vec![0; slots.len()];
            for (c, line) in lines(&ring, dimension).iter().enumerate() {
                for (i, &row) in line.iter().enumerate() {
                    let images =
                        line.iter().enumerate().map(|(k, &s)| apply_block(&ring, (c, i, k), &slots[s * d..][..d]));
                    let sum = images.fold(vec![0; d], |sum, image| ring.galois().add(&sum, &image));
                    expected[row * d..(row + 1) * d].copy_from_slice(&sum);
                }
            }
            let expected = Plaintext::from_slots(&ring, &expected).unwrap();
            let input = Plaintext::from_slots(&ring, &slots).unwrap();
            for strategy in [Strategy::AUTOMATIC, Strategy::BLOCK, Strategy::HORNER.with_babies(2)] {
                check_plan(&map, &PlanSpec::with_strategy(strategy), &input, &expected);
            }
        }
    }
}

#[test]
fn rotations_shifts_frobenius_and_trace() {
    for ring in rings() {
        let (cube, d, galois) = (ring.hypercube(), ring.degree(), ring.galois());
        let slots = random_slots(&ring, 4);
        let input = Plaintext::from_slots(&ring, &slots).unwrap();
        for (s, dimension) in cube.dimensions().iter().enumerate() {
            for amount in [1, -1, 2, dimension.size as i64 - 1] {
                let rotation = LinearMap::rotation(&ring, s, amount).unwrap();
                let one = dimension.good || amount.rem_euclid(dimension.size as i64) == 0;
                assert_eq!(rotation.terms().len(), if one { 1 } else { 2 });
                let (mut rotated, mut shifted) = (vec![0; slots.len()], vec![0; slots.len()]);
                for slot in 0..ring.slots() {
                    let to = cube.rotated(slot, s, amount);
                    rotated[to * d..(to + 1) * d].copy_from_slice(&slots[slot * d..(slot + 1) * d]);
                    let place = cube.coordinate(slot, s) as i64 + amount;
                    if (0..dimension.size as i64).contains(&place) {
                        shifted[to * d..(to + 1) * d].copy_from_slice(&slots[slot * d..(slot + 1) * d]);
                    }
                }
                assert_eq!(rotation.apply(&input).unwrap().to_slots(), rotated);
                assert_eq!(LinearMap::shift(&ring, s, amount).unwrap().apply(&input).unwrap().to_slots(), shifted);
            }
        }
        let frobenius = LinearMap::frobenius(&ring, 3).unwrap().apply(&input).unwrap().to_slots();
        let trace = LinearMap::trace(&ring).unwrap();
        let traced = trace.apply(&input).unwrap();
        check_plan(&trace, &PlanSpec::default(), &input, &traced);
        for (slot, values) in slots.chunks(d).enumerate() {
            assert_eq!(frobenius[slot * d..(slot + 1) * d], galois.frobenius(values, 3));
            assert_eq!(traced.to_integers().unwrap()[slot], galois.trace(values));
        }
    }
}

#[test]
fn the_twisted_group_ring() {
    let ring = ring(105, 2, 2);
    let a = LinearMap::matmul_1d_extension(&ring, 0, |c, i, k, out| entry(&ring, 21, (c, i, k), out)).unwrap();
    let b = LinearMap::shift(&ring, 1 % ring.hypercube().dimensions().len(), 1)
        .unwrap()
        .add(&LinearMap::trace(&ring).unwrap())
        .unwrap();
    let input = Plaintext::from_slots(&ring, &random_slots(&ring, 5)).unwrap();
    let both = a.compose(&b).unwrap();
    assert_eq!(both.apply(&input).unwrap(), a.apply(&b.apply(&input).unwrap()).unwrap());
    assert_ne!(both.apply(&input).unwrap(), b.apply(&a.apply(&input).unwrap()).unwrap());
    let sum = a.add(&b).unwrap();
    assert_eq!(sum.apply(&input).unwrap(), a.apply(&input).unwrap().add(&b.apply(&input).unwrap()).unwrap());
    let identity = LinearMap::identity(&ring);
    assert_eq!(identity.compose(&a).unwrap().support(), a.support());
    assert_eq!(identity.apply(&input).unwrap(), input);
    let minus = a.multiplied_by(&Plaintext::scalar(&ring, -1)).unwrap();
    assert_eq!(a.add(&minus).unwrap().terms().len(), 0);
    check_plan(&LinearMap::zero(&ring), &PlanSpec::default(), &input, &Plaintext::zero(&ring));
    check_plan(&identity, &PlanSpec::default(), &input, &input);
}

#[test]
fn a_few_diagonals_cost_a_few_automorphisms() {
    let ring = ring_with(257, 2, 1, &[3]);
    let band =
        LinearMap::matmul_1d(&ring, 0, |_, i, k| u64::from((i + 16 - k) % 16 <= 3 || (k + 16 - i) % 16 <= 2)).unwrap();
    let input = Plaintext::from_slots(&ring, &random_slots(&ring, 6)).unwrap();
    check_plan(&band, &PlanSpec::default(), &input, &band.apply(&input).unwrap());
    assert!(LinearPlan::new(&band, &PlanSpec::default()).unwrap().count().constant_products <= band.terms().len());
}

#[test]
fn missing_keys_are_named() {
    let ring = ring(127, 2, 1);
    let map = LinearMap::matmul_1d(&ring, 0, |_, i, k| (i * k + 1) as u64).unwrap();
    let g = ring.hypercube().dimensions()[0].generator;
    let refused = LinearPlan::new(&map, &PlanSpec::with_keys([g * g % 127])).unwrap_err();
    assert!(matches!(refused, Error::MissingGaloisKey { element, .. } if element != g * g % 127));
    // With the key of the generator alone, iteration is left; with none given, the plan asks for
    // what it likes.
    let minimal = LinearPlan::new(&map, &PlanSpec::with_keys([g])).unwrap();
    assert_eq!(minimal.required_keys().into_iter().collect::<Vec<_>>(), [g]);
    let plan = LinearPlan::new(&map, &PlanSpec::with_strategy(Strategy::HOISTED)).unwrap();
    let clear = Clear::with_keys(&ring, [g]);
    let input = clear.encrypt(&Plaintext::one(&ring)).unwrap();
    assert!(matches!(plan.apply_once(&clear, &input), Err(Error::MissingGaloisKey { .. })));
    let other = ring_with(127, 2, 2, &[g]);
    assert!(matches!(plan.prepare(&Clear::new(&other)), Err(Error::ContextMismatch { .. })));
}

#[test]
fn full_size_good_and_bad() {
    // The two hypercubes of Halevi–Shoup 2018, Table 2, m = 18631: D = 120.
    for (generators, bad) in [([17, 1177], false), ([7, 626], true)] {
        let ring = ring_with(18631, 2, 1, &generators);
        let sizes: Vec<(usize, bool)> = ring.hypercube().dimensions().iter().map(|s| (s.size, s.good)).collect();
        let s = sizes.iter().position(|&(size, _)| size == 120).expect("a dimension of size 120");
        assert_eq!(sizes[s].1, !bad, "{sizes:?}");
        let map = LinearMap::matmul_1d(&ring, s, |c, i, k| number((c * 120 + i) as u64 * 120 + k as u64) & 1).unwrap();
        let integers: Vec<u64> = (0..ring.slots() as u64).map(|i| number(i + 99) & 1).collect();
        let mut expected = vec![0; integers.len()];
        for (c, line) in lines(&ring, s).iter().enumerate() {
            for (i, &row) in line.iter().enumerate() {
                let bit = |k: usize| number((c * 120 + i) as u64 * 120 + k as u64) & 1;
                expected[row] = line.iter().enumerate().fold(0, |sum, (k, &slot)| sum ^ (bit(k) & integers[slot]));
            }
        }
        let input = Plaintext::from_integers(&ring, &integers).unwrap();
        let expected = Plaintext::from_integers(&ring, &expected).unwrap();
        check_plan(&map, &PlanSpec::default(), &input, &expected);
    }
}

#[test]
fn threads_do_not_change_the_result() {
    let ring = ring(127, 2, 3);
    let map = LinearMap::matmul_1d_extension(&ring, 0, |c, i, k, out| entry(&ring, 31, (c, i, k), out)).unwrap();
    let input = Plaintext::from_slots(&ring, &random_slots(&ring, 8)).unwrap();
    let plan = LinearPlan::new(&map, &PlanSpec::default()).unwrap();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&plan, &Clear::new(&ring), &input))
    };
    assert_eq!(with(1), with(4));
}
