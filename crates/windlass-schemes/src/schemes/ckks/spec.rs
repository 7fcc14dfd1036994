//! What determines CKKS parameters.

use windlass_rlwe::{Assurance, KeySizes, Limits, Number, RlweError, RlweParams, RlweSpec, SecretDistribution};

#[cfg(doc)]
use super::wide::Wide;
use crate::error::{Error, Result};
use crate::file_sizes::packed_len;

/// What determines a CKKS parameter set.
#[derive(Debug, Clone, PartialEq)]
pub struct CkksSpec {
    /// Ring dimension n, a power of two; there are up to n/2 slots.
    pub n: usize,
    /// log2 of the scale Δ: 25 to 150. A rescaling drops one prime up to 50 bits, and as few primes as
    /// have so many bits together above ([`Self::dropped_prime_bits`]). Values of more than 53 bits are
    /// [`Wide`].
    pub scale_bits: u32,
    /// The number of rescalings.
    pub depth: usize,
    /// Sizes in bits of the primes that no rescaling drops. Their product bounds Δ times the
    /// values.
    pub base_prime_bits: Vec<u32>,
    /// Sizes in bits of the special primes.
    pub special_prime_bits: Vec<u32>,
    /// Number of digits of a key switch.
    pub digits: usize,
    /// Distribution of the secret key.
    pub secret: SecretDistribution,
    /// The security that the set claims.
    pub assurance: Assurance,
    /// The levels that a refresh works at, from the lowest up: above those of the `depth`
    /// rescalings. None for sets without a refresh.
    pub refresh_levels: Vec<RefreshLevel>,
}

/// A level that a refresh works at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RefreshLevel {
    /// Sizes in bits of the primes that a rescaling from this level drops together.
    pub prime_bits: Vec<u32>,
    /// log2 of the scale of a level at which ciphertexts are multiplied by constants only: any
    /// number of bits. `None` for a level of products: its scale follows from the one below, as for
    /// the levels of a caller.
    pub scale_bits: Option<u32>,
}

/// Scales of values that are doubles.
const SCALE_BITS: Limits =
    Limits { least: Some(Number::Natural(25)), most: Some(Number::Natural(50)), note: "the sizes of primes" };

/// All scales.
const WIDE_SCALE_BITS: Limits = Limits {
    least: Some(Number::Natural(25)),
    most: Some(Number::Natural(150)),
    note: "the sizes of one to three primes",
};

/// The size of the largest primes.
const MOST_PRIME_BITS: u32 = 50;

/// The most primes that a rescaling drops.
const MOST_DROPPED: usize = 4;

/// Scales of levels with products with constants only.
const SCALE_BITS_OF_REFRESH: std::ops::RangeInclusive<u32> = 20..=200;

/// More rescalings than any secure ring has primes for.
const MAX_DEPTH: usize = 200;

/// Values are doubles, which have to hold them times the square of a scale too.
const MAX_VALUE_BITS: u32 = 850;

/// The rings that the tables of hardness reach.
const LOG_DIMENSIONS: std::ops::RangeInclusive<u32> = 11..=16;

impl CkksSpec {
    /// The smallest ring with 128 bits of security for `depth` rescalings at scale 2^scale_bits and
    /// at least `slots` slots, in which values may grow to nearly 2^value_bits. Uses the smallest
    /// number of digits that fits.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a number that no parameters have; [`Error::NoParameters`] if no
    /// ring of the tables does.
    pub fn secure(depth: usize, scale_bits: u32, value_bits: u32, slots: usize) -> Result<Self> {
        SCALE_BITS.check("scale_bits", scale_bits)?;
        Self::secure_wide(depth, scale_bits, value_bits, slots)
    }

    /// As [`Self::secure`], at scales of up to 150 bits, for [`Wide`] values.
    ///
    /// # Errors
    /// As there.
    pub fn secure_wide(depth: usize, scale_bits: u32, value_bits: u32, slots: usize) -> Result<Self> {
        WIDE_SCALE_BITS.check("scale_bits", scale_bits)?;
        Limits::at_most(MAX_DEPTH).check("depth", depth)?;
        Limits::between(1, MAX_VALUE_BITS).check("value_bits", value_bits)?;
        Limits::between(1, 1 << (LOG_DIMENSIONS.end() - 1)).check("slots", slots)?;
        let base = scale_bits + value_bits + 1;
        let base_prime_bits = vec![base.div_ceil(base.div_ceil(50)).max(25); base.div_ceil(50) as usize];
        let dropped = split_bits(scale_bits);
        let primes = depth * dropped.len() + base_prime_bits.len();
        let mut reason = String::from("no ring dimension was tried");
        for log_n in LOG_DIMENSIONS {
            let n = 1usize << log_n;
            if n < 2 * slots {
                continue;
            }
            for digits in 1..=primes {
                let spec = Self {
                    n,
                    scale_bits,
                    depth,
                    base_prime_bits: base_prime_bits.clone(),
                    special_prime_bits: special_for(
                        &base_prime_bits,
                        dropped[dropped.len() - 1],
                        primes.div_ceil(digits),
                    ),
                    digits,
                    secret: SecretDistribution::Ternary,
                    assurance: Assurance::Secure,
                    refresh_levels: Vec::new(),
                };
                match spec.to_params() {
                    Ok(_) => return Ok(spec),
                    Err(error) => reason = spec.too_large(&error),
                }
            }
        }
        reason += "; ask for less depth, a smaller scale or smaller values";
        Err(Error::NoParameters { reason })
    }

    /// The same primes for a key that so many parties hold together.
    pub fn with_parties(self, parties: u32) -> Self {
        Self { secret: SecretDistribution::Collective { parties }, ..self }
    }

