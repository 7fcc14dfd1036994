//! CKKS parameters: a power-of-two ring, a chain of primes, and the scale of every level.

use std::sync::{Arc, OnceLock};

use windlass_ring::kernels::Isa;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::{Context, Limits, ParamsId, Registry};

use super::embedding::Embedding;
use super::error_model::ErrorModel;
use super::spec::{CkksSpec, RefreshLevel};
use super::wide::Wide;
use crate::error::{Error, Result};

/// The data that all CKKS keys, plaintexts and ciphertexts of one parameter set share.
///
/// *Level* l is the number of primes. Every level has one scale: Δ_B = 2^scale_bits at the lowest
/// level B, and `Δ_l = √(Δ_{l−1}·q_l)` above, where a rescaling from level l drops q_l, the product of one
/// to three primes. A product of two ciphertexts at level l has scale Δ_l², and after its rescaling exactly
/// Δ_{l−1}. So scales never have to be compared. The recursion contracts: all Δ_l stay near the q_l.
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
    dropped: f64,
    /// The same to some 100 bits.
    wide_dropped: Wide,
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
    pub(crate) fn wide_dropped(&self, level: usize) -> Wide {
        self.rung(level).wide_dropped
    }

    /// κ_level, the scale of constants. At the base, where a product cannot be rescaled, Δ_level.
    /// Panics as [`Self::scale`].
    #[doc(hidden)]
    pub fn constant_scale(&self, level: usize) -> f64 {
        match self.level_below(level) {
            Some(below) if self.rung(level).constants_only => {
                self.scale(below) * self.rung(level).dropped / self.scale(level)
            }
            _ => self.scale(level),
        }
    }

    /// As [`Self::constant_scale`], to some 100 bits.
    pub(crate) fn wide_constant_scale(&self, level: usize) -> Wide {
        match self.level_below(level) {
            Some(below) if self.rung(level).constants_only => {
                self.wide_scale(below) * self.wide_dropped(level) / self.wide_scale(level)
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

    /// The bound on the error of a fresh encryption at a level: no ciphertext has less.
    pub(crate) fn fresh_bound(&self, level: usize) -> f64 {
        self.fresh_deviation(level, self.spec.n) * ErrorModel::BOUND_FACTOR
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
    let base =
        Rung { level, scale, wide_scale: scale.into(), dropped: 1.0, wide_dropped: Wide::ONE, constants_only: false };
    let mut ladder = vec![base];
    let own = std::iter::repeat_n((spec.dropped_prime_bits().len(), None), spec.depth);
    let above = spec.refresh_levels.iter().map(|level| (level.prime_bits.len(), level.scale_bits));
    for (primes, stated) in own.chain(above) {
        let below = &ladder[ladder.len() - 1];
        let primes_of_level = (level..level + primes).map(prime);
        let wide_dropped = primes_of_level.clone().fold(Wide::ONE, |product, q| product * Wide::from(q));
        let dropped: f64 = primes_of_level.product();
        level += primes;
        let stated = stated.map(|bits| (bits as f64).exp2());
        // Files compare the doubles, which are those of the recursion in doubles.
        let scale = stated.unwrap_or_else(|| (below.scale * dropped).sqrt());
        let wide_scale = stated.map_or_else(|| (below.wide_scale * wide_dropped).sqrt(), Wide::from);
        ladder.push(Rung { level, scale, wide_scale, dropped, wide_dropped, constants_only: stated.is_some() });
    }
    ladder
}
