//! Every strategy, good and bad dimensions, every key set of the 2018 paper, p = 2, 3, 17, 127 and
//! r = 1, 2, 3.

use std::collections::BTreeSet;

use windlass::circuits::{HoistMode, LinearMap, LinearPlan, PlanSpec, Strategy};
use windlass::{Error, Plaintext};
use windlass_ring::slots::{Hypercube, SlotRing};
use windlass_rlwe::KeyStrategy;

use super::common::*;

/// The keys of one strategy for all dimensions and for Frobenius.
pub fn key_set(ring: &SlotRing, strategy: KeyStrategy) -> BTreeSet<u64> {
    strategy.of_ring(ring.hypercube())
}

/// Which strategies of the paper a key set must allow in one dimension of size D.
pub fn allowed(keys: KeyStrategy, good: bool, size: usize) -> Vec<Strategy> {
    let babies = Some((size as f64).sqrt().ceil() as usize);
    let always = [Strategy::AUTOMATIC, Strategy::HORNER.with_babies(babies), Strategy::ITERATION];
    let steps = [
        Strategy::BABY_GIANT_INNER.with_babies(babies),
        Strategy::BABY_GIANT_OUTER.with_babies(babies),
        Strategy::TWO_LEVEL_HOISTED.with_babies(babies),
    ];
    let mut list = always.to_vec();
    match keys {
        KeyStrategy::Minimal => {}
        KeyStrategy::BabyGiant | KeyStrategy::Default => list.extend(steps),
        KeyStrategy::Full => list.extend(steps.into_iter().chain([Strategy::BLOCK])),
    }
    if good && keys == KeyStrategy::Full {
        list.push(Strategy::HOISTED);
    }
    if good && keys != KeyStrategy::Minimal {
        list.push(Strategy::BABY_GIANT.with_babies(babies));
    }
    list
}

#[test]
fn every_combination_on_the_mock() {
    for p in [2, 3, 17, 127] {
        for (r, good) in [1, 2, 3].into_iter().flat_map(|r| [(r, true), (r, false)]) {
            let (ring, dimension) = smallest(p, r, good);
            let size = ring.hypercube().dimensions()[dimension].size;
            let seed = p + r as u64;
            let map =
                LinearMap::matmul_1d_extension(&ring, dimension, |c, i, k, out| entry(&ring, seed, (c, i, k), out))
                    .unwrap();
            let slots = random_slots(&ring, seed);
            let expected = Plaintext::from_slots(&ring, &matrix_product(&ring, dimension, seed, &slots)).unwrap();
            let input = Plaintext::from_slots(&ring, &slots).unwrap();
            for keys in KeyStrategy::ALL {
                let given = Some(key_set(&ring, keys));
                for strategy in allowed(keys, good, size) {
                    for hoisting in [HoistMode::Double, HoistMode::Single, HoistMode::Off] {
                        let spec = PlanSpec { strategy, keys: given.clone(), hoisting, ..PlanSpec::default() };
                        check_plan(&map, &spec, &input, &expected);
                    }
                }
            }
            for strategy in strategies() {
                check_plan(&map, &PlanSpec::with_strategy(strategy), &input, &expected);
                check_keys_are_exact(&map, &PlanSpec::with_strategy(strategy));
            }
        }
    }
}

