//! The one key switch: relinearisation, automorphisms, anything that changes the key of a
//! ciphertext.
//!
//! Hybrid key switching (Han–Ki 2020) in its three reusable parts: *decompose-and-extend* of one
//! polynomial ([`Digits`], shared by hoisting, Halevi–Shoup 2018 §5), *inner product* with a
//! [`SwitchingKey`] in base Q_l·P_l, and *mod-down* ([`windlass_ring::Poly::divide_rounded`]);
//! [`switch`] does all three row by row. Errors are plain (not multiples of a plaintext modulus): a
//! phase is switched up to a small additive error, so one key serves BGV, BFV and CKKS. A BGV phase
//! m + t·e is switched as t·switch(t^{-1}·c): both scalings ride on constants that are multiplied
//! anyway.

use std::sync::Arc;

use rand_core::RngCore;
use rayon::prelude::*;
use windlass_ring::gadget::{self, Decomposition, Moved, Product};
use windlass_ring::kernels::{Automorphism, Modulus, rows};
use windlass_ring::{Basis, Eval, Poly, sample};
use zeroize::Zeroizing;

use crate::context::Context;
use crate::error::RlweError;
use crate::key_id::KeyId;
use crate::keys::{SecretKey, SecretPoly};
use crate::secret_rng::SecretRng;

pub use windlass_ring::gadget::Weights;
pub use windlass_ring::rns::Epilogue;

/// A key that switches ciphertext components from a secret s' to a secret s at every level up to
/// its own.
///
/// Row k: (b_k, a_k) over the primes of all levels up to its own and those of P, with
/// b_k = −a_k·s + e_k + P·g_k·s', g_k the gadget vector (≡ 1 modulo group k, ≡ 0 modulo the
/// others). `a` is expanded from a 32-byte seed, stream k: only b is stored on disk.
#[derive(Debug, Clone)]
pub struct SwitchingKey {
    id: KeyId,
    level: usize,
    seed: [u8; 32],
    b: Vec<Poly<Eval>>,
    a: Vec<Poly<Eval>>,
}

impl SwitchingKey {
    /// The key from `source` to `target` (values over all primes), both made of the secret key
    /// `of`, usable up to `level`.
    pub(crate) fn generate(
        of: &SecretKey,
        source: &Poly<Eval>,
        target: &Poly<Eval>,
        level: usize,
        rng: &mut impl RngCore,
    ) -> Self {
        let context = &**of.context();
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let groups = &context.gadget().groups()[..Self::digits(context, level)];
        let (ring, special) = (context.ring(), context.special());
        let errors: Vec<_> = groups.iter().map(|_| SecretRng::fork(rng)).collect();
        let errors: Vec<Zeroizing<Vec<i64>>> =
            errors.into_par_iter().map(|mut rng| sample::error(ring.shape(), context.gaussian(), &mut rng)).collect();
        Self::filled(context, of.key_id(), level, seed, groups.len(), |k, index, q, [b, a]| {
            sample::uniform_row(index, q, &seed, k as u32, a);
            ring.evaluate_signed(index, &errors[k], b);
            rows::neg_assign(ring.isa(), q, b);
            rows::mul_add_assign(ring.isa(), q, b, a, target.row_of(index));
            rows::neg_assign(ring.isa(), q, b);
            // P·s' modulo the primes of the group, nothing elsewhere.
            if groups[k].row_of(index).is_some() {
                rows::mul_scalar_add_assign(ring.isa(), q, b, source.row_of(index), ring.product(special, q));
            }
        })
    }

    /// A key whose pairs of rows `fill(digit, index, q, [b, a])` writes. They lie in memory as an
    /// inner product reads them: prime by prime.
    fn filled(
        context: &Context,
        id: KeyId,
        level: usize,
        seed: [u8; 32],
        digits: usize,
        fill: impl Fn(usize, usize, Modulus, [&mut [u64]; 2]) + Sync,
    ) -> Self {
        let qp = context.covering_basis(level);
        let pairs = Poly::filled_batch(context.ring(), &qp, 2 * digits, |index, q, rows| {
            rows.chunks_exact_mut(2).enumerate().for_each(|(k, pair)| {
                let [b, a] = pair else { unreachable!("chunks of two") };
                fill(k, index, q, [b, a]);
            });
        });
        Self::of_pairs(id, level, seed, pairs)
    }

    fn of_pairs(id: KeyId, level: usize, seed: [u8; 32], pairs: Vec<Poly<Eval>>) -> Self {
        let (mut b, mut a) = (Vec::with_capacity(pairs.len() / 2), Vec::with_capacity(pairs.len() / 2));
        let mut pairs = pairs.into_iter();
        while let (Some(x), Some(y)) = (pairs.next(), pairs.next()) {
            b.push(x);
            a.push(y);
        }
        Self { id, level, seed, b, a }
    }

