//! A ring and its moduli on the command line.

use std::fmt::{self, Display};
use std::str::FromStr;

use windlass::rlwe::{Assurance, RlweParams, RlweSpec, SecretDistribution};
use windlass_ring::gadget::Gadget;
use windlass_ring::kernels::Modulus;

/// Sizes of primes in bits: `50,40,40`, or `8x50` for eight of 50.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimeBits(Vec<u32>);

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

/// Moduli of any size instead of those that stand by a name.
#[derive(Debug, Clone, clap::Args)]
pub struct Moduli {
    /// Sizes in bits of the primes of Q in the order of the chain: 8x50, or 50,40,40.
    #[arg(long, value_name = "BITS")]
    primes: Option<PrimeBits>,
    /// Sizes in bits of spare primes of Q, which levels may leave out.
    #[arg(long, value_name = "BITS", requires = "primes")]
    spare_primes: Option<PrimeBits>,
    /// Sizes in bits of the primes of P [default: those of the largest digit].
    #[arg(long, value_name = "BITS", requires = "primes")]
    special_primes: Option<PrimeBits>,
    /// Digits of a key switch.
    #[arg(long, value_name = "COUNT", requires = "primes", default_value_t = 3)]
    key_digits: usize,
}

impl Moduli {
    /// The parameters for an index, if sizes were given. Their security is computed and printed,
    /// not asked for.
    pub fn spec(&self, m: u64) -> Option<RlweSpec> {
        let primes = &self.primes.as_ref()?.0;
        let spare = self.spare_primes.as_ref().map_or(&[][..], |bits| &bits.0);
        let all = [spare, primes].concat();
        // Numbers of digits that are none are refused with the other parameters.
        let gadget = Gadget::with_spare(all.len(), self.key_digits.clamp(1, all.len()), spare.len());
        let groups = gadget.groups().iter().map(|group| group.indices().map(|i| all[i]).collect::<Vec<u32>>());
        let widest = groups.max_by_key(|digit| digit.iter().sum::<u32>()).unwrap_or_default();
        Some(RlweSpec {
            m,
            q_prime_bits: primes.clone(),
            spare_prime_bits: spare.to_vec(),
            special_prime_bits: self.special_primes.as_ref().map_or(widest, |bits| bits.0.clone()),
            digits: self.key_digits,
            secret: SecretDistribution::Ternary,
            assurance: Assurance::Insecure { name: "insecure_bench".into() },
        })
    }

    /// As in the records.
    pub fn name(&self) -> Option<String> {
        let spec = self.spec(1)?;
        Some(in_words(spec.q_prime_bits, spec.spare_prime_bits, spec.special_prime_bits, spec.digits))
    }
}

fn in_words(chain: Vec<u32>, spare: Vec<u32>, special: Vec<u32>, digits: usize) -> String {
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

    #[test]
    fn the_special_modulus_covers_the_widest_digit() {
        let primes = Some("2x40,4x50".parse().unwrap());
        let moduli = Moduli { primes, spare_primes: None, special_primes: None, key_digits: 3 };
        assert_eq!(moduli.spec(1 << 10).unwrap().special_prime_bits, [50, 50]);
        assert_eq!(moduli.name().unwrap(), "Q 2x40,4x50, P 2x50, 3 digits");
        // The spare primes are in the first digit; the second is wider.
        let moduli = Moduli { spare_primes: Some("30,31".parse().unwrap()), ..moduli };
        assert_eq!(moduli.spec(1 << 10).unwrap().special_prime_bits, [40, 50, 50]);
        assert_eq!(moduli.name().unwrap(), "Q 2x40,4x50 and spare 1x30,1x31, P 1x40,2x50, 3 digits");
    }
}
