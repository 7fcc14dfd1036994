//! Sums: where terms meet, and the weights that make up for their factors.

use windlass_ring::kernels::arith;
use windlass_rlwe::Bound;

use super::basics::{Metadata, NoiseRules, centred};

/// A summand at the level of its sum: its factor there, and its noise without that of rounding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Summand {
    pub factor: u64,
    pub noise: Bound,
}

/// How two summands are brought together.
#[derive(Debug, Clone, Copy)]
pub struct Alignment {
    /// What each is multiplied by, message and factor, before it is switched.
    pub multipliers: [i64; 2],
    /// What the sum states; its level is where they meet.
    pub sum: Metadata,
}

/// How a weighted sum is taken: each term times its weight is switched to the level of the sum.
#[derive(Debug)]
pub struct WeightedSum {
    /// Weights of ε, one for each term; 0 for a term that counts 0 times modulo t.
    pub weights: Vec<i64>,
    /// What the sum states.
    pub sum: Metadata,
}

/// How a sum keeps the primes of all of its terms: terms are raised, which costs no noise.
#[derive(Debug)]
pub struct RaisedSum {
    /// As in [`WeightedSum`].
    pub weights: Vec<i64>,
    /// What the sum states.
    pub sum: Metadata,
}

/// What is in a sum `count·p^power` times.
#[derive(Debug, Clone, Copy)]
pub struct GatheredTerm {
    /// What the term states.
    pub ct: Metadata,
    /// The power of p.
    pub power: u32,
    /// The integer beside it.
    pub count: i64,
}

/// How a sum of terms with powers of p, divided by p^divisions, is taken: raised as in
/// [`RaisedSum`], then switched to the lowest level of its terms.
#[derive(Debug)]
pub struct GatheredSum {
    /// The terms that count: those with noise, or all if none has. What has no noise is zero, at
    /// whatever level it is.
    pub kept: Vec<usize>,
    /// The weight of each of them.
    pub weights: Vec<i64>,
    /// What the sum states before it is switched.
    pub raised: Metadata,
    /// The level that it is switched to.
    pub level: usize,
}

impl NoiseRules {
    /// `‖ε‖·Q_level/Q`: the noise of a ciphertext on a level, without rounding.
    pub(super) fn noise_on(&self, ct: &Metadata, level: usize) -> Bound {
        let [from, to] = [ct.level, level].map(|level| self.params.log2_q(level));
        ct.noise * Bound::from_bits(to - from)
    }

    /// What matters of a ciphertext that is to be added at a level.
    pub(super) fn summand(&self, ct: &Metadata, level: usize) -> Summand {
        let t = self.modulus(ct.exponent);
        let inverse = self.inverse_between(level, ct.level, t);
        Summand { factor: arith::mul_mod(ct.factor, inverse, t), noise: self.noise_on(ct, level) }
    }

    /// A sum or difference of two ciphertexts in two parts.
    pub fn aligned(&self, a: &Metadata, b: &Metadata) -> Alignment {
        let level = a.level.min(b.level);
        let (x, y) = aligned(self.modulus(a.exponent), &self.summand(a, level), &self.summand(b, level));
        let [a, b] = [(a, x), (b, y)].map(|(ct, x)| self.switched(&self.scaled_with_factor(ct, x), level, 2));
        debug_assert_eq!(a.factor, b.factor);
        Alignment { multipliers: [x, y], sum: Metadata { noise: a.noise + b.noise, ..a } }
    }

