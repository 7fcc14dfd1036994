//! Plaintext moduli on the command line.

use windlass::ring::kernels::arith;

use crate::error::{CliError, Result};

/// (p, r) of a power of a prime.
pub fn prime_power(modulus: u64) -> Result<(u64, u32)> {
    const MOST: u64 = 1 << 45;
    let wrong = || CliError::Usage(format!("--modulus must be a power of one prime below 2^45, not {modulus}"));
    if modulus >= MOST {
        return Err(wrong());
    }
    let [one] = arith::factor(modulus)[..] else { return Err(wrong()) };
    Ok(one)
}
