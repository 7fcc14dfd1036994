//! BGV.

use std::sync::Arc;

use windlass_ring::kernels::arith;

use super::{context, parties, rng};
use crate::error::{Error, ExplicitError};
use crate::schemes::explicit::{Ciphertext, Client, Context, Encoding, Scale, Server, Values};

/// 1 modulo 2n for n = 64.
const T: i64 = 257;
const MODULI: [u64; 3] = [1 << 52, 1 << 40, 1 << 40];
const BGV: Encoding = Encoding::Bgv { modulus: T as u64 };

fn integers(seed: i64, count: usize) -> Vec<i64> {
    (0..count as i64).map(|j| (seed * j * j + j + seed) % T).collect()
}

fn encrypt(client: &Client, values: &[i64], level: usize, factor: u64) -> Ciphertext {
    client.encrypt(&values.into(), 0.0, level, Scale::Factor(factor), &mut rng()).unwrap()
}

fn check(client: &Client, ct: &Ciphertext, expected: impl Fn(usize) -> i64) {
    assert!(client.exact_log2_phase(ct) <= ct.log2_phase());
    let Values::Integers(slots) = client.decrypt(ct).unwrap() else { panic!("BGV gives integers") };
    assert_eq!(slots.len(), 64);
    for (j, slot) in slots.iter().enumerate() {
        assert_eq!(slot.rem_euclid(T), expected(j).rem_euclid(T), "slot {j}");
        assert!(slot.abs() <= T / 2);
    }
}

fn bgv() -> (Arc<Context>, Client, Server) {
    let context = context(&MODULI, BGV);
    let (client, server) = parties(&context, &[1, -3]);
    (context, client, server)
}

fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> ExplicitError {
    let Err(Error::Explicit(refusal)) = result else { panic!("{result:?}") };
    refusal
}

/// The factor is divided by the step modulo t.
#[test]
fn a_product_is_relinearised_and_switched_on_request_only() {
    let (context, client, server) = bgv();
    let (x, y) = (integers(3, 64), integers(5, 64));
    let product = server.multiply(&encrypt(&client, &x, 2, 3), &encrypt(&client, &y, 2, 5)).unwrap();
    assert_eq!((product.size(), product.level(), product.scale()), (3, 2, Scale::Factor(15)));
    let relinearised = server.relinearize(&product).unwrap();
    let switched = server.rescale(&relinearised).unwrap();
    let t = T as u64;
    let step = context.step(2).unwrap().iter().fold(1, |product, q| product * (q % t) % t);
    let factor = 15 * arith::inv_mod(step, t).unwrap() % t;
    assert_ne!(factor, 15);
    assert_eq!((switched.size(), switched.level(), switched.scale()), (2, 1, Scale::Factor(factor)));
    for ct in [&product, &relinearised, &switched, &server.rescale(&product).unwrap()] {
        check(&client, ct, |j| x[j] * y[j]);
    }
    let deeper = server.relinearize(&server.multiply(&switched, &switched).unwrap()).unwrap();
    check(&client, &server.rescale(&deeper).unwrap(), |j| (x[j] * y[j] % T).pow(2));
}

#[test]
fn sums_plaintexts_levels_and_rotations() {
    let (context, client, server) = bgv();
    let (x, y, w) = (integers(7, 64), integers(2, 64), integers(11, 8));
    let [a, b] = [&x, &y].map(|values| encrypt(&client, values, 1, 1));
    let products = server.sub(&server.multiply(&a, &b).unwrap(), &server.multiply(&b, &b).unwrap()).unwrap();
    let sum = server.negate(&server.add(&products, &a).unwrap()).unwrap();
    assert_eq!(sum.size(), 3);
    check(&client, &server.relinearize(&sum).unwrap(), |j| -(x[j] * y[j] - y[j] * y[j] + x[j]));
    let plain = |factor| context.encode(&w.as_slice().into(), 1, Scale::Factor(factor)).unwrap();
    check(&client, &server.add_plain(&a, &plain(1)).unwrap(), |j| x[j] + w[j % 8]);
    check(&client, &server.sub_plain(&a, &plain(1)).unwrap(), |j| x[j] - w[j % 8]);
    let product = server.multiply_plain(&a, &plain(9)).unwrap();
    assert_eq!(product.scale(), Scale::Factor(9));
    check(&client, &product, |j| x[j] * w[j % 8]);
    check(&client, &server.add_plain(&product, &plain(9)).unwrap(), |j| x[j] * w[j % 8] + w[j % 8]);
    check(&client, &server.level_reduce(&a, 1).unwrap(), |j| x[j]);
    // Each row of 32 slots rotates alone.
    let moved = |j: usize, amount: usize| j / 32 * 32 + (j + amount) % 32;
    check(&client, &server.rotate(&a, 1).unwrap(), |j| x[moved(j, 1)]);
    check(&client, &server.rotate(&a, -3).unwrap(), |j| x[moved(j, 29)]);
}

