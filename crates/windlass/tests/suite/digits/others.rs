//! Methods of others: polynomials, chains and halvings that are checked before a plan is made.

use std::sync::Arc;

use windlass::circuits::{
    ChainValue, DigitChain, DigitMethod, DigitPolynomial, DigitRemoval, DigitRoute, DigitSpec, DigitStep, HalvingChain,
    LastStep, Method, Stride,
};
use windlass::{DividedProduct, Error};
use windlass_ring::kernels::Isa;
use windlass_ring::slots::SlotRing;

use super::check;

/// One that says X³ is right for every p, one that stops too early, one that names no way.
#[derive(Debug)]
struct Wrong {
    coefficients: &'static [i64],
    more: u32,
    routes: &'static [DigitRoute],
}

impl DigitMethod for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }

    fn citation(&self) -> &'static str {
        "these tests"
    }

    fn routes(&self, _: &DigitSpec) -> Vec<DigitRoute> {
        self.routes.to_vec()
    }

    fn polynomial(&self, step: &DigitStep) -> windlass::Result<DigitPolynomial> {
        Ok(DigitPolynomial { coefficients: self.coefficients.to_vec(), precision: step.from + self.more })
    }
}

#[test]
fn polynomials_of_others_are_checked() {
    const ROUTES: &[DigitRoute] = &[DigitRoute { stride: Stride::One, last: LastStep::AsTheOthers }];
    const DIRECT: &[DigitRoute] = &[DigitRoute { stride: Stride::One, last: LastStep::Direct }];
    static CUBES: Wrong = Wrong { coefficients: &[0, 0, 0, 1], more: 1, routes: ROUTES };
    static FAR: Wrong = Wrong { coefficients: &[0, 0, 0, 1], more: 2, routes: ROUTES };
    static NEAR: Wrong = Wrong { coefficients: &[0, 0, 0, 1], more: 1, routes: DIRECT };
    static NOWHERE: Wrong = Wrong { coefficients: &[0, 0, 0, 1], more: 1, routes: &[] };
    let plan = |method: &'static Wrong, p, v| {
        DigitRemoval::new(DigitSpec { method: Method::Of(method), ..DigitSpec::new(p, 4, v) })
    };
    // For p = 3 it is right, one place a step.
    let removal = plan(&CUBES, 3, 2).unwrap();
    let slots = Arc::new(SlotRing::new(121, 3, 4, Isa::best()).unwrap());
    check(&slots, &removal, &(0..81).collect::<Vec<u64>>());
    assert_eq!((removal.products(), removal.depth()), (10, 6));
    for (method, p, why) in [
        (&CUBES, 5, "does not take -2 to its digit"),
        (&FAR, 3, "does not take"),
        (&NEAR, 3, "precision 2 instead of 4"),
        (&NOWHERE, 3, "neither a route nor a chain"),
    ] {
        match plan(method, p, 1).unwrap_err() {
            Error::Unplannable { strategy, reason } => {
                assert!(strategy == "wrong" && reason.contains(why), "{reason}");
            }
            other => panic!("{other}"),
        }
    }
}

/// A custom halving: C(x, 2), which is right for one digit and wrong for two.
#[derive(Debug)]
struct Halved;

impl DigitMethod for Halved {
    fn name(&self) -> &'static str {
        "halved"
    }

    fn citation(&self) -> &'static str {
        "these tests"
    }

    fn routes(&self, _: &DigitSpec) -> Vec<DigitRoute> {
        Vec::new()
    }

    fn halving(&self, spec: &DigitSpec) -> Option<HalvingChain> {
        let half = |k: usize| {
            let one = |weight| (0..=k).map(|j| if j == k { weight } else { 0 }).collect();
            DividedProduct { factors: [one(1), one(1)], rest: one(-1), divisions: 1 }
        };
        Some(HalvingChain { products: (0..spec.removed as usize).map(half).collect() })
    }
}

