//! Algorithms 4 and 5 of Halevi–Shoup 2018 by every key set of its Table 3: what they take, on the
//! mock and on ciphertexts.

use std::sync::Arc;

use windlass::Plaintext;
use windlass::circuits::linear::OperationCount;
use windlass::circuits::{HoistMode, LinearMap, LinearPlan, PlanSpec, Strategy};
use windlass::schemes::Scheme;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::KeyStrategy;

use super::combinations::key_set;
use super::common::*;
use super::counted::Counted;
use super::encrypted::{client, decrypt, encrypt};

/// A good or bad dimension longer or shorter than d: D = 18 with d = 7, 6 with 5, 2 with 12 and 10
/// with 6.
fn cases() -> Vec<(Arc<SlotRing>, usize)> {
    let mut list = vec![(ring(127, 2, 1), 0), (ring(31, 2, 2), 0), (ring(105, 2, 1), 0), (ring(91, 3, 1), 0)];
    list.extend([smallest(2, 1, false), smallest(3, 2, false)]);
    list
}

/// ⌈√size⌉ baby steps, and as many giant steps as the axis then takes.
fn steps(size: usize) -> (usize, usize) {
    let babies = (1..).find(|g| g * g >= size).unwrap();
    (babies, size.div_ceil(babies))
}

/// Automorphisms for every power but the first, each in one step or two (§2.5).
fn one_by_one(size: usize) -> usize {
    let (babies, _) = steps(size);
    (1..size).map(|e| if e < babies || e % babies == 0 { 1 } else { 2 }).sum()
}

/// Giant steps, the first of all included, that a baby step follows: each is decomposed (§5.1).
fn decomposed(size: usize) -> usize {
    let (babies, giants) = steps(size);
    (0..giants).filter(|k| k * babies + 1 < size && babies > 1).count().max(1)
}