    /// `Σ c_i·x_i` for pairs (x_i, c_i), of which there is one at least. The terms meet at the lowest
    /// of their levels. The sum is easy to add to `toward`, if that is given, which may switch it
    /// further.
    pub fn weighted(&self, terms: &[(Metadata, i64)], toward: Option<&Metadata>) -> WeightedSum {
        let (first, _) = terms[0];
        let t = self.modulus(first.exponent);
        let level = terms.iter().map(|(x, _)| x.level).min().unwrap_or(first.level);
        let end = toward.map_or(level, |x| x.level.min(level));
        let summands: Vec<(Summand, i64)> = terms.iter().map(|(x, c)| (self.summand(x, end), *c)).collect();
        let (factor, weights) = weights(t, &summands, toward.map(|x| self.summand(x, end)));
        let factor = arith::mul_mod(factor, self.primes_between(end, level, t), t);
        let weighed = terms.iter().zip(&weights).filter(|(_, k)| **k != 0);
        let noise = weighed.map(|((x, _), &k)| self.switched(&self.scaled(x, k), level, 2).noise).sum();
        WeightedSum { weights, sum: Metadata { level, factor, noise, ..first } }
    }

    /// `Σ c_i·x_i` with the primes of all terms that have a weight; `None` if none has one.
    pub fn raised(&self, terms: &[(Metadata, i64)]) -> Option<RaisedSum> {
        let &(first, _) = terms.first()?;
        // Factors are compared where the lowest term is, and follow the sum up from there.
        let t = self.modulus(first.exponent);
        let low = terms.iter().map(|(x, _)| x.level).min()?;
        let summands: Vec<(Summand, i64)> = terms.iter().map(|(x, c)| (self.summand(x, low), *c)).collect();
        let (factor, weights) = weights(t, &summands, None);
        let weighed: Vec<(Metadata, i64)> =
            terms.iter().zip(&weights).filter(|(_, k)| **k != 0).map(|((x, _), &k)| (*x, k)).collect();
        let level = self.params.levels().join_all(weighed.iter().map(|(x, _)| x.level))?;
        let factor = arith::mul_mod(factor, self.primes_between(low, level, t), t);
        let noise = self.exact_noise(&weighed, level);
        Some(RaisedSum { weights, sum: Metadata { level, factor, noise, ..first } })
    }

    /// `Σ |k_j|·‖ε_j‖·Q_l/Q_j`: the noise of a sum at level l, without rounding.
    pub(super) fn exact_noise(&self, terms: &[(Metadata, i64)], level: usize) -> Bound {
        terms.iter().map(|(x, k)| self.noise_on(x, level) * Bound::of(k.unsigned_abs() as f64)).sum()
    }

    /// `Σ_j c_j·p^{e_j}·x_j / p^divisions` modulo p^{exponent − divisions}, of one term at least.
    pub fn gathered(&self, exponent: u32, divisions: u32, terms: &[GatheredTerm]) -> GatheredSum {
        let heard: Vec<usize> = (0..terms.len()).filter(|&j| terms[j].ct.noise != Bound::ZERO).collect();
        let kept = if heard.is_empty() { (0..terms.len()).collect() } else { heard };
        let terms: Vec<&GatheredTerm> = kept.iter().map(|&j| &terms[j]).collect();
        let levels = || terms.iter().map(|term| term.ct.level);
        let low = levels().min().expect("a sum has terms");
        let top = self.params.levels().join_all(levels()).expect("a sum has terms");
        let summands: Vec<Summand> = terms.iter().map(|term| self.summand(&term.ct, low)).collect();
        let (factor, weights) = self.weights_of_powers(exponent, &terms, &summands);
        let noise = |(term, weight): (&&GatheredTerm, &i64)| {
            let divisor = (self.prime as f64).powi((divisions - term.power) as i32);
            self.noise_on(&term.ct, top) * Bound::of(weight.unsigned_abs() as f64) / Bound::of(divisor)
        };
        let noise = terms.iter().zip(&weights).map(noise).sum();
        let exponent = exponent - divisions;
        let t = self.modulus(exponent);
        let factor = arith::mul_mod(factor % t, self.primes_between(low, top, t), t);
        GatheredSum { kept, weights, raised: Metadata { level: top, exponent, factor, noise }, level: low }
    }

