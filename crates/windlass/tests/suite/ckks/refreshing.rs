//! Circuits that refresh by themselves, and what a server looks for before it starts.

use std::ops::ControlFlow;
use std::sync::Arc;

use windlass::bootstrap::approximate::{MapOrder, RefreshPlan, RefreshSpec};
use windlass::circuits::complex::{Polynomial, SlotSums};
use windlass::circuits::{MatrixPlan, MatrixSpec, TracePlan, TraceSpec};
use windlass::needs::{KeyLevel, KeyRequest, Products};
use windlass::schemes::ckks::{self, Ciphertext};
use windlass::{Approximate, Circuit, Client, Context, Error, NeedsKeys, Result, Server};

/// n = 64 with all slots.
fn toy() -> RefreshSpec {
    let toy = RefreshSpec::preset("insecure_toy_refresh_1024").unwrap();
    RefreshSpec { n: 64, slots: 32, to_slots: vec![3, 2], to_coefficients: vec![3, 2], ephemeral_weight: 16, ..toy }
}

fn context() -> Context<Approximate> {
    Context::refreshing(&toy()).unwrap()
}

fn sides(context: &Context<Approximate>, needs: [&dyn NeedsKeys; 3]) -> (Client<Approximate>, Server<Approximate>) {
    context.generate_keys_from_seed(needs, 1).unwrap()
}

fn values() -> Vec<f64> {
    (0..32).map(|k| (k as f64).cos()).collect()
}

/// At the lowest level.
fn spent(client: &Client<Approximate>, server: &Server<Approximate>, values: &[f64]) -> Ciphertext {
    let fresh = client.encrypt(values).unwrap();
    server.engine().lower(&fresh, server.context().ckks().base_level()).unwrap()
}

fn check(client: &Client<Approximate>, ct: &Ciphertext, expected: &[f64]) {
    let found = client.decrypt(ct).unwrap();
    let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < ct.error_bound() && worst < 2f64.powi(-12), "{worst:e}");
}

/// More products than there are levels, and none of the callers' business.
#[test]
fn operations_refresh_their_operands() {
    let context = context();
    let (client, server) = sides(&context, [&context.refresh().unwrap(), &Products, &context.conjugation()]);
    let near: Vec<f64> = (0..32).map(|k| 1.0 - k as f64 / 10_000.0).collect();
    let (mut x, mut expected) = (client.encrypt(&near).unwrap(), near);
    for _ in 0..8 {
        x = server.square(&x).unwrap();
        expected.iter_mut().for_each(|x| *x *= *x);
    }
    check(&client, &x, &expected);
    let (y, halves) = (spent(&client, &server, &values()), vec![0.5; 32]);
    let product: Vec<f64> = values().iter().map(|x| 0.5 * x).collect();
    check(&client, &server.multiply_reals(&y, &halves).unwrap(), &product);
    check(&client, &server.multiply_real(&y, 0.5).unwrap(), &product);
    let both = server.multiply(&y, &spent(&client, &server, &halves)).unwrap();
    check(&client, &both, &product);
    assert!(both.depth_left() > 0);
    // What needs no level is not refreshed.
    for same in [server.add(&y, &y), server.negate(&y), server.conjugate(&y), server.multiply_real(&y, 2.0)] {
        assert_eq!(same.unwrap().depth_left(), 0);
    }
    // Room for values counts as well: 300 does not fit the lowest level.
    let many = server.multiply_real(&y, 300.0).unwrap();
    assert!(many.depth_left() > 0);
    check(
        &client,
        &server.multiply_real(&many, 1.0 / 1024.0).unwrap(),
        &values().iter().map(|x| x * 300.0 / 1024.0).collect::<Vec<_>>(),
    );
}

