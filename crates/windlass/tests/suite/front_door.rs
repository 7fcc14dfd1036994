//! Contexts, clients and servers: what a program meets first.

use std::sync::Arc;

use windlass::bootstrap::{BootstrapPreset, BootstrapSpec, Ephemeral, Mode};
use windlass::circuits::complex::Polynomial;
use windlass::circuits::{PolynomialPlan, Power, SlotFunction};
use windlass::needs::Products;
use windlass::schemes::ckks::{self, CkksSpec, Complex64};
use windlass::{Approximate, Context, Error, LinearMap, NeedsKeys, Params, Plaintext, Scheme};

const TOY: &str = "insecure_toy_256";

/// What a rotation along the first dimension makes of a vector.
pub fn rotated(context: &Context, amount: i64, values: &[u64]) -> Vec<u64> {
    let plaintext = Plaintext::from_integers(context, values).unwrap();
    let map = LinearMap::rotation(context, 0, amount).unwrap();
    map.apply(&plaintext).unwrap().to_integers().unwrap()
}

#[test]
fn short_vectors_negative_integers_and_products() {
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let context = Context::preset(TOY).unwrap().with_scheme(scheme).unwrap();
        let (client, server) = context.generate_keys_from_seed([&Products], 1).unwrap();
        let x = client.encrypt(&[3, -1, 200]).unwrap();
        let y = client.encrypt(&[5u8, 6, 7, 8]).unwrap();
        let sum = client.decrypt(&server.add(&x, &y).unwrap()).unwrap();
        assert_eq!(sum[..5], [8, 5, 207, 8, 0]);
        let product = client.decrypt(&server.multiply(&x, &y).unwrap()).unwrap();
        assert_eq!(product[..5], [15, 257 - 6, 1400 % 257, 0, 0]);
        let line = server.add_integer(&server.multiply_integer(&y, -2i64).unwrap(), 300u16).unwrap();
        assert_eq!(client.decrypt(&line).unwrap()[..4], [33, 31, 29, 27]);
        let tree = server.product(&[x.clone(), x.clone(), y]).unwrap();
        assert_eq!(client.decrypt(&tree).unwrap()[..3], [45, 6, 200 * 200 * 7 % 257]);
        let many = vec![1; context.slots() + 1];
        assert!(matches!(client.encrypt(&many), Err(Error::ShapeMismatch { .. })));
    }
}

/// The keys of one circuit do not serve another, and the message says what is missing and for whom.
/// Public vectors, at the top and at a lower level.
#[test]
fn vectors_of_public_integers() {
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let context = Context::preset(TOY).unwrap().with_scheme(scheme).unwrap();
        let (client, server) = context.generate_keys_from_seed([], 14).unwrap();
        let x = client.encrypt(&[3, -1, 200, 9]).unwrap();
        for x in [server.engine().switch_modulus(&x, 2).unwrap(), x] {
            let product = client.decrypt(&server.multiply_integers(&x, &[2, -3i64, 100]).unwrap()).unwrap();
            assert_eq!(product[..5], [6, 3, 20_000 % 257, 0, 0]);
            let sum = client.decrypt(&server.add_integers(&x, &[300u16, 1]).unwrap()).unwrap();
            assert_eq!(sum[..5], [303 - 257, 0, 200, 9, 0]);
        }
        let many = vec![1; context.slots() + 1];
        let one = client.encrypt(&[1]).unwrap();
        assert!(matches!(server.multiply_integers(&one, &many), Err(Error::ShapeMismatch { .. })));
    }
}

/// A secret key goes through a file of its owner, and only one of its own context.
#[test]
fn clients_come_back_from_their_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let context = Context::preset(TOY).unwrap();
    let (client, _) = context.generate_keys_from_seed([], 15).unwrap();
    client.save_secret(path("exact.key")).unwrap();
    assert!(client.save_secret(path("exact.key")).is_err());
    let again = context.load_client(path("exact.key")).unwrap();
    assert_eq!(again.decrypt(&client.encrypt(&[4, 5]).unwrap()).unwrap()[..3], [4, 5, 0]);
    assert_eq!(*again.secret_to_bytes().unwrap(), std::fs::read(path("exact.key")).unwrap());
    let other = context.with_scheme(Scheme::Bfv).unwrap();
    assert!(matches!(other.load_client(path("exact.key")), Err(Error::Wire(_))));
    assert!(matches!(context.load_client(path("none.key")), Err(Error::Wire(_))));

    let context = approximate(3);
    let (client, _) = context.generate_keys_from_seed([], 16).unwrap();
    client.save_secret(path("approximate.key")).unwrap();
    let again = context.load_client(path("approximate.key")).unwrap();
    near(&again.decrypt(&client.encrypt(&[0.5, -0.25]).unwrap()).unwrap(), &[0.5, -0.25]);
}

