//! The circuits on BGV and BFV ciphertexts, against the exact mock on the same inputs.

use std::sync::Arc;

use windlass::circuits::{
    CostModel, LinearMap, LinearPlan, PlanSpec, PolynomialPlan, Strategy, TraceChain, TracePlan, TraceSpec,
};
use windlass::needs::Products;
use windlass::schemes::Scheme;
use windlass::schemes::clear::Clear;
use windlass::{Client, Context, Error, Evaluator, NeedsKeys, Plaintext, Server, Switching};
use windlass_ring::slots::SlotRing;

use crate::fixture::{SCHEMES, chain, context, keys};

fn toy(scheme: Scheme, (m, p, r): (u64, u64, u32)) -> Context {
    context(scheme, (p, r), chain(m, &[50, 45, 45, 45, 45, 50], &[50, 50]))
}

fn parties(context: &Context, circuit: &dyn NeedsKeys) -> (Client, Server) {
    context.generate_keys_from_seed([circuit], 5).unwrap()
}

fn input(slot_ring: &Arc<SlotRing>) -> Plaintext {
    let count = (slot_ring.slots() * slot_ring.degree()) as u64;
    Plaintext::from_slots(slot_ring, &(0..count).map(|i| i * i * 5 + 3 * i + 1).collect::<Vec<_>>()).unwrap()
}

#[test]
fn plans_agree_with_their_maps() {
    // (m, p, r): a good dimension, bad ones, a power of two with one slot degree above 1, and one
    // that splits fully.
    for (m, p, r) in [(127, 2, 1), (105, 2, 2), (64, 3, 2), (64, 193, 1)] {
        let slots = toy(Scheme::Bgv, (m, p, r));
        let x = input(&slots);
        for dimension in 0..slots.hypercube().dimensions().len() {
            let map = LinearMap::matmul_1d_extension(&slots, dimension, |c, i, k, out| {
                out.iter_mut().enumerate().for_each(|(j, out)| *out = ((c + 3 * i + 7 * k * k + i * j) % 11) as u64);
            })
            .unwrap();
            let expected = map.apply(&x).unwrap();
            for strategy in Strategy::candidates() {
                let plan = LinearPlan::new(&map, &PlanSpec::with_strategy(strategy)).unwrap();
                for scheme in SCHEMES {
                    let (client, server) = parties(&slots.with_scheme(scheme).unwrap(), &plan);
                    let image = server.apply(&plan, &client.encrypt_plaintext(&x).unwrap()).unwrap();
                    assert_eq!(client.decrypt_plaintext(&image).unwrap(), expected, "{scheme} {}", plan.explain());
                    let exact = client.decryptor().exact_noise_leaks_the_secret_key(&image).unwrap();
                    assert!(exact <= image.log2_noise() + 2.5, "{scheme} {strategy}: {exact} > {}", image.log2_noise());
                }
            }
        }
    }
}

#[test]
fn threads_do_not_change_a_ciphertext() {
    let slots = toy(Scheme::Bgv, (127, 2, 2));
    let map = LinearMap::matmul_1d(&slots, 0, |_, i, k| (i * k + i + 1) as u64).unwrap();
    let plan = LinearPlan::new(&map, &PlanSpec::default()).unwrap();
    let (client, server) = parties(&slots, &plan);
    let ct = client.encrypt_plaintext(&input(&slots)).unwrap();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| plan.apply_once(server.engine(), &ct).unwrap())
    };
    let (one, four) = (with(1), with(4));
    for (a, b) in one.parts().iter().zip(four.parts()) {
        assert_eq!(a, b);
    }
}

