//! Refreshes that evaluate a table.

use std::slice::from_ref;

use super::*;
use windlass::circuits::SlotTable;

/// A table with nothing to be saved.
fn table(plan: &BootstrapPlan, seed: u64) -> (SlotTable, Vec<u64>) {
    let ring = plan.message_ring();
    let values: Vec<u64> = random(ring, Content::Integers, seed).to_integers().unwrap();
    let modulus = ring.modulus().value();
    // There may be fewer slots than residues.
    let values: Vec<u64> = (0..modulus).map(|x| (values[x as usize % values.len()] + x * x / 3) % modulus).collect();
    (SlotTable::new(ring, &values).unwrap(), values)
}

fn image(values: &[u64], content: &Plaintext) -> Plaintext {
    let integers: Vec<u64> = content.to_integers().unwrap().iter().map(|&x| values[x as usize]).collect();
    Plaintext::from_integers(content.slot_ring(), &integers).unwrap()
}

fn integers(plan: &BootstrapPlan, seed: u64) -> Plaintext {
    random(plan.message_ring(), Content::Integers, seed)
}

/// (m, p, r, primes, weight): p^r up to 2^8.
const TABLE_SETS: [(u64, u64, u32, usize, u32); 7] = [
    (105, 2, 1, 14, 6),
    (45, 2, 2, 18, 4),
    (45, 2, 8, 40, 4),
    (64, 7, 1, 16, 6),
    (80, 3, 2, 22, 4),
    (48, 17, 1, 18, 4),
    (64, 127, 1, 24, 6),
];

#[test]
fn tables_on_the_mock() {
    for (set, mode) in TABLE_SETS.iter().flat_map(|set| [(set, Mode::Thin), (set, Mode::Packed)]) {
        let &(m, p, r, primes, weight) = set;
        let spec = BootstrapSpec { mode, ephemeral_weight: weight, ..BootstrapSpec::default() };
        let plan = Arc::new(plan(params(m, primes), (p, r), spec).unwrap());
        let clear = Clear::new(plan.message_ring());
        for seed in 0..2 {
            let (table, values) = table(&plan, seed);
            let content = integers(&plan, seed + 10);
            let mock = ClearBootstrapper::new(Arc::clone(&plan), seed).unwrap();
            let refreshed = mock.refresh_with_table(&clear.encrypt(&content).unwrap(), &table).unwrap();
            assert_eq!(refreshed.plaintext(), image(&values, &content), "{set:?}\n{}", table.explain());
            assert_eq!(refreshed.content(), Content::Integers);
        }
    }
}

/// Nearly spent, refreshed by two tables under the same keys; every slot is compared, and what is
/// left is what the plan says.
#[test]
fn tables_on_refreshed_ciphertexts() {
    let thin = [TABLE_SETS[0], TABLE_SETS[1], TABLE_SETS[2], TABLE_SETS[3], TABLE_SETS[4]].map(|set| (set, Mode::Thin));
    let packed = [TABLE_SETS[3], TABLE_SETS[1]].map(|set| (set, Mode::Packed));
    for ((m, p, r, primes, weight), mode) in thin.into_iter().chain(packed) {
        let spec = BootstrapSpec { mode, ephemeral_weight: weight, ..BootstrapSpec::default() };
        let mut toy = toy_with(params(m, primes), (p, r), spec);
        for scheme in fixture::SCHEMES {
            toy.context = toy.context.with_scheme(scheme).unwrap();
            let (client, server) = toy.parties(1);
            let content = integers(&toy.plan, 2);
            let fresh = client.encrypt_plaintext(&content).unwrap();
            let spent = server.engine().reduce_level(&fresh, toy.plan.least_input_bits() + 20.0).unwrap();
            for seed in [3, 4] {
                let (table, values) = table(&toy.plan, seed);
                let case = format!("{scheme}, {mode}\n{}\n{}", table.explain(), toy.plan.explain());
                let forecast = toy.plan.forecast_table(&table).unwrap();
                let refreshed = server.refresh_one(&spent, RefreshOptions::new().with_table(&table)).unwrap();
                assert_eq!(client.decrypt_plaintext(&refreshed).unwrap(), image(&values, &content), "{case}");
                assert_eq!(refreshed.content(), Content::Integers);
                let left = server.capacity(&refreshed);
                assert!(
                    left > forecast.output_bits - 1.0 && left < forecast.output_bits + 30.0,
                    "{left}, {forecast:?}, {case}"
                );
                // The first refresh of this server: the plan counts no fewer random events.
                if seed == 3 {
                    let done = bootstrapper(&server).random_events();
                    assert!(done.total() <= forecast.events.total(), "{done:?}, {forecast:?}, {case}");
                    assert!(done.inner_products > toy.plan.random_events().inner_products / 2, "{case}");
                }
                // It is an ordinary ciphertext: it is refreshed again.
                let low = left.min(toy.plan.least_input_bits() + 20.0);
                let again = server.refresh(&server.engine().reduce_level(&refreshed, low).unwrap()).unwrap();
                assert_eq!(client.decrypt_plaintext(&again).unwrap(), image(&values, &content), "{case}");
            }
        }
    }
}

