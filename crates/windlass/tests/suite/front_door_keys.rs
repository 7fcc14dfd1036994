//! Which keys servers have: named when they lack some, made for levels, counted as they are made.

use windlass::circuits::{InnerProduct, PolynomialPlan, Power, TraceSpec};
use windlass::needs::{KeyRequest, Products};
use windlass::schemes::{Ciphertext, Engine};
use windlass::switching::Arithmetic;
use windlass::{Circuit, Content, Context, Error, Evaluator, LinearMap, NeedsKeys, Scheme, Server};

use crate::front_door::rotated;

const TOY: &str = "insecure_toy_256";

#[test]
fn missing_keys_are_named_before_any_work() {
    let context = Context::preset(TOY).unwrap();
    let plan = |amount| LinearMap::rotation(&context, 0, amount).unwrap().plan().unwrap();
    let (one, five) = (plan(1), plan(5));
    let cube = PolynomialPlan::new(&[0, 0, 0, 1]);
    let (client, server) = context.generate_keys_from_seed([&one], 2).unwrap();
    let x = client.encrypt(&[1, 2, 3]).unwrap();
    let wanted = rotated(&context, 1, &[1, 2, 3]);
    assert_eq!(client.decrypt(&server.apply(&one, &x).unwrap()).unwrap(), wanted);
    let refused = server.apply(&five, &x).unwrap_err();
    let Error::MissingKeys { needed_by, galois, relinearisation, .. } = &refused else { panic!("{refused}") };
    assert!(needed_by.contains("linear map") && !relinearisation);
    assert_eq!(galois.iter().copied().collect::<std::collections::BTreeSet<_>>(), five.required_keys());
    let refused = server.apply(&cube, &x).unwrap_err();
    assert!(matches!(refused, Error::MissingKeys { relinearisation: true, .. }), "{refused}");
    assert!(matches!(server.prepare(&five, &x), Err(Error::MissingKeys { .. })));
    assert!(matches!(server.square(&x), Err(Error::MissingKeys { .. })));
    assert!(matches!(server.refresh(&x), Err(Error::MissingBootstrappingKeys)));
    // The mock refuses alike.
    let (client, server) = context.mock().generate_keys([&one]).unwrap();
    let x = client.encrypt(&[1, 2, 3]).unwrap();
    assert_eq!(client.decrypt(&server.apply(&one, &x).unwrap()).unwrap(), wanted);
    assert!(matches!(server.apply(&five, &x), Err(Error::MissingKeys { .. })));
    assert!(matches!(server.square(&x), Err(Error::MissingKeys { .. })));
}

/// A key for lower levels is missing at a higher one, and is enough at its own.
#[test]
fn keys_serve_their_levels() {
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let context = Context::preset(TOY).unwrap().with_scheme(scheme).unwrap();
        let rotation = LinearMap::rotation(&context, 0, 1).unwrap().plan().unwrap();
        let (low, lower) = (rotation.key_request().up_to(4), Products.key_request().up_to(3));
        let (client, server) = context.generate_keys_from_seed([&low, &lower], 12).unwrap();
        let x = client.encrypt(&[1, 2, 3]).unwrap();
        let (low, lower) = (server.engine().switch_modulus(&x, 4), server.engine().switch_modulus(&x, 3));
        let (low, lower) = (low.unwrap(), lower.unwrap());
        for (refused, level, keys) in [
            (server.apply(&rotation, &x).map(drop), 8, (rotation.required_keys().len(), false)),
            (server.prepare(&rotation, &x), 8, (rotation.required_keys().len(), false)),
            (server.square(&x).map(drop), 8, (0, true)),
            (server.multiply(&low, &x).map(drop), 4, (0, true)),
            (server.product(&[x.clone(), low.clone(), x.clone()]).map(drop), 8, (0, true)),
            (server.apply(&Power::new(2).unwrap(), &low).map(drop), 4, (0, true)),
        ] {
            let refused = refused.unwrap_err();
            let Error::MissingKeys { galois, relinearisation, level: told, .. } = &refused else { panic!("{refused}") };
            assert_eq!((*told, galois.len(), *relinearisation), (level, keys.0, keys.1), "{refused}");
            assert!(refused.to_string().contains(&format!("level {level}")), "{refused}");
        }
        let moved = server.apply(&rotation, &low).unwrap();
        assert_eq!(client.decrypt(&moved).unwrap(), rotated(&context, 1, &[1, 2, 3]));
        let product = server.multiply(&x, &lower).unwrap();
        assert_eq!(client.decrypt(&product).unwrap()[..4], [1, 4, 9, 0]);
    }
}

/// A circuit from its keys and what it runs.
struct Written<F> {
    needs: KeyRequest,
    run: F,
}

impl<F> NeedsKeys for Written<F> {
    fn key_request(&self) -> KeyRequest {
        self.needs.clone()
    }
}

impl<F: Fn(&Engine, &Ciphertext) -> Result<Ciphertext, Error>> Circuit<Engine> for Written<F> {
    type Input<'a> = &'a Ciphertext;
    type Prepared = ();

    fn level(&self, evaluator: &Engine, input: &Ciphertext) -> usize {
        evaluator.level_of(input)
    }

