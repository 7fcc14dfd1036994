//! Refreshes with the Galois keys of a rule, with few of them, and by algorithms of one's choice.

use std::collections::BTreeSet;

use super::*;
use windlass::bootstrap::{MapChoice, Order, Unpacking};
use windlass::circuits::Strategy;
use windlass::rlwe::KeyStrategy;

/// Thin and packed; composite m with good and bad dimensions, powers of two of both kinds, with
/// elements that come apart by constants and by monomials.
fn cases() -> Vec<((u64, u64, u32, usize, u32), BootstrapSpec)> {
    let thin = BootstrapSpec::default();
    let packed = |unpacking, order| BootstrapSpec { mode: Mode::Packed, unpacking, order, ..BootstrapSpec::default() };
    let (first, last) = (Order::ToCoefficientsFirst, Order::ToCoefficientsLast);
    vec![
        ((1023, 2, 1, 16, 8), thin.clone()),
        ((64, 257, 1, 14, 6), thin.clone()),
        ((256, 17, 1, 16, 6), thin.clone()),
        ((128, 127, 1, 16, 6), thin),
        ((105, 2, 1, 14, 6), packed(Unpacking::Constants, last)),
        ((64, 7, 1, 16, 6), packed(Unpacking::Constants, first)),
        ((256, 17, 1, 18, 6), packed(Unpacking::Monomials, first)),
        ((64, 7, 1, 16, 6), packed(Unpacking::Monomials, last)),
        ((64, 17, 1, 16, 6), packed(Unpacking::MonomialsInSlots, last)),
    ]
}

fn planned((m, p, r, primes, weight): (u64, u64, u32, usize, u32), spec: BootstrapSpec) -> Arc<BootstrapPlan> {
    let spec = BootstrapSpec { ephemeral_weight: weight, ..spec };
    let what = format!("m = {m}, p = {p}, {spec:?}");
    Arc::new(plan(params(m, primes), (p, r), spec).unwrap_or_else(|error| panic!("{what}: {error}")))
}

fn keys_of(plan: &BootstrapPlan, strategy: KeyStrategy) -> BTreeSet<u64> {
    strategy.of_ring(plan.message_ring().hypercube())
}

#[test]
fn every_rule_of_keys_is_enough_on_the_mock() {
    for (set, spec) in cases() {
        let free = planned(set, spec.clone());
        let named = |strategy: &KeyStrategy| free.explain().contains(&format!("{strategy} keys"));
        assert!(!KeyStrategy::ALL.iter().any(named), "{}", free.explain());
        for strategy in KeyStrategy::ALL {
            let plan = planned(set, BootstrapSpec { keys: Some(strategy), ..spec.clone() });
            let (asked, allowed) = (plan.required_keys(), keys_of(&plan, strategy));
            assert!(asked.is_subset(&allowed), "{strategy}: {asked:?} of {allowed:?}\n{}", plan.explain());
            assert!(plan.explain().contains(&format!("{strategy} keys")), "{}", plan.explain());
            let count = format!("{} Galois keys", asked.len());
            assert!(plan.explain().contains(&count), "{}", plan.explain());
            on_the_mock_with(&plan, 0..1);
        }
    }
}

/// With minimal keys there are two for each dimension and for Frobenius, and one more in a bad one.
#[test]
fn minimal_keys_are_few() {
    let set = (1023, 2, 1, 16, 8);
    let [full, minimal] = [KeyStrategy::Full, KeyStrategy::Minimal]
        .map(|strategy| planned(set, BootstrapSpec { keys: Some(strategy), ..BootstrapSpec::default() }));
    let dimensions = minimal.message_ring().hypercube().dimensions().len();
    assert!(minimal.required_keys().len() <= 3 * dimensions + 2, "{}", minimal.explain());
    assert!(minimal.required_keys().len() < full.required_keys().len(), "{}", full.explain());
    assert!(minimal.key_bytes().evaluation_memory < full.key_bytes().evaluation_memory);
    assert!(minimal.price() > full.price());
}

