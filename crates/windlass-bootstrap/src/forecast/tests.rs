//! Every operation beside the engine's: the same level, modulus and factor, and the same bound.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass_circuits::{
    DigitMethod, DigitRemoval, DigitSpec, HalvingChain, LocalNull, Method, RootProducts, Searched,
};
use windlass_ring::kernels::Isa;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::{
    Assurance, Context, EvaluationKeys, RandomEvents, RlweParams, RlweSpec, SecretDistribution, SecretKey,
};
use windlass_schemes::error::{Error, Result};
use windlass_schemes::evaluator::{DividedProduct, Evaluator, Subtrahend};
use windlass_schemes::params::Params;
use windlass_schemes::plaintext::Plaintext;
use windlass_schemes::schemes::engine::Engine;
use windlass_schemes::schemes::{Ciphertext, Decryptor, Scheme};
use windlass_schemes::switching::{Arithmetic, Switching};

use super::{Expected, Forecast};

const TURN: u64 = 11;

/// An engine, a forecast of it, and a fresh ciphertext of integers.
fn both(scheme: Scheme, ring: (u64, u64, u32)) -> (Engine, Forecast, Ciphertext) {
    let (engine, forecast, client) = parties(scheme, ring);
    let fresh = encrypted(&engine, &client, &MESSAGE);
    (engine, forecast, fresh)
}

const MESSAGE: [u64; 2] = [3, 1];

fn encrypted(engine: &Engine, client: &Decryptor, integers: &[u64]) -> Ciphertext {
    let message = Plaintext::from_integers(engine.slot_ring(), integers).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(integers[0]);
    client.encrypt(&message, engine.context().top_level(), &mut rng).unwrap().0
}

/// These integers come out, and the noise is no more than its bound.
fn decrypts(what: &str, client: &Decryptor, ct: &Ciphertext, integers: &[u64]) {
    let found = client.decrypt(ct).unwrap().to_integers().unwrap();
    assert_eq!(&found[..integers.len()], integers, "{what}");
    assert!(found[integers.len()..].iter().all(|&x| x == 0), "{what}");
    let exact = client.exact_noise_leaks_the_secret_key(ct).unwrap();
    assert!(exact <= ct.log2_noise(), "{what}: {exact} for {}", ct.log2_noise());
}

/// Some rings with spare primes: with both a level may lie above another and not have its primes.
fn spare(m: u64) -> Vec<u32> {
    match m {
        45 => vec![27, 31],
        105 => vec![29],
        _ => Vec::new(),
    }
}

fn parties(scheme: Scheme, (m, p, r): (u64, u64, u32)) -> (Engine, Forecast, Decryptor) {
    let params = RlweParams::new(&RlweSpec {
        m,
        q_prime_bits: vec![50, 36, 40, 34, 38, 36],
        spare_prime_bits: spare(m),
        special_prime_bits: vec![50; 2],
        digits: 4,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    });
    let (params, mut rng) = (params.unwrap(), ChaCha20Rng::seed_from_u64(m));
    let slots = Arc::new(SlotRing::new(m, p, r, Isa::best()).unwrap());
    let secret = Arc::new(SecretKey::generate(&Context::new(params.clone()).unwrap(), &mut rng));
    let mut keys = EvaluationKeys::of(&secret);
    keys.add_relinearisation(&secret, params.top_level(), &mut rng).unwrap();
    keys.add_galois(&secret, TURN, params.top_level(), &mut rng).unwrap();
    let engine = Engine::new(scheme, &slots, Arc::new(keys)).unwrap();
    (engine, Forecast::new(&params, &slots), Decryptor::new(scheme, &slots, secret))
}

fn expected(ct: &Ciphertext) -> Expected {
    Expected { level: ct.level(), exponent: ct.exponent(), factor: ct.factor(), noise: ct.noise() }
}

