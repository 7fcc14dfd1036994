//! Ciphertexts of integers, refreshed as many at once as a slot has coefficients.

use rayon::prelude::*;
use windlass::Arithmetic;

use super::*;
use windlass::bootstrap::{BatchPlan, EvalStage, Order, StageName, Unpacking};
use windlass::schemes::Engine;

const ORDERS: [Order; 2] = [Order::ToCoefficientsFirst, Order::ToCoefficientsLast];

/// (m, p, r, primes, weight, unpacking): d = 12, 12, 20, 2, 4 (p ≡ 3 mod 4), 4 (p ≡ 1 mod 4), 2.
const CASES: [(u64, u64, u32, usize, u32, Unpacking); 7] = [
    (105, 2, 1, 16, 6, Unpacking::Automatic),
    (45, 2, 2, 18, 4, Unpacking::Constants),
    (75, 2, 1, 16, 4, Unpacking::Automatic),
    (64, 127, 1, 16, 6, Unpacking::Monomials),
    (64, 7, 1, 18, 6, Unpacking::Constants),
    (64, 17, 2, 18, 6, Unpacking::MonomialsInSlots),
    (16, 3, 2, 18, 4, Unpacking::Monomials),
];

fn packed(unpacking: Unpacking, order: Order, ephemeral_weight: u32) -> BootstrapSpec {
    BootstrapSpec { mode: Mode::Packed, unpacking, order, ephemeral_weight, ..BootstrapSpec::default() }
}

/// Different integers in each of a list.
fn integers(plan: &BootstrapPlan, count: usize) -> Vec<Plaintext> {
    (0..count as u64).map(|seed| random(plan.message_ring(), Content::Integers, seed)).collect()
}

#[test]
fn batches_on_the_mock() {
    for ((m, p, r, primes, weight, way), order) in CASES.iter().flat_map(|&case| ORDERS.map(|order| (case, order))) {
        let plan = Arc::new(plan(params(m, primes), (p, r), packed(way, order, weight)).unwrap());
        let batches = BatchPlan::new(&plan).unwrap();
        assert_eq!(batches.size(), plan.message_ring().degree());
        let bootstrapper = ClearBootstrapper::new(Arc::clone(&plan), 5).unwrap();
        let clear = Clear::new(plan.message_ring());
        // Full, with one place empty, and of one.
        for count in [batches.size(), batches.size() - 1, 1] {
            let list = integers(&plan, count);
            let encrypted: Vec<_> = list.iter().map(|x| clear.encrypt(x).unwrap()).collect();
            let images = bootstrapper.refresh_batch(&encrypted).unwrap();
            let contents: Vec<Plaintext> = images.iter().map(|x| x.plaintext()).collect();
            assert_eq!(contents, list, "m = {m}, p = {p}^{r}, {way}, {order}, {count}\n{}", plan.explain());
            assert!(images.iter().all(|x| x.content() == Content::Integers));
        }
        assert!(bootstrapper.refresh_batch(&[]).unwrap().is_empty());
    }
}

