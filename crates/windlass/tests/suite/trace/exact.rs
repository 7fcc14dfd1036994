//! Over slots modulo a prime power.

use std::sync::Arc;

use windlass::circuits::trace::{TraceChain, TracePlan, TraceSpec, replicate, running_sum_maps};
use windlass::circuits::{InnerProduct, LinearPlan, PlanSpec};
use windlass::ring::kernels::Isa;
use windlass::ring::slots::SlotRing;
use windlass::rlwe::RlweSpec;
use windlass::schemes::Scheme;
use windlass::schemes::clear::Clear;
use windlass::{Content, Error, Plaintext};

use crate::fixture::{chain, context, keys, random};

fn slots(m: u64, p: u64, r: u32) -> Arc<SlotRing> {
    Arc::new(SlotRing::new(m, p, r, Isa::best()).unwrap())
}

fn values(slot_ring: &SlotRing) -> Vec<u64> {
    let t = slot_ring.modulus().value();
    (0..slot_ring.slots() as u64).map(|j| (j * j * 7 + 3 * j + 1) % t).collect()
}

/// Sums over all slots at each place, over a hypercolumn at each place.
fn sums(slot_ring: &SlotRing, values: &[u64], dimension: Option<usize>) -> Vec<u64> {
    let t = slot_ring.modulus().value();
    let key = |j: usize| {
        dimension.map(|s| {
            let mut coordinates = slot_ring.hypercube().coordinates(j);
            coordinates[s] = 0;
            coordinates
        })
    };
    (0..values.len())
        .map(|i| (0..values.len()).filter(|&j| key(i) == key(j)).map(|j| values[j]).sum::<u64>() % t)
        .collect()
}

/// Powers of two, odd and composite m; good and bad dimensions; prime powers.
#[test]
fn sums_on_the_mock_are_sums() {
    for (m, p, r) in [(64, 17, 1), (45, 2, 3), (105, 2, 1), (91, 3, 2), (257, 2, 1), (1365, 2, 2)] {
        let slots = slots(m, p, r);
        let clear = Clear::new(&slots);
        let x = values(&slots);
        let ct = clear.encrypt(&Plaintext::from_integers(&slots, &x).unwrap()).unwrap();
        let mut chains = vec![(TraceChain::total(&slots).unwrap(), sums(&slots, &x, None))];
        for dimension in 0..slots.hypercube().dimensions().len() {
            chains.push((TraceChain::dimension(&slots, dimension).unwrap(), sums(&slots, &x, Some(dimension))));
        }
        for (chain, expected) in chains {
            let reference = chain.sequential(&clear, &ct).unwrap();
            assert_eq!(reference.plaintext().to_integers().unwrap(), expected, "m = {m}");
            for groups in 1..=chain.factors().len() {
                let plan = TracePlan::new(&chain, &TraceSpec::with_groups(groups)).unwrap();
                let mock = Clear::with_keys(&slots, plan.required_keys());
                let sum = plan.apply(&mock, &ct).unwrap();
                assert_eq!(sum, reference, "m = {m}, {}", plan.explain());
                assert!(mock.counts().hoists <= groups && mock.counts().mod_downs <= groups);
            }
        }
    }
}

#[test]
fn the_field_trace_is_the_trace_of_every_slot() {
    for (m, p, r) in [(45, 2, 2), (31, 2, 3), (91, 3, 1), (257, 2, 1)] {
        let slots = slots(m, p, r);
        let clear = Clear::new(&slots);
        let t = slots.modulus().value();
        let x: Vec<u64> = (0..slots.n() as u64).map(|j| (j * 5 + 1) % t).collect();
        let plaintext = Plaintext::from_slots(&slots, &x).unwrap();
        let ct = clear.encrypt(&plaintext).unwrap();
        let chain = TraceChain::field_trace(&slots).unwrap();
        let plan = TracePlan::new(&chain, &TraceSpec::default()).unwrap();
        // The definition of linear maps shares no code with chains.
        let expected = windlass::circuits::LinearMap::trace(&slots).unwrap().apply(&plaintext).unwrap();
        assert_eq!(clear.decrypt(&plan.apply(&clear, &ct).unwrap()), expected, "m = {m}");
        assert!(expected.to_integers().is_ok());
    }
}

