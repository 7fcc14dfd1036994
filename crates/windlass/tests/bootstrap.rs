//! Bootstrapping at toy sizes, on the mock and encrypted, over several seeds: exact plaintexts.

#[path = "bootstrap/input.rs"]
mod input;
#[path = "bootstrap/packed.rs"]
mod packed;

use std::ops::ControlFlow;
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::bootstrap::{
    BootstrapError, BootstrapKeys, BootstrapPlan, BootstrapSpec, Bootstrapper, ClearBootstrapper, FrontEnd, Mode,
    Partition, Progress, Refresh, Transform,
};
use windlass::rlwe::{Assurance, Context, EvaluationKeys, RlweParams, RlweSpec, SecretDistribution, SecretKey};
use windlass::schemes::clear::Clear;
use windlass::schemes::{Decryptor, Engine, Scheme};
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
            assert_eq!(image.plaintext(), &thin, "{}", plan.explain());
        }
        assert!(capacity.stages().len() <= time.stages().len());
        assert!(capacity.output_bits() >= time.output_bits() - 1.0, "{}\n{}", capacity.explain(), time.explain());
    }
    assert_eq!("least-time".parse::<Partition>().unwrap(), Partition::LeastTime);
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

/// Slots of degree 8, 2 and 4, each way merged as it comes and by a search.
const BRUUN: [(u64, u64, u32, usize, u32); 4] =
    [(64, 7, 1, 16, 6), (64, 3, 2, 18, 4), (128, 127, 1, 15, 6), (64, 31, 1, 16, 6)];

#[test]
fn bruun_on_the_mock() {
    for ((m, p, r, primes, weight), mode) in BRUUN.iter().flat_map(|&set| [(set, Mode::Thin), (set, Mode::Packed)]) {
        for partition in [Partition::Three, Partition::LeastTime, Partition::MostCapacity] {
            let transform = Transform::Bruun;
            let spec =
                BootstrapSpec { mode, transform, partition, ephemeral_weight: weight, ..BootstrapSpec::default() };
            let plan = Arc::new(BootstrapPlan::new(&params(m, primes), (p, r), spec).unwrap());
            let mut rng = ChaCha20Rng::seed_from_u64(5);
            let message = message(&plan, &mut rng);
            let image = ClearBootstrapper::new(Arc::clone(&plan), 5).unwrap();
            let image = image.refresh(&Clear::new(plan.message_ring()).encrypt(&message).unwrap()).unwrap();
            assert_eq!(image.plaintext(), &message, "{mode:?} m = {m}, p = {p}, {partition:?}");
        }
    }
}

#[test]
fn bruun_on_ciphertexts() {
    for ((m, p, r, primes, weight), mode) in BRUUN.iter().flat_map(|&set| [(set, Mode::Thin), (set, Mode::Packed)]) {
        let spec =
            BootstrapSpec { mode, transform: Transform::Bruun, ephemeral_weight: weight, ..BootstrapSpec::default() };
        with_parameters(params(m, primes), (p, r), spec);
    }
}

#[test]
fn transforms_that_a_ring_lacks_are_refused() {
    for (m, p) in [(64, 257), (105, 2)] {
        let spec = BootstrapSpec { transform: Transform::Bruun, ephemeral_weight: 6, ..BootstrapSpec::default() };
        let refused = BootstrapPlan::new(&params(m, 14), (p, 1), spec).err();
        assert!(matches!(refused, Some(Error::Bootstrap(BootstrapError::Unsupported { .. }))), "{refused:?}");
    }
    assert_eq!("bruun".parse::<Transform>().unwrap(), Transform::Bruun);
    assert!("radix3".parse::<Transform>().is_err());
}

#[test]
fn the_formula_of_2015_on_ciphertexts() {
    on_ciphertexts(&SETS, Mode::Thin, FrontEnd::NearPrimePower);
}

