//! Parameters, both sides, vectors and comparisons.

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::schemes::ckks::{Ciphertext, CkksSpec, Complex64};
use windlass::{Approximate, Context};

pub use crate::fixture::approximate as spec;
use crate::fixture::keys;

pub const SEED: u64 = 11;

pub type Client = windlass::Client<Approximate>;
pub type Server = windlass::Server<Approximate>;

/// Both sides, with keys for products, conjugation and these rotations.
pub fn parties(spec: &CkksSpec, rotations: &[i64]) -> (Client, Server) {
    let context = Context::approximate(spec).unwrap();
    let ckks = context.ckks();
    let elements = rotations.iter().map(|&r| ckks.rotation_element(r)).chain([ckks.conjugation_element()]);
    context.generate_keys_from_seed([&keys(elements)], SEED).unwrap()
}

pub fn encrypt(client: &Client, values: &[Complex64]) -> Ciphertext {
    client.encrypt_complex(values, 1.0).unwrap()
}

/// The precision in bits. Errors must be within the bound of the ciphertext and not far below its
/// estimate: at most `slack` bits.
pub fn check(client: &Client, what: &str, ct: &Ciphertext, expected: &[Complex64], slack: f64) -> f64 {
    let got = client.decrypt_complex(ct).unwrap();
    assert_eq!(got.len(), expected.len(), "{what}");
    let worst = got.iter().zip(expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    let largest = expected.iter().map(|z| z.norm()).fold(0.0, f64::max);
    assert!(largest <= ct.magnitude() * (1.0 + 1e-9), "{what}: values up to {largest}, bound {}", ct.magnitude());
    assert!(worst <= ct.error_bound(), "{what}: error {worst:e} above the bound {:e}", ct.error_bound());
    let (bits, estimate) = (-worst.log2(), ct.precision_bits());
    assert!(bits >= estimate - 1.5, "{what}: {bits:.2} bits, {estimate:.2} estimated (seed {SEED})");
    assert!(bits <= estimate + slack, "{what}: {bits:.2} bits, only {estimate:.2} estimated (seed {SEED})");
    bits
}

/// Complex numbers in the unit disc.
pub fn sample(count: usize, seed: u64) -> Vec<Complex64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut unit = || rng.next_u32() as f64 / u32::MAX as f64;
    (0..count).map(|_| Complex64::from_polar(unit(), std::f64::consts::TAU * unit())).collect()
}

pub fn zip(a: &[Complex64], b: &[Complex64], f: impl Fn(Complex64, Complex64) -> Complex64) -> Vec<Complex64> {
    let count = a.len().max(b.len());
    (0..count).map(|j| f(a[j % a.len()], b[j % b.len()])).collect()
}