/// They meet within a hundredth of a bit.
fn meet(what: &str, forecast: Result<Expected>, real: Result<Ciphertext>) -> (Expected, Ciphertext) {
    let (forecast, real) = (forecast.unwrap(), real.unwrap());
    assert_eq!((forecast.level, forecast.exponent), (real.level(), real.exponent()), "{what}");
    assert_eq!(forecast.factor, real.factor(), "{what}");
    let (said, found) = (forecast.noise.bits(), real.noise().bits());
    assert!((said - found).abs() < 0.01, "{what}: {said} for {found} bits");
    (forecast, real)
}

/// No event of any kind more than were counted beforehand.
fn counted(what: &str, forecast: &Forecast, engine: &Engine, before: RandomEvents) {
    let (said, now) = (forecast.events().take(), engine.random_events());
    let more = |kind: fn(&RandomEvents) -> u64| kind(&now) - kind(&before) <= kind(&said);
    assert!(
        more(|e| e.inner_products) && more(|e| e.mod_downs) && more(|e| e.modulus_switches),
        "{what}: {said:?}, from {before:?} to {now:?}"
    );
}

const RINGS: [(u64, u64, u32); 3] = [(64, 7, 2), (45, 2, 3), (105, 17, 1)];

#[test]
fn operations_on_one_ciphertext_are_as_forecast() {
    for (scheme, ring) in [Scheme::Bgv, Scheme::Bfv].iter().flat_map(|&scheme| RINGS.map(|ring| (scheme, ring))) {
        let (engine, forecast, fresh) = both(scheme, ring);
        let product = engine.square(&fresh).unwrap();
        for x in [fresh.clone(), engine.switch_modulus(&fresh, 4).unwrap(), product] {
            let e = expected(&x);
            let what = |operation: &str| format!("{scheme}, {ring:?}, level {}: {operation}", x.level());
            for level in 1..=x.level() {
                let low = Ok(forecast.switch(&e, level));
                let Ok(real) = engine.switch_modulus(&x, level) else { continue };
                meet(&what("modulus switch"), low, Ok(real));
            }
            assert!((forecast.capacity(&e) - engine.capacity(&x)).abs() < 0.01);
            let noise = forecast.noise_of_capacity(e.level, forecast.capacity(&e));
            assert!((noise.bits() - e.noise.bits()).abs() < 0.01);
            let low = engine.switched(&x, engine.level_with(&x, engine.capacity(&x) - 0.5)).into_owned();
            meet(&what("reduction"), Ok(forecast.reduce(&e)), Ok(low));
            let before = engine.random_events();
            forecast.events().take();
            meet(&what("square"), forecast.square(&e), engine.square(&x));
            counted(&what("square"), &forecast, &engine, before);
            for (t, operation) in [(1, "identity"), (TURN, "automorphism")] {
                let before = engine.random_events();
                if t != 1 {
                    meet(&what(operation), forecast.automorphism(&e, t), engine.automorphism(&x, t));
                } else {
                    forecast.automorphism(&e, t).unwrap();
                    engine.automorphism(&x, t).unwrap();
                }
                counted(&what(operation), &forecast, &engine, before);
            }
            for k in [1, 2, -3] {
                meet(&what("multiple"), forecast.multiply_scalar(&e, k), engine.multiply_scalar(&x, k));
            }
            meet(&what("negative"), forecast.negate(&e), engine.negate(&x));
            if ring.2 > 1 {
                let (e, x) =
                    meet(&what("fewer digits"), forecast.reduce_exponent(&e, 1), engine.reduce_exponent(&x, 1));
                let (e, x) = meet(&what("times p"), forecast.multiply_by_p(&e), engine.multiply_by_p(&x));
                let (e, _) = meet(&what("by p"), forecast.divide_by_p(&e), engine.divide_by_p(&x));
                assert!(matches!(forecast.divide_by_p(&e), Err(Error::NotDivisible { .. })));
                assert!(matches!(forecast.reduce_exponent(&e, 2), Err(Error::OutOfRange(_))));
            }
            let top = Expected { exponent: ring.2, ..e };
            assert!(matches!(forecast.multiply_by_p(&top), Err(Error::OutOfRange(_))));
        }
    }
}

