//! Sparse-secret encapsulation (Bossuat–Troncoso-Pastoriza–Hubaux, eprint 2022/024): a sparse
//! ephemeral key for the lowest modulus alone.

use std::sync::Arc;

use rand_core::RngCore;
use rayon::prelude::*;
use windlass_ring::gadget::Gadget;
use windlass_ring::kernels::Modulus;
use windlass_ring::rns::IntegerLift;
use windlass_ring::{Basis, Eval, Poly, sample};
use windlass_rlwe::{Bound, Context, NoiseModel, RlweParams, SecretDistribution, SecretKey, noise};
use zeroize::Zeroize;

use super::ephemeral::{EphemeralSecret, secret_norm};
use super::error::BootstrapError;
use super::spec::{BootstrapSpec, DecryptionFormula, odd_axes};
use super::stage::StageName;
use crate::error::Result;
use crate::params::Encapsulation;

/// Signed digits of an odd base 2b + 1, each of −b, .., b: `x = Σ_k x_k·(2b + 1)^k`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Digits {
    /// b; 0 for x itself as the only digit.
    most: i64,
    count: usize,
}

impl Digits {
    const WHOLE: Self = Self { most: 0, count: 1 };

    /// As many as hold every integer of absolute value below Q/2, for a Q of so many bits.
    fn of(most: i64, log2_q: f64) -> Self {
        // A hundredth more than needed costs nothing, and covers what logarithms round.
        let count = ((log2_q + 0.01) / ((2 * most + 1) as f64).log2()).ceil();
        Self { most, count: count as usize }
    }

    /// 2b + 1.
    fn base(self) -> i64 {
        2 * self.most + 1
    }

