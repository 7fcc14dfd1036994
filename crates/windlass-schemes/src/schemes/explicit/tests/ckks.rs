//! CKKS.

use std::sync::Arc;

use num_complex::Complex64;

use super::{context, parties, rng};
use crate::error::{Error, ExplicitError};
use crate::schemes::ckks::Wide;
use crate::schemes::explicit::{Ciphertext, Client, Context, Encoding, Scale, Server, Values};

const MODULI: [u64; 3] = [1 << 55, 1 << 45, 1 << 45];

fn reals(seed: f64, count: usize) -> Vec<f64> {
    (0..count).map(|j| (seed * (j * j + 1) as f64).sin()).collect()
}

fn encrypt(client: &Client, values: &[f64], level: usize, scale: Scale) -> Ciphertext {
    client.encrypt(&values.into(), 1.0, level, scale, &mut rng()).unwrap()
}

/// Every slot is as expected, up to the stated error; and that is small.
fn check(client: &Client, ct: &Ciphertext, expected: impl Fn(usize) -> f64) {
    assert!(client.exact_log2_phase(ct) <= ct.log2_phase());
    let Values::Complex(slots) = client.decrypt(ct).unwrap() else { panic!("CKKS gives complex numbers") };
    assert!(ct.error_bound() < 1e-4, "{:e}", ct.error_bound());
    assert_eq!(slots.len(), 32);
    for (j, slot) in slots.iter().enumerate() {
        let error = (slot - Complex64::from(expected(j))).norm();
        assert!(error <= ct.error_bound(), "slot {j}: {error:e} above {:e}", ct.error_bound());
        assert!(slot.norm() <= ct.magnitude() + ct.error_bound());
    }
}

fn ckks() -> (Arc<Context>, Client, Server) {
    let context = context(&MODULI, Encoding::Ckks);
    let (client, server) = parties(&context, &[1, -3]);
    (context, client, server)
}

fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> ExplicitError {
    let Err(Error::Explicit(refusal)) = result else { panic!("{result:?}") };
    refusal
}

#[test]
fn a_product_is_relinearised_and_rescaled_on_request_only() {
    let (context, client, server) = ckks();
    let (x, y) = (reals(0.3, 32), reals(0.7, 32));
    let scale = Scale::bits(45.0);
    let product = server.multiply(&encrypt(&client, &x, 2, scale), &encrypt(&client, &y, 2, scale)).unwrap();
    assert_eq!((product.size(), product.level(), product.scale()), (3, 2, Scale::bits(90.0)));
    let relinearised = server.relinearize(&product).unwrap();
    assert_eq!((relinearised.size(), relinearised.level(), relinearised.scale()), (2, 2, Scale::bits(90.0)));
    let rescaled = server.rescale(&relinearised).unwrap();
    let step: f64 = context.step(2).unwrap().iter().map(|&q| q as f64).product();
    let exact = Wide::from(90f64.exp2()) / Wide::from(step);
    assert_eq!((rescaled.size(), rescaled.level(), rescaled.scale()), (2, 1, Scale::Real(exact)));
    for ct in [&product, &relinearised, &rescaled, &server.rescale(&product).unwrap()] {
        check(&client, ct, |j| x[j] * y[j]);
    }
    // The bound grows by a key switch, and is not what it was.
    assert!(relinearised.log2_noise() > product.log2_noise());
    assert!(rescaled.log2_noise() < product.log2_noise() - 30.0);
}

#[test]
fn a_sum_of_products_is_relinearised_once() {
    let (_, client, server) = ckks();
    let [a, b, c] = [0.1, 0.2, 0.4].map(|seed| reals(seed, 32));
    let [x, y, z] = [&a, &b, &c].map(|values| encrypt(&client, values, 1, Scale::bits(40.0)));
    let products = server.sub(&server.multiply(&x, &y).unwrap(), &server.multiply(&y, &z).unwrap()).unwrap();
    let lone =
        server.multiply_plain(&z, &server.context().encode(&Values::from(&[0.5][..]), 1, Scale::bits(40.0)).unwrap());
    let lone = lone.unwrap();
    // Sizes 3 and 2, in both orders.
    let sums = [server.sub(&products, &lone).unwrap(), server.negate(&server.sub(&lone, &products).unwrap()).unwrap()];
    for sum in sums {
        assert_eq!(sum.size(), 3);
        check(&client, &server.relinearize(&sum).unwrap(), |j| a[j] * b[j] - b[j] * c[j] - c[j] / 2.0);
    }
}

