//! From the moduli that a caller states to the primes of a parameter set.

use std::cmp::Reverse;

use windlass_ring::kernels::arith::is_prime;
use windlass_rlwe::{Assurance, GivenPrimes, Limits, OutOfRange, RlweParams, SecretDistribution};

use crate::error::Result;

/// What plaintexts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Complex numbers (CKKS).
    Ckks,
    /// Integers modulo t, a prime that is 1 modulo 2n (BGV).
    Bgv {
        /// The plaintext modulus t.
        modulus: u64,
    },
}

/// The moduli of a context with explicit steps.
///
/// Each number in `moduli` is one *step*. A prime of 25 to 50 bits that is 1 modulo 2n is used as it
/// is. For any other number up to 2^50 the step is the nearest such prime. Above 2^50 the step is two
/// primes, whose product is near the number. So a step keeps its size, not always its value
/// ([`Context::step`](super::Context::step)).
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// The ring dimension n, a power of two.
    pub n: usize,
    /// The steps, that of level 0 first: the last one is dropped first.
    pub moduli: Vec<u64>,
    /// The special moduli of key switching.
    pub special: Vec<u64>,
    /// Distribution of the secret key.
    pub secret: SecretDistribution,
    /// What is vouched for: [`Assurance::Secure`] refuses less than 128 bits.
    pub assurance: Assurance,
}

/// The largest number that is one prime.
const LARGEST_PRIME: u64 = 1 << 50;

/// How many pairs of primes are tried for one step.
const PAIRS: usize = 64;

impl Chain {
    /// The parameters, and the number of primes of each step.
    pub(super) fn params(&self) -> Result<(RlweParams, Vec<usize>)> {
        let power = Limits::between(16, 1 << 17).with("a power of two");
        power.check("the ring dimension n", self.n)?;
        if !self.n.is_power_of_two() {
            return Err(power.refuse("the ring dimension n", self.n).into());
        }
        // More than a set has would take long to find.
        let most = RlweParams::MAX_PRIMES;
        Limits::between(1, most - 1).check("the number of special moduli", self.special.len())?;
        Limits::between(1, most - self.special.len()).check("the number of moduli", self.moduli.len())?;
        let all: Vec<u64> = self.special.iter().chain(&self.moduli).copied().collect();
        let mut primes = choose(&all, 2 * self.n as u64)?;
        let q = primes.split_off(self.special.len());
        let given = GivenPrimes {
            m: 2 * self.n as u64,
            q: q.concat(),
            special: primes.concat(),
            secret: self.secret,
            assurance: self.assurance.clone(),
        };
        Ok((RlweParams::with_primes(&given)?, q.iter().map(Vec::len).collect()))
    }
}

/// The primes of each modulus, all distinct. Of those that stand for one number the first are the largest: special
/// moduli, which come first, must not be below digits.
fn choose(moduli: &[u64], order: u64) -> Result<Vec<Vec<u64>>, OutOfRange> {
    let mut taken: Vec<u64> = Vec::new();
    // Primes that are given by name come first, so that no neighbour takes them.
    let mut chosen: Vec<Option<Vec<u64>>> = Vec::with_capacity(moduli.len());
    for &modulus in moduli {
        let named = fits(modulus, order) && !taken.contains(&modulus);
        taken.extend(named.then_some(modulus));
        chosen.push(named.then(|| vec![modulus]));
    }
    for (first, &modulus) in moduli.iter().enumerate() {
        let places: Vec<usize> =
            (first..moduli.len()).filter(|&k| moduli[k] == modulus && chosen[k].is_none()).collect();
        let mut found = Vec::with_capacity(places.len());
        for _ in &places {
            let primes = near(modulus, order, &taken)?;
            taken.extend(&primes);
            found.push(primes);
        }
        found.sort_by_key(|primes| Reverse(primes.iter().map(|&prime| u128::from(prime)).product::<u128>()));
        places.into_iter().zip(found).for_each(|(place, primes)| chosen[place] = Some(primes));
    }
    Ok(chosen.into_iter().flatten().collect())
}

fn fits(prime: u64, order: u64) -> bool {
    let bits = u64::BITS - prime.leading_zeros();
    RlweParams::PRIME_BITS.contains(&bits) && prime % order == 1 && is_prime(prime)
}