/// What the forecast says is what is left; keys are those of the packed plan alone.
#[test]
fn batches_on_ciphertexts() {
    let ways = [
        (CASES[0], ORDERS[0]),
        (CASES[0], ORDERS[1]),
        (CASES[4], ORDERS[1]),
        (CASES[6], ORDERS[0]),
        (CASES[6], ORDERS[1]),
    ];
    for (seed, ((m, p, r, primes, weight, way), order)) in (1..).zip(ways) {
        let mut toy = toy_with(params(m, primes), (p, r), packed(way, order, weight));
        for scheme in [Scheme::Bgv, Scheme::Bfv] {
            toy.context = toy.context.with_scheme(scheme).unwrap();
            let case = format!("{scheme}, {}", toy.plan.explain());
            let (client, server) = toy.parties(seed);
            let (bootstrapper, engine) = (bootstrapper(&server), server.engine());
            let batches = bootstrapper.batch_plan().unwrap();
            let list = integers(&toy.plan, batches.size());
            // Of different levels, and so of different factors.
            let spent = |(place, x): (usize, &Plaintext)| {
                let fresh = client.encrypt_plaintext(x).unwrap();
                let left = batches.least_input_bits() + if place % 2 == 0 { 5.0 } else { 70.0 };
                engine.reduce_level(&fresh, left).unwrap()
            };
            let list_spent: Vec<Ciphertext> = list.iter().enumerate().map(spent).collect();
            let mut seen: Vec<Progress> = Vec::new();
            let images = bootstrapper
                .refresh_list(
                    &list_spent,
                    RefreshOptions::new().in_one_batch().observed_by(|progress| {
                        seen.push(progress.clone());
                        ControlFlow::Continue(())
                    }),
                )
                .unwrap_or_else(|error| panic!("{error}, {case}"));
            check_batch_events(bootstrapper, batches, &case);
            for (place, (image, x)) in images.iter().zip(&list).enumerate() {
                assert_eq!(&client.decrypt_plaintext(image).unwrap(), x, "{place}, {case}");
                let (left, forecast) = (engine.capacity(image), batches.output_bits());
                assert!(left > forecast - 1.0 && left < forecast + 25.0, "{left} against {forecast} bits, {case}");
                assert_eq!(image.content(), Content::Integers);
            }
            assert_eq!(seen.len(), seen[0].count + 1, "{case}");
            // What has too little left is refused before any work. An engine of its own does not
            // refresh by itself.
            let engine = Engine::new(scheme, toy.plan.message_ring(), Arc::clone(engine.keys())).unwrap();
            let mut poor = list_spent[0].clone();
            while engine.capacity(&poor) > toy.plan.least_input_bits() / 2.0 {
                poor = engine.add(&poor, &poor).unwrap();
            }
            let refused = bootstrapper.refresh_list(&[poor], RefreshOptions::new().in_one_batch()).err();
            assert!(matches!(refused, Some(Error::Bootstrap(BootstrapError::CapacityTooLow { .. }))), "{refused:?}");
        }
    }
}

/// A batch needs nothing to be spent first: where its maps come last, its own constants are for a
/// level below that of fresh ciphertexts. By constants, by monomials, and by those inside the
/// slots.
#[test]
fn fresh_ciphertexts_go_in_batches() {
    for (seed, (m, p, r, primes, weight, way)) in (1..).zip([CASES[2], CASES[3], CASES[5]]) {
        let toy = toy_with(params(m, primes), (p, r), packed(way, Order::ToCoefficientsLast, weight));
        let case = toy.plan.explain();
        let (client, server) = toy.parties(seed);
        let batches = bootstrapper(&server).batch_plan().unwrap();
        let list = integers(&toy.plan, batches.size());
        // All fresh, and one of them spent.
        let fresh: Vec<Ciphertext> = list.iter().map(|x| client.encrypt_plaintext(x).unwrap()).collect();
        let mut mixed = fresh.clone();
        mixed[1] = server.engine().reduce_level(&fresh[1], batches.least_input_bits() + 5.0).unwrap();
        assert!(mixed[1].level() < fresh[0].level());
        for inputs in [fresh, mixed] {
            let images = server.refresh_all(&inputs).unwrap_or_else(|error| panic!("{error}, {case}"));
            for (place, (image, x)) in images.iter().zip(&list).enumerate() {
                assert_eq!(&client.decrypt_plaintext(image).unwrap(), x, "{place}, {case}");
            }
            // They went together: one by one gives other bits.
            assert_ne!(images[0].parts(), server.refresh(&inputs[0]).unwrap().parts(), "{case}");
        }
    }
}

