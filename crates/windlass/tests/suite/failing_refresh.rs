//! An operation that could do without a refresh does not fail with one; what comes out of one can
//! be refreshed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use windlass::Arithmetic;

use windlass::bootstrap::Refresh;
use windlass::circuits::{PolynomialPlan, Power};
use windlass::needs::Products;
use windlass::schemes::{Ciphertext, Engine};
use windlass::{Client, Context, Error, Evaluator, Plaintext, Result, Scheme};

/// It asks for a refresh below so many bits, and never makes one.
struct Failing {
    engine: Engine,
    kept_bits: f64,
    asked: AtomicUsize,
}

impl Refresh<Ciphertext> for Failing {
    fn refresh(&self, _: &Ciphertext) -> Result<Ciphertext> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Err(Error::MissingBootstrappingKeys)
    }

    fn headroom_bits(&self, ct: &Ciphertext) -> f64 {
        self.engine.capacity(ct) - self.kept_bits
    }
}

#[test]
fn what_came_out_before_a_failing_refresh_is_the_result() {
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let context = Context::preset("insecure_toy_256").unwrap().with_scheme(scheme).unwrap();
        let (client, server) = context.generate_keys_from_seed([&Products], 21).unwrap();
        let engine = server.engine();
        let x = client.encrypt(&[3, 256, 7]).unwrap();
        let square = engine.square(&x).unwrap();
        // Of x itself there is room to refresh, of its square there is not.
        let kept_bits = engine.capacity(&square) + 1.0;
        assert!(engine.capacity(&x) > kept_bits);
        let failing = Arc::new(Failing { engine: engine.clone(), kept_bits, asked: AtomicUsize::new(0) });
        let refreshing = engine.clone().refreshing_with(Arc::clone(&failing) as Arc<dyn Refresh<Ciphertext>>);
        let asked = || failing.asked.swap(0, Ordering::Relaxed);
        let square = refreshing.square(&x).unwrap();
        assert!(asked() > 0, "a refresh was tried");
        let product = refreshing.multiply(&x, &x).unwrap();
        assert!(asked() > 0, "a refresh was tried");
        for image in [square, product] {
            assert_eq!(client.decrypt(&image).unwrap()[..3], [9, 1, 49]);
        }
        let cubic = PolynomialPlan::new(&[1, 0, 0, 1]);
        let value = refreshing.with_refreshes(&x, &|engine, x| cubic.apply(engine, x)).unwrap();
        assert_eq!(client.decrypt(&value).unwrap()[..3], [28, 0, 344 % 257]);
        assert!(asked() > 0, "a refresh was tried");
        // Where there is no result without one, the failure is told.
        let deep = Power::new(1 << 40).unwrap();
        let refused = refreshing.with_refreshes(&x, &|engine, x| deep.apply(engine, x));
        assert_eq!(refused.err(), Some(Error::MissingBootstrappingKeys));
    }
}

/// It encrypts again, with the secret key.
struct Anew {
    client: Client,
    engine: Engine,
    kept_bits: f64,
    made: AtomicUsize,
}

impl Refresh<Ciphertext> for Anew {
    fn refresh(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        self.made.fetch_add(1, Ordering::Relaxed);
        self.client.encrypt_plaintext(&self.client.decrypt_plaintext(ct)?)
    }

    fn headroom_bits(&self, ct: &Ciphertext) -> f64 {
        self.engine.capacity(ct) - self.kept_bits
    }
}

/// An engine that refreshes where fewer bits than these are left.
fn refreshing(client: Client, engine: &Engine, kept_bits: f64) -> (Arc<Anew>, Engine) {
    let anew = Arc::new(Anew { client, engine: engine.clone(), kept_bits, made: AtomicUsize::new(0) });
    let engine = engine.clone().refreshing_with(Arc::clone(&anew) as Arc<dyn Refresh<Ciphertext>>);
    (anew, engine)
}

#[test]
fn sums_with_plaintexts_can_be_refreshed() {
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let context = Context::preset("insecure_toy_256").unwrap().with_scheme(scheme).unwrap();
        let (client, server) = context.generate_keys_from_seed([&Products], 21).unwrap();
        let engine = server.engine();
        let square = engine.square(&client.encrypt(&[3, 256, 7]).unwrap()).unwrap();
        let addend = Plaintext::from_integers(context.slot_ring(), &[1, 2, 3]).unwrap();
        // There is hardly anything to spare, and any sum takes it.
        let (anew, refreshing) = refreshing(client, engine, engine.capacity(&square) - 1e-9);
        assert!(anew.headroom_bits(&square) >= 0.0);
        assert!(anew.headroom_bits(&engine.add_plain(&square, &addend).unwrap()) < 0.0);
        let sums = [refreshing.add_plain(&square, &addend).unwrap(), refreshing.sub_plain(&square, &addend).unwrap()];
        assert_eq!(anew.made.load(Ordering::Relaxed), 2);
        for (sum, expected) in sums.into_iter().zip([[10, 3, 52], [8, 256, 46]]) {
            assert!(anew.headroom_bits(&sum) >= 0.0);
            assert_eq!(anew.client.decrypt(&sum).unwrap()[..3], expected);
        }
    }
}

#[test]
fn an_operand_that_cannot_be_refreshed_does_not_keep_others_from_it() {
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let context = Context::preset("insecure_toy_256").unwrap().with_scheme(scheme).unwrap();
        let (client, server) = context.generate_keys_from_seed([&Products], 21).unwrap();
        let engine = server.engine();
        let square = engine.square(&client.encrypt(&[3, 256, 7]).unwrap()).unwrap();
        let fourth = engine.square(&square).unwrap();
        let kept_bits = engine.capacity(&fourth).midpoint(engine.capacity(&square));
        let (anew, refreshing) = refreshing(client, engine, kept_bits);
        assert!(anew.headroom_bits(&fourth) < 0.0 && anew.headroom_bits(&square) > 0.0);
        for (a, b) in [(&fourth, &square), (&square, &fourth)] {
            let sum = refreshing.add(a, b).unwrap();
            assert_eq!(anew.made.swap(0, Ordering::Relaxed), 1);
            assert!(engine.capacity(&sum) >= engine.capacity(&engine.add(a, b).unwrap()));
            assert_eq!(anew.client.decrypt(&sum).unwrap()[..3], [90, 2, (2401 + 49) % 257]);
        }
    }
}
