//! The keys of the encapsulation: the switching key to the ephemeral secret, and an encryption of
//! that secret under the main one.

use std::sync::Arc;

use rand_core::RngCore;
use rayon::prelude::*;
use windlass_ring::gadget::Gadget;
use windlass_ring::kernels::{Modulus, work};
use windlass_ring::rns::IntegerLift;
use windlass_ring::{Basis, Eval, Poly, sample};
use windlass_rlwe::{Bound, Context, NoiseModel, RlweParams, SecretKey};
use zeroize::Zeroize;

use super::digits::Digits;
use super::input_modulus::InputModulus;
use crate::ephemeral::{EphemeralSecret, secret_norm};

/// (−a·s + e + scale·message, a), a expanded from a seed.
#[derive(Debug, Clone)]
pub(crate) struct SeededPair {
    seed: [u8; 32],
    b: Poly<Eval>,
    a: Poly<Eval>,
}

impl SeededPair {
    /// Over `wide`; `scale` is given for each prime.
    fn generate(
        context: &Context,
        qp: &Basis,
        [secret, message]: [&[i64]; 2],
        scale: impl Fn(Modulus) -> u64 + Sync,
        rng: &mut impl RngCore,
    ) -> Self {
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let a = sample::uniform(context.ring(), qp, &seed, 0);
        let b = Self::half(context, &a, [secret, message], scale, rng);
        Self { seed, b, a }
    }

    /// −a·s + e + scale·message.
    fn half(
        context: &Context,
        a: &Poly<Eval>,
        [secret, message]: [&[i64]; 2],
        scale: impl Fn(Modulus) -> u64 + Sync,
        rng: &mut impl RngCore,
    ) -> Poly<Eval> {
        let (ring, qp) = (context.ring(), a.basis());
        let mut under = Poly::from_signed(ring, qp, secret).into_eval();
        let mut b = a.mul(&under);
        under.zeroize();
        b.neg_assign();
        let error = sample::error(ring.shape(), context.gaussian(), rng);
        let mut error = Poly::from_signed(ring, qp, &error).into_eval();
        b.add_assign(&error);
        error.zeroize();
        let mut message = Poly::from_signed(ring, qp, message).into_eval();
        message.mul_scalar_assign(scale);
        b.add_assign(&message);
        message.zeroize();
        b
    }

