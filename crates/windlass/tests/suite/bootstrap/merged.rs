//! The stage inside of slots as a part of its neighbour (Ma et al. 2024: NTT matrices combined with
//! Eval and PtoN).

use super::*;
use windlass::bootstrap::{EvalStage, Order, StageName, Unpacking};

/// (m, p, r, primes, weight), how elements are unpacked, the stages, and the number of stages
/// inside the slots each way.
const CASES: [((u64, u64, u32, usize, u32), Unpacking, Transform, usize); 7] = [
    ((64, 7, 1, 16, 6), Unpacking::Constants, Transform::BRUUN, 1),
    ((128, 127, 1, 16, 6), Unpacking::Constants, Transform::BRUUN, 1),
    ((64, 7, 1, 16, 6), Unpacking::Constants, Transform::RADIX2, 1),
    ((64, 17, 1, 16, 6), Unpacking::Constants, Transform::RADIX2, 1),
    ((64, 17, 1, 16, 6), Unpacking::MonomialsInSlots, Transform::RADIX2, 2),
    ((105, 2, 1, 14, 6), Unpacking::Constants, Transform::TENSOR, 1),
    ((63, 2, 2, 16, 4), Unpacking::Constants, Transform::TENSOR, 1),
];

fn spec(case: usize, eval: EvalStage, order: Order) -> ((u64, u64, u32, usize, u32), BootstrapSpec) {
    let (set, unpacking, transform, _) = CASES[case];
    let spec = BootstrapSpec { mode: Mode::Packed, unpacking, transform, eval, order, ..BootstrapSpec::default() };
    (set, BootstrapSpec { ephemeral_weight: set.4, ..spec })
}

/// Maps to the coefficients, and to the slots.
fn maps(plan: &BootstrapPlan) -> [usize; 2] {
    let count = |wanted: fn(&StageName) -> bool| plan.stages().iter().filter(|stage| wanted(&stage.name)).count();
    [
        count(|name| matches!(name, StageName::SlotsToCoefficients { .. })),
        count(|name| matches!(name, StageName::CoefficientsToSlots { .. })),
    ]
}

#[test]
fn merged_stages_on_the_mock() {
    for (case, order) in (0..CASES.len())
        .flat_map(|case| [Order::ToCoefficientsFirst, Order::ToCoefficientsLast].map(|order| (case, order)))
    {
        let of = |eval| {
            let ((m, p, r, primes, _), spec) = spec(case, eval, order);
            plan(params(m, primes), (p, r), spec).unwrap()
        };
        let [alone, merged, chosen] = [EvalStage::Alone, EvalStage::Merged, EvalStage::Automatic].map(of);
        let fewer = CASES[case].3;
        assert_eq!(maps(&alone), maps(&merged).map(|count| count + fewer), "{}\n{}", alone.explain(), merged.explain());
        assert_eq!([alone.choices().eval, merged.choices().eval], [EvalStage::Alone, EvalStage::Merged].map(Some));
        assert!(merged.explain().contains("the stage inside of slots merged"));
        let rate = |plan: &BootstrapPlan| (plan.output_bits() - plan.least_input_bits()) / plan.price();
        assert!(merged.output_bits() - merged.least_input_bits() > alone.output_bits() - alone.least_input_bits());
        assert!(rate(&chosen) >= rate(&alone), "{}\n{}", alone.explain(), chosen.explain());
        on_the_mock_with(&Arc::new(merged), 0..1);
    }
}

#[test]
fn merged_stages_on_ciphertexts() {
    for (case, order) in [
        (0, Order::ToCoefficientsFirst),
        (2, Order::ToCoefficientsLast),
        (4, Order::ToCoefficientsFirst),
        (5, Order::ToCoefficientsLast),
    ] {
        let ((m, p, r, primes, _), spec) = spec(case, EvalStage::Merged, order);
        with_parameters(params(m, primes), (p, r), spec);
    }
}

/// Thin maps have no such stage, and nothing changes by asking.
#[test]
fn thin_plans_have_no_stage_inside_of_slots() {
    let of = |eval| {
        let spec = BootstrapSpec { eval, ephemeral_weight: 6, ..BootstrapSpec::default() };
        plan(params(64, 14), (257, 1), spec).unwrap()
    };
    let [alone, merged] = [EvalStage::Alone, EvalStage::Merged].map(of);
    assert_eq!((alone.explain(), alone.choices().eval), (merged.explain(), None));
}
