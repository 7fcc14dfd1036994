//! Prime moduli of the residue rows.

use crate::arith;
use crate::error::KernelError;

/// An odd prime below 2^50.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Modulus {
    value: u64,
}

impl Modulus {
    /// Largest supported size in bits: products of two residues then fit the error-free float
    /// transformation.
    pub const MAX_BITS: u32 = arith::MAX_MODULUS_BITS;

    /// Checks that `value` is an odd prime below 2^50.
    ///
    /// # Errors
    /// [`KernelError::NotAPrime`] otherwise.
    pub fn new(value: u64) -> Result<Self, KernelError> {
        if value % 2 == 0 || value >> Self::MAX_BITS != 0 || !arith::is_prime(value) {
            return Err(KernelError::NotAPrime { value });
        }
        Ok(Self { value })
    }

    /// The least odd prime, for kernels without arithmetic modulo anything.
    pub(crate) fn three() -> Self {
        Self { value: 3 }
    }

    /// The prime.
    pub fn value(self) -> u64 {
        self.value
    }

    /// Size in bits: the least b with q < 2^b.
    pub fn bits(self) -> u32 {
        64 - self.value.leading_zeros()
    }

    /// `x mod q`.
    pub fn reduce(self, x: u64) -> u64 {
        x % self.value
    }

    /// `x mod q` for signed x.
    pub fn reduce_i64(self, x: i64) -> u64 {
        x.rem_euclid(self.value as i64) as u64
    }

    /// `x mod q` for a double word.
    pub fn reduce_u128(self, x: u128) -> u64 {
        (x % self.value as u128) as u64
    }

    /// `a + b mod q` of canonical residues.
    pub fn add(self, a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum >= self.value { sum - self.value } else { sum }
    }

    /// `a - b mod q` of canonical residues.
    pub fn sub(self, a: u64, b: u64) -> u64 {
        if a >= b { a - b } else { a + self.value - b }
    }

    /// `-a mod q` of a canonical residue.
    pub fn neg(self, a: u64) -> u64 {
        if a == 0 { 0 } else { self.value - a }
    }

    /// `a * b mod q`.
    pub fn mul(self, a: u64, b: u64) -> u64 {
        arith::mul_mod(a, b, self.value)
    }

    /// `a^exponent mod q`; variable time.
    pub fn pow(self, a: u64, exponent: u64) -> u64 {
        arith::pow_mod(a, exponent, self.value)
    }

    /// `a^{-1} mod q`; panics when `a` is zero modulo q.
    pub fn inv(self, a: u64) -> u64 {
        arith::inv_mod(a, self.value).expect("a nonzero residue modulo a prime is invertible")
    }

    /// An element of exact multiplicative order `order`.
    ///
    /// # Errors
    /// [`KernelError::NoRootOfUnity`] when `order` does not divide `q - 1`.
    pub fn root_of_unity(self, order: u64) -> Result<u64, KernelError> {
        if (self.value - 1) % order != 0 {
            return Err(KernelError::NoRootOfUnity { value: self.value, order });
        }
        let primes = arith::factor(order);
        let root = (2..self.value)
            .map(|g| self.pow(g, (self.value - 1) / order))
            .find(|&w| primes.iter().all(|&(p, _)| self.pow(w, order / p) != 1))
            .unwrap_or(1);
        Ok(root)
    }
}

/// The `count` largest primes of exactly `bits` bits that are 1 modulo `step`, none of them in
/// `skip`.
///
/// # Errors
/// [`KernelError::NotEnoughPrimes`] when there are fewer.
pub fn find_primes(step: u64, bits: u32, count: usize, skip: &[u64]) -> Result<Vec<Modulus>, KernelError> {
    let step = arith::lcm(step, 2);
    let mut found = Vec::with_capacity(count);
    let top = (1u64 << bits.min(Modulus::MAX_BITS)) - 1;
    let mut candidate = (top - 1) / step * step + 1;
    while found.len() < count && candidate >> (bits - 1) != 0 {
        if !skip.contains(&candidate) && arith::is_prime(candidate) {
            found.push(Modulus { value: candidate });
        }
        if candidate < step {
            break;
        }
        candidate -= step;
    }
    if found.len() < count {
        return Err(KernelError::NotEnoughPrimes { wanted: count, found: found.len(), bits, step });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_have_the_wanted_size_and_congruence() {
        let primes = find_primes(65536, 50, 5, &[]).unwrap();
        assert!(primes.iter().all(|q| q.bits() == 50 && q.value() % 65536 == 1));
        let others = find_primes(65536, 50, 5, &[primes[0].value()]).unwrap();
        assert_eq!(others[0], primes[1]);
        assert!(find_primes(1 << 24, 25, 50, &[]).is_err());
    }

    #[test]
    fn roots_have_exact_order() {
        let q = find_primes(15709 * 30, 50, 1, &[]).unwrap()[0];
        let w = q.root_of_unity(15709).unwrap();
        assert_eq!(arith::multiplicative_order(w, q.value()), 15709);
        assert!(q.root_of_unity(1 << 40).is_err());
    }

    #[test]
    fn composite_even_and_large_values_are_refused() {
        for value in [0, 1, 2, 9, 1 << 20, (1 << 50) + 55, u64::MAX] {
            assert!(Modulus::new(value).is_err());
        }
    }
}