/// After one full batch: its plan counts no fewer events of any kind than there were, and not many
/// more; the front end's bound comes on top of them, once.
fn check_batch_events(bootstrapper: &Bootstrapper, batches: &BatchPlan, case: &str) {
    let (done, said) = (bootstrapper.random_events(), batches.random_events());
    assert!(
        done.inner_products <= said.inner_products && done.mod_downs <= said.mod_downs,
        "{done:?}, {said:?}, {case}"
    );
    assert!(done.modulus_switches <= said.modulus_switches, "{done:?}, {said:?}, {case}");
    assert!(said.encryptions == 1 && said.total() <= 3 * done.total(), "{done:?}, {said:?}, {case}");
    let wanted = 128.0 - (said.total() as f64 + 259.0 / 256.0).log2();
    assert!((batches.failure_bits() - wanted).abs() < 1e-9, "{}, {case}", batches.failure_bits());
    let line = format!("fails with probability at most 2^-{:.1}\n", wanted - 0.05);
    assert!(batches.explain(batches.plan()).contains(&line), "{line}, {}", batches.explain(batches.plan()));
}

/// Tasks of one pool that all ask for batches before anything is made for them: each gets its own.
#[test]
fn tasks_make_batches_ready_together() {
    let toy = toy_with(params(75, 16), (2, 1), packed(Unpacking::Automatic, Order::ToCoefficientsLast, 4));
    let list = integers(&toy.plan, 2);
    let (client, server) = toy.parties(3);
    let spent: Vec<Ciphertext> = list.iter().map(|x| encrypt_at(&client, x, 6)).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let one = |_: usize| bootstrapper(&server).refresh_list(&spent, RefreshOptions::new().in_one_batch()).unwrap();
    let images: Vec<Vec<Ciphertext>> = pool.install(|| (0..4).into_par_iter().map(one).collect());
    for image in &images {
        assert!(image.iter().zip(&images[0]).all(|(x, y)| x.parts() == y.parts()));
    }
    for (image, x) in images[0].iter().zip(&list) {
        assert_eq!(&client.decrypt_plaintext(image).unwrap(), x);
    }
}

/// One front end and one way to the slots for all, and the digits of each.
#[test]
fn a_batch_costs_less_than_its_ciphertexts_one_by_one() {
    let [first, last] = ORDERS.map(|order| {
        let plan = plan(params(105, 16), (2, 1), packed(Unpacking::Automatic, order, 6)).unwrap();
        BatchPlan::new(&Arc::new(plan)).unwrap()
    });
    let thin = BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() };
    let thin = plan(params(105, 16), (2, 1), thin).unwrap();
    let size = first.size();
    assert!(first.price(size) < size as f64 * thin.price(), "{}", first.explain(&thin));
    // Nothing is put together only to be taken apart again, and digits come once for each place.
    assert!(first.price(size) < last.price(size) && first.output_bits() > last.output_bits());
    let one = first.plan().stages().iter().find(|stage| stage.name == StageName::DigitRemoval).unwrap();
    assert_eq!(one.times, size);
    assert!(first.price(1) < first.price(2) && last.price(1) == last.price(2));
    assert!(first.explain(&thin).contains("worth it from"), "{}", first.explain(&thin));
    assert!(matches!(BatchPlan::new(&Arc::new(thin)), Err(Error::Bootstrap(BootstrapError::Unsupported { .. }))));
}

