//! An operation that could do without a refresh does not fail with one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use windlass::bootstrap::Refresh;
use windlass::circuits::{PolynomialPlan, Power};
use windlass::needs::Products;
use windlass::schemes::{Ciphertext, Engine};
use windlass::{Context, Error, Evaluator, Result, Scheme, Switching};

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

    fn spare_bits(&self, ct: &Ciphertext) -> f64 {
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
        let value = refreshing.run(&x, &|engine, x| cubic.apply(engine, x)).unwrap();
        assert_eq!(client.decrypt(&value).unwrap()[..3], [28, 0, 344 % 257]);
        assert!(asked() > 0, "a refresh was tried");
        // Where there is no result without one, the failure is told.
        let deep = Power::new(1 << 40).unwrap();
        let refused = refreshing.run(&x, &|engine, x| deep.apply(engine, x));
        assert_eq!(refused.err(), Some(Error::MissingBootstrappingKeys));
    }
}
