//! Scalar number theory on machine integers: primality, factoring, generators, inverses.

/// Largest supported size of a modulus in bits: products of two residues then fit the error-free
/// float transformation.
pub const MAX_MODULUS_BITS: u32 = 50;

/// `a * b mod n`.
pub fn mul_mod(a: u64, b: u64, n: u64) -> u64 {
    ((a as u128 * b as u128) % n as u128) as u64
}

/// `base^exponent mod n`; variable time.
pub fn pow_mod(base: u64, mut exponent: u64, n: u64) -> u64 {
    let (mut result, mut square) = (1 % n, base % n);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = mul_mod(result, square, n);
        }
        square = mul_mod(square, square, n);
        exponent >>= 1;
    }
    result
}

/// Greatest common divisor.
pub fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Least common multiple; panics on overflow.
pub fn lcm(a: u64, b: u64) -> u64 {
    (a / gcd(a, b)).checked_mul(b).expect("lcm fits in 64 bits")
}

/// The inverse of `a` modulo `n`, if it exists; variable time.
pub fn inv_mod(a: u64, n: u64) -> Option<u64> {
    let (mut r0, mut r1) = (n as i128, (a % n) as i128);
    let (mut t0, mut t1) = (0i128, 1i128);
    while r1 != 0 {
        let k = r0 / r1;
        (r0, r1) = (r1, r0 - k * r1);
        (t0, t1) = (t1, t0 - k * t1);
    }
    (r0 == 1).then(|| t0.rem_euclid(n as i128) as u64)
}

/// Deterministic Miller–Rabin for 64-bit integers.
pub fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if n < 2 {
        return false;
    }
    for p in BASES {
        if n % p == 0 {
            return n == p;
        }
    }
    let s = (n - 1).trailing_zeros();
    let odd = (n - 1) >> s;
    BASES.iter().all(|&a| {
        let mut x = pow_mod(a, odd, n);
        if x == 1 || x == n - 1 {
            return true;
        }
        for _ in 1..s {
            x = mul_mod(x, x, n);
            if x == n - 1 {
                return true;
            }
        }
        false
    })
}

/// The factorisation of `n` into `(prime, exponent)`, primes ascending (trial division, then
/// Pollard's rho).
pub fn factor(n: u64) -> Vec<(u64, u32)> {
    let mut primes = Vec::new();
    let mut rest = n;
    for p in 2u64..1 << 12 {
        if p * p > rest {
            break;
        }
        while rest % p == 0 {
            primes.push(p);
            rest /= p;
        }
    }
    split(rest, &mut primes);
    primes.sort_unstable();
    let mut factors: Vec<(u64, u32)> = Vec::new();
    for p in primes {
        match factors.last_mut() {
            Some((last, e)) if *last == p => *e += 1,
            _ => factors.push((p, 1)),
        }
    }
    factors
}

fn split(n: u64, primes: &mut Vec<u64>) {
    if n < 2 {
        return;
    }
    if is_prime(n) {
        primes.push(n);
        return;
    }
    for c in 1.. {
        let step = |x: u64| (mul_mod(x, x, n) + c) % n;
        let (mut slow, mut fast, mut d) = (2, 2, 1);
        while d == 1 {
            slow = step(slow);
            fast = step(step(fast));
            d = gcd(slow.abs_diff(fast), n);
        }
        if d != n {
            split(d, primes);
            split(n / d, primes);
            return;
        }
    }
}

/// Euler's φ.
pub fn totient(n: u64) -> u64 {
    factor(n).iter().map(|&(p, e)| (p - 1) * p.pow(e - 1)).product()
}

/// The multiplicative order of `a` modulo `n` (`gcd(a, n) = 1`).
pub fn multiplicative_order(a: u64, n: u64) -> u64 {
    let mut order = totient(n);
    for (p, _) in factor(order) {
        while order % p == 0 && pow_mod(a, order / p, n) == 1 % n {
            order /= p;
        }
    }
    order
}

/// The least generator of the cyclic group `(Z/n)^*` for `n` an odd prime power.
pub fn least_generator(n: u64) -> u64 {
    let phi = totient(n);
    (2..n).find(|&g| gcd(g, n) == 1 && multiplicative_order(g, n) == phi).unwrap_or(1)
}

/// Reduction modulo one number t, 1 ≤ t < 2^50, without divisions and branches: for secret values.
#[derive(Debug, Clone, Copy)]
pub struct Reducer {
    modulus: u64,
    bits: u32,
    /// ⌊(2^64 − 1)/t⌋.
    short: u64,
    /// ⌊2^{2·bits}/t⌋.
    long: u64,
    /// 2^64 mod t.
    word: u64,
}

