//! Servers that refresh exact integers through CKKS.

use std::ops::ControlFlow;
use std::sync::Arc;

use rand_core::SeedableRng;
use windlass::bootstrap::approximate::{RefreshPlan, RefreshSpec};
use windlass::bootstrap::exact_through_ckks::{ExactRefreshPlan, ExactRefreshSpec, exact_refresh_preset_names};
use windlass::bootstrap::{BootstrapError, RefreshOptions};
use windlass::circuits::SlotTable;
use windlass::needs::Products;
use windlass::rlwe::Assurance;
use windlass::schemes::Ciphertext;
use windlass::{Client, Context, Error, LinearMap, Scheme, Server};

pub fn spec(modulus: (u64, u32)) -> ExactRefreshSpec {
    let assurance = Assurance::Insecure { name: "insecure_through_ckks".into() };
    ExactRefreshSpec::new(128, modulus, (3, 26), assurance).unwrap()
}

fn context(modulus: (u64, u32), scheme: Scheme) -> Context {
    Context::exact_refreshing(&spec(modulus), scheme).unwrap()
}

fn sides(context: &Context) -> (Client, Server) {
    context.generate_keys_from_seed([&context.exact_refresh().unwrap()], 3).unwrap()
}

/// Squares until a refresh is needed, some times over.
fn square_often(context: &Context, client: &Client, server: &Server, x: Ciphertext, coefficients: &[u64]) {
    let quotient = context.slot_ring().quotient();
    let (mut x, mut wanted) = (x, coefficients.to_vec());
    for _ in 0..server.depth_left(&x) + 3 {
        x = server.square(&x).unwrap();
        wanted = quotient.mul(&wanted, &wanted);
    }
    assert_eq!(client.decrypt_plaintext(&x).unwrap().coefficients(), wanted);
}

#[test]
fn servers_refresh_by_themselves_in_both_schemes() {
    for (modulus, scheme) in [((65537, 1), Scheme::Bgv), ((65537, 1), Scheme::Bfv), ((2, 16), Scheme::Bfv)] {
        let context = context(modulus, scheme);
        let (client, server) = sides(&context);
        let values: Vec<u64> = (0..context.slot_ring().n() as u64).map(|k| k * k + 7).collect();
        let x = client.encrypt_elements(&values).unwrap();
        assert_eq!(x.level(), context.exact_refresh().unwrap().output_level());
        assert_eq!(client.decrypt_elements(&server.refresh(&x).unwrap()).unwrap()[..5], [7, 8, 11, 16, 23]);
        let plaintext = client.decrypt_plaintext(&x).unwrap();
        square_often(&context, &client, &server, x, plaintext.coefficients());
        // Of others, with a public key: at the same level.
        let mut rng = rand_chacha::ChaCha20Rng::from_seed([1; 32]);
        let theirs = client.encryptor().unwrap().encrypt(&plaintext, &mut rng).unwrap();
        assert_eq!(theirs.level(), context.params().top_level());
        square_often(&context, &client, &server, theirs, plaintext.coefficients());
    }
}

