//! How much of the special modulus P a level needs.
//!
//! Mod-down divides the error of a key switch by P. P exceeds the largest digit of the top level by
//! so much that rounding adds more noise than the switch. At a level with smaller digits the first
//! primes of P suffice; their product is P_l. Keys are made for all of P and are used unchanged.
//! Modulo Q_l·P_l a key holds e + P·g·s'. Modulo P_l, P is zero, as it should be. Modulo Q_l, P is
//! P_l·(P/P_l), and the second factor is removed from the digits: the digits of (P/P_l)^{-1}·x are
//! equally small, and give P_l·x·s' plus errors.

use windlass_ring::Basis;
use windlass_ring::gadget::Gadget;
use windlass_ring::kernels::Modulus;

use crate::levels::{Levels, log2_largest, log2_product};

/// The number of primes of P for each level, and their products.
#[derive(Debug)]
pub(crate) struct Special {
    /// log2 of the product of the first primes: of none, of one, and so on.
    log2: Vec<f64>,
    counts: Vec<usize>,
}

/// By how many bits P_l exceeds the largest digit where P does so at the top. In the sets
/// for bootstrapping the bound on what an inner product adds is then 2^−4.5 to 2^−6 of that on
/// rounding, for a secret of weight 120: it grows with the number of digits, the root of the primes
/// in one and that of n, and is less for denser secrets.
const EXCESS: f64 = 16.0;

impl Special {
    pub(crate) fn new(special: &[Modulus], primes: &[Modulus], gadget: &Gadget, levels: &Levels) -> Self {
        let log2: Vec<f64> = (0..=special.len()).map(|count| log2_product(&special[..count])).collect();
        let largest_digit = |basis: &Basis| log2_largest(primes, &gadget.active(basis));
        // Less what rounding of logarithms may do.
        let excess = (log2[special.len()] - largest_digit(&Basis::new(0..primes.len())) - 1e-9).min(EXCESS);
        let count = |basis: &Basis| {
            let wanted = largest_digit(basis) + excess;
            log2.iter().position(|&size| size >= wanted).unwrap_or(special.len())
        };
        let below = (1..levels.top()).map(|level| count(levels.basis(level)));
        Self { counts: below.chain([special.len()]).collect(), log2 }
    }

    /// The number of primes of P_l: all at the top level, which keys themselves are of.
    pub(crate) fn count(&self, level: usize) -> usize {
        assert!((1..=self.counts.len()).contains(&level), "levels run from 1 to {}", self.counts.len());
        self.counts[level - 1]
    }

    /// log2 P_l.
    pub(crate) fn log2(&self, level: usize) -> f64 {
        self.log2[self.count(level)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use windlass_ring::kernels::modulus::find_primes;

    struct Case {
        primes: Vec<Modulus>,
        special: Vec<Modulus>,
        gadget: Gadget,
        levels: Levels,
    }

    impl Case {
        fn new(spare: &[u32], chain: &[u32], special: &[u32], digits: usize) -> Self {
            let mut taken = Vec::new();
            let mut next = |&bits: &u32| {
                let found = find_primes(128, bits, 1, &taken).unwrap()[0];
                taken.push(found.value());
                found
            };
            let special: Vec<Modulus> = special.iter().map(&mut next).collect();
            let primes: Vec<Modulus> = spare.iter().chain(chain).map(next).collect();
            let gadget = Gadget::with_spare(primes.len(), digits, spare.len());
            Self { levels: Levels::new(&primes, spare.len()), primes, special, gadget }
        }

        fn counts(&self) -> Special {
            Special::new(&self.special, &self.primes, &self.gadget, &self.levels)
        }

        fn largest_digit(&self, basis: &Basis) -> f64 {
            let size = |digit: &Basis| digit.indices().map(|index| (self.primes[index].value() as f64).log2()).sum();
            self.gadget.active(basis).iter().map(size).fold(0.0, f64::max)
        }
    }

    /// One digit of 40, 32 and 40 bits under 50 + 33 + 50: 50 bits exceed 40 by less than 16, as 83
    /// do 72. A P of 120 bits exceeds all by 8 alone, as 50 exceed 40 and 83 exceed 72.
    #[test]
    fn a_level_takes_what_its_largest_digit_needs() {
        let counts = |special: &[u32]| {
            let counts = Case::new(&[], &[40, 32, 40], special, 1).counts();
            assert!((counts.log2(3) - special.iter().sum::<u32>() as f64).abs() < 0.1);
            [1, 2, 3].map(|level| counts.count(level))
        };
        assert_eq!(counts(&[50, 33, 50]), [2, 3, 3]);
        assert_eq!(counts(&[50, 33, 37]), [1, 2, 3]);
        // With a digit to each prime every level has a digit of 40 bits.
        let each = Case::new(&[], &[40, 32, 40], &[31, 30], 3).counts();
        assert_eq!([1, 2, 3].map(|level| each.count(level)), [2; 3]);
    }

    /// P_l exceeds every digit of its level by 16 bits, or what P exceeds the largest of all by; with
    /// a prime less it does not.
    #[test]
    fn no_level_takes_more_or_less() {
        for case in [
            Case::new(&[], &[45, 40, 38, 40, 36], &[45; 3], 2),
            Case::new(&[26, 33], &[45, 40, 38, 40, 36], &[45, 44, 30], 3),
            Case::new(&[27, 33], &[45, 40, 38, 40, 36], &[25; 4], 6),
            Case::new(&[25], &[50; 8], &[50; 9], 1),
            Case::new(&[], &[26; 11], &[50; 6], 3),
        ] {
            let (special, top) = (case.counts(), case.levels.top());
            let first = |count: usize| log2_product(&case.special[..count]);
            let excess = (first(case.special.len()) - case.largest_digit(case.levels.basis(top))).min(16.0);
            assert_eq!(special.count(top), case.special.len());
            for level in 1..top {
                let (count, digit) = (special.count(level), case.largest_digit(case.levels.basis(level)));
                assert!(first(count) - digit >= excess - 1e-6, "level {level}");
                assert!(count == 1 || first(count - 1) - digit < excess, "level {level}");
            }
        }
    }
}
