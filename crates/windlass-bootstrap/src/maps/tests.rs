use std::collections::BTreeSet;

use windlass_circuits::{CostModel, LinearMap};
use windlass_schemes::error::BootstrapError;
use windlass_schemes::schemes::clear::Clear;
use windlass_schemes::{Error, Plaintext, Result};

use super::bruun::{Bruun, Trinomials};
use super::radix2::{Butterflies, Radix2};
use super::slot_map::SlotMap;
use super::tensor::CompositeTensor;
use super::*;

fn apply(maps: &[LinearMap], x: &Plaintext) -> Plaintext {
    maps.iter().fold(x.clone(), |x, map| map.apply(&x).unwrap())
}

/// Of the stages of either kind.
fn stage_count(m: u64, p: u64) -> Result<usize> {
    Transform::AUTOMATIC.choices(m, p)?[0].stage_count(&evaluation_hypercube(m, p)?)
}

/// With the stages beside as separate maps.
fn runs(ends: &[usize]) -> Runs {
    ends.into()
}

fn partitions(count: usize) -> Vec<Vec<usize>> {
    let every: Vec<usize> = (1..=count).collect();
    let pairs: Vec<usize> = (1..=count).filter(|end| end % 2 == count % 2).collect();
    if count == 0 { vec![vec![]] } else { vec![every, pairs, vec![count]] }
}

/// (m, p, r) of every kind: composite with one or two axes in the first factor, with one slot there
/// and in all, powers of two of both kinds.
const RINGS: [(u64, u64, u32); 15] = [
    (3, 2, 3),
    (9, 2, 2),
    (25, 3, 1),
    (105, 2, 3),
    (1023, 2, 2),
    (4369, 2, 2),
    (451, 17, 1),
    (45, 2, 2),
    (63, 2, 3),
    (64, 193, 1),
    (64, 17, 2),
    (32, 5, 2),
    (64, 7, 2),
    (64, 3, 2),
    (128, 127, 1),
];

/// Every ring with every kind of stages it has.
fn every(rings: &[(u64, u64, u32)]) -> impl Iterator<Item = ((u64, u64, u32), &'static dyn SlotTransform)> {
    rings.iter().flat_map(|&ring| {
        let choices = Transform::AUTOMATIC.choices(ring.0, ring.1).unwrap();
        choices.into_iter().map(move |transform| (ring, transform))
    })
}

#[test]
fn slots_become_coefficients_and_come_back() {
    for ((m, p, r), transform) in every(&RINGS) {
        let slots = evaluation_ring(m, p, r).unwrap();
        let modulus = slots.modulus().value();
        let values: Vec<u64> = (0..slots.slots() as u64).map(|i| (i * i * 7 + 3 * i + 1) % modulus).collect();
        let thin = Plaintext::from_integers(&slots, &values).unwrap();
        for ends in partitions(stage_count(m, p).unwrap()) {
            let there = thin_to_coefficients(&slots, transform, &ends).unwrap();
            let image = apply(&there, &thin);
            // Each value is one coefficient of the powerful basis.
            let mut found: Vec<u64> = image.coefficients().iter().copied().filter(|&x| x != 0).collect();
            let mut wanted: Vec<u64> = values.iter().copied().filter(|&x| x != 0).collect();
            found.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "{transform:?} m = {m}, p = {p}");
            // Other coefficients do not disturb.
            let noise: Vec<u64> = image
                .coefficients()
                .iter()
                .enumerate()
                .map(|(j, &x)| if x == 0 { (j as u64 * 5 + 2) % modulus } else { x })
                .collect();
            let zero_values = values.contains(&0);
            let disturbed = if zero_values { image.clone() } else { Plaintext::new(&slots, noise).unwrap() };
            let mut back = thin_to_slots(&slots, transform, &ends).unwrap();
            back.extend(trace_stages(&slots).unwrap());
            assert_eq!(apply(&back, &disturbed), thin, "{transform:?} m = {m}, p = {p}, {ends:?}");
        }
    }
}

