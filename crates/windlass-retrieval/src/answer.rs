//! Answers: ciphertexts at the smallest modulus that decrypts. Only the requested coefficients are
//! sent.
//!
//! Both halves are rounded to fractions of Q, the second to 2^w parts and the first to fewer. The
//! rounding error of the second half is multiplied by s; that of the first is not.

use windlass_ring::Poly;
use windlass_rlwe::KeyId;
use windlass_rlwe::keys::SecretKey;
use zeroize::{Zeroize, Zeroizing};

use crate::bounds::{ACCEPTED, answer_bits, first_bits};
use crate::bytes::centred;
use crate::error::{Error, Result};
use crate::query::{Query, delta};
use crate::query_name::QueryName;
use crate::setting::{N, Setting};
use crate::u32_ciphertext::U32Ciphertext;

/// 2^{64 + b}/Q for Q of b + 1 bits, rounded down: what makes a fraction of Q without a division.
#[derive(Debug, Clone, Copy)]
struct Fraction {
    reciprocal: u64,
    shift: u32,
}

impl Fraction {
    fn of(modulus: u64) -> Self {
        let shift = 64 + modulus.ilog2();
        // Q is odd, so this is below 2^64.
        Self { reciprocal: ((1u128 << shift) / u128::from(modulus)) as u64, shift }
    }

    /// x < Q in units of Q/2^bits, modulo 2^bits. The reciprocal is off by less than 1, so what is
    /// rounded is off by less than 2^{bits − 63}.
    fn round(self, x: u64, bits: u32) -> u64 {
        let shift = self.shift - bits;
        let scaled = (u128::from(x) * u128::from(self.reciprocal) + (1 << (shift - 1))) >> shift;
        scaled as u64 & ((1 << bits) - 1)
    }
}

/// The answer to one selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// c_0, the coefficients that are asked for, in units of Q/2^{first bits}.
    pub(crate) first: Vec<u64>,
    /// c_1 in units of Q/2^{answer bits}.
    pub(crate) second: Vec<u64>,
}

impl Part {
    /// Switches a ciphertext to the smallest modulus, keeping `sent` coefficients of its first
    /// half.
    pub fn new(setting: &Setting, message_bits: u32, sent: usize, ciphertext: U32Ciphertext) -> Self {
        Self::with_addends(setting, message_bits, (0..sent).map(|place| (place, 0)), ciphertext)
    }

    /// As [`Self::new`], keeping the coefficients at some places, to each of which a number is
    /// added: its message.
    pub(crate) fn with_addends(
        setting: &Setting,
        message_bits: u32,
        places: impl Iterator<Item = (usize, i64)>,
        ciphertext: U32Ciphertext,
    ) -> Self {
        let coefficients = ciphertext.into_coefficients(setting);
        let [first, second] = [0, 1].map(|part| setting.integers(coefficients.part(part)));
        let (modulus, delta) = (i128::from(setting.modulus()), i128::from(delta(setting, message_bits)));
        let moved = |(place, addend): (usize, i64)| match addend {
            0 => first[place],
            addend => (i128::from(first[place]) + delta * i128::from(addend)).rem_euclid(modulus) as u64,
        };
        let fraction = Fraction::of(setting.modulus());
        let round = |x: &u64, bits: u32| fraction.round(*x, bits);
        Self {
            first: places.map(|place| round(&moved(place), first_bits(message_bits))).collect(),
            second: second.iter().map(|x| round(x, answer_bits(message_bits))).collect(),
        }
    }

    /// The messages modulo 2^{message bits}, centred.
    ///
    /// # Errors
    /// [`Error::NotDecryptable`] if a coefficient is further from any message than the bound of
    /// the error allows: under another key almost every answer has one.
    pub fn decrypt(&self, setting: &Setting, message_bits: u32, secret: &SecretKey) -> Result<Zeroizing<Vec<i64>>> {
        self.decrypt_at(setting, message_bits, 0.., secret)
    }

    /// As [`Self::decrypt`], of coefficients at these places.
    pub(crate) fn decrypt_at(
        &self,
        setting: &Setting,
        message_bits: u32,
        places: impl Iterator<Item = usize> + Clone,
        secret: &SecretKey,
    ) -> Result<Zeroizing<Vec<i64>>> {
        let bits = answer_bits(message_bits);
        let lift = bits - first_bits(message_bits);
        let mut first = vec![0; N];
        places.clone().zip(&self.first).for_each(|(place, &x)| first[place] = (x << lift) as i64);
        let second: Vec<i64> = self.second.iter().map(|&x| centred(x, bits)).collect();
        let ring = setting.context().ring();
        let parts = [first, second].map(|part| Poly::from_signed(ring, setting.basis(), &part).into_eval());
        // |c_0 + c_1·s| < n·2^w < Q/2: the integer itself.
        let mut phase = secret.phase(&parts).into_coeff();
        let integers = Zeroizing::new(setting.integers([phase.row(0), phase.row(1)]));
        phase.zeroize();
        let (spacing, half) = (bits - message_bits, 1i64 << (bits - message_bits - 1));
        let accepted = (ACCEPTED * half as f64) as i64;
        let mut within = true;
        let message = |&x: &u64| {
            let x = x as i64;
            let x = x - (setting.modulus() as i64 & -((x > setting.modulus() as i64 / 2) as i64));
            let rounded = (x + half) >> spacing;
            let rest = x - (rounded << spacing);
            within &= (-accepted..=accepted).contains(&rest);
            centred(rounded as u64, message_bits)
        };
        let sent = places.take(self.first.len()).map(|place| &integers[place]);
        let messages = Zeroizing::new(sent.map(message).collect());
        if within { Ok(messages) } else { Err(Error::NotDecryptable { number: None }) }
    }
}

/// The answer to a query: one part for each selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub(crate) key: KeyId,
    /// The name of the query.
    pub(crate) name: QueryName,
    /// The hash of the schema of the table that answered.
    pub(crate) table: [u8; 32],
    pub(crate) parts: Vec<Part>,
}

impl Answer {
    /// The answer to a query, with the name of the query.
    pub(crate) fn to(query: &Query, parts: Vec<Part>) -> Self {
        Self { key: query.key, name: query.name, table: query.table, parts }
    }

    /// The key pair.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// One part for each selection.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_those_of_a_division() {
        for modulus in [(1u64 << 60) - 173, (1 << 59) + 21, (1 << 52) - 47] {
            let fraction = Fraction::of(modulus);
            for k in 0..20_000u64 {
                let x = if k < 8 { modulus - 1 - k } else { k.wrapping_mul(0x9e37_79b9_7f4a_7c15) % modulus };
                for bits in [4, 23, 31, 36] {
                    let divided = ((u128::from(x) << bits) + u128::from(modulus / 2)) / u128::from(modulus);
                    assert_eq!(fraction.round(x, bits), divided as u64 & ((1 << bits) - 1), "{x} of {modulus}");
                }
            }
        }
    }
}