#[test]
fn the_formula_of_2015_packed() {
    let sets = [SETS[0], SETS[2], SETS[3], SETS[4]];
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

fn with_parameters(rlwe: RlweParams, (p, r): (u64, u32), spec: BootstrapSpec) {
    let m = rlwe.m();
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

/// Everything for one toy set.
struct Toy {
    plan: Arc<BootstrapPlan>,
    context: Arc<Context>,
    secret: Arc<SecretKey>,
    keys: EvaluationKeys,
    rng: ChaCha20Rng,
}

fn toy(seed: u64) -> Toy {
    let rlwe = params(105, 14);
    let spec = BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() };
    let plan = Arc::new(BootstrapPlan::new(&rlwe, (2, 1), spec).unwrap());
    let context = Context::new(rlwe).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let secret = Arc::new(SecretKey::generate(&context, &mut rng));
    let mut keys = EvaluationKeys::empty(&context);
    plan.add_keys(&mut keys, &secret, &mut rng).unwrap();
    Toy { plan, context, secret, keys, rng }
}

#[test]
fn refusals_name_the_stage() {
    let mut t = toy(9);
    let own = BootstrapKeys::generate(&t.plan, Scheme::Bgv, &t.secret, &mut t.rng).unwrap();
    // A missing Galois key, and no relinearisation key.
    let stage = t.plan.stages().iter().find(|stage| !stage.keys.is_empty()).unwrap();
    let missing = *stage.keys.iter().next().unwrap();
    let mut fewer = EvaluationKeys::empty(&t.context);
    let refused = Bootstrapper::new(Arc::clone(&t.plan), Scheme::Bgv, &Arc::new(fewer.clone()), own.clone());
    let is = |found: Option<Error>, wanted: fn(&BootstrapError) -> bool| matches!(found, Some(Error::Bootstrap(ref error)) if wanted(error));
    assert!(is(refused.err(), |error| matches!(error, BootstrapError::MissingRelinearisationKey { .. })));
    fewer.add_relinearisation(&t.secret, t.context.top_level(), &mut t.rng).unwrap();
    match Bootstrapper::new(Arc::clone(&t.plan), Scheme::Bgv, &Arc::new(fewer), own.clone()).err() {
        Some(Error::Bootstrap(BootstrapError::MissingKey { stage: named, element })) => {
            assert_eq!((named, element), (stage.name.clone(), missing));
        }
        other => panic!("{other:?}"),
    }
    // Keys of the other scheme.
    let keys = Arc::new(t.keys.clone());
    let refused = Bootstrapper::new(Arc::clone(&t.plan), Scheme::Bfv, &keys, own.clone());
    assert!(is(refused.err(), |error| matches!(error, BootstrapError::WrongContext { .. })));
    // Keys of a plan with other ephemeral secrets, and of one with another plaintext modulus.
    for (weight, r) in [(8, 1), (6, 2)] {
        let spec = BootstrapSpec { ephemeral_weight: weight, ..BootstrapSpec::default() };
        let other = BootstrapPlan::new(t.context.params(), (2, r), spec).unwrap();
        let theirs = BootstrapKeys::generate(&other, Scheme::Bgv, &t.secret, &mut t.rng).unwrap();
        let refused = Bootstrapper::new(Arc::clone(&t.plan), Scheme::Bgv, &keys, theirs);
        assert!(is(refused.err(), |error| matches!(error, BootstrapError::WrongContext { .. })));
    }
    // A ciphertext without capacity, and one of another scheme.
    let bootstrapper = Bootstrapper::new(Arc::clone(&t.plan), Scheme::Bgv, &keys, own).unwrap();
    let engine = Engine::new(Scheme::Bgv, t.plan.message_ring(), Arc::clone(&keys)).unwrap();
    let one = Plaintext::one(t.plan.message_ring());
    let encrypt = |scheme, rng: &mut ChaCha20Rng| {
        Decryptor::new(scheme, t.plan.message_ring(), Arc::clone(&t.secret)).encrypt(&one, 3, rng).unwrap().0
    };
    let mut spent = encrypt(Scheme::Bgv, &mut t.rng);
    while engine.capacity(&spent) > 3.0 {
        spent = engine.add(&spent, &spent).unwrap();
    }
    let refused = bootstrapper.refresh(&spent);
    assert!(is(refused.err(), |error| matches!(error, BootstrapError::CapacityTooLow { .. })));
    let refused = bootstrapper.refresh(&encrypt(Scheme::Bfv, &mut t.rng));
    assert!(is(refused.err(), |error| matches!(error, BootstrapError::WrongContext { .. })));
    // Chains that are too short, for a stage or to leave anything: the stage is named.
    let stage = |primes: usize| {
        let spec = BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() };
        match BootstrapPlan::new(&chain(105, vec![26; primes]), (2, 1), spec) {
            Err(Error::Bootstrap(BootstrapError::ChainTooShort { stage, missing_bits })) => {
                assert!(missing_bits > 0.0, "{stage}");
                Some(stage)
            }
            Ok(_) => None,
            Err(other) => panic!("{other:?}"),
        }
    };
    let stages: Vec<String> = (4..).map_while(stage).collect();
    assert!(stages.iter().any(|name| name == "digit removal"), "{stages:?}");
    assert_eq!(stages.last().map(String::as_str), Some("what is left for computing"), "{stages:?}");
    // One short chain more.
    let spec = BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() };
    let refused = BootstrapPlan::new(&params(105, 4), (2, 1), spec);
    assert!(is(refused.err(), |error| matches!(error, BootstrapError::ChainTooShort { .. })));
}