/// The indices of rings up to `most` in which p has slots.
fn indices(p: u64, most: u64) -> impl Iterator<Item = u64> {
    (3..=most).filter(move |m| m % 4 != 2 && m % p != 0)
}

#[test]
fn every_index_has_evaluation_maps() {
    for p in [2, 3, 17, 257] {
        let has_none = |&m: &u64| {
            let counts = |transform: &dyn SlotTransform| {
                let cube = evaluation_hypercube(m, p)?;
                Ok(transform.stage_count(&cube)? + transform.packed_stage_count(&cube)?)
            };
            let choices =
                || Transform::AUTOMATIC.choices(m, p)?.into_iter().map(counts).collect::<Result<Vec<usize>>>();
            evaluation_hypercube(m, p).is_err() || choices().is_err()
        };
        assert_eq!(indices(p, 600).filter(has_none).collect::<Vec<u64>>(), Vec::<u64>::new(), "p = {p}");
    }
}

/// Thin and packed, on random plaintexts: every ring of up to 24 coefficients, and larger ones.
#[test]
fn maps_of_every_small_index_are_transforms() {
    let small = [2, 3, 5, 17].into_iter().flat_map(|p| {
        let few = move |m: &u64| windlass_ring::kernels::arith::totient(*m) <= 24;
        indices(p, 90).filter(few).map(move |m| (m, p, 1))
    });
    let larger = [
        // A power of two beside the first factor: in one stage, in two.
        (176, 3, 2),
        (192, 17, 1),
        (320, 11, 1),
        // A power of two that is the first factor, of p = 1 and 3 modulo 4.
        (768, 193, 1),
        (384, 127, 1),
        // First factors of several primes, one after the other: two of them, the power of two first
        // and last, three of which one has no slots of its own.
        (119, 2, 3),
        (448, 17, 1),
        (304, 1033, 1),
        (651, 653, 1),
    ];
    for (m, p, r) in small.chain(larger) {
        let slots = evaluation_ring(m, p, r).unwrap();
        for transform in Transform::AUTOMATIC.choices(m, p).unwrap() {
            check_thin(&slots, transform).unwrap_or_else(|error| panic!("m = {m}, p = {p}: {error}"));
            check_packed(&slots, transform).unwrap_or_else(|error| panic!("packed, m = {m}, p = {p}: {error}"));
        }
    }
}

/// The counts behind prices are those of the maps, for any merging.
#[test]
fn supports_of_packed_maps_are_those_that_are_made() {
    for ((m, p, r), transform) in every(&[(105, 2, 1), (45, 2, 2), (119, 2, 1), (64, 7, 2), (64, 17, 2), (64, 193, 1)])
    {
        let slots = evaluation_ring(m, p, r).unwrap();
        let packing = transform.packing(&slots);
        let forth = transform.packed_evaluation(&slots).unwrap();
        let back = transform.packed_interpolation(&slots, packing.basis()).unwrap();
        for (stages, told) in [forth, back].iter().zip(transform.packed_supports(&slots).unwrap()) {
            let made = StageSupports::of(stages);
            assert_eq!(made.merged, told.merged, "{transform:?} m = {m}, p = {p}");
            for (made, told) in [(&made.first, &told.first), (&made.last, &told.last)] {
                let fits = match (made, told) {
                    (Some(made), Some(told)) => made.is_subset(told) && 2 * made.len() > told.len(),
                    (None, None) => true,
                    _ => false,
                };
                assert!(fits, "{transform:?} m = {m}, p = {p}: {made:?} of {told:?}");
            }
        }
    }
}

