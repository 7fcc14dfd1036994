//! The same on BGV and BFV ciphertexts, at small sizes.

use windlass::circuits::{ConstantForm, HoistMode, LinearGrid, LinearMap, LinearPlan, PlanSpec, Strategy};
use windlass::needs::Products;
use windlass::schemes::{Ciphertext, Engine, Scheme};
use windlass::{Client, Error, Plaintext};
use windlass_ring::slots::SlotRing;
use windlass_rlwe::KeyStrategy;

use super::combinations::{allowed, key_set};
use super::common::*;
use crate::fixture::{SCHEMES, chain, context_over, keys};

pub fn client(ring: &SlotRing, scheme: Scheme) -> Client {
    let context = context_over(ring, scheme, chain(ring.m(), &[45; 5], &[50; 2]));
    context.generate_keys_from_seed([], 9).unwrap().0
}

pub fn encrypt(client: &Client, plaintext: &Plaintext) -> Ciphertext {
    client.encrypt_plaintext(plaintext).unwrap()
}

pub fn decrypt(client: &Client, ciphertext: &Ciphertext) -> Plaintext {
    client.decrypt_plaintext(ciphertext).unwrap()
}

fn scheme(choice: u64) -> Scheme {
    if choice % 2 == 0 { Scheme::Bgv } else { Scheme::Bfv }
}

#[test]
fn every_combination_on_ciphertexts() {
    for p in [2, 3, 17, 127] {
        for (r, good) in [1, 2, 3].into_iter().flat_map(|r| [(r, true), (r, false)]) {
            let (ring, dimension) = smallest(p, r, good);
            let size = ring.hypercube().dimensions()[dimension].size;
            let map = LinearMap::matmul_1d_extension(&ring, dimension, |c, i, k, out| entry(&ring, 4, (c, i, k), out))
                .unwrap();
            let slots = random_slots(&ring, 4);
            let expected = Plaintext::from_slots(&ring, &matrix_product(&ring, dimension, 4, &slots)).unwrap();
            let client = client(&ring, scheme(r as u64));
            let input = encrypt(&client, &Plaintext::from_slots(&ring, &slots).unwrap());
            for set in [KeyStrategy::Full, KeyStrategy::BabyGiant, KeyStrategy::Minimal] {
                let given = key_set(&ring, set);
                let server = client.generate_server([&keys(given.iter().copied())]).unwrap();
                let mut events = server.engine().random_events();
                for (index, strategy) in allowed(set, good, size).into_iter().enumerate() {
                    let hoisting = [HoistMode::Double, HoistMode::Single, HoistMode::Off][index % 3];
                    for hoisting in [HoistMode::Double, hoisting] {
                        let spec = PlanSpec { strategy, hoisting, keys: Some(given.clone()), ..PlanSpec::default() };
                        let plan = LinearPlan::new(&map, &spec).unwrap();
                        let output = plan.apply_once(server.engine(), &input).unwrap();
                        assert!(decrypt(&client, &output) == expected, "p = {p}, r = {r}: {}", plan.explain());
                        // Its bound rests on the random events that the plan counts.
                        events = events + plan.count().random_events();
                        assert_eq!(server.engine().random_events(), events, "{}", plan.explain());
                    }
                }
            }
        }
    }
}

#[test]
fn required_keys_are_exact_on_ciphertexts() {
    let (ring, dimension) = smallest(2, 1, false);
    let map = LinearMap::matmul_1d(&ring, dimension, |c, i, k| number((c * 100 + i * 10 + k) as u64)).unwrap();
    let client = client(&ring, Scheme::Bgv);
    let plaintext = Plaintext::from_slots(&ring, &random_slots(&ring, 1)).unwrap();
    let input = encrypt(&client, &plaintext);
    for strategy in Strategy::candidates() {
        let plan = LinearPlan::new(&map, &PlanSpec::with_strategy(strategy)).unwrap();
        let required = plan.required_keys();
        let server = client.generate_server([&plan]).unwrap();
        assert_eq!(
            decrypt(&client, &plan.apply_once(server.engine(), &input).unwrap()),
            map.apply(&plaintext).unwrap()
        );
        for left_out in &required {
            let fewer = keys(required.iter().copied().filter(|t| t != left_out));
            let refused = plan.apply_once(client.generate_server([&fewer]).unwrap().engine(), &input);
            assert!(matches!(refused, Err(Error::MissingGaloisKey { element, .. }) if element == *left_out));
        }
    }
}

