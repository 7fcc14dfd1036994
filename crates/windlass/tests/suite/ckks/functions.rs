//! Functions with a contract: what a plan states, checked against what is computed.

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::circuits::{Extremum, Function, FunctionPlan, Polynomial};
use windlass::needs::Products;
use windlass::schemes::ckks::{Ciphertext, CkksSpec, complex};
use windlass::{Approximate, Context, Depth, Error, Result};

use crate::ckks::common::{Client, Server, spec};

const N: usize = 1024;
const SEEDS: [u64; 3] = [1, 2, 3];

fn parties(spec: &CkksSpec, seed: u64) -> (Client, Server) {
    Context::approximate(spec).unwrap().generate_keys_from_seed([&Products], seed).unwrap()
}

/// Random numbers of an interval, its ends, and for a sign those of the gap.
fn arguments((low, high): (f64, f64), gap: Option<f64>, count: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut values = vec![low, high, 0.5 * (low + high)];
    values.extend(gap.iter().flat_map(|&gap| [gap, -gap, 0.0, gap / 2.0, -gap / 8.0]));
    while values.len() < count {
        let part = f64::from(rng.next_u32()) / f64::from(u32::MAX);
        // A half of them near 0 or near the lower end, in equal ratios.
        values.push(match values.len() % 4 {
            0 if low == -high => high * 2f64.powf(-14.0 * part),
            1 if low == -high => low * 2f64.powf(-14.0 * part),
            0 | 1 => low + (high - low) * 2f64.powf(-14.0 * part),
            _ => low + (high - low) * part,
        });
    }
    values
}

fn encrypt(client: &Client, values: &[f64], bound: f64) -> Ciphertext {
    client.encrypt_complex(&complex(values), bound).unwrap()
}

/// The errors of the result: no larger than the plan and the result state, for every argument of the
/// contract; in the gap the result is what is computed, as exact as it states.
fn holds(plan: &FunctionPlan, f: impl Fn(f64) -> f64, scale_bits: u32, slack: f64) {
    for seed in SEEDS {
        let (client, server) = parties(&spec(N, scale_bits, plan.depth()), seed);
        let (low, high) = plan.interval();
        let x = arguments(plan.interval(), plan.gap(), N / 2, seed);
        let ct = encrypt(&client, &x, low.abs().max(high.abs()));
        let stated = plan.error(&ct).unwrap();
        let y = server.apply(plan, &ct).unwrap();
        let got = client.decrypt(&y).unwrap();
        let mut worst = 0f64;
        for (&x, &y_of_x) in x.iter().zip(&got) {
            let computed = (y_of_x - plan.value(x)).abs();
            assert!(computed <= y.error_bound(), "{x}: {computed:e} from what is computed (seed {seed})\n{plan}");
            assert!(plan.value(x).abs() <= plan.bound(), "{x}: above the bound\n{plan}");
            if plan.gap().is_none_or(|gap| x.abs() >= gap) {
                worst = worst.max((y_of_x - f(x)).abs());
            }
        }
        assert!(worst <= stated.total(), "{worst:e} off, {stated:?} stated (seed {seed})\n{plan}");
        assert!(worst <= y.error_bound(), "{worst:e} off, {:e} stated (seed {seed})\n{plan}", y.error_bound());
        let bits = -worst.log2();
        assert!(bits >= y.precision_bits() - 1.5, "{bits:.1} bits, {:.1} stated\n{plan}", y.precision_bits());
        assert!(bits <= stated.bits() + slack, "{bits:.1} bits, only {:.1} stated\n{plan}", stated.bits());
    }
}

