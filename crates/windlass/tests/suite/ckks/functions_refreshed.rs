//! Functions that are deeper than the levels of a ciphertext: refreshed between their steps.

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::bootstrap::approximate::{MapOrder, RefreshSpec};
use windlass::circuits::FunctionPlan;
use windlass::needs::Products;
use windlass::schemes::ckks::{Ciphertext, complex};
use windlass::{Approximate, Client, Context, Error, NeedsKeys, Server};

/// A toy with so many levels between refreshes.
pub(super) fn toy(order: MapOrder, n: usize, depth: usize) -> Context<Approximate> {
    let toy = RefreshSpec::preset("insecure_toy_refresh_1024").unwrap();
    let maps = if n == 1024 { vec![3, 3, 3] } else { vec![4, 3, 3] };
    let (to_slots, to_coefficients) = (maps.clone(), maps);
    let spec = RefreshSpec {
        n,
        slots: n / 2,
        order,
        depth,
        to_slots,
        to_coefficients,
        special_prime_bits: vec![50; 6],
        ..toy
    };
    Context::refreshing(&spec.with_sine_precision(28.0).unwrap()).unwrap()
}

pub(super) fn sides(context: &Context<Approximate>, seed: u64) -> (Client<Approximate>, Server<Approximate>) {
    let refresh = context.refresh().unwrap();
    context.generate_keys_from_seed([&refresh as &dyn NeedsKeys, &Products], seed).unwrap()
}

/// Numbers in −bound..bound outside of a gap, its ends among them.
pub(super) fn arguments(bound: f64, gap: f64, count: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut values = vec![bound, -bound, gap, -gap];
    while values.len() < count {
        let part = f64::from(rng.next_u32()) / f64::from(u32::MAX);
        let size = if values.len() % 4 < 2 { gap * (bound / gap).powf(part) } else { gap + (bound - gap) * part };
        values.push(if rng.next_u32() & 1 == 1 { size } else { -size });
    }
    values
}

pub(super) fn encrypt(client: &Client<Approximate>, values: &[f64], bound: f64) -> Ciphertext {
    client.encrypt_complex(&complex(values), bound).unwrap()
}

/// The result is as exact as it was stated before anything ran, and as it states itself.
fn holds(
    (client, server): (&Client<Approximate>, &Server<Approximate>),
    plan: &FunctionPlan,
    f: impl Fn(f64) -> f64,
    (x, ct, useful): (&[f64], &Ciphertext, f64),
) -> Ciphertext {
    let stated = plan.error_on(server.engine(), ct).unwrap().total();
    let y = server.apply(plan, ct).unwrap();
    let got = client.decrypt(&y).unwrap();
    let worst = x.iter().zip(&got).map(|(&x, y)| (y - f(x)).abs()).fold(0.0, f64::max);
    println!("{}: {:.1} bits, {:.1} stated", plan.name(), -worst.log2(), -stated.log2());
    assert!(worst <= stated, "{worst:e} off, {stated:e} stated\n{plan}");
    assert!(worst <= y.error_bound(), "{worst:e} off, {:e} stated\n{plan}", y.error_bound());
    // The statement is of some use.
    assert!(stated < useful, "{stated:e} stated\n{plan}");
    y
}