/// What a table takes is said beforehand; one that costs no product takes next to nothing.
#[test]
fn the_plan_says_what_a_table_leaves() {
    let spec = || BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() };
    let plan = plan(params(64, 24), (127, 1), spec()).unwrap();
    let ring = plan.message_ring();
    let of = |f: fn(u64) -> u64| plan.forecast_table(&SlotTable::from_fn(ring, |x| f(x) % 127).unwrap()).unwrap();
    let [affine, square, mixed] = [of(|x| x + 5), of(|x| x * x), of(|x| (x * 0x9e37_79b9) >> 5)];
    assert!(plan.output_bits() - affine.output_bits < 3.0, "{affine:?}");
    assert_eq!(affine.events.inner_products, plan.random_events().inner_products);
    // One integer is added.
    assert!(affine.price > plan.price() && affine.price < 1.01 * plan.price(), "{affine:?}, {}", plan.price());
    assert!(square.output_bits < affine.output_bits - 10.0 && mixed.output_bits < square.output_bits - 60.0);
    assert!(affine.price < square.price && square.price < mixed.price);
    assert!(mixed.events.total() > square.events.total() && mixed.failure_bits < plan.failure_bits());

    // Too long for a chain that just bootstraps, and refused before any work.
    let short = |primes| super::plan(chain(64, [vec![50], vec![26; primes]].concat()), (127, 1), spec());
    let short = (8..48).find_map(|primes| short(primes).ok()).unwrap();
    let table = SlotTable::from_fn(ring, |x| ((x * 0x9e37_79b9) >> 5) % 127).unwrap();
    match short.forecast_table(&table) {
        Err(Error::Bootstrap(BootstrapError::ChainTooShort { stage, missing_bits })) => {
            assert!(stage == "table" && missing_bits > 0.0, "{missing_bits}");
        }
        other => panic!("{other:?}, {}", short.explain()),
    }
}

#[test]
fn what_a_table_is_not_for_is_refused_before_any_work() {
    let spec = BootstrapSpec { mode: Mode::Packed, ephemeral_weight: 6, ..BootstrapSpec::default() };
    let toy = toy_with(params(64, 16), (7, 1), spec);
    let (client, server) = toy.parties(5);
    let own = SlotTable::from_fn(toy.plan.message_ring(), |x| 6 - x).unwrap();
    let refuse = |ct: &Ciphertext, table: &SlotTable| {
        let options = RefreshOptions::new().with_table(table).observed_by(|_| panic!("a stage was begun"));
        let refused = bootstrapper(&server).refresh_one(ct, options);
        refused.unwrap_err()
    };
    // A packed refresh keeps elements; a table is for integers.
    let elements = client.encrypt_plaintext(&message(&toy.plan, 1)).unwrap();
    assert_eq!(refuse(&elements, &own), Error::Bootstrap(BootstrapError::NotIntegers));
    let other = plan(params(105, 14), (2, 1), BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() });
    let other = SlotTable::from_fn(other.unwrap().message_ring(), |x| 1 - x).unwrap();
    let integers = client.encrypt_plaintext(&integers(&toy.plan, 1)).unwrap();
    assert!(matches!(refuse(&integers, &other), Error::ContextMismatch { .. }));
    let bare = toy.context.server_without_keys().unwrap();
    let mut spent = integers.clone();
    while server.capacity(&spent) > 3.0 {
        spent = bare.add(&spent, &spent).unwrap();
    }
    assert!(matches!(refuse(&spent, &own), Error::Bootstrap(BootstrapError::CapacityTooLow { .. })));
    // The last report is of the table.
    let mut stages = Vec::new();
    let seen = |progress: &Progress| {
        stages.push((progress.stage.clone(), progress.number, progress.count));
        ControlFlow::Continue(())
    };
    bootstrapper(&server).refresh_one(&integers, RefreshOptions::new().with_table(&own).observed_by(seen)).unwrap();
    let count = stages.len() - 1;
    assert_eq!(stages[count - 1..], [("table".to_owned(), count - 1, count), (String::new(), count, count)]);
}