/// A refresh takes two of five levels: every result keeps them.
#[test]
fn results_keep_the_levels_that_a_refresh_takes() {
    let spec = RefreshSpec { order: MapOrder::BackFirst, ..toy() }.with_sine_precision(28.0).unwrap();
    let context = Context::refreshing(&spec.with_few_primes()).unwrap();
    let refresh = context.refresh().unwrap();
    let cubic = Polynomial::monomial(&[0.25, -0.5, 0.0, 0.25]).unwrap();
    let sum = TracePlan::new(&context.ckks().total_sums(32).unwrap(), &TraceSpec::default()).unwrap();
    let needs: [&dyn NeedsKeys; 4] = [&refresh, &cubic, &context.conjugation(), &sum];
    let (client, server) = context.generate_keys_from_seed(needs, 1).unwrap();
    // The maps back use some of its keys, at lower levels.
    let total = server.apply(&sum, &client.encrypt(&values()).unwrap()).unwrap();
    check(&client, &total, &[values().iter().sum::<f64>(); 32]);
    let near: Vec<f64> = (0..32).map(|k| 1.0 - k as f64 / 10_000.0).collect();
    let (mut x, mut expected) = (client.encrypt(&near).unwrap(), near);
    for _ in 0..8 {
        x = server.square(&x).unwrap();
        expected.iter_mut().for_each(|x| *x *= *x);
        assert!(x.products_left() >= 2);
    }
    check(&client, &x, &expected);
    let low = server.engine().lower(&client.encrypt(&values()).unwrap(), refresh.input_level()).unwrap();
    let cubed: Vec<f64> = values().iter().map(|x| 0.25 - 0.5 * x + 0.25 * x * x * x).collect();
    let cubes = server.apply(&cubic, &low).unwrap();
    check(&client, &cubes, &cubed);
    assert!(cubes.products_left() >= 2);
    // What the refresh does not accept is computed with the levels that it has.
    let complex: Vec<_> = values().into_iter().map(ckks::Complex64::from).collect();
    let large = client.encrypt_complex(&complex, 4.0).unwrap();
    let large = server.engine().lower(&large, refresh.input_level()).unwrap();
    check(&client, &server.apply(&cubic, &large).unwrap(), &cubed);
    // A polynomial whose result could not be refreshed is refused.
    let power = Polynomial::chebyshev(&[vec![0.0; 31], vec![1.0]].concat(), -1.0, 1.0).unwrap();
    let error = server.apply(&power, &client.encrypt(&values()).unwrap()).unwrap_err();
    assert_eq!(error, Error::LevelsExhausted { operation: "evaluate a polynomial", depth: 3, needed: 5, left: 3 });
    let spent = spent(&client, &server, &values());
    let error = server.refresh(&spent).unwrap_err();
    assert_eq!(error, Error::LevelsExhausted { operation: "refresh", depth: 5, needed: 2, left: 0 });
}

#[test]
fn circuits_refresh_their_input() {
    let context = context();
    let slots = context.vectors(32).unwrap();
    let rows: Vec<Vec<f64>> = (0..32).map(|i| (0..32).map(|k| ((i * 7 + k) as f64).sin() / 32.0).collect()).collect();
    let entries = rows.iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().map(move |(k, &x)| (i, k, x)));
    let matrix = MatrixPlan::sparse_matrix(&slots, 32, 32, entries, &MatrixSpec::default()).unwrap();
    let sum = TracePlan::new(&context.ckks().total_sums(32).unwrap(), &TraceSpec::default()).unwrap();
    let cubic = Polynomial::monomial(&[0.25, -0.5, 0.0, 0.25]).unwrap();
    let refresh = context.refresh().unwrap();
    let (client, server) = context.generate_keys_from_seed([&refresh, &matrix, &sum, &cubic], 2).unwrap();
    let x = spent(&client, &server, &values());
    let image: Vec<f64> = rows.iter().map(|row| row.iter().zip(values()).map(|(a, b)| a * b).sum()).collect();
    check(&client, &server.apply(&matrix, &x).unwrap(), &image);
    let grid = server.apply_grid(&matrix, std::slice::from_ref(&x)).unwrap();
    check(&client, &grid[0], &image);
    for each in server.apply_each(matrix.products(), &[x.clone(), client.encrypt(&values()).unwrap()]).unwrap() {
        check(&client, &each, &image);
    }
    let cubed: Vec<f64> = values().iter().map(|x| 0.25 - 0.5 * x + 0.25 * x * x * x).collect();
    check(&client, &server.apply(&cubic, &x).unwrap(), &cubed);
    // One level is left, and two are needed.
    let low = server.engine().lower(&client.encrypt(&values()).unwrap(), context.ckks().base_level() + 1).unwrap();
    check(&client, &server.apply(&cubic, &low).unwrap(), &cubed);
    let total = server.apply(&sum, &x).unwrap();
    assert_eq!(total.depth_left(), 0);
    check(&client, &total, &[values().iter().sum::<f64>(); 32]);
}

/// Degree 31 takes five levels, and a refresh gives three: nothing is refreshed in vain.
#[test]
fn polynomials_deeper_than_a_refresh_reaches_are_refused() {
    let context = context();
    let (client, server) = sides(&context, [&context.refresh().unwrap(), &Products, &context.conjugation()]);
    let power = Polynomial::chebyshev(&[vec![0.0; 31], vec![1.0]].concat(), -1.0, 1.0).unwrap();
    for x in [client.encrypt(&values()).unwrap(), spent(&client, &server, &values())] {
        let error = server.apply(&power, &x).unwrap_err();
        let left = x.depth_left();
        assert_eq!(error, Error::LevelsExhausted { operation: "evaluate a polynomial", depth: 3, needed: 5, left });
    }
}

