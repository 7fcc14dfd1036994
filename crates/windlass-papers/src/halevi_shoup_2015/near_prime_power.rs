//! From a ciphertext modulo Q_in under the ephemeral key to integers modulo p^e by way of q̃ = p^ẽ + 1.

use num_bigint::BigInt;
use rayon::prelude::*;
use windlass::Result;
use windlass::bootstrap::{BootstrapError, BootstrapSpec, DecryptionFormula, DecryptionMethod, FormulaSpec, FrontEnd};
use windlass::ring::kernels::{Shape, arith};
use windlass::ring::rns::IntegerLift;
use windlass::ring::{Eval, Poly};

use super::appendix_a::{AppendixA, balanced_share};

/// Modulus q̃ = p^ẽ + 1, and digits divided out beforehand (Halevi–Shoup 2015, Lemmas 5.1 and 5.2,
/// Appendix A).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearPrimePower {
    appendix_a: Option<AppendixA>,
}

/// What makes digits zero.
#[derive(Debug, Clone, Copy)]
struct Cleared {
    /// e': so many digits are made zero and divided out.
    digits: u32,
    /// α: the share of multiples of p^r in it, beside multiples of q̃ (Lemma 5.2).
    alpha: f64,
}

impl NearPrimePower {
    /// With as many digits as hold the rounding error except with the probability that the
    /// specification states.
    pub const OWN: Self = Self { appendix_a: None };
    /// [`Self::OWN`] as a choice of a specification.
    pub const FRONT_END: FrontEnd = FrontEnd::Of(&Self::OWN);

    /// The front end with e, e', α and t as [`AppendixA::solve`] found them, all else as by default.
    /// The parameters stay in memory as long as the program runs.
    ///
    /// **Warning.** The rule bounds the removed part with a small probability of failure only where
    /// digits are large beside the noise: for p = 2 it may fail at every second refresh, and a
    /// refresh that fails gives a wrong plaintext without an error. Secure parameters are refused
    /// then ([`BootstrapError::TooLikelyToFail`]); `paper` and `insecure` ones are planned.
    /// [`windlass::bootstrap::BootstrapPlan::failure_bits`] and the plan in words say the
    /// probability.
    pub fn spec(found: AppendixA) -> BootstrapSpec {
        let method: &'static Self = Box::leak(Box::new(Self { appendix_a: Some(found) }));
        let ephemeral_weight = u32::try_from(found.weight).unwrap_or(u32::MAX);
        BootstrapSpec { front_end: FrontEnd::Of(method), ephemeral_weight, ..BootstrapSpec::default() }
    }

    /// e': so many digits are made zero and divided out.
    pub fn cleared_digits(&self, spec: &FormulaSpec<'_>) -> u32 {
        self.cleared(spec).digits
    }

    fn cleared(&self, spec: &FormulaSpec<'_>) -> Cleared {
        let (prime, r) = spec.modulus;
        if let Some(AppendixA { cleared, alpha, .. }) = self.appendix_a {
            return Cleared { digits: cleared, alpha };
        }
        // The removed part, (z_0 + k)/p^{e'}, is at most spread·(1 + 3p^{r−e'}) + 2p^{r−e'}, so two more
        // cover it once p^{e'−r} ≥ 3·spread + 2.
        let spread = spec.rounding().bound(spec.failure_bits);
        let digits = r + (3.0 * spread + 2.0).log(prime as f64).ceil() as u32;
        Cleared { digits, alpha: balanced_share(spec.modulus, digits, spec.weight, spec.shape.n()) }
    }
}