impl Reducer {
    /// Constants for a modulus; panics outside of its range.
    pub fn new(modulus: u64) -> Self {
        assert!((1..1 << 50).contains(&modulus), "a modulus from 1 to 2^50");
        let bits = 64 - modulus.leading_zeros();
        let long = ((1u128 << (2 * bits)) / modulus as u128) as u64;
        let word = ((1u128 << 64) % modulus as u128) as u64;
        Self { modulus, bits, short: u64::MAX / modulus, long, word }
    }

    /// x − t where that is not negative, else x, for x < 2t.
    #[inline]
    fn once(self, x: u64) -> u64 {
        let rest = x.wrapping_sub(self.modulus);
        // All ones when the difference is negative.
        rest.wrapping_add(self.modulus & ((rest as i64) >> 63) as u64)
    }

    /// x mod t.
    #[inline]
    pub fn reduce(self, x: u64) -> u64 {
        // The quotient is short by at most one.
        let quotient = ((x as u128 * self.short as u128) >> 64) as u64;
        self.once(x - quotient * self.modulus)
    }

    /// x mod t for a sum of products.
    #[inline]
    pub fn reduce_wide(self, x: u128) -> u64 {
        let high = self.mul(self.reduce((x >> 64) as u64), self.word);
        self.add(high, self.reduce(x as u64))
    }

    /// a + b mod t of canonical residues.
    #[inline]
    pub fn add(self, a: u64, b: u64) -> u64 {
        self.once(a + b)
    }

    /// a·b mod t of canonical residues. Source: Barrett 1986; the quotient is short by at most two.
    #[inline]
    pub fn mul(self, a: u64, b: u64) -> u64 {
        let product = a as u128 * b as u128;
        let quotient = ((product >> (self.bits - 1)) * self.long as u128) >> (self.bits + 1);
        // What is left is below 3t < 2^52: the low words are enough.
        self.once(self.once((product as u64).wrapping_sub((quotient as u64).wrapping_mul(self.modulus))))
    }

    /// The centred representative of a canonical residue, in (−t/2, t/2].
    #[inline]
    pub fn centred(self, x: u64) -> i64 {
        let above = ((self.modulus / 2).wrapping_sub(x) as i64) >> 63;
        x as i64 - (self.modulus as i64 & above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reducers_agree_with_division() {
        let last = (1 << 50) - 1;
        for t in [1, 2, 3, 4, 5, 97, 127, 128, 65_537, 1 << 31, (1 << 45) - 55, (1 << 49) + 1, last - 1, last] {
            let reducer = Reducer::new(t);
            let mut x = 0x9e37_79b9_7f4a_7c15_u64;
            let edges = [0, 1, t / 2, t / 2 + 1, t - 1, t, 2 * t - 1, u64::MAX - 1, u64::MAX];
            let random = (0..200).map(|_| {
                x = x.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
                x ^ x >> 29
            });
            let values: Vec<u64> = edges.into_iter().chain(random).collect();
            for (&a, &b) in values.iter().zip(values.iter().rev()).chain(values.iter().zip(&values)) {
                assert_eq!(reducer.reduce(a), a % t);
                let wide = u128::from(a) << 64 | u128::from(b);
                assert_eq!(u128::from(reducer.reduce_wide(wide)), wide % u128::from(t));
                let (a, b) = (a % t, b % t);
                assert_eq!(reducer.mul(a, b), mul_mod(a, b, t), "{a}·{b} modulo {t}");
                assert_eq!(reducer.add(a, b), (a + b) % t);
                let centred = reducer.centred(a);
                assert!(centred.rem_euclid(t as i64) as u64 == a && 2 * centred.abs() <= t as i64);
            }
        }
    }

    #[test]
    fn factors_multiply_back_and_are_prime() {
        for n in (1..2000).chain([600_851_475_143, (1 << 49) - 1, 1_000_003 * 999_983]) {
            let factors = factor(n);
            assert!(factors.iter().all(|&(p, _)| is_prime(p)));
            assert_eq!(factors.iter().map(|&(p, e)| p.pow(e)).product::<u64>(), n);
        }
    }

    #[test]
    fn orders_and_inverses() {
        for n in [23u64, 683, 25, 121, 31, 601] {
            let g = least_generator(n);
            assert_eq!(multiplicative_order(g, n), totient(n));
            let inverse = inv_mod(g, n).unwrap();
            assert_eq!(mul_mod(g, inverse, n), 1);
        }
        assert_eq!(inv_mod(6, 9), None);
    }
}