#[test]
fn running_sums_in_any_number_of_groups() {
    for (m, p) in [(64, 17), (105, 2), (91, 3), (257, 2)] {
        let slots = slots(m, p, 1);
        let clear = Clear::new(&slots);
        let x = values(&slots);
        for (dimension, line) in slots.hypercube().dimensions().iter().enumerate() {
            let along = |j: usize| slots.hypercube().coordinates(j);
            let expected: Vec<u64> = (0..x.len())
                .map(|i| {
                    let below = |j: &usize| {
                        let (mut a, mut b) = (along(i), along(*j));
                        let order = b[dimension] <= a[dimension];
                        (a[dimension], b[dimension]) = (0, 0);
                        order && a == b
                    };
                    (0..x.len()).filter(below).map(|j| x[j]).sum::<u64>() % p
                })
                .collect();
            let steps = line.size.next_power_of_two().trailing_zeros() as usize;
            for groups in 1..=steps {
                let mut ct = clear.encrypt(&Plaintext::from_integers(&slots, &x).unwrap()).unwrap();
                for map in running_sum_maps(&slots, dimension, groups).unwrap() {
                    let plan = LinearPlan::new(&map, &PlanSpec::default()).unwrap();
                    ct = plan.apply_once(&clear, &ct).unwrap();
                }
                assert_eq!(ct.plaintext().to_integers().unwrap(), expected, "m = {m}, dimension {dimension}, {groups}");
            }
            assert!(matches!(running_sum_maps(&slots, dimension, steps + 1), Err(Error::OutOfRange { .. })));
        }
    }
}

#[test]
fn encrypted_sums_in_both_schemes() {
    for (m, p, scheme) in
        [(256, 257, Scheme::Bgv), (256, 257, Scheme::Bfv), (105, 2, Scheme::Bgv), (91, 3, Scheme::Bfv)]
    {
        let spec = RlweSpec { digits: 2, ..chain(m, &[48; 4], &[50; 2]) };
        let context = context(scheme, (p, 1), spec);
        let chain = TraceChain::total(&context).unwrap();
        let plans: Vec<TracePlan> = (1..=chain.factors().len())
            .map(|groups| TracePlan::new(&chain, &TraceSpec::with_groups(groups)).unwrap())
            .collect();
        let elements = plans.iter().flat_map(TracePlan::required_keys).chain(chain.sequential_keys());
        let (client, server) = context.generate_keys_from_seed([&keys(elements)], 4).unwrap();
        let engine = server.engine();
        let x = values(&context);
        let ct = client.encrypt(&x).unwrap();
        let expected = sums(&context, &x, None);
        assert_eq!(client.decrypt(&chain.sequential(engine, &ct).unwrap()).unwrap(), expected);
        for plan in &plans {
            let sum = server.apply(plan, &ct).unwrap();
            assert_eq!(client.decrypt(&sum).unwrap(), expected, "{scheme}, m = {m}: {}", plan.explain());
        }
        let squares: u64 = x.iter().map(|x| x * x).sum::<u64>() % p;
        let inner = InnerProduct::with_spec(&context, &TraceSpec::with_groups(1)).unwrap();
        let product = inner.apply(engine, &ct, &ct).unwrap();
        assert_eq!(client.decrypt(&product).unwrap(), vec![squares; x.len()]);
        let copies = replicate(engine, &plans[0], &ct, 3).unwrap();
        assert_eq!(client.decrypt(&copies).unwrap(), vec![x[3]; x.len()]);
        assert!(matches!(replicate(engine, &plans[0], &ct, x.len()), Err(Error::OutOfRange { .. })));
        let bare = context.server_without_keys().unwrap();
        assert!(matches!(plans[0].apply(bare.engine(), &ct), Err(Error::MissingGaloisKey { .. })));
        assert!(bare.add(&ct, &ct).is_ok());
    }
}

/// Along a bad dimension automorphisms sum integers alone, and one slot comes to all others by a
/// total sum alone.
#[test]
fn sums_of_elements_and_other_sums_are_refused() {
    for (m, p, good) in [(64, 17, false), (127, 2, true)] {
        let slots = slots(m, p, 1);
        let clear = Clear::new(&slots);
        let chain = TraceChain::total(&slots).unwrap();
        assert_eq!(chain.needs_integers(), !good, "m = {m}");
        let plan = TracePlan::new(&chain, &TraceSpec::default()).unwrap();
        let encrypt = |content| clear.encrypt(&random(&slots, content, 3)).unwrap();
        let [elements, integers] = [Content::Elements, Content::Integers].map(encrypt);
        for result in
            [plan.apply(&clear, &elements), chain.sequential(&clear, &elements), replicate(&clear, &plan, &elements, 1)]
        {
            assert_eq!(matches!(result, Err(Error::NotIntegers { .. })), !good, "m = {m}: {result:?}");
        }
        assert_eq!(clear.counts().constant_products, usize::from(good), "refused before any work");
        assert!(replicate(&clear, &plan, &integers, 1).is_ok());
        let trace = TracePlan::new(&TraceChain::field_trace(&slots).unwrap(), &TraceSpec::default()).unwrap();
        assert!(trace.apply(&clear, &elements).is_ok());
        assert!(matches!(replicate(&clear, &trace, &integers, 1), Err(Error::ContextMismatch { .. })));
    }
}