#[test]
fn a_server_refreshes_lists() {
    let (thin_spec, packed_spec) = (
        BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() },
        packed(Unpacking::Automatic, Order::ToCoefficientsFirst, 6),
    );
    let toy = toy_with(params(105, 16), (2, 1), packed_spec);
    let thin = Arc::new(BootstrapPlan::new(toy.plan.params(), (2, 1), thin_spec).unwrap());
    let (client, server) = toy.context.generate_keys_from_seed([&toy.plan, &thin], 7).unwrap();
    let size = toy.plan.message_ring().degree();
    let list = integers(&toy.plan, size + 1);
    let spent: Vec<Ciphertext> = list.iter().map(|x| encrypt_at(&client, x, 6)).collect();
    let images = server.refresh_all(&spent).unwrap();
    for (image, x) in images.iter().zip(&list) {
        assert_eq!(&client.decrypt_plaintext(image).unwrap(), x);
    }
    // The one that is left over goes by itself, through the thin bootstrapping.
    assert_eq!(images[size].parts(), server.refresh(&spent[size]).unwrap().parts());
    assert_ne!(images[0].parts(), server.refresh(&spent[0]).unwrap().parts());
    // A packed bootstrapping that lacks keys is not looked at for what is cheaper one by one.
    let few = client.generate_server([&thin]).unwrap();
    let own = server.bootstrappings().map(|(plan, keys)| (Arc::clone(plan), keys.clone())).collect();
    let lacking = toy.context.server_from_keys(Arc::clone(few.engine().keys()), own).unwrap();
    let planned = BatchPlan::new(&toy.plan).unwrap();
    let least = (1..=size).find(|&count| planned.price(count) < count as f64 * thin.price()).unwrap();
    assert!(least > 1, "{}", planned.explain(&thin));
    assert!(planned.explain(&thin).contains(&format!("worth it from {least} on")), "{}", planned.explain(&thin));
    for count in [1, least - 1] {
        for (image, x) in lacking.refresh_all(&spent[..count]).unwrap().iter().zip(&list) {
            assert_eq!(&client.decrypt_plaintext(image).unwrap(), x);
        }
    }
    let refused = lacking.refresh_all(&spent[..least]).err();
    assert!(matches!(refused, Some(Error::Bootstrap(BootstrapError::MissingKey { .. }))), "{refused:?}");
    // So do those that have enough left for themselves, but not for a batch.
    let single = server.bootstrapper(Content::Integers).unwrap();
    let batches = server.bootstrapper(Content::Elements).unwrap().batch_plan().unwrap();
    let (least, most) = (single.plan().least_input_bits(), batches.least_input_bits());
    assert!(least + 2.0 < most, "{least} and {most} bits");
    let engine = Engine::new(Scheme::Bgv, toy.plan.message_ring(), Arc::clone(server.engine().keys())).unwrap();
    let spend = |x: &Plaintext| {
        // Sums of multiples of 2 with x take bits and change nothing.
        let mut x = encrypt_at(&client, x, 6);
        let mut twice = engine.add(&x, &x).unwrap();
        while engine.capacity(&x) > least + 1.5 {
            x = engine.add(&x, &twice).unwrap();
            twice = engine.add(&twice, &twice).unwrap();
        }
        x
    };
    let poor: Vec<Ciphertext> = list[..size].iter().map(spend).collect();
    let refused =
        server.bootstrapper(Content::Elements).unwrap().refresh_list(&poor, RefreshOptions::new().in_one_batch()).err();
    assert!(matches!(refused, Some(Error::Bootstrap(BootstrapError::CapacityTooLow { .. }))), "{refused:?}");
    for (image, x) in server.refresh_all(&poor).unwrap().iter().zip(&list) {
        assert_eq!(&client.decrypt_plaintext(image).unwrap(), x);
    }
    // A list with elements goes one by one.
    let elements = random(toy.plan.message_ring(), Content::Elements, 3);
    let mixed = [spent[0].clone(), encrypt_at(&client, &elements, 6)];
    let images = server.refresh_all(&mixed).unwrap();
    assert_eq!(client.decrypt_plaintext(&images[1]).unwrap(), elements);
    // No batch of elements, nor one of too many.
    let bootstrapper = server.bootstrapper(Content::Elements).unwrap();
    let refused = bootstrapper.refresh_list(&mixed, RefreshOptions::new().in_one_batch()).err();
    assert_eq!(refused, Some(Error::Bootstrap(BootstrapError::NotIntegers)));
    let refused = bootstrapper
        .refresh_list(&[spent[0].clone(), spent[1].to_scheme(Scheme::Bfv)], RefreshOptions::new().in_one_batch())
        .err();
    assert!(matches!(refused, Some(Error::Bootstrap(BootstrapError::WrongContext { .. }))), "{refused:?}");
    let refused = bootstrapper.refresh_list(&spent, RefreshOptions::new().in_one_batch()).err();
    assert!(matches!(refused, Some(Error::ShapeMismatch { expected, got, .. }) if expected == size && got == size + 1));
}

