//! What a refresh of CKKS is made of, and the levels that it takes.

use windlass_rlwe::{Assurance, SecretDistribution};
use windlass_schemes::schemes::ckks::{CkksSpec, RefreshLevel};

/// What a refresh of CKKS is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct RefreshSpec {
    /// Ring dimension n, a power of two.
    pub n: usize,
    /// log2 of the scale Δ of the caller's levels.
    pub scale_bits: u32,
    /// The number of rescalings that a refreshed ciphertext has room for.
    pub depth: usize,
    /// log2(Q_B/Δ): a message of absolute value 1 takes the share 2^−gap_bits of the modulus.
    pub gap_bits: u32,
    /// Sizes of the primes that a level of the sine drops together: their sum is log2 of its scale.
    pub sine_prime_bits: Vec<u32>,
    /// How many of the log2(n/2) elementary stages each map from coefficients to slots takes.
    pub to_slots: Vec<usize>,
    /// The same of the maps back.
    pub to_coefficients: Vec<usize>,
    /// log2 of the scale of the constants of these maps.
    pub constant_bits: [u32; 2],
    /// How often the angle of the cosine is doubled.
    pub doublings: u32,
    /// The degree of the polynomial near the cosine, in `2u² − 1`.
    pub degree: usize,
    /// Whether two more levels bring the sine to the sawtooth, up to the fifth power of the angle.
    pub arcsine: bool,
    /// Non-zero coefficients of the ephemeral secret.
    pub ephemeral_weight: u32,
    /// Special primes of the key to the ephemeral secret.
    pub ephemeral_special: usize,
    /// Sizes in bits of the special primes.
    pub special_prime_bits: Vec<u32>,
    /// Number of digits of a key switch.
    pub digits: usize,
    /// The security that the set claims.
    pub assurance: Assurance,
}

/// The largest size of a prime.
const MOST_BITS: u32 = 50;

impl RefreshSpec {
    /// log2 of the scale of the sine's levels.
    pub fn sine_bits(&self) -> u32 {
        self.sine_prime_bits.iter().sum()
    }

    /// The number of levels of the sine: the square of its argument, the polynomial, the doublings
    /// and the arcsine.
    pub fn sine_depth(&self) -> usize {
        let polynomial = (self.degree + 1).next_power_of_two().ilog2() as usize;
        1 + polynomial + self.doublings as usize + if self.arcsine { 2 } else { 0 }
    }

    /// The CKKS parameters with all levels.
    pub fn to_ckks(&self) -> CkksSpec {
        CkksSpec {
            n: self.n,
            scale_bits: self.scale_bits,
            depth: self.depth,
            base_prime_bits: split(self.scale_bits + self.gap_bits),
            special_prime_bits: self.special_prime_bits.clone(),
            digits: self.digits,
            secret: SecretDistribution::Ternary,
            assurance: self.assurance.clone(),
            refresh_levels: self.levels(),
        }
    }

    /// From the lowest up: slots to coefficients, the sine, coefficients to slots.
    fn levels(&self) -> Vec<RefreshLevel> {
        let sine = RefreshLevel { prime_bits: self.sine_prime_bits.clone(), scale_bits: None };
        let mut levels = self.lower_map();
        levels.extend(std::iter::repeat_n(sine, self.sine_depth()));
        levels.extend(self.upper_map());
        levels
    }

    /// The scale falls from the sine's to the caller's: each level drops the bits of its constants
    /// and its share of the difference.
    fn lower_map(&self) -> Vec<RefreshLevel> {
        let (count, constant) = (self.to_coefficients.len() as u32, self.constant_bits[1]);
        let fall = self.sine_bits() - self.scale_bits;
        let share = |k: u32| fall * (k + 1) / count - fall * k / count;
        (0..count)
            .map(|k| RefreshLevel {
                prime_bits: split(constant + share(k)),
                scale_bits: Some(self.scale_bits + fall * (k + 1) / count),
            })
            .collect()
    }

    /// Levels drop what their constants have, all together: the first ones less, the last one more,
    /// so that few primes do.
    fn upper_map(&self) -> Vec<RefreshLevel> {
        let (count, constant) = (self.to_slots.len() as u32, self.constant_bits[0]);
        let primes = split(count * constant);
        let last = primes.len() as u32 - (count - 1);
        let mut scale = self.sine_bits();
        let mut level = |prime_bits: Vec<u32>| {
            scale = scale + prime_bits.iter().sum::<u32>() - constant;
            RefreshLevel { prime_bits, scale_bits: Some(scale) }
        };
        let mut levels = vec![level(primes[..last as usize].to_vec())];
        levels.extend(primes[last as usize..].iter().map(|&bits| level(vec![bits])));
        levels
    }
}

/// Sizes of as few primes as possible with so many bits together.
fn split(bits: u32) -> Vec<u32> {
    let count = bits.div_ceil(MOST_BITS);
    (0..count).map(|k| bits * (k + 1) / count - bits * k / count).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A set without security.
    pub fn toy(n: usize) -> RefreshSpec {
        let stages = (n / 2).ilog2() as usize;
        let thirds: Vec<usize> = (0..3).map(|k| stages * (k + 1) / 3 - stages * k / 3).collect();
        RefreshSpec {
            n,
            scale_bits: 40,
            depth: 3,
            gap_bits: 8,
            sine_prime_bits: vec![28, 28],
            to_slots: thirds.clone(),
            to_coefficients: thirds,
            constant_bits: [50, 40],
            doublings: 3,
            degree: 15,
            arcsine: true,
            ephemeral_weight: 32.min(n as u32 / 4),
            ephemeral_special: 2,
            special_prime_bits: vec![50; 5],
            digits: 6,
            assurance: Assurance::Insecure { name: "insecure_test".into() },
        }
    }
}
