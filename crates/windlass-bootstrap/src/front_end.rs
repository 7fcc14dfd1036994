//! From a ciphertext modulo Q_in under the ephemeral key to integers modulo p^e: decryption formulas.

use std::fmt;
use std::str::FromStr;

use num_bigint::{BigInt, BigUint};
use rayon::prelude::*;
use windlass_ring::rns::IntegerLift;
use windlass_ring::{Eval, Poly};
use windlass_schemes::error::{Error, Result};
use windlass_schemes::names::named;

use super::formula::{DecryptionFormula, FormulaSpec};

/// A decryption formula: how many digits hold the noise, and how a ciphertext becomes integers modulo
/// p^e.
///
/// One of your own is used as [`FrontEnd::Of`]. The digits that it gives are checked before a plan is
/// made with it.
///
/// **Warning.** The bound on the removed part is not checked. If it is wrong, a refresh may give a
/// wrong plaintext, and no error is returned.
pub trait DecryptionMethod: fmt::Debug + Send + Sync {
    /// The name that it is chosen by.
    fn name(&self) -> &'static str;

    /// Where it was published.
    fn citation(&self) -> &'static str;

    /// The parameters that it was given, in words; nothing if it has none.
    fn parameters(&self) -> Option<String> {
        None
    }

    /// The digits: enough for the rounding error of the front end, whose coefficients are bounded by
    /// [`crate::FrontEndRounding`], and for what was there before.
    ///
    /// # Errors
    /// What the method cannot do, as [`super::BootstrapError::Unsupported`].
    fn formula(&self, spec: &FormulaSpec<'_>) -> Result<DecryptionFormula>;

    /// The modulus that a ciphertext is switched to, in words.
    fn switched_to(&self, spec: &FormulaSpec<'_>, formula: &DecryptionFormula) -> String;

    /// `(c'_0, c'_1)` modulo p^e with `c'_0 + c'_1·s̃ ≡ p^v·k + I`, |I| at most the bound, k ≡
    /// −Q^{−1}·ε (mod p^r), for a pair in BFV form. Each has n canonical residues modulo p^e, one
    /// for each coefficient of the powerful basis.
    fn constants(&self, spec: &FormulaSpec<'_>, formula: &DecryptionFormula, parts: [Poly<Eval>; 2]) -> [Vec<u64>; 2];
}

/// How the noise becomes low digits.
#[derive(Debug, Clone, Copy, Default)]
pub enum FrontEnd {
    /// Modulus p^e: the phase is p^{e−r}·message + noise (Chen–Han 2018, §4.2), for BGV and BFV
    /// alike (eprint 2022/1363).
    #[default]
    PrimePower,
    /// This one.
    Of(&'static dyn DecryptionMethod),
}

impl FrontEnd {
    /// What it does.
    pub fn method(self) -> &'static dyn DecryptionMethod {
        match self {
            Self::PrimePower => &RoundedToPrimePower,
            Self::Of(method) => method,
        }
    }
}

/// By what `Debug` writes of the method: its name and its parameters.
impl PartialEq for FrontEnd {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::PrimePower, Self::PrimePower) => true,
            (Self::Of(one), Self::Of(other)) => format!("{one:?}") == format!("{other:?}"),
            _ => false,
        }
    }
}

impl Eq for FrontEnd {}

impl fmt::Display for FrontEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.method().name())
    }
}

impl FromStr for FrontEnd {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named(&[("prime-power", Self::PrimePower)], text, "front end")
    }
}

/// [`FrontEnd::PrimePower`].
#[derive(Debug)]
struct RoundedToPrimePower;

impl DecryptionMethod for RoundedToPrimePower {
    fn name(&self) -> &'static str {
        "prime-power"
    }

    fn citation(&self) -> &'static str {
        "Chen–Han 2018, §4.2"
    }

    /// Rounding c_0 and c_1 to modulus p^e adds δ_0 + δ_1·s̃ with δ uniform in \[−1/2, 1/2\], whose
    /// coefficients are sub-Gaussian with a variance that key generation bounds; what was there
    /// before the rounding adds less than a half.
    fn formula(&self, spec: &FormulaSpec<'_>) -> Result<DecryptionFormula> {
        let (prime, r) = spec.modulus;
        let rounding = spec.rounding();
        let bound = (rounding.bound(spec.failure_bits) + DecryptionFormula::BEFORE).floor() as u64;
        let removed = DecryptionFormula::digits_for(prime, bound);
        Ok(DecryptionFormula {
            prime,
            message_exponent: r,
            exponent: r + removed,
            removed,
            bound,
            log2_switched: (prime as f64).log2() * f64::from(r + removed),
            row_square: rounding.row_square,
            failure_bits: spec.failure_bits,
        })
    }

    fn switched_to(&self, _: &FormulaSpec<'_>, formula: &DecryptionFormula) -> String {
        format!("{}^{}", formula.prime, formula.exponent)
    }

    fn constants(&self, _: &FormulaSpec<'_>, formula: &DecryptionFormula, parts: [Poly<Eval>; 2]) -> [Vec<u64>; 2] {
        parts.map(|part| rounded_to(part, formula.prime.pow(formula.exponent)))
    }
}