#[test]
fn plaintexts_levels_and_rotations() {
    let (context, client, server) = ckks();
    let (x, w) = (reals(0.9, 32), reals(0.4, 8));
    let ct = encrypt(&client, &x, 2, Scale::bits(45.0));
    let lower = server.level_reduce(&ct, 1).unwrap();
    assert_eq!((lower.level(), lower.scale(), lower.log2_noise()), (1, ct.scale(), ct.log2_noise()));
    check(&client, &lower, |j| x[j]);
    check(&client, &server.level_reduce(&ct, 2).unwrap(), |j| x[j]);
    let plain = context.encode(&w.as_slice().into(), 1, Scale::bits(45.0)).unwrap();
    check(&client, &server.add_plain(&lower, &plain).unwrap(), |j| x[j] + w[j % 8]);
    check(&client, &server.sub_plain(&lower, &plain).unwrap(), |j| x[j] - w[j % 8]);
    let product = server.multiply_plain(&lower, &plain).unwrap();
    assert_eq!(product.scale(), Scale::bits(90.0));
    check(&client, &product, |j| x[j] * w[j % 8]);
    check(&client, &server.rotate(&ct, 1).unwrap(), |j| x[(j + 1) % 32]);
    check(&client, &server.rotate(&lower, -3).unwrap(), |j| x[(j + 29) % 32]);
    check(&client, &server.rotate(&lower, 32).unwrap(), |j| x[j]);
}

#[test]
fn nothing_is_aligned_silently() {
    let (context, client, server) = ckks();
    let x = encrypt(&client, &[0.5], 2, Scale::bits(45.0));
    let lower = server.level_reduce(&x, 1).unwrap();
    assert_eq!(refusal(server.add(&lower, &x)), ExplicitError::Levels { operation: "add", left: 1, right: 2 });
    assert_eq!(
        refusal(server.multiply(&x, &lower)),
        ExplicitError::Levels { operation: "multiply", left: 2, right: 1 }
    );
    let plain = context.encode(&Values::from(&[0.5][..]), 1, Scale::bits(45.0)).unwrap();
    assert!(matches!(refusal(server.multiply_plain(&x, &plain)), ExplicitError::Levels { left: 2, right: 1, .. }));
    let other = encrypt(&client, &[0.5], 2, Scale::bits(44.0));
    assert!(matches!(refusal(server.sub(&x, &other)), ExplicitError::Scales { operation: "subtract", .. }));
    let square = server.multiply(&x, &x).unwrap();
    let unrelinearised = |operation| ExplicitError::Unrelinearised { operation };
    assert_eq!(refusal(server.rotate(&square, 1)), unrelinearised("rotate"));
    assert_eq!(refusal(server.multiply(&square, &x)), unrelinearised("multiply"));
    assert_eq!(refusal(server.multiply(&x, &square)), unrelinearised("multiply"));
    assert_eq!(refusal(server.relinearize(&x)), ExplicitError::Relinearised);
    assert_eq!(refusal(server.rotate(&x, 2)), ExplicitError::MissingRotationKey { amount: 2 });
    let bare = Server::new(&context, Arc::new(client.evaluation_keys(&[], false, &mut rng()).unwrap())).unwrap();
    assert_eq!(refusal(bare.relinearize(&square)), ExplicitError::MissingRelinearisationKey);
    let bottom = server.level_reduce(&x, 2).unwrap();
    assert!(matches!(refusal(server.rescale(&bottom)), ExplicitError::NoStep { level: 0, steps: 1, .. }));
    assert!(matches!(refusal(server.level_reduce(&lower, 2)), ExplicitError::NoStep { level: 1, steps: 2, .. }));
    assert!(matches!(refusal(server.multiply(&bottom, &bottom)), ExplicitError::NoRoom { .. }));
    assert!(matches!(refusal(server.level_reduce(&square, 2)), ExplicitError::NoRoom { .. }));
}

/// A difference of scales within the tolerance is counted in the bound, and the sum keeps it.
#[test]
fn scales_may_differ_by_what_the_caller_allows() {
    let (_, client, server) = ckks();
    let (x, y) = (reals(0.3, 32), reals(0.6, 32));
    let [near, far] = [-31.0, -20.0].map(|bits: f64| Scale::real(45f64.exp2() * (1.0 + bits.exp2())));
    let a = encrypt(&client, &x, 1, Scale::bits(45.0));
    let sum = server.add(&a, &encrypt(&client, &y, 1, near)).unwrap();
    check(&client, &sum, |j| x[j] + y[j]);
    let far = encrypt(&client, &y, 1, far);
    assert!(matches!(refusal(server.add(&a, &far)), ExplicitError::Scales { .. }));
    let tolerant = server.with_scale_tolerance(1e-6).unwrap();
    let sum = tolerant.add(&a, &far).unwrap();
    assert!(sum.error_bound() > 0.9 * (-20f64).exp2());
    check(&client, &sum, |j| x[j] + y[j]);
    assert!(matches!(tolerant.with_scale_tolerance(f64::NAN), Err(Error::OutOfRange(_))));
}