#[test]
fn operations_on_two_ciphertexts_are_as_forecast() {
    for (scheme, ring) in [Scheme::Bgv, Scheme::Bfv].iter().flat_map(|&scheme| RINGS.map(|ring| (scheme, ring))) {
        let (engine, forecast, fresh) = both(scheme, ring);
        let low = engine.switch_modulus(&fresh, 4).unwrap();
        let list = [engine.square(&low).unwrap(), low, fresh];
        for (x, y) in list.iter().flat_map(|x| list.iter().map(move |y| (x, y))) {
            let (a, b) = (expected(x), expected(y));
            let what =
                |operation: &str| format!("{scheme}, {ring:?}, levels {} and {}: {operation}", x.level(), y.level());
            let before = engine.random_events();
            forecast.events().take();
            meet(&what("sum"), forecast.add(&a, &b), engine.add(x, y));
            counted(&what("sum"), &forecast, &engine, before);
            meet(&what("difference"), forecast.sub(&a, &b), engine.sub(x, y));
            let before = engine.random_events();
            forecast.events().take();
            meet(&what("product"), forecast.multiply(&a, &b), engine.multiply(x, y));
            counted(&what("product"), &forecast, &engine, before);
            for toward in [None, Some(&list[0])] {
                let (said, found) = ([(&a, 3), (&b, -2)], [(x, 3), (y, -2)]);
                let before = engine.random_events();
                forecast.events().take();
                let base = toward.map(expected);
                let (said, found) = (forecast.weighted_sum(&said, base.as_ref()), engine.weighted_sum(&found, toward));
                meet(&what("weighted sum"), said, found);
                counted(&what("weighted sum"), &forecast, &engine, before);
            }
            let weights = [vec![3, -2], vec![0, 1]];
            let (said, found) = (forecast.weighted_sums(&[&a, &b], &weights), engine.weighted_sums(&[x, y], &weights));
            for (said, found) in said.unwrap().into_iter().zip(found.unwrap()) {
                meet(&what("weighted sums"), Ok(said), Ok(found));
            }
        }
    }
}

/// Each sum has the primes of all of its terms.
#[test]
fn sums_of_the_same_values_are_as_forecast() {
    for (scheme, ring) in [Scheme::Bgv, Scheme::Bfv].iter().flat_map(|&scheme| RINGS.map(|ring| (scheme, ring))) {
        let (engine, forecast, fresh) = both(scheme, ring);
        let list = [engine.switch_modulus(&fresh, 3).unwrap(), engine.switch_modulus(&fresh, 4).unwrap(), fresh];
        let values = list.each_ref().map(expected);
        assert!(values.is_sorted_by(|a, b| a.level < b.level), "{values:?}");
        let sums = [vec![3, -2, 1], vec![0, 1, 2], vec![1, 4, 0], vec![2, 0, 0]];
        let before = engine.random_events();
        forecast.events().take();
        let said = forecast.weighted_sums(&values.each_ref(), &sums).unwrap();
        let found = engine.weighted_sums(&list.each_ref(), &sums).unwrap();
        counted("sums", &forecast, &engine, before);
        let levels = engine.context().levels();
        let joined = levels.join(values[0].level, values[1].level);
        let top = values[2].level;
        for ((said, found), highest) in said.into_iter().zip(found).zip([top, top, joined, values[0].level]) {
            assert_eq!(found.level(), highest, "{scheme}, {ring:?}");
            meet("sums", Ok(said), Ok(found));
        }
        // Weights that are zero modulo t raise nothing.
        let t = engine.slot_ring().modulus().value() as i64;
        for (weights, level) in [([3, -2, t], joined), ([1, -t, 2 * t], values[0].level)] {
            let said = forecast.weighted_sums(&values.each_ref(), &[weights.to_vec()]).unwrap().remove(0);
            let found = engine.weighted_sums(&list.each_ref(), &[weights.to_vec()]).unwrap().remove(0);
            assert_eq!(found.level(), level, "{scheme}, {ring:?}, {weights:?}");
            meet("sums with vanishing weights", Ok(said), Ok(found));
        }
    }
}

