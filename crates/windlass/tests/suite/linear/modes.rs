//! Hoisting modes, forms of constants, doubling, explanations.

use std::cell::Cell;
use std::sync::Arc;

use windlass::circuits::linear::plan::{Cofactors, Factoring, MapStrategy, Powers, Proposal, Route, Support, Walk};
use windlass::circuits::{ConstantForm, CostModel, HoistMode, LinearMap, LinearPlan, PlanSpec, Strategy};
use windlass::schemes::clear::Clear;
use windlass::{Error, Plaintext};
use windlass_ring::slots::SlotRing;
use windlass_rlwe::KeyStrategy;

use super::common::*;

#[test]
fn constants_as_coefficients() {
    for ring in [ring(31, 2, 2), ring(64, 17, 3), ring(85, 127, 1), ring(105, 2, 1)] {
        let map = LinearMap::matmul_1d_extension(&ring, 0, |c, i, k, out| entry(&ring, 1, (c, i, k), out)).unwrap();
        let input = Plaintext::from_slots(&ring, &random_slots(&ring, 1)).unwrap();
        let expected = map.apply(&input).unwrap();
        let held = |constants: ConstantForm, constant_bytes: usize| {
            for hoisting in [HoistMode::Double, HoistMode::Single] {
                let spec = PlanSpec { constants, constant_bytes, hoisting, ..PlanSpec::default() };
                check_plan(&map, &spec, &input, &expected);
            }
            let plan = LinearPlan::new(&map, &PlanSpec { constants, constant_bytes, ..PlanSpec::default() }).unwrap();
            let prepared = plan.prepare(&Clear::new(&ring)).unwrap();
            (prepared.bytes(), prepared.constants(), prepared.expanded())
        };
        let (ready, count, none) = held(ConstantForm::Evaluation, 0);
        let (packed, _, all) = held(ConstantForm::Coefficients, 0);
        assert!((none, all) == (0, count) && (ring.modulus().value() > 65536 || ready >= 4 * packed));
        // As many are ready as fit.
        for expanded in 0..=count {
            let limit = ready - expanded * (ready / count);
            let bytes = limit + expanded * (packed / count);
            assert_eq!(held(ConstantForm::Automatic, limit), (bytes, count, expanded));
            assert_eq!(held(ConstantForm::Automatic, limit.saturating_sub(1)).2, (expanded + 1).min(count));
        }
    }
}

/// Constants that are expanded on use come a few sums at a time; each input is made once all the
/// same. D = 18 and d = 7: 126 constants, twice as many as are expanded at a time.
#[test]
fn expanding_constants_makes_no_input_twice() {
    let ring = ring(127, 2, 1);
    let entry = |c: usize, i: usize, k: usize, out: &mut [u64]| {
        out.iter_mut().enumerate().for_each(|(x, out)| *out = (c + i * i + 3 * k + x * (i + k) + x / 3) as u64 & 1);
    };
    let map = LinearMap::block_matmul_1d(&ring, 0, entry).unwrap();
    let input = Plaintext::from_slots(&ring, &random_slots(&ring, 5)).unwrap();
    let expected = map.apply(&input).unwrap();
    for strategy in [Strategy::BLOCK, Strategy::TWO_LEVEL_SHARED, Strategy::AUTOMATIC] {
        let spec = PlanSpec::with_strategy(strategy);
        let plan = LinearPlan::new(&map, &spec).unwrap();
        assert!(plan.count().constant_products > 100);
        let bytes = plan.prepare(&Clear::new(&ring)).unwrap().bytes();
        // None of them, a half, one of 126, and all.
        for constant_bytes in [bytes, bytes / 2, bytes - 1, 0] {
            check_plan(&map, &PlanSpec { constant_bytes, ..spec.clone() }, &input, &expected);
        }
    }
}

/// One, two or eight bytes a coefficient, by the plaintext modulus.
#[test]
fn constants_as_coefficients_take_no_more_bytes_than_they_need() {
    for (ring, each) in [(ring(64, 3, 5), 1), (ring(64, 3, 10), 2), (ring(64, 17, 3), 2), (ring(64, 17, 4), 8)] {
        let map = LinearMap::matmul_1d(&ring, 0, |c, i, k| (1 + c + 2 * i + 3 * k) as u64).unwrap();
        let spec = PlanSpec { constants: ConstantForm::Coefficients, ..PlanSpec::default() };
        let plan = LinearPlan::new(&map, &spec).unwrap();
        let prepared = plan.prepare(&Clear::new(&ring)).unwrap();
        assert!(prepared.constants() > 0 && prepared.constants() == plan.constants());
        assert_eq!(prepared.bytes(), prepared.constants() * ring.n() * each, "{}", ring.modulus().value());
    }
}

