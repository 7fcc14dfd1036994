//! Every strategy and key set on the mock at full size, against a plain matrix product on integers.

use std::sync::Arc;

use windlass::Plaintext;
use windlass::circuits::{HoistMode, LinearMap, PlanSpec, Strategy};
use windlass_ring::kernels::Isa;
use windlass_ring::slots::{Hypercube, SlotRing};
use windlass_rlwe::KeyStrategy;

use super::combinations::{allowed, key_set};
use super::common::*;

/// A ring of dimension about 2^14 with a dimension of 24 to 60 slots that is good or bad.
fn large(p: u64, r: u32, good: bool) -> (Arc<SlotRing>, usize) {
    let indices: &[(u64, &[u64])] = if good {
        &[(24295, &[16386, 16427]), (24295, &[]), (21845, &[])]
    } else {
        &[(24295, &[53, 42]), (24295, &[])]
    };
    for &(m, generators) in indices {
        let automatic = Hypercube::automatic(m, p).into_iter();
        let given = Hypercube::with_generators(m, p, generators).into_iter();
        let searched = (2..200).filter_map(|g| Hypercube::with_generators(m, p, &[g]).ok());
        for cube in given.chain(automatic).chain(searched) {
            let fits = |s: &windlass_ring::slots::Dimension| s.good == good && (24..=60).contains(&s.size);
            if let Some(dimension) = cube.dimensions().iter().position(fits) {
                return (Arc::new(SlotRing::with_hypercube(cube, r, Isa::best()).unwrap()), dimension);
            }
        }
    }
    panic!("no such dimension for p = {p}");
}

#[test]
fn every_combination_at_full_size() {
    for (p, r, good) in [(2, 1, true), (2, 1, false), (2, 3, true), (3, 2, true), (17, 1, false), (127, 3, true)] {
        let (ring, s) = large(p, r, good);
        let (size, modulus) = (ring.hypercube().dimensions()[s].size, ring.modulus());
        let entry = |c: usize, i: usize, k: usize| number(((c * 1009 + i) * 1009 + k) as u64) % modulus.value();
        let map = LinearMap::matmul_1d(&ring, s, entry).unwrap();
        let x: Vec<u64> = (0..ring.slots() as u64).map(|i| number(i + 5) % modulus.value()).collect();
        let mut y = vec![0; x.len()];
        for (c, line) in lines(&ring, s).iter().enumerate() {
            for (i, &row) in line.iter().enumerate() {
                let terms = line.iter().enumerate().map(|(k, &column)| modulus.mul(entry(c, i, k), x[column]));
                y[row] = terms.fold(0, |sum, term| modulus.add(sum, term));
            }
        }
        let [input, expected] = [x, y].map(|values| Plaintext::from_integers(&ring, &values).unwrap());
        for keys in [KeyStrategy::Full, KeyStrategy::BabyGiant, KeyStrategy::Minimal] {
            let given = Some(key_set(&ring, keys));
            // Iteration takes D steps one after the other: it is measured at full size.
            for strategy in allowed(keys, good, size).into_iter().filter(|s| *s != Strategy::ITERATION) {
                let hoisting = if keys == KeyStrategy::BabyGiant { HoistMode::Single } else { HoistMode::Double };
                let spec = PlanSpec { strategy, keys: given.clone(), hoisting, ..PlanSpec::default() };
                check_plan(&map, &spec, &input, &expected);
            }
        }
    }
}