/// Products of several levels and factors are relinearised once.
#[test]
fn sums_of_products_are_as_forecast() {
    for (scheme, ring) in [Scheme::Bgv, Scheme::Bfv].iter().flat_map(|&scheme| RINGS.map(|ring| (scheme, ring))) {
        let (engine, forecast, client) = parties(scheme, ring);
        let fresh = encrypted(&engine, &client, &MESSAGE);
        let low = engine.switch_modulus(&fresh, 4).unwrap();
        let zero = engine.switch_modulus(&engine.zero_like(&fresh).unwrap(), 1).unwrap();
        let list = [engine.square(&low).unwrap(), low, fresh, zero];
        let values = list.each_ref().map(expected);
        let plain = [MESSAGE.map(|x| x * x), MESSAGE, MESSAGE, [0; 2]];
        for pairs in [&[(0, 1)][..], &[(2, 2), (1, 1), (2, 1)], &[(0, 2), (1, 1)], &[(1, 1), (2, 3)], &[(3, 3)]] {
            let what = format!("{scheme}, {ring:?}, {pairs:?}");
            let before = engine.random_events();
            forecast.events().take();
            let said = pairs.iter().map(|&(a, b)| (&values[a], &values[b])).collect::<Vec<_>>();
            let found = pairs.iter().map(|&(a, b)| (&list[a], &list[b])).collect::<Vec<_>>();
            let (_, sum) = meet(&what, forecast.dot_ciphertexts(&said), engine.dot_ciphertexts(&found));
            counted(&what, &forecast, &engine, before);
            let switches = engine.random_events().inner_products - before.inner_products;
            assert_eq!(switches, RandomEvents::KEY_SWITCH.inner_products, "{what}");
            let t = engine.slot_ring().modulus().value();
            let total = |slot: usize| pairs.iter().map(|&(a, b)| plain[a][slot] * plain[b][slot]).sum::<u64>() % t;
            decrypts(&what, &client, &sum, &[total(0), total(1)]);
        }
    }
}

/// Digits that are subtracted and divided out at once: values and products of several levels, each
/// modulo its own power of p.
#[test]
fn divisions_are_as_forecast() {
    for (scheme, ring) in [(Scheme::Bgv, (64, 7, 3)), (Scheme::Bfv, (45, 2, 3)), (Scheme::Bgv, (45, 2, 3))] {
        let (engine, forecast, client) = parties(scheme, ring);
        let (p, t) = (ring.1, engine.slot_ring().modulus().value());
        let fresh = encrypted(&engine, &client, &MESSAGE);
        let low = engine.switch_modulus(&fresh, 4).unwrap();
        let at = |x: &Ciphertext, exponent| engine.reduce_exponent(x, exponent).unwrap();
        let list = [fresh.clone(), engine.square(&low).unwrap(), at(&low, 2), at(&fresh, 2)];
        let values = list.each_ref().map(expected);
        let plain = [MESSAGE, MESSAGE.map(|x| x * x), MESSAGE, MESSAGE];
        // Value and product by number, for each division.
        type Wanted = [(Option<usize>, Option<(usize, usize)>)];
        let cases: [&Wanted; 4] = [
            &[(Some(1), None)],
            &[(Some(1), None), (Some(2), None)],
            &[(None, Some((0, 1))), (Some(3), Some((2, 3)))],
            &[(Some(0), Some((1, 1))), (None, None)],
        ];
        for wanted in cases {
            let what = format!("{scheme}, {ring:?}, {wanted:?}");
            let said = wanted.iter().map(|&(value, product)| Subtrahend {
                value: value.map(|k| &values[k]),
                product: product.map(|(a, b)| (&values[a], &values[b])),
            });
            let found = wanted.iter().map(|&(value, product)| Subtrahend {
                value: value.map(|k| &list[k]),
                product: product.map(|(a, b)| (&list[a], &list[b])),
            });
            // x = s_0 + p·(s_1 + p·(.. z)): z is what is left.
            let left = [1, p - 1];
            let undivided = |slot: usize| {
                wanted.iter().rev().fold(left[slot], |x, (value, product)| {
                    let value = value.map_or(0, |k| plain[k][slot]);
                    p * x + value + product.map_or(0, |(a, b)| plain[a][slot] * plain[b][slot])
                })
            };
            let x = encrypted(&engine, &client, &[undivided(0) % t, undivided(1) % t]);
            let before = engine.random_events();
            forecast.events().take();
            let said = forecast.divide_out(&expected(&x), &said.collect::<Vec<_>>());
            let (_, result) = meet(&what, said, engine.divide_out(&x, &found.collect::<Vec<_>>()));
            counted(&what, &forecast, &engine, before);
            decrypts(&what, &client, &result, &left);
        }
        let too_many: Vec<_> = (0..3).map(|_| Subtrahend { value: None, product: None }).collect();
        assert!(matches!(forecast.divide_out(&values[0], &too_many), Err(Error::NotDivisible { .. })));
        let too_many: Vec<_> =
            (0..3).map(|_| Subtrahend { value: None, product: Some((&list[0], &list[0])) }).collect();
        assert!(matches!(engine.divide_out(&list[0], &too_many), Err(Error::NotDivisible { .. })));
    }
}

