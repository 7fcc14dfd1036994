//! The same on BGV and BFV ciphertexts, at small sizes.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::circuits::{ConstantForm, HoistMode, LinearGrid, LinearMap, LinearPlan, PlanSpec, Strategy};
use windlass::schemes::{Ciphertext, Decryptor, Encryptor, Engine, Scheme};
use windlass::{Error, Plaintext};
use windlass_ring::slots::SlotRing;
use windlass_rlwe::{
    Assurance, Context, EvaluationKeys, KeyStrategy, PublicKey, RlweParams, RlweSpec, SecretDistribution, SecretKey,
};

use super::combinations::{allowed, key_set};
use super::common::*;

/// A client and the contexts of one ring.
struct Party {
    slots: Arc<SlotRing>,
    scheme: Scheme,
    secret: Arc<SecretKey>,
    encryptor: Encryptor,
    rng: ChaCha20Rng,
}

impl Party {
    fn new(slots: &Arc<SlotRing>, scheme: Scheme) -> Self {
        let params = RlweParams::new(&RlweSpec {
            m: slots.m(),
            q_prime_bits: vec![45; 5],
            special_prime_bits: vec![50; 2],
            digits: 3,
            secret: SecretDistribution::Ternary,
            assurance: Assurance::Insecure { name: "insecure_test".into() },
        })
        .unwrap();
        let mut rng = ChaCha20Rng::from_seed([9; 32]);
        let secret = Arc::new(SecretKey::generate(&Context::new(params).unwrap(), &mut rng));
        let encryptor = Encryptor::new(scheme, Arc::new(PublicKey::generate(&secret, &mut rng)));
        Self { slots: Arc::clone(slots), scheme, secret, encryptor, rng }
    }

    fn engine(&mut self, elements: &BTreeSet<u64>) -> Engine {
        let context = Arc::clone(self.secret.context());
        let mut keys = EvaluationKeys::empty(&context);
        keys.add_relinearisation(&self.secret, context.top_level(), &mut self.rng).unwrap();
        for &t in elements {
            keys.add_galois(&self.secret, t, context.top_level(), &mut self.rng).unwrap();
        }
        Engine::new(self.scheme, &self.slots, Arc::new(keys)).unwrap()
    }

    fn encrypt(&mut self, plaintext: &Plaintext) -> Ciphertext {
        self.encryptor.encrypt(plaintext, &mut self.rng).unwrap()
    }

    fn decrypt(&self, ciphertext: &Ciphertext) -> Plaintext {
        Decryptor::new(self.scheme, &self.slots, Arc::clone(&self.secret)).decrypt(ciphertext).unwrap()
    }
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
            let mut party = Party::new(&ring, scheme(r as u64));
            let input = party.encrypt(&Plaintext::from_slots(&ring, &slots).unwrap());
            for keys in [KeyStrategy::Full, KeyStrategy::BabyGiant, KeyStrategy::Minimal] {
                let given = key_set(&ring, keys);
                let engine = party.engine(&given);
                for (index, strategy) in allowed(keys, good, size).into_iter().enumerate() {
                    let hoisting = [HoistMode::Double, HoistMode::Single, HoistMode::Off][index % 3];
                    for hoisting in [HoistMode::Double, hoisting] {
                        let spec = PlanSpec { strategy, hoisting, keys: Some(given.clone()), ..PlanSpec::default() };
                        let plan = LinearPlan::new(&map, &spec).unwrap();
                        let output = plan.apply_once(&engine, &input).unwrap();
                        assert!(party.decrypt(&output) == expected, "p = {p}, r = {r}: {}", plan.explain());
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
    let mut party = Party::new(&ring, Scheme::Bgv);
    let plaintext = Plaintext::from_slots(&ring, &random_slots(&ring, 1)).unwrap();
    let input = party.encrypt(&plaintext);
    for strategy in Strategy::candidates() {
        let plan = LinearPlan::new(&map, &PlanSpec::with_strategy(strategy)).unwrap();
        let required = plan.required_keys();
        let engine = party.engine(&required);
        assert_eq!(party.decrypt(&plan.apply_once(&engine, &input).unwrap()), map.apply(&plaintext).unwrap());
        for left_out in &required {
            let fewer: BTreeSet<u64> = required.iter().copied().filter(|t| t != left_out).collect();
            let refused = plan.apply_once(&party.engine(&fewer), &input);
            assert!(matches!(refused, Err(Error::MissingGaloisKey { element, .. }) if element == *left_out));
        }
    }
}

#[test]
fn blocks_grids_doubling_and_packed_constants() {
    for p in [2, 3, 17] {
        let (ring, dimension) = smallest(p, 2, p != 3);
        let mut party = Party::new(&ring, scheme(p));
        let plaintexts: Vec<Plaintext> =
            (0..2).map(|seed| Plaintext::from_slots(&ring, &random_slots(&ring, seed)).unwrap()).collect();
        let inputs: Vec<Ciphertext> = plaintexts.iter().map(|x| party.encrypt(x)).collect();
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
                let engine = party.engine(&plan.required_keys());
                let outputs = plan.apply_grid(&plan.prepare(&engine).unwrap(), &engine, &inputs).unwrap();
                assert_eq!(outputs.iter().map(|y| party.decrypt(y)).collect::<Vec<_>>(), expected);
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
            let engine = party.engine(&plan.required_keys());
            let output = plan.apply_once(&engine, &inputs[0]).unwrap();
            assert_eq!(party.decrypt(&output), trace.apply(&plaintexts[0]).unwrap());
        }
    }
}

#[test]
fn encrypted_matrices_times_encrypted_vectors() {
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let ring = ring(31, 2, 2);
        let l = ring.slots();
        let matrix: Vec<Vec<u64>> = (0..l).map(|i| (0..l).map(|k| number((i * l + k) as u64) % 4).collect()).collect();
        let secret = LinearGrid::from_dense(&ring, &matrix).unwrap();
        let pattern = LinearGrid::from_dense(&ring, &vec![vec![1; l]; l]).unwrap();
        let x = Plaintext::from_integers(&ring, &(0..l as u64).map(|k| k % 4).collect::<Vec<_>>()).unwrap();
        let mut party = Party::new(&ring, scheme);
        let plan = LinearPlan::for_grid(&pattern, &PlanSpec::default()).unwrap();
        let engine = party.engine(&plan.required_keys());
        let encrypted = plan.encrypt_matrix::<Engine>(&secret, |constant| Ok(party.encrypt(constant))).unwrap();
        let input = party.encrypt(&x);
        let output = plan.apply_encrypted(&encrypted, &engine, &[input]).unwrap();
        assert_eq!(party.decrypt(&output[0]), secret.apply(std::slice::from_ref(&x)).unwrap()[0]);
    }
}