    /// The digits of x, all of the first place, then all of the next.
    fn cut(self, x: &[i128]) -> Vec<Vec<i64>> {
        let base = i128::from(self.base());
        let (mut rest, mut digits) = (x.to_vec(), Vec::with_capacity(self.count));
        for _ in 0..self.count {
            let next = |x: &mut i128| {
                let digit = (*x + i128::from(self.most)).rem_euclid(base) - i128::from(self.most);
                *x = (*x - digit) / base;
                digit as i64
            };
            digits.push(rest.iter_mut().map(next).collect());
        }
        debug_assert!(rest.iter().all(|&x| x == 0), "digits hold all integers below Q/2");
        digits
    }
}

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
    /// The digits that what is switched is cut into.
    digits: Digits,
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
        let sizes = |input: &Self| input.log2_modulus(params);
        let candidates = (1..=params.top_level().min(4)).flat_map(|level| Self::at(params, spec, level));
        // Digits are priced by their number: of one modulus the first fits with fewest.
        let fitting = candidates.filter_map(|input| input.fitted(params, formula, spec));
        let short = BootstrapError::ChainTooShort {
            stage: StageName::FrontEnd.to_string(),
            missing_bits: formula.log2_switched(),
        };
        fitting.min_by(|a, b| sizes(a).total_cmp(&sizes(b))).ok_or(short.into())
    }

    /// What there is to choose from at a level, the fewest digits first.
    fn at(params: &RlweParams, spec: &BootstrapSpec, level: usize) -> Vec<Self> {
        const LARGEST: u32 = 30;
        // What is cut into digits has 128 bits with its sign.
        const MOST_BITS_IN_DIGITS: f64 = 126.0;
        let input = |special, digits| Self { level, special, digits, arrival: level, needed_bits: 0.0 };
        match spec.encapsulation {
            Encapsulation::SpecialPrimes => {
                let most = params.special_primes().len().min(level + 2);
                (1..=most).map(|special| input(special, Digits::WHOLE)).collect()
            }
            Encapsulation::Digits if params.log2_q(level) > MOST_BITS_IN_DIGITS => Vec::new(),
            // b and 3b/2 for powers of two.
            Encapsulation::Digits => (0..LARGEST)
                .rev()
                .flat_map(|bits| [3i64 << bits >> 1, 1 << bits])
                .map(|most| input(0, Digits::of(most, params.log2_q(level))))
                .collect(),
        }
    }

    /// The same with the level of arrival and the bits that are needed there, if the noise fits.
    fn fitted(self, params: &RlweParams, formula: &DecryptionFormula, spec: &BootstrapSpec) -> Option<Self> {
        let log2_whole = formula.log2_switched();
        let t = formula.prime.pow(formula.message_exponent) as f64;
        let unit = (log2_whole - params.log2_q(self.level)).exp2();
        let added = (rounding(params, spec) + self.switching(params, formula, spec)) * unit;
        // Digits could fill the room; two fifths of it are for the ciphertext's own noise.
        let share = if self.digits == Digits::WHOLE { 1.0 } else { 0.6 };
        let room = DecryptionFormula::BEFORE - added;
        let arrival = (self.level..=params.top_level()).find(|&arrival| floor(params, formula, arrival) <= room)?;
        // C_m·(‖ε‖/t)·S/Q ≤ room.
        let needed_bits = log2_whole - t.log2() - 1.0 - room.log2();
        (added < share * DecryptionFormula::BEFORE).then_some(Self { needed_bits, arrival, ..self })
    }

    /// What no coefficient of the switch to the ephemeral key exceeds: (digit·e)/P, and the
    /// rounding of the division by P; `Σ_k digit_k·e_k` where there is no P.
    fn switching(&self, params: &RlweParams, formula: &DecryptionFormula, spec: &BootstrapSpec) -> f64 {
        let shape = params.shape();
        let error = params.sigma() * (shape.m() as f64).sqrt();
        // Multiples by X^k are below 2^{odd axes} times a digit; e has one independent coordinate
        // for each X^k, k < m.
        let multiples = f64::from(odd_axes(shape)).exp2();
        if self.digits != Digits::WHOLE {
            // Errors of different digits are independent.
            return tail(params, spec)
                * error
                * multiples
                * self.digits.most as f64
                * (self.digits.count as f64).sqrt();
        }
        // A digit is below level·Q_in.
        let log2_digit = (self.level as f64).log2() + params.log2_q(self.level);
        let special: f64 = params.special_primes()[..self.special].iter().map(|q| (q.value() as f64).log2()).sum();
        let product = error * multiples * (log2_digit - special).exp2();
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

    /// The number of pairs that the switching key consists of.
    pub fn pairs(&self) -> usize {
        self.digits.count
    }

    /// The base of digits; 1 where there is one digit by special primes.
    pub fn base(&self) -> u64 {
        self.digits.base() as u64
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
/// (−a·s̃ + e + P·s, a) modulo Q_in·P, or (−a·s̃ + e + B^k·s, a) modulo Q_in for each digit of base
/// B.
#[derive(Debug, Clone)]
pub(super) struct EncapsulationKey {
    input: InputModulus,
    pub pairs: Vec<SeededPair>,
}

impl EncapsulationKey {
    pub fn generate(
        secret: &SecretKey,
        target: &EphemeralSecret,
        input: &InputModulus,
        rng: &mut impl RngCore,
    ) -> Self {
        let context = secret.context();
        let (special, wide) = (input.special_basis(context), input.wide_basis(context));
        let both = [&target.0[..], secret.expose_coefficients()];
        let pair = |place: usize| {
            let power = |q: Modulus| (0..place).fold(1, |power, _| q.mul(power, q.reduce(input.base())));
            let scale = |q: Modulus| q.mul(product_of(context, &special, q), power(q));
            SeededPair::generate(context, &wide, both, scale, rng)
        };
        Self { pairs: (0..input.pairs()).map(pair).collect(), input: input.clone() }
    }

    /// As [`SeededPair::from_parts`], of every pair.
    pub fn from_parts(context: &Context, input: &InputModulus, parts: Vec<([u8; 32], Poly<Eval>)>) -> Option<Self> {
        let wide = input.wide_basis(context);
        let pair = |(seed, b)| SeededPair::from_parts(context, &wide, seed, b);
        let pairs: Vec<SeededPair> = parts.into_iter().map(pair).collect::<Option<_>>()?;
        (pairs.len() == input.pairs()).then(|| Self { input: input.clone(), pairs })
    }

    /// Switches a pair at the input level, in BFV form.
    pub fn switch(&self, context: &Arc<Context>, parts: &[Poly<Eval>]) -> [Poly<Eval>; 2] {
        let [mut first, second] = if self.input.digits == Digits::WHOLE {
            self.by_special(context, &parts[1])
        } else {
            self.by_digits(&parts[1])
        };
        first.add_assign(&parts[0]);
        [first, second]
    }

    fn by_special(&self, context: &Arc<Context>, x: &Poly<Eval>) -> [Poly<Eval>; 2] {
        let special = self.input.special_basis(context);
        let keep = context.basis(self.input.level);
        let wide = keep.union(&special);
        let digit = Gadget::balanced(self.input.level, 1).decompose(x, &special, 1);
        let half = |key: &Poly<Eval>| Poly::dot(context.ring(), &wide, &[(&digit[0], key)]).divide_rounded(&keep, 1);
        self.pairs[0].pair().map(half)
    }

    /// Cost: a transform for each digit and prime of Q_in.
    fn by_digits(&self, x: &Poly<Eval>) -> [Poly<Eval>; 2] {
        let (ring, basis) = (x.ring(), x.basis());
        let centred = IntegerLift::new(ring, basis).centred(&x.clone().into_coeff());
        let centred: Vec<i128> = centred.iter().map(|x| i128::try_from(x).expect("Q_in is at most 2^126")).collect();
        let digits = self.input.digits.cut(&centred);
        let digits: Vec<Poly<Eval>> =
            digits.par_iter().map(|digit| Poly::from_signed(ring, basis, digit).into_eval()).collect();
        [0, 1].map(|half| {
            let terms: Vec<_> = digits.iter().zip(&self.pairs).map(|(digit, key)| (digit, key.pair()[half])).collect();
            Poly::dot(ring, basis, &terms)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;
    use windlass_rlwe::{Assurance, RlweSpec};

    fn params(m: u64, q_prime_bits: Vec<u32>) -> RlweParams {
        let spec = RlweSpec {
            m,
            special_prime_bits: vec![50; 4],
            digits: 3,
            secret: SecretDistribution::Ternary,
            assurance: Assurance::Insecure { name: "insecure_test".into() },
            q_prime_bits,
        };
        RlweParams::new(&spec).unwrap()
    }

    /// Of 50, 100 and 150 bits the last is too large for digits, and no matter for special primes.
    #[test]
    fn digits_are_cut_from_what_128_bits_hold() {
        let params = params(105, vec![50; 10]);
        for encapsulation in [Encapsulation::SpecialPrimes, Encapsulation::Digits] {
            let spec = BootstrapSpec { encapsulation, ..BootstrapSpec::default() };
            let some = [1, 2, 3].map(|level| !InputModulus::at(&params, &spec, level).is_empty());
            assert_eq!(some, [true, true, encapsulation == Encapsulation::SpecialPrimes]);
        }
    }

    /// What the switch to the ephemeral key adds to a coefficient, by both keys, against its bound.
    #[test]
    fn what_a_switch_adds_stays_below_its_bound() {
        let mut narrow = vec![50; 10];
        narrow[..2].fill(30);
        for (m, (p, r), chain, weight) in
            [(105, (2, 1), vec![50; 10], 6), (256, (257, 1), vec![50; 10], 8), (128, (8191, 1), narrow, 8)]
        {
            let params = params(m, chain);
            let mut sizes = Vec::new();
            for encapsulation in [Encapsulation::SpecialPrimes, Encapsulation::Digits] {
                let spec = BootstrapSpec { encapsulation, ephemeral_weight: weight, ..BootstrapSpec::default() };
                let formula = DecryptionFormula::new(params.shape(), (p, r), &spec).unwrap();
                let input = InputModulus::choose(&params, &formula, &spec).unwrap();
                sizes.push(input.log2_modulus(&params));
                assert_eq!(input.pairs() > 1, encapsulation == Encapsulation::Digits);
                let mut rng = ChaCha20Rng::seed_from_u64(m);
                let context = Context::new(params.clone()).unwrap();
                let secret = Arc::new(SecretKey::generate(&context, &mut rng));
                let ephemeral = EphemeralSecret::generate(params.shape(), &spec, &formula, &mut rng).unwrap();
                let key = EncapsulationKey::generate(&secret, &ephemeral, &input, &mut rng);
                let (ring, basis) = (context.ring(), context.basis(input.level));
                let mut worst = 0.0f64;
                for seed in 0..8 {
                    let parts = [1, 2].map(|place| sample::uniform(ring, &basis, &[seed; 32], place));
                    let under = |secret: &[i64]| Poly::from_signed(ring, &basis, secret).into_eval();
                    let phase = |[c0, c1]: [&Poly<Eval>; 2], secret: &[i64]| c0.plus(&c1.mul(&under(secret)));
                    let before = phase([&parts[0], &parts[1]], secret.expose_coefficients());
                    let [c0, c1] = key.switch(&context, &parts);
                    let added = phase([&c0, &c1], &ephemeral.0).minus(&before).into_coeff();
                    let added = IntegerLift::new(ring, &basis).centred(&added);
                    worst = added
                        .iter()
                        .map(|x| (i64::try_from(x).expect("it is small") as f64).abs())
                        .fold(worst, f64::max);
                }
                let bound = input.switching(&params, &formula, &spec);
                assert!(worst > 0.0 && worst < bound && bound < 200.0 * worst, "m = {m}: {worst} of {bound}");
                // And the bound leaves room in the digits that are removed.
                let unit = (formula.log2_switched() - params.log2_q(input.level)).exp2();
                assert!((bound + rounding(&params, &spec)) * unit < DecryptionFormula::BEFORE);
            }
            // The special primes are what is saved.
            assert!(sizes[1] < 61.0 && sizes[0] > sizes[1] + 35.0, "m = {m}: {sizes:?}");
        }
    }

    #[test]
    fn digits_add_up_and_stay_within_their_bound() {
        for (most, log2_q) in [(1, 50.0), (5, 46.0), (12, 60.0), (600, 60.0), (1 << 20, 100.0)] {
            let digits = Digits::of(most, log2_q);
            let half = (log2_q - 1.0).exp2() as i128;
            let values: Vec<i128> =
                [0, 1, -1, half - 1, 1 - half].into_iter().chain((0..99).map(|k| half / 100 * k - half / 3)).collect();
            let cut = digits.cut(&values);
            assert_eq!(cut.len(), digits.count);
            for (place, &x) in values.iter().enumerate() {
                let sum = cut
                    .iter()
                    .rev()
                    .fold(0i128, |sum, digit| sum * i128::from(digits.base()) + i128::from(digit[place]));
                assert_eq!(sum, x, "base {}", digits.base());
                assert!(cut.iter().all(|digit| digit[place].abs() <= most));
            }
        }
    }
}
