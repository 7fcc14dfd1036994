//! Rings, numbers and oracles of the tests of linear maps.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass::circuits::{LinearMap, LinearPlan, PlanSpec, Strategy};
use windlass::schemes::clear::Clear;
use windlass::{Content, Error, Plaintext};
use windlass_ring::kernels::Isa;
use windlass_ring::slots::{Hypercube, SlotRing};

/// A fixed stream of numbers (SplitMix64).
pub fn number(seed: u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) >> 20
}

pub fn ring(m: u64, p: u64, r: u32) -> Arc<SlotRing> {
    Arc::new(SlotRing::new(m, p, r, Isa::Portable).unwrap())
}

pub fn ring_with(m: u64, p: u64, r: u32, generators: &[u64]) -> Arc<SlotRing> {
    let hypercube = Hypercube::with_generators(m, p, generators).unwrap();
    Arc::new(SlotRing::with_hypercube(hypercube, r, Isa::Portable).unwrap())
}

/// Small rings with good and bad dimensions.
pub fn rings() -> Vec<Arc<SlotRing>> {
    vec![
        ring(105, 2, 1),
        ring(105, 2, 3),
        ring(31, 2, 2),
        ring(63, 2, 1),
        ring(105, 17, 2),
        ring(64, 3, 2),
        ring(64, 7, 1),
        ring(32, 17, 3),
        ring(127, 2, 2),
        ring(91, 3, 1),
        ring(45, 2, 3),
        ring(104, 3, 2),
        ring(85, 127, 1),
    ]
}

pub fn random_slots(ring: &Arc<SlotRing>, seed: u64) -> Vec<u64> {
    let modulus = ring.modulus().value();
    (0..(ring.slots() * ring.degree()) as u64).map(|i| number(seed * 1_000_003 + i) % modulus).collect()
}

/// The entry of a test matrix: d coefficients.
pub fn entry(ring: &SlotRing, seed: u64, place: (usize, usize, usize), out: &mut [u64]) {
    let modulus = ring.modulus().value();
    for (k, out) in out.iter_mut().enumerate() {
        let key = ((place.0 * 1009 + place.1) * 1009 + place.2) * 1009 + k;
        *out = number(seed.wrapping_mul(77_777_777) + key as u64) % modulus;
    }
}

/// The slots on the line of `slot` along a dimension, by coordinate; and the number of the line, in
/// order of first slots.
pub fn lines(ring: &SlotRing, dimension: usize) -> Vec<Vec<usize>> {
    let cube = ring.hypercube();
    let mut lines: Vec<Vec<usize>> = Vec::new();
    for slot in (0..ring.slots()).filter(|&slot| cube.coordinate(slot, dimension) == 0) {
        lines.push((0..cube.dimensions()[dimension].size).map(|i| slot + i * cube.stride(dimension)).collect());
    }
    lines
}

/// `Σ_k entry(i, k)·v[k]` on every line, in E.
pub fn matrix_product(ring: &SlotRing, dimension: usize, seed: u64, slots: &[u64]) -> Vec<u64> {
    let (d, galois) = (ring.degree(), ring.galois());
    let mut result = vec![0; slots.len()];
    for (c, line) in lines(ring, dimension).iter().enumerate() {
        for (i, &row) in line.iter().enumerate() {
            let mut sum = vec![0; d];
            for (k, &column) in line.iter().enumerate() {
                let mut factor = vec![0; d];
                entry(ring, seed, (c, i, k), &mut factor);
                sum = galois.add(&sum, &galois.mul(&factor, &slots[column * d..(column + 1) * d]));
            }
            result[row * d..(row + 1) * d].copy_from_slice(&sum);
        }
    }
    result
}

pub fn run(plan: &LinearPlan, clear: &Clear, plaintext: &Plaintext) -> Plaintext {
    let input = clear.encrypt(plaintext).unwrap();
    let prepared = plan.prepare(clear).unwrap();
    clear.decrypt(&plan.apply(&prepared, clear, &input).unwrap())
}

/// A plan gives what its map gives, with its own keys alone, and does the operations that it
/// announced.
pub fn check_plan(map: &LinearMap, spec: &PlanSpec, input: &Plaintext, expected: &Plaintext) {
    let plan = LinearPlan::new(map, spec).unwrap();
    let clear = Clear::with_keys(map.slot_ring(), plan.required_keys());
    let image = run(&plan, &clear, input);
    assert_eq!(&image, expected, "{}", plan.explain());
    // Constants and inputs that hold integers give integers; what is said is true.
    let content = map.terms().map(|(_, constant)| constant.content()).fold(input.content(), Content::max);
    assert_eq!(image.content(), content, "{}", plan.explain());
    assert!(content == Content::Elements || expected.to_integers().is_ok(), "{}", plan.explain());
    let (done, said) = (clear.counts(), plan.count());
    assert_eq!(done.hoists, said.hoists, "{}", plan.explain());
    assert_eq!(done.hoisted_automorphisms, said.hoisted_automorphisms, "{}", plan.explain());
    assert_eq!(done.extended_automorphisms, said.extended_automorphisms, "{}", plan.explain());
    assert_eq!(done.constant_products, said.constant_products, "{}", plan.explain());
    assert_eq!(done.mod_downs, said.mod_downs, "{}", plan.explain());
    assert_eq!(done.automorphisms, said.automorphisms, "{}", plan.explain());
    assert_eq!(plan.required_keys().len(), said.keys);
}

/// With one key fewer than a plan says, it is refused.
pub fn check_keys_are_exact(map: &LinearMap, spec: &PlanSpec) {
    let plan = LinearPlan::new(map, spec).unwrap();
    let required = plan.required_keys();
    let input = Plaintext::one(map.slot_ring());
    for &left_out in &required {
        let keys: BTreeSet<u64> = required.iter().copied().filter(|&t| t != left_out).collect();
        let clear = Clear::with_keys(map.slot_ring(), keys);
        let refused = plan.apply_once(&clear, &clear.encrypt(&input).unwrap());
        assert!(matches!(refused, Err(Error::MissingGaloisKey { element, .. }) if element == left_out));
    }
}

/// A ring with a good or bad dimension of at least four slots: the smallest m, with its generators
/// and the dimension.
pub fn smallest(p: u64, r: u32, good: bool) -> (Arc<SlotRing>, usize) {
    for m in (5..400u64).filter(|m| m % p != 0 && m % 4 != 2) {
        let automatic = Hypercube::automatic(m, p).into_iter();
        let chosen = (2..m).filter_map(|g| Hypercube::with_generators(m, p, &[g]).ok());
        for cube in automatic.chain(chosen) {
            let fits = |dimension: &windlass_ring::slots::Dimension| dimension.good == good && dimension.size >= 4;
            if let Some(dimension) = cube.dimensions().iter().position(fits) {
                return (Arc::new(SlotRing::with_hypercube(cube, r, Isa::Portable).unwrap()), dimension);
            }
        }
    }
    panic!("no small ring with such a dimension for p = {p}");
}

pub fn strategies() -> Vec<Strategy> {
    let fixed = Some(3);
    let mut list = Strategy::candidates().collect::<Vec<_>>();
    list.extend([
        Strategy::AUTOMATIC,
        Strategy::BABY_GIANT.with_babies(fixed),
        Strategy::BABY_GIANT_INNER.with_babies(fixed),
        Strategy::BABY_GIANT_OUTER.with_babies(fixed),
        Strategy::TWO_LEVEL_HOISTED.with_babies(fixed),
        Strategy::HORNER.with_babies(fixed),
    ]);
    list
}
