//! Sparse-secret encapsulation (Bossuat–Troncoso-Pastoriza–Hubaux, eprint 2022/024): a sparse
//! ephemeral key for the lowest modulus alone.

use std::sync::Arc;

use rand_core::RngCore;
use windlass_ring::gadget::Gadget;
use windlass_ring::kernels::Modulus;
use windlass_ring::{Basis, Eval, Poly, sample};
use windlass_rlwe::{Bound, Context, NoiseModel, RlweParams, SecretDistribution, SecretKey, noise};
use zeroize::Zeroize;

use super::ephemeral::{EphemeralSecret, secret_norm};
use super::error::BootstrapError;
use super::spec::{BootstrapSpec, DecryptionFormula, odd_axes};
use super::stage::StageName;
use crate::error::Result;

/// The modulus at which a ciphertext meets the ephemeral key, and the special primes of that one
/// key switch.
///
/// The ephemeral key exists in no other modulus: [`EncapsulationKey`] can be built from an
/// [`InputModulus`] only.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InputModulus {
    /// The level: Q_in is the product of the first primes.
    pub level: usize,
    /// How many special primes join them.
    special: usize,
    /// The level at which a ciphertext's noise bound is looked at: where rounding to Q_in may be
    /// too much for a canonical norm, one or more above.
    pub arrival: usize,
    /// Bits of capacity that a ciphertext must have at the level of arrival.
    pub needed_bits: f64,
}

impl InputModulus {
    /// The smallest modulus at which what is added to the coefficients, by the rounding to Q_in and
    /// by the switch to the ephemeral key, fits into half a unit of S/Q, S = p^e or p^ẽ + 1.
    ///
    /// From the level of arrival on coefficients are counted, not canonical norms: each bound is a
    /// tail of a sum of independent terms (docs/math/bootstrapping.md, the front end).
    pub fn choose(params: &RlweParams, formula: &DecryptionFormula, spec: &BootstrapSpec) -> Result<Self> {
        let log2_whole = formula.log2_switched();
        let t = formula.prime.pow(formula.message_exponent) as f64;
        let mut best: Option<(f64, Self)> = None;
        for level in 1..=params.top_level().min(4) {
            let unit = (log2_whole - params.log2_q(level)).exp2();
            for special in 1..=params.special_primes().len().min(level + 2) {
                let input = Self { level, special, arrival: level, needed_bits: 0.0 };
                let added = (rounding(params, spec) + input.switching(params, formula, spec)) * unit;
                let room = DecryptionFormula::BEFORE - added;
                let arrival = (level..=params.top_level()).find(|&arrival| floor(params, formula, arrival) <= room);
                let (true, Some(arrival)) = (room > 0.0, arrival) else { continue };
                // C_m·(‖ε‖/t)·S/Q ≤ room.
                let needed_bits = log2_whole - t.log2() - 1.0 - room.log2();
                let size = input.log2_modulus(params);
                if best.as_ref().is_none_or(|(least, _)| size < *least) {
                    best = Some((size, Self { needed_bits, arrival, ..input }));
                }
            }
        }
        let short = BootstrapError::ChainTooShort { stage: StageName::FrontEnd.to_string(), missing_bits: log2_whole };
        best.map(|(_, input)| input).ok_or(short.into())
    }

    /// What no coefficient of the switch to the ephemeral key exceeds: (digit·e)/P, and the
    /// rounding of the division by P.
    fn switching(&self, params: &RlweParams, formula: &DecryptionFormula, spec: &BootstrapSpec) -> f64 {
        let shape = params.shape();
        // A digit is below level·Q_in, its multiples by X^k below 2^{odd axes} times that; e has
        // one independent coordinate for each X^k, k < m.
        let log2_digit = (self.level as f64).log2() + params.log2_q(self.level) + f64::from(odd_axes(shape));
        let special: f64 = params.special_primes()[..self.special].iter().map(|q| (q.value() as f64).log2()).sum();
        let product = params.sigma() * (shape.m() as f64).sqrt() * (log2_digit - special).exp2();
        tail(params, spec) * (product + ((1.0 + formula.row_square) / 12.0).sqrt())
    }

