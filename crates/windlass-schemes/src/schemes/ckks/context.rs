//! CKKS parameters: a power-of-two ring, a chain of primes, and the scale of every level.

use std::sync::{Arc, OnceLock};

use windlass_ring::kernels::Isa;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::{
    Assurance, Context, KeySizes, Limits, Number, ParamsId, Registry, RlweError, RlweParams, RlweSpec,
    SecretDistribution,
};

use super::embedding::Embedding;
use super::error_model::ErrorModel;
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
    fn top_level(&self) -> usize {
        self.base_prime_bits.len() + self.depth * split_bits(self.scale_bits).len()
    }

    /// The parameters of the layer below, validated: those of every context of this specification.
    /// Levels of a refresh drop primes of different sizes. Digits of key switches are then made by
    /// size, which [`Self::to_rlwe`] cannot say.
    ///
    /// # Errors
    /// As [`CkksContext::new`].
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

/// The data that all CKKS keys, plaintexts and ciphertexts of one parameter set share.
///
/// *Level* l is the number of primes. Every level has one scale: Δ_B = 2^scale_bits at the lowest
/// level B, and `Δ_l = √(Δ_{l−1}·q_l)` above, where a rescaling from level l drops q_l, the product of one
/// to three primes. A product
/// of two ciphertexts at level l has scale Δ_l², and after its rescaling exactly Δ_{l−1}. So scales
/// never have to be compared. The recursion contracts: all Δ_l stay near the q_l.
///
/// Above the caller's levels there may be those of a refresh ([`RefreshLevel`]), where q_l is the
/// product of all primes that a rescaling drops. Constants at level l have the scale
/// `κ_l = Δ_{l−1}·q_l/Δ_l`, so that a product with one has exactly Δ_{l−1} after its rescaling. For
/// the levels of products κ_l = Δ_l; the others have any Δ_l that is stated for them.
#[derive(Debug)]
pub struct CkksContext {
    rlwe: Arc<Context>,
    spec: CkksSpec,
    /// From the base up.
    ladder: Vec<Rung>,
    embedding: Embedding,
    errors: ErrorModel,
    imaginary: OnceLock<Poly<Eval>>,
}

/// One level.
#[derive(Debug, Clone)]
struct Rung {
    /// The number of primes: the level by its name.
    level: usize,
    /// Δ_l.
    scale: f64,
    /// Δ_l to some 100 bits.
    wide_scale: Wide,
    /// The product of the primes that a rescaling drops; 1 at the base.
    dropped: Wide,
    /// Whether ciphertexts are multiplied by constants only.
    constants_only: bool,
}

/// What beside the primes fixes the scale of every level: the scale and the number of primes of the
/// base, the levels above and those of a refresh.
type Scaling = (u32, usize, usize, Vec<RefreshLevel>);

/// The contexts in use.
static CONTEXTS: Registry<(ParamsId, Isa, Scaling), CkksContext> = Registry::new();

impl CkksContext {
    /// Validates a specification and builds the transforms on the fastest instruction set; equal
    /// specifications share one context for as long as someone holds it.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for n, Δ or the base; [`Error::Rlwe`] if the layer below refuses the
    /// parameters, insecure sets among them.
    pub fn new(spec: &CkksSpec) -> Result<Arc<Self>> {
        Self::with_isa(spec, Isa::best())
    }

