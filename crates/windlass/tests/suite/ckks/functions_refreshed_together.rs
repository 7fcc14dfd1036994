//! What ciphertexts that are refreshed together, or that are prepared first, state of functions.

use windlass::bootstrap::approximate::MapOrder;
use windlass::circuits::{Function, FunctionPlan};
use windlass::needs::Products;
use windlass::schemes::ckks::{Complex64, complex};
use windlass::{Error, NeedsKeys};

use super::functions_refreshed::{arguments, encrypt, sides, toy};

fn exponential() -> FunctionPlan {
    FunctionPlan::named(Function::Exponential, (-1.0, 1.0), 12.0).unwrap()
}

/// One vector is exact, the other one off by a known distance, in the direction that a joint refresh adds to the first.
#[test]
fn the_error_of_a_partner_is_stated() {
    let context = toy(MapOrder::BackFirst, 1024, 7);
    let (client, server) = sides(&context, 31);
    let (plan, off) = (exponential(), 2f64.powi(-6));
    let [x, z] = [41, 42].map(|seed| arguments(0.9, 0.01, 512, seed));
    let exact = encrypt(&client, &x, 0.9);
    let noisy: Vec<Complex64> = z.iter().map(|&z| Complex64::new(z, off)).collect();
    let noisy = client.encrypt_complex(&noisy, 0.95).unwrap().approximating(off);
    let level = context.refresh().unwrap().input_level();
    let list = [exact, noisy].map(|ct| server.engine().lower(&ct, level).unwrap());
    let alone = server.apply(&plan, &list[0]).unwrap();
    let results = server.apply_each(&plan, &list).unwrap();
    for (values, y) in [&x, &z].into_iter().zip(&results) {
        let got = client.decrypt(y).unwrap();
        let worst = values.iter().zip(&got).map(|(x, y)| (y - x.exp()).abs()).fold(0.0, f64::max);
        assert!(worst <= y.error_bound() && y.error_bound() < 0.2, "{worst:e} off, {:e} stated", y.error_bound());
    }
    // The test would notice an error that is left out.
    let got = client.decrypt(&results[0]).unwrap();
    let worst = x.iter().zip(&got).map(|(x, y)| (y - x.exp()).abs()).fold(0.0, f64::max);
    assert!(worst > off && alone.error_bound() < off, "{worst:e} off, {:e} alone", alone.error_bound());
    assert!(plan.error_on(server.engine(), &list[0]).unwrap().total() < off);
}

/// Each of a list is stated by its own bound.
#[test]
fn bounds_of_a_list_are_kept_apart() {
    let context = toy(MapOrder::BackLast, 1024, 5);
    let (client, server) = sides(&context, 32);
    let plan = exponential();
    let values = [arguments(0.05, 0.01, 512, 43), arguments(1.0, 0.01, 512, 44)];
    let list = [(&values[0], 0.05), (&values[1], 1.0)].map(|(x, bound)| {
        let ct = encrypt(&client, x, bound);
        server.engine().lower(&ct, context.ckks().base_level()).unwrap()
    });
    let results = server.apply_each(&plan, &list).unwrap();
    for ((x, ct), y) in values.iter().zip(&list).zip(&results) {
        let got = client.decrypt(y).unwrap();
        let worst = x.iter().zip(&got).map(|(x, y)| (y - x.exp()).abs()).fold(0.0, f64::max);
        assert!(worst <= y.error_bound(), "{worst:e} off, {:e} stated", y.error_bound());
        // No refresh is shared in this order.
        let alone = server.apply(&plan, ct).unwrap();
        let (own, together) = (alone.error_bound(), y.error_bound());
        assert!((own - together).abs() <= 1e-9 * own, "{together:e} stated, {own:e} alone");
    }
    assert!(results[0].error_bound() < results[1].error_bound());
}

/// A single ciphertext keeps its imaginary part.
#[test]
fn imaginary_parts_are_kept() {
    let context = toy(MapOrder::BackFirst, 1024, 7);
    let refresh = context.refresh().unwrap();
    let largest = context.functions().maximum((-0.5, 0.5), 6.0).unwrap();
    let (client, server) =
        context.generate_keys_from_seed([&refresh as &dyn NeedsKeys, &Products, &largest], 33).unwrap();
    let x: Vec<Complex64> = arguments(0.5, 0.01, 512, 45).into_iter().map(|x| Complex64::new(x, 0.125)).collect();
    let lower = |x: &[Complex64]| {
        server.engine().lower(&client.encrypt_complex(x, 0.75).unwrap(), refresh.input_level()).unwrap()
    };
    let got = client.decrypt_complex(&server.apply(&exponential(), &lower(&x)).unwrap()).unwrap();
    let worst = x.iter().zip(&got).map(|(x, y)| (y - x.exp()).norm()).fold(0.0, f64::max);
    assert!(worst < 0.01, "{worst:e}");
    // Nor is the imaginary part of one operand added to the other one.
    let a: Vec<f64> = arguments(0.25, 0.01, 512, 46);
    let b = vec![Complex64::new(-0.45, 0.04); 512];
    let fresh = [complex(&a), b].map(|x| client.encrypt_complex(&x, 0.5).unwrap());
    let [low_a, low_b] = fresh.each_ref().map(|x| server.engine().lower(x, refresh.input_level()).unwrap());
    let direct = largest.apply(&server.engine().plain(), &fresh[0], &fresh[1]).unwrap();
    let refreshed = server.apply(&largest, (&low_a, &low_b)).unwrap();
    let [direct, refreshed] = [direct, refreshed].map(|y| client.decrypt_complex(&y).unwrap());
    let worst = direct.iter().zip(&refreshed).map(|(x, y)| (y - x).norm()).fold(0.0, f64::max);
    assert!(worst < 0.01, "{worst:e}");
}