    /// The number of digits of keys for `level`: of pairs (b_k, a_k), one for each group of primes
    /// up to the last that a level up to this one has a prime of.
    pub fn digits(context: &Context, level: usize) -> usize {
        let covering = context.levels().covering(level);
        context.gadget().skipped(covering) + context.gadget().active(covering).len()
    }

    /// A key of the pair `id` from its halves b_0, a_0, b_1, a_1, .. in their memory layout, as a file of
    /// ready keys holds them. **Warning.** It is not checked that the a halves come from the seed.
    ///
    /// # Errors
    /// As [`Self::from_parts`].
    pub fn from_pairs(
        context: &Context,
        id: KeyId,
        level: usize,
        seed: [u8; 32],
        pairs: Vec<Poly<Eval>>,
    ) -> Result<Self, RlweError> {
        Self::check_halves(context, level, 2, &pairs)?;
        Ok(Self::of_pairs(id, level, seed, pairs))
    }

    /// # Errors
    /// [`RlweError::BadKey`] unless there are `each` polynomials of the level for each digit.
    fn check_halves(context: &Context, level: usize, each: usize, halves: &[Poly<Eval>]) -> Result<(), RlweError> {
        let bad = Err(RlweError::BadKey { what: "switching key" });
        if level == 0 || level > context.top_level() {
            return bad;
        }
        let qp = context.covering_basis(level);
        let fits = |poly: &Poly<Eval>| Arc::ptr_eq(poly.ring(), context.ring()) && poly.basis() == &qp;
        let complete = halves.len() == each * Self::digits(context, level) && halves.iter().all(fits);
        if complete { Ok(()) } else { bad }
    }

    /// Rebuilds a key of the pair `id` from its seed and its b halves.
    ///
    /// # Errors
    /// [`RlweError::BadKey`] if the halves do not fit the context and level.
    pub fn from_parts(
        context: &Context,
        id: KeyId,
        level: usize,
        seed: [u8; 32],
        b: Vec<Poly<Eval>>,
    ) -> Result<Self, RlweError> {
        Self::check_halves(context, level, 1, &b)?;
        Ok(Self::filled(context, id, level, seed, b.len(), |k, index, q, [low, high]| {
            low.copy_from_slice(b[k].row_of(index));
            sample::uniform_row(index, q, &seed, k as u32, high);
        }))
    }

    pub(crate) fn check_context(&self, context: &Context) -> Result<(), RlweError> {
        let ours = self.b.iter().all(|poly| Arc::ptr_eq(poly.ring(), context.ring()));
        if ours { Ok(()) } else { Err(RlweError::BadKey { what: "switching key" }) }
    }

    /// The name of the key pair.
    pub fn key_id(&self) -> KeyId {
        self.id
    }

    /// The highest level the key can be used at.
    pub fn level(&self) -> usize {
        self.level
    }

    /// The seed of the uniform halves.
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// The b halves, `[digits]`, each over [`Context::covering_basis`].
    pub fn b(&self) -> &[Poly<Eval>] {
        &self.b
    }

    /// All halves b_0, a_0, b_1, a_1, .., as they lie in memory.
    pub fn pairs(&self) -> impl Iterator<Item = &Poly<Eval>> {
        self.b.iter().zip(&self.a).flat_map(|(b, a)| [b, a])
    }

    /// The halves for the digits of a polynomial that begin after so many groups.
    fn halves(&self, skipped: usize) -> [&[Poly<Eval>]; 2] {
        [&self.b[skipped..], &self.a[skipped..]]
    }

    /// # Errors
    /// [`RlweError::KeyLevelTooLow`] unless the key has all primes of this basis, that of level `needed`.
    fn check_level(&self, needed: usize, basis: &Basis) -> Result<(), RlweError> {
        if self.level >= needed || self.b.first().is_some_and(|half| basis.without(half.basis()).is_empty()) {
            return Ok(());
        }
        Err(RlweError::KeyLevelTooLow { key: self.level, needed })
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.b.iter().chain(&self.a).map(|poly| poly.bytes()).sum()
    }
}

/// What an automorphism takes: its key, and how it moves values.
pub type KeyedAutomorphism<'a> = (&'a SwitchingKey, Arc<Automorphism>);

/// A polynomial after decompose-and-extend: its gadget digits over Q_l·P_l.
#[derive(Debug, Clone)]
pub struct Digits {
    level: usize,
    /// The groups before that of the first digit.
    skipped: usize,
    digits: Vec<Poly<Eval>>,
}

