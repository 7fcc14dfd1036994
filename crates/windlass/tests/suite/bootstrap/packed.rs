//! Packed mode by every way of unpacking.

use super::*;
use windlass::bootstrap::{BootstrapPreset, Order, StageName, Unpacking};

const WAYS: [Unpacking; 4] =
    [Unpacking::Automatic, Unpacking::Constants, Unpacking::Monomials, Unpacking::MonomialsInSlots];

/// (m, p, r, primes, weight): p ≡ 1 mod 4 with d = 1, 2, 4, 16, then p ≡ 3 mod 4 with d = 2, 8, 4,
/// 16.
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

const ORDERS: [Order; 2] = [Order::ToCoefficientsFirst, Order::ToCoefficientsLast];

fn packed(unpacking: Unpacking, ephemeral_weight: u32) -> BootstrapSpec {
    BootstrapSpec { mode: Mode::Packed, unpacking, ephemeral_weight, ..BootstrapSpec::default() }
}

/// Where the front end stands among the stages, and the first map to the coefficients.
fn places(plan: &BootstrapPlan) -> [usize; 2] {
    let place = |wanted: fn(&StageName) -> bool| plan.stages().iter().position(|stage| wanted(&stage.name)).unwrap();
    [place(|name| *name == StageName::FrontEnd), place(|name| matches!(name, StageName::SlotsToCoefficients { .. }))]
}

