//! Keys and ciphertexts of the measurements.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::needs::KeyRequest;
use windlass::schemes::ckks::{Ciphertext, CkksContext, CkksSpec, Complex64, Decryptor, Engine};
use windlass::{Approximate, Context, Server};
use windlass_kernels::Isa;
pub use windlass_papers::trace::parameters::{STEPS, TOP, key_bytes, long_spec, spec};

/// The context of one of these parameter sets.
pub fn context(spec: &CkksSpec, isa: Isa) -> Arc<CkksContext> {
    CkksContext::with_isa(spec, isa).expect("valid parameters")
}

/// A server, a ciphertext at level l, what it holds and who decrypts it.
pub struct Setup {
    server: Server<Approximate>,
    pub decryptor: Decryptor,
    pub values: Vec<Complex64>,
    pub ciphertext: Ciphertext,
}

impl Setup {
    /// Keys for the given automorphisms and for relinearisation at level l.
    pub fn new(spec: &CkksSpec, l: usize, isa: Isa, elements: &BTreeSet<u64>) -> Self {
        let context = Context::from_ckks(&context(spec, isa));
        let keys = KeyRequest::none("the measurements").with_relinearisation().with_galois(elements.iter().copied());
        let (client, server) =
            context.generate_keys_from_seed([&keys.up_to(l + 1)], 8).expect("odd elements are units");
        let values: Vec<Complex64> =
            (0..context.slots()).map(|j| Complex64::from_polar(0.9, (j * j % 1009) as f64)).collect();
        let decryptor = client.decryptor().expect("one context");
        let mut rng = ChaCha20Rng::from_seed([8; 32]);
        let (ciphertext, _) = decryptor.encrypt(&values, 1.0, l + 1, &mut rng).expect("encrypts");
        Self { server, decryptor, values, ciphertext }
    }

    pub fn engine(&self) -> &Engine {
        self.server.engine()
    }

    /// Panics unless the ciphertext decrypts to the expected slots within its own bound.
    pub fn verify(&self, what: &str, ct: &Ciphertext, expected: impl Fn(usize) -> Complex64) {
        let got = self.decryptor.decrypt(ct).expect("fits");
        let worst = got.iter().enumerate().map(|(j, z)| (z - expected(j)).norm()).fold(0.0, f64::max);
        assert!(worst <= ct.error_bound() && worst < 2f64.powi(-14), "{what}: error {worst:e}");
    }
}