#[test]
fn functions_by_name_are_as_exact_as_they_state() {
    for (function, interval, bits) in [
        (Function::Exponential, (-3.0, 1.0), 18.0),
        (Function::Logarithm, (0.25, 4.0), 14.0),
        (Function::SquareRoot, (0.1, 2.0), 14.0),
        (Function::SquareRoot, (0.0, 1.0), 7.0),
        (Function::InverseSquareRoot, (0.25, 4.0), 12.0),
        (Function::Sigmoid, (-8.0, 8.0), 16.0),
        (Function::Tanh, (-4.0, 4.0), 16.0),
        (Function::Gelu, (-5.0, 5.0), 12.0),
    ] {
        let plan = FunctionPlan::named(function, interval, bits).unwrap();
        assert!(plan.approximation_error() <= (-bits).exp2());
        holds(&plan, |x| function.value(x), 40, 8.0);
    }
}

#[test]
fn inverses_by_both_ways_are_as_exact_as_they_state() {
    for (interval, bits, is_one) in
        [((0.5, 4.0), 14.0, true), ((-4.0, -0.5), 14.0, true), ((1.0 / 2048.0, 1.0), 10.0, false)]
    {
        let plan = FunctionPlan::named(Function::Inverse, interval, bits).unwrap();
        assert_eq!(plan.as_polynomial().is_some(), is_one, "{plan}");
        holds(&plan, |x| 1.0 / x, 45, 16.0);
        // Zeros beside the entries are no refusal, though 1/0 is not a number.
        let (client, server) = parties(&spec(N, 45, plan.depth()), 8);
        let x = [interval.0, interval.1, interval.0];
        let ct = encrypt(&client, &x, interval.0.abs().max(interval.1.abs()));
        let y = server.apply(&plan, &ct).unwrap();
        for (x, y_of_x) in x.iter().zip(client.decrypt(&y).unwrap()) {
            assert!((y_of_x - 1.0 / x).abs() <= y.error_bound(), "1/{x}: {y_of_x}");
        }
    }
}

#[test]
fn any_function_is_as_exact_as_it_states() {
    let f = |x: f64| (3.0 * x).sin() / (1.0 + x * x);
    holds(&FunctionPlan::of("a wave", &f, (-1.0, 2.0), 16.0).unwrap(), f, 40, 8.0);
    // A kink, and a polynomial of degree 0.
    holds(&FunctionPlan::of("a kink", &f64::abs, (-1.0, 1.0), 5.0).unwrap(), f64::abs, 40, 8.0);
    let constant = FunctionPlan::of("a constant", &|_| 0.3, (-1.0, 1.0), 20.0).unwrap();
    assert_eq!(constant.degrees(), [0]);
    holds(&constant, |_| 0.3, 40, 60.0);
}

#[test]
fn signs_and_comparisons_are_as_exact_as_they_state() {
    for (bound, gap, bits) in [(1.0, 1.0 / 32.0, 12.0), (4.0, 0.125, 8.0)] {
        let sign = FunctionPlan::sign(bound, gap, bits).unwrap();
        holds(&sign, f64::signum, 45, 12.0);
        holds(&FunctionPlan::step(bound, gap, bits).unwrap(), |x| if x > 0.0 { 1.0 } else { 0.0 }, 45, 12.0);
    }
}

/// The goal of the issue: 20 bits outside of 2^−10.
#[test]
fn a_sign_of_20_bits_outside_of_a_1024th() {
    let sign = FunctionPlan::sign(1.0, 1.0 / 1024.0, 20.0).unwrap();
    let (client, server) = parties(&spec(N, 45, sign.depth()), 5);
    let x = arguments((-1.0, 1.0), sign.gap(), N / 2, 5);
    let ct = encrypt(&client, &x, 1.0);
    let stated = sign.error(&ct).unwrap();
    assert!(stated.bits() >= 20.0, "{stated:?}");
    let got = client.decrypt(&server.apply(&sign, &ct).unwrap()).unwrap();
    for (&x, y) in x.iter().zip(&got).filter(|(x, _)| x.abs() >= 1.0 / 1024.0) {
        assert!((y - x.signum()).abs() <= stated.total(), "sign({x}) is {y}, {stated:?}");
    }
}

#[test]
fn absolute_values_are_as_exact_as_they_state() {
    for (bound, bits) in [(1.0, 7.0), (3.0, 5.0)] {
        holds(&FunctionPlan::absolute(bound, bits).unwrap(), f64::abs, 45, 12.0);
    }
}

