//! From a ciphertext modulo Q_in under the ephemeral key to integers modulo p^e: the two decryption
//! formulas.

use num_bigint::{BigInt, BigUint};
use rayon::prelude::*;
use windlass_ring::kernels::arith;
use windlass_ring::rns::IntegerLift;
use windlass_ring::{Eval, Poly};

use super::formula::DecryptionFormula;
use super::spec::FrontEnd;

/// `(c'_0, c'_1)` modulo p^e with `c'_0 + c'_1·s̃ ≡ p^v·k + I`, |I| at most the bound, k ≡
/// −Q^{−1}·ε (mod p^r), for a pair in BFV form.
pub(super) fn decryption_constants(
    front_end: FrontEnd,
    formula: &DecryptionFormula,
    parts: [Poly<Eval>; 2],
) -> [Vec<u64>; 2] {
    match front_end {
        FrontEnd::PrimePower => parts.map(|part| rounded_to(part, formula.prime.pow(formula.exponent))),
        FrontEnd::NearPrimePower => parts.map(|part| divided(part, formula)),
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

/// Every coefficient switched to q̃ = p^ẽ + 1 without changing what it is modulo p^r up to Q^{−1},
/// made divisible by p^{e'} (Lemma 5.2), divided by it and reduced modulo p^e, e = ẽ − e' + r.
fn divided(mut part: Poly<Eval>, formula: &DecryptionFormula) -> Vec<u64> {
    let (p, r, cleared) = (formula.prime as i128, formula.message_exponent, formula.cleared);
    let t = p.pow(r);
    // The BGV form: t times the BFV one.
    part.mul_scalar_assign(|q| q.reduce(t as u64));
    let part = part.into_coeff();
    let lift = IntegerLift::new(part.ring(), part.basis());
    let q = BigInt::from(lift.product().clone());
    let near = p.pow(formula.removed + cleared) + 1;
    let whole = p.pow(formula.exponent);
    let residue = to_i128(&(&q % t)) as u64;
    let inverse = arith::inv_mod(residue, t as u64).expect("no prime of the chain is p") as i128;
    let convert = |x: &BigInt| {
        // c' ≡ Q^{−1}·x·q̃ ≡ Q^{−1}·x (mod t), nearest to x·q̃/Q.
        let doubled: BigInt = x * near * 2 + &q;
        let nearest = floor_div(&doubled, &(&q * 2));
        let wanted = (to_i128(&(x % t)).rem_euclid(t) * inverse).rem_euclid(t);
        let value = nearest + centred((wanted - nearest).rem_euclid(t), t);
        make_divisible(value, p, r, (cleared, formula.alpha), near).rem_euclid(whole) as u64
    };
    lift.centred(&part).par_iter().map(convert).collect()
}

/// `(z + u·p^r + v·q̃)/p^{e'}` with |u| ≤ ⌈α·p^{e'−r}/2⌉ and |v| ≤ p^r·(1/2 + ⌈(1−α)·p^{e'−r}/2⌉):
/// Lemma 5.2, δ modulo p^{e'−r}.
fn make_divisible(z: i128, p: i128, r: u32, (cleared, alpha): (u32, f64), near: i128) -> i128 {
    let (t, unit) = (p.pow(r), p.pow(cleared));
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
    use windlass_ring::kernels::Isa;
    use windlass_ring::{Basis, Coeff, Ring};
    use windlass_rlwe::{Assurance, RlweParams, RlweSpec, SecretDistribution};

    use crate::{AppendixA, AppendixASpec, BootstrapSpec};

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
                let made = make_divisible(z, p, r, (cleared, alpha), near) * p.pow(cleared);
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
            let [c0, c1] = decryption_constants(front_end, &formula, [poly(&rest), poly(&mask)]);
            let [c0, c1] = [c0, c1].map(|part| part.into_iter().map(i128::from).collect::<Vec<_>>());
            for ((x, y), k) in c0.iter().zip(times_secret(&c1, whole)).zip(messages) {
                let left = centred((x + y - (p as i128).pow(formula.removed) * k).rem_euclid(whole), whole);
                assert!(left.unsigned_abs() <= formula.bound.into(), "{front_end:?} {p}^{r}, k = {k}: {left}");
            }
        }
    }

    #[test]
    fn both_decryption_formulas_hold() {
        let of = |front_end| BootstrapSpec { front_end, ..BootstrapSpec::default() };
        for modulus in [(2, 1), (2, 5), (3, 2), (17, 1), (127, 2), (257, 3)] {
            check(of(FrontEnd::PrimePower), modulus, 1);
            check(of(FrontEnd::PrimePower), modulus, 2);
            check(of(FrontEnd::NearPrimePower), modulus, 2);
        }
        check(of(FrontEnd::NearPrimePower), (257, 4), 2);
        // With the digits and the share of the rule of 2015.
        for modulus in [(3, 1), (3, 2), (7, 1), (127, 1)] {
            let found = AppendixASpec { m: 16, modulus, weight: 3, level_bits: 25, conservative: false };
            check(BootstrapSpec::by_appendix_a(AppendixA::solve(found).unwrap()), modulus, 2);
        }
    }
}
