//! Hoisting modes, forms of constants, doubling, explanations.

use windlass::circuits::{ConstantForm, HoistMode, LinearMap, LinearPlan, PlanSpec, Strategy};
use windlass::schemes::clear::Clear;
use windlass::{Error, Plaintext};

use super::common::*;

#[test]
fn constants_as_coefficients() {
    for ring in [ring(31, 2, 2), ring(64, 17, 3), ring(85, 127, 1), ring(105, 2, 1)] {
        let map = LinearMap::matmul_1d_extension(&ring, 0, |c, i, k, out| entry(&ring, 1, (c, i, k), out)).unwrap();
        let input = Plaintext::from_slots(&ring, &random_slots(&ring, 1)).unwrap();
        let expected = map.apply(&input).unwrap();
        let bytes = |constants: ConstantForm, constant_bytes: usize| {
            for hoisting in [HoistMode::Double, HoistMode::Single] {
                let spec = PlanSpec { constants, constant_bytes, hoisting, ..PlanSpec::default() };
                check_plan(&map, &spec, &input, &expected);
            }
            let plan = LinearPlan::new(&map, &PlanSpec { constants, constant_bytes, ..PlanSpec::default() }).unwrap();
            plan.prepare(&Clear::new(&ring)).unwrap().bytes()
        };
        let (ready, packed) = (bytes(ConstantForm::Evaluation, 0), bytes(ConstantForm::Coefficients, 0));
        assert!(ring.modulus().value() > 65536 || ready >= 4 * packed);
        assert_eq!(bytes(ConstantForm::Automatic, ready), ready);
        assert_eq!(bytes(ConstantForm::Automatic, ready - 1), packed);
    }
}

#[test]
fn traces_three_ways() {
    for ring in [ring(31, 2, 2), ring(127, 2, 1), ring(91, 3, 1), ring(63, 2, 3)] {
        let (d, trace) = (ring.degree(), LinearMap::trace(&ring).unwrap());
        let slots = random_slots(&ring, 3);
        let input = Plaintext::from_slots(&ring, &slots).unwrap();
        let traces: Vec<u64> = slots.chunks(d).map(|x| ring.galois().trace(x)).collect();
        let expected = Plaintext::from_integers(&ring, &traces).unwrap();
        for hoisting in [HoistMode::Double, HoistMode::Single, HoistMode::Off] {
            for strategy in [Strategy::Hoisted, Strategy::Doubling, Strategy::BabyGiant { babies: None }] {
                let spec = PlanSpec { strategy, hoisting, ..PlanSpec::default() };
                check_plan(&trace, &spec, &input, &expected);
                check_keys_are_exact(&trace, &spec);
            }
        }
        let doubling = LinearPlan::new(&trace, &PlanSpec::with_strategy(Strategy::Doubling)).unwrap();
        let steps = d.ilog2() + d.count_ones() - 1;
        assert_eq!(doubling.count().hoisted_automorphisms + doubling.count().extended_automorphisms, steps as usize);
        let scaled = trace.multiplied_by(&input).unwrap();
        check_plan(&scaled, &PlanSpec::with_strategy(Strategy::Doubling), &input, &input.multiply(&expected).unwrap());
    }
}

#[test]
fn doubling_is_for_sums_of_powers_alone() {
    let ring = ring(127, 2, 1);
    let spec = PlanSpec::with_strategy(Strategy::Doubling);
    let dense = LinearMap::matmul_1d(&ring, 0, |_, i, k| (i * k + 1) as u64).unwrap();
    for map in [dense, LinearMap::identity(&ring), LinearMap::zero(&ring), LinearMap::frobenius(&ring, 1).unwrap()] {
        assert!(matches!(LinearPlan::new(&map, &spec), Err(Error::Unplannable { .. })));
    }
}

#[test]
fn plans_explain_themselves() {
    let ring = ring(127, 2, 1);
    let dense = LinearMap::matmul_1d(&ring, 0, |_, i, k| (i * k + i + k + 1) as u64).unwrap();
    let plan = LinearPlan::new(&dense, &PlanSpec::with_strategy(Strategy::BabyGiant { babies: Some(5) })).unwrap();
    let text = plan.explain();
    for word in ["baby-giant:5", "inputs:   5", "outputs:  4", "capacity:", "keys:", "estimated"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let trace = LinearPlan::new(&LinearMap::trace(&ring).unwrap(), &PlanSpec::with_strategy(Strategy::Doubling));
    assert!(trace.unwrap().explain().contains("doubling: w + X^2(w), v + X^2(w), w + X^8(w), v + X^2(w)"));
    // The noise grows by one product with a constant: at most the sum of the norms of the constants.
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
        assert!(matches!(refused, Err(Error::ContextMismatch { operation: "LinearPlan::apply", .. })));
        let refused = plan.apply_grid(constants, &clear, std::slice::from_ref(&encrypted));
        assert!(matches!(refused, Err(Error::ContextMismatch { .. })));
    }
    // A copy of a plan is the same plan.
    let output = plans[0].clone().apply(&first, &clear, &encrypted).unwrap();
    assert_eq!(clear.decrypt(&output), map(1).apply(&input).unwrap());
}
