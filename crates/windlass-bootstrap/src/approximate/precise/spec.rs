//! What a refresh of several passes is made of.

use windlass_rlwe::{Assurance, Limits, RlweParams};
use windlass_schemes::error::{BootstrapError, Result};
use windlass_schemes::schemes::ckks::CkksSpec;

use crate::approximate::{Floor, MapOrder, PassChain, PhaseFactor, RefreshSpec, rounding};

/// The parameters of a refresh of several passes.
#[derive(Debug, Clone, PartialEq)]
pub struct PreciseRefreshSpec {
    /// J: how often a refresh runs.
    pub passes: usize,
    /// p: log2 of each of the J − 1 primes by which the scale of ciphertexts is larger than that of a pass,
    /// and so of what a pass gains.
    pub pass_bits: u32,
    /// log2 of the scale Δ of ciphertexts: that of a pass with all these primes, or less. If it is less, the
    /// first pass gains fewer bits.
    pub scale_bits: u32,
    /// The number of rescalings that a refreshed ciphertext has room for.
    pub depth: usize,
    /// The refresh of a pass: of all n/2 slots, with the maps back at its end and no levels of its own (`depth`
    /// 0). A pass for fewer slots reads their coefficients alone, and later passes would not correct what it
    /// adds to the others.
    pub refresh: RefreshSpec,
}

/// The sizes of primes that a pass may add. From 29 bits on a pass has errors that its plan counts too low by
/// a bit or so (`docs/design/0036-more-bits-than-one-pass.md`).
pub(super) const PASS_BITS: std::ops::RangeInclusive<u32> = 25..=28;

/// More passes than [`windlass_schemes::schemes::ckks::Wide`] numbers have bits for.
pub(super) const MOST_PASSES: usize = 4;

/// More rescalings than any secure ring has primes for.
const MOST_DEPTH: usize = 200;

/// The bits by which Q_B is larger than the largest coefficient of a pass.
const GAP_BITS: u32 = 10;

/// The bits by which the scale of a pass is larger than what it gains, beside the roundings that it begins
/// with.
const ROOM_BITS: f64 = 5.0;

impl PreciseRefreshSpec {
    /// Parameters for the ring of dimension n and all of its slots, with so many passes of so many bits each and
    /// `depth` rescalings after them. The chain follows from these; special primes and digits are those of
    /// the fewest digits for `assurance` and are found by [`super::PreciseRefreshPlan::of_shape`].
    ///
    /// # Errors
    /// [`windlass_schemes::Error::OutOfRange`] for numbers that no refresh has.
    pub fn new(n: usize, (passes, pass_bits): (usize, u32), depth: usize, assurance: Assurance) -> Result<Self> {
        Self::with_finer_sine(n, (passes, pass_bits), depth, assurance, (0, 1))
    }

    /// The same passes for a key that so many parties hold together, of a specification for one party. Special primes and
    /// digits are found by [`super::PreciseRefreshPlan::of_shape`].
    ///
    /// **Warning.** Kept are n, the passes, their bits, the depth and the assurance. The refresh of a pass and the scale
    /// are those of [`Self::new`]: a lowered [`Self::scale_bits`], a sine that a planner made finer, and other choices in
    /// [`Self::refresh`] are lost. Plan for the parties instead ([`super::PreciseRefreshRequirements::parties`]).
    ///
    /// # Errors
    /// As [`Self::new`]; [`windlass_schemes::Error::OutOfRange`] for a number of parties that no key has, and if this
    /// specification is for several parties already.
    pub fn with_parties(&self, parties: u32) -> Result<Self> {
        let own = Limits::between(1, 1).with("to begin with a key of one party");
        own.check("the number of parties", self.refresh.parties)?;
        Limits::between(2, RlweParams::MAX_PARTIES).check("the number of parties", parties)?;
        let Self { passes, pass_bits, depth, refresh, .. } = self;
        Self::with_finer_sine(refresh.n, (*passes, *pass_bits), *depth, refresh.assurance.clone(), (0, parties))
    }