/// Lists that bootstrappers refresh by themselves, on the mock and encrypted: of integers under a
/// packed plan together, with elements among them and under a thin plan as one by one.
#[test]
fn bootstrappers_refresh_lists_by_themselves() {
    let (m, p, r, primes, weight, way) = CASES[6];
    let thin = BootstrapSpec { ephemeral_weight: weight, ..BootstrapSpec::default() };
    for (spec, elements) in
        [(packed(way, ORDERS[0], weight), false), (packed(way, ORDERS[0], weight), true), (thin, false)]
    {
        let toy = toy_with(params(m, primes), (p, r), spec);
        let together = toy.plan.spec().mode == Mode::Packed && !elements;
        let mut list = integers(&toy.plan, 3);
        if elements {
            list[1] = random(toy.plan.message_ring(), Content::Elements, 3);
        }
        let (clear, mock) =
            (Clear::new(toy.plan.message_ring()), ClearBootstrapper::new(Arc::clone(&toy.plan), 1).unwrap());
        let encrypted: Vec<_> = list.iter().map(|x| clear.encrypt(x).unwrap()).collect();
        let images = mock.refresh_all(&encrypted).unwrap();
        assert_eq!(images.iter().map(|x| x.plaintext()).collect::<Vec<_>>(), list);
        assert!(images.iter().zip(&encrypted).all(|(image, x)| image.content() == x.content()));

        let (client, server) = toy.parties(8);
        let bootstrapper = bootstrapper(&server);
        let spent: Vec<Ciphertext> = list.iter().map(|x| encrypt_at(&client, x, 6)).collect();
        let images = bootstrapper.refresh_all(&spent).unwrap();
        assert_eq!(images.len(), list.len());
        for ((image, x), before) in images.iter().zip(&list).zip(&spent) {
            assert_eq!(&client.decrypt_plaintext(image).unwrap(), x);
            assert_eq!(image.content(), before.content());
        }
        let alone = bootstrapper.refresh(&spent[0]).unwrap();
        assert_eq!(images[0].parts() != alone.parts(), together, "{}", toy.plan.explain());
    }
}