#[test]
fn the_larger_and_the_smaller_of_two() {
    let interval = (-1.0, 1.0);
    for seed in SEEDS {
        let largest = Extremum::largest(interval, 6.0).unwrap();
        let smallest = Extremum::smallest(interval, 6.0).unwrap();
        let (client, server) = parties(&spec(N, 45, largest.depth()), seed);
        let [a, b] = [seed, seed + 100].map(|seed| arguments(interval, Some(0.01), N / 2, seed));
        let [x, y] = [&a, &b].map(|values| encrypt(&client, values, 1.0));
        type Two = fn(f64, f64) -> f64;
        for (plan, f) in [(&largest, f64::max as Two), (&smallest, f64::min as Two)] {
            let out = server.apply(plan, (&x, &y)).unwrap();
            let got = client.decrypt(&out).unwrap();
            let worst = got.iter().zip(a.iter().zip(&b)).map(|(y, (&a, &b))| (y - f(a, b)).abs()).fold(0.0, f64::max);
            assert!(worst <= out.error_bound() && worst <= 2f64.powi(-6) + 1e-6, "{worst:e}, {:e}", out.error_bound());
            assert!(out.magnitude() <= 1.0 + 1e-9);
        }
    }
}

/// A result is a ciphertext as any other: what is computed from it states its error, too.
#[test]
fn functions_follow_one_another() {
    let (tanh, exp) = (
        FunctionPlan::named(Function::Tanh, (-3.0, 3.0), 14.0).unwrap(),
        FunctionPlan::named(Function::Exponential, (-1.5, 1.5), 14.0).unwrap(),
    );
    let depth = Depth::of::<Approximate>(&[&tanh, &exp]).products();
    assert_eq!(depth, tanh.depth() + exp.depth());
    let (client, server) = parties(&spec(N, 45, depth), 9);
    let x = arguments((-3.0, 3.0), None, 200, 9);
    let ct = encrypt(&client, &x, 3.0);
    let out = server.apply(&exp, &server.apply(&tanh, &ct).unwrap()).unwrap();
    let got = client.decrypt(&out).unwrap();
    let worst = x.iter().zip(&got).map(|(x, y)| (y - x.tanh().exp()).abs()).fold(0.0, f64::max);
    assert!(worst <= out.error_bound() && worst < 1e-3, "{worst:e}, {:e}", out.error_bound());
}

/// Whatever is beside the entries: it does not leave the interval, and takes a level where nothing
/// else keeps it there.
#[test]
fn slots_beside_the_entries_are_kept_inside() {
    let moved = FunctionPlan::named(Function::Sigmoid, (-8.0, 8.0), 10.0).unwrap();
    let unmoved = FunctionPlan::sign(1.0, 0.1, 8.0).unwrap();
    let absolute = FunctionPlan::absolute(1.0, 4.0).unwrap();
    assert!(moved.masks_in_passing() && !unmoved.masks_in_passing() && !absolute.masks_in_passing());
    let mut values = vec![200.0; 64];
    values[..3].copy_from_slice(&[0.5, -0.75, 1.0]);
    type Case<'a> = (&'a FunctionPlan, fn(f64) -> f64, usize);
    let sigmoid = |x: f64| Function::Sigmoid.value(x);
    let cases: [Case; 3] = [(&moved, sigmoid, 0), (&unmoved, f64::signum, 1), (&absolute, f64::abs, 1)];
    for (plan, f, more) in cases {
        for spare in [0, more] {
            let (client, server) = parties(&spec(N, 40, plan.depth() + spare), 4);
            let ct = encrypt(&client, &values, 200.0).with_entries(3).with_magnitude(1.0);
            let result = server.apply(plan, &ct);
            if spare < more {
                let needed = plan.depth() + more;
                assert!(matches!(result, Err(Error::LevelsExhausted { needed: n, .. }) if n == needed), "{result:?}");
                continue;
            }
            let out = result.unwrap();
            let got = client.decrypt(&out).unwrap();
            for (x, y) in values[..3].iter().zip(&got) {
                assert!((y - f(*x)).abs() <= out.error_bound(), "{x}: {y}, {plan}");
            }
        }
    }
}