    /// log2 of the modulus of the ephemeral key's switching key.
    pub fn log2_modulus(&self, params: &RlweParams) -> f64 {
        let special = params.special_primes()[..self.special].iter().map(|q| (q.value() as f64).log2());
        params.log2_q(self.level) + special.sum::<f64>()
    }

    /// The level and the number of special primes.
    pub fn shape(&self) -> [usize; 2] {
        [self.level, self.special]
    }

    /// The basis of Q_in·P_in.
    pub fn wide_basis(&self, context: &Context) -> Basis {
        context.basis(self.level).union(&self.special_basis(context))
    }

    fn special_basis(&self, context: &Context) -> Basis {
        Basis::new(context.special().indices().take(self.special))
    }
}

/// k of k·√variance that one of n sub-Gaussian coefficients exceeds with a probability of
/// 2^−(failure_bits + 8): little beside that of I itself.
fn tail(params: &RlweParams, spec: &BootstrapSpec) -> f64 {
    (2.0 * std::f64::consts::LN_2 * (spec.failure_bits + 8.0 + (2.0 * params.n() as f64).log2())).sqrt()
}

/// What no coefficient of δ_0 + δ_1·s exceeds, s the main secret: the rows of its multiplication
/// matrix have at most 4^{odd axes}·h as sum of squares.
fn rounding(params: &RlweParams, spec: &BootstrapSpec) -> f64 {
    let weight = match params.secret() {
        SecretDistribution::Ternary => params.n() as f64,
        SecretDistribution::Sparse { weight } => weight as f64,
    };
    tail(params, spec) * ((1.0 + weight * 4f64.powi(odd_axes(params.shape()) as i32)) / 12.0).sqrt()
}

/// C_m·(‖ε‖/t)·S/Q for what rounding alone leaves at a level, by canonical norms as ciphertexts are
/// bounded.
fn floor(params: &RlweParams, formula: &DecryptionFormula, level: usize) -> f64 {
    let t = formula.prime.pow(formula.message_exponent);
    let rounding = NoiseModel::new(params, t).rounding(2) * Bound::of(2.0 * noise::coefficient_factor(params.shape()));
    (rounding.bits() - (t as f64).log2() + formula.log2_switched() - params.log2_q(level)).exp2()
}

/// (−a·s + e + scale·message, a), a expanded from a seed.
#[derive(Debug, Clone)]
pub(super) struct SeededPair {
    seed: [u8; 32],
    b: Poly<Eval>,
    a: Poly<Eval>,
}

impl SeededPair {
    /// Over `wide`; `scale` is given for each prime.
    fn generate(
        context: &Context,
        wide: &Basis,
        [secret, message]: [&[i64]; 2],
        scale: impl Fn(Modulus) -> u64 + Sync,
        rng: &mut impl RngCore,
    ) -> Self {
        let ring = context.ring();
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let a = sample::uniform(ring, wide, &seed, 0);
        let mut under = Poly::from_signed(ring, wide, secret).into_eval();
        let mut b = a.mul(&under);
        under.zeroize();
        b.neg_assign();
        let error = sample::error(ring.shape(), context.gaussian(), rng);
        let mut error = Poly::from_signed(ring, wide, &error).into_eval();
        b.add_assign(&error);
        error.zeroize();
        let mut message = Poly::from_signed(ring, wide, message).into_eval();
        message.mul_scalar_assign(scale);
        b.add_assign(&message);
        message.zeroize();
        Self { seed, b, a }
    }

    /// Rebuilds it from the seed of a, and b. `None` when b is not over these primes of the
    /// context.
    fn from_parts(context: &Context, wide: &Basis, seed: [u8; 32], b: Poly<Eval>) -> Option<Self> {
        if !Arc::ptr_eq(b.ring(), context.ring()) || b.basis() != wide {
            return None;
        }
        let a = sample::uniform(context.ring(), wide, &seed, 0);
        Some(Self { seed, b, a })
    }