/// A toy context of approximate numbers.
fn approximate(depth: usize) -> Context<Approximate> {
    let spec = CkksSpec { n: 256, ..CkksSpec::secure(depth, 40, 4, 64).unwrap() };
    let assurance = windlass::rlwe::Assurance::Insecure { name: "insecure_test".into() };
    Context::approximate(&CkksSpec { assurance, ..spec }).unwrap()
}

fn near(got: &[f64], wanted: &[f64]) {
    assert!(got.len() >= wanted.len());
    for (got, wanted) in got.iter().zip(wanted) {
        assert!((got - wanted).abs() < 1e-6, "{got} for {wanted}");
    }
}

/// Every operation of a server of approximate numbers.
#[test]
fn approximate_servers_do_what_exact_ones_do() {
    let context = approximate(6);
    let values = [0.5, -0.25, 0.75, 0.125];
    let each = |f: &dyn Fn(f64) -> f64| values.map(f);
    let (turn, half) = (context.rotation(4, 1).unwrap(), context.conjugation());
    let polynomial = Polynomial::monomial(&[0.5, -1.0, 0.0, 0.25, 0.0, 1.0]).unwrap();
    let (client, server) = context.generate_keys_from_seed([&turn, &half, &polynomial], 17).unwrap();
    let x = client.encrypt(&values).unwrap();
    let check = |got: ckks::Ciphertext, wanted: &[f64]| near(&client.decrypt(&got).unwrap(), wanted);
    check(server.square(&x).unwrap(), &each(&|v| v * v));
    check(server.negate(&x).unwrap(), &each(&|v| -v));
    check(server.add_real(&x, 0.3).unwrap(), &each(&|v| v + 0.3));
    check(server.multiply_real(&x, -0.3).unwrap(), &each(&|v| -0.3 * v));
    check(server.add_reals(&x, &[1.0, 2.0, 3.0]).unwrap(), &[1.5, 1.75, 3.75, 0.125]);
    check(server.multiply_reals(&x, &[1.0, 2.0, 3.0]).unwrap(), &[0.5, -0.5, 2.25, 0.0]);
    check(server.rotate(&x, 1).unwrap(), &[-0.25, 0.75, 0.125, 0.5]);
    check(server.rotate(&x, -3).unwrap(), &[-0.25, 0.75, 0.125, 0.5]);
    check(server.apply(&polynomial, &x).unwrap(), &each(&|v| polynomial.value(v)));
    // Levels look after themselves.
    let long = server.multiply_real(&server.square(&server.square(&x).unwrap()).unwrap(), 0.5).unwrap();
    check(server.rotate(&long, 1).unwrap(), &[1, 2, 3, 0].map(|k: usize| 0.5 * values[k].powi(4)));
    let z = [Complex64::new(0.5, 0.25), Complex64::new(0.0, -1.0)];
    let conjugate = server.conjugate(&client.encrypt_complex(&z, 2.0).unwrap()).unwrap();
    for (got, z) in client.decrypt_complex(&conjugate).unwrap().iter().zip(z) {
        assert!((got - z.conj()).norm() < 1e-6, "{got}");
    }
    // What was not asked for is missing; senseless arguments are refused.
    assert!(matches!(server.rotate(&x, 2), Err(Error::MissingKeys { .. })));
    assert!(matches!(context.rotation(3, 1), Err(Error::SlotCount { got: 3, .. })));
    assert!(matches!(context.rotation(0, 1), Err(Error::SlotCount { got: 0, .. })));
    assert!(matches!(server.add_reals(&x, &[0.0; 5]), Err(Error::ShapeMismatch { .. })));
    assert!(matches!(server.multiply_real(&x, f64::NAN), Err(Error::NotFinite { .. })));
    let (_, bare) = context.generate_keys_from_seed([&Products.key_request().up_to(2)], 17).unwrap();
    for refused in [bare.conjugate(&x), bare.square(&x), bare.apply(&polynomial, &x)] {
        assert!(matches!(refused, Err(Error::MissingKeys { .. })), "{refused:?}");
    }
}

