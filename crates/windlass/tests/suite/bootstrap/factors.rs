//! Factors of a composite m in an order of one's choice (Halevi–Shoup 2015, §6).

use super::*;
use windlass::bootstrap::{EvalStage, FactorOrder};

fn with(mode: Mode, factors: FactorOrder) -> BootstrapSpec {
    BootstrapSpec { mode, factors, ephemeral_weight: 6, ..BootstrapSpec::default() }
}

/// (m, p, primes), factors, and how many maps to the slots packed mode has.
const GIVEN: [(u64, u64, usize, &[u64], usize); 6] = [
    (105, 2, 16, &[35, 3], 2),
    (1155, 2, 18, &[385, 3], 2),
    (651, 5, 18, &[217, 3], 2),
    (651, 5, 18, &[7, 31, 3], 3),
    (63, 2, 16, &[9, 7], 2),
    (117, 2, 16, &[13, 9], 2),
];

fn order(list: &[u64]) -> FactorOrder {
    FactorOrder::Given(list.to_vec())
}

fn maps_to_slots(plan: &BootstrapPlan) -> usize {
    plan.stages().iter().filter(|stage| stage.name.to_string().starts_with("coefficients to slots")).count()
}

#[test]
fn given_factors_on_the_mock() {
    for (mode, (m, p, primes, list, maps)) in
        [Mode::Thin, Mode::Packed].into_iter().flat_map(|mode| GIVEN.iter().map(move |&case| (mode, case)))
    {
        let spec = BootstrapSpec { eval: EvalStage::Alone, ..with(mode, order(list)) };
        let plan = plan(params(m, primes), (p, 1), spec).unwrap_or_else(|error| panic!("{m}, {list:?}: {error}"));
        assert!(mode == Mode::Thin || maps_to_slots(&plan) == maps, "{}", plan.explain());
        assert!(plan.explain().contains("; factors "), "{}", plan.explain());
        on_the_mock_with(&Arc::new(plan), 0..2);
    }
}

#[test]
fn given_factors_on_ciphertexts() {
    for mode in [Mode::Thin, Mode::Packed] {
        with_parameters(params(105, 16), (2, 1), with(mode, order(&[35, 3])));
        with_parameters(params(63, 16), (2, 1), with(mode, order(&[9, 7])));
    }
    with_parameters(params(651, 18), (5, 1), with(Mode::Thin, order(&[217, 3])));
}

#[test]
fn factors_that_do_not_suit_are_refused() {
    let refused = |list: &[u64]| match plan(params(105, 14), (2, 1), with(Mode::Packed, order(list))) {
        Err(Error::Bootstrap(BootstrapError::Factors { m: 105, given, why })) => {
            assert_eq!(given, list);
            why
        }
        other => panic!("{list:?}: {other:?}"),
    };
    assert!(refused(&[7, 5, 3]).contains("p must have the same order"));
    assert!(refused(&[35]).contains("together"));
    assert!(refused(&[5, 21]).contains("only the first"));
}

/// The order decides where slots stand: a context has one.
#[test]
fn a_context_has_one_order_of_factors() {
    let params = Params::new("insecure_test", Scheme::Bgv, (5, 1), None, params(651, 18)).unwrap();
    let given = with(Mode::Packed, order(&[217, 3]));
    let standard = Context::for_bootstrapping(params.clone(), with(Mode::Packed, FactorOrder::Standard)).unwrap();
    let refused = standard.bootstrapping_with(given.clone()).map(|plan| plan.explain());
    assert!(matches!(refused, Err(Error::OtherSlotOrder { .. })), "{refused:?}");
    let own = Context::for_bootstrapping(params.clone(), given).unwrap();
    assert_eq!(own.bootstrapping().unwrap().spec().factors, order(&[217, 3]));
    // What is chosen by price is given from then on, and no worse than the standard order.
    let chosen = Context::for_bootstrapping(params, with(Mode::Packed, FactorOrder::LeastPrice)).unwrap();
    let plan = chosen.bootstrapping().unwrap();
    assert!(matches!(plan.spec().factors, FactorOrder::Given(_)), "{:?}", plan.spec().factors);
    let rate = |plan: &BootstrapPlan| (plan.output_bits() - plan.least_input_bits()) / plan.price();
    assert!(rate(&plan) >= rate(&standard.bootstrapping().unwrap()));
    let thin = chosen.bootstrapping_with(with(Mode::Thin, FactorOrder::LeastPrice)).unwrap();
    assert_eq!(thin.spec().factors, plan.spec().factors);
}