/// A ciphertext that no product can take, and lists of it with reports.
#[test]
fn lists_are_refreshed_with_reports_that_can_stop() {
    let context = context((257, 1), Scheme::Bgv);
    let (client, server) = sides(&context);
    let plan = context.exact_refresh().unwrap();
    let spent = |value: i64| {
        let fresh = client.encrypt(&[value, -1]).unwrap();
        let low = server.engine().reduce_level(&fresh, plan.least_input_bits() + 1.0).unwrap();
        low.clone().assume_noise(low.log2_noise() + server.capacity(&low) - plan.least_input_bits() - 0.5)
    };
    let list = [spent(3), spent(4)];
    let (mut seen, mut stages) = (Vec::new(), Vec::new());
    let options = RefreshOptions::new().observed_by(|progress| {
        seen.push((progress.number, progress.count));
        stages.push(progress.stage.clone());
        ControlFlow::Continue(())
    });
    let done = server.refresh_list(&list, options).unwrap();
    assert_eq!(done.iter().map(|x| client.decrypt(x).unwrap()[0]).collect::<Vec<_>>(), [3, 4]);
    assert!(done.iter().all(|x| server.capacity(x) > plan.output_bits() - 1e-6));
    let names: Vec<String> = plan.ckks().stages().iter().map(|stage| stage.name.to_string()).collect();
    let count = 2 * plan.spec().passes * names.len();
    assert_eq!(seen, (0..=count).map(|number| (number, count)).collect::<Vec<_>>());
    assert_eq!(stages, [vec![names.clone(); 2 * plan.spec().passes].concat(), vec![String::new()]].concat());
    for stop in [0, names.len(), 2 * names.len() - 1, count / 2] {
        let options = RefreshOptions::new().observed_by(|progress| match progress.number == stop {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
        let error = server.refresh_list(&list, options).unwrap_err();
        assert!(matches!(error, Error::Cancelled { .. }), "{stop}: {error}");
    }
    // What only bootstrappings do.
    let table = SlotTable::from_fn(&Context::preset("insecure_boot_105").unwrap(), |x| x).unwrap();
    for options in [RefreshOptions::new().with_table(&table), RefreshOptions::new().in_one_batch()] {
        let error = server.refresh_list(&list, options).unwrap_err();
        assert!(matches!(error, Error::Bootstrap(BootstrapError::Unsupported { .. })), "{error}");
    }
}

/// Those of modulus switches, and two for each pass: see the plan's probability.
#[test]
fn random_events_of_passes_are_counted() {
    let context = context((257, 1), Scheme::Bgv);
    let (client, server) = sides(&context);
    let plan = context.exact_refresh().unwrap();
    let fresh = client.encrypt(&[3]).unwrap();
    let before = server.engine().random_events();
    let refresher = server.exact_refresher().unwrap();
    let passes = plan.spec().passes - refresher.check(&fresh).unwrap() + 1;
    server.refresh(&fresh).unwrap();
    let after = server.engine().random_events();
    assert_eq!(after.inner_products - before.inner_products, passes as u64);
    assert_eq!(after.mod_downs - before.mod_downs, passes as u64);
}

/// Constants of maps are for the levels of ciphertexts alone, and keys reach these.
#[test]
fn maps_and_products_work_below_the_refresh() {
    let context = context((257, 1), Scheme::Bgv);
    let (top, chain) = (context.params().top_level(), context.rlwe().top_level());
    assert!(top < chain);
    let slots = context.slots();
    let turned = |row: usize, column: usize| u64::from((row + 1) % slots == column);
    let plan = LinearMap::matmul_full(&context, turned).unwrap().plan().unwrap();
    let (client, server) = context.generate_keys([&plan, &Products, &context.exact_refresh().unwrap()]).unwrap();
    let values: Vec<u64> = (0..slots as u64).collect();
    let x = client.encrypt(&values).unwrap();
    let mut wanted = values.clone();
    let mut image = x;
    for _ in 0..8 {
        image = server.apply(&plan, &image).unwrap();
        wanted.rotate_left(1);
    }
    assert_eq!(client.decrypt(&image).unwrap(), wanted);
    // Without those of the refresh, they are for the same levels.
    let plain = client.generate_server([&plan, &Products]).unwrap();
    assert_eq!(plain.engine().keys().relinearisation().unwrap().level(), top);
    assert_eq!(client.decrypt(&plain.square(&client.encrypt(&[3]).unwrap()).unwrap()).unwrap()[0], 9);
    let error = plain.refresh(&client.encrypt(&[3]).unwrap()).unwrap_err();
    assert!(matches!(error, Error::MissingBootstrappingKeys), "{error}");
    assert!(plain.exact_refresher().is_err() && plain.exact_refresh().is_none());
}

#[test]
fn programs_run_on_the_mock() {
    let context = context((65537, 1), Scheme::Bgv);
    let plan = context.exact_refresh().unwrap();
    let (client, server) = context.mock().generate_keys([&plan]).unwrap();
    let mut x = client.encrypt(&[2, 3]).unwrap();
    for _ in 0..5 {
        x = server.refresh(&server.square(&x).unwrap()).unwrap();
    }
    assert_eq!(client.decrypt(&server.refresh_all(&[x]).unwrap()[0]).unwrap()[..2], [1, 3u64.pow(16).pow(2) % 65537]);
}

#[test]
fn refreshes_of_other_contexts_are_refused() {
    let own = context((65537, 1), Scheme::Bgv);
    let refused = |error: Error| {
        assert!(matches!(&error, Error::ContextMismatch { operation: "generate_keys", .. }), "{error}");
    };
    let other = Arc::new(ExactRefreshPlan::of_shape(&spec((257, 1))).unwrap());
    let ckks = Arc::new(RefreshPlan::new(&RefreshSpec::preset("insecure_toy_refresh_1024").unwrap()).unwrap());
    let plain = Context::preset("insecure_toy_256").unwrap();
    refused(own.generate_keys([&ckks]).unwrap_err());
    refused(plain.generate_keys([&ckks]).unwrap_err());
    refused(plain.generate_keys([&other]).unwrap_err());
    refused(plain.mock().generate_keys([&other]).map(drop).unwrap_err());
    let error = plain.exact_refresh().unwrap_err();
    assert!(error.to_string().contains("exact_refreshing"), "{error}");
    for modulus in [(65537, 1), (2, 16)] {
        let error = context(modulus, Scheme::Bgv).bootstrapping().unwrap_err();
        assert!(error.to_string().contains("exact_refresh"), "{error}");
    }
    // A ciphertext with less capacity than a pass needs.
    let (client, server) = sides(&own);
    let x = client.encrypt(&[1]).unwrap();
    let least = own.exact_refresh().unwrap().least_input_bits();
    let spent = x.clone().assume_noise(x.log2_noise() + server.capacity(&x) - least + 0.5);
    let error = server.refresh(&spent).unwrap_err();
    assert!(matches!(error, Error::Bootstrap(BootstrapError::CapacityTooLow { .. })), "{error}");
}

/// A preset is found by its name, and its context states the capacity of its ciphertexts.
#[test]
fn contexts_of_named_sets_state_what_ciphertexts_have() {
    let name = exact_refresh_preset_names().find(|name| name.starts_with("insecure")).unwrap();
    let context = Context::preset(name).unwrap();
    let plan = context.exact_refresh().unwrap();
    assert_eq!(context.params().name(), name);
    let (client, server) = context.generate_keys([]).unwrap();
    let fresh = client.encrypt(&[1]).unwrap();
    assert!((server.capacity(&fresh) - context.params().fresh_capacity()).abs() < 25.0);
    assert_eq!(context.params().describe().levels, plan.output_level());
    let text = context.to_string();
    assert!(text.contains("through CKKS, 3 passes"), "{text}");
    let coefficients = self::context((2, 16), Scheme::Bgv);
    assert_eq!((coefficients.slots(), coefficients.params().slot_count()), (1, 1));
    assert!(coefficients.to_string().contains("1 of degree 128"), "{coefficients}");
}

/// The text of the parameters makes the same context.
#[test]
fn contexts_come_back_from_their_text() {
    for (modulus, scheme) in [((65537, 1), Scheme::Bfv), ((2, 16), Scheme::Bgv)] {
        let context = context(modulus, scheme);
        let again = Context::from_json(&context.to_json()).unwrap();
        assert_eq!(again.scheme(), scheme);
        assert_eq!(again.exact_refresh().unwrap().spec(), context.exact_refresh().unwrap().spec());
        let (client, _) = sides(&context);
        let x = context.to_bytes(&windlass::wire::CiphertextV1::new(client.encrypt(&[5]).unwrap())).unwrap();
        let there = again.client_from_bytes(&client.secret_to_bytes().unwrap()).unwrap();
        let x: windlass::wire::CiphertextV1 = again.from_bytes(&x).unwrap();
        assert_eq!(there.decrypt(x.ciphertext()).unwrap()[0], 5);
    }
    let plain = Context::preset("insecure_toy_256").unwrap();
    assert_eq!(Context::from_json(&plain.to_json()).unwrap().params().id(), plain.params().id());
}