/// A clock on which run number k of every measurement takes k milliseconds: three runs of a hoist,
/// three of one sum of 16 products, of five sums, four giant steps, and so on.
#[test]
fn prices_are_the_least_times_by_the_clock() {
    let ring = ring(31, 2, 1);
    let clear = Clear::with_keys(&ring, [3]);
    let one = clear.encrypt(&Plaintext::one(&ring)).unwrap();
    let (readings, before) = (Cell::new(0_u32), clear.counts());
    let clock = || {
        let reading = readings.replace(readings.get() + 1);
        let runs = reading.div_ceil(2);
        f64::from(runs * (runs + 1) / 2) / 1e3
    };
    let prices = CostModel::measure_by(&clear, &one, &[3], &clock).unwrap();
    let close = |price: f64, wanted: f64| assert!((price - wanted).abs() < 1e-6, "{price} for {wanted}: {prices:?}");
    let multiply = (7.0 - 4.0) / 64.0;
    close(prices.hoist, 1.0);
    close(prices.multiply_constant, multiply);
    close(prices.hoisted_automorphism, 4.0 / 16.0 - multiply);
    close(prices.extended_automorphism, 10.0);
    close(prices.automorphism, 14.0);
    close(prices.mod_down, 18.0);
    close(prices.prepare, 21.0 / 16.0);
    close(prices.multiply_base_q, 23.0);
    close(prices.key, 1e-4);
    assert_eq!(clear.counts().hoists - before.hoists, 4, "all that is timed is done");
    // By a clock that stands still nothing takes time, and nothing less.
    let still = CostModel::measure_by(&clear, &one, &[3], &|| 1.0).unwrap();
    assert_eq!((still.hoist, still.multiply_constant, still.hoisted_automorphism), (0.0, 0.0, 0.0));
}

#[test]
fn traces_three_ways() {
    for ring in [ring(31, 2, 2), ring(127, 2, 1), ring(91, 3, 1), ring(63, 2, 3)] {
        let (d, trace) = (ring.degree(), LinearMap::trace(&ring).unwrap());
        let slots = random_slots(&ring, 3);
        let input = Plaintext::from_slots(&ring, &slots).unwrap();
        let expected = trace_of(&ring, &slots);
        for hoisting in [HoistMode::Double, HoistMode::Single, HoistMode::Off] {
            for strategy in [Strategy::HOISTED, Strategy::DOUBLING, Strategy::BABY_GIANT] {
                let spec = PlanSpec { strategy, hoisting, ..PlanSpec::default() };
                check_plan(&trace, &spec, &input, &expected);
                check_keys_are_exact(&trace, &spec);
            }
        }
        let doubling = LinearPlan::new(&trace, &PlanSpec::with_strategy(Strategy::DOUBLING)).unwrap();
        let steps = d.ilog2() + d.count_ones() - 1;
        assert_eq!(doubling.count().hoisted_automorphisms + doubling.count().extended_automorphisms, steps as usize);
        let scaled = trace.multiplied_by(&input).unwrap();
        check_plan(&scaled, &PlanSpec::with_strategy(Strategy::DOUBLING), &input, &input.multiply(&expected).unwrap());
    }
}

/// The trace of `slots` in every slot.
fn trace_of(ring: &Arc<SlotRing>, slots: &[u64]) -> Plaintext {
    let traces: Vec<u64> = slots.chunks(ring.degree()).map(|x| ring.galois().trace(x)).collect();
    Plaintext::from_integers(ring, &traces).unwrap()
}

