//! Packed mode by every way of unpacking.

use super::*;
use windlass::bootstrap::{BootstrapPreset, Unpacking};

const WAYS: [Unpacking; 4] =
    [Unpacking::Automatic, Unpacking::Constants, Unpacking::Monomials, Unpacking::MonomialsInSlots];

/// (m, p, r, primes, weight): p ≡ 1 mod 4 with d = 1, 2, 4, 16, then p ≡ 3 mod 4 with d = 2, 8, 4, 16.
const POWERS_OF_TWO: [(u64, u64, u32, usize, u32); 8] = [
    (64, 257, 1, 14, 6),
    (128, 193, 1, 14, 6),
    (64, 17, 2, 16, 6),
    (64, 13, 1, 16, 6),
    (64, 127, 1, 16, 6),
    (64, 7, 1, 16, 6),
    (16, 3, 2, 18, 4),
    (64, 3, 1, 20, 4),
];

fn packed(unpacking: Unpacking, ephemeral_weight: u32) -> BootstrapSpec {
    BootstrapSpec { mode: Mode::Packed, unpacking, ephemeral_weight, ..BootstrapSpec::default() }
}

#[test]
fn every_way_on_the_mock() {
    for ((m, p, r, primes, weight), way) in POWERS_OF_TWO.iter().flat_map(|&set| WAYS.map(|way| (set, way))) {
        let plan = BootstrapPlan::new(&params(m, primes), (p, r), packed(way, weight));
        let plan = Arc::new(plan.unwrap_or_else(|error| panic!("{way:?} m = {m}, p = {p}: {error}")));
        let digits = plan.stages().iter().find(|stage| stage.name == "digit removal").unwrap();
        assert_eq!(digits.times, plan.message_ring().degree(), "{way:?} m = {m}, p = {p}");
        let mut rng = ChaCha20Rng::seed_from_u64(p);
        let content = message(&plan, &mut rng);
        let bootstrapper = ClearBootstrapper::new(Arc::clone(&plan), p).unwrap();
        let image = bootstrapper.refresh(&Clear::new(plan.message_ring()).encrypt(&content).unwrap()).unwrap();
        assert_eq!(image.plaintext(), &content, "{way:?} m = {m}, p = {p}\n{}", plan.explain());
    }
}

#[test]
fn monomials_on_ciphertexts() {
    for way in [Unpacking::Monomials, Unpacking::MonomialsInSlots] {
        for (m, p, r, primes, weight) in [POWERS_OF_TWO[2], POWERS_OF_TWO[5], POWERS_OF_TWO[6]] {
            with_parameters(params(m, primes), (p, r), packed(way, weight));
        }
    }
}

/// Composite m with d = 20: Frobenius powers are made in giant steps of 5.
#[test]
fn many_frobenius_powers_on_ciphertexts() {
    let plan = BootstrapPlan::new(&params(75, 14), (2, 1), packed(Unpacking::Automatic, 4)).unwrap();
    assert_eq!(plan.message_ring().degree(), 20);
    let unpacking = plan.stages().iter().find(|stage| stage.name == "unpacking").unwrap();
    assert_eq!(unpacking.keys.len(), 4 + 3);
    with_parameters(params(75, 14), (2, 1), packed(Unpacking::Automatic, 4));
}

#[test]
fn monomials_with_the_formula_of_2015() {
    let spec = BootstrapSpec { front_end: FrontEnd::NearPrimePower, ..packed(Unpacking::Monomials, 6) };
    with_parameters(params(64, 16), (7, 1), spec);
}

#[test]
fn monomials_cost_less_capacity_and_fewer_keys() {
    // d = 64.
    let plan = |way| BootstrapPlan::new(&params(256, 22), (3, 1), packed(way, 6)).unwrap();
    let [constants, monomials, together] = [WAYS[1], WAYS[2], WAYS[3]].map(plan);
    assert!(monomials.output_bits() > constants.output_bits(), "{}\n{}", constants.explain(), monomials.explain());
    assert!(monomials.output_bits() > together.output_bits(), "{}\n{}", together.explain(), monomials.explain());
    assert!(monomials.required_keys().len() < constants.required_keys().len());
    assert!(together.required_keys().len() < constants.required_keys().len());
}

#[test]
fn progress_between_ciphertexts() {
    let rlwe = params(64, 16);
    let plan = Arc::new(BootstrapPlan::new(&rlwe, (7, 1), packed(Unpacking::Monomials, 6)).unwrap());
    let context = Context::new(rlwe).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let secret = Arc::new(SecretKey::generate(&context, &mut rng));
    let mut keys = EvaluationKeys::empty(&context);
    plan.add_keys(&mut keys, &secret, &mut rng).unwrap();
    let own = BootstrapKeys::generate(&plan, Scheme::Bgv, &secret, &mut rng).unwrap();
    let bootstrapper = Bootstrapper::new(Arc::clone(&plan), Scheme::Bgv, &Arc::new(keys), own).unwrap();
    let decryptor = Decryptor::new(Scheme::Bgv, plan.message_ring(), Arc::clone(&secret));
    let content = message(&plan, &mut rng);
    let (ct, _) = decryptor.encrypt(&content, 3, &mut rng).unwrap();
    let mut seen: Vec<Progress> = Vec::new();
    let image = bootstrapper.refresh_with(&ct, |progress| {
        seen.push(progress.clone());
        ControlFlow::Continue(())
    });
    let (end, steps) = seen.split_last().unwrap();
    assert!(end.stage.is_empty() && end.number == end.count && steps.len() == end.count);
    assert!(steps.iter().enumerate().all(|(i, step)| step.number == i && step.count == steps.len()));
    for stage in plan.stages() {
        let rounds: Vec<usize> = steps.iter().filter(|step| step.stage == stage.name).map(|step| step.round).collect();
        assert_eq!(rounds, (0..stage.times).collect::<Vec<_>>(), "{}\n{}", stage.name, plan.explain());
    }
    // Stop at the fifth of the eight ciphertexts.
    let stopped = bootstrapper.refresh_with(&ct, |progress| {
        let stop = progress.stage == "digit removal" && progress.round == 4;
        if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let stage = "digit removal".to_owned();
    assert_eq!(stopped.err(), Some(Error::Bootstrap(BootstrapError::Cancelled { stage })));
    // The same bits on three threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let again = pool.install(|| bootstrapper.refresh(&ct)).unwrap();
    assert_eq!(image.unwrap().parts(), again.parts());
    assert_eq!(decryptor.decrypt(&again).unwrap(), content);
}

#[test]
fn ways_that_cannot_be_taken_are_refused() {
    for way in [Unpacking::Monomials, Unpacking::MonomialsInSlots] {
        let refused = BootstrapPlan::new(&params(105, 14), (2, 1), packed(way, 6));
        assert!(matches!(refused, Err(Error::Bootstrap(BootstrapError::Unsupported { .. }))), "{way:?}");
    }
    // 65536 constants.
    let preset = BootstrapPreset::named("paper_ch18_n16384_p127", Mode::Packed).unwrap();
    let spec = BootstrapSpec { unpacking: Unpacking::Constants, ..preset.spec };
    match BootstrapPlan::new(preset.params.rlwe(), (preset.params.p(), preset.params.r()), spec) {
        Err(Error::Bootstrap(BootstrapError::Unsupported { what })) => assert!(what.contains("65536"), "{what}"),
        other => panic!("{:?}", other.map(|plan| plan.explain())),
    }
    assert_eq!("monomials".parse::<Unpacking>().unwrap(), Unpacking::Monomials);
    assert!("normal".parse::<Unpacking>().is_err());
}