/// What a function does to a ciphertext before its first step is stated.
#[test]
fn products_and_slots_beside_the_entries_are_counted() {
    let context = toy(MapOrder::BackLast, 1024, 5);
    let (client, server) = sides(&context, 34);
    let (engine, plan) = (server.engine().plain(), exponential());
    let x = encrypt(&client, &arguments(1.0, 0.01, 512, 47), 1.0);
    let stated = |ct| plan.error(ct).unwrap().total();
    // A product that is not rescaled.
    let product = engine.multiply(&x, &x).unwrap();
    assert!(product.degree() > 1);
    let rescaled = engine.rescale(&product).unwrap();
    assert!(stated(&product) >= stated(&rescaled) * (1.0 - 1e-12), "{:e}", stated(&rescaled));
    // Entries that are cleared first.
    let absolute = context.functions().absolute(1.0, 4.0).unwrap();
    let beside = x.with_entries(100);
    let mut ones = vec![Complex64::new(0.0, 0.0); 512];
    ones[..100].fill(Complex64::new(1.0, 0.0));
    let cleared = engine.rescale(&engine.multiply_plain(&beside, &ones).unwrap()).unwrap();
    assert_eq!(cleared.rest_magnitude(), 0.0);
    let [before, after] = [&beside, &cleared].map(|ct| absolute.error_on(server.engine(), ct).unwrap());
    assert!(before.propagated >= after.propagated * (1.0 - 1e-12), "{before:?}, {after:?}");
    // Values beside the entries are cleared before a refresh that would not take them.
    let values = [vec![0.5, -0.25, 1.0, -1.0], vec![3.0; 508]].concat();
    let large = encrypt(&client, &values, 3.0).with_entries(4).with_magnitude(1.0);
    let low = engine.lower(&large, context.ckks().base_level() + 1).unwrap();
    let y = server.apply(&absolute, &low).unwrap();
    let stated = absolute.error_on(server.engine(), &low).unwrap().total();
    for (x, y) in values[..4].iter().zip(client.decrypt(&y).unwrap()) {
        assert!((y - x.abs()).abs() <= stated, "{y} of {x}, {stated:e} stated");
    }
}

/// The difference of two numbers may be larger than a refresh takes. The numbers themselves are refreshed then.
#[test]
fn maxima_refresh_their_operands() {
    let context = toy(MapOrder::BackLast, 1024, 6);
    let largest = context.functions().maximum((-0.75, 0.75), 8.0).unwrap();
    let refresh = context.refresh().unwrap();
    let (client, server) = context.generate_keys_from_seed([&refresh as &dyn NeedsKeys, &largest], 35).unwrap();
    let [a, b] = [48, 49].map(|seed| arguments(0.75, 0.001, 512, seed));
    for left in 1..=3 {
        let level = context.ckks().base_level() + left;
        let [x, y] = [&a, &b].map(|x| server.engine().lower(&encrypt(&client, x, 0.75), level).unwrap());
        let z = server.apply(&largest, (&x, &y)).unwrap();
        let got = client.decrypt(&z).unwrap();
        let worst = (0..512).map(|k| (got[k] - a[k].max(b[k])).abs()).fold(0.0, f64::max);
        assert!(worst <= z.error_bound() && z.error_bound() < 0.06, "{worst:e}, {:e} stated", z.error_bound());
    }
}

#[test]
fn ciphertexts_of_other_contexts_are_refused() {
    let [context, other] = [5, 4].map(|depth| toy(MapOrder::BackLast, 1024, depth));
    let ((_, server), (client, _)) = (sides(&context, 36), sides(&other, 37));
    let (x, plan) = (encrypt(&client, &[0.5], 1.0), exponential());
    let largest = context.functions().maximum((-1.0, 1.0), 4.0).unwrap();
    let engine = server.engine();
    for error in [
        plan.error_on(engine, &x).map(drop),
        plan.apply(engine, &x).map(drop),
        plan.apply_list(engine, &[x.clone(), x.clone()]).map(drop),
        largest.apply(engine, &x, &x).map(drop),
    ] {
        assert!(matches!(error, Err(Error::ContextMismatch { .. })), "{error:?}");
    }
}