#[test]
fn every_way_on_the_mock() {
    let ways = WAYS.iter().flat_map(|&way| ORDERS.map(|order| (way, order)));
    for ((m, p, r, primes, weight), (way, order)) in
        POWERS_OF_TWO.iter().flat_map(|&set| ways.clone().map(move |way| (set, way)))
    {
        let plan = plan(params(m, primes), (p, r), BootstrapSpec { order, ..packed(way, weight) });
        let plan = Arc::new(plan.unwrap_or_else(|error| panic!("{way:?} m = {m}, p = {p}: {error}")));
        let [front_end, to_coefficients] = places(&plan);
        assert_eq!(to_coefficients < front_end, order == Order::ToCoefficientsFirst, "{}", plan.explain());
        assert_eq!(plan.choices().order, Some(order));
        let digits = plan.stages().iter().find(|stage| stage.name == StageName::DigitRemoval).unwrap();
        assert_eq!(digits.times, plan.message_ring().degree(), "{way:?} m = {m}, p = {p}");
        let content = message(&plan, p);
        let bootstrapper = ClearBootstrapper::new(Arc::clone(&plan), p).unwrap();
        let image = bootstrapper.refresh(&Clear::new(plan.message_ring()).encrypt(&content).unwrap()).unwrap();
        assert_eq!(&image.plaintext(), &content, "{way:?} m = {m}, p = {p}\n{}", plan.explain());
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

#[test]
fn both_orders_on_ciphertexts() {
    for order in ORDERS {
        for (set, way) in [(0, WAYS[1]), (2, WAYS[2]), (3, WAYS[3]), (5, WAYS[1]), (5, WAYS[2]), (6, WAYS[3])] {
            let (m, p, r, primes, weight) = POWERS_OF_TWO[set];
            with_parameters(params(m, primes), (p, r), BootstrapSpec { order, ..packed(way, weight) });
        }
        // Bruun's stages, and composite m, whose maps are as well first as last.
        let bruun = BootstrapSpec { transform: Transform::BRUUN, order, ..packed(WAYS[0], 6) };
        with_parameters(params(64, 16), (7, 1), bruun);
        with_parameters(params(105, 16), (2, 1), BootstrapSpec { order, ..packed(WAYS[0], 6) });
    }
}

#[test]
fn the_order_is_chosen_by_capacity_in_a_second() {
    let choose = |m, modulus, order| {
        plan(params(m, 18), modulus, BootstrapSpec { order, ..packed(Unpacking::Automatic, 6) }).unwrap()
    };
    // First, the maps run where they cost least, and spend what they would spend behind the digits.
    let [first, last] = ORDERS.map(|order| choose(256, (257, 1), order));
    assert!(first.least_input_bits() > last.least_input_bits() && first.output_bits() > last.output_bits());
    let level = |plan: &BootstrapPlan| plan.stages()[places(plan)[1]].level;
    assert!(level(&first) < level(&last), "{}\n{}", first.explain(), last.explain());
    assert_eq!(choose(256, (257, 1), Order::Automatic).choices().order, Some(Order::ToCoefficientsFirst));
    // Where the prices say so, and only there.
    for (m, modulus) in [(256, (257, 1)), (128, (193, 1)), (64, (7, 1)), (64, (3, 1))] {
        let rate = |plan: &BootstrapPlan| (plan.output_bits() - plan.least_input_bits()) / plan.price();
        let [first, last] = ORDERS.map(|order| choose(m, modulus, order));
        let better = if rate(&last) > rate(&first) { last } else { first };
        let chosen = choose(m, modulus, Order::Automatic);
        assert_eq!(chosen.choices(), better.choices(), "{}", chosen.explain());
    }
    // Composite m as in 2015; thin maps have but one place.
    assert_eq!(choose(105, (2, 1), Order::Automatic).choices().order, Some(Order::ToCoefficientsLast));
    let thin = plan(params(64, 18), (257, 1), BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() });
    assert_eq!(thin.unwrap().choices().order, None);
}

/// Composite m with d = 20: Frobenius powers are made in giant steps of 5.
#[test]
fn many_frobenius_powers_on_ciphertexts() {
    let plan = plan(params(75, 14), (2, 1), packed(Unpacking::Automatic, 4)).unwrap();
    assert_eq!(plan.message_ring().degree(), 20);
    let unpacking = plan.stages().iter().find(|stage| stage.name == StageName::Unpacking).unwrap();
    assert_eq!(unpacking.keys.len(), 4 + 3);
    with_parameters(params(75, 14), (2, 1), packed(Unpacking::Automatic, 4));
}

#[test]
fn monomials_cost_less_capacity_and_fewer_keys() {
    // d = 64.
    let left = |plan: &BootstrapPlan| plan.output_bits() - plan.least_input_bits();
    for order in ORDERS {
        let plan = |way| plan(params(256, 22), (3, 1), BootstrapSpec { order, ..packed(way, 6) }).unwrap();
        let [constants, monomials, together] = [WAYS[1], WAYS[2], WAYS[3]].map(plan);
        assert!(left(&monomials) > left(&constants), "{}\n{}", constants.explain(), monomials.explain());
        assert!(left(&monomials) > left(&together), "{}\n{}", together.explain(), monomials.explain());
        assert!(monomials.required_keys().len() < constants.required_keys().len());
        assert!(together.required_keys().len() < constants.required_keys().len());
    }
}

#[test]
fn progress_between_ciphertexts() {
    let toy = toy_with(params(64, 16), (7, 1), packed(Unpacking::Monomials, 6));
    let (plan, (client, server)) = (&toy.plan, toy.parties(3));
    let (bootstrapper, content) = (bootstrapper(&server), message(plan, 3));
    let ct = encrypt_at(&client, &content, 3);
    let mut seen: Vec<Progress> = Vec::new();
    let image = bootstrapper.refresh_one(
        &ct,
        RefreshOptions::new().observed_by(|progress| {
            seen.push(progress.clone());
            ControlFlow::Continue(())
        }),
    );
    let (end, steps) = seen.split_last().unwrap();
    assert!(end.stage.is_empty() && end.number == end.count && steps.len() == end.count);
    assert!(steps.iter().enumerate().all(|(i, step)| step.number == i && step.count == steps.len()));
    for stage in plan.stages() {
        let rounds: Vec<usize> =
            steps.iter().filter(|step| step.stage == stage.name.to_string()).map(|step| step.round).collect();
        assert_eq!(rounds, (0..stage.times).collect::<Vec<_>>(), "{}\n{}", stage.name, plan.explain());
    }
    // Stop at the fifth of the eight ciphertexts.
    let stop = |progress: &Progress| match progress.stage == "digit removal" && progress.round == 4 {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let stopped = bootstrapper.refresh_one(&ct, RefreshOptions::new().observed_by(stop));
    let stage = "digit removal".to_owned();
    assert_eq!(stopped.err(), Some(Error::Bootstrap(BootstrapError::Cancelled { stage })));
    let parts = image.unwrap().parts().to_vec();
    for threads in [1, 3, 4, 9] {
        let again = side_by_side(threads, bootstrapper, &ct, &seen);
        assert_eq!(parts, again.parts(), "{threads} threads");
        assert_eq!(client.decrypt_plaintext(&again).unwrap(), content);
    }
}

/// Refreshes with so many threads, whose reports are those that were `seen`, in their order or in
/// groups; then stops in the middle.
fn side_by_side(threads: usize, bootstrapper: &Bootstrapper, ct: &Ciphertext, seen: &[Progress]) -> Ciphertext {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let digits = |reports: &[Progress]| reports.iter().filter(|report| report.stage == "digit removal").count();
    let (image, reports) = pool.install(|| {
        let mut reports: Vec<Progress> = Vec::new();
        let image = bootstrapper.refresh_one(
            ct,
            RefreshOptions::new().observed_by(|progress| {
                reports.push(progress.clone());
                ControlFlow::Continue(())
            }),
        );
        (image.unwrap(), reports)
    });
    assert_eq!((reports.len(), digits(&reports)), (seen.len(), digits(seen)));
    let runs = reports.chunk_by(|a, b| a.stage == b.stage).filter(|run| run[0].stage == "digit removal");
    // A power of two, as the parts of a tree are; of one slot two parts come after each other in
    // any case.
    let most = runs.map(<[Progress]>::len).max().unwrap();
    assert_eq!(most, digits(seen).min(1 << threads.ilog2()).max(2), "{threads} threads");
    let stopped = pool.install(|| {
        bootstrapper.refresh_one(
            ct,
            RefreshOptions::new().observed_by(|progress| {
                let stop = progress.stage == "digit removal" && progress.round == 4;
                if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            }),
        )
    });
    let stage = StageName::DigitRemoval.to_string();
    assert_eq!(stopped.err(), Some(Error::Bootstrap(BootstrapError::Cancelled { stage })));
    image
}

#[test]
fn parts_by_constants_side_by_side() {
    let toy = toy_with(params(105, 14), (2, 1), packed(Unpacking::Constants, 6)).with_scheme(Scheme::Bfv);
    let (plan, (client, server)) = (&toy.plan, toy.parties(4));
    let content = message(plan, 4);
    let ct = encrypt_at(&client, &content, 4);
    let refresh = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut names = Vec::new();
            let image = server.refresh_one(
                &ct,
                RefreshOptions::new().observed_by(|progress| {
                    names.push(progress.stage.clone());
                    ControlFlow::Continue(())
                }),
            );
            (image.unwrap(), names)
        })
    };
    let (one, names) = refresh(1);
    assert_eq!(client.decrypt_plaintext(&one).unwrap(), content);
    assert_eq!(plan.message_ring().degree(), 12);
    for threads in [2, 5, 16] {
        let (image, order) = refresh(threads);
        assert_eq!((image.parts(), &order), (one.parts(), &names), "{threads} threads");
    }
}

#[test]
fn a_refresh_can_be_stopped_between_parts() {
    let toy = toy_with(params(105, 14), (2, 1), packed(Unpacking::Constants, 6));
    let (client, server) = toy.parties(4);
    let ct = encrypt_at(&client, &message(&toy.plan, 4), 4);
    let mut last = None;
    let stopped = server.refresh_one(
        &ct,
        RefreshOptions::new().observed_by(|progress| {
            last = Some((progress.stage.clone(), progress.round));
            if progress.stage == "repacking" { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }),
    );
    let stage = StageName::Repacking.to_string();
    assert_eq!(last, Some((stage.clone(), 0)));
    assert_eq!(stopped.err(), Some(Error::Bootstrap(BootstrapError::Cancelled { stage })));
}

#[test]
fn ways_that_cannot_be_taken_are_refused() {
    for way in [Unpacking::Monomials, Unpacking::MonomialsInSlots] {
        let refused = plan(params(105, 14), (2, 1), packed(way, 6));
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