/// The factors of 2015 in another order than the standard one: other slots, the same transform.
#[test]
fn maps_of_given_factors_are_transforms() {
    for (m, p, r, factors) in [
        (105, 2, 2, "5*7,3"),
        (105, 2, 1, "3*5*7"),
        (1155, 2, 1, "5*7*11,3"),
        (651, 5, 1, "7*31,3"),
        (117, 2, 1, "13,9"),
    ] {
        let order: FactorOrder = factors.parse().unwrap();
        let slots = ordered_ring((m, p, r), &order).unwrap();
        check_thin(&slots, &CompositeTensor).unwrap_or_else(|error| panic!("m = {m}, {factors}: {error}"));
        check_packed(&slots, &CompositeTensor).unwrap_or_else(|error| panic!("packed, m = {m}, {factors}: {error}"));
    }
}

/// Products of keys are found by the fewest; what they do not make up stays.
#[test]
fn splits_go_by_the_keys_that_there_are() {
    let [elements, _] = splits(256, 17);
    assert!(elements.len() > 2);
    let all: BTreeSet<u64> = elements.iter().map(|split| split.element).collect();
    for split in elements {
        assert_eq!(split.clone().by_keys((256, 17), &all).route, [split.element]);
        let by_frobenius = split.clone().by_keys((256, 17), &BTreeSet::from([17]));
        assert!(by_frobenius.route.iter().all(|&t| t == 17));
        assert_eq!(by_frobenius.route.iter().fold(1, |t, key| t * key % 256), split.element);
        assert_eq!(split.clone().by_keys((256, 17), &BTreeSet::from([255])).route, [split.element]);
    }
}

#[test]
fn stages_are_sparse() {
    let slots = evaluation_ring(256, 257, 1).unwrap();
    let single = thin_to_coefficients(&slots, &Radix2, &(1..=7).collect::<Vec<_>>()).unwrap();
    assert!(single.iter().all(|map| map.support().len() <= 3));
    let merged = thin_to_slots(&slots, &Radix2, &[3, 7]).unwrap();
    assert!(merged.iter().zip([3, 4]).all(|(map, k)| map.support().len() <= 2 << k), "{merged:?}");
    // A factor of 2^8 beside 3: seven doublings in two stages, in place of 128 diagonals.
    let slots = evaluation_ring(768, 257, 1).unwrap();
    let stages = [CompositeTensor.evaluation(&slots).unwrap(), CompositeTensor.interpolation(&slots).unwrap()];
    assert!(stages.iter().all(|one| one.merged.len() == 2 && one.merged.iter().all(|map| map.support().len() <= 31)));
    // Thin: the run with the largest distances wraps around, bad dimension or not.
    let slots = evaluation_ring(256, 17, 1).unwrap();
    let top = &thin_to_slots(&slots, &Radix2, &[2, 3]).unwrap()[0];
    assert_eq!(top.support().len(), 4, "{top:?}");
    // All in one: a diagonal for each slot (Chen–Han 2018, A.2).
    for ((m, p, r), transform) in every(&[(256, 17, 1), (64, 193, 1), (64, 7, 2), (128, 127, 1)]) {
        let (slots, count) = (evaluation_ring(m, p, r).unwrap(), stage_count(m, p).unwrap());
        let there = &thin_to_coefficients(&slots, transform, &[count]).unwrap()[0];
        let back = &thin_to_slots(&slots, transform, &[count]).unwrap()[0];
        assert!([there, back].iter().all(|map| map.support().len() <= slots.slots()), "{transform:?} m = {m}, p = {p}");
    }
}

#[test]
fn supports_are_those_of_the_stages() {
    for (m, p, r) in [(128, 7, 2), (256, 127, 1), (64, 3, 3), (16, 3, 1)] {
        let slots = evaluation_ring(m, p, r).unwrap();
        let (packing, count) = (Bruun.packing(&slots), stage_count(m, p).unwrap());
        let trinomials = Trinomials::new(&slots);
        assert_eq!(set(&trinomials.packed_values()), trinomials.packed_support(), "m = {m}, p = {p}");
        assert!(set(&trinomials.packed_residues(packing.basis())).is_subset(&trinomials.packed_support()));
        assert!(
            (0..count - 1).all(|s| trinomials.split(s).support().len() <= 6 && trinomials.join(s).support().len() <= 7)
        );
        let butterflies = Butterflies::new(&slots);
        assert!(
            [false, true]
                .iter()
                .all(|&back| set(&butterflies.in_slots(back)).is_subset(&butterflies.in_slots_support()))
        );
        // Bruun's constants are integers in every slot: the Frobenius map commutes with the stages.
        let integers = |(_, constant): (u64, &Plaintext)| constant.to_integers().is_ok();
        for map in (0..count - 1).flat_map(|s| [trinomials.split(s), trinomials.join(s)]) {
            assert!(map.to_linear_map().unwrap().terms().all(integers), "m = {m}, p = {p}");
        }
    }
}