#[test]
fn polynomials_agree_with_the_mock() {
    for (m, p, r) in [(31, 2, 3), (64, 17, 1)] {
        let slots = toy(Scheme::Bgv, (m, p, r));
        let x = input(&slots);
        let dense: Vec<i64> = (0..32).map(|e| (e * e + 3) % 13 - 6).collect();
        for plan in [PolynomialPlan::new(&[3, -1, 0, 2, 1, 0, 0, -5]), PolynomialPlan::new(&dense)] {
            let clear = Clear::new(&slots);
            let expected = clear.decrypt(&plan.apply(&clear, &clear.encrypt(&x).unwrap()).unwrap());
            for scheme in SCHEMES {
                let (client, server) = parties(&slots.with_scheme(scheme).unwrap(), &plan);
                let image = server.apply(&plan, &client.encrypt_plaintext(&x).unwrap()).unwrap();
                assert_eq!(client.decrypt_plaintext(&image).unwrap(), expected, "{scheme} m = {m}, {plan}");
                let switches = server.engine().random_events().inner_products as usize;
                assert_eq!(switches, plan.relinearisations(), "{scheme} m = {m}, {plan}");
                let exact = client.decryptor().exact_noise_leaks_the_secret_key(&image).unwrap();
                assert!(exact <= image.log2_noise(), "{scheme} {plan}: {exact} > {}", image.log2_noise());
            }
        }
    }
}

#[test]
fn a_missing_key_is_an_error() {
    let slots = toy(Scheme::Bgv, (127, 2, 1));
    let map = LinearMap::rotation(&slots, 0, 1).unwrap();
    let plan = LinearPlan::new(&map, &PlanSpec::default()).unwrap();
    let (client, server) = parties(&slots, &Products);
    let ct = client.encrypt_plaintext(&input(&slots)).unwrap();
    let wanted = *plan.required_keys().first().unwrap();
    assert!(!server.engine().has_key(wanted));
    let refused = plan.apply_once(server.engine(), &ct);
    assert!(matches!(refused, Err(Error::MissingGaloisKey { element, .. }) if element == wanted));
}

#[test]
fn prices_are_measured() {
    let slots = toy(Scheme::Bgv, (127, 2, 1));
    let (client, server) = parties(&slots, &keys([2]));
    let ct = client.encrypt_plaintext(&input(&slots)).unwrap();
    let engine = server.engine();
    let prices = CostModel::measure(engine, &ct, &[2]).unwrap();
    let all = [prices.hoist, prices.hoisted_automorphism, prices.extended_automorphism, prices.multiply_constant];
    let more = [prices.mod_down, prices.automorphism, prices.multiply_base_q];
    assert!(
        all[..1].iter().chain(&all[2..3]).chain(&more).all(|price| price.is_finite() && *price > 0.0),
        "{prices:?}"
    );
    assert!(matches!(CostModel::measure(engine, &ct, &[3]), Err(Error::MissingGaloisKey { element: 3, .. })));
    let map = LinearMap::matmul_1d(&slots, 0, |_, i, k| (i * k + 1) as u64).unwrap();
    let plan = LinearPlan::new(&map, &PlanSpec { cost: prices, ..PlanSpec::default() }).unwrap();
    assert!(plan.price() > 0.0 && plan.explain().contains("seconds"), "{}", plan.explain());
    // A context knows the time of a transform and the sizes of keys and constants.
    let cost = CostModel::for_context(engine.context());
    let plan = LinearPlan::new(&map, &PlanSpec { cost, ..PlanSpec::default() }).unwrap();
    let sizes = engine.context().params().key_sizes();
    assert_eq!(cost.key_bytes, Some(sizes.switching_key_memory));
    assert_eq!(cost.constant_bytes, Some(engine.constant_bytes(engine.context().top_level()) as u64));
    // A plan by the default prices tells times and sizes by these too.
    let by_default = map.plan().unwrap();
    assert!(by_default.explain().contains("transforms of one row"));
    let total = TraceChain::total(&slots).unwrap();
    let total = TracePlan::new(&total, &TraceSpec::default()).unwrap();
    for text in [plan.explain(), by_default.explain_at(&cost), total.explain_at(&cost)] {
        assert!(text.contains("milliseconds") && text.contains("bytes in all"), "{text}");
    }
    assert!(total.explain().contains("transforms of one row"));
}
