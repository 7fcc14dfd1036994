//! Integers as text, and as residues.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use windlass::ring::kernels::Modulus;

use super::parameters::PLAINTEXT_PRIMES;
use crate::degree_two::Parameters;
use crate::error::{EntryError, Result};

/// Reads one integer a line.
#[derive(Debug)]
pub struct Lines {
    file: PathBuf,
    reader: BufReader<File>,
    line: Vec<u8>,
    number: u64,
}

impl Lines {
    /// Opens a file.
    pub fn open(file: &Path) -> Result<Self> {
        let reader = BufReader::with_capacity(1 << 20, File::open(file).map_err(EntryError::at(file))?);
        Ok(Self { file: file.to_owned(), reader, line: Vec::new(), number: 0 })
    }

    /// The next integers, `most` of them unless the file ends; empty lines are ignored.
    pub fn take(&mut self, most: usize) -> Result<Vec<u64>> {
        let mut integers = Vec::with_capacity(most);
        while integers.len() < most {
            self.line.clear();
            self.number += 1;
            if self.reader.read_until(b'\n', &mut self.line).map_err(EntryError::at(&self.file))? == 0 {
                break;
            }
            let text = self.line.trim_ascii();
            if !text.is_empty() {
                integers.push(parse(text).ok_or_else(|| self.refuse(text))?);
            }
        }
        Ok(integers)
    }

    fn refuse(&self, text: &[u8]) -> EntryError {
        let shown = String::from_utf8_lossy(&text[..text.len().min(40)]).into_owned();
        EntryError::malformed(&self.file, format!("line {}: {shown:?} is no integer below 2^64", self.number))
    }
}

/// A decimal integer below 2^64.
fn parse(text: &[u8]) -> Option<u64> {
    let digit = |value: u64, &c: &u8| {
        let digit = c.is_ascii_digit().then(|| u64::from(c - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    };
    text.iter().try_fold(0, digit)
}

/// Appends a decimal integer and the end of the line.
pub fn print(mut value: u64, out: &mut Vec<u8>) {
    let (mut digits, mut start) = ([b'\n'; 21], 20);
    loop {
        start -= 1;
        digits[start] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

/// Signed integers from their residues, modulo 2^64, in the mixed radix of the plaintext primes: x
/// = v_0 + v_1·t_0 + v_2·t_0·t_1 + v_3·t_0·t_1·t_2.
///
/// |x| ≤ 2^126 and the product of the primes is above 2^127 by more than the last place, so that a
/// negative x is one whose last digit is above (t_3 − 1)/2.
#[derive(Debug)]
pub struct Crt {
    primes: [Modulus; PLAINTEXT_PRIMES],
    /// `inverses[i][j]` = 1/t_j modulo t_i, j < i.
    inverses: [[u64; PLAINTEXT_PRIMES]; PLAINTEXT_PRIMES],
    /// The places, and the product of all primes, modulo 2^64.
    places: [u64; PLAINTEXT_PRIMES],
    product: u64,
}

impl Crt {
    /// For the plaintext primes of the entry.
    pub fn new(parameters: &Parameters) -> Self {
        let primes: [Modulus; PLAINTEXT_PRIMES] = std::array::from_fn(|i| parameters.plaintext_prime(i));
        let inverse = |i: usize, j: usize| if j < i { primes[i].inv(primes[i].reduce(primes[j].value())) } else { 0 };
        let mut places = [1u64; PLAINTEXT_PRIMES];
        for i in 1..PLAINTEXT_PRIMES {
            places[i] = places[i - 1].wrapping_mul(primes[i - 1].value());
        }
        Self {
            primes,
            inverses: std::array::from_fn(|i| std::array::from_fn(|j| inverse(i, j))),
            places,
            product: places[PLAINTEXT_PRIMES - 1].wrapping_mul(primes[PLAINTEXT_PRIMES - 1].value()),
        }
    }

    /// x modulo 2^64.
    pub fn join(&self, residues: [u64; PLAINTEXT_PRIMES]) -> u64 {
        let mut digits = residues;
        for i in 1..PLAINTEXT_PRIMES {
            let t = self.primes[i].value();
            for j in 0..i {
                // Primes lie within a factor of two of each other: digits are below 2t.
                let digit = if digits[j] >= t { digits[j] - t } else { digits[j] };
                let difference = if digits[i] >= digit { digits[i] - digit } else { digits[i] + t - digit };
                digits[i] = difference * self.inverses[i][j] % t;
            }
        }
        let sum = digits
            .iter()
            .zip(self.places)
            .fold(0u64, |sum, (digit, place)| sum.wrapping_add(digit.wrapping_mul(place)));
        let negative = digits[PLAINTEXT_PRIMES - 1] > (self.primes[PLAINTEXT_PRIMES - 1].value() - 1) / 2;
        sum.wrapping_sub(u64::from(negative).wrapping_mul(self.product))
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::{RngCore, SeedableRng};

    use super::*;

    #[test]
    fn text_comes_back() {
        for value in [0, 1, 9, 10, 12_345_678_901, u64::MAX - 1, u64::MAX] {
            let mut text = Vec::new();
            print(value, &mut text);
            assert_eq!(String::from_utf8(text.clone()).unwrap(), format!("{value}\n"));
            assert_eq!(parse(text.trim_ascii()), Some(value));
        }
        for text in ["", "-1", "18446744073709551616", "1.5", "99999999999999999999999", "1e3"] {
            assert!(text.is_empty() || parse(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn residues_of_products_join_to_the_product() {
        let parameters = crate::zn::parameters::parameters().unwrap();
        let crt = Crt::new(&parameters);
        let product: u128 = 1 << 127;
        let primes: [u64; 4] = std::array::from_fn(|i| parameters.plaintext_prime(i).value());
        let top: u128 = primes[..3].iter().map(|&t| u128::from(t)).product();
        assert!(top * u128::from((primes[3] - 1) / 2) >= product / 2, "signs are told from the last digit");
        let mut rng = ChaCha20Rng::from_seed([3; 32]);
        let edges = [0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, (1 << 63) + 1];
        let mut pairs: Vec<(u64, u64)> = edges.iter().flat_map(|&a| edges.map(|b| (a, b))).collect();
        pairs.extend((0..10_000).map(|_| (rng.next_u64(), rng.next_u64())));
        for (a, b) in pairs {
            let exact = i128::from(a as i64) * i128::from(b as i64);
            let residues = primes.map(|t| exact.rem_euclid(i128::from(t)) as u64);
            assert_eq!(crt.join(residues), a.wrapping_mul(b), "{a}·{b}");
        }
    }
}