/// One or two primes near a modulus.
fn near(modulus: u64, order: u64, taken: &[u64]) -> Result<Vec<u64>, OutOfRange> {
    let limits = Limits::between(1u64 << 24, 1u64 << 63).with("with enough primes of its size that are 1 modulo 2n");
    limits.check("a modulus of the chain", modulus)?;
    let found = if modulus <= LARGEST_PRIME {
        neighbours(modulus, order, taken).next().map(|prime| vec![prime])
    } else {
        let first = neighbours(modulus.isqrt(), order, taken).take(PAIRS);
        let pair = |first: u64| {
            let second = neighbours(modulus / first, order, taken).find(|&second| second != first)?;
            Some((second, first))
        };
        let distance = |&(a, b): &(u64, u64)| (u128::from(a) * u128::from(b)).abs_diff(u128::from(modulus));
        first.filter_map(pair).min_by_key(distance).map(|(a, b)| vec![a, b])
    };
    found.ok_or_else(|| limits.refuse("a modulus of the chain", modulus))
}

/// Primes that fit, nearest first, as far away as half of the number.
fn neighbours(number: u64, order: u64, taken: &[u64]) -> impl Iterator<Item = u64> + use<'_> {
    let below = number / order * order + 1;
    let centre = if number.saturating_sub(below) > order / 2 { below + order } else { below };
    let further = move |k: u64| {
        let (lower, upper) = (centre.checked_sub(k * order), Some(centre + k * order));
        if number < centre { [lower, upper] } else { [upper, lower] }
    };
    let around = std::iter::once(centre).chain((1..=number / (2 * order)).flat_map(further).flatten());
    around.filter(move |&prime| fits(prime, order) && !taken.contains(&prime))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    const ORDER: u64 = 1 << 15;

    #[test]
    fn named_primes_are_used_and_others_are_near() {
        let named = [35184371138561, 35184372121601];
        assert_eq!(choose(&[named[0], 1 << 45, named[1]], ORDER).unwrap()[0], [named[0]]);
        let all = choose(&[1 << 45, named[0], named[1], 1 << 45, named[0]], ORDER).unwrap().concat();
        assert_eq!((all[1], all[2]), (named[0], named[1]));
        for (position, prime) in all.iter().enumerate() {
            assert!(fits(*prime, ORDER) && !all[..position].contains(prime));
            assert!((*prime as f64 / 45f64.exp2() - 1.0).abs() < 1e-6, "{prime}");
        }
    }

    /// A special modulus comes first, and must not be below a digit.
    #[test]
    fn of_equal_moduli_the_first_get_the_largest_primes() {
        for modulus in [1 << 40, 1 << 50, 1 << 55] {
            let products: Vec<u128> = choose(&[modulus; 4], ORDER)
                .unwrap()
                .iter()
                .map(|primes| primes.iter().map(|&prime| u128::from(prime)).product())
                .collect();
            assert!(products.is_sorted_by(|a, b| a > b), "{products:?}");
        }
    }

    #[test]
    fn neighbours_come_nearest_first_and_once() {
        for number in [1099512299519u64, 1 << 40, (1 << 40) + 2, (1 << 40) + 12345, 1_073_741_824_123] {
            let found: Vec<u64> = neighbours(number, ORDER, &[]).take(20).collect();
            let distances: Vec<u64> = found.iter().map(|prime| prime.abs_diff(number)).collect();
            assert!(distances.is_sorted(), "{number}: {distances:?}");
            assert!((1..found.len()).all(|k| !found[..k].contains(&found[k])), "{number}: {found:?}");
        }
        assert_eq!(neighbours(1099512299519, 1 << 14, &[]).next(), Some(1099512299521));
    }

    #[test]
    fn more_moduli_than_a_set_has_are_refused_before_they_are_looked_for() {
        let chain = |moduli: usize, special: usize| Chain {
            n: 16,
            moduli: vec![1 << 50; moduli],
            special: vec![1 << 50; special],
            secret: SecretDistribution::Ternary,
            assurance: Assurance::Insecure { name: "insecure_chain".into() },
        };
        for (moduli, special) in [(0, 1), (1, 0), (100_000, 1), (1, 100_000), (127, 2)] {
            assert!(matches!(chain(moduli, special).params(), Err(Error::OutOfRange(_))), "{moduli}, {special}");
        }
    }

    #[test]
    fn large_moduli_become_two_primes() {
        for modulus in [36028797017456641, 1152921504607338497, 1 << 55, (1 << 50) + 1, 1 << 63] {
            let pair = choose(&[modulus], ORDER).unwrap().concat();
            let product: f64 = pair.iter().map(|&prime| prime as f64).product();
            assert_eq!(pair.len(), 2);
            assert!((product / modulus as f64 - 1.0).abs() < 1e-3, "{modulus}: {product}");
        }
        assert_eq!(choose(&[1 << 50], ORDER).unwrap()[0].len(), 1);
    }

    #[test]
    fn moduli_without_primes_are_refused() {
        for modulus in [0, 1, 65537, u64::MAX] {
            assert_eq!(choose(&[modulus], ORDER).unwrap_err().what, "a modulus of the chain");
        }
        assert!(choose(&[1 << 25; 40], 1 << 18).is_err());
    }
}
