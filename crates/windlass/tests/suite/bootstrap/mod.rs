//! Bootstrapping at toy sizes, on the mock and encrypted, over several seeds: exact plaintexts.

mod bruun;
mod circuits;
mod content;
mod digits;
mod input;
mod one_slot;
mod packed;
mod refusals;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::bootstrap::{
    BootstrapError, BootstrapKeys, BootstrapPlan, BootstrapSpec, Bootstrapper, ClearBootstrapper, FrontEnd, Mode,
    Partition, Progress, Refresh, Transform,
};
use windlass::rlwe::{Assurance, Context, EvaluationKeys, RlweParams, RlweSpec, SecretDistribution, SecretKey};
use windlass::schemes::clear::Clear;
use windlass::schemes::{Ciphertext, Decryptor, Engine, Scheme};
use windlass::{Content, Error, Evaluator, Plaintext};

fn params(m: u64, primes: usize) -> RlweParams {
    chain(m, vec![50; primes])
}

fn chain(m: u64, q_prime_bits: Vec<u32>) -> RlweParams {
    let primes = q_prime_bits.len();
    RlweParams::new(&RlweSpec {
        m,
        q_prime_bits,
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
    let modulus = slots.modulus().value();
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
        on_the_mock_with(&plan, 0..3);
    }
}

fn on_the_mock_with(plan: &Arc<BootstrapPlan>, seeds: Range<u64>) {
    let clear = Clear::new(plan.message_ring());
    for seed in seeds {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let content = message(plan, &mut rng);
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
            Arc::new(BootstrapPlan::new(&params(m, 18), (p, 1), spec).unwrap())
        };
        let [capacity, time] = [Partition::MostCapacity, Partition::LeastTime].map(plan);
        for plan in [&capacity, &time] {
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let thin = message(plan, &mut rng);
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
    on_ciphertexts(&SETS, Mode::Thin, FrontEnd::PrimePower);
    on_ciphertexts(&[(4369, 2, 1, 16, 12)], Mode::Thin, FrontEnd::PrimePower);
}

#[test]
fn packed_on_ciphertexts() {
    on_ciphertexts(&SETS, Mode::Packed, FrontEnd::PrimePower);
}

#[test]
fn packed_on_ciphertexts_of_256_slots() {
    on_ciphertexts(&[(4369, 2, 1, 16, 12)], Mode::Packed, FrontEnd::PrimePower);
}

#[test]
fn the_formula_of_2015_on_ciphertexts() {
    on_ciphertexts(&SETS, Mode::Thin, FrontEnd::NearPrimePower);
}

#[test]
fn the_formula_of_2015_packed() {
    let sets = [SETS[0], SETS[1], SETS[2], SETS[3], SETS[4]];
    on_ciphertexts(&sets, Mode::Packed, FrontEnd::NearPrimePower);
}

/// Two first primes that fit a word together: the front end reads both.
#[test]
fn an_input_modulus_of_two_small_primes() {
    let mut primes = vec![50; 15];
    primes[..2].fill(25);
    let spec = BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() };
    with_parameters(chain(128, primes), (193, 1), spec);
}

fn on_ciphertexts(sets: &[(u64, u64, u32, usize, u32)], mode: Mode, front_end: FrontEnd) {
    for &(m, p, r, primes, weight) in sets {
        let spec = BootstrapSpec { mode, front_end, ephemeral_weight: weight, ..BootstrapSpec::default() };
        with_parameters(params(m, primes), (p, r), spec);
    }
}

/// Both schemes, over two seeds each where the ring is small.
fn with_parameters(rlwe: RlweParams, (p, r): (u64, u32), spec: BootstrapSpec) {
    let plan = Arc::new(BootstrapPlan::new(&rlwe, (p, r), spec).unwrap());
    let context = Context::new(rlwe).unwrap();
    let seeds = if plan.params().n() <= 64 { 2 } else { 1 };
    for seed in 1..=seeds {
        for (seed, scheme) in [(2 * seed - 1, Scheme::Bgv), (2 * seed, Scheme::Bfv)] {
            twice(&plan, &context, scheme, seed);
        }
    }
}

/// Refreshes a ciphertext, squares the result and refreshes that.
fn twice(plan: &Arc<BootstrapPlan>, context: &Arc<Context>, scheme: Scheme, seed: u64) {
    let case = format!("{scheme}, seed {seed}\n{}", plan.explain());
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let secret = Arc::new(SecretKey::generate(context, &mut rng));
    let mut keys = EvaluationKeys::empty(context);
    plan.add_keys(&mut keys, &secret, &mut rng).unwrap();
    let keys = Arc::new(keys);
    let own = BootstrapKeys::generate(plan, scheme, &secret, &mut rng).unwrap();
    let bootstrapper = Bootstrapper::new(Arc::clone(plan), scheme, &keys, own).unwrap();
    let engine = Engine::new(scheme, plan.message_ring(), Arc::clone(&keys)).unwrap();
    let decryptor = Decryptor::new(scheme, plan.message_ring(), Arc::clone(&secret));
    let content = message(plan, &mut rng);
    let (fresh, _) = decryptor.encrypt(&content, context.top_level(), &mut rng).unwrap();
    // Spend nearly everything.
    let spent = engine.reduce_level(&fresh, plan.least_input_bits() + 20.0).unwrap();
    let again = bootstrapper.refresh(&spent).unwrap();
    assert_eq!(decryptor.decrypt(&again).unwrap(), content, "{case}");
    let (left, forecast) = (engine.capacity(&again), plan.output_bits());
    assert!(left > engine.capacity(&spent), "{left} bits left, {case}");
    // Both are the same for every seed: sums of bounds. Over all sets of these tests what is left
    // is 0 to 20 bits above the forecast.
    assert!(left > forecast - 1.0 && left < forecast + 25.0, "{left} bits left, {case}");
    // And once more, from the refreshed one.
    let low = engine.reduce_level(&engine.square(&again).unwrap(), plan.least_input_bits() + 20.0).unwrap();
    let image = decryptor.decrypt(&bootstrapper.refresh(&low).unwrap()).unwrap();
    assert_eq!(image, content.multiply(&content).unwrap(), "{case}");
}

/// Everything for one toy set.
struct Toy {
    plan: Arc<BootstrapPlan>,
    context: Arc<Context>,
    secret: Arc<SecretKey>,
    keys: EvaluationKeys,
    rng: ChaCha20Rng,
}

fn toy(seed: u64) -> Toy {
    let spec = BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() };
    keyed(Arc::new(BootstrapPlan::new(&params(105, 14), (2, 1), spec).unwrap()), seed)
}