impl Digits {
    /// Decompose-and-extend of `(multiplier·P/P_l)^{-1}·x`, x over Q_l. The expensive part of a key
    /// switch.
    pub fn new(context: &Context, x: &Poly<Eval>, multiplier: u64) -> Self {
        let skipped = context.gadget().skipped(x.basis());
        Self { level: level_of(context, x), skipped, digits: decomposition(context, x, multiplier).digits() }
    }

    /// The level of the polynomial that was decomposed.
    pub fn level(&self) -> usize {
        self.level
    }

    fn check_key(&self, key: &SwitchingKey) -> Result<(), RlweError> {
        key.check_level(self.level, self.digits[0].basis())
    }

    /// The inner product with a key: (Σ digit_k·b_k, Σ digit_k·a_k) over Q_l·P_l.
    ///
    /// # Errors
    /// [`RlweError::KeyLevelTooLow`] if the key stops below the level of the digits.
    pub fn inner_product(&self, key: &SwitchingKey) -> Result<[Poly<Eval>; 2], RlweError> {
        self.check_key(key)?;
        Ok(Product::of_digits(&self.digits, key.halves(self.skipped)).evaluate())
    }

    /// `Σ_i θ_i(⟨digits, key_i⟩ + addend)` over Q_l·P_l: what a sum of automorphisms costs between
    /// one decomposition and one mod-down (Inoue–Suzuki–Yamana 2022, Algorithm 3.1, lines 5 to 17).
    ///
    /// # Errors
    /// As [`Self::inner_product`].
    pub fn sum_automorphisms(
        &self,
        context: &Context,
        addend: &Poly<Eval>,
        steps: &[KeyedAutomorphism<'_>],
    ) -> Result<[Poly<Eval>; 2], RlweError> {
        let moved = self.moved(addend, steps)?;
        Ok(gadget::sum_moved(context.ring(), &context.base_qp(self.level), &moved))
    }

    fn moved<'a>(
        &'a self,
        addend: &'a Poly<Eval>,
        steps: &'a [KeyedAutomorphism<'_>],
    ) -> Result<Vec<Moved<'a>>, RlweError> {
        let moved = |(key, automorphism): &'a KeyedAutomorphism<'_>| {
            self.check_key(key)?;
            Ok(Moved { product: Product::of_digits(&self.digits, key.halves(self.skipped)), addend, automorphism })
        };
        steps.iter().map(moved).collect()
    }
}

/// `θ(⟨digits, key⟩ + addend)` over Q_l·P_l, the addend joining the first half, for digits and
/// addends of one level: the key is read once for all.
///
/// # Errors
/// As [`Digits::inner_product`].
pub fn hoisted_automorphism(
    list: &[(&Digits, &Poly<Eval>)],
    step: &KeyedAutomorphism<'_>,
) -> Result<Vec<[Poly<Eval>; 2]>, RlweError> {
    let mut all = Vec::with_capacity(list.len());
    for (digits, addend) in list {
        all.extend(digits.moved(addend, std::slice::from_ref(step))?);
    }
    Ok(Moved::evaluate(&all))
}

/// For digits and addends of one level, and row by row of `sums`, the pair
/// `Σ c·θ_j(⟨digits, key_j⟩ + addend)` over Q_l·P_l: many sums of the same automorphisms with
/// constants, each key and constant read once for all ([`gadget::dot_moved`]).
///
/// # Errors
/// As [`Digits::inner_product`].
pub fn dot_automorphisms(
    context: &Context,
    list: &[(&Digits, &Poly<Eval>)],
    steps: &[KeyedAutomorphism<'_>],
    sums: &[Weights<'_>],
) -> Result<Vec<Vec<[Poly<Eval>; 2]>>, RlweError> {
    let moved: Vec<_> = list.iter().map(|(digits, addend)| digits.moved(addend, steps)).collect::<Result<_, _>>()?;
    let level = list.first().map_or(1, |(digits, _)| digits.level);
    Ok(gadget::dot_moved(context.ring(), &context.base_qp(level), &moved, sums))
}

fn level_of(context: &Context, x: &Poly<Eval>) -> usize {
    context.level_of(x.basis())
}

/// The digits of `(multiplier·P/P_l)^{-1}·x`, x over Q_l, over Q_l·P_l: with a key for all of P they
/// give P_l times the switched x.
fn decomposition<'a>(context: &Context, x: &'a Poly<Eval>, multiplier: u64) -> Decomposition<'a> {
    let special = context.special_at(level_of(context, x));
    let left_out = context.special().without(&special);
    context.gadget().decomposition(x, &special, (multiplier, &left_out))
}

