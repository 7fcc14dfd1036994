//! Bootstrapping at toy sizes, on the mock and encrypted, over several seeds: exact plaintexts.

mod batches;
mod bruun;
mod circuits;
mod content;
mod digits;
mod factors;
mod failure;
mod indices;
mod input;
mod keys;
mod merged;
mod one_slot;
mod packed;
mod refusals;
mod spare_primes;
mod table;
pub mod through_ckks;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::bootstrap::{
    BootstrapError, BootstrapKeys, BootstrapPlan, BootstrapSpec, Bootstrapper, ClearBootstrapper, Encapsulation, Mode,
    Partition, Progress, Refresh, RefreshOptions, Transform,
};
use windlass::rlwe::{EvaluationKeys, RlweParams, RlweSpec};
use windlass::schemes::clear::Clear;
use windlass::schemes::{Ciphertext, Scheme};
use windlass::{Client, Content, Context, Error, Evaluator, Params, Plaintext, Server};

use crate::fixture::{self, random};
use failure::check_events;

fn params(m: u64, primes: usize) -> RlweSpec {
    chain(m, vec![50; primes])
}

fn chain(m: u64, q_prime_bits: Vec<u32>) -> RlweSpec {
    let special = q_prime_bits.len().div_ceil(3).max(3);
    fixture::chain(m, &q_prime_bits, &vec![50; special])
}

/// A plan without a context.
fn plan(rlwe: RlweSpec, modulus: (u64, u32), spec: BootstrapSpec) -> windlass::Result<BootstrapPlan> {
    BootstrapPlan::new(&RlweParams::new(&rlwe).unwrap(), modulus, spec)
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
fn message(plan: &BootstrapPlan, seed: u64) -> Plaintext {
    let content = if plan.spec().mode == Mode::Thin { Content::Integers } else { Content::Elements };
    random(plan.message_ring(), content, seed)
}

#[test]
fn on_the_mock() {
    for ((m, p, r, primes, weight), mode) in SETS.iter().flat_map(|&set| [(set, Mode::Thin), (set, Mode::Packed)]) {
        let spec = BootstrapSpec { mode, ephemeral_weight: weight, ..BootstrapSpec::default() };
        let plan = Arc::new(plan(params(m, primes), (p, r), spec).unwrap());
        on_the_mock_with(&plan, 0..3);
    }
}

fn on_the_mock_with(plan: &Arc<BootstrapPlan>, seeds: Range<u64>) {
    let clear = Clear::new(plan.message_ring());
    for seed in seeds {
        let content = message(plan, seed);
        let bootstrapper = ClearBootstrapper::new(Arc::clone(plan), seed).unwrap();
        let image = bootstrapper.refresh(&clear.encrypt(&content).unwrap()).unwrap();
        assert_eq!(&image.plaintext(), &content, "seed {seed}\n{}", plan.explain());
    }
}

#[test]
fn searched_partitions_on_the_mock() {
    for (mode, (m, p)) in [(Mode::Thin, (256, 257)), (Mode::Packed, (64, 7)), (Mode::Thin, (1023, 2))] {
        let plan = |partition| {
            let spec = BootstrapSpec { mode, partition, ephemeral_weight: 6, ..BootstrapSpec::default() };
            Arc::new(plan(params(m, 18), (p, 1), spec).unwrap())
        };
        let [capacity, time] = [Partition::MostCapacity, Partition::LeastTime].map(plan);
        for plan in [&capacity, &time] {
            let thin = message(plan, 1);
            let image = ClearBootstrapper::new(Arc::clone(plan), 1).unwrap();
            let image = image.refresh(&Clear::new(plan.message_ring()).encrypt(&thin).unwrap()).unwrap();
            assert_eq!(&image.plaintext(), &thin, "{}", plan.explain());
        }
        assert!(capacity.stages().len() <= time.stages().len());
        assert!(capacity.output_bits() >= time.output_bits() - 1.0, "{}\n{}", capacity.explain(), time.explain());
    }
    assert_eq!("least-time".parse::<Partition>().unwrap(), Partition::LeastTime);
    assert!(["standard", "three"].iter().all(|name| name.parse::<Partition>().unwrap() == Partition::Standard));
    assert!("fastest".parse::<Partition>().is_err());
}

#[test]
fn thin_on_ciphertexts() {
    on_ciphertexts(&SETS, Mode::Thin);
    on_ciphertexts(&[(4369, 2, 1, 16, 12)], Mode::Thin);
}

#[test]
fn packed_on_ciphertexts() {
    on_ciphertexts(&SETS, Mode::Packed);
}

#[test]
fn packed_on_ciphertexts_of_256_slots() {
    on_ciphertexts(&[(4369, 2, 1, 16, 12)], Mode::Packed);
}

/// Two first primes that fit a word together: the front end reads both.
#[test]
fn an_input_modulus_of_two_small_primes() {
    let mut primes = vec![50; 15];
    primes[..2].fill(25);
    let spec = BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() };
    with_parameters(chain(128, primes), (193, 1), spec);
}

