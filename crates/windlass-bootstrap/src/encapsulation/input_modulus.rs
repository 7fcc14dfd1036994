//! Finds the modulus at which a ciphertext is switched to the ephemeral key: the smallest one at
//! which the noise of the switch is small enough.

use windlass_ring::Basis;
use windlass_rlwe::{Bound, Context, NoiseModel, RlweParams, noise};
use windlass_schemes::error::{BootstrapError, Result};
use windlass_schemes::params::Encapsulation;

use super::digits::Digits;
use crate::formula::DecryptionFormula;
use crate::rows::odd_axes;
use crate::spec::BootstrapSpec;
use crate::stage::StageName;

/// The modulus at which a ciphertext meets the ephemeral key, and the special primes of that one
/// key switch.
///
/// The ephemeral key exists in no other modulus: [`super::EncapsulationKey`] can be built from an
/// [`InputModulus`] only.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct InputModulus {
    /// The level: Q_in is its modulus.
    pub level: usize,
    /// How many special primes join them.
    special: usize,
    /// The digits that what is switched is cut into.
    pub(super) digits: Digits,
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
        const MOST_PRIMES: usize = 4;
        let few = (1..=params.top_level()).filter(|&level| params.levels().basis(level).len() <= MOST_PRIMES);
        let candidates = few.flat_map(|level| Self::at(params, spec, level));
        // Digits are priced by their number: of one modulus the first fits with fewest.
        let fitting = candidates.filter_map(|input| input.fitted(params, formula, spec));
        let short = BootstrapError::ChainTooShort {
            stage: StageName::FrontEnd.to_string(),
            missing_bits: formula.log2_switched,
        };
        fitting.min_by(|a, b| sizes(a).total_cmp(&sizes(b))).ok_or(short.into())
    }

    /// The modulus of a level, whose key takes so many special primes.
    pub fn at_level(level: usize, special: usize) -> Self {
        Self { level, special, digits: Digits::WHOLE, arrival: level, needed_bits: 0.0 }
    }

    /// What there is to choose from at a level, the fewest digits first.
    fn at(params: &RlweParams, spec: &BootstrapSpec, level: usize) -> Vec<Self> {
        const LARGEST: u32 = 30;
        // What is cut into digits has 128 bits with its sign.
        const MOST_BITS_IN_DIGITS: f64 = 126.0;
        let input = |special, digits| Self { level, special, digits, arrival: level, needed_bits: 0.0 };
        match spec.encapsulation {
            Encapsulation::SpecialPrimes => {
                let most = params.special_primes().len().min(params.levels().basis(level).len() + 2);
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
        let log2_whole = formula.log2_switched;
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
    pub(super) fn switching(&self, params: &RlweParams, formula: &DecryptionFormula, spec: &BootstrapSpec) -> f64 {
        let shape = params.shape();
        // Keys have the sum of the errors of all parties.
        let error = params.sigma() * (shape.m() as f64 * f64::from(params.secret().parties())).sqrt();
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
        // A digit is below Q_in times the number of its primes.
        let log2_digit = (params.levels().basis(self.level).len() as f64).log2() + params.log2_q(self.level);
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
    pub fn base_qp(&self, context: &Context) -> Basis {
        context.basis(self.level).union(&self.special_basis(context))
    }

    pub(super) fn special_basis(&self, context: &Context) -> Basis {
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
pub(super) fn rounding(params: &RlweParams, spec: &BootstrapSpec) -> f64 {
    let weight = params.secret().largest_squares(params.n());
    tail(params, spec) * ((1.0 + weight * 4f64.powi(odd_axes(params.shape()) as i32)) / 12.0).sqrt()
}

/// C_m·(‖ε‖/t)·S/Q for what rounding alone leaves at a level, by canonical norms as ciphertexts are
/// bounded.
fn floor(params: &RlweParams, formula: &DecryptionFormula, level: usize) -> f64 {
    let t = formula.prime.pow(formula.message_exponent);
    let rounding = NoiseModel::new(params, t).rounding(2) * Bound::of(2.0 * noise::coefficient_factor(params.shape()));
    (rounding.bits() - (t as f64).log2() + formula.log2_switched - params.log2_q(level)).exp2()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    use rand_chacha::ChaCha20Rng;
    use rand_core::{RngCore, SeedableRng};
    use windlass_ring::kernels::Isa;
    use windlass_ring::sample;
    use windlass_ring::slots::QuotientRing;
    use windlass_rlwe::{Assurance, RlweSpec, SecretDistribution};

    /// A chain of primes of these bits without security.
    pub fn params(m: u64, q_prime_bits: Vec<u32>) -> RlweParams {
        let spec = RlweSpec {
            m,
            spare_prime_bits: Vec::new(),
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

    /// By the tail of a sub-Gaussian, 2·exp(−k²/2) for each of n coefficients.
    #[test]
    fn tails_are_as_unlikely_as_they_say() {
        for (m, failure_bits) in [(64, 20.0), (105, 40.0), (1024, 128.0)] {
            let params = params(m, vec![50; 4]);
            let k = tail(&params, &BootstrapSpec { failure_bits, ..BootstrapSpec::default() });
            let probability = 2.0 * params.n() as f64 * (-k * k / 2.0).exp();
            assert!((probability.log2() + failure_bits + 8.0).abs() < 1e-9, "m = {m}: {probability:e}");
        }
    }

    /// δ_0 + δ_1·s of random δ below a half, in 128ths, against its bound for an event that happens
    /// now and then: never above it, and near it where rows have no more than their own coefficients.
    #[test]
    fn what_rounding_adds_stays_below_its_bound() {
        let spec = BootstrapSpec { failure_bits: 2.0, ..BootstrapSpec::default() };
        let mut rng = ChaCha20Rng::from_seed([3; 32]);
        for (m, near) in [(512, 2.5), (105, 16.0), (243, 4.0)] {
            let params = params(m, vec![50; 4]);
            let bound = rounding(&params, &spec);
            let quotient = QuotientRing::new(m, 65537, 1, Isa::best()).unwrap();
            let (modulus, n) = (quotient.modulus(), params.n());
            let mut worst = 0;
            for _ in 0..20 {
                let secret = sample::ternary(n, &mut rng);
                let secret: Vec<u64> = secret.iter().map(|&x| modulus.reduce_i64(x)).collect();
                let mut delta = || (0..n).map(|_| i64::from(rng.next_u32() % 129) - 64).collect::<Vec<i64>>();
                let constant = delta();
                let linear: Vec<u64> = delta().iter().map(|&x| modulus.reduce_i64(x)).collect();
                let product = quotient.mul(&linear, &secret);
                let sums = product.iter().zip(constant).map(|(&x, y)| (modulus.centred(x) + y).abs());
                worst = worst.max(sums.max().unwrap());
            }
            let seen = worst as f64 / 128.0;
            assert!(seen <= bound && bound <= near * seen, "m = {m}: {seen} against {bound}");
        }
    }
}