#[test]
fn decryption_refuses_what_the_bound_does_not_carry() {
    let (context, client, server) = ckks();
    let x = encrypt(&client, &[0.5], 1, Scale::bits(45.0));
    let mut larger = server.add(&x, &x).unwrap();
    larger.bounds = x.bounds;
    assert!(client.decrypt(&larger).is_ok(), "0.5 + 0.5 is within the bound 1");
    let mut larger = server.add(&larger, &x).unwrap();
    larger.bounds = x.bounds;
    assert!(matches!(client.decrypt(&larger), Err(Error::NotDecryptable { beyond: Some(_) })));
    let other = Client::generate(&context, &mut <rand_chacha::ChaCha20Rng as rand_core::SeedableRng>::seed_from_u64(8));
    assert!(matches!(other.decrypt(&x), Err(Error::OtherKeyPair(_))));
    let elsewhere = super::context(&MODULI[..2], Encoding::Ckks);
    let stranger = Client::generate(&elsewhere, &mut rng());
    assert!(matches!(stranger.decrypt(&x), Err(Error::ContextMismatch { .. })));
    assert!(matches!(
        server.negate(&encrypt(&stranger, &[0.5], 1, Scale::bits(45.0))),
        Err(Error::ContextMismatch { .. })
    ));
}

#[test]
fn what_cannot_be_encoded_is_refused() {
    let (context, client, _) = ckks();
    let encode = |values: &[f64], level, scale| context.encode(&values.into(), level, scale);
    let scale = Scale::bits(45.0);
    assert!(matches!(encode(&[0.5; 3], 1, scale), Err(Error::SlotCount { got: 3, most: 32 })));
    assert!(matches!(encode(&[], 1, scale), Err(Error::SlotCount { .. })));
    assert!(matches!(encode(&[f64::NAN], 1, scale), Err(Error::NotFinite { index: 0 })));
    assert!(matches!(encode(&[0.5], 3, scale), Err(Error::OutOfRange(_))));
    assert!(matches!(encode(&[0.5], 1, Scale::bits(f64::INFINITY)), Err(Error::OutOfRange(_))));
    assert!(matches!(encode(&[0.5], 1, Scale::real(-1.0)), Err(Error::OutOfRange(_))));
    assert!(matches!(refusal(encode(&[0.5], 1, Scale::Factor(1))), ExplicitError::OtherEncoding { .. }));
    assert!(matches!(
        refusal(context.encode(&Values::from(&[1i64][..]), 1, scale)),
        ExplicitError::OtherEncoding { .. }
    ));
    assert!(matches!(refusal(encode(&[1e3], 0, scale)), ExplicitError::NoRoom { .. }));
    let encrypt = |values: &[f64], bound| client.encrypt(&values.into(), bound, 1, scale, &mut rng());
    assert!(matches!(encrypt(&[2.0], 1.0), Err(Error::ValueTooLarge { index: 0, .. })));
    for bound in [f64::NAN, -1.0, f64::INFINITY] {
        assert!(matches!(encrypt(&[0.0], bound), Err(Error::OutOfRange(_))));
    }
}

/// Zeros need no room, whatever their scale. It stays where doubles are exact.
#[test]
fn scales_outside_of_doubles_are_refused() {
    let (context, client, server) = ckks();
    let mut zero = client.encrypt(&Values::from(&[0.0][..]), 0.0, 2, Scale::bits(900.0), &mut rng()).unwrap();
    let plain = context.encode(&Values::from(&[0.0][..]), 2, Scale::bits(100.0)).unwrap();
    assert!(matches!(server.multiply_plain(&zero, &plain), Err(Error::OutOfRange(_))));
    zero = client.encrypt(&Values::from(&[0.0][..]), 0.0, 2, Scale::bits(-30.0), &mut rng()).unwrap();
    assert!(matches!(server.rescale(&zero), Err(Error::OutOfRange(_))));
}

#[test]
fn a_context_says_what_it_is() {
    let context = context(&MODULI, Encoding::Ckks);
    let text = context.to_string();
    assert!(text.starts_with("CKKS, n = 64, steps of 55.0 45.0 45.0 bits, P of 60.0 bits"), "{text}");
    assert!(text.ends_with("bits of security"), "{text}");
    assert_eq!((context.step(0).unwrap().len(), context.step(1).unwrap().len()), (2, 1));
    assert!(context.step(3).is_err());
}