    /// Why a set that was tried has no contexts.
    fn too_large(&self, error: &Error) -> String {
        match error {
            Error::Rlwe(RlweError::Insecure { required, n, log2_qp, max_log2_qp, .. }) => format!(
                "depth {} with scale_bits {} needs at least {log2_qp:.0} bits of Q and P, but {required:.0} bits of security allow {max_log2_qp:.0} at n = {n}, the largest ring of the security tables",
                self.depth, self.scale_bits
            ),
            other => other.to_string(),
        }
    }

    /// How large values may grow: nearly to 2 to this power, at every level.
    pub fn value_bits(&self) -> u32 {
        let base = self.base_prime_bits.iter().fold(0u32, |sum, &bits| sum.saturating_add(bits));
        base.saturating_sub(self.scale_bits + 1)
    }

    /// The size of values in bits for which parameters have so many bits more room, and room for
    /// values of a size at every level, if there are any.
    pub(crate) fn value_bits_for(&self, missing: f64, size: f64) -> Option<u32> {
        let more = f64::from(self.value_bits()) + (missing.max(0.0) + 0.5).ceil();
        let needed = more.max(size.log2().ceil() + 1.0);
        (needed <= f64::from(MAX_VALUE_BITS)).then_some(needed as u32)
    }

    /// What can be refused without any work.
    pub(super) fn check(&self) -> Result<()> {
        let dimension = Limits::between(4, 1 << 17).with("a power of two");
        dimension.check("the ring dimension", self.n)?;
        if !self.n.is_power_of_two() {
            return Err(dimension.refuse("the ring dimension", self.n).into());
        }
        WIDE_SCALE_BITS.check("the scale in bits", self.scale_bits)?;
        Limits::at_most(MAX_DEPTH).check("the number of rescalings", self.depth)?;
        for level in &self.refresh_levels {
            Limits::between(1, MOST_DROPPED).check("the primes that a rescaling drops", level.prime_bits.len())?;
            if let Some(bits) = level.scale_bits {
                Limits::between(*SCALE_BITS_OF_REFRESH.start(), *SCALE_BITS_OF_REFRESH.end())
                    .check("the scale of a level of a refresh in bits", bits)?;
            }
        }
        let base: u64 = self.base_prime_bits.iter().copied().map(u64::from).sum();
        let limits = Limits::at_least(self.scale_bits + 2).with("two more than the scale's");
        Ok(limits.check("the size of the base primes in bits", base)?)
    }

    /// Sizes in bits of the primes that a rescaling from a caller's level drops together: those of the scale.
    pub fn dropped_prime_bits(&self) -> Vec<u32> {
        split_bits(self.scale_bits)
    }

    /// The number of primes of a fresh ciphertext.
    pub(super) fn top_level(&self) -> usize {
        self.base_prime_bits.len() + self.depth * split_bits(self.scale_bits).len()
    }

    /// The parameters of the layer below, validated: those of every context of this specification.
    /// Levels of a refresh drop primes of different sizes. Digits of key switches are then made by
    /// size, which [`Self::to_rlwe`] cannot say.
    ///
    /// # Errors
    /// As [`CkksContext::new`](super::CkksContext::new).
    pub fn to_params(&self) -> Result<RlweParams> {
        self.check()?;
        let spec = self.to_rlwe();
        let by_size = !self.refresh_levels.is_empty();
        Ok(if by_size { RlweParams::with_digits_by_size(&spec)? } else { RlweParams::new(&spec)? })
    }

    /// Sizes of keys and ciphertexts under the parameters of [`Self::to_params`]. Ciphertexts are those of
    /// callers, below the levels of a refresh.
    pub fn key_sizes(&self, params: &RlweParams) -> KeySizes {
        let (n, callers) = (params.n(), &params.q_primes()[..self.top_level()]);
        let packed: u64 = callers.iter().map(|q| packed_len(n, q.value()) as u64).sum();
        KeySizes {
            ciphertext_memory: 2 * 8 * (callers.len() * n) as u64,
            ciphertext_disk: 2 * packed,
            fresh_ciphertext_disk: packed + 32,
            ..params.key_sizes()
        }
    }

    /// What the layer below makes parameters of; [`Self::to_params`] makes them.
    pub fn to_rlwe(&self) -> RlweSpec {
        let mut q_prime_bits = self.base_prime_bits.clone();
        q_prime_bits.extend(std::iter::repeat_n(self.dropped_prime_bits(), self.depth).flatten());
        q_prime_bits.extend(self.refresh_levels.iter().flat_map(|level| &level.prime_bits));
        RlweSpec {
            m: 2 * self.n as u64,
            q_prime_bits,
            spare_prime_bits: Vec::new(),
            special_prime_bits: self.special_prime_bits.clone(),
            digits: self.digits,
            secret: self.secret,
            assurance: self.assurance.clone(),
        }
    }
}

/// Sizes of as few primes as possible with so many bits together, the largest last.
fn split_bits(bits: u32) -> Vec<u32> {
    let count = bits.div_ceil(MOST_PRIME_BITS).max(1);
    (0..count).map(|k| bits * (k + 1) / count - bits * k / count).collect()
}

/// Special primes whose product exceeds any digit of `group` primes, of so many bits above the base, by ten
/// bits.
fn special_for(base: &[u32], prime_bits: u32, group: usize) -> Vec<u32> {
    let digit: u32 = base.iter().copied().chain(std::iter::repeat(prime_bits)).take(group).sum::<u32>();
    let needed = (digit + 10).max(prime_bits * group as u32 + 10);
    let count = needed.div_ceil(50);
    vec![needed.div_ceil(count).clamp(25, 50); count as usize]
}