#[test]
fn signs_refresh_between_their_polynomials() {
    for (order, n, depth, seed) in [(MapOrder::BackLast, 1024, 5, 1), (MapOrder::BackFirst, 2048, 7, 2)] {
        let context = toy(order, n, depth);
        let kept = context.refresh().unwrap().spec().input_levels();
        let (client, server) = sides(&context, seed);
        let (gap, sign) = (1.0 / 128.0, context.functions().sign(1.0, 1.0 / 128.0, 18.0).unwrap());
        assert!(sign.depth() > depth && sign.depth() > 2 * (depth - kept), "{sign}");
        let schedule = context.functions().schedule(&sign).unwrap();
        assert!(schedule.refreshes() >= 1 && schedule.to_string().contains("refreshes             2"), "{schedule}");
        let x = arguments(1.0, gap, n / 2, seed);
        let fresh = encrypt(&client, &x, 1.0);
        let stated = context.functions().error(&sign).unwrap().total();
        assert_eq!(stated, schedule.error().total());
        let y = holds((&client, &server), &sign, f64::signum, (&x, &fresh, 1e-4));
        assert!(y.products_left() >= kept, "the result can be refreshed");
        let worst = x.iter().zip(client.decrypt(&y).unwrap()).map(|(x, y)| (y - x.signum()).abs()).fold(0.0, f64::max);
        assert!(worst <= stated, "{worst:e}, {stated:e} stated for a fresh ciphertext");
        // One without levels beside those that a refresh takes.
        let spent = server.engine().lower(&fresh, context.refresh().unwrap().input_level()).unwrap();
        // What the refresh of the argument adds is multiplied by the slope of the sign at the gap.
        holds((&client, &server), &sign, f64::signum, (&x, &spent, 0.5));
        // Without the refreshes nothing is stated.
        assert!(matches!(sign.error(&fresh), Err(Error::StepTooDeep { .. })));
    }
}

#[test]
fn the_argument_is_used_again() {
    let context = toy(MapOrder::BackLast, 1024, 5);
    let (client, server) = sides(&context, 3);
    let functions = context.functions();
    let x = arguments(1.0, 2f64.powi(-12), 512, 3);
    let fresh = encrypt(&client, &x, 1.0);
    let spent = server.engine().lower(&fresh, context.ckks().base_level()).unwrap();
    let absolute = functions.absolute(1.0, 9.0).unwrap();
    let step = functions.step(1.0, 1.0 / 64.0, 12.0).unwrap();
    assert!(absolute.depth() > 5 && step.depth() > 5, "{absolute}\n{step}");
    for (ct, useful) in [(&fresh, 0.01), (&spent, 0.05)] {
        holds((&client, &server), &absolute, f64::abs, (&x, ct, useful));
    }
    let far = arguments(1.0, 1.0 / 64.0, 512, 4);
    holds((&client, &server), &step, |x| if x > 0.0 { 1.0 } else { 0.0 }, (&far, &encrypt(&client, &far, 1.0), 0.01));
    // Entries beside which slots hold other numbers, which are cleared first.
    let ct = spent.with_entries(300);
    holds((&client, &server), &absolute, f64::abs, (&x[..300], &ct, 0.05));
}

#[test]
fn extrema_and_softmax_refresh_between_their_steps() {
    let context = toy(MapOrder::BackLast, 1024, 6);
    let (functions, refresh) = (context.functions(), context.refresh().unwrap());
    let largest = functions.maximum((-0.5, 0.5), 9.0).unwrap();
    let softmax = functions.softmax(4, (-0.5, 0.5), 8.0).unwrap();
    assert!(largest.depth() > 6 && softmax.depth() > 6, "{}\n{}", largest.explain(), softmax.explain());
    let needs: [&dyn NeedsKeys; 3] = [&refresh, &largest, &softmax];
    let (client, server) = context.generate_keys_from_seed(needs, 5).unwrap();
    let (a, b) = (arguments(0.5, 0.001, 512, 6), arguments(0.5, 0.001, 512, 7));
    for lower in [false, true] {
        let [x, y] = [&a, &b].map(|values| {
            let ct = encrypt(&client, values, 0.5);
            if lower { server.engine().lower(&ct, context.ckks().base_level()).unwrap() } else { ct }
        });
        let z = server.apply(&largest, (&x, &y)).unwrap();
        let got = client.decrypt(&z).unwrap();
        let worst = (0..512).map(|k| (got[k] - a[k].max(b[k])).abs()).fold(0.0, f64::max);
        assert!(worst <= z.error_bound() && z.error_bound() < 0.01, "{worst:e}, {:e} stated", z.error_bound());
    }
    let row = [0.5, -0.5, 0.25, 0.0];
    let sum: f64 = row.iter().map(|x: &f64| x.exp()).sum();
    let fresh = encrypt(&client, &row, 0.5);
    let spent = server.engine().lower(&fresh, context.ckks().base_level()).unwrap();
    for ct in [fresh, spent] {
        let y = server.apply(&softmax, &ct).unwrap();
        let got = client.decrypt(&y).unwrap();
        let worst = (0..4).map(|k| (got[k] - row[k].exp() / sum).abs()).fold(0.0, f64::max);
        assert!(worst <= y.error_bound() && y.error_bound() < 0.05, "{worst:e}, {:e} stated", y.error_bound());
    }
}

