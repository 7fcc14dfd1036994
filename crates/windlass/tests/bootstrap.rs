//! Bootstrapping at toy sizes, on the mock and encrypted, over several seeds: exact plaintexts.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::bootstrap::{
    BootstrapKeys, BootstrapPlan, BootstrapSpec, Bootstrapper, ClearBootstrapper, Mode, Refresh,
};
use windlass::rlwe::{Assurance, Context, EvaluationKeys, RlweParams, RlweSpec, SecretDistribution, SecretKey};
use windlass::schemes::clear::Clear;
use windlass::schemes::{Decryptor, Engine, Scheme};
use windlass::{Evaluator, Plaintext};

fn params(m: u64, primes: usize) -> RlweParams {
    RlweParams::new(&RlweSpec {
        m,
        q_prime_bits: vec![50; primes],
        special_prime_bits: vec![50; primes.div_ceil(3).max(3)],
        digits: 3,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    })
    .unwrap()
}

/// (m, p, r, primes, weight)
const SETS: [(u64, u64, u32, usize, u32); 6] = [
    (105, 2, 1, 14, 6),
    (1023, 2, 1, 16, 8),
    (64, 257, 1, 14, 6),
    (64, 7, 1, 16, 6),
    (45, 2, 2, 16, 4),
    (128, 193, 1, 14, 6),
];

/// Random contents: integers in thin mode, anything in packed mode.
fn message(plan: &BootstrapPlan, rng: &mut ChaCha20Rng) -> Plaintext {
    let slots = plan.message_ring();
    let modulus = slots.quotient().modulus().value();
    match plan.spec().mode {
        Mode::Thin => {
            let values: Vec<u64> = (0..slots.slots()).map(|_| rng.next_u64() % modulus).collect();
            Plaintext::from_integers(slots, &values).unwrap()
        }
        Mode::Packed => {
            let values: Vec<u64> = (0..slots.slots() * slots.degree()).map(|_| rng.next_u64() % modulus).collect();
            Plaintext::from_slots(slots, &values).unwrap()
        }
    }
}

#[test]
fn on_the_mock() {
    for ((m, p, r, primes, weight), mode) in SETS.iter().flat_map(|&set| [(set, Mode::Thin), (set, Mode::Packed)]) {
        let spec = BootstrapSpec { mode, ephemeral_weight: weight, ..BootstrapSpec::default() };
        let plan = Arc::new(BootstrapPlan::new(&params(m, primes), (p, r), spec).unwrap());
        let clear = Clear::new(plan.message_ring());
        for seed in 0..3u64 {
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let thin = message(&plan, &mut rng);
            let bootstrapper = ClearBootstrapper::new(Arc::clone(&plan), seed).unwrap();
            let image = bootstrapper.refresh(&clear.encrypt(&thin).unwrap()).unwrap();
            assert_eq!(image.plaintext(), &thin, "{mode:?} m = {m}, p = {p}, seed {seed}\n{}", plan.explain());
        }
    }
}

#[test]
fn thin_on_ciphertexts() {
    on_ciphertexts(Mode::Thin);
}

#[test]
fn packed_on_ciphertexts() {
    on_ciphertexts(Mode::Packed);
}

fn on_ciphertexts(mode: Mode) {
    for (m, p, r, primes, weight) in SETS {
        let rlwe = params(m, primes);
        let spec = BootstrapSpec { mode, ephemeral_weight: weight, ..BootstrapSpec::default() };
        let plan = Arc::new(BootstrapPlan::new(&rlwe, (p, r), spec).unwrap());
        let context = Context::new(rlwe).unwrap();
        for (seed, scheme) in [(1u64, Scheme::Bgv), (2, Scheme::Bfv)] {
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let secret = Arc::new(SecretKey::generate(&context, &mut rng));
            let mut keys = EvaluationKeys::empty(&context);
            plan.add_keys(&mut keys, &secret, &mut rng).unwrap();
            let keys = Arc::new(keys);
            let own = BootstrapKeys::generate(&plan, scheme, &secret, &mut rng).unwrap();
            let bootstrapper = Bootstrapper::new(Arc::clone(&plan), scheme, &keys, own).unwrap();
            let engine = Engine::new(scheme, plan.message_ring(), Arc::clone(&keys)).unwrap();
            let decryptor = Decryptor::new(scheme, plan.message_ring(), Arc::clone(&secret));
            let thin = message(&plan, &mut rng);
            let (fresh, _) = decryptor.encrypt(&thin, context.top_level(), &mut rng).unwrap();
            // Spend nearly everything.
            let spent = engine.reduce_level(&fresh, plan.least_input_bits() + 20.0).unwrap();
            let again = bootstrapper.refresh(&spent).unwrap();
            assert_eq!(decryptor.decrypt(&again).unwrap(), thin, "{scheme} m = {m}, p = {p}\n{}", plan.explain());
            let (left, forecast) = (engine.capacity(&again), plan.output_bits());
            assert!(left > engine.capacity(&spent), "{left} bits left\n{}", plan.explain());
            assert!(left > forecast - 5.0 && left < forecast + 80.0, "{left} bits left, {forecast} forecast");
            // And once more, from the refreshed one.
            let low = engine.reduce_level(&engine.square(&again).unwrap(), plan.least_input_bits() + 20.0).unwrap();
            let image = decryptor.decrypt(&bootstrapper.refresh(&low).unwrap()).unwrap();
            assert_eq!(image, thin.multiply(&thin).unwrap(), "{scheme} m = {m}, p = {p}");
        }
    }
}