    /// As [`Self::new`], on a chosen instruction set.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_isa(spec: &CkksSpec, isa: Isa) -> Result<Arc<Self>> {
        let rlwe = Context::with_isa(spec.to_params()?, isa)?;
        let scaling = (spec.scale_bits, spec.base_prime_bits.len(), spec.depth, spec.refresh_levels.clone());
        CONTEXTS.get_or_build((rlwe.params().id(), isa, scaling), || Self::build(rlwe, spec))
    }

    fn build(rlwe: Arc<Context>, spec: &CkksSpec) -> Result<Self> {
        let ladder = ladder(spec, &|index| rlwe.ring().modulus(index).value() as f64);
        let errors = ErrorModel::new(rlwe.params());
        let embedding = Embedding::new(spec.n);
        Ok(Self { rlwe, spec: spec.clone(), ladder, embedding, errors, imaginary: OnceLock::new() })
    }

    /// The specification.
    pub fn spec(&self) -> &CkksSpec {
        &self.spec
    }

    /// The context of keys.
    pub fn rlwe(&self) -> &Arc<Context> {
        &self.rlwe
    }

    /// The most slots, n/2.
    pub fn most_slots(&self) -> usize {
        self.embedding.most_slots()
    }

    /// The level of a fresh ciphertext: the highest that callers use.
    pub fn top_level(&self) -> usize {
        self.spec.top_level()
    }

    /// The highest level of all: that of a raised ciphertext in a refresh.
    #[doc(hidden)]
    pub fn raised_level(&self) -> usize {
        self.rlwe.top_level()
    }

    /// The level at which nothing can be rescaled any more.
    pub fn base_level(&self) -> usize {
        self.spec.base_prime_bits.len()
    }

    /// The levels that a caller's ciphertext can have.
    pub(crate) fn levels(&self) -> Limits {
        Limits::between(self.base_level(), self.top_level())
    }

    /// # Errors
    /// [`Error::OutOfRange`] for a level that no ciphertext of a caller has.
    pub(crate) fn check_level_of_callers(&self, level: usize) -> Result<()> {
        self.levels().check("level", level)?;
        self.check_level(level)
    }

    /// # Errors
    /// [`Error::OutOfRange`] for a level that no ciphertext has.
    pub(crate) fn check_level(&self, level: usize) -> Result<()> {
        if self.is_level(level) {
            return Ok(());
        }
        self.levels().check("level", level)?;
        Err(Limits::only("a number of primes that rescalings leave").refuse("level", level).into())
    }

    /// Whether a ciphertext can have so many primes.
    #[doc(hidden)]
    pub fn is_level(&self, level: usize) -> bool {
        self.ladder.binary_search_by_key(&level, |rung| rung.level).is_ok()
    }

    /// How many rescalings a level is above the base. Panics for a number of primes that is not a
    /// level.
    pub(crate) fn depth_at(&self, level: usize) -> usize {
        self.ladder.binary_search_by_key(&level, |rung| rung.level).expect("ciphertexts have levels of the ladder")
    }

    fn rung(&self, level: usize) -> &Rung {
        &self.ladder[self.depth_at(level)]
    }

    /// The level after a rescaling; none at the base. Panics as [`Self::scale`].
    #[doc(hidden)]
    pub fn level_below(&self, level: usize) -> Option<usize> {
        self.depth_at(level).checked_sub(1).map(|below| self.ladder[below].level)
    }

    /// The next level above; none at the top. Panics as [`Self::scale`].
    #[doc(hidden)]
    pub fn level_above(&self, level: usize) -> Option<usize> {
        self.ladder.get(self.depth_at(level) + 1).map(|rung| rung.level)
    }

    /// Δ_level. Panics for a number of primes that is not a level.
    pub fn scale(&self, level: usize) -> f64 {
        self.rung(level).scale
    }

    /// As [`Self::scale`], to some 100 bits.
    pub(crate) fn wide_scale(&self, level: usize) -> Wide {
        self.rung(level).wide_scale
    }

    /// The product of the primes that a rescaling from a level drops. Panics as [`Self::scale`].
    pub(crate) fn dropped(&self, level: usize) -> Wide {
        self.rung(level).dropped
    }

    /// κ_level, the scale of constants. At the base, where a product cannot be rescaled, Δ_level.
    /// Panics as [`Self::scale`].
    #[doc(hidden)]
    pub fn constant_scale(&self, level: usize) -> f64 {
        match self.level_below(level) {
            Some(below) if self.rung(level).constants_only => {
                self.scale(below) * self.dropped(level).high() / self.scale(level)
            }
            _ => self.scale(level),
        }
    }

    /// As [`Self::constant_scale`], to some 100 bits.
    pub(crate) fn wide_constant_scale(&self, level: usize) -> Wide {
        match self.level_below(level) {
            Some(below) if self.rung(level).constants_only => {
                self.wide_scale(below) * self.dropped(level) / self.wide_scale(level)
            }
            _ => self.wide_scale(level),
        }
    }

    /// As [`Self::scale_of`], to some 100 bits.
    pub(crate) fn wide_scale_of(&self, level: usize, degree: i32) -> Wide {
        match degree {
            1 => self.wide_scale(level),
            _ => self.wide_scale(level) * self.wide_constant_scale(level),
        }
    }

    /// The factor between message and phase, of a degree at a level: Δ, or Δ·κ for an unscaled
    /// product. Panics as [`Self::scale`].
    #[doc(hidden)]
    pub fn scale_of(&self, level: usize, degree: i32) -> f64 {
        match degree {
            1 => self.scale(level),
            _ => self.scale(level) * self.constant_scale(level),
        }
    }

    /// The highest level, at or below one, at which ciphertexts are multiplied by each other.
    pub(crate) fn product_level(&self, level: usize) -> usize {
        let at = self.depth_at(level);
        let usable = self.ladder[..=at].iter().rev().find(|rung| !rung.constants_only);
        usable.map_or(self.base_level(), |rung| rung.level)
    }

    /// The deviation of a slot of a fresh encryption at a level, of the slots that `count`
    /// coefficients make: files of ciphertexts state no less, and publication hides no less.
    #[doc(hidden)]
    pub fn fresh_deviation(&self, level: usize, count: usize) -> f64 {
        self.errors.fresh_secret(count) / self.scale(level)
    }

    /// The deviation of a slot that a rescaling to a level leaves, by its rounding.
    #[doc(hidden)]
    pub fn rescaling_deviation(&self, level: usize, slots: usize) -> f64 {
        self.errors.rounding(2 * slots) / self.scale(level)
    }

    /// The deviation of a slot that a key switch at a level leaves, relative to a scale of 1.
    #[doc(hidden)]
    pub fn switching_deviation(&self, level: usize, slots: usize) -> f64 {
        self.errors.inner_product(level, 2 * slots).hypot(self.errors.rounding(2 * slots))
    }

    /// The automorphism that moves slot j + amount to slot j: 5^amount modulo 2n.
    pub fn rotation_element(&self, amount: i64) -> u64 {
        let exponent = amount.rem_euclid(self.most_slots() as i64) as u64;
        windlass_ring::kernels::arith::pow_mod(5, exponent, 2 * self.spec.n as u64)
    }

    /// The automorphism that conjugates every slot: −1 modulo 2n.
    pub fn conjugation_element(&self) -> u64 {
        2 * self.spec.n as u64 - 1
    }

    /// exp(2πi·exponent/order), order a power of two of at most 2n.
    #[doc(hidden)]
    pub fn root_of_unity(&self, exponent: usize, order: usize) -> num_complex::Complex64 {
        self.embedding.root(exponent % order, order)
    }

    pub(crate) fn embedding(&self) -> &Embedding {
        &self.embedding
    }

    pub(crate) fn errors(&self) -> &ErrorModel {
        &self.errors
    }

    /// X^{n/2}, which is i in every slot, over all primes.
    pub(crate) fn imaginary(&self) -> &Poly<Eval> {
        if let Some(made) = self.imaginary.get() {
            return made;
        }
        let mut monomial = vec![0; self.spec.n];
        monomial[self.spec.n / 2] = 1;
        let basis = self.rlwe.base_qp(self.raised_level());
        // Made outside of the lock: a thread that transforms rows may take up a task that comes
        // here.
        let made = Poly::from_signed(self.rlwe.ring(), &basis, &monomial).into_eval();
        self.imaginary.get_or_init(|| made)
    }

    #[doc(hidden)]
    pub fn check_slots(&self, count: usize) -> Result<()> {
        let most = self.most_slots();
        if count == 0 || !most.is_multiple_of(count) {
            return Err(Error::SlotCount { got: count, most });
        }
        Ok(())
    }
}