/// Constants are converted once; what was forgotten is converted again.
#[test]
fn circuits_of_one_list_have_different_types() {
    let context = Context::preset(TOY).unwrap();
    let rotation = LinearMap::rotation(&context, 0, 3).unwrap().plan().unwrap();
    let cube = PolynomialPlan::new(&[7, 0, 0, 1]);
    let (client, server) = context.generate_keys_from_seed([&rotation, &cube], 3).unwrap();
    let x = client.encrypt(&[1, 2, 3]).unwrap();
    server.prepare(&rotation, &x).unwrap();
    for _ in 0..2 {
        let y = server.apply(&cube, &server.apply(&rotation, &x).unwrap()).unwrap();
        let wanted: Vec<u64> = rotated(&context, 3, &[1, 2, 3]).iter().map(|x| x * x * x + 7).collect();
        assert_eq!(client.decrypt(&y).unwrap(), wanted);
        server.forget();
    }
}

#[test]
fn approximate_numbers() {
    let context = approximate(2);
    let (client, server) = context.generate_keys_from_seed([&Products], 4).unwrap();
    let x = client.encrypt(&[0.5, -0.25, 0.75]).unwrap();
    let y = server.multiply(&x, &server.add(&x, &x).unwrap()).unwrap();
    for (got, wanted) in client.decrypt(&y).unwrap().iter().zip([0.5, 0.125, 1.125, 0.0]) {
        assert!((got - wanted).abs() < 1e-6, "{got} for {wanted}");
    }
    // A matrix, applied at two levels.
    let entries = [[0.5, -1.0, 0.0, 0.25], [0.0, 0.5, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0; 4]];
    let matrix = LinearMap::matrix(&context.vectors(4).unwrap(), |i, k| entries[i][k].into()).unwrap();
    let plan = matrix.plan().unwrap();
    let (client, server) = context.generate_keys_from_seed([&plan, &Products], 5).unwrap();
    let mut vector = vec![0.5, -0.25, 0.75, 1.0];
    let mut x = client.encrypt(&vector).unwrap();
    for _ in 0..2 {
        x = server.apply(&plan, &x).unwrap();
        vector = entries.iter().map(|row| row.iter().zip(&vector).map(|(a, b)| a * b).sum()).collect();
        for (got, wanted) in client.decrypt(&x).unwrap().iter().zip(&vector) {
            assert!((got - wanted).abs() < 1e-6, "{got} for {wanted}");
        }
    }
}

/// Two hundred squarings are a loop: the server refreshes when the next one would not fit.
#[test]
fn circuits_refresh_by_themselves() {
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let context = Context::preset("insecure_boot_256_p257").unwrap().with_scheme(scheme).unwrap();
        let bootstrapping = context.bootstrapping().unwrap();
        let (client, server) = context.generate_keys_from_seed([&bootstrapping], 5).unwrap();
        let mut values: Vec<u64> = (0..context.slots() as u64).collect();
        let mut x = client.encrypt(&values).unwrap();
        let mut refreshed = 0;
        for _ in 0..200 {
            let before = server.capacity(&x);
            x = server.add_integer(&server.square(&x).unwrap(), 3).unwrap();
            refreshed += usize::from(server.capacity(&x) > before);
            values.iter_mut().for_each(|value| *value = (*value * *value + 3) % 257);
        }
        assert_eq!(client.decrypt(&x).unwrap(), values, "{scheme}");
        assert!(refreshed >= 10, "{refreshed}");
        // A polynomial that is deeper than what is left.
        let power: Vec<i64> = (0..=64).map(|e| i64::from(e == 64)).collect();
        let (a, b) = (PolynomialPlan::new(&power), PolynomialPlan::new(&[0, 0, 1]));
        for _ in 0..3 {
            x = server.apply(&b, &server.apply(&a, &x).unwrap()).unwrap();
            let power = |x: u64| (0..7).fold(x, |x, _| x * x % 257);
            values.iter_mut().for_each(|value| *value = power(*value));
        }
        assert_eq!(client.decrypt(&x).unwrap(), values, "{scheme}");
    }
}