/// Keys up to a level: a circuit that would need a refresh says what is missing.
#[test]
fn keys_for_low_levels_are_no_keys_for_refreshed_inputs() {
    let context = context();
    let level = context.ckks().base_level() + 1;
    let slots = context.vectors(32).unwrap();
    // A rotation that the refresh does not need.
    let refresh = context.refresh().unwrap();
    let is_free =
        |amount: &usize| !refresh.galois_levels().contains_key(&context.ckks().rotation_element(*amount as i64));
    let amount = (1..32).find(is_free).unwrap();
    let shift =
        MatrixPlan::sparse_matrix(&slots, 32, 32, (0..32).map(|i| (i, (i + amount) % 32, 0.5)), &MatrixSpec::default())
            .unwrap();
    let low = shift.key_request().up_to(level);
    let (client, server) = sides(&context, [&refresh, &Products, &low]);
    let x = client.encrypt(&values()).unwrap();
    let at_level = server.engine().lower(&x, level).unwrap();
    let mut turned = values();
    turned.rotate_left(amount);
    turned.iter_mut().for_each(|x| *x *= 0.5);
    check(&client, &server.apply(&shift, &at_level).unwrap(), &turned);
    let missing = |result: Result<Ciphertext>| matches!(result, Err(Error::MissingKeys { level, .. }) if level == context.ckks().top_level());
    assert!(missing(server.apply(&shift, &spent(&client, &server, &values()))));
    assert!(missing(
        server.apply_grid(&shift, &[spent(&client, &server, &values())]).map(|mut all| all.swap_remove(0))
    ));
    assert!(missing(server.apply(&shift, &x)));
}

/// A refresh as a part of a circuit.
struct Refreshed(Arc<RefreshPlan>);

impl NeedsKeys for Refreshed {
    fn key_request(&self) -> KeyRequest {
        self.0.key_request()
    }
}

impl Circuit<ckks::Engine> for Refreshed {
    type Input<'a> = &'a Ciphertext;
    type Prepared = ();

    fn level(&self, _: &ckks::Engine, input: &Ciphertext) -> usize {
        input.level()
    }

    fn prepare(&self, _: &ckks::Engine, _: usize) -> Result<()> {
        Ok(())
    }

    fn evaluate(&self, (): &(), engine: &ckks::Engine, input: &Ciphertext) -> Result<Ciphertext> {
        engine.square(input)
    }
}

#[test]
fn the_keys_of_a_refresh_are_looked_for() {
    let context = context();
    let refresh = context.refresh().unwrap();
    let circuit = Refreshed(Arc::clone(&refresh));
    let (client, server) = sides(&context, [&circuit, &Products, &context.conjugation()]);
    let x = spent(&client, &server, &values());
    server.apply(&circuit, &x).unwrap();
    // All keys but those of the refresh itself; then all levels but the highest.
    let request = refresh.key_request();
    let evaluation = KeyRequest { refreshes: Vec::new(), ..request.clone() };
    let without = client.generate_server([&evaluation]).unwrap();
    let error = without.apply(&circuit, &x).unwrap_err();
    assert!(matches!(&error, Error::MissingKeys { bootstrappings: 1, galois, .. } if galois.is_empty()), "{error}");
    let low = |level: KeyLevel| match level {
        KeyLevel::Refresh(level) => KeyLevel::UpTo(level.min(context.ckks().top_level())),
        level => level,
    };
    let galois = request.galois.iter().map(|(&t, &level)| (t, low(level))).collect();
    let lowered = KeyRequest { galois, relinearisation: request.relinearisation.map(low), ..request.clone() };
    let few = client.generate_server([&lowered]).unwrap();
    let error = few.apply(&circuit, &x).unwrap_err();
    let named = matches!(&error, Error::MissingKeys { relinearisation: true, bootstrappings: 0, galois, .. } if galois.len() == request.galois.len());
    assert!(named, "{error}");
    assert!(few.refresh(&x).unwrap_err().to_string().contains("sine, part 1 of 2: the relinearisation key"));
    let relinearisation = request.relinearisation;
    let few = client.generate_server([&KeyRequest { relinearisation, ..lowered }]).unwrap();
    let error = few.refresh(&x).unwrap_err().to_string();
    assert!(error.contains("coefficients to slots, part 1 of 2: the Galois key"), "{error}");
    // Limits of callers are not for the levels of a refresh.
    assert_eq!(request.clone().up_to(1).galois, request.galois);
    let exact = Context::preset("insecure_toy_256").unwrap();
    assert!(matches!(exact.generate_keys([&refresh]), Err(Error::ContextMismatch { .. })));
    assert!(matches!(exact.mock().generate_keys([&refresh]), Err(Error::ContextMismatch { .. })));
}