/// All levels with their scales, for primes of given values.
fn ladder(spec: &CkksSpec, prime: &dyn Fn(usize) -> f64) -> Vec<Rung> {
    let mut level = spec.base_prime_bits.len();
    let scale = (spec.scale_bits as f64).exp2();
    let base = Rung { level, scale, wide_scale: scale.into(), dropped: Wide::ONE, constants_only: false };
    let mut ladder = vec![base];
    let own = std::iter::repeat_n((spec.dropped_prime_bits().len(), None), spec.depth);
    let above = spec.refresh_levels.iter().map(|level| (level.prime_bits.len(), level.scale_bits));
    for (primes, stated) in own.chain(above) {
        let below = &ladder[ladder.len() - 1];
        let dropped = (level..level + primes).map(|index| Wide::from(prime(index))).fold(Wide::ONE, |x, q| x * q);
        level += primes;
        let stated = stated.map(|bits| (bits as f64).exp2());
        // Files compare the doubles, which are those of the recursion in doubles.
        let scale = stated.unwrap_or_else(|| (below.scale * dropped.high()).sqrt());
        let wide_scale = stated.map_or_else(|| (below.wide_scale * dropped).sqrt(), Wide::from);
        ladder.push(Rung { level, scale, wide_scale, dropped, constants_only: stated.is_some() });
    }
    ladder
}