/// Takes three digits off integers modulo 2^5: its last product is not divided.
fn chain_to_two_bits() -> HalvingChain {
    let steps: [[&[i64]; 3]; 4] = [
        [&[1], &[1], &[-5]],
        [&[0, 1], &[-2, 1], &[0, -3]],
        [&[0, 0, 1], &[2, -4, 1], &[-4, -4, 3]],
        [&[0, 0, 1, -1], &[-2, -2, -2], &[-2, 1, 0, -1]],
    ];
    let product = |(k, step): (usize, &[&[i64]; 3])| {
        let [left, right, rest] = step.map(<[i64]>::to_vec);
        DividedProduct { factors: [left, right], rest, divisions: u32::from(k < 3) }
    };
    HalvingChain { products: steps.iter().enumerate().map(product).collect() }
}

/// Chains that divide: each value from those before it, at other levels and modulo smaller powers.
#[test]
fn divided_products_are_as_forecast() {
    let chains = [Searched.halving(&DigitSpec::new(2, 4, 3)).unwrap(), chain_to_two_bits()];
    for ((scheme, chain), r) in [(Scheme::Bgv, &chains[0]), (Scheme::Bfv, &chains[1])].into_iter().zip([4, 5]) {
        let (engine, forecast, fresh) = both(scheme, (45, 2, r));
        let (mut said, mut found) = (vec![expected(&fresh)], vec![fresh]);
        for (k, product) in chain.products.iter().enumerate() {
            let what = format!("{scheme}, product {k}");
            let before = engine.random_events();
            forecast.events().take();
            let next = (
                forecast.divided_product(&said.iter().collect::<Vec<_>>(), product),
                engine.divided_product(&found.iter().collect::<Vec<_>>(), product),
            );
            let (e, x) = meet(&what, next.0, next.1);
            counted(&what, &forecast, &engine, before);
            said.push(e);
            found.push(x);
        }
    }
}

/// Fewer products for one digit of two, and the bits of as many levels, from the floor of a level.
#[test]
fn products_over_roots_leave_what_polynomials_leave() {
    for (name, level) in [("paper_ma24_set2_p8191", 21), ("boot_n32768_p257", 13)] {
        let params = Params::preset(name, Scheme::Bgv).unwrap();
        let slots = Arc::new(SlotRing::new(params.m(), params.p(), 2, Isa::best()).unwrap());
        let left = |method| {
            let forecast = Forecast::new(params.rlwe(), &slots);
            let spec = DigitSpec { bound: Some(12), method, ..DigitSpec::new(params.p(), 2, 1) };
            let removal = DigitRemoval::new(spec).unwrap();
            let result = removal.apply(&forecast, &forecast.floor(level, 2)).unwrap();
            (removal.products(), forecast.capacity(&forecast.reduce(&result)))
        };
        let (polynomial, roots) = (left(Method::Of(&LocalNull)), left(Method::Of(&RootProducts)));
        assert_eq!((polynomial.0, roots.0), (14, 10), "{name}");
        assert!(roots.1 > polynomial.1 - 1.0, "{name}: {:.1} and {:.1} bits", roots.1, polynomial.1);
    }
}