#[test]
fn blocks_grids_doubling_and_packed_constants() {
    for p in [2, 3, 17] {
        let (ring, dimension) = smallest(p, 2, p != 3);
        let client = client(&ring, scheme(p));
        let plaintexts: Vec<Plaintext> =
            (0..2).map(|seed| Plaintext::from_slots(&ring, &random_slots(&ring, seed)).unwrap()).collect();
        let inputs: Vec<Ciphertext> = plaintexts.iter().map(|x| encrypt(&client, x)).collect();
        let block =
            LinearMap::block_matmul_1d(&ring, dimension, |c, i, k, out| entry(&ring, 6, (c, i, k), out)).unwrap();
        let mut grid = LinearGrid::zero(&ring, 2, 2).unwrap();
        grid.set(0, 0, block).unwrap();
        grid.set(0, 1, LinearMap::trace(&ring).unwrap()).unwrap();
        grid.set(1, 1, LinearMap::rotation(&ring, dimension, 1).unwrap()).unwrap();
        let expected = grid.apply(&plaintexts).unwrap();
        for constants in [ConstantForm::Evaluation, ConstantForm::Coefficients] {
            for strategy in [Strategy::AUTOMATIC, Strategy::BLOCK] {
                let plan =
                    LinearPlan::for_grid(&grid, &PlanSpec { strategy, constants, ..PlanSpec::default() }).unwrap();
                let server = client.generate_server([&plan]).unwrap();
                let prepared = plan.prepare(server.engine()).unwrap();
                let outputs = plan.apply_grid(&prepared, server.engine(), &inputs).unwrap();
                assert_eq!(outputs.iter().map(|y| decrypt(&client, y)).collect::<Vec<_>>(), expected);
            }
        }
        let trace = LinearMap::trace(&ring).unwrap();
        for hoisting in [HoistMode::Double, HoistMode::Off] {
            let spec = PlanSpec { strategy: Strategy::DOUBLING, hoisting, ..PlanSpec::default() };
            // Where the slots are integers the trace is the identity.
            let Ok(plan) = LinearPlan::new(&trace, &spec) else {
                assert_eq!(ring.degree(), 1);
                continue;
            };
            let server = client.generate_server([&plan]).unwrap();
            let output = server.apply(&plan, &inputs[0]).unwrap();
            assert_eq!(decrypt(&client, &output), trace.apply(&plaintexts[0]).unwrap());
        }
    }
}

#[test]
fn traces_by_doubling_with_keys_for_baby_and_giant_steps() {
    let ring = ring(47, 2, 2);
    let trace = LinearMap::trace(&ring).unwrap();
    let given = KeyStrategy::BabyGiant.elements(2, ring.degree() as u64, true, ring.m());
    let plaintext = Plaintext::from_slots(&ring, &random_slots(&ring, 2)).unwrap();
    for scheme in SCHEMES {
        let client = client(&ring, scheme);
        let server = client.generate_server([&keys(given.iter().copied())]).unwrap();
        for hoisting in [HoistMode::Double, HoistMode::Single, HoistMode::Off] {
            let spec =
                PlanSpec { strategy: Strategy::DOUBLING, hoisting, keys: Some(given.clone()), ..PlanSpec::default() };
            let plan = LinearPlan::new(&trace, &spec).unwrap();
            let output = server.apply(&plan, &encrypt(&client, &plaintext)).unwrap();
            assert_eq!(decrypt(&client, &output), trace.apply(&plaintext).unwrap(), "{scheme} {hoisting:?}");
        }
    }
}

#[test]
fn encrypted_matrices_times_encrypted_vectors() {
    for scheme in SCHEMES {
        let ring = ring(31, 2, 2);
        let l = ring.slots();
        let matrix: Vec<Vec<u64>> = (0..l).map(|i| (0..l).map(|k| number((i * l + k) as u64) % 4).collect()).collect();
        let secret = LinearGrid::from_dense(&ring, &matrix).unwrap();
        let pattern = LinearGrid::from_dense(&ring, &vec![vec![1; l]; l]).unwrap();
        let x = Plaintext::from_integers(&ring, &(0..l as u64).map(|k| k % 4).collect::<Vec<_>>()).unwrap();
        let client = client(&ring, scheme);
        let plan = LinearPlan::for_grid(&pattern, &PlanSpec::default()).unwrap();
        let server = client.generate_server([&plan, &Products]).unwrap();
        let encrypted = plan.encrypt_matrix::<Engine>(&secret, |constant| Ok(encrypt(&client, constant))).unwrap();
        let input = encrypt(&client, &x);
        let output = plan.apply_encrypted(&encrypted, server.engine(), &[input]).unwrap();
        assert_eq!(decrypt(&client, &output[0]), secret.apply(std::slice::from_ref(&x)).unwrap()[0]);
    }
}