/// §8: O(log d) key switches. A step without a key is made of two that have one.
#[test]
fn traces_by_doubling_with_keys_for_baby_and_giant_steps() {
    for (ring, automorphisms) in
        [(ring(47, 2, 2), 8), (ring(601, 2, 1), 8), (ring(107, 2, 1), 12), (ring(18631, 2, 1), 8)]
    {
        let (d, m, trace) = (ring.degree(), ring.m(), LinearMap::trace(&ring).unwrap());
        let keys = |set: KeyStrategy| Some(set.elements(2, d as u64, true, m));
        let slots = random_slots(&ring, 5);
        let (input, expected) = (Plaintext::from_slots(&ring, &slots).unwrap(), trace_of(&ring, &slots));
        for hoisting in [HoistMode::Double, HoistMode::Single, HoistMode::Off] {
            let given = keys(KeyStrategy::BabyGiant);
            let spec = PlanSpec { strategy: Strategy::DOUBLING, keys: given, hoisting, ..PlanSpec::default() };
            let plan = LinearPlan::new(&trace, &spec).unwrap();
            assert!(plan.required_keys().is_subset(spec.keys.as_ref().unwrap()));
            let count = plan.count();
            let switches = count.automorphisms + count.hoisted_automorphisms + count.extended_automorphisms;
            assert_eq!(switches, automorphisms, "m = {m}: {}", plan.explain());
            check_plan(&trace, &spec, &input, &expected);
        }
        // With every power the steps are those of the binary digits; with two keys there are none.
        let spec = |set| PlanSpec { strategy: Strategy::DOUBLING, keys: keys(set), ..PlanSpec::default() };
        let full = LinearPlan::new(&trace, &spec(KeyStrategy::Full)).unwrap().count();
        assert_eq!(full.extended_automorphisms, (d.ilog2() + d.count_ones()) as usize - 2);
        let refused = LinearPlan::new(&trace, &spec(KeyStrategy::Minimal));
        assert!(matches!(refused, Err(Error::MissingGaloisKey { .. })), "m = {m}");
        // Of whole key switches the planner prefers fewest.
        let off = PlanSpec { keys: keys(KeyStrategy::BabyGiant), hoisting: HoistMode::Off, ..PlanSpec::default() };
        assert!(LinearPlan::new(&trace, &off).unwrap().count().automorphisms <= automorphisms, "m = {m}");
    }
}

#[test]
fn doubling_is_for_sums_of_powers_alone() {
    let ring = ring(127, 2, 1);
    let spec = PlanSpec::with_strategy(Strategy::DOUBLING);
    let dense = LinearMap::matmul_1d(&ring, 0, |_, i, k| (i * k + 1) as u64).unwrap();
    for map in [dense, LinearMap::identity(&ring), LinearMap::zero(&ring), LinearMap::frobenius(&ring, 1).unwrap()] {
        assert!(matches!(LinearPlan::new(&map, &spec), Err(Error::Unplannable { .. })));
    }
}