/// A list under a thin bootstrapping goes through its maps together: the same bits as one by one,
/// for any levels and factors of the ciphertexts, and on several threads.
#[test]
fn thin_lists_go_together() {
    for (case, order) in [(CASES[0], ORDERS[0]), (CASES[0], ORDERS[1]), (CASES[5], ORDERS[0])] {
        let (m, p, r, primes, ephemeral_weight, _) = case;
        let spec = BootstrapSpec { ephemeral_weight, order, ..BootstrapSpec::default() };
        let toy = toy_with(params(m, primes), (p, r), spec);
        let (client, server) = toy.parties(3);
        let list = integers(&toy.plan, 9);
        let mut spent: Vec<Ciphertext> = list.iter().map(|x| encrypt_at(&client, x, 6)).collect();
        let engine = server.engine();
        spent[1] = engine.switch_modulus(&spent[1], spent[1].level() - 1).unwrap();
        // A product has another factor.
        let one = client.encrypt_plaintext(&Plaintext::one(toy.plan.message_ring())).unwrap();
        spent[2] = server.multiply(&one, &client.encrypt_plaintext(&list[2]).unwrap()).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let images = server.refresh_all(&spent).unwrap();
        let threaded = pool.install(|| server.refresh_all(&spent).unwrap());
        assert_eq!(images.len(), list.len());
        for (((image, other), ct), x) in images.iter().zip(&threaded).zip(&spent).zip(&list) {
            assert_eq!(&client.decrypt_plaintext(image).unwrap(), x, "m = {m}");
            let alone = server.refresh(ct).unwrap();
            assert_eq!((image.parts(), image.parts()), (alone.parts(), other.parts()), "m = {m}");
            assert_eq!(engine.capacity(image), engine.capacity(&alone));
        }
        // Reports are counted over the list, and may stop it.
        let first = toy.plan.stages()[0].name.to_string();
        let (mut heard, stages) = (0, toy.plan.stages().iter().map(|stage| stage.times).sum::<usize>());
        let told = server.refresh_list(
            &spent,
            RefreshOptions::new().observed_by(|progress| {
                assert_eq!((progress.number, progress.count), (heard, spent.len() * stages));
                // Eight at a time go through the first stage, then the one that is left over.
                assert!(heard >= 8 || (progress.round == heard && progress.stage == first), "{progress:?}");
                heard += 1;
                ControlFlow::Continue(())
            }),
        );
        assert_eq!((told.unwrap()[1].parts(), heard), (images[1].parts(), spent.len() * stages + 1));
        let stop = |progress: &Progress| match progress.number {
            10 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let stopped = server.refresh_list(&spent, RefreshOptions::new().observed_by(stop)).err();
        assert!(matches!(stopped, Some(Error::Bootstrap(BootstrapError::Cancelled { .. }))), "{stopped:?}");
        let refused = server.refresh_all(&[spent[0].clone(), client.encrypt_plaintext(&elements(&toy)).unwrap()]);
        assert!(matches!(refused.err(), Some(Error::Bootstrap(BootstrapError::NotIntegers))));
        assert!(server.refresh_all(&[]).unwrap().is_empty());
    }
}

fn elements(toy: &Toy) -> Plaintext {
    random(toy.plan.message_ring(), Content::Elements, 3)
}

/// What takes a batch apart may need more than a refresh leaves: there are no batches then, and
/// lists are refreshed all the same.
#[test]
fn lists_go_one_by_one_where_batches_have_no_room() {
    let spec = packed(Unpacking::Constants, Order::ToCoefficientsLast, 6);
    let spec = BootstrapSpec { eval: EvalStage::Alone, ..spec };
    let toy = toy_with(chain(64, vec![26; 11]), (17, 2), spec);
    match BatchPlan::new(&toy.plan).err() {
        Some(Error::Bootstrap(BootstrapError::ChainTooShort { stage, missing_bits })) => {
            assert_eq!((&stage[..], missing_bits > 0.0), ("taking a batch apart", true));
        }
        other => panic!("{other:?}"),
    }
    let list = integers(&toy.plan, toy.plan.message_ring().degree());
    let (mock, clear) =
        (ClearBootstrapper::new(Arc::clone(&toy.plan), 5).unwrap(), Clear::new(toy.plan.message_ring()));
    let encrypted: Vec<_> = list.iter().map(|x| clear.encrypt(x).unwrap()).collect();
    let images = mock.refresh_all(&encrypted).unwrap();
    assert_eq!(images.iter().map(|x| x.plaintext()).collect::<Vec<_>>(), list);
    let (client, server) = toy.parties(12);
    let fresh: Vec<Ciphertext> = list.iter().map(|x| client.encrypt_plaintext(x).unwrap()).collect();
    for images in [server.refresh_all(&fresh).unwrap(), bootstrapper(&server).refresh_all(&fresh).unwrap()] {
        assert_eq!(images.len(), list.len());
        for (image, x) in images.iter().zip(&list) {
            assert_eq!(&client.decrypt_plaintext(image).unwrap(), x);
        }
    }
}