/// Several ciphertexts at once, of two kinds of levels: each as by itself.
#[test]
fn lists_are_refreshed_together() {
    let context = toy(MapOrder::BackFirst, 1024, 7);
    let (client, server) = sides(&context, 8);
    let (gap, sign) = (1.0 / 16.0, context.functions().sign(1.0, 1.0 / 16.0, 12.0).unwrap());
    assert!(sign.depth() > 7, "{sign}");
    let values: Vec<Vec<f64>> = (0..4).map(|seed| arguments(1.0, gap, 512, 20 + seed)).collect();
    let mut list: Vec<Ciphertext> = values.iter().map(|x| encrypt(&client, x, 1.0)).collect();
    list[1] = server.engine().lower(&list[1], context.refresh().unwrap().input_level()).unwrap();
    let results = server.apply_each(&sign, &list).unwrap();
    assert_eq!(results.len(), 4);
    for ((x, ct), y) in values.iter().zip(&list).zip(&results) {
        let stated = sign.error_on(server.engine(), ct).unwrap().total();
        let got = client.decrypt(y).unwrap();
        let worst = x.iter().zip(&got).map(|(x, y)| (y - x.signum()).abs()).fold(0.0, f64::max);
        assert!(worst <= stated && worst <= y.error_bound(), "{worst:e} off, {stated:e} stated");
    }
    assert!(server.apply_each(&sign, &[]).unwrap().is_empty());
}

#[test]
fn what_cannot_work_is_refused_with_its_step() {
    let context = toy(MapOrder::BackLast, 1024, 4);
    let (client, server) = sides(&context, 9);
    let functions = context.functions();
    let x = encrypt(&client, &[0.5, -0.5], 1.0);
    // One polynomial of five levels where a refreshed ciphertext has four.
    let deep = functions.sign(1.0, 1.0 / 1024.0, 20.0).unwrap();
    for error in [functions.schedule(&deep).unwrap_err(), server.apply(&deep, &x).unwrap_err()] {
        let Error::StepTooDeep { step, needed: 5, left: 4, missing_bits, remedy, .. } = &error else {
            panic!("{error}");
        };
        assert!(step.contains("step 1 of 3, a polynomial of degree 31") && remedy.contains("with 1 more"), "{error}");
        assert!((30.0..60.0).contains(missing_bits), "{missing_bits}");
    }
    // Four levels for each polynomial, but no keys to refresh with.
    let sign = functions.sign(1.0, 1.0 / 128.0, 18.0).unwrap();
    assert!(functions.schedule(&sign).unwrap().refreshes() > 0);
    let without = client.generate_server([&Products]).unwrap();
    let error = without.apply(&sign, &x).unwrap_err();
    let named = matches!(&error, Error::StepTooDeep { step, left: 0, .. } if step.contains("step 2 of 3"));
    assert!(named && error.to_string().contains("context.refresh()"), "{error}");
    // Values up to 4 are not refreshed.
    let wide = functions.sign(4.0, 2.0, 6.0).unwrap();
    let large = server.engine().lower(&encrypt(&client, &[3.0, -2.0], 4.0), context.ckks().base_level()).unwrap();
    let error = server.apply(&wide, &large).unwrap_err();
    assert!(matches!(&error, Error::StepTooDeep { remedy, .. } if remedy.contains("divide")), "{error}");
    // Nothing is done for the others of a list.
    assert!(server.apply_each(&wide, &[x, large]).is_err());
}