/// HElib's default for the rings of Tables 1 to 5: "full up to 50, else baby steps and giant steps".
#[test]
fn default_keys_of_the_papers_rings() {
    // 26 + 25 keys for D = 682 ("about 50" in §9), 10 + 10 for 120, 12 + 11 for 150, else D − 1;
    // θ^{−D} of the bad dimensions here is a power of Frobenius, which has its key already.
    let cases: [(u64, &[u64], (usize, usize), &[(usize, usize)]); 6] = [
        (15709, &[], (22, 21), &[(682, 51)]),
        (18631, &[17, 1177], (25, 24), &[(120, 20), (6, 5)]),
        (18631, &[7, 626], (25, 24), &[(120, 20), (6, 5)]),
        (24295, &[16386, 16427], (28, 27), &[(42, 41), (16, 15)]),
        (24295, &[53, 42], (28, 27), &[(42, 41), (16, 15)]),
        (49981, &[6952, 28540], (30, 29), &[(150, 23), (11, 10)]),
    ];
    for (m, generators, (d, of_frobenius), dimensions) in cases {
        let cube = match generators {
            [] => Hypercube::automatic(m, 2).unwrap(),
            given => Hypercube::with_generators(m, 2, given).unwrap(),
        };
        let sizes: Vec<usize> = cube.dimensions().iter().map(|s| s.size).collect();
        assert_eq!((cube.slot_degree(), sizes), (d, dimensions.iter().map(|s| s.0).collect()), "m = {m}");
        let expected = of_frobenius + dimensions.iter().map(|s| s.1).sum::<usize>();
        let keys = KeyStrategy::Default.of_ring(&cube);
        assert_eq!(keys.len(), expected, "m = {m}, {generators:?}");
        for (index, s) in cube.dimensions().iter().enumerate().filter(|(_, s)| !s.good) {
            assert!(keys.contains(&cube.generator_power(index, -(s.size as i64))), "m = {m}");
        }
    }
    for set in KeyStrategy::ALL {
        assert_eq!(KeyStrategy::named(&set.to_string()), Some(set));
    }
    assert_eq!(KeyStrategy::named("none"), None);
}

#[test]
fn minimal_keys_rule_out_hoisting() {
    let (ring, dimension) = smallest(2, 1, true);
    let map = LinearMap::matmul_1d(&ring, dimension, |_, i, k| (i + k + 1) as u64 & 1).unwrap();
    let keys = Some(key_set(&ring, KeyStrategy::Minimal));
    let spec = PlanSpec { strategy: Strategy::HOISTED, keys, ..PlanSpec::default() };
    assert!(matches!(LinearPlan::new(&map, &spec), Err(Error::MissingGaloisKey { .. })));
}

#[test]
fn the_number_of_keys_can_be_limited() {
    let ring = ring(127, 2, 1);
    let map = LinearMap::matmul_1d(&ring, 0, |_, i, k| (i * k + i + 1) as u64).unwrap();
    let keys = |max_keys| {
        let plan = LinearPlan::new(&map, &PlanSpec { max_keys, ..PlanSpec::default() });
        plan.map(|plan| plan.required_keys().len())
    };
    let free = keys(None).unwrap();
    assert!(keys(Some(free - 1)).unwrap() < free);
    assert_eq!(keys(Some(1)).unwrap(), 1);
    assert!(matches!(keys(Some(0)), Err(Error::Unplannable { .. })));
}

#[test]
fn block_maps_in_good_and_bad_dimensions() {
    for (p, good) in [(2, true), (2, false), (3, true), (3, false)] {
        let (ring, dimension) = smallest(p, 2, good);
        let size = ring.hypercube().dimensions()[dimension].size;
        let map = LinearMap::block_matmul_1d(&ring, dimension, |c, i, k, out| entry(&ring, 5, (c, i, k), out)).unwrap();
        let input = Plaintext::from_slots(&ring, &random_slots(&ring, 5)).unwrap();
        let expected = map.apply(&input).unwrap();
        let spec = PlanSpec::with_strategy(Strategy::BLOCK);
        // The longer of the two axes is hoisted, the other holds the outputs: the roles of θ and σ
        // are switched when d > D.
        let count = LinearPlan::new(&map, &spec).unwrap().count();
        let longer = size.max(ring.degree());
        assert!(count.hoisted_automorphisms + 1 >= longer && count.hoisted_automorphisms <= longer);
        for strategy in [Strategy::BLOCK, Strategy::BABY_GIANT, Strategy::ITERATION] {
            check_plan(&map, &PlanSpec::with_strategy(strategy), &input, &expected);
        }
        check_keys_are_exact(&map, &spec);
    }
}
