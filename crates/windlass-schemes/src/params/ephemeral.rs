//! The ephemeral secret of a set that is made for bootstrapping.

use crate::names::by_name;

/// How a ciphertext is switched to the ephemeral key, whose security depends on its small modulus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Encapsulation {
    /// In one digit, by special primes: a key modulo Q_in·P'.
    #[default]
    SpecialPrimes,
    /// In digits of a small base, without special primes: a key modulo Q_in only. The smaller
    /// modulus gives the ephemeral key more security. The switch costs one transform for each digit
    /// and each prime of Q_in. Its noise uses up to three fifths of the room before digit removal,
    /// which is 1.3 bits of capacity.
    Digits,
}

by_name!(Encapsulation, "encapsulation", {
    "special-primes" => Encapsulation::SpecialPrimes,
    "digits" => Encapsulation::Digits,
});

/// The sparse secret that replaces the main secret while a refresh decrypts (sparse-secret
/// encapsulation, eprint 2022/024).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ephemeral {
    /// Its Hamming weight, from 1 to n.
    pub weight: u32,
    /// How ciphertexts are switched to it.
    pub encapsulation: Encapsulation,
}

impl Ephemeral {
    /// A secret of this weight with a key of one digit.
    pub const fn by_special_primes(weight: u32) -> Self {
        Self { weight, encapsulation: Encapsulation::SpecialPrimes }
    }

    /// A secret of this weight with a key of small digits.
    pub const fn in_digits(weight: u32) -> Self {
        Self { weight, encapsulation: Encapsulation::Digits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encapsulations_read_back() {
        for name in ["special-primes", "digits"] {
            assert_eq!(name.parse::<Encapsulation>().unwrap().to_string(), name);
        }
        assert!("none".parse::<Encapsulation>().is_err());
    }
}