    /// As [`weights`], of a sum `Σ c_i·p^{e_i}·x_i` modulo p^exponent: each weight counts modulo
    /// p^{exponent − e_i}, the plaintext modulus of its x_i.
    fn weights_of_powers(&self, exponent: u32, terms: &[&GatheredTerm], summands: &[Summand]) -> (u64, Vec<i64>) {
        let weights = |factor: u64| -> Vec<i64> {
            let one = |(term, summand): (&&GatheredTerm, &Summand)| {
                weight(self.modulus(exponent - term.power), factor, summand, term.count)
            };
            terms.iter().zip(summands).map(one).collect()
        };
        let noise = |weights: &[i64]| -> Bound {
            let size = |j: usize| weights[j].unsigned_abs() as f64 * (self.prime as f64).powi(terms[j].power as i32);
            (0..terms.len()).map(|j| summands[j].noise * Bound::of(size(j))).sum()
        };
        let candidates = summands.iter().map(|summand| (summand.factor, weights(summand.factor)));
        candidates.min_by(|(_, a), (_, b)| noise(a).bits().total_cmp(&noise(b).bits())).expect("a sum has terms")
    }
}

/// What a summand is multiplied by in a sum of this factor, if its message counts c times: centred
/// modulo t.
fn weight(t: u64, factor: u64, summand: &Summand, c: i64) -> i64 {
    let ratio = arith::mul_mod(factor % t, arith::inv_mod(summand.factor, t).expect("factors are units"), t);
    centred(arith::mul_mod(ratio, c.rem_euclid(t as i64) as u64, t), t)
}

/// The factor of a sum `Σ c_i·x_i` and the weights for it: k_i ≡ c_i·F/f_i, centred, for the F
/// among the candidates with the least noise; `toward` is a summand that comes on top.
pub(super) fn weights(t: u64, terms: &[(Summand, i64)], toward: Option<Summand>) -> (u64, Vec<i64>) {
    let candidates = toward.iter().map(|x| x.factor).chain(terms.iter().map(|(x, _)| x.factor));
    let mut best: Option<(f64, u64, Vec<i64>)> = None;
    for factor in candidates {
        let weights: Vec<i64> = terms.iter().map(|(x, c)| weight(t, factor, x, *c)).collect();
        let bits = noise_of_sum(t, terms, (factor, &weights), toward.as_ref()).bits();
        if best.as_ref().is_none_or(|(least, ..)| bits.total_cmp(least).is_lt()) {
            best = Some((bits, factor, weights));
        }
    }
    let (_, factor, weights) = best.expect("a sum has terms");
    (factor, weights)
}

/// The noise of `Σ k_i·x_i`, which has this factor, with `toward` added to it.
fn noise_of_sum(t: u64, terms: &[(Summand, i64)], (factor, weights): (u64, &[i64]), toward: Option<&Summand>) -> Bound {
    let sum: Bound = terms.iter().zip(weights).map(|((x, _), &k)| x.noise * size(k)).sum();
    let Some(toward) = toward else { return sum };
    let (x, y) = aligned(t, toward, &Summand { factor, noise: sum });
    toward.noise * size(x) + sum * size(y)
}

/// The absolute value of a weight.
fn size(weight: i64) -> Bound {
    Bound::of(weight.unsigned_abs() as f64)
}

/// The weights that bring a sum `c·head + Σ c_i·x_i` to one factor: the given one, that of the head
/// if it has a weight, or the best. Returns the factor, the head's weight and those of the others.
pub(super) fn weights_beside(
    t: u64,
    (head, c): (Summand, i64),
    others: &[(Summand, i64)],
    factor: Option<u64>,
) -> (u64, i64, Vec<i64>) {
    let of_head = (c != 0).then_some(head.factor);
    let factor = factor.or(of_head).unwrap_or_else(|| weights(t, others, None).0);
    (factor, weight(t, factor, &head, c), others.iter().map(|(x, c)| weight(t, factor, x, *c)).collect())
}

/// The multipliers that give two summands one factor, with as little noise as can be.
fn aligned(t: u64, a: &Summand, b: &Summand) -> (i64, i64) {
    if a.factor == b.factor {
        return (1, 1);
    }
    let inverse = arith::inv_mod(b.factor, t).expect("factors are units");
    // x·factor_a ≡ y·factor_b; the noisier summand gets the smaller multiplier.
    small_ratio(arith::mul_mod(a.factor, inverse, t), t, a.noise, b.noise)
}

