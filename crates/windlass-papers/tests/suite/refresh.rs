//! Toy bootstrappings, refreshed on the mock and on ciphertexts: exact plaintexts.

use std::ops::Range;
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::bootstrap::{BootstrapPlan, BootstrapSpec, ClearBootstrapper, Mode, Refresh};
use windlass::rlwe::{Assurance, RlweParams, RlweSpec, SecretDistribution};
use windlass::schemes::Scheme;
use windlass::schemes::clear::Clear;
use windlass::{Content, Context, Evaluator, Params, Plaintext};

/// Without security: so many primes of 50 bits.
pub fn params(m: u64, primes: usize) -> RlweSpec {
    RlweSpec {
        m,
        q_prime_bits: vec![50; primes],
        spare_prime_bits: Vec::new(),
        special_prime_bits: vec![50; primes.div_ceil(3).max(3)],
        digits: 3,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    }
}

/// A plan without a context.
pub fn plan(rlwe: &RlweSpec, modulus: (u64, u32), spec: BootstrapSpec) -> windlass::Result<BootstrapPlan> {
    BootstrapPlan::new(&RlweParams::new(rlwe).unwrap(), modulus, spec)
}

/// Random contents: integers in thin mode, anything in packed mode.
fn message(plan: &BootstrapPlan, seed: u64) -> Plaintext {
    let slots = plan.message_ring();
    let (mut rng, modulus) = (ChaCha20Rng::seed_from_u64(seed), slots.modulus().value());
    let mut residues = |count: usize| -> Vec<u64> { (0..count).map(|_| rng.next_u64() % modulus).collect() };
    match plan.spec().mode {
        Mode::Thin => Plaintext::from_integers(slots, &residues(slots.slots())).unwrap(),
        Mode::Packed => Plaintext::from_slots(slots, &residues(slots.slots() * slots.degree())).unwrap(),
    }
}

/// Refreshes on the mock give the message back.
pub fn on_the_mock(plan: &Arc<BootstrapPlan>, seeds: Range<u64>) {
    let clear = Clear::new(plan.message_ring());
    for seed in seeds {
        let content = message(plan, seed);
        let bootstrapper = ClearBootstrapper::new(Arc::clone(plan), seed).unwrap();
        let image = bootstrapper.refresh(&clear.encrypt(&content).unwrap()).unwrap();
        assert_eq!(&image.plaintext(), &content, "seed {seed}\n{}", plan.explain());
    }
}

/// In both schemes: refreshes a ciphertext, squares the result and refreshes that.
pub fn on_ciphertexts(rlwe: &RlweSpec, modulus: (u64, u32), spec: &BootstrapSpec) {
    let params = Params::new("insecure_test", Scheme::Bgv, modulus, None, rlwe.clone()).unwrap();
    let context = Context::for_bootstrapping(params, spec.clone()).unwrap();
    let plan = context.bootstrapping().unwrap();
    for (seed, scheme) in [(1, Scheme::Bgv), (2, Scheme::Bfv)] {
        let case = format!("{scheme}, seed {seed}\n{}", plan.explain());
        let context = context.with_scheme(scheme).unwrap();
        let (client, server) = context.generate_keys_from_seed([&plan], seed).unwrap();
        let (engine, bootstrapper) = (server.engine(), server.bootstrapper(Content::Integers).unwrap());
        let content = message(&plan, seed);
        let fresh = client.encrypt_plaintext(&content).unwrap();
        let spent = engine.reduce_level(&fresh, plan.least_input_bits() + 20.0).unwrap();
        let again = bootstrapper.refresh(&spent).unwrap();
        assert_eq!(client.decrypt_plaintext(&again).unwrap(), content, "{case}");
        let (left, forecast) = (engine.capacity(&again), plan.output_bits());
        assert!(left > engine.capacity(&spent), "{left} bits left, {case}");
        assert!(left > forecast - 1.0 && left < forecast + 25.0, "{left} bits left, {case}");
        let square = engine.square(&again).unwrap();
        let low = engine.reduce_level(&square, plan.least_input_bits() + 20.0).unwrap();
        let image = client.decrypt_plaintext(&bootstrapper.refresh(&low).unwrap()).unwrap();
        assert_eq!(image, content.multiply(&content).unwrap(), "{case}");
    }
}