#[test]
fn bruun_and_radix2_give_the_same_coefficients_in_the_same_order() {
    for (m, p, r) in [(64, 7, 2), (256, 127, 1), (128, 3, 2)] {
        let slots = evaluation_ring(m, p, r).unwrap();
        let (modulus, count) = (slots.modulus().value(), stage_count(m, p).unwrap());
        let values: Vec<u64> = (0..slots.slots() as u64).map(|i| (i * i * 5 + i + 1) % modulus).collect();
        let thin = Plaintext::from_integers(&slots, &values).unwrap();
        let image =
            |transform: &dyn SlotTransform| apply(&thin_to_coefficients(&slots, transform, &[count]).unwrap(), &thin);
        let (radix2, bruun) = (image(&Radix2), image(&Bruun));
        // Coefficients of X^{jd/2} against those of X^{jd}.
        let d = slots.degree();
        let every = |image: &Plaintext, step: usize| -> Vec<u64> {
            image.coefficients().iter().copied().step_by(step).take(slots.slots()).collect()
        };
        assert_eq!(every(&radix2, d / 2), every(&bruun, d), "m = {m}, p = {p}");
    }
}

#[test]
fn transforms_that_a_ring_does_not_have_are_refused() {
    let refused = |m, p, transform: Transform| {
        matches!(transform.choices(m, p), Err(Error::Bootstrap(BootstrapError::Unsupported { .. })))
    };
    assert!(refused(64, 193, Transform::BRUUN) && refused(105, 2, Transform::BRUUN) && refused(4, 3, Transform::BRUUN));
    assert!(refused(105, 2, Transform::RADIX2) && !refused(64, 193, Transform::RADIX2));
    assert_eq!(Transform::BRUUN.choices(64, 7).unwrap()[0].name(), "bruun");
}

#[test]
fn unsuitable_rings_and_partitions_are_refused() {
    let refused = |m, p| evaluation_hypercube(m, p).unwrap_err().to_string();
    assert!(refused(106, 3).contains("use m/2"), "{}", refused(106, 3));
    assert!([(105, 7), (64, 2)].iter().all(|&(m, p)| refused(m, p).contains("divides")), "{}", refused(105, 7));
    assert!(refused(105, 4).contains("not a prime"), "{}", refused(105, 4));
    let refused = |maps: Result<Vec<LinearMap>>, ends: &[usize], count: usize| {
        let wanted = Error::Bootstrap(BootstrapError::Partition { ends: ends.to_vec(), count });
        assert_eq!(maps.err(), Some(wanted), "{ends:?}");
    };
    // Five stages, or as many as there are.
    let (slots, composite, single) =
        (evaluation_ring(64, 193, 1).unwrap(), evaluation_ring(105, 2, 1).unwrap(), evaluation_ring(9, 2, 1).unwrap());
    for ends in [&[1, 2][..], &[2, 2, 5], &[], &[0, 5], &[0], &[5, 5], &[4, 3, 5], &[5, 6]] {
        refused(thin_to_coefficients(&slots, &Radix2, ends), ends, 5);
        refused(thin_to_slots(&slots, &Radix2, ends), ends, 5);
        refused(packed_to_coefficients(&slots, &Radix2, &runs(ends)), ends, 5);
    }
    let (packing, count) = (CompositeTensor.packing(&composite), stage_count(105, 2).unwrap());
    for ends in [&[0, count][..], &[count + 1], &[0]] {
        refused(thin_to_coefficients(&composite, &CompositeTensor, ends), ends, count);
        refused(thin_to_slots(&composite, &CompositeTensor, ends), ends, count);
    }
    let count = CompositeTensor.packed_stage_count(composite.hypercube()).unwrap();
    for ends in [&[0, count][..], &[count, count]] {
        refused(packed_to_slots(&composite, &CompositeTensor, &runs(ends), &packing), ends, count);
    }
    refused(thin_to_slots(&single, &CompositeTensor, &[1]), &[1], 0);
    refused(thin_to_slots(&evaluation_ring(4, 3, 1).unwrap(), &Radix2, &[1]), &[1], 0);
}

