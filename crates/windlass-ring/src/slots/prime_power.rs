//! Arithmetic modulo p^r.

use windlass_kernels::arith;

use crate::error::RingError;

/// The modulus p^r < 2^45 with its Barrett constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PrimePower {
    prime: u64,
    exponent: u32,
    value: u64,
    bits: u32,
    barrett: u64,
    /// ⌊(2^64 − 1)/p^r⌋.
    reciprocal: u64,
}

impl PrimePower {
    /// p^r has at most this many bits.
    pub const MAX_BITS: u32 = 45;

    /// The modulus `prime^exponent`.
    ///
    /// # Errors
    /// [`RingError::BadPrimePower`] when `prime` is not prime, the exponent is zero or p^r ≥ 2^45.
    pub fn new(prime: u64, exponent: u32) -> Result<Self, RingError> {
        if !arith::is_prime(prime) {
            return Err(RingError::BadPrimePower { prime, exponent, reason: "the base is not a prime" });
        }
        Self::of_prime(prime, exponent)
    }

    fn of_prime(prime: u64, exponent: u32) -> Result<Self, RingError> {
        let refuse = |reason| RingError::BadPrimePower { prime, exponent, reason };
        if exponent == 0 {
            return Err(refuse("the exponent must be at least 1"));
        }
        let value = prime
            .checked_pow(exponent)
            .filter(|&value| value >> Self::MAX_BITS == 0)
            .ok_or_else(|| refuse("p^r must be below 2^45"))?;
        let bits = 64 - value.leading_zeros();
        let barrett = ((1u128 << (2 * bits)) / value as u128) as u64;
        Ok(Self { prime, exponent, value, bits, barrett, reciprocal: u64::MAX / value })
    }

    /// p.
    pub fn prime(self) -> u64 {
        self.prime
    }

    /// r.
    pub fn exponent(self) -> u32 {
        self.exponent
    }

    /// p^r.
    pub fn value(self) -> u64 {
        self.value
    }

    /// The modulus with the same prime and another exponent.
    ///
    /// # Errors
    /// As [`PrimePower::new`].
    pub fn with_exponent(self, exponent: u32) -> Result<Self, RingError> {
        Self::of_prime(self.prime, exponent)
    }

    /// `x mod p^r`.
    #[inline]
    pub fn reduce(self, x: u64) -> u64 {
        // x/p^r − x·reciprocal/2^64 ≤ x/2^64 < 1, so the quotient is short by at most 1.
        let quotient = ((x as u128 * self.reciprocal as u128) >> 64) as u64;
        let rest = x - quotient * self.value;
        if rest >= self.value { rest - self.value } else { rest }
    }

    /// `x mod p^r` for signed x.
    pub fn reduce_i64(self, x: i64) -> u64 {
        x.rem_euclid(self.value as i64) as u64
    }

    /// `x mod p^r` of a double word.
    pub fn reduce_u128(self, x: u128) -> u64 {
        let high = (x >> 64) as u64;
        let low = self.reduce(x as u64);
        if high == 0 {
            return low;
        }
        let word = self.reduce(self.reduce(u64::MAX) + 1);
        self.add(self.mul(self.reduce(high), word), low)
    }

    /// The residue of least absolute value, in (−p^r/2, p^r/2].
    pub fn centred(self, a: u64) -> i64 {
        if a > self.value / 2 { a as i64 - self.value as i64 } else { a as i64 }
    }

    /// `a + b` of canonical residues.
    pub fn add(self, a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum >= self.value { sum - self.value } else { sum }
    }

    /// `a − b` of canonical residues.
    pub fn sub(self, a: u64, b: u64) -> u64 {
        // No branch: where residues are random it would be guessed wrong half of the time.
        let borrow = 0u64.wrapping_sub((a < b) as u64);
        a.wrapping_sub(b).wrapping_add(self.value & borrow)
    }

    /// `−a` of a canonical residue.
    pub fn neg(self, a: u64) -> u64 {
        if a == 0 { 0 } else { self.value - a }
    }

    /// `a·b` of canonical residues (Barrett: the quotient is short by at most 2).
    pub fn mul(self, a: u64, b: u64) -> u64 {
        debug_assert!(a < self.value && b < self.value);
        let x = a as u128 * b as u128;
        let quotient = ((x >> (self.bits - 1)) * self.barrett as u128) >> (self.bits + 1);
        let mut rest = (x as u64).wrapping_sub((quotient as u64).wrapping_mul(self.value));
        if rest >= self.value {
            rest -= self.value;
        }
        if rest >= self.value {
            rest -= self.value;
        }
        debug_assert!(rest < self.value);
        rest
    }

    /// `a^exponent`; variable time.
    pub fn pow(self, a: u64, exponent: u64) -> u64 {
        arith::pow_mod(a, exponent, self.value)
    }

    /// `a^{-1}`, when p does not divide a; variable time.
    pub fn inv(self, a: u64) -> Option<u64> {
        arith::inv_mod(a, self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_wide_remainders() {
        for (p, r) in [(2, 1), (2, 2), (2, 44), (3, 1), (3, 28), (7, 5), (127, 6), (65537, 2), ((1 << 44) + 7, 1)] {
            let Ok(modulus) = PrimePower::new(p, r) else {
                panic!("{p}^{r} is a supported modulus");
            };
            let n = modulus.value();
            for a in [0, 1, 2, n / 3, n / 2, n - 2, n - 1].map(|a| a % n) {
                for b in [0, 1, 5, n / 7 * 3, n - 1].map(|b| b % n) {
                    assert_eq!(modulus.mul(a, b) as u128, a as u128 * b as u128 % n as u128, "{p}^{r}: {a}·{b}");
                }
            }
        }
    }

    #[test]
    fn bad_moduli_are_refused() {
        for (p, r) in [(1, 1), (9, 1), (2, 0), (2, 45), (65537, 3), (0, 1)] {
            assert!(matches!(PrimePower::new(p, r), Err(RingError::BadPrimePower { .. })), "{p}^{r}");
        }
    }
}