/// With no other keys than those of the rule: what a stage lacks is refused when keys are checked.
#[test]
fn every_rule_of_keys_is_enough_encrypted() {
    let rules = [KeyStrategy::Minimal, KeyStrategy::BabyGiant, KeyStrategy::Full];
    for ((number, ((m, p, r, primes, weight), spec)), strategy) in
        cases().into_iter().enumerate().zip(rules.iter().cycle())
    {
        // Each case with one rule, the slow ones in thin mode.
        if number == 2 || number == 6 {
            continue;
        }
        let spec = BootstrapSpec { keys: Some(*strategy), ephemeral_weight: weight, ..spec };
        with_parameters(params(m, primes), (p, r), spec);
    }
    for (m, p, r, primes, weight) in [(1023, 2, 1, 16, 8), (256, 17, 1, 16, 6)] {
        let spec =
            BootstrapSpec { keys: Some(KeyStrategy::Minimal), ephemeral_weight: weight, ..BootstrapSpec::default() };
        with_parameters(params(m, primes), (p, r), spec);
    }
}

/// A batch comes apart by the same keys.
#[test]
fn batches_by_minimal_keys() {
    for unpacking in [Unpacking::Constants, Unpacking::Monomials] {
        let order = Order::ToCoefficientsLast;
        let (mode, keys) = (Mode::Packed, Some(KeyStrategy::Minimal));
        let spec = BootstrapSpec { mode, unpacking, order, keys, ephemeral_weight: 6, ..BootstrapSpec::default() };
        let toy = toy_with(params(64, 18), (7, 1), spec);
        let (client, server) = toy.parties(5);
        let batch = bootstrapper(&server).batch_plan().unwrap();
        let list: Vec<Plaintext> =
            (0..batch.size() as u64).map(|k| random(toy.plan.message_ring(), Content::Integers, k)).collect();
        let inputs: Vec<Ciphertext> = list.iter().map(|x| client.encrypt_plaintext(x).unwrap()).collect();
        let images = bootstrapper(&server).refresh_list(&inputs, RefreshOptions::new().in_one_batch()).unwrap();
        for (image, x) in images.iter().zip(&list) {
            assert_eq!(&client.decrypt_plaintext(image).unwrap(), x, "{}", toy.plan.explain());
        }
    }
}

#[test]
fn a_plan_with_few_keys_is_found_or_refused() {
    for (set, spec) in [cases().swap_remove(0), cases().swap_remove(4), cases().swap_remove(7)] {
        let free = planned(set, spec.clone());
        let most = free.required_keys().len();
        let with = |most| BootstrapSpec { max_keys: Some(most), ephemeral_weight: set.4, ..spec.clone() };
        let of = |most| plan(params(set.0, set.3), (set.1, set.2), with(most));
        // As many as it has: none that costs more.
        assert!(of(most).unwrap().price() <= free.price());
        let Err(Error::Bootstrap(BootstrapError::TooManyKeys { most: 1, least })) = of(1) else {
            panic!("one key\n{}", of(1).unwrap().explain())
        };
        assert!(least < most, "{least} of {most}");
        // Nor has a plan by minimal keys fewer.
        let fewer = BootstrapSpec { keys: Some(KeyStrategy::Minimal), ..with(least - 1) };
        assert!(plan(params(set.0, set.3), (set.1, set.2), fewer).is_err());
        let few = Arc::new(of(least).unwrap());
        assert!(few.required_keys().len() <= least && few.price() >= free.price(), "{}", few.explain());
        on_the_mock_with(&few, 0..1);
        let middle = of(most - 1).unwrap();
        assert!(middle.required_keys().len() < most && middle.price() <= few.price(), "{}", middle.explain());
    }
}

#[test]
fn a_strategy_that_the_keys_do_not_carry_is_refused() {
    let spec = BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() };
    // By the key that it lacks.
    let (maps, keys) = (MapChoice::from(Strategy::HOISTED), Some(KeyStrategy::Minimal));
    let refused = plan(params(1023, 16), (2, 1), BootstrapSpec { maps, keys, ..spec });
    assert!(matches!(refused, Err(Error::MissingGaloisKey { .. })), "{refused:?}");
}