#[test]
fn packed_slots_become_coefficients_and_come_back() {
    for ((m, p, r), transform) in every(&RINGS).chain(every(&[(16, 3, 1), (32, 7, 2)])) {
        let slots = evaluation_ring(m, p, r).unwrap();
        let modulus = slots.modulus().value();
        let packing = transform.packing(&slots);
        let coefficients: Vec<u64> = (0..slots.n() as u64).map(|j| (j * j * 3 + j + 1) % modulus).collect();
        let element = Plaintext::new(&slots, coefficients.clone()).unwrap();
        let count = transform.packed_stage_count(slots.hypercube()).unwrap();
        let elementary: Vec<usize> = (1..=count).collect();
        for runs in [
            runs(&elementary),
            Runs { ends: elementary.clone(), joined: true },
            Runs { ends: vec![count], joined: true },
        ] {
            if runs.ends == [0] {
                continue;
            }
            let to_slots = packed_to_slots(&slots, transform, &runs, &packing).unwrap();
            let beside = if runs.joined && count > 0 { 0 } else { 1 };
            assert!(to_slots.len() <= runs.ends.len() + beside, "{transform:?} m = {m}, p = {p}, {runs:?}");
            let packed = apply(&to_slots, &element);
            // Unpack by the definition, repack, and go back.
            let thin = packing.unpacking_grid(&slots).unwrap().apply(&[packed]).unwrap();
            let mut found: Vec<u64> = thin.iter().flat_map(|part| part.to_integers().unwrap()).collect();
            let mut wanted = coefficients.clone();
            found.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "{transform:?} m = {m}, p = {p}, {runs:?}");
            let repacked = packing.repacking_grid(&slots).unwrap().apply(&thin).unwrap().swap_remove(0);
            assert_eq!(
                apply(&packed_to_coefficients(&slots, transform, &runs).unwrap(), &repacked),
                element,
                "{transform:?} m = {m}, p = {p}, {runs:?}"
            );
        }
    }
}

/// n = 2^14: 4096 slots of degree 4 for 8191, 64 of degree 256 for 127, as sets of Ma et al. and of
/// Chen–Han have them.
#[test]
fn transforms_of_full_size() {
    for (p, stages) in [(8191, 12), (127, 6)] {
        let slots = evaluation_ring(1 << 15, p, 1).unwrap();
        assert_eq!(stage_count(1 << 15, p).unwrap(), stages);
        let ends: Vec<usize> = (1..=3).map(|i| i * stages / 3).collect();
        let values: Vec<u64> = (0..slots.slots() as u64).map(|i| (i * i * 7 + 3 * i + 1) % p).collect();
        let thin = Plaintext::from_integers(&slots, &values).unwrap();
        let mut images = Vec::new();
        let transforms: [(&dyn SlotTransform, usize); 2] = [(&Radix2, slots.degree() / 2), (&Bruun, slots.degree())];
        for (transform, step) in transforms {
            let image = apply(&thin_to_coefficients(&slots, transform, &ends).unwrap(), &thin);
            // What stands at the other monomials does not disturb.
            let places = |j: usize| j % step == 0 && j / step < slots.slots();
            let filled = image.coefficients().iter().enumerate().map(|(j, &x)| {
                assert!(places(j) || x == 0, "{transform:?}: X^{j}");
                if places(j) { x } else { (j as u64 * 5 + 2) % p }
            });
            let filled = Plaintext::new(&slots, filled.collect()).unwrap();
            let mut back = thin_to_slots(&slots, transform, &ends).unwrap();
            back.extend(trace_stages(&slots).unwrap());
            assert_eq!(apply(&back, &filled), thin, "{transform:?}, p = {p}");
            images.push(image.coefficients().iter().copied().step_by(step).take(slots.slots()).collect::<Vec<u64>>());
        }
        assert_eq!(images[0], images[1], "p = {p}");
    }
}