/// Thin bootstrapping keeps constant coefficients only: what is not known to be integers is refused before any work, on the mock too.
#[test]
fn thin_bootstrapping_refuses_elements() {
    let mut t = toy(11);
    let slots = t.plan.message_ring();
    let own = BootstrapKeys::generate(&t.plan, Scheme::Bgv, &t.secret, &mut t.rng).unwrap();
    let bootstrapper = Bootstrapper::new(Arc::clone(&t.plan), Scheme::Bgv, &Arc::new(t.keys), own).unwrap();
    let decryptor = Decryptor::new(Scheme::Bgv, slots, Arc::clone(&t.secret));
    let (l, d) = (slots.slots(), slots.degree());
    let elements = Plaintext::from_slots(slots, &vec![1; l * d]).unwrap();
    let constants: Vec<u64> = (0..l * d).map(|i| u64::from(i % d == 0)).collect();
    let integers = Plaintext::from_slots(slots, &constants).unwrap();
    let mut encrypt = |plaintext: &Plaintext| decryptor.encrypt(plaintext, 4, &mut t.rng).unwrap().0;
    let refusal = Some(Error::Bootstrap(BootstrapError::NotIntegers));
    for plaintext in [&elements, &integers] {
        let ct = encrypt(plaintext);
        let refused = bootstrapper.refresh_with(&ct, |_| panic!("a stage was begun"));
        assert_eq!(refused.err(), refusal);
        assert_eq!(t.plan.check(&ct).err(), refusal);
    }
    let message = BootstrapError::NotIntegers.to_string();
    assert!(message.contains("packed") && message.contains("assume_integers"), "{message}");
    // The caller's word is taken: true, and it works; false, and this is what the refusal is for.
    for (plaintext, kept) in [(&integers, true), (&elements, false)] {
        let image = bootstrapper.refresh(&encrypt(plaintext).assume_integers()).unwrap();
        assert_eq!(image.content(), Content::Integers);
        assert_eq!(decryptor.decrypt(&image).unwrap() == *plaintext, kept);
    }
    let (clear, mock) = (Clear::new(slots), ClearBootstrapper::new(Arc::clone(&t.plan), 1).unwrap());
    let ct = clear.encrypt(&integers).unwrap();
    assert_eq!(mock.refresh(&ct).err(), refusal);
    let image = mock.refresh(&ct.assume_integers()).unwrap();
    assert_eq!((image.content(), image.plaintext()), (Content::Integers, &integers));
}

/// Packed bootstrapping takes both, and the result is what its input was; the stages are known for what they hold.
#[test]
fn packed_bootstrapping_keeps_the_content() {
    let rlwe = params(105, 14);
    let spec = BootstrapSpec { mode: Mode::Packed, ephemeral_weight: 6, ..BootstrapSpec::default() };
    let plan = Arc::new(BootstrapPlan::new(&rlwe, (2, 1), spec).unwrap());
    let context = Context::new(rlwe).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(12);
    let secret = Arc::new(SecretKey::generate(&context, &mut rng));
    let mut keys = EvaluationKeys::empty(&context);
    plan.add_keys(&mut keys, &secret, &mut rng).unwrap();
    let own = BootstrapKeys::generate(&plan, Scheme::Bfv, &secret, &mut rng).unwrap();
    let bootstrapper = Bootstrapper::new(Arc::clone(&plan), Scheme::Bfv, &Arc::new(keys), own).unwrap();
    let decryptor = Decryptor::new(Scheme::Bfv, plan.message_ring(), Arc::clone(&secret));
    let integers = Plaintext::from_integers(plan.message_ring(), &vec![1; plan.message_ring().slots()]).unwrap();
    let mock = ClearBootstrapper::new(Arc::clone(&plan), 1).unwrap();
    for plaintext in [message(&plan, &mut rng), integers] {
        let (ct, _) = decryptor.encrypt(&plaintext, 4, &mut rng).unwrap();
        let mut seen = Vec::new();
        let image = bootstrapper.refresh_traced(&ct, |progress, ct| {
            seen.push((progress.stage.clone(), ct.content()));
            ControlFlow::Continue(())
        });
        let image = image.unwrap();
        assert_eq!((image.content(), decryptor.decrypt(&image).unwrap()), (plaintext.content(), plaintext.clone()));
        let of = |name: &str| seen.iter().find(|(stage, _)| stage == name).map(|&(_, content)| content);
        assert_eq!(of("unpacking"), Some(Content::Elements));
        assert_eq!([of("digit removal"), of("repacking")], [Some(Content::Integers); 2]);
        let image = mock.refresh(&Clear::new(plan.message_ring()).encrypt(&plaintext).unwrap()).unwrap();
        assert_eq!((image.content(), image.plaintext()), (plaintext.content(), &plaintext));
    }
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
    let mut wanted: Vec<&str> = t.plan.stages().iter().map(|stage| &stage.name[..]).collect();
    wanted.push("");
    assert_eq!(names, wanted);
    assert!(wanted.iter().all(|name| t.plan.explain().contains(name)));
    let stopped = bootstrapper.refresh_with(&ct, |progress| {
        if progress.number == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let stage = t.plan.stages()[2].name.clone();
    assert_eq!(stopped.err(), Some(Error::Bootstrap(BootstrapError::Cancelled { stage })));
    // The same bits on three threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let again = pool.install(|| bootstrapper.refresh(&ct)).unwrap();
    assert_eq!(image.unwrap().parts(), again.parts());
    assert_eq!(decryptor.decrypt(&again).unwrap(), thin);
}
