//! The parameters of Inoue, Suzuki and Yamana 2022, and of the application.

use windlass::rlwe::{Assurance, SecretDistribution};
use windlass::schemes::ckks::CkksSpec;

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
        refresh_levels: Vec::new(),
    }
}

/// Bytes of one switching key for level l (l + 1 primes).
pub fn key_bytes(spec: &CkksSpec, l: usize) -> f64 {
    let group = (TOP + 1).div_ceil(spec.digits);
    let digits = (l + 1).div_ceil(group);
    (digits * 2 * (l + 1 + spec.special_prime_bits.len()) * spec.n * 8) as f64
}

/// The application, logistic regression: features of a row. A row fills as many slots, so that a
/// ciphertext holds 128 of them.
pub const FEATURES: usize = 128;
/// The degree of the polynomial near 1/(1 + e^{−x}).
pub const DEGREE: usize = 7;
/// Special primes of the application's settings.
pub const PRIMES: [u32; 3] = [1, 5, 10];