    /// As [`Self::new`] with a sine that is exact to some bits more, for so many parties.
    ///
    /// # Errors
    /// As there.
    pub(super) fn with_finer_sine(
        n: usize,
        (passes, pass_bits): (usize, u32),
        depth: usize,
        assurance: Assurance,
        (finer, parties): (u32, u32),
    ) -> Result<Self> {
        let dimension = Limits::between(1 << 4, 1 << 17).with("a power of two");
        dimension.check("the ring dimension", n)?;
        if !n.is_power_of_two() {
            return Err(dimension.refuse("the ring dimension", n).into());
        }
        check_counts((passes, pass_bits), depth)?;
        let scale_bits = (f64::from(pass_bits) + ROOM_BITS + rounding(n, parties).log2()).ceil() as u32;
        let chain = PassChain {
            n,
            scale_bits,
            gap_bits: GAP_BITS,
            gained: f64::from(pass_bits + finer),
            larger_constants: 0.0,
            assurance,
            parties,
        };
        let refresh = chain.refresh()?;
        // Primes are a little below powers of two: with one bit less, numbers of absolute value 1 fit for certain.
        let room = u32::from(passes > 1);
        let scale_bits = scale_bits + (passes as u32 - 1) * pass_bits - room;
        Ok(Self { passes, pass_bits, scale_bits, depth, refresh })
    }

    /// Refuses specifications that no plan has.
    pub(super) fn check(&self) -> Result<()> {
        check_counts((self.passes, self.pass_bits), self.depth)?;
        self.refresh.check()?;
        let most = self.refresh.scale_bits + self.added_bits();
        Limits::between(self.refresh.scale_bits, most).check("the scale in bits", self.scale_bits)?;
        let is_whole = self.refresh.slots == self.refresh.n / 2;
        if is_whole && self.refresh.order == MapOrder::BackLast && self.refresh.depth == 0 {
            return Ok(());
        }
        let what = "the refresh of a pass must have n/2 slots, maps back at its end and depth 0".into();
        Err(BootstrapError::Unsupported { what }.into())
    }

    /// log2 of all primes that the scale of ciphertexts may have more than that of a pass.
    fn added_bits(&self) -> u32 {
        (self.passes as u32 - 1) * self.pass_bits
    }

    /// The parameters of ciphertexts: their base is that of a pass with the primes of all passes.
    pub(super) fn to_ckks(&self) -> CkksSpec {
        let pass = self.refresh.to_ckks();
        let mut base_prime_bits = pass.base_prime_bits;
        base_prime_bits.extend(std::iter::repeat_n(self.pass_bits, self.passes - 1));
        CkksSpec {
            n: self.refresh.n,
            scale_bits: self.scale_bits,
            depth: self.depth,
            base_prime_bits,
            special_prime_bits: pass.special_prime_bits,
            digits: pass.digits,
            secret: self.refresh.secret(),
            assurance: pass.assurance,
            refresh_levels: pass.refresh_levels,
        }
    }

    /// The levels of ciphertexts as those below the levels of a pass.
    pub(super) fn floor(&self, factor: f64) -> Floor {
        let mut levels = vec![vec![self.pass_bits]; self.passes - 1];
        levels.extend(std::iter::repeat_n(self.to_ckks().dropped_prime_bits(), self.depth));
        Floor { levels, factor: PhaseFactor::Number(factor) }
    }

    /// log2 Q.
    pub(super) fn chain_bits(&self) -> u32 {
        let chain = self.to_ckks();
        let levels: u32 = chain.refresh_levels.iter().flat_map(|level| &level.prime_bits).sum();
        chain.base_prime_bits.iter().sum::<u32>() + levels + self.scale_bits * self.depth as u32
    }
}

fn check_counts((passes, pass_bits): (usize, u32), depth: usize) -> Result<()> {
    Limits::at_most(MOST_DEPTH)
        .with("more than any secure ring has primes for")
        .check("the number of rescalings", depth)?;
    Limits::between(1, MOST_PASSES).check("the number of passes", passes)?;
    Ok(Limits::between(*PASS_BITS.start(), *PASS_BITS.end()).check("the bits of a pass", pass_bits)?)
}
