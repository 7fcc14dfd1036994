//! A custom strategy for linear maps: every rotation by the binary digits of its amount, with log2
//! D keys.
#![forbid(unsafe_code)]

use std::sync::Arc;

use windlass::Plaintext;
use windlass::circuits::linear::plan::{MapStrategy, Proposal, Route, Support};
use windlass::circuits::{LinearMap, LinearPlan, PlanSpec, Strategy};
use windlass::ring::slots::SlotRing;
use windlass::schemes::clear::Clear;

/// θ_g^e by one automorphism for each binary digit of e: inputs with common digits share them.
struct BinaryDigits;

impl MapStrategy for BinaryDigits {
    fn name(&self) -> &'static str {
        "binary-digits"
    }

    fn citation(&self) -> &'static str {
        "double-and-add, as in any textbook"
    }

    fn proposals(&self, support: &Support<'_>, _: Option<usize>) -> Vec<Proposal> {
        let route = |&t: &u64| {
            let mut input = Vec::new();
            for (axis, exponent) in support.axes.exponents(t).into_iter().enumerate() {
                let digits = (0..usize::BITS).rev().filter(|bit| exponent >> bit & 1 == 1);
                input.extend(digits.map(|bit| support.axes.power(axis, 1 << bit)));
            }
            Route { input, output: Vec::new() }
        };
        vec![Proposal::Routes(support.elements.iter().map(route).collect())]
    }
}

/// Runs with it.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let slots = Arc::new(SlotRing::new(257, 2, 1, windlass::ring::kernels::Isa::best())?);
    let map = LinearMap::matmul_1d(&slots, 0, |_, row, column| row * column + 1)?;
    let plan = LinearPlan::new(&map, &PlanSpec::with_strategy(Strategy::own(&BinaryDigits)))?;
    println!("{}", plan.explain());

    let clear = Clear::with_keys(&slots, plan.required_keys());
    let x = Plaintext::from_integers(&slots, &[1, 0, 1, 1])?;
    let image = clear.decrypt(&plan.apply_once(&clear, &clear.encrypt(&x)?)?);
    assert_eq!(image, map.apply(&x)?);
    let hoisted = LinearPlan::new(&map, &PlanSpec::with_strategy(Strategy::HOISTED))?;
    println!("{} keys, {} with all rotations hoisted", plan.required_keys().len(), hoisted.required_keys().len());
    Ok(())
}