/// The switch to the ephemeral key in digits, without special primes: the bounds hold, the key has a
/// smaller modulus, and what a ciphertext needs grows by two bits at most.
#[test]
fn an_ephemeral_key_without_special_primes() {
    let mut narrow = vec![50; 16];
    narrow[..2].fill(30);
    let rings = [(params(105, 14), (2, 1)), (params(128, 14), (193, 1)), (chain(64, narrow), (7, 1))];
    for (mode, (rlwe, modulus)) in
        [Mode::Thin, Mode::Packed].iter().flat_map(|mode| rings.iter().map(move |r| (*mode, r)))
    {
        let spec =
            |encapsulation| BootstrapSpec { mode, encapsulation, ephemeral_weight: 6, ..BootstrapSpec::default() };
        let plan = |encapsulation| plan(rlwe.clone(), *modulus, spec(encapsulation)).unwrap();
        let [special, digits] = [Encapsulation::SpecialPrimes, Encapsulation::Digits].map(plan);
        assert!(digits.explain().contains("digits of base"), "{}", digits.explain());
        assert!(digits.ephemeral_security_bits() > special.ephemeral_security_bits(), "{}", digits.explain());
        assert!(digits.least_input_bits() <= special.least_input_bits() + 2.0, "{}", digits.explain());
        with_parameters(rlwe.clone(), *modulus, spec(Encapsulation::Digits));
    }
}

fn on_ciphertexts(sets: &[(u64, u64, u32, usize, u32)], mode: Mode) {
    for &(m, p, r, primes, weight) in sets {
        let spec = BootstrapSpec { mode, ephemeral_weight: weight, ..BootstrapSpec::default() };
        with_parameters(params(m, primes), (p, r), spec);
    }
}

/// Both schemes, over two seeds each where the ring is small.
fn with_parameters(rlwe: RlweSpec, modulus: (u64, u32), spec: BootstrapSpec) {
    let mut toy = toy_with(rlwe, modulus, spec);
    let seeds = if toy.plan.params().n() <= 64 { 2 } else { 1 };
    for seed in 1..=seeds {
        for (seed, scheme) in [(2 * seed - 1, Scheme::Bgv), (2 * seed, Scheme::Bfv)] {
            toy.context = toy.context.with_scheme(scheme).unwrap();
            twice(&toy, seed);
        }
    }
}