impl DecryptionMethod for NearPrimePower {
    fn name(&self) -> &'static str {
        "near-prime-power"
    }

    fn citation(&self) -> &'static str {
        "Halevi–Shoup 2015, Lemmas 5.1 and 5.2 and Appendix A"
    }

    fn parameters(&self) -> Option<String> {
        let AppendixA { exponent, cleared, alpha, .. } = self.appendix_a?;
        Some(format!("e = {exponent}, e' = {cleared}, α = {alpha:.5}"))
    }

    fn formula(&self, spec: &FormulaSpec<'_>) -> Result<DecryptionFormula> {
        let (prime, r) = spec.modulus;
        let (rounding, Cleared { digits: cleared, .. }) = (spec.rounding(), self.cleared(spec));
        let (removed, bound, failure_bits) = match &self.appendix_a {
            None => {
                let bound = (rounding.bound(spec.failure_bits) + 2.0).floor() as u64;
                (DecryptionFormula::digits_for(prime, bound), bound, spec.failure_bits)
            }
            // e − e' digits are removed, for all their values. With s = p^{r−e'} the removed part is at
            // most T·(1 + 3s) + 2s for a rounding error of at most T. This gives the largest allowed T.
            Some(found) => {
                check(found, spec.shape, spec.modulus)?;
                let removed = found.exponent - cleared;
                let bound = DecryptionFormula::held_by(prime, removed);
                let share = (prime as f64).powi(r as i32 - cleared as i32);
                let most = (bound as f64 + 1.0 - 2.0 * share) / (1.0 + 3.0 * share);
                (removed, bound, rounding.failure_bits(most))
            }
        };
        let log2 = |digits: u32| (prime as f64).log2() * f64::from(digits);
        if log2(2 * cleared + removed) >= 120.0 {
            return refused(format!("q = {prime}^{} + 1 is too large; use FrontEnd::PrimePower", removed + cleared));
        }
        Ok(DecryptionFormula {
            prime,
            message_exponent: r,
            exponent: r + removed,
            removed,
            bound,
            log2_switched: log2(removed + cleared),
            row_square: rounding.row_square,
            failure_bits,
        })
    }

    fn switched_to(&self, spec: &FormulaSpec<'_>, formula: &DecryptionFormula) -> String {
        let Cleared { digits, alpha } = self.cleared(spec);
        let whole = formula.removed + digits;
        format!("{}^{whole} + 1, {digits} digits cleared with α = {alpha:.5}", formula.prime)
    }

    fn constants(&self, spec: &FormulaSpec<'_>, formula: &DecryptionFormula, parts: [Poly<Eval>; 2]) -> [Vec<u64>; 2] {
        let cleared = self.cleared(spec);
        parts.map(|part| divided(part, formula, cleared))
    }
}

fn refused<T>(what: String) -> Result<T> {
    Err(BootstrapError::Unsupported { what }.into())
}

/// Refuses parameters for another m or p^r, and such that do not fit together.
fn check(found: &AppendixA, shape: &Shape, modulus: (u64, u32)) -> Result<()> {
    let &AppendixA { exponent, cleared, alpha, .. } = found;
    let ((m, (p, s)), (prime, r)) = ((found.spec.m, found.spec.modulus), modulus);
    if (m, (p, s)) != (shape.m(), modulus) {
        return refused(format!(
            "the parameters of Appendix A are for m = {m} and p^r = {p}^{s}, not m = {} and {prime}^{r}; solve them anew",
            shape.m()
        ));
    }
    if cleared < r || exponent <= cleared || !(0.0..=1.0).contains(&alpha) {
        return refused(format!("e = {exponent}, e' = {cleared} and α = {alpha} do not fit r ≤ e' < e and 0 ≤ α ≤ 1"));
    }
    Ok(())
}

/// Every coefficient switched to q̃ = p^ẽ + 1 without changing what it is modulo p^r up to Q^{−1},
/// made divisible by p^{e'} (Lemma 5.2), divided by it and reduced modulo p^e, e = ẽ − e' + r.
fn divided(mut part: Poly<Eval>, formula: &DecryptionFormula, cleared: Cleared) -> Vec<u64> {
    let (p, r) = (formula.prime as i128, formula.message_exponent);
    let t = p.pow(r);
    // The BGV form: t times the BFV one.
    part.mul_scalar_assign(|q| q.reduce(t as u64));
    let part = part.into_coeff();
    let lift = IntegerLift::new(part.ring(), part.basis());
    let q = BigInt::from(lift.product().clone());
    let near = p.pow(formula.removed + cleared.digits) + 1;
    let whole = p.pow(formula.exponent);
    let residue = to_i128(&(&q % t)) as u64;
    let inverse = arith::inv_mod(residue, t as u64).expect("no prime of the chain is p") as i128;
    let convert = |x: &BigInt| {
        // c' ≡ Q^{−1}·x·q̃ ≡ Q^{−1}·x (mod t), nearest to x·q̃/Q.
        let doubled: BigInt = x * near * 2 + &q;
        let nearest = floor_div(&doubled, &(&q * 2));
        let wanted = (to_i128(&(x % t)).rem_euclid(t) * inverse).rem_euclid(t);
        let value = nearest + centred((wanted - nearest).rem_euclid(t), t);
        make_divisible(value, (p, r), cleared, near).rem_euclid(whole) as u64
    };
    lift.centred(&part).par_iter().map(convert).collect()
}

/// `(z + u·p^r + v·q̃)/p^{e'}` with |u| ≤ ⌈α·p^{e'−r}/2⌉ and |v| ≤ p^r·(1/2 + ⌈(1−α)·p^{e'−r}/2⌉):
/// Lemma 5.2, δ modulo p^{e'−r}.
fn make_divisible(z: i128, (p, r): (i128, u32), Cleared { digits, alpha }: Cleared, near: i128) -> i128 {
    let (t, unit) = (p.pow(r), p.pow(digits));
    let first = z + centred((-z).rem_euclid(t), t) * near;
    let step = unit / t;
    let delta = centred((-first / t).rem_euclid(step), step);
    // Any split of δ makes digits zero: what a double rounds is no matter.
    let by_message = (alpha * delta as f64).ceil() as i128;
    let divisible = first + by_message * t + (delta - by_message) * t * near;
    debug_assert_eq!(divisible % unit, 0, "near ≡ 1 modulo p^e'");
    divisible / unit
}