/// Each function of the integers in slots against its definition: on the mock everywhere, encrypted
/// on some arguments.
#[test]
fn functions_of_slots() {
    let context = Context::preset(TOY).unwrap();
    let table: Vec<i64> = (0..257).map(|x| x * x - 300 * (x % 5)).collect();
    let list = [3, 4, 256, -100];
    let long: Vec<i64> = (0..100).map(|x| 2 * x).collect();
    let negative = |x: u64| u64::from(x > 128);
    let functions: [(SlotFunction, &dyn Fn(u64) -> u64); 6] = [
        (SlotFunction::is_zero(&context).unwrap(), &|x| u64::from(x == 0)),
        (SlotFunction::contains(&context, &list).unwrap(), &|x| u64::from([3, 4, 256, 157].contains(&x))),
        (SlotFunction::contains(&context, &long).unwrap(), &|x| u64::from(x < 200 && x % 2 == 0)),
        (SlotFunction::from_table(&context, &table).unwrap(), &|x| table[x as usize].rem_euclid(257) as u64),
        (SlotFunction::is_negative(&context, 128).unwrap(), &negative),
        (SlotFunction::on_range(&context, 0..=256, |x| x + 1).unwrap(), &|x| (x + 1) % 257),
    ];
    let (mock, clear) = context.mock().generate_keys([&Products]).unwrap();
    let (client, server) = context.generate_keys_from_seed([&Products], 6).unwrap();
    for (function, definition) in &functions {
        for start in [0, 129] {
            let arguments: Vec<u64> = (start..(start + 128).min(257)).collect();
            let wanted: Vec<u64> = arguments.iter().map(|&x| definition(x)).collect();
            let got = clear.apply(function, &mock.encrypt(&arguments).unwrap()).unwrap();
            assert_eq!(mock.decrypt(&got).unwrap()[..wanted.len()], wanted, "{}", function.name());
            let got = server.apply(function, &client.encrypt(&arguments).unwrap()).unwrap();
            assert_eq!(client.decrypt(&got).unwrap()[..wanted.len()], wanted, "{}", function.name());
        }
    }
    // A comparison of small integers has a small degree.
    let narrow = SlotFunction::is_negative(&context, 7).unwrap();
    assert!(narrow.depth() <= 4 && narrow.products() < functions[4].0.products());
    let (a, b) = (client.encrypt(&[1, 5, 7, 7]).unwrap(), client.encrypt(&[2, 4, 7, 0]).unwrap());
    let less = server.apply(&narrow, &server.sub(&a, &b).unwrap()).unwrap();
    assert_eq!(client.decrypt(&less).unwrap()[..4], [1, 0, 0, 0]);
    let fifth = server.apply(&Power::new(5).unwrap(), &a).unwrap();
    assert_eq!(client.decrypt(&fifth).unwrap()[..3], [1, 3125 % 257, 16807 % 257]);
    assert!(matches!(Power::new(0), Err(Error::OutOfRange { .. })));
    assert!(matches!(SlotFunction::is_negative(&context, 129), Err(Error::OutOfRange { .. })));
    assert!(matches!(SlotFunction::from_table(&context, &[0; 258]), Err(Error::ShapeMismatch { .. })));
}

/// The tokens of a program, as its compiler counts them: words, numbers, strings, and marks of one
/// or two characters.
fn tokens(program: &str) -> usize {
    const PAIRS: [&str; 6] = ["::", "->", "=>", "..", "==", "&&"];
    let mut count = 0;
    let mut rest = program;
    while let Some(first) = rest.trim_start().chars().next() {
        rest = rest.trim_start();
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            '/' if rest.starts_with("//") => {
                rest = rest.split_once('\n').map_or("", |(_, after)| after);
                continue;
            }
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            _ if PAIRS.iter().any(|pair| rest.starts_with(pair)) => 2,
            c => c.len_utf8(),
        };
        rest = &rest[length..];
        count += 1;
    }
    count
}

/// It runs as a test of the documentation; here its length is held.
#[test]
fn the_first_program_is_short() {
    assert_eq!(tokens("let x = f(&a)?; // a comment\nuse a::b;"), 15);
    let readme = include_str!("../../../../README.md");
    let program = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert!(program.contains("fn main()") && program.matches("use ").count() == 1);
    let count = tokens(program);
    assert!((100..=170).contains(&count), "{count} tokens");
}