#[test]
fn halvings_of_others_are_checked() {
    let plan = |e, v| DigitRemoval::new(DigitSpec { method: Method::Of(&Halved), ..DigitSpec::new(2, e, v) });
    assert_eq!(plan(2, 1).unwrap().products(), 1);
    let refused = |e, v, why: &str| match plan(e, v).unwrap_err() {
        Error::Unplannable { strategy, reason } => assert!(strategy == "halved" && reason.contains(why), "{reason}"),
        other => panic!("{other}"),
    };
    refused(3, 2, "does not remove the low digits of");
    refused(3, 1, "does not remove the low digits of");
    let ternary = DigitSpec { method: Method::Of(&Halved), ..DigitSpec::new(3, 2, 1) };
    assert!(matches!(DigitRemoval::new(ternary), Err(Error::Unplannable { .. })));
}

/// A custom chain.
#[derive(Debug)]
struct Chained(DigitChain);

impl DigitMethod for Chained {
    fn name(&self) -> &'static str {
        "chained"
    }

    fn citation(&self) -> &'static str {
        "these tests"
    }

    fn routes(&self, _: &DigitSpec) -> Vec<DigitRoute> {
        Vec::new()
    }

    fn chain(&self, _: &DigitSpec) -> Option<DigitChain> {
        Some(self.0.clone())
    }
}

#[test]
fn chains_of_others_are_checked() {
    // For p = 3 cubes: x³ knows the digit modulo 9, its cube modulo 27.
    let cubes = |weight| {
        let value = |precision, weights: &[i64]| ChainValue { precision, weights: weights.to_vec() };
        DigitChain {
            products: vec![
                [vec![1], vec![1]],
                [vec![0, 1], vec![1]],
                [vec![0, 0, 1], vec![0, 0, 1]],
                [vec![0, 0, 0, 1], vec![0, 0, 1]],
            ],
            values: vec![value(1, &[1]), value(2, &[0, 0, weight]), value(3, &[0, 0, 0, 0, 1])],
        }
    };
    let plan = |chain: DigitChain, p| {
        let method = Method::Of(Box::leak(Box::new(Chained(chain))));
        DigitRemoval::new(DigitSpec { method, ..DigitSpec::new(p, 3, 2) })
    };
    let removal = plan(cubes(1), 3).unwrap();
    assert_eq!((removal.products(), removal.depth()), (6, 4));
    check(&Arc::new(SlotRing::new(121, 3, 3, Isa::best()).unwrap()), &removal, &(0..27).collect::<Vec<u64>>());

    let argument = || vec![ChainValue { precision: 1, weights: vec![1] }];
    let of_later = DigitChain { products: vec![[vec![1], vec![0, 1]]], values: argument() };
    let beyond_the_last = DigitChain { products: vec![[vec![1], vec![1]]], ..cubes(1) };
    let ending_in_0 = DigitChain { products: vec![[vec![1], vec![1]], [vec![0, 1], vec![1, 0]]], values: argument() };
    let falling = DigitChain { values: cubes(1).values.into_iter().rev().collect(), ..cubes(1) };
    for (chain, p, why) in [
        (cubes(2), 3, "modulo 3^2 does not take"),
        (cubes(1), 5, "does not take"),
        (of_later, 3, "uses a later product"),
        (beyond_the_last, 3, "uses a later product"),
        (ending_in_0, 3, "ends in 0"),
        (falling, 3, "precision of its values must increase"),
        (DigitChain { products: vec![], values: vec![] }, 3, "does not reach 3 digits"),
    ] {
        match plan(chain, p).unwrap_err() {
            Error::Unplannable { reason, .. } => assert!(reason.contains(why), "{reason}"),
            other => panic!("{other}"),
        }
    }
}

/// Twelve squares make a polynomial of degree 4096 on the way, which would take too long.
#[test]
fn chains_of_an_enormous_degree_are_refused() {
    let last = |k: usize| (0..=k).map(|j| i64::from(j == k)).collect::<Vec<i64>>();
    let squares = (0..12).map(|k| [last(k), last(k)]).collect();
    let chain = DigitChain { products: squares, values: vec![ChainValue { precision: 2, weights: last(12) }] };
    let spec = DigitSpec { method: Method::Of(Box::leak(Box::new(Chained(chain)))), ..DigitSpec::new(2, 2, 1) };
    assert!(matches!(DigitRemoval::new(spec), Err(Error::OutOfRange(_))));
}
