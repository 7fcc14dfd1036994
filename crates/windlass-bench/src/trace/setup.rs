//! Parameters and keys of the measurements.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::needs::KeyRequest;
use windlass::rlwe::{Assurance, SecretDistribution};
use windlass::schemes::ckks::{Ciphertext, CkksContext, CkksSpec, Complex64, Decryptor, Engine};
use windlass::{Approximate, Context, Server};
use windlass_kernels::Isa;

/// Rescalings of a fresh ciphertext: L = 9 in the paper, ten primes.
pub const TOP: usize = 9;
/// Rotate-and-add steps.
pub const STEPS: u32 = 7;

/// n = 2^15, Δ = 2^40, log Q = 50 + 9·40, ⌈10/k⌉ digits, k special primes of 60 bits in the paper.
/// Here k of 50, which is as precise where P stays well above the largest digit (210 and 410 bits);
/// for k = 1, a digit of 50 bits, two of 30.
pub fn spec(k: u32) -> CkksSpec {
    with_special_primes(k, if k == 1 { vec![30; 2] } else { vec![50; k as usize] })
}

/// As [`spec`], with the paper's log P = 60k: 6k/5 special primes of 50 bits, or two of 30.
pub fn long_spec(k: u32) -> CkksSpec {
    with_special_primes(k, if k == 1 { vec![30; 2] } else { vec![50; (6 * k).div_ceil(5) as usize] })
}

fn with_special_primes(k: u32, special_prime_bits: Vec<u32>) -> CkksSpec {
    CkksSpec {
        n: 1 << 15,
        scale_bits: 40,
        depth: TOP,
        base_prime_bits: vec![50],
        special_prime_bits,
        digits: (TOP + 1).div_ceil(k as usize),
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Paper { name: format!("paper_trace_k{k}") },
    }
}

/// Bytes of one switching key for level l (l + 1 primes).
pub fn key_bytes(spec: &CkksSpec, l: usize) -> f64 {
    let group = (TOP + 1).div_ceil(spec.digits);
    let digits = (l + 1).div_ceil(group);
    (digits * 2 * (l + 1 + spec.special_prime_bits.len()) * spec.n * 8) as f64
}

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