/// A plan with its keys.
fn keyed(plan: Arc<BootstrapPlan>, seed: u64) -> Toy {
    let context = Context::new(plan.params().clone()).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let secret = Arc::new(SecretKey::generate(&context, &mut rng));
    let mut keys = EvaluationKeys::empty(&context);
    plan.add_keys(&mut keys, &secret, &mut rng).unwrap();
    Toy { plan, context, secret, keys, rng }
}

#[test]
fn progress_names_every_stage_and_can_stop() {
    let mut t = toy(10);
    let own = BootstrapKeys::generate(&t.plan, Scheme::Bfv, &t.secret, &mut t.rng).unwrap();
    let bootstrapper = Bootstrapper::new(Arc::clone(&t.plan), Scheme::Bfv, &Arc::new(t.keys), own).unwrap();
    let decryptor = Decryptor::new(Scheme::Bfv, t.plan.message_ring(), Arc::clone(&t.secret));
    let thin = message(&t.plan, &mut t.rng);
    let (ct, _) = decryptor.encrypt(&thin, 4, &mut t.rng).unwrap();
    let mut seen: Vec<Progress> = Vec::new();
    let image = bootstrapper.refresh_with(&ct, |progress| {
        seen.push(progress.clone());
        ControlFlow::Continue(())
    });
    let names: Vec<&str> = seen.iter().map(|progress| &progress.stage[..]).collect();
    let mut wanted: Vec<String> = t.plan.stages().iter().map(|stage| stage.name.to_string()).collect();
    wanted.push(String::new());
    assert_eq!(names, wanted);
    assert!(wanted.iter().all(|name| t.plan.explain().contains(name)));
    let stopped = bootstrapper.refresh_with(&ct, |progress| {
        if progress.number == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let stage = t.plan.stages()[2].name.to_string();
    assert_eq!(stopped.err(), Some(Error::Bootstrap(BootstrapError::Cancelled { stage })));
    // The same bits on three threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let again = pool.install(|| bootstrapper.refresh(&ct)).unwrap();
    assert_eq!(image.unwrap().parts(), again.parts());
    assert_eq!(decryptor.decrypt(&again).unwrap(), thin);
}