/// Keys, ciphertexts and parameters go through bytes, and the sides that come back work together.
#[test]
fn everything_public_goes_through_bytes() {
    let context = Context::preset("insecure_boot_256_p257").unwrap();
    let (rotation, plan) = (LinearMap::rotation(&context, 0, 1).unwrap(), context.bootstrapping().unwrap());
    let rotation = rotation.plan().unwrap();
    let (client, server) = context.generate_keys_from_seed([&rotation, &plan], 7).unwrap();
    let query = context.to_bytes(&client.encrypt(&[5, 6, 7]).unwrap()).unwrap();
    let (evaluation, own) = server.to_bytes().unwrap();
    let secret = client.secret_to_bytes().unwrap();

    // Another process: the parameters by name, the rest from bytes.
    let context = Context::preset("insecure_boot_256_p257").unwrap();
    let plan = context.bootstrapping().unwrap();
    let server = context.server_from_bytes(&evaluation, &[(Arc::clone(&plan), &own[0])]).unwrap();
    let query = context.from_bytes(&query).unwrap();
    let answer = server.refresh(&server.apply(&rotation, &query).unwrap()).unwrap();
    let answer = context.to_bytes(&answer).unwrap();
    let client = context.client_from_bytes(&secret).unwrap();
    let answer = context.from_bytes(&answer).unwrap();
    assert_eq!(client.decrypt(&answer).unwrap(), rotated(&context, 1, &[5, 6, 7]));

    // What is damaged, of another kind or of another context is refused.
    let refused = |bytes: &[u8]| context.server_from_bytes(bytes, &[]).is_err();
    assert!(refused(&evaluation[..evaluation.len() - 1]) && refused(&own[0]) && refused(&[]));
    let other = Context::preset(TOY).unwrap();
    assert!(matches!(other.server_from_bytes(&evaluation, &[]), Err(Error::Wire(_))));
    assert!(matches!(other.client_from_bytes(&secret), Err(Error::Wire(_))));
    // A server for one more circuit of the same key pair; one of another pair is told apart.
    let more = LinearMap::rotation(&context, 0, 5).unwrap().plan().unwrap();
    let server = client.generate_server([&more]).unwrap();
    assert_eq!(client.decrypt(&server.apply(&more, &query).unwrap()).unwrap(), rotated(&context, 5, &[5, 6, 7]));
    let (_, stranger) = context.generate_keys_from_seed([&more], 8).unwrap();
    assert!(stranger.apply(&more, &query).is_err());
}

/// A set that was saved for bootstrapping is one after it was read, under both schemes.
#[test]
fn parameters_from_files_bootstrap() {
    let dir = tempfile::tempdir().unwrap();
    let save = |name: &str, params: &Params| {
        let path = dir.path().join(name);
        std::fs::write(&path, params.to_json()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let preset = Params::preset("insecure_boot_256_p257", Scheme::Bgv).unwrap();
    // The same set with a name of its own, as planners write it; and with a weight of its own.
    let own = Params::new("insecure_own", Scheme::Bgv, (257, 1), None, preset.spec().clone()).unwrap();
    let of_own = |ephemeral| Context::for_bootstrapping(own.clone(), BootstrapSpec::under(ephemeral)).unwrap();
    let [by_weight, in_digits] = [Ephemeral::by_special_primes(9), Ephemeral::in_digits(7)].map(of_own);
    for (path, ephemeral) in [
        (save("preset.json", &preset), Ephemeral::by_special_primes(8)),
        (save("own.json", by_weight.params()), Ephemeral::by_special_primes(9)),
        (save("digits.json", in_digits.params()), Ephemeral::in_digits(7)),
    ] {
        for scheme in [Scheme::Bgv, Scheme::Bfv] {
            let context = Context::from_file(&path, scheme).unwrap();
            let plan = context.bootstrapping().unwrap();
            assert_eq!((plan.spec().ephemeral(), context.scheme()), (ephemeral, scheme));
            let (client, server) = context.generate_keys_from_seed([&plan], 11).unwrap();
            let refreshed = server.refresh(&client.encrypt(&[5, 6, 7]).unwrap()).unwrap();
            assert_eq!(client.decrypt(&refreshed).unwrap()[..4], [5, 6, 7, 0]);
        }
        let preset = BootstrapPreset::named(&path, Mode::Packed).unwrap();
        assert_eq!((preset.spec.ephemeral(), preset.spec.mode), (ephemeral, Mode::Packed));
    }
}

/// Where the slots stand in another order, no plan and no key is made.
#[test]
fn contexts_in_another_slot_order_do_not_bootstrap() {
    let preset = Params::preset("insecure_boot_256_p257", Scheme::Bgv).unwrap();
    let own = Params::new("insecure_own", Scheme::Bgv, (257, 1), None, preset.spec().clone()).unwrap();
    let context = Context::from_params(own).unwrap();
    let refused = context.bootstrapping().unwrap_err();
    assert!(matches!(&refused, Error::OtherSlotOrder { left, right, .. } if left != right), "{refused}");
    assert!(refused.to_string().contains("Context::for_bootstrapping"), "{refused}");
    let plan = Context::from_params(preset).unwrap().bootstrapping().unwrap();
    let mut made = 0;
    let refused = context.generate_keys_observed([&Products, &plan], |_, _| made += 1).unwrap_err();
    assert!(matches!(refused, Error::OtherSlotOrder { .. }) && made == 0, "{refused}");
    let refused = context.mock().generate_keys([&plan]).unwrap_err();
    assert!(matches!(refused, Error::OtherSlotOrder { .. }), "{refused}");
}