/// Refreshes a ciphertext, squares the result and refreshes that.
fn twice(toy: &Toy, seed: u64) {
    let plan = &toy.plan;
    let case = format!("{}, seed {seed}\n{}", toy.context.scheme(), plan.explain());
    let (client, server) = toy.parties(seed);
    let bootstrapper = bootstrapper(&server);
    let engine = server.engine();
    let content = message(plan, seed);
    let fresh = client.encrypt_plaintext(&content).unwrap();
    // Spend nearly everything.
    let spent = engine.reduce_level(&fresh, plan.least_input_bits() + 20.0).unwrap();
    let again = bootstrapper.refresh(&spent).unwrap();
    assert_eq!(client.decrypt_plaintext(&again).unwrap(), content, "{case}");
    check_events(bootstrapper, plan, &case);
    let (left, forecast) = (engine.capacity(&again), plan.output_bits());
    assert!(left > engine.capacity(&spent), "{left} bits left, {case}");
    // Both are the same for every seed: sums of bounds. Over all sets of these tests what is left
    // is 0 to 20 bits above the forecast.
    assert!(left > forecast - 1.0 && left < forecast + 25.0, "{left} bits left, {case}");
    // And once more, from the refreshed one.
    let low = engine.reduce_level(&engine.square(&again).unwrap(), plan.least_input_bits() + 20.0).unwrap();
    let image = client.decrypt_plaintext(&bootstrapper.refresh(&low).unwrap()).unwrap();
    assert_eq!(image, content.multiply(&content).unwrap(), "{case}");
}

/// A context with its plan.
struct Toy {
    plan: Arc<BootstrapPlan>,
    context: Context,
}

fn toy_with(rlwe: RlweSpec, modulus: (u64, u32), spec: BootstrapSpec) -> Toy {
    let params = Params::new("insecure_test", Scheme::Bgv, modulus, None, rlwe).unwrap();
    let context = Context::for_bootstrapping(params, spec).unwrap();
    Toy { plan: context.bootstrapping().unwrap(), context }
}

/// Thin, m = 105, p = 2.
fn toy() -> Toy {
    let spec = BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() };
    toy_with(params(105, 14), (2, 1), spec)
}

impl Toy {
    fn with_scheme(self, scheme: Scheme) -> Self {
        Self { context: self.context.with_scheme(scheme).unwrap(), ..self }
    }

    fn parties(&self, seed: u64) -> (Client, Server) {
        self.context.generate_keys_from_seed([&self.plan], seed).unwrap()
    }
}

fn bootstrapper(server: &Server) -> &Bootstrapper {
    server.bootstrapper(Content::Integers).unwrap()
}

/// A ciphertext at a low level.
fn encrypt_at(client: &Client, plaintext: &Plaintext, level: usize) -> Ciphertext {
    let mut rng = ChaCha20Rng::seed_from_u64(level as u64);
    client.decryptor().encrypt(plaintext, level, &mut rng).unwrap().0
}

#[test]
fn progress_names_every_stage_and_can_stop() {
    let toy = toy().with_scheme(Scheme::Bfv);
    let (plan, (client, server)) = (&toy.plan, toy.parties(10));
    let thin = message(plan, 10);
    let ct = encrypt_at(&client, &thin, 4);
    let mut seen: Vec<Progress> = Vec::new();
    let image = server.refresh_one(
        &ct,
        RefreshOptions::new().observed_by(|progress| {
            seen.push(progress.clone());
            ControlFlow::Continue(())
        }),
    );
    let names: Vec<&str> = seen.iter().map(|progress| &progress.stage[..]).collect();
    let mut wanted: Vec<String> = plan.stages().iter().map(|stage| stage.name.to_string()).collect();
    wanted.push(String::new());
    assert_eq!(names, wanted);
    assert!(wanted.iter().all(|name| plan.explain().contains(name)));
    let stopped = server.refresh_one(
        &ct,
        RefreshOptions::new().observed_by(|progress| {
            if progress.number == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }),
    );
    let stage = plan.stages()[2].name.to_string();
    assert_eq!(stopped.err(), Some(Error::Bootstrap(BootstrapError::Cancelled { stage })));
    // The same bits on three threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let again = pool.install(|| server.refresh(&ct)).unwrap();
    assert_eq!(image.unwrap().parts(), again.parts());
    assert_eq!(client.decrypt_plaintext(&again).unwrap(), thin);
}
