//! CKKS parameters: a power-of-two ring, a chain of primes, and the scale of every level.

use std::sync::{Arc, OnceLock};

use windlass_ring::kernels::Isa;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::{Assurance, Context, Limits, Number, ParamsId, Registry, RlweParams, RlweSpec, SecretDistribution};

use super::embedding::Embedding;
use super::error_model::ErrorModel;
use crate::error::{Error, Result};

/// What determines a CKKS parameter set.
#[derive(Debug, Clone, PartialEq)]
pub struct CkksSpec {
    /// Ring dimension n, a power of two; there are up to n/2 slots.
    pub n: usize,
    /// log2 of the scale Δ: 25 to 50.
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
}

/// Scales are the size of primes.
const SCALE_BITS: Limits =
    Limits { least: Some(Number::Natural(25)), most: Some(Number::Natural(50)), note: "the sizes of primes" };

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
        SCALE_BITS.check("the scale in bits", scale_bits)?;
        Limits::at_most(MAX_DEPTH).check("the number of rescalings", depth)?;
        Limits::at_most(MAX_VALUE_BITS).check("the size of values in bits", value_bits)?;
        Limits::between(1, 1 << (LOG_DIMENSIONS.end() - 1)).check("the number of slots", slots)?;
        let base = scale_bits + value_bits + 1;
        let base_prime_bits = vec![base.div_ceil(base.div_ceil(50)).max(25); base.div_ceil(50) as usize];
        let primes = depth + base_prime_bits.len();
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
                    special_prime_bits: special_for(&base_prime_bits, scale_bits, primes.div_ceil(digits)),
                    digits,
                    secret: SecretDistribution::Ternary,
                    assurance: Assurance::Secure,
                };
                match RlweParams::new(&spec.to_rlwe()) {
                    Ok(_) => return Ok(spec),
                    Err(error) => reason = error.to_string(),
                }
            }
        }
        reason += "; ask for less depth, fewer slots, a smaller scale or smaller values";
        Err(Error::NoParameters { reason })
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
        SCALE_BITS.check("the scale in bits", self.scale_bits)?;
        Limits::at_most(MAX_DEPTH).check("the number of rescalings", self.depth)?;
        let base: u64 = self.base_prime_bits.iter().copied().map(u64::from).sum();
        let limits = Limits::at_least(self.scale_bits + 2).with("two more than the scale's");
        Ok(limits.check("the size of the base primes in bits", base)?)
    }

    /// The parameters of the layer below.
    pub fn to_rlwe(&self) -> RlweSpec {
        let mut q_prime_bits = self.base_prime_bits.clone();
        q_prime_bits.extend(std::iter::repeat_n(self.scale_bits, self.depth));
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

/// Special primes whose product exceeds any digit of `group` primes by ten bits.
fn special_for(base: &[u32], scale_bits: u32, group: usize) -> Vec<u32> {
    let digit: u32 = base.iter().copied().chain(std::iter::repeat(scale_bits)).take(group).sum::<u32>();
    let needed = (digit + 10).max(scale_bits * group as u32 + 10);
    let count = needed.div_ceil(50);
    vec![needed.div_ceil(count).clamp(25, 50); count as usize]
}

/// The data that all CKKS keys, plaintexts and ciphertexts of one parameter set share.
///
/// *Level* l is the number of primes. Every level has one scale: Δ_B = 2^scale_bits at the lowest
/// level B, and `Δ_l = √(Δ_{l−1}·q_l)` above, where a rescaling from level l drops q_l. A product
/// of two ciphertexts at level l has scale Δ_l², and after its rescaling exactly Δ_{l−1}. So scales
/// never have to be compared. The recursion contracts: all Δ_l stay near the q_l.
#[derive(Debug)]
pub struct CkksContext {
    rlwe: Arc<Context>,
    spec: CkksSpec,
    /// Δ_B, .., Δ_L.
    scales: Vec<f64>,
    embedding: Embedding,
    errors: ErrorModel,
    imaginary: OnceLock<Poly<Eval>>,
}

/// The contexts in use: the primes and the last two fix the scale of every level.
static CONTEXTS: Registry<(ParamsId, Isa, u32, usize), CkksContext> = Registry::new();

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
        spec.check()?;
        let rlwe = Context::with_isa(RlweParams::new(&spec.to_rlwe())?, isa)?;
        let key = (rlwe.params().id(), isa, spec.scale_bits, spec.base_prime_bits.len());
        CONTEXTS.get_or_build(key, || Self::build(rlwe, spec))
    }

    fn build(rlwe: Arc<Context>, spec: &CkksSpec) -> Result<Self> {
        let mut scales = vec![(spec.scale_bits as f64).exp2()];
        for level in spec.base_prime_bits.len()..rlwe.top_level() {
            let prime = rlwe.ring().modulus(level).value() as f64;
            scales.push((scales[scales.len() - 1] * prime).sqrt());
        }
        let errors = ErrorModel::new(rlwe.params());
        let embedding = Embedding::new(spec.n);
        Ok(Self { rlwe, spec: spec.clone(), scales, embedding, errors, imaginary: OnceLock::new() })
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

    /// The level of a fresh ciphertext.
    pub fn top_level(&self) -> usize {
        self.rlwe.top_level()
    }

    /// The level at which nothing can be rescaled any more.
    pub fn base_level(&self) -> usize {
        self.spec.base_prime_bits.len()
    }

    /// The levels that a ciphertext can have.
    pub(crate) fn levels(&self) -> Limits {
        Limits::between(self.base_level(), self.top_level())
    }

    /// Δ_level, B ≤ level ≤ L. Panics outside.
    pub fn scale(&self, level: usize) -> f64 {
        self.scales[level - self.base_level()]
    }

    /// The deviation of a slot of a fresh encryption at a level, of the slots that `count`
    /// coefficients make: files of ciphertexts state no less, and publication hides no less.
    #[doc(hidden)]
    pub fn fresh_deviation(&self, level: usize, count: usize) -> f64 {
        self.errors.fresh_secret(count) / self.scale(level)
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
        let basis = self.rlwe.base_qp(self.top_level());
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