    fn prepare(&self, _: &Engine, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn evaluate(&self, (): &(), evaluator: &Engine, input: &Ciphertext) -> Result<Ciphertext, Error> {
        (self.run)(evaluator, input)
    }
}

#[test]
fn circuits_that_bootstrap_are_refused_without_their_keys() {
    let context = Context::preset("insecure_boot_256_p257").unwrap();
    let plan = context.bootstrapping().unwrap();
    let circuit = Written {
        needs: plan.key_request(),
        run: |evaluator: &Engine, x: &Ciphertext| evaluator.with_refreshes(x, &|evaluator, x| evaluator.add(x, x)),
    };
    let others = KeyRequest { bootstrapping: Vec::new(), ..plan.key_request() };
    let (client, server) = context.generate_keys_from_seed([&others], 13).unwrap();
    let refused = server.apply(&circuit, &client.encrypt(&[1]).unwrap()).unwrap_err();
    assert!(matches!(&refused, Error::MissingKeys { galois, bootstrappings: 1, .. } if galois.is_empty()), "{refused}");
    let (client, server) = context.generate_keys_from_seed([&plan], 13).unwrap();
    let doubled = server.apply(&circuit, &client.encrypt(&[1, 2]).unwrap()).unwrap();
    assert_eq!(client.decrypt(&doubled).unwrap()[..3], [2, 4, 0]);
}

/// Keys for lower levels are enough where nothing has to be refreshed. Where a refresh would give a
/// higher level than they serve, they are missing before it is begun.
#[test]
fn keys_for_lower_levels_are_missing_before_a_refresh() {
    let context = Context::preset("insecure_boot_256_p257").unwrap();
    let product = InnerProduct::with_spec(&context, &TraceSpec::with_groups(1)).unwrap();
    // `Σ_j x_j^256` in every slot: eight products deep, then automorphisms.
    let units = Written {
        needs: product.key_request(),
        run: |evaluator: &Engine, x: &Ciphertext| {
            let root = (0..7).try_fold(x.clone(), |x, _| evaluator.square(&x))?;
            product.apply(evaluator, &root, &root)
        },
    };
    let bootstrapping = context.bootstrapping().unwrap();
    let with = |level: usize| {
        let own = KeyRequest { relinearisation: None, ..units.key_request().up_to(level) };
        context.generate_keys_from_seed([&own as &dyn NeedsKeys, &bootstrapping], 14).unwrap()
    };
    let spend = |x: &Ciphertext, server: &Server| {
        server.engine().reduce_level(x, bootstrapping.least_input_bits() + 4.0).unwrap()
    };
    let (client, server) = with(usize::MAX);
    let fresh = client.encrypt(&[3, 0, 256, 7]).unwrap();
    let spent = spend(&fresh, &server);
    assert_eq!(client.decrypt(&server.apply(&units, &spent).unwrap()).unwrap()[..2], [3, 3]);
    let refreshed = server.refresh(&spent).unwrap();
    let begins = bootstrapping.stages().last().unwrap().level;
    assert!(spent.level() < refreshed.level() && refreshed.level() < begins, "{}", bootstrapping.explain());

    let (client, server) = with(spent.level());
    let fresh = client.encrypt(&[3, 0, 256, 7]).unwrap();
    let spent = spend(&fresh, &server);
    let refused = server.apply(&units, &spent).unwrap_err();
    let Error::MissingKeys { galois, relinearisation: false, level, .. } = &refused else { panic!("{refused}") };
    assert!(*level > spent.level() && !galois.is_empty(), "{refused}");
    assert_eq!(server.bootstrapper(Content::Integers).unwrap().random_events().total(), 0, "nothing is refreshed");
    // The sum alone needs no refresh.
    let sum = product.total();
    assert_eq!(client.decrypt(&server.apply(sum, &spent).unwrap()).unwrap()[..2], [9, 9]);
    // Keys that serve every refreshed ciphertext serve after a refresh: that ends far below the
    // level at which its last stage begins.
    let (client, server) = with(refreshed.level());
    let spent = spend(&client.encrypt(&[3, 0, 256, 7]).unwrap(), &server);
    assert_eq!(client.decrypt(&server.apply(&units, &spent).unwrap()).unwrap()[..2], [3, 3]);
}

/// Each key is reported once, and those of a bootstrapping together.
#[test]
fn keys_are_counted_as_they_are_made() {
    let context = Context::preset("insecure_boot_256_p257").unwrap();
    let (rotation, plan) = (LinearMap::rotation(&context, 0, 1).unwrap(), context.bootstrapping().unwrap());
    let rotation = rotation.plan().unwrap();
    let needed = rotation.required_keys().union(&plan.required_keys()).count();
    let mut seen = Vec::new();
    context.generate_keys_observed([&rotation, &plan], |done, count| seen.push((done, count))).unwrap();
    let count = needed + 2;
    let wanted: Vec<_> = (1..=count).map(|done| (done, count)).collect();
    assert_eq!(seen, wanted);
    // What is named twice is made once, and a mock tells the same.
    let again = context.bootstrapping().unwrap();
    seen.clear();
    let (_, server) =
        context.generate_keys_observed([&again, &rotation, &plan], |done, count| seen.push((done, count))).unwrap();
    assert_eq!((&seen, server.bootstrappings().count()), (&wanted, 1));
    seen.clear();
    let mock = context.mock();
    mock.generate_keys_observed([&plan, &rotation, &plan], |done, count| seen.push((done, count))).unwrap();
    assert_eq!(seen, wanted);
}