    /// The seed of a, and b.
    pub fn parts(&self) -> (&[u8; 32], &Poly<Eval>) {
        (&self.seed, &self.b)
    }

    /// The pair (b, a).
    pub fn pair(&self) -> [&Poly<Eval>; 2] {
        [&self.b, &self.a]
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.a.bytes() + self.b.bytes()
    }
}

/// The product of these primes modulo q.
fn product_of(context: &Context, primes: &Basis, q: Modulus) -> u64 {
    primes.indices().fold(1, |p, i| q.mul(p, q.reduce(context.ring().modulus(i).value())))
}

/// The ephemeral secret under the main one over the whole of Q·P: (−a·s + e + (P/t)·s̃, a) with t =
/// p^e. In base Q·P its product with c_1 modulo p^e keeps the error small: c_1·e is divided by P
/// before it counts.
pub(super) struct EncryptedSecret;

impl EncryptedSecret {
    pub fn generate(secret: &SecretKey, target: &EphemeralSecret, t: u64, rng: &mut impl RngCore) -> SeededPair {
        let context = secret.context();
        // P modulo q is 0 for the special primes.
        let scale = |q: Modulus| q.mul(product_of(context, context.special(), q), q.inv(q.reduce(t)));
        let wide = context.wide_basis(context.top_level());
        SeededPair::generate(context, &wide, [secret.expose_coefficients(), &target.0], scale, rng)
    }

    /// As [`SeededPair::from_parts`].
    pub fn from_parts(context: &Context, seed: [u8; 32], b: Poly<Eval>) -> Option<SeededPair> {
        SeededPair::from_parts(context, &context.wide_basis(context.top_level()), seed, b)
    }

    /// ‖s̃‖ + t·‖e‖/P: the noise of a pair divided by P, for plaintext modulus t.
    pub fn noise(params: &RlweParams, model: &NoiseModel, weight: u32, t: u64) -> Bound {
        let error = Bound::of(t as f64) * model.error(1) / Bound::from_bits(params.log2_p());
        secret_norm(params.shape(), weight) + error
    }
}

/// A key that switches from the main secret to the ephemeral one, at the input modulus alone:
/// (−a·s̃ + e + P·s, a) modulo Q_in·P.
#[derive(Debug, Clone)]
pub(super) struct EncapsulationKey {
    input: InputModulus,
    pub pair: SeededPair,
}

impl EncapsulationKey {
    pub fn generate(
        secret: &SecretKey,
        target: &EphemeralSecret,
        input: &InputModulus,
        rng: &mut impl RngCore,
    ) -> Self {
        let context = secret.context();
        let special = input.special_basis(context);
        let scale = |q: Modulus| product_of(context, &special, q);
        let both = [&target.0, secret.expose_coefficients()];
        let pair = SeededPair::generate(context, &input.wide_basis(context), both, scale, rng);
        Self { input: input.clone(), pair }
    }

    /// As [`SeededPair::from_parts`].
    pub fn from_parts(context: &Context, input: &InputModulus, seed: [u8; 32], b: Poly<Eval>) -> Option<Self> {
        let pair = SeededPair::from_parts(context, &input.wide_basis(context), seed, b)?;
        Some(Self { input: input.clone(), pair })
    }

    /// Switches a pair at the input level, in BFV form.
    pub fn switch(&self, context: &Arc<Context>, parts: &[Poly<Eval>]) -> [Poly<Eval>; 2] {
        let special = self.input.special_basis(context);
        let keep = context.basis(self.input.level);
        let wide = keep.union(&special);
        let digit = Gadget::balanced(self.input.level, 1).decompose(&parts[1], &special, 1);
        let half = |key: &Poly<Eval>| Poly::dot(context.ring(), &wide, &[(&digit[0], key)]).divide_rounded(&keep, 1);
        let [mut first, second] = self.pair.pair().map(half);
        first.add_assign(&parts[0]);
        [first, second]
    }
}