/// One after the other on one thread, and side by side on two, where both count as one.
#[test]
fn lists_report_and_can_be_stopped() {
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| reports_and_stops(2 / threads));
    }
}

fn reports_and_stops(rounds: usize) {
    let context = context();
    let refresh = context.refresh().unwrap();
    let (client, server) = sides(&context, [&refresh, &Products, &context.conjugation()]);
    let list = [spent(&client, &server, &values()), client.encrypt(&[0.5, -0.5]).unwrap()];
    let mut told = Vec::new();
    let done = server.refresh_list(&list, |progress| {
        told.push(progress.clone());
        ControlFlow::Continue(())
    });
    let done = done.unwrap();
    check(&client, &done[0], &values());
    check(&client, &done[1], &[0.5, -0.5]);
    let (stages, count) = (refresh.stages(), rounds * refresh.stages().len());
    assert_eq!(told.len(), count + 1);
    for (number, progress) in told.iter().enumerate() {
        assert_eq!((progress.number, progress.count), (number, count));
        let name = if number == count { String::new() } else { stages[number % stages.len()].name.to_string() };
        assert_eq!(progress.stage, name);
    }
    let names =
        ["raise", "coefficients to slots, part 1 of 2", "coefficients to slots, part 2 of 2", "sine, part 1 of 2"];
    assert_eq!(told.iter().take(4).map(|progress| &progress.stage[..]).collect::<Vec<_>>(), names);
    for stop in 0..=count {
        let mut left = stop;
        let result = server.refresh_list(&list, |_| {
            left = left.wrapping_sub(1);
            if left == usize::MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match result {
            // The last report comes with the result.
            Ok(all) => assert!(stop == count && all.len() == 2, "{stop}"),
            Err(error) => {
                assert!(stop < count && matches!(error, Error::Cancelled { operation: "refresh" }), "{error}")
            }
        }
    }
    assert!(server.refresh_list(&[], |_| ControlFlow::Break(())).unwrap().is_empty());
    // Three: a full round of two, and one that is left.
    let three = [list[0].clone(), list[1].clone(), list[0].clone()];
    let done = server.refresh_list(&three, |_| ControlFlow::Continue(())).unwrap();
    [values(), vec![0.5, -0.5], values()].iter().zip(&done).for_each(|(values, ct)| check(&client, ct, values));
}

#[test]
fn what_is_refused_is_refused_before_any_work() {
    let context = context();
    let refresh = context.refresh().unwrap();
    let (client, server) = sides(&context, [&refresh, &Products, &context.conjugation()]);
    let good = client.encrypt(&values()).unwrap();
    let refused = |bad: Ciphertext| {
        let mut told = 0;
        let error = server.refresh_list(&[good.clone(), bad.clone()], |_| {
            told += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(told, 0);
        let (error, alone) = (error.unwrap_err(), server.refresh(&bad).unwrap_err());
        assert_eq!(error, alone);
        error
    };
    let large = refused(client.encrypt_complex(&[ckks::Complex64::new(0.5, 0.0); 2], 1.5).unwrap());
    assert!(large.to_string().contains("the bound on the values is 1.5"), "{large}");
    // The same ring with another scale.
    let spec = RefreshSpec { scale_bits: 41, ..refresh.spec().clone() };
    let other = Context::refreshing(&spec.with_sine_precision(25.0).unwrap()).unwrap();
    let (stranger, _) = other.generate_keys_from_seed([], 1).unwrap();
    assert!(matches!(refused(stranger.encrypt(&values()).unwrap()), Error::ContextMismatch { .. }));
    let (pair, _) = context.generate_keys_from_seed([], 2).unwrap();
    assert!(matches!(refused(pair.encrypt(&values()).unwrap()), Error::OtherKeyPair(_)));
    // A circuit whose operand cannot be refreshed says why.
    let outgrown = server.engine().multiply_integer(&good, 3).unwrap();
    let low = server.engine().lower(&outgrown, context.ckks().base_level()).unwrap();
    assert!(matches!(server.square(&low), Err(Error::Bootstrap(_))));
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(matches!(client.encrypt(&[bad]), Err(Error::NotFinite { index: 0 })));
    }
    assert!(matches!(client.encrypt_complex(&[ckks::Complex64::new(2.0, 0.0)], 1.0), Err(Error::ValueTooLarge { .. })));
}