    /// Rebuilds it from the seed of a, and b. `None` if b is not over these primes of the
    /// context.
    fn from_parts(context: &Context, qp: &Basis, seed: [u8; 32], b: Poly<Eval>) -> Option<Self> {
        if !Arc::ptr_eq(b.ring(), context.ring()) || b.basis() != qp {
            return None;
        }
        let a = sample::uniform(context.ring(), qp, &seed, 0);
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

/// The ephemeral secret under the main one over the whole of Q·P: (−a·s + e + (P/t)·s̃, a) with t =
/// p^e. In base Q·P its product with c_1 modulo p^e keeps the error small: c_1·e is divided by P
/// before it counts.
pub(crate) struct EncryptedSecret;

impl EncryptedSecret {
    pub fn generate(secret: &SecretKey, target: &EphemeralSecret, t: u64, rng: &mut impl RngCore) -> SeededPair {
        let context = secret.context();
        let scale = Self::scale(context, t);
        let qp = context.base_qp(context.top_level());
        SeededPair::generate(context, &qp, [secret.expose_coefficients(), &target.0], scale, rng)
    }

    /// P/t modulo each prime; P is 0 modulo the special ones.
    fn scale(context: &Context, t: u64) -> impl Fn(Modulus) -> u64 + Sync {
        move |q: Modulus| q.mul(context.ring().product(context.special(), q), q.inv(q.reduce(t)))
    }

    /// One party's share of the first half: of its part of both secrets.
    pub fn share(
        context: &Context,
        secret: &[i64],
        target: &EphemeralSecret,
        (t, seed): (u64, &[u8; 32]),
        rng: &mut impl RngCore,
    ) -> Poly<Eval> {
        let a = sample::uniform(context.ring(), &context.base_qp(context.top_level()), seed, 0);
        SeededPair::half(context, &a, [secret, &target.0], Self::scale(context, t), rng)
    }

    /// As [`SeededPair::from_parts`].
    pub fn from_parts(context: &Context, seed: [u8; 32], b: Poly<Eval>) -> Option<SeededPair> {
        SeededPair::from_parts(context, &context.base_qp(context.top_level()), seed, b)
    }

    /// ‖s̃‖ + t·‖e‖/P: the noise of a pair divided by P, for plaintext modulus t.
    pub fn noise(params: &RlweParams, model: &NoiseModel, weight: u32, t: u64) -> Bound {
        let error = Bound::of(t as f64) * model.key_error(1) / Bound::from_bits(params.log2_p());
        secret_norm(params, weight) + error
    }
}

/// A key that switches from the main secret to the ephemeral one, at the input modulus only: (−a·s̃ +
/// e + P·s, a) modulo Q_in·P, or (−a·s̃ + e + B^k·s, a) modulo Q_in for each digit of base B.
#[derive(Debug, Clone)]
pub(crate) struct EncapsulationKey {
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
        let (special, qp) = (input.special_basis(context), input.base_qp(context));
        let both = [&target.0[..], secret.expose_coefficients()];
        let pair =
            |place: usize| SeededPair::generate(context, &qp, both, scale_at(context, &special, input, place), rng);
        Self { pairs: (0..input.pairs()).map(pair).collect(), input: input.clone() }
    }

    /// One party's shares of the first halves: of its part of both secrets.
    pub fn share(
        context: &Context,
        secret: &[i64],
        target: &EphemeralSecret,
        (input, seeds): (&InputModulus, &[[u8; 32]]),
        rng: &mut impl RngCore,
    ) -> Vec<Poly<Eval>> {
        let (special, qp) = (input.special_basis(context), input.base_qp(context));
        let half = |(place, seed): (usize, &[u8; 32])| {
            let a = sample::uniform(context.ring(), &qp, seed, 0);
            SeededPair::half(context, &a, [&target.0, secret], scale_at(context, &special, input, place), rng)
        };
        seeds.iter().enumerate().map(half).collect()
    }

    /// As [`SeededPair::from_parts`], of every pair.
    pub fn from_parts(context: &Context, input: &InputModulus, parts: Vec<([u8; 32], Poly<Eval>)>) -> Option<Self> {
        let qp = input.base_qp(context);
        let pair = |(seed, b)| SeededPair::from_parts(context, &qp, seed, b);
        let pairs: Vec<SeededPair> = parts.into_iter().map(pair).collect::<Option<_>>()?;
        (pairs.len() == input.pairs()).then(|| Self { input: input.clone(), pairs })
    }

    /// Whether it is for this modulus.
    pub fn is_at(&self, input: &InputModulus) -> bool {
        self.input == *input
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
        let qp = keep.union(&special);
        let digit = Gadget::whole(&keep).decompose(x, &special, (1, &Basis::new([])));
        work::add(work::Kind::Keys, 2 * qp.len() * context.ring().n());
        let half = |key: &Poly<Eval>| Poly::dot(context.ring(), &qp, &[(&digit[0], key)]).divide_rounded(&keep, 1);
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
        work::add(work::Kind::Keys, 2 * digits.len() * basis.len() * ring.n());
        [0, 1].map(|half| {
            let terms: Vec<_> = digits.iter().zip(&self.pairs).map(|(digit, key)| (digit, key.pair()[half])).collect();
            Poly::dot(ring, basis, &terms)
        })
    }
}

/// P_in·B^place modulo each prime.
fn scale_at(context: &Context, special: &Basis, input: &InputModulus, place: usize) -> impl Fn(Modulus) -> u64 + Sync {
    move |q: Modulus| {
        let power = (0..place).fold(1, |power, _| q.mul(power, q.reduce(input.base())));
        q.mul(context.ring().product(special, q), power)
    }
}

#[cfg(test)]
mod tests {
    use super::super::input_modulus::{rounding, tests};
    use super::*;
    use crate::formula::DecryptionFormula;
    use crate::spec::BootstrapSpec;
    use windlass_schemes::params::Encapsulation;

    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    /// What the switch to the ephemeral key adds to a coefficient, by both keys, against its bound.
    #[test]
    fn what_a_switch_adds_stays_below_its_bound() {
        let mut narrow = vec![50; 10];
        narrow[..2].fill(30);
        for (m, (p, r), chain, weight) in
            [(105, (2, 1), vec![50; 10], 6), (256, (257, 1), vec![50; 10], 8), (128, (8191, 1), narrow, 8)]
        {
            let params = tests::params(m, chain);
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
                let ephemeral = EphemeralSecret::generate(&params, &spec, &formula, &mut rng).unwrap();
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
                let unit = (formula.log2_switched - params.log2_q(input.level)).exp2();
                assert!((bound + rounding(&params, &spec)) * unit < DecryptionFormula::BEFORE);
            }
            // The special primes are what is saved.
            assert!(sizes[1] < 61.0 && sizes[0] > sizes[1] + 35.0, "m = {m}: {sizes:?}");
        }
    }

    /// Two pairs with one uniform half would give away what their errors and messages differ by.
    #[test]
    fn every_pair_has_a_seed_of_its_own_and_fits_its_primes_alone() {
        let params = tests::params(105, vec![50; 10]);
        let spec =
            BootstrapSpec { encapsulation: Encapsulation::Digits, ephemeral_weight: 6, ..BootstrapSpec::default() };
        let formula = DecryptionFormula::new(params.shape(), (2, 1), &spec).unwrap();
        let input = InputModulus::choose(&params, &formula, &spec).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let [context, other] = [105, 64].map(|m| Context::new(tests::params(m, vec![50; 10])).unwrap());
        let secret = Arc::new(SecretKey::generate(&context, &mut rng));
        let ephemeral = EphemeralSecret::generate(&params, &spec, &formula, &mut rng).unwrap();
        let under = EncryptedSecret::generate(&secret, &ephemeral, 2, &mut rng);
        let key = EncapsulationKey::generate(&secret, &ephemeral, &input, &mut rng);
        let seeds: Vec<&[u8; 32]> = key.pairs.iter().chain([&under]).map(|pair| pair.parts().0).collect();
        for (i, seed) in seeds.iter().enumerate() {
            assert!(**seed != [0; 32] && !seeds[..i].contains(seed));
        }
        assert_eq!(under.bytes(), 2 * under.b.bytes());
        let rebuilt = |context: &Context, b: &Poly<Eval>| EncryptedSecret::from_parts(context, under.seed, b.clone());
        assert!(rebuilt(&context, &under.b).is_some_and(|pair| pair.a == under.a));
        // Of fewer primes, and of another ring.
        assert!(rebuilt(&context, &key.pairs[0].b).is_none() && rebuilt(&other, &under.b).is_none());
        let parts: Vec<_> = key.pairs.iter().map(|pair| (pair.seed, pair.b.clone())).collect();
        assert!(EncapsulationKey::from_parts(&context, &input, parts[1..].to_vec()).is_none());
        assert!(EncapsulationKey::from_parts(&context, &input, parts).is_some());
    }
}
