//! What a refresh of CKKS is made of, and the levels that it takes.

use windlass_rlwe::{Assurance, Limits, RlweParams, SecretDistribution};
use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::ckks::{CkksSpec, RefreshLevel};

use super::integers;

/// Where the maps from slots to coefficients are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MapOrder {
    /// At the end, on what the sine gives. A ciphertext without levels can be refreshed, and fewer than
    /// n/2 slots take one sine instead of two.
    #[default]
    BackLast,
    /// At the beginning, on the lowest levels of the caller. A ciphertext needs as many levels as there are
    /// maps to be refreshed. The maps take a fifth of the time there (`refresh_n65536`). The sine acts on the
    /// slots themselves, so no map adds up its errors: its scales are lower by 8 bits at n = 2^16. Only for
    /// all n/2 slots.
    BackFirst,
}

/// The parameters of a refresh of CKKS.
#[derive(Debug, Clone, PartialEq)]
pub struct RefreshSpec {
    /// Ring dimension n, a power of two.
    pub n: usize,
    /// The number of slots of a ciphertext, a divisor of n/2. Fewer than n/2 take one sine instead of
    /// two, and smaller maps.
    pub slots: usize,
    /// log2 of the scale Δ of the caller's levels.
    pub scale_bits: u32,
    /// The number of rescalings that a refreshed ciphertext has room for, before those that the next
    /// refresh takes.
    pub depth: usize,
    /// Where the maps from slots to coefficients are.
    pub order: MapOrder,
    /// log2(Q_B/Δ): a message of absolute value 1 takes the share 2^−gap_bits of the modulus.
    pub gap_bits: u32,
    /// log2 of the scale of each level of the sine, from that of its argument to that of its result:
    /// one more than [`Self::sine_depth`].
    pub sine_scale_bits: Vec<u32>,
    /// How many of the log2(slots) elementary stages each map from coefficients to slots takes.
    pub to_slots: Vec<usize>,
    /// The same of the maps back.
    pub to_coefficients: Vec<usize>,
    /// log2 of the scale of the constants of these maps. Maps back that come first run at levels of the
    /// caller, where constants have the scale of the level: the second number is not used then.
    pub constant_bits: [u32; 2],
    /// How often the angle of the cosine is doubled.
    pub doublings: u32,
    /// The degree of the polynomial near the cosine, in `2u² − 1`.
    pub degree: usize,
    /// Whether two more levels bring the sine to the sawtooth, up to the fifth power of the angle.
    pub arcsine: bool,
    /// The most Galois keys that each map may need, if that matters more than time. Half as many more for
    /// the first map back of fewer than n/2 slots: it joins two halves, and has twice as many products.
    pub max_keys: Option<usize>,
    /// Non-zero coefficients of the ephemeral secret; of several parties, of the part of each.
    pub ephemeral_weight: u32,
    /// How many parties hold the key together; 1 for a key of one party. The ephemeral secret is then a sum of one from
    /// each party, so the integers that the sine removes are larger ([`Self::with_parties`]).
    pub parties: u32,
    /// Special primes of the key to the ephemeral secret.
    pub ephemeral_special: usize,
    /// Sizes in bits of the special primes.
    pub special_prime_bits: Vec<u32>,
    /// Number of digits of a key switch.
    pub digits: usize,
    /// The security that the set claims.
    pub assurance: Assurance,
}

/// The sizes of primes.
pub(super) const LEAST_BITS: u32 = 25;
pub(super) const MOST_BITS: u32 = 50;

impl RefreshSpec {
    /// The number of levels of the sine: the square of its argument, the polynomial, the doublings
    /// and the arcsine.
    pub fn sine_depth(&self) -> usize {
        let polynomial = (self.degree + 1).next_power_of_two().ilog2() as usize;
        1 + polynomial + self.doublings as usize + if self.arcsine { 2 } else { 0 }
    }