/// round(whole·x/Q) modulo `whole` for every coefficient.
fn rounded_to(part: Poly<Eval>, whole: u64) -> Vec<u64> {
    let part = part.into_coeff();
    let lift = IntegerLift::new(part.ring(), part.basis());
    let q: &BigUint = lift.product();
    if part.basis().len() == 1 {
        let q = part.ring().modulus(part.basis().index(0)).value() as u128;
        // 50 + 45 bits, and one more.
        let round = |&x: &u64| ((2 * x as u128 * whole as u128 + q) / (2 * q) % whole as u128) as u64;
        return part.row(0).par_iter().map(round).collect();
    }
    let (q, whole) = (BigInt::from(q.clone()), BigInt::from(whole));
    let (half, zero) = (&q >> 1, BigInt::ZERO);
    let round = |x: &BigInt| {
        let canonical = if x < &zero { x + &q } else { x.clone() };
        let rounded: BigInt = (canonical * &whole + &half) / &q;
        (rounded % &whole).iter_u64_digits().next().unwrap_or(0)
    };
    lift.centred(&part).par_iter().map(round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::Arc;

    use rand_chacha::ChaCha20Rng;
    use rand_core::{RngCore, SeedableRng};
    use windlass_ring::kernels::Isa;
    use windlass_ring::{Basis, Coeff, Ring};
    use windlass_rlwe::{Assurance, RlweParams, RlweSpec, SecretDistribution};

    /// A secret of weight 3 in Z\[X\]/(X^8 + 1), with signs that add up in two coefficients.
    const SECRET: [i128; 8] = [0, 1, 0, 0, 1, 0, 1, 0];

    /// a·s̃ modulo q, by definition.
    fn times_secret(a: &[i128], q: i128) -> Vec<i128> {
        let term = |k: usize, j: usize| if j <= k { SECRET[j] * a[k - j] } else { -SECRET[j] * a[8 + k - j] };
        (0..8).map(|k| (0..8).map(|j| term(k, j)).sum::<i128>().rem_euclid(q)).collect()
    }

    /// Ciphertexts of messages k under s̃, with noise of a few units, by so many primes: what comes
    /// out is p^v·k up to the bound.
    fn check((p, r): (u64, u32), primes: usize) {
        let params = RlweParams::new(&RlweSpec {
            m: 16,
            q_prime_bits: vec![50; primes],
            spare_prime_bits: Vec::new(),
            special_prime_bits: vec![50],
            digits: primes,
            secret: SecretDistribution::Ternary,
            assurance: Assurance::Insecure { name: "insecure_test".into() },
        });
        let params = params.unwrap();
        let request =
            FormulaSpec { shape: params.shape(), modulus: (p, r), weight: 3, parties: 1, failure_bits: 128.0 };
        let method = FrontEnd::PrimePower.method();
        let formula = method.formula(&request).unwrap();
        let (chain, basis) = (params.q_primes(), Basis::new(0..primes));
        let ring = Ring::new(Arc::clone(params.shape()), chain, Isa::best()).unwrap();
        let (t, whole) = ((p as i128).pow(r), (p as i128).pow(formula.exponent));
        let q = chain.iter().map(|q| q.value() as i128).product::<i128>();
        let poly = |values: &[i128]| {
            let rows = chain.iter().flat_map(|q| values.iter().map(|x| (x % q.value() as i128) as u64));
            Poly::<Coeff>::from_rows(&ring, &basis, rows.collect()).unwrap().into_eval()
        };
        let mut rng = ChaCha20Rng::seed_from_u64(8);
        for round in 0..50 {
            let mut random =
                |below: i128| (i128::from(rng.next_u64()) << 64 | i128::from(rng.next_u64())).rem_euclid(below);
            let messages: Vec<i128> = (0..8).map(|_| random(t)).collect();
            let mask: Vec<i128> = (0..8).map(|_| random(q)).collect();
            let hidden = times_secret(&mask, q);
            let phase = |k: i128| k * (q / t) + k * (q % t) / t + (k + round) % 3;
            let rest: Vec<i128> = messages.iter().zip(&hidden).map(|(&k, x)| (phase(k) - x).rem_euclid(q)).collect();
            let [c0, c1] = method.constants(&request, &formula, [poly(&rest), poly(&mask)]);
            let [c0, c1] = [c0, c1].map(|part| part.into_iter().map(i128::from).collect::<Vec<_>>());
            for ((x, y), k) in c0.iter().zip(times_secret(&c1, whole)).zip(messages) {
                let left = (x + y - (p as i128).pow(formula.removed) * k).rem_euclid(whole);
                let left = if 2 * left > whole { left - whole } else { left };
                assert!(left.unsigned_abs() <= formula.bound.into(), "{p}^{r}, k = {k}: {left}");
            }
        }
    }

    #[test]
    fn what_is_left_of_a_message_is_at_most_the_bound() {
        for modulus in [(2, 1), (2, 5), (3, 2), (17, 1), (127, 2), (257, 3)] {
            check(modulus, 1);
            check(modulus, 2);
        }
    }
}