#[test]
fn what_cannot_work_is_refused_before_any_work() {
    let context = Context::approximate(&spec(256, 40, 3)).unwrap();
    let functions = context.functions();
    let sigmoid = functions.sigmoid((-8.0, 8.0), 10.0).unwrap();
    let (client, server) = context.generate_keys_from_seed([&sigmoid], 3).unwrap();
    let inside = encrypt(&client, &[1.0, -8.0], 8.0);
    let refused = server.apply(&sigmoid, &inside).unwrap_err();
    assert!(
        matches!(refused, Error::LevelsExhausted { depth: 3, left: 3, needed, .. } if needed == sigmoid.depth()),
        "{refused}"
    );
    assert!(refused.to_string().contains(&format!("parameters of depth {}", sigmoid.depth())), "{refused}");
    assert!(matches!(sigmoid.error(&inside), Err(Error::LevelsExhausted { .. })));
    assert!(matches!(functions.error(&sigmoid), Err(Error::LevelsExhausted { .. })));
    let outside = encrypt(&client, &[1.0, -8.0], 9.0);
    let refused = server.apply(&sigmoid, &outside).unwrap_err();
    assert!(matches!(refused, Error::OutsideInterval { bound: 9.0, low: -8.0, high: 8.0 }), "{refused}");
    let maximum = functions.maximum((0.0, 1.0), 4.0).unwrap();
    let refused = server.apply(&maximum, (&inside, &inside)).unwrap_err();
    assert!(matches!(refused, Error::OutsideInterval { .. }), "{refused}");
    let (_, without_keys) = context.generate_keys([]).unwrap();
    assert!(matches!(without_keys.apply(&sigmoid, &inside), Err(Error::MissingKeys { .. })));
}

#[test]
fn senseless_intervals_and_precisions_are_refused() {
    type Made = Result<FunctionPlan>;
    let named = |function, interval, bits| -> Made { FunctionPlan::named(function, interval, bits) };
    for made in [
        named(Function::Inverse, (-1.0, 1.0), 10.0),
        named(Function::Logarithm, (0.0, 1.0), 10.0),
        named(Function::SquareRoot, (-1.0, 1.0), 10.0),
        named(Function::InverseSquareRoot, (0.0, 1.0), 10.0),
        named(Function::Sigmoid, (1.0, -1.0), 10.0),
        named(Function::Sigmoid, (f64::NEG_INFINITY, 1.0), 10.0),
        named(Function::Sigmoid, (-1.0, f64::NAN), 10.0),
        named(Function::Sigmoid, (-1.0, 1.0), f64::NAN),
        named(Function::Sigmoid, (-1.0, 1.0), 51.0),
    ] {
        assert!(matches!(made, Err(Error::OutOfRange(_))), "{made:?}");
    }
    for made in [
        named(Function::SquareRoot, (0.0, 1.0), 30.0),
        named(Function::Exponential, (0.0, 40.0), 40.0),
        named(Function::Exponential, (0.0, 1e4), 10.0),
        FunctionPlan::of("pole", &|x| 1.0 / x, (-1.0, 1.0), 10.0),
    ] {
        assert!(matches!(made, Err(Error::Unplannable { .. })), "{made:?}");
    }
    let powers = Polynomial::monomial(&[0.0, 1.0]).unwrap();
    assert!(matches!(FunctionPlan::with_distance("x", &powers, 0.0), Err(Error::Unplannable { .. })));
    let line = Polynomial::chebyshev(&[0.0, 1.0], -1.0, 1.0).unwrap();
    assert!(matches!(FunctionPlan::with_distance("x", &line, f64::NAN), Err(Error::Unplannable { .. })));
    assert!(matches!(Function::named("sinus"), Err(Error::UnknownName { .. })));
    assert!(Function::ALL.iter().all(|&function| Function::named(function.name()) == Ok(function)));
}