/// The residue of least absolute value.
fn centred(x: i128, modulus: i128) -> i128 {
    if 2 * x > modulus { x - modulus } else { x }
}

fn to_i128(x: &BigInt) -> i128 {
    i128::try_from(x).expect("a value far below 2^127")
}

fn floor_div(x: &BigInt, y: &BigInt) -> i128 {
    let (quotient, rest) = (x / y, x % y);
    to_i128(&quotient) - i128::from(rest < BigInt::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::Arc;

    use rand_chacha::ChaCha20Rng;
    use rand_core::{RngCore, SeedableRng};
    use windlass::Error;
    use windlass::ring::kernels::Isa;
    use windlass::ring::{Basis, Coeff, Ring};
    use windlass::rlwe::{Assurance, RlweParams, RlweSpec, SecretDistribution};

    use super::super::AppendixASpec;

    #[test]
    fn quotients_are_rounded_down() {
        let quotient = |x: i64, y: i64| floor_div(&BigInt::from(x), &BigInt::from(y));
        for x in -20..20 {
            for y in [1, 2, 3, 7] {
                assert_eq!(quotient(x, y), i128::from(x.div_euclid(y)), "{x} / {y}");
            }
        }
    }

    #[test]
    fn integers_become_divisible_and_stay_small() {
        for (p, r, cleared, whole) in
            [(2i128, 1u32, 6u32, 12u32), (3, 2, 5, 8), (17, 1, 3, 5), (127, 1, 2, 4), (2, 3, 8, 15)]
        {
            let near = p.pow(whole) + 1;
            for i in 0..6000i128 {
                let alpha = [0.5, 0.45311, 0.0, 1.0][i as usize % 4];
                let z = (i * 7919 + 13 * i * i) % near - near / 2;
                let made = make_divisible(z, (p, r), Cleared { digits: cleared, alpha }, near) * p.pow(cleared);
                // The change is u·p^r + v·q̃ with small u and v; v is fixed by the size.
                let v = (made - z + near / 2).div_euclid(near);
                let rest = made - z - v * near;
                assert_eq!(rest % p.pow(r), 0, "{p}^{r}: {z}");
                let half = p.pow(cleared - r) as f64 / 2.0;
                let most = |share: f64| (share * half).ceil() as i128;
                assert!((rest / p.pow(r)).abs() <= most(alpha), "{p}^{r}, α = {alpha}: u = {}", rest / p.pow(r));
                assert!(v.abs() <= p.pow(r) * (most(1.0 - alpha) + 1), "{p}^{r}, α = {alpha}: v = {v}");
            }
        }
    }

    /// A secret of weight 3 in Z\[X\]/(X^8 + 1), with signs that add up in two coefficients.
    const SECRET: [i128; 8] = [0, 1, 0, 0, 1, 0, 1, 0];

    /// a·s̃ modulo q, by definition.
    fn times_secret(a: &[i128], q: i128) -> Vec<i128> {
        let term = |k: usize, j: usize| if j <= k { SECRET[j] * a[k - j] } else { -SECRET[j] * a[8 + k - j] };
        (0..8).map(|k| (0..8).map(|j| term(k, j)).sum::<i128>().rem_euclid(q)).collect()
    }

    /// Ciphertexts of messages k under s̃, with noise of a few units, by so many primes: what comes
    /// out is p^v·k up to the bound. A search for the inverse of Q among the residues of p^r = 257^4
    /// would take a minute.
    fn check(spec: BootstrapSpec, (p, r): (u64, u32), primes: usize) {
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
        let (spec, front_end) = (BootstrapSpec { ephemeral_weight: 3, ..spec.clone() }, spec.front_end);
        let formula = DecryptionFormula::new(params.shape(), (p, r), &spec).unwrap();
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
            let request = FormulaSpec {
                parties: 1,
                shape: params.shape(),
                modulus: (p, r),
                weight: spec.ephemeral_weight,
                failure_bits: spec.failure_bits,
            };
            let [c0, c1] = front_end.method().constants(&request, &formula, [poly(&rest), poly(&mask)]);
            let [c0, c1] = [c0, c1].map(|part| part.into_iter().map(i128::from).collect::<Vec<_>>());
            for ((x, y), k) in c0.iter().zip(times_secret(&c1, whole)).zip(messages) {
                let left = centred((x + y - (p as i128).pow(formula.removed) * k).rem_euclid(whole), whole);
                assert!(left.unsigned_abs() <= formula.bound.into(), "{front_end:?} {p}^{r}, k = {k}: {left}");
            }
        }
    }

    #[test]
    fn what_is_left_of_a_message_is_at_most_the_bound() {
        for modulus in [(2, 1), (2, 5), (3, 2), (17, 1), (127, 2), (257, 3), (257, 4)] {
            check(BootstrapSpec { front_end: NearPrimePower::FRONT_END, ..BootstrapSpec::default() }, modulus, 2);
        }
        // With the digits and the share of the rule of 2015.
        for modulus in [(3, 1), (3, 2), (7, 1), (127, 1)] {
            let found = AppendixASpec { m: 16, modulus, weight: 3, level_bits: 25, conservative: false };
            check(NearPrimePower::spec(AppendixA::solve(found).unwrap()), modulus, 2);
        }
    }

    fn solved(m: u64, modulus: (u64, u32), weight: u64) -> AppendixA {
        AppendixA::solve(AppendixASpec { m, modulus, weight, level_bits: 25, conservative: false }).unwrap()
    }

    fn share(front_end: FrontEnd, shape: &Shape, modulus: (u64, u32), weight: u32) -> String {
        let request = FormulaSpec { shape, modulus, weight, parties: 1, failure_bits: 128.0 };
        let formula = front_end.method().formula(&request).unwrap();
        front_end.method().switched_to(&request, &formula)
    }

    /// What the published parameters promise is what their digits hold: less than 128 bits for
    /// composite m, and all of them where the least digits of ours are no more.
    #[test]
    fn the_rule_of_appendix_a_gives_its_digits_and_what_they_promise() {
        for (m, modulus, digits, least, most) in
            [(18631, (2, 1), 7, 5.0, 40.0), (21845, (2, 1), 7, 0.0, 5.0), (42799, (2, 8), 21, 1024.0, 1025.0)]
        {
            let found = solved(m, modulus, AppendixA::FIRST_WEIGHT);
            let (shape, spec) = (Shape::new(m).unwrap(), NearPrimePower::spec(found));
            let formula = DecryptionFormula::new(&shape, modulus, &spec).unwrap();
            assert_eq!(formula.exponent, digits, "{formula:?}");
            assert!((least..most).contains(&formula.failure_bits), "{formula:?}");
            let text = share(spec.front_end, &shape, modulus, spec.ephemeral_weight);
            let (p, e) = (modulus.0, found.exponent);
            assert_eq!(text, format!("{p}^{e} + 1, {} digits cleared with α = {:.5}", found.cleared, found.alpha));
            let own = BootstrapSpec { front_end: NearPrimePower::FRONT_END, ..spec };
            let text = share(own.front_end, &shape, modulus, own.ephemeral_weight);
            let own = DecryptionFormula::new(&shape, modulus, &own).unwrap();
            assert!(own.removed > formula.removed || modulus.1 > 1, "{own:?}");
            // The solver's share, for our own digits.
            assert!(text.contains("with α = 0.4"), "{text}");
        }
        // A power of two with digits for every rounding error that there can be.
        let spec = NearPrimePower::spec(solved(64, (7, 1), 6));
        let formula = DecryptionFormula::new(&Shape::new(64).unwrap(), (7, 1), &spec);
        assert_eq!(formula.unwrap().failure_bits.to_bits(), 1024f64.to_bits());
    }

    #[test]
    fn parameters_of_appendix_a_for_something_else_are_refused() {
        let found = solved(64, (7, 1), 6);
        let refused = |modulus, found| match DecryptionFormula::new(
            &Shape::new(64).unwrap(),
            modulus,
            &NearPrimePower::spec(found),
        ) {
            Err(Error::Bootstrap(BootstrapError::Unsupported { what })) => what,
            other => panic!("{other:?}"),
        };
        assert!(refused((17, 1), found).contains("solve them anew"));
        for wrong in [
            AppendixA { cleared: 0, ..found },
            AppendixA { exponent: found.cleared, ..found },
            AppendixA { alpha: 1.5, ..found },
            AppendixA { alpha: f64::NAN, ..found },
        ] {
            assert!(refused((7, 1), wrong).contains("do not fit"));
        }
        // q̃ of more than 120 bits.
        assert!(refused((7, 1), AppendixA { exponent: 50, cleared: 40, ..found }).contains("is too large"));
    }

    #[test]
    fn front_ends_with_other_parameters_are_not_equal() {
        let found = solved(64, (7, 1), 6);
        let by = |found| NearPrimePower::spec(found).front_end;
        assert_eq!(by(found), by(found));
        assert_ne!(by(found), by(AppendixA { alpha: 0.25, ..found }));
        assert_ne!(by(found), NearPrimePower::FRONT_END);
        assert_ne!(FrontEnd::PrimePower, NearPrimePower::FRONT_END);
    }
}