/// One whole key switch of x over Q_l, its digits never stored:
/// `θ(multiplier·round(Σ digit_k((multiplier·P/P_l)^{-1}·x)·(b_k, a_k)/P_l) + addends)` over Q_l.
///
/// Cost at l primes of Q, k of P_l, d digits: l + k·2 inverse transforms, (d−1)·l + d·k + 2·l
/// forward ones, the key read once.
///
/// # Errors
/// [`RlweError::KeyLevelTooLow`] if the key stops below the level of x.
pub fn switch(
    context: &Context,
    x: &Poly<Eval>,
    multiplier: u64,
    key: &SwitchingKey,
    epilogue: &Epilogue<'_, 2>,
) -> Result<[Poly<Eval>; 2], RlweError> {
    let level = level_of(context, x);
    key.check_level(level, x.basis())?;
    let digits = decomposition(context, x, multiplier);
    let halves = key.halves(context.gadget().skipped(x.basis()));
    Ok(Product::of_decomposition(&digits, halves).divide(&context.basis(level), multiplier, epilogue))
}

/// A key switch of x over Q_l and a division by the primes of Q_l above `level` in one rounding: with
/// Q_k the modulus of `level`, `round((Σ digit_k((P/P_l)^{-1}·x)·(b_k, a_k) + P_l·addends)·Q_k/(P_l·Q_l))`
/// over Q_k.
///
/// Cost: that of [`switch`] with 2·k forward transforms instead of 2·l, k the primes of Q_k, and two more
/// inverse ones for each prime that is divided by.
///
/// # Errors
/// As [`switch`].
pub fn switch_divided(
    context: &Context,
    x: &Poly<Eval>,
    addends: [&Poly<Eval>; 2],
    key: &SwitchingKey,
    level: usize,
) -> Result<[Poly<Eval>; 2], RlweError> {
    key.check_level(level_of(context, x), x.basis())?;
    let (digits, factors) = (decomposition(context, x, 1), extension_factors(context, x.basis(), 1));
    let halves = key.halves(context.gadget().skipped(x.basis()));
    let product = Product::of_decomposition(&digits, halves).plus(addends, &factors);
    Ok(product.divide(&context.basis(level), 1, &Epilogue::default()))
}

/// Key switches of x over Q_l that stay in base Q_l·P_l:
/// `θ(Σ digit_k((P/P_l)^{-1}·x)·(b_k, a_k) + addend)` for each x with its addend, all of one level.
/// Digits are never stored, and the key is read once.
///
/// # Errors
/// As [`switch`].
pub fn extended_automorphism(
    context: &Context,
    list: &[(&Poly<Eval>, &Poly<Eval>)],
    (key, automorphism): &KeyedAutomorphism<'_>,
) -> Result<Vec<[Poly<Eval>; 2]>, RlweError> {
    list.iter().try_for_each(|(x, _)| key.check_level(level_of(context, x), x.basis()))?;
    let digits: Vec<_> = list.iter().map(|(x, _)| decomposition(context, x, 1)).collect();
    let mut moved = Vec::with_capacity(list.len());
    for (digits, (x, addend)) in digits.iter().zip(list) {
        let halves = key.halves(context.gadget().skipped(x.basis()));
        moved.push(Moved { product: Product::of_decomposition(digits, halves), addend, automorphism });
    }
    Ok(Moved::evaluate(&moved))
}

/// Mod-down of a pair over Q_l·P_l: `scale·round(x/P_l)` over Q_l.
pub fn mod_down(context: &Context, pair: [&Poly<Eval>; 2], level: usize, scale: u64) -> [Poly<Eval>; 2] {
    debug_assert_eq!(pair[0].basis(), &context.base_qp(level));
    Poly::divide_pair(pair, &context.basis(level), scale, &Epilogue::default())
}

/// P_l/divisor modulo the primes of Q_l: what mod-down by `divisor·round(·/P_l)` undoes without
/// error.
fn extension_factors(context: &Context, basis: &Basis, divisor: u64) -> Vec<u64> {
    let (ring, special) = (context.ring(), context.special_at(context.level_of(basis)));
    let factor = |index: usize| {
        let q = ring.modulus(index);
        q.mul(ring.product(&special, q), q.inv(q.reduce(divisor)))
    };
    basis.indices().map(factor).collect()
}

/// `P_l·x/divisor` over Q_l·P_l.
pub fn extend(context: &Context, x: &Poly<Eval>, divisor: u64) -> Poly<Eval> {
    let qp = context.base_qp(context.level_of(x.basis()));
    x.embed_times(&qp, &extension_factors(context, x.basis(), divisor))
}

/// `P_l·x/divisor` over Q_l alone: modulo the special primes it is zero.
pub fn extend_base_q(context: &Context, x: &Poly<Eval>, divisor: u64) -> Poly<Eval> {
    x.embed_times(x.basis(), &extension_factors(context, x.basis(), divisor))
}

/// The values of s² over all primes: the source of the relinearisation key.
pub(crate) fn square(secret: &SecretKey) -> SecretPoly<Eval> {
    SecretPoly(secret.eval().mul(secret.eval()))
}