fn set(map: &SlotMap) -> BTreeSet<u64> {
    map.support().into_iter().collect()
}

/// Unpacking as a grid, at work: d parts by few keys and one decomposition, with as many constants
/// as there are different ones.
#[test]
fn unpacking_and_repacking_are_grids() {
    let cases: [(u64, u64, u32, &dyn SlotTransform, usize); 4] = [
        (105, 2, 2, &CompositeTensor, 12),
        (127, 2, 1, &CompositeTensor, 7),
        (64, 7, 2, &Radix2, 64),
        (47, 2, 1, &CompositeTensor, 23),
    ];
    for (m, p, r, transform, constants) in cases {
        let slots = evaluation_ring(m, p, r).unwrap();
        let (d, count) = (slots.degree(), slots.slots());
        let packing = transform.packing(&slots);
        let wanted: Vec<Vec<u64>> = (0..d)
            .map(|k| (0..count).map(|j| (31 * k + 7 * j * j + 1) as u64 % slots.modulus().value()).collect())
            .collect();
        let element = |basis: &[Vec<u64>]| {
            let mut all = Vec::new();
            for slot in 0..count {
                let galois = slots.galois();
                let scaled = |k: usize| galois.mul(&galois.constant(wanted[k][slot]), &basis[k]);
                all.extend((0..d).map(scaled).reduce(|a, b| slots.galois().add(&a, &b)).unwrap());
            }
            Plaintext::from_slots(&slots, &all).unwrap()
        };
        let apart = packing.unpacking_grid(&slots).unwrap();
        let plan = Packing::unpacking_plan(&apart, CostModel::default(), None).unwrap();
        let back = Packing::repacking_plan(&packing.repacking_grid(&slots).unwrap(), CostModel::default()).unwrap();
        let clear = Clear::with_keys(&slots, plan.required_keys());
        let (prepared, together) = (plan.prepare(&clear).unwrap(), back.prepare(&clear).unwrap());
        let packed = clear.encrypt(&element(packing.basis())).unwrap();
        let parts = plan.apply_grid(&prepared, &clear, &[packed]).unwrap();
        for (part, wanted) in parts.iter().zip(&wanted) {
            assert_eq!(&part.plaintext().to_integers().unwrap(), wanted, "m = {m}");
        }
        let counts = clear.counts();
        let giants = if d <= 12 { 1 } else { d.div_ceil(d.isqrt() + 1) };
        assert_eq!(
            (prepared.constants(), counts.hoists, counts.mod_downs),
            (constants, giants, d + giants - 1),
            "m = {m}"
        );
        assert!(counts.hoisted_automorphisms < d && counts.extended_automorphisms == 0, "m = {m}");
        assert!(plan.required_keys().len() < if d <= 12 { d } else { 2 * d.isqrt() + 2 }, "{}", plan.explain());
        let packed = back.apply_grid(&together, &clear, &parts).unwrap();
        let constant = |k: usize| back.grid().block(0, k).unwrap().constant(1).unwrap().to_slots()[..d].to_vec();
        let basis: Vec<Vec<u64>> = (0..d).map(constant).collect();
        assert_eq!(&packed[0].plaintext(), &element(&basis), "m = {m}");
        assert!(back.required_keys().is_empty());
    }
}