#[test]
fn plans_explain_themselves() {
    let ring = ring(127, 2, 1);
    let dense = LinearMap::matmul_1d(&ring, 0, |_, i, k| (i * k + i + k + 1) as u64).unwrap();
    let plan = LinearPlan::new(&dense, &PlanSpec::with_strategy(Strategy::BABY_GIANT.with_babies(5))).unwrap();
    let text = plan.explain();
    for word in [
        "baby-giant:5 (Halevi–Shoup 2018, §6.3, Algorithm 1)",
        "inputs:    5",
        "outputs:   4",
        "capacity:",
        "keys:",
        "transforms of one row",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let trace = LinearPlan::new(&LinearMap::trace(&ring).unwrap(), &PlanSpec::with_strategy(Strategy::DOUBLING));
    assert!(trace.unwrap().explain().contains("doubling:  w + X^2(w), v + X^2(w), w + X^8(w), v + X^2(w)"));
    // The noise grows by one product with a constant: at most the sum of the norms of the
    // constants.
    assert!(plan.capacity_bits() > 1.0 && plan.capacity_bits() < (18.0f64 * 126.0).log2());
}

#[test]
fn constants_of_another_plan_are_refused() {
    let ring = ring(127, 2, 1);
    let map = |seed: usize| LinearMap::matmul_1d(&ring, 0, |_, i, k| (i * k + i + k * seed + 1) as u64).unwrap();
    let plans = [1, 2].map(|seed| LinearPlan::new(&map(seed), &PlanSpec::default()).unwrap());
    let clear = Clear::with_keys(&ring, plans.iter().flat_map(LinearPlan::required_keys));
    let input = Plaintext::from_slots(&ring, &random_slots(&ring, 1)).unwrap();
    let encrypted = clear.encrypt(&input).unwrap();
    let [first, second] = [0, 1].map(|i| plans[i].prepare(&clear).unwrap());
    for (plan, constants) in [(&plans[0], &second), (&plans[1], &first)] {
        let refused = plan.apply(constants, &clear, &encrypted);
        assert!(matches!(refused, Err(Error::ContextMismatch { operation: "linear map", .. })));
        let refused = plan.apply_grid(constants, &clear, std::slice::from_ref(&encrypted));
        assert!(matches!(refused, Err(Error::ContextMismatch { .. })));
    }
    // A copy of a plan is the same plan.
    let output = plans[0].clone().apply(&first, &clear, &encrypted).unwrap();
    assert_eq!(clear.decrypt(&output), map(1).apply(&input).unwrap());
}

/// What a custom strategy proposes, for tests: anything.
struct Own(fn(&Support<'_>) -> Vec<Proposal>);

impl MapStrategy for Own {
    fn name(&self) -> &'static str {
        "own"
    }

    fn citation(&self) -> &'static str {
        "a test"
    }

    fn proposals(&self, support: &Support<'_>, _: Option<usize>) -> Vec<Proposal> {
        (self.0)(support)
    }
}

/// A power of the generator of an axis by its binary digits, the lowest as outputs.
fn binary(support: &Support<'_>) -> Vec<Proposal> {
    let route = |&t: &u64| {
        let mut route = Route::default();
        for (axis, exponent) in support.axes.exponents(t).into_iter().enumerate() {
            for bit in (0..8).rev().filter(|bit| exponent >> bit & 1 == 1) {
                let side = if bit == 0 { &mut route.output } else { &mut route.input };
                side.push(support.axes.power(axis, 1 << bit));
            }
        }
        route
    };
    vec![Proposal::Routes(support.elements.iter().map(route).collect())]
}

fn wrong_rule(support: &Support<'_>) -> Vec<Proposal> {
    let walk = Walk { powers: Powers::Iterate { stride: 0 }, cofactors: Cofactors::Joint, shared: true };
    let outer = vec![false; support.axes.list().len()];
    vec![Proposal::Rule(Factoring { split: 0, babies: 2, origin: 0, outer, inputs: walk, outputs: Walk::MERGED })]
}

#[test]
fn strategies_of_ones_own() {
    static OWN: Own = Own(binary);
    for ring in [ring(127, 2, 1), ring(105, 2, 1), ring(64, 7, 1)] {
        let map = LinearMap::matmul_1d_extension(&ring, 0, |c, i, k, out| entry(&ring, 2, (c, i, k), out)).unwrap();
        let input = Plaintext::from_slots(&ring, &random_slots(&ring, 4)).unwrap();
        let spec = PlanSpec::with_strategy(Strategy::own(&OWN));
        check_plan(&map, &spec, &input, &map.apply(&input).unwrap());
        check_keys_are_exact(&map, &spec);
    }
    let ring = ring(127, 2, 1);
    let map = LinearMap::matmul_1d(&ring, 0, |_, i, k| i + k).unwrap();
    static REFUSED: [(Own, &str); 5] = [
        (Own(|_| Vec::new()), "cannot evaluate a map of this form"),
        (Own(|_| vec![Proposal::Doubling]), "cannot evaluate a map of this form"),
        (Own(|_| vec![Proposal::Routes(Vec::new())]), "0 routes"),
        (Own(|support| vec![Proposal::Routes(vec![Route::default(); support.elements.len()])]), "leads to 1"),
        (Own(wrong_rule), "does not fit the axes"),
    ];
    for (own, why) in &REFUSED {
        let error = LinearPlan::new(&map, &PlanSpec::with_strategy(Strategy::own(own))).unwrap_err();
        assert!(matches!(&error, Error::Unplannable { strategy, .. } if strategy == "own"), "{error}");
        assert!(error.to_string().contains(why), "{error}");
    }
}

/// Terms that share a constant in memory share it when it is prepared.
#[test]
fn equal_constants_are_held_once() {
    let ring = ring(127, 2, 2);
    let constants: Vec<Plaintext> =
        (0..2).map(|seed| Plaintext::from_slots(&ring, &random_slots(&ring, seed)).unwrap()).collect();
    let powers = std::iter::successors(Some(1), |t| Some(t * 3 % 127)).take(10);
    let map = LinearMap::from_terms(&ring, powers.enumerate().map(|(i, t)| (t, constants[i % 2].clone()))).unwrap();
    for constants in [ConstantForm::Evaluation, ConstantForm::Coefficients] {
        let spec = PlanSpec { constants, ..PlanSpec::with_strategy(Strategy::HOISTED) };
        let plan = LinearPlan::new(&map, &spec).unwrap();
        let clear = Clear::with_keys(&ring, plan.required_keys());
        let prepared = plan.prepare(&clear).unwrap();
        assert_eq!((prepared.constants(), plan.count().constant_products), (2, 10));
        let input = Plaintext::from_slots(&ring, &random_slots(&ring, 9)).unwrap();
        let image = plan.apply(&prepared, &clear, &clear.encrypt(&input).unwrap()).unwrap();
        assert_eq!(clear.decrypt(&image), map.apply(&input).unwrap());
    }
}
