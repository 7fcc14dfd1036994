//! Keys, vectors and comparisons.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::rlwe::{Assurance, EvaluationKeys, PublicKey, SecretDistribution, SecretKey};
use windlass::schemes::ckks::{Ciphertext, CkksContext, CkksSpec, Complex64, Decryptor, Encryptor, Engine};

pub const SEED: [u8; 32] = [11; 32];

/// A toy set.
pub fn spec(n: usize, scale_bits: u32, depth: usize) -> CkksSpec {
    CkksSpec {
        n,
        scale_bits,
        depth,
        base_prime_bits: if scale_bits <= 40 { vec![50] } else { vec![50, 50] },
        special_prime_bits: vec![50, 50],
        digits: (depth + 2).div_ceil(2),
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    }
}

pub struct Setup {
    pub context: Arc<CkksContext>,
    pub engine: Engine,
    pub encryptor: Encryptor,
    pub decryptor: Decryptor,
    pub rng: ChaCha20Rng,
}

impl Setup {
    pub fn new(spec: &CkksSpec, rotations: &[i64]) -> Self {
        let context = CkksContext::new(spec).unwrap();
        let elements: Vec<u64> = rotations.iter().map(|&r| context.rotation_element(r)).collect();
        Self::with_elements(&context, &elements)
    }

    pub fn with_elements(context: &Arc<CkksContext>, elements: &[u64]) -> Self {
        let context = Arc::clone(context);
        let mut rng = ChaCha20Rng::from_seed(SEED);
        let secret = SecretKey::generate(context.rlwe(), &mut rng);
        let public = PublicKey::generate(&secret, &mut rng);
        let mut keys = EvaluationKeys::empty(context.rlwe());
        let level = context.top_level();
        keys.add_relinearisation(&secret, level, &mut rng).unwrap();
        keys.add_galois(&secret, context.conjugation_element(), level, &mut rng).unwrap();
        for &t in elements {
            keys.add_galois(&secret, t, level, &mut rng).unwrap();
        }
        Self {
            engine: Engine::new(&context, Arc::new(keys)).unwrap(),
            encryptor: Encryptor::new(&context, Arc::new(public)).unwrap(),
            decryptor: Decryptor::new(&context, Arc::new(secret)).unwrap(),
            context,
            rng,
        }
    }

    pub fn encrypt(&mut self, values: &[Complex64]) -> Ciphertext {
        self.encryptor.encrypt(values, &mut self.rng).unwrap()
    }

    /// The largest error, which must be within the bound of the ciphertext and not far below its estimate: at most `slack` bits.
    pub fn check(&self, what: &str, ct: &Ciphertext, expected: &[Complex64], slack: f64) -> f64 {
        let got = self.decryptor.decrypt(ct).unwrap();
        assert_eq!(got.len(), expected.len(), "{what}");
        let worst = got.iter().zip(expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        let largest = expected.iter().map(|z| z.norm()).fold(0.0, f64::max);
        assert!(largest <= ct.magnitude() * (1.0 + 1e-9), "{what}: values up to {largest}, bound {}", ct.magnitude());
        assert!(worst <= ct.error_bound(), "{what}: error {worst:e} above the bound {:e}", ct.error_bound());
        let (bits, estimate) = (-worst.log2(), ct.precision_bits());
        assert!(bits >= estimate - 1.5, "{what}: {bits:.2} bits, {estimate:.2} estimated (seed {SEED:?})");
        assert!(bits <= estimate + slack, "{what}: {bits:.2} bits, only {estimate:.2} estimated (seed {SEED:?})");
        bits
    }
}

/// Complex numbers in the unit disc.
pub fn sample(count: usize, rng: &mut ChaCha20Rng) -> Vec<Complex64> {
    let mut unit = || rng.next_u32() as f64 / u32::MAX as f64;
    (0..count).map(|_| Complex64::from_polar(unit(), std::f64::consts::TAU * unit())).collect()
}

pub fn zip(a: &[Complex64], b: &[Complex64], f: impl Fn(Complex64, Complex64) -> Complex64) -> Vec<Complex64> {
    let count = a.len().max(b.len());
    (0..count).map(|j| f(a[j % a.len()], b[j % b.len()])).collect()
}