/// What Table 3's columns take by the text of the paper: Step 2 (a) on the longer axis, Step 3 on
/// the other. In a bad dimension too: θ^{−D} is a power of σ there, so that the second accumulators
/// of Algorithm 5 are the first ones.
fn columns(longer: usize, shorter: usize) -> [(&'static str, Strategy, HoistMode, OperationCount); 5] {
    let products = longer * shorter;
    let narrow = OperationCount { constant_products: products, base_q_products: products, ..Default::default() };
    let hoisted = |hoists, automorphisms| OperationCount {
        hoists,
        hoisted_automorphisms: longer - 1,
        mod_downs: longer - 1,
        automorphisms,
        ..narrow
    };
    let whole = |automorphisms| OperationCount { automorphisms, ..narrow };
    let (single, off) = (HoistMode::Single, HoistMode::Off);
    [
        ("F/H", Strategy::BLOCK, single, hoisted(1, shorter - 1)),
        ("F/N", Strategy::BLOCK, off, whole(longer + shorter - 2)),
        ("B/H", Strategy::TWO_LEVEL_HOISTED, single, hoisted(decomposed(longer), one_by_one(shorter))),
        ("B/N", Strategy::ONE_BY_ONE, off, whole(one_by_one(longer) + one_by_one(shorter))),
        ("M/", Strategy::ITERATION, off, whole(longer + shorter - 2)),
    ]
}

#[test]
fn block_columns_take_what_the_paper_says() {
    for (ring, dimension) in cases() {
        let (size, d) = (ring.hypercube().dimensions()[dimension].size, ring.degree());
        let map =
            LinearMap::block_matmul_1d(&ring, dimension, |c, i, k, out| entry(&ring, 12, (c, i, k), out)).unwrap();
        assert_eq!(map.terms().len(), size * d, "m = {}: a constant is 0", ring.m());
        let input = Plaintext::from_slots(&ring, &random_slots(&ring, 6)).unwrap();
        let expected = map.apply(&input).unwrap();
        let client = client(&ring, if d % 2 == 0 { Scheme::Bgv } else { Scheme::Bfv });
        let encrypted = encrypt(&client, &input);
        for (name, strategy, hoisting, formula) in columns(size.max(d), size.min(d)) {
            let spec = PlanSpec { strategy, hoisting, ..PlanSpec::default() };
            check_plan(&map, &spec, &input, &expected);
            let plan = LinearPlan::new(&map, &spec).unwrap();
            let said = OperationCount { keys: 0, ..plan.count() };
            assert_eq!(said, formula, "{name}, m = {}: {}", ring.m(), plan.explain());
            let server = client.generate_server([&plan]).unwrap();
            let counted = Counted::new(server.engine());
            let output = plan.apply_once(&counted, &encrypted).unwrap();
            assert_eq!(decrypt(&client, &output), expected);
            assert_eq!(counted.count(), formula, "{name}, m = {}", ring.m());
        }
    }
}

#[test]
fn baby_step_keys_are_enough_for_their_columns() {
    for (ring, dimension) in cases() {
        let map =
            LinearMap::block_matmul_1d(&ring, dimension, |c, i, k, out| entry(&ring, 13, (c, i, k), out)).unwrap();
        let input = Plaintext::from_slots(&ring, &random_slots(&ring, 7)).unwrap();
        let expected = map.apply(&input).unwrap();
        let given = key_set(&ring, KeyStrategy::BabyGiant);
        let shared = Strategy::TWO_LEVEL_SHARED;
        for strategy in [Strategy::TWO_LEVEL_HOISTED, Strategy::ONE_BY_ONE, shared] {
            for hoisting in [HoistMode::Double, HoistMode::Single, HoistMode::Off] {
                let free = PlanSpec { strategy, hoisting, ..PlanSpec::default() };
                let required = LinearPlan::new(&map, &free).unwrap().required_keys();
                assert!(strategy == shared || required.is_subset(&given), "{strategy}: {required:?}");
                check_plan(&map, &PlanSpec { keys: Some(given.clone()), ..free }, &input, &expected);
            }
        }
        // Sharing giant steps on both sides leaves one automorphism for each power.
        let (size, d) = (ring.hypercube().dimensions()[dimension].size, ring.degree());
        let spec = PlanSpec { strategy: shared, hoisting: HoistMode::Off, keys: Some(given), ..PlanSpec::default() };
        assert_eq!(LinearPlan::new(&map, &spec).unwrap().count().automorphisms, size + d - 2);
    }
}

#[test]
fn roles_are_exchanged_by_name_alone() {
    // D = 18, d = 7: Block hoists the 18 powers of θ, whatever keys there are.
    let ring = ring(127, 2, 1);
    let map = LinearMap::block_matmul_1d(&ring, 0, |c, i, k, out| entry(&ring, 14, (c, i, k), out)).unwrap();
    let input = Plaintext::from_slots(&ring, &random_slots(&ring, 8)).unwrap();
    let expected = map.apply(&input).unwrap();
    let block = |strategy, keys| PlanSpec { strategy, keys, hoisting: HoistMode::Single, ..PlanSpec::default() };
    for (strategy, hoisted, outputs) in [(Strategy::BLOCK, 17, 6), (Strategy::BLOCK_SWAPPED, 6, 17)] {
        let spec = block(strategy, None);
        check_plan(&map, &spec, &input, &expected);
        let count = LinearPlan::new(&map, &spec).unwrap().count();
        assert_eq!((count.hoisted_automorphisms, count.automorphisms), (hoisted, outputs));
    }
    // With keys for all powers of σ and baby steps of θ, Block is refused; the other way round there
    // is a plan, and it is chosen where the choice is free.
    let cube = ring.hypercube();
    let g = cube.dimensions()[0].generator;
    let keys = KeyStrategy::Full.elements(2, 7, true, 127);
    let keys = Some(keys.into_iter().chain(KeyStrategy::Minimal.elements(g, 18, true, 127)).collect());
    assert!(LinearPlan::new(&map, &block(Strategy::BLOCK, keys.clone())).is_err());
    for strategy in [Strategy::BLOCK_SWAPPED, Strategy::AUTOMATIC] {
        check_plan(&map, &block(strategy, keys.clone()), &input, &expected);
    }
    // One axis has no other to exchange roles with.
    let map = LinearMap::matmul_1d(&ring, 0, |_, i, k| (i * k + 1) as u64).unwrap();
    assert!(LinearPlan::new(&map, &block(Strategy::BLOCK_SWAPPED, None)).is_err());
}
