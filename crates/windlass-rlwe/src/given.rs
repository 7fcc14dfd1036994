//! Sets whose primes the caller gives.

use std::sync::Arc;

use windlass_ring::gadget::Gadget;
use windlass_ring::kernels::{Modulus, Shape};

use crate::error::RlweError;
use crate::levels::log2_product;
use crate::limits::Limits;
use crate::params::{Assurance, RlweParams, SecretDistribution, check_weight};

/// The primes of a set, where [`crate::RlweSpec`] has their sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenPrimes {
    /// The cyclotomic index m.
    pub m: u64,
    /// The primes of Q in the order of the chain: the last is dropped first.
    pub q: Vec<u64>,
    /// The primes of P.
    pub special: Vec<u64>,
    /// Distribution of the secret key.
    pub secret: SecretDistribution,
    /// What is vouched for.
    pub assurance: Assurance,
}

impl RlweParams {
    /// The set of given primes. The digits of a key switch are as few as P allows.
    ///
    /// # Errors
    /// [`RlweError::OutOfRange`] for counts, for a number that is not a prime of
    /// [`Self::PRIME_BITS`] or not 1 modulo [`Shape::root_order`], and for a repeated prime;
    /// [`RlweError::SpecialModulusTooSmall`] if P is below a prime of Q; those of [`Self::new`] for
    /// an unsupported m and for security.
    pub fn with_primes(given: &GivenPrimes) -> Result<Self, RlweError> {
        let shape = Arc::new(Shape::new(given.m)?);
        check_weight(given.secret, shape.n())?;
        let most = Self::MAX_PRIMES;
        Limits::between(1, most - 1).check("the number of special primes", given.special.len())?;
        Limits::between(1, most - given.special.len()).check("the number of primes of Q", given.q.len())?;
        let mut taken = Vec::new();
        let special = check_primes(&shape, &given.special, &mut taken)?;
        let q = check_primes(&shape, &given.q, &mut taken)?;
        let gadget = fewest_digits(&q, log2_product(&special));
        Self::checked(shape, [q, special], 0, (gadget, true), (given.secret, &given.assurance))
    }
}

fn check_primes(shape: &Shape, primes: &[u64], taken: &mut Vec<u64>) -> Result<Vec<Modulus>, RlweError> {
    let limits = Limits::only("a prime of 25 to 50 bits, 1 modulo m, and given once");
    let check = |&prime: &u64| {
        let refuse = || limits.refuse("a prime of the modulus", prime);
        let modulus = Modulus::new(prime).map_err(|_| refuse())?;
        let fits = RlweParams::PRIME_BITS.contains(&modulus.bits()) && prime % shape.root_order() == 1;
        if !fits || taken.contains(&prime) {
            return Err(refuse().into());
        }
        taken.push(prime);
        Ok(modulus)
    };
    primes.iter().map(check).collect()
}

/// The fewest groups of primes whose products are all at most P. If no grouping has such products, one group for
/// each prime.
fn fewest_digits(q: &[Modulus], log2_p: f64) -> Gadget {
    let bits: Vec<f64> = q.iter().map(|q| (q.value() as f64).log2()).collect();
    let largest = |gadget: &Gadget| -> f64 {
        let size = |group: &windlass_ring::Basis| group.indices().map(|index| bits[index]).sum();
        gadget.groups().iter().map(size).fold(0.0, f64::max)
    };
    let by_count = (1..=q.len()).map(|digits| Gadget::by_size(&bits, digits));
    by_count.into_iter().find(|gadget| largest(gadget) <= log2_p).unwrap_or_else(|| Gadget::by_size(&bits, q.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    use windlass_ring::kernels::modulus::find_primes;

    fn given() -> GivenPrimes {
        let primes = |bits, count| find_primes(16384, bits, count, &[]).unwrap().iter().map(|q| q.value()).collect();
        let assurance = Assurance::Secure;
        GivenPrimes {
            m: 16384,
            q: primes(40, 3),
            special: primes(45, 1),
            secret: SecretDistribution::Ternary,
            assurance,
        }
    }

    #[test]
    fn a_set_has_the_primes_in_the_order_given_and_as_few_digits_as_p_allows() {
        let mut spec = given();
        spec.q.swap(0, 2);
        let params = RlweParams::with_primes(&spec).unwrap();
        assert_eq!(params.q_primes().iter().map(|q| q.value()).collect::<Vec<_>>(), spec.q);
        assert_eq!((params.digits(), params.top_level(), params.n()), (3, 3, 8192));
        spec.special = find_primes(16384, 44, 2, &[]).unwrap().iter().map(|q| q.value()).collect();
        assert_eq!(RlweParams::with_primes(&spec).unwrap().digits(), 2);
        assert_ne!(RlweParams::with_primes(&spec).unwrap().id(), params.id());
    }

    #[test]
    fn what_is_not_a_prime_of_the_ring_is_refused() {
        let repeated = |mut spec: GivenPrimes| {
            spec.q[1] = spec.special[0];
            spec
        };
        for spec in [
            GivenPrimes { q: vec![(1 << 40) + 1], ..given() },
            GivenPrimes { q: vec![(1 << 40) - 87], ..given() },
            GivenPrimes { q: vec![65537], ..given() },
            GivenPrimes { q: vec![1152921504607338497], ..given() },
            GivenPrimes { q: vec![], ..given() },
            GivenPrimes { special: vec![], ..given() },
            GivenPrimes { secret: SecretDistribution::Sparse { weight: 0 }, ..given() },
            repeated(given()),
        ] {
            assert!(matches!(RlweParams::with_primes(&spec), Err(RlweError::OutOfRange(_))), "{spec:?}");
        }
        let low = GivenPrimes { special: vec![find_primes(16384, 39, 1, &[]).unwrap()[0].value()], ..given() };
        assert!(matches!(RlweParams::with_primes(&low), Err(RlweError::SpecialModulusTooSmall { .. })));
        let five: Vec<u64> = find_primes(16384, 50, 5, &[]).unwrap().iter().map(|q| q.value()).collect();
        let wide = GivenPrimes { q: five[1..].to_vec(), special: five[..1].to_vec(), ..given() };
        assert!(matches!(RlweParams::with_primes(&wide), Err(RlweError::Insecure { .. })));
        let named = GivenPrimes { assurance: Assurance::Insecure { name: "insecure_given".into() }, ..wide };
        assert!(RlweParams::with_primes(&named).unwrap().security().bits < 128.0);
    }
}