/// (x, y), both units modulo the prime power t, with y ≡ ratio·x (mod t), that keep |x|·a + |y|·b
/// small: the convergents of Euclid's algorithm and their neighbours are tried. For equal a and b
/// and a prime t both are near √t; when one summand is much noisier, its multiplier is 1.
fn small_ratio(ratio: u64, t: u64, a: Bound, b: Bound) -> (i64, i64) {
    let (mut r0, mut r1) = (t as i64, ratio as i64);
    let (mut t0, mut t1) = (0i64, 1i64);
    let weight =
        |(x, y): (i64, i64)| (a * Bound::of(x.unsigned_abs() as f64) + b * Bound::of(y.unsigned_abs() as f64)).bits();
    let mut best: (i64, i64) = (1, centred(ratio, t));
    while r1 != 0 {
        // Modulo a prime power a convergent may share the prime; then one of its neighbours in the
        // lattice does not.
        for k in -1..=1 {
            let (x, y) = (t1 + k * t0, r1 + k * r0);
            let unit = arith::gcd(x.unsigned_abs(), t) == 1 && arith::gcd(y.unsigned_abs(), t) == 1;
            if unit && weight((x, y)) < weight(best) {
                best = (x, y);
            }
        }
        let k = r0 / r1;
        (r0, r1) = (r1, r0 - k * r1);
        (t0, t1) = (t1, t0 - k * t1);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_small_units() {
        for t in [2u64, 3, 8, 127, 257, 65537, 6561, 1 << 16] {
            for ratio in (1..t).filter(|&x| arith::gcd(x, t) == 1).step_by(1 + t as usize / 500) {
                let (x, y) = small_ratio(ratio, t, Bound::ONE, Bound::ONE);
                let modulo = |x: i64| x.rem_euclid(t as i64) as u64;
                assert_eq!(arith::mul_mod(ratio, modulo(x), t), modulo(y));
                assert_eq!(arith::gcd(modulo(x), t), 1);
                let (x_noisy, y_noisy) = small_ratio(ratio, t, Bound::from_bits(100.0), Bound::ONE);
                assert_eq!(arith::mul_mod(ratio, modulo(x_noisy), t), modulo(y_noisy));
                assert_eq!(x_noisy.abs(), 1);
                // A prime power may have no small units in the lattice: 547·12 ≡ 3 modulo 3^8, and
                // nothing near it is a unit.
                let bound = if arith::is_prime(t) { 2.0 * (t as f64).sqrt() } else { t as f64 / 2.0 };
                assert!(x.abs().max(y.abs()) as f64 <= bound, "{ratio} mod {t}: {x}, {y}");
            }
        }
    }

    #[test]
    fn weights_give_every_term_one_factor() {
        let t = 6561;
        let summand = |factor, bits| Summand { factor, noise: Bound::from_bits(bits) };
        let terms = [(summand(5, 10.0), 7), (summand(4000, 11.0), -2), (summand(1, 3.0), 27)];
        for toward in [None, Some(summand(77, 30.0)), Some(summand(77, 1.0))] {
            let (factor, weights) = weights(t, &terms, toward);
            for ((x, c), k) in terms.iter().zip(&weights) {
                let modulo = |x: i64| x.rem_euclid(t as i64) as u64;
                assert_eq!(arith::mul_mod(modulo(*k), x.factor, t), arith::mul_mod(modulo(*c), factor, t));
                assert!(k.unsigned_abs() <= t / 2);
            }
        }
        // A noisy summand keeps its factor.
        assert_eq!(weights(t, &terms, Some(summand(77, 60.0))).0, 77);
        // The best of three is one in which the noisy terms keep small weights.
        let (factor, _) = weights(t, &terms[..2], None);
        assert!([5, 4000].contains(&factor));
    }
}
