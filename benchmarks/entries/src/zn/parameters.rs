//! The primes of the entry.

use std::sync::Arc;

use windlass::ring::kernels::modulus::find_primes;
use windlass::ring::kernels::{Modulus, arith};

use crate::degree_two::bound::{SIGMA, error_norm, tail_factor};
use crate::degree_two::{Parameters, SLOTS, Spec};
use crate::error::Result;

/// Number of plaintext primes.
pub const PLAINTEXT_PRIMES: usize = 4;

/// Bits of the ciphertext primes.
const BITS: [u32; 2] = [48, 32];

/// n = 4096, Q of 48 + 32 bits, four plaintext primes of 32 bits.
///
/// # Errors
/// Those of [`Parameters::new`].
pub fn parameters() -> Result<Arc<Parameters>> {
    let step = 2 * SLOTS as u64;
    let prime = |bits| Ok::<Modulus, crate::EntryError>(find_primes(step, bits, 1, &[])?[0]);
    let plaintext = plaintext_primes(step)?;
    let results = plaintext.iter().map(|t| product_bound(SLOTS, t.value())).collect();
    let spec = Spec { primes: [prime(BITS[0])?, prime(BITS[1])?], plaintext, results };
    Parameters::new(&spec).map(Arc::new)
}

/// The largest coefficient of the product of two fresh phases, m·m' + t·(m·e' + m'·e) + t²·e·e'.
///
/// m·m' is at most n·t²/4 for all messages; the sums with an error are bounded as
/// [`crate::degree_two::bound`] says, with ‖m‖₂ ≤ t·√n/2.
fn product_bound(n: usize, t: u64) -> f64 {
    let (k, t, root) = (tail_factor(n), t as f64, (n as f64).sqrt());
    let messages = n as f64 * t * t / 4.0;
    let mixed = 2.0 * t * (k * SIGMA * t * root / 2.0);
    messages + mixed + t * t * k * SIGMA * error_norm(n)
}

/// The least primes t ≡ 1 (mod step) whose product carries signed products of 2^63·2^63 with room
/// to tell their sign from the last digit of a mixed radix ([`super::numbers::Crt`]): t^4 > 2^{127}
/// and a little. The smaller they are, the smaller are all errors.
fn plaintext_primes(step: u64) -> Result<Vec<Modulus>> {
    // 2^{127/4}, from above.
    let least = 2f64.powf(31.75).ceil() as u64;
    let first = least.next_multiple_of(step) + 1;
    let primes = (first..).step_by(step as usize).filter(|&t| arith::is_prime(t)).take(PLAINTEXT_PRIMES);
    primes.map(|t| Ok(Modulus::new(t)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_are_secure_and_decrypt() {
        let parameters = parameters().unwrap();
        assert!(parameters.security().bits >= 128.0, "{}", parameters.security());
        assert_eq!([parameters.kept().bits(), parameters.dropped().bits()], BITS);
        assert!((0..PLAINTEXT_PRIMES).all(|index| parameters.bounds(index).decryptable()));
        let primes: std::collections::BTreeSet<u64> = (0..6).map(|i| parameters.ring().modulus(i).value()).collect();
        assert_eq!(primes.len(), 6);
    }
}