    /// Refuses what cannot work, before any work.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_shape()?;
        let scales = self.sine_depth() + 1;
        let exactly = Limits::between(scales, scales).with("one more than the levels of the sine");
        exactly.check("the number of scales of the sine", self.sine_scale_bits.len())?;
        for &bits in &self.sine_scale_bits {
            Limits::between(LEAST_BITS, 150).check("the scale of a level of the sine in bits", bits)?;
        }
        let least = Limits::at_least(self.scale_bits).with("that of the caller's levels");
        least.check("the scale of the sine's result in bits", self.sine_scale_bits[scales - 1])?;
        if self.order == MapOrder::BackFirst {
            let most = Limits::at_most(self.scale_bits).with("that of the caller's levels, which are next");
            most.check("the scale of the sine's result in bits", self.sine_scale_bits[scales - 1])?;
        }
        for pair in self.sine_scale_bits.windows(2) {
            let least = Limits::at_least((pair[1] + LEAST_BITS).div_ceil(2)).with("or its level would drop no prime");
            least.check("the scale of a level of the sine in bits", pair[0])?;
        }
        Ok(())
    }

    /// What does not depend on the scales of the sine.
    pub(super) fn check_shape(&self) -> Result<()> {
        Limits::between(8, 1 << 17).check("the ring dimension", self.n)?;
        if !self.n.is_power_of_two() {
            return Err(Limits::only("a power of two").refuse("the ring dimension", self.n).into());
        }
        if self.slots == 0 || !(self.n / 2).is_multiple_of(self.slots) {
            return Err(Error::SlotCount { got: self.slots, most: self.n / 2 });
        }
        Limits::between(LEAST_BITS, MOST_BITS).check("the scale in bits", self.scale_bits)?;
        Limits::at_most(MOST_DEPTH).check("the number of rescalings", self.depth)?;
        Limits::between(4, MOST_WEIGHT.min(self.n / 2))
            .check("the weight of the ephemeral secret", self.ephemeral_weight as usize)?;
        Limits::between(4, 24).check("the gap of the message in bits", self.gap_bits)?;
        Limits::between(1, RlweParams::MAX_PARTIES).check("the number of parties", self.parties)?;
        // As many points as coefficients at least.
        let degree = Limits::between(1, (5 * self.most()).min(63)).with("for this weight of the ephemeral secret");
        degree.check("the degree of the sine's polynomial", self.degree)?;
        Limits::between(1, 8).check("the number of doublings", self.doublings)?;
        Limits::between(1, self.special_prime_bits.len())
            .check("the special primes of the key to the ephemeral secret", self.ephemeral_special)?;
        for bits in self.constant_bits {
            Limits::between(LEAST_BITS, 60).check("the scale of constants in bits", bits)?;
        }
        check_groups("the number of maps to slots", &self.to_slots)?;
        check_groups("the number of maps to coefficients", &self.to_coefficients)?;
        if self.order == MapOrder::BackFirst && self.is_joined() {
            let reason = "maps back at the beginning are for all n/2 slots: choose slots = n/2, or maps at the end";
            return Err(Error::NoParameters { reason: reason.into() });
        }
        let (maps, bits) = (self.to_slots.len(), self.to_slots.len() as u32 * self.constant_bits[0]);
        let most = Limits::at_most(split(bits).len()).with("as many as there are primes for their constants");
        Ok(most.check("the number of maps to slots", maps)?)
    }

    /// How many levels of the caller a refresh takes.
    pub fn input_levels(&self) -> usize {
        match self.order {
            MapOrder::BackLast => 0,
            MapOrder::BackFirst => self.to_coefficients.len(),
        }
    }

    /// An integer that the result of the sine is multiplied by, before its last rescaling: where slots
    /// hold the message then, it is what brings the share 2^−gap_bits of the modulus back to the whole.
    pub(super) fn gain(&self, factor: f64) -> f64 {
        match self.order {
            MapOrder::BackLast => 1.0,
            MapOrder::BackFirst => (f64::from(self.gap_bits).exp2() / factor).round().max(1.0),
        }
    }

    /// Whether one ciphertext holds both the real and the imaginary parts of the slots.
    pub(super) fn is_joined(&self) -> bool {
        self.slots < self.n / 2
    }

    /// The number of slots of the ciphertexts that the sine takes.
    pub(crate) fn sine_slots(&self) -> usize {
        if self.is_joined() { 2 * self.slots } else { self.slots }
    }

    /// The variance of a coefficient of I, nearly a Gaussian.
    pub(super) fn integer_variance(&self) -> f64 {
        (self.ephemeral_square() + 1.0) / 12.0
    }

    /// The sum of the squares of the ephemeral secret's coefficients, on average: the secrets of several parties are
    /// independent.
    pub(super) fn ephemeral_square(&self) -> f64 {
        f64::from(self.ephemeral_weight) * f64::from(self.parties)
    }

    /// The distribution of the main secret.
    pub(super) fn secret(&self) -> SecretDistribution {
        match self.parties {
            1 => SecretDistribution::Ternary,
            parties => SecretDistribution::Collective { parties },
        }
    }

    /// The deviation of a slot, made by `count` coefficients, from a rounding under the main secret, for a scale of 1.
    pub(super) fn rounding(&self, count: usize) -> f64 {
        (count as f64 / 12.0 * (1.0 + self.secret().total_variance(self.n))).sqrt()
    }

    /// n/2s: by what the sum over rotations that leaves 2s coefficients multiplies them.
    pub(super) fn sum_factor(&self) -> f64 {
        (self.n / (2 * self.slots)) as f64
    }

    /// |I| is at most this: |c_0 + c_1·s̃| ≤ (1 + h)·Q_B/2. For several parties the bound fails with probability 2^−128.
    pub(super) fn most(&self) -> i64 {
        integers::most(self.n, self.ephemeral_weight, self.parties)
    }

    /// The CKKS parameters with all levels.
    pub fn to_ckks(&self) -> CkksSpec {
        CkksSpec {
            n: self.n,
            scale_bits: self.scale_bits,
            depth: self.depth + self.input_levels(),
            base_prime_bits: split(self.scale_bits + self.gap_bits),
            special_prime_bits: self.special_prime_bits.clone(),
            digits: self.digits,
            secret: self.secret(),
            assurance: self.assurance.clone(),
            refresh_levels: self.levels(),
        }
    }

    /// From the lowest up, above those of the caller: slots to coefficients at the end, the sine,
    /// coefficients to slots.
    fn levels(&self) -> Vec<RefreshLevel> {
        let mut levels = match self.order {
            MapOrder::BackLast => self.lower_map(),
            MapOrder::BackFirst => Vec::new(),
        };
        // A product at scale Δ' that is rescaled to Δ: the primes between are Δ'²/Δ.
        let sine = self.sine_scale_bits.windows(2).rev().map(|pair| 2 * pair[0] - pair[1]);
        levels.extend(sine.map(|bits| RefreshLevel { prime_bits: split(bits), scale_bits: None }));
        levels.extend(self.upper_map());
        levels
    }

    /// The scale falls from the sine's to the caller's: each level drops the bits of its constants
    /// and its share of the difference.
    fn lower_map(&self) -> Vec<RefreshLevel> {
        let (count, constant) = (self.to_coefficients.len() as u32, self.constant_bits[1]);
        let fall = self.sine_scale_bits.last().copied().unwrap_or(0).saturating_sub(self.scale_bits);
        let share = |k: u32| fall * (k + 1) / count - fall * k / count;
        (0..count)
            .map(|k| RefreshLevel {
                prime_bits: split(constant + share(k)),
                scale_bits: Some(self.scale_bits + fall * (k + 1) / count),
            })
            .collect()
    }

    /// All levels together drop as many bits as their constants have: all but the lowest drop one prime,
    /// the lowest drops the rest, so that few primes are needed.
    fn upper_map(&self) -> Vec<RefreshLevel> {
        let (count, constant) = (self.to_slots.len() as u32, self.constant_bits[0]);
        let primes = split(count * constant);
        let last = (primes.len() as u32).saturating_sub(count.saturating_sub(1)).max(1);
        let mut scale = self.sine_scale_bits.first().copied().unwrap_or(0);
        let mut level = |prime_bits: Vec<u32>| {
            scale = scale + prime_bits.iter().sum::<u32>() - constant;
            RefreshLevel { prime_bits, scale_bits: Some(scale) }
        };
        let mut levels = vec![level(primes[..last as usize].to_vec())];
        levels.extend(primes[last as usize..].iter().map(|&bits| level(vec![bits])));
        levels
    }
}

