//! A ring and its moduli on the command line.

use windlass::rlwe::{Assurance, RlweSpec, SecretDistribution};
use windlass_papers::moduli::{PrimeBits, in_words};
use windlass_ring::gadget::Gadget;

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

#[cfg(test)]
mod tests {
    use super::*;

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