#[test]
fn nothing_is_aligned_silently() {
    let (context, client, server) = bgv();
    let x = encrypt(&client, &[1], 1, 1);
    let scales = |operation, left: &str, right: &str| {
        let [left, right] = [left, right].map(str::to_owned);
        ExplicitError::Scales { operation, left, right }
    };
    let other = encrypt(&client, &[1], 1, 2);
    assert_eq!(refusal(server.add(&x, &other)), scales("add", "factor 1", "factor 2"));
    let plain = context.encode(&Values::from(&[1][..]), 1, Scale::Factor(4)).unwrap();
    assert_eq!(refusal(server.sub_plain(&x, &plain)), scales("subtract a plaintext", "factor 1", "factor 4"));
    let tolerant = server.clone().with_scale_tolerance(1.0).unwrap();
    assert_eq!(refusal(tolerant.add(&x, &other)), scales("add", "factor 1", "factor 2"));
    let higher = encrypt(&client, &[1], 2, 1);
    assert_eq!(refusal(server.add(&higher, &x)), ExplicitError::Levels { operation: "add", left: 2, right: 1 });
    let mut deep = server.level_reduce(&x, 1).unwrap();
    let refused = loop {
        match server.multiply(&deep, &deep).and_then(|product| server.relinearize(&product)) {
            Ok(product) => deep = product,
            Err(error) => break error,
        }
    };
    assert!(matches!(refusal::<()>(Err(refused)), ExplicitError::NoRoom { .. }));
    assert!(matches!(
        refusal(context.encode(&Values::from(&[1.0][..]), 1, Scale::Factor(1))),
        ExplicitError::OtherEncoding { .. }
    ));
    assert!(matches!(
        refusal(context.encode(&Values::from(&[1i64][..]), 1, Scale::bits(1.0))),
        ExplicitError::OtherEncoding { .. }
    ));
    for factor in [0, 257] {
        let encoded = context.encode(&Values::from(&[1i64][..]), 1, Scale::Factor(factor));
        assert!(matches!(encoded, Err(Error::OutOfRange(_))));
    }
    assert!(matches!(context.encode(&Values::from(&[1i64; 3][..]), 1, Scale::Factor(1)), Err(Error::SlotCount { .. })));
}

#[test]
fn decryption_refuses_what_the_bound_does_not_carry() {
    let (_, client, _) = bgv();
    let x = encrypt(&client, &[100, 3], 1, 1);
    let mut changed = x.clone();
    changed.parts[0].mul_scalar_assign(|q| q.value() / 3);
    assert!(matches!(client.decrypt(&changed), Err(Error::NotDecryptable { .. })));
}

/// A step of 20 bits above t carries a result: by the bound on coefficients, not by that on the norm.
#[test]
fn coefficients_fit_smaller_moduli_than_norms() {
    let context = context(&[1 << 26, 1 << 30], Encoding::Bgv { modulus: 65537 });
    let client = Client::generate(&context, &mut rng());
    let server = Server::new(&context, Arc::new(client.evaluation_keys(&[], false, &mut rng()).unwrap())).unwrap();
    let x = integers(5, 64);
    let low = server.rescale(&encrypt(&client, &x, 1, 1)).unwrap();
    assert!(low.log2_noise() > 25.0 && low.log2_phase() < 25.0, "{} {}", low.log2_noise(), low.log2_phase());
    let Values::Integers(slots) = client.decrypt(&low).unwrap() else { panic!("BGV gives integers") };
    assert_eq!(slots, x);
    // The bound holds, with room.
    let phase = client.exact_log2_phase(&low);
    assert!(phase < low.log2_phase() && phase > low.log2_phase() - 6.0, "{phase} {}", low.log2_phase());
}

#[test]
fn plaintext_moduli_without_slots_are_refused() {
    let chain = |encoding| {
        let assurance = windlass_rlwe::Assurance::Insecure { name: "insecure_explicit".into() };
        let (moduli, special) = (MODULI.to_vec(), vec![1 << 60]);
        let chain =
            super::Chain { n: 64, moduli, special, secret: windlass_rlwe::SecretDistribution::Ternary, assurance };
        Context::new(&chain, encoding)
    };
    for modulus in [0, 1, 127, 129, 641 * 641] {
        let refused = chain(Encoding::Bgv { modulus }).unwrap_err();
        assert!(matches!(refused, Error::OutOfRange(_)), "{modulus}: {refused}");
    }
    assert_eq!(chain(Encoding::Bgv { modulus: 641 }).unwrap().encoding(), Encoding::Bgv { modulus: 641 });
    assert!(chain(BGV).unwrap().to_string().starts_with("BGV modulo 257, n = 64"));
}