/// More rescalings than any secure ring has primes for.
const MOST_DEPTH: usize = 200;

/// The most non-zero coefficients of an ephemeral secret.
const MOST_WEIGHT: usize = 1024;

/// Refuses no map, too many, and maps of more stages than any ring has.
fn check_groups(what: &'static str, groups: &[usize]) -> Result<()> {
    Limits::between(1, 8).check(what, groups.len())?;
    groups.iter().try_for_each(|&group| Ok(Limits::at_most(16).check("the stages that a map takes", group)?))
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
        sparse(n, n / 2)
    }

    /// All slots, with the maps back at the beginning.
    pub fn back_first(n: usize) -> RefreshSpec {
        let spec = RefreshSpec { order: MapOrder::BackFirst, constant_bits: [48, 40], ..toy(n) };
        spec.with_sine_precision(28.0).unwrap().with_few_primes()
    }

    /// The same with fewer slots.
    pub fn sparse(n: usize, slots: usize) -> RefreshSpec {
        let stages = slots.ilog2() as usize;
        let thirds: Vec<usize> = (0..3).map(|k| stages * (k + 1) / 3 - stages * k / 3).collect();
        let spec = RefreshSpec {
            n,
            slots,
            to_slots: thirds.clone(),
            to_coefficients: thirds,
            ephemeral_weight: 32.min(n as u32 / 4),
            ..RefreshSpec::preset("insecure_toy_refresh_1024").unwrap()
        };
        spec.with_sine_precision(28.0).unwrap()
    }
}
