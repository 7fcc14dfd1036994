//! The sizes of primes in words, as records and options have them.

use std::fmt::{self, Display};
use std::str::FromStr;

use windlass::ring::kernels::Modulus;
use windlass::rlwe::RlweParams;

/// Sizes of primes in bits: `50,40,40`, or `8x50` for eight of 50.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimeBits(pub Vec<u32>);

impl FromStr for PrimeBits {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text}: sizes in bits are written as 50,40,40 or 8x50,40, at most 4096 of them");
        let mut bits = Vec::new();
        for part in text.split(',') {
            let (count, size) = part.split_once('x').unwrap_or(("1", part));
            let count: usize = count.trim().parse().map_err(|_| wrong())?;
            let size: u32 = size.trim().parse().map_err(|_| wrong())?;
            if count == 0 || bits.len() + count > 4096 {
                return Err(wrong());
            }
            bits.extend(vec![size; count]);
        }
        Ok(Self(bits))
    }
}

impl Display for PrimeBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.0.chunk_by(|a, b| a == b).map(|run| format!("{}x{}", run.len(), run[0]));
        write!(f, "{}", runs.collect::<Vec<_>>().join(","))
    }
}

/// The sizes of the chain, of the spare primes and of the special primes, and the digits of a key switch.
pub fn in_words(chain: Vec<u32>, spare: Vec<u32>, special: Vec<u32>, digits: usize) -> String {
    let spare = if spare.is_empty() { String::new() } else { format!(" and spare {}", PrimeBits(spare)) };
    format!("Q {}{spare}, P {}, {digits} digits", PrimeBits(chain), PrimeBits(special))
}

/// The sizes of all primes of a set, as in the records.
pub fn moduli_in_words(params: &RlweParams) -> String {
    let bits = |primes: &[Modulus]| primes.iter().map(|q| q.bits()).collect::<Vec<u32>>();
    let (spare, chain) = params.q_primes().split_at(params.spare());
    in_words(bits(chain), bits(spare), bits(params.special_primes()), params.digits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_primes_are_read_and_written() {
        let read = |text: &str| text.parse::<PrimeBits>();
        assert_eq!(read("2x50,40").unwrap(), PrimeBits(vec![50, 50, 40]));
        assert_eq!(read("50, 50,40").unwrap().to_string(), "2x50,1x40");
        for wrong in ["", "x", "50,", "0x50", "5000x50", "-1", "2xx50", "99999999999999999999x1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