/// A list goes through the refresh together, then each ciphertext through the table. Reports are
/// counted over the list, with the table as the last stage of each ciphertext.
#[test]
fn lists_are_refreshed_with_a_table() {
    let toy = toy_with(params(64, 16), (7, 1), BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() });
    let (client, server) = toy.parties(6);
    let (table, values) = table(&toy.plan, 3);
    let contents: Vec<Plaintext> = (0..3).map(|seed| integers(&toy.plan, seed)).collect();
    let list: Vec<Ciphertext> = contents.iter().map(|content| encrypt_at(&client, content, 4)).collect();
    let mut stages = Vec::new();
    let options = RefreshOptions::new().with_table(&table).observed_by(|progress| {
        stages.push((progress.stage.clone(), progress.number, progress.count));
        ControlFlow::Continue(())
    });
    let images = server.refresh_list(&list, options).unwrap();
    for ((image_of, content), ct) in images.iter().zip(&contents).zip(&list) {
        assert_eq!(client.decrypt_plaintext(image_of).unwrap(), image(&values, content));
        let alone = server.refresh_one(ct, RefreshOptions::new().with_table(&table)).unwrap();
        assert_eq!(image_of.parts(), alone.parts());
    }
    let count = 3 * (toy.plan.stages().iter().map(|stage| stage.times).sum::<usize>() + 1);
    assert!(stages.iter().enumerate().all(|(number, (_, told, of))| (*told, *of) == (number, count)), "{stages:?}");
    assert!(stages[count - 3..count].iter().all(|(stage, ..)| stage == "table") && stages.len() == count + 1);
    // One ciphertext that a table cannot take keeps the others from being refreshed.
    let elements = random(toy.plan.message_ring(), Content::Elements, 1);
    let elements = client.encrypt_plaintext(&elements).unwrap();
    let begun = |_: &Progress| panic!("a stage was begun");
    let options = RefreshOptions::new().with_table(&table).observed_by(begun);
    let refused = bootstrapper(&server).refresh_list(&[list[0].clone(), elements], options);
    assert_eq!(refused.err(), Some(Error::Bootstrap(BootstrapError::NotIntegers)));
}

#[test]
fn a_batch_takes_no_table() {
    let spec = BootstrapSpec { mode: Mode::Packed, ephemeral_weight: 6, ..BootstrapSpec::default() };
    let toy = toy_with(params(64, 16), (7, 1), spec);
    let (client, server) = toy.parties(7);
    let (table, _) = table(&toy.plan, 3);
    let ct = client.encrypt_plaintext(&integers(&toy.plan, 1)).unwrap();
    let options = || RefreshOptions::new().with_table(&table).in_one_batch();
    for refused in [server.refresh_list(from_ref(&ct), options()), bootstrapper(&server).refresh_list(&[], options())] {
        let Err(Error::Bootstrap(BootstrapError::Unsupported { what })) = refused else { panic!("{refused:?}") };
        assert!(what.contains("in_one_batch"), "{what}");
    }
    let batch = server.refresh_list(from_ref(&ct), RefreshOptions::new().in_one_batch()).unwrap();
    assert_eq!(client.decrypt_plaintext(&batch[0]).unwrap(), integers(&toy.plan, 1));
}
