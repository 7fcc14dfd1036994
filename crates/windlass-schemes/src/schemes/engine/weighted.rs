//! Sums of ciphertexts with integer weights, the weights absorbing what the factors differ by.

use windlass_ring::kernels::arith;
use windlass_rlwe::Bound;

use super::levels::{Summand, aligned};
use super::{Ciphertext, Engine, centred};
use crate::error::Result;
use crate::switching::no_terms;

/// What a summand is multiplied by in a sum of this factor, where its message counts c times: centred
/// modulo t.
fn weight(t: u64, factor: u64, summand: &Summand, c: i64) -> i64 {
    let ratio = arith::mul_mod(factor % t, arith::inv_mod(summand.factor, t).expect("factors are units"), t);
    centred(arith::mul_mod(ratio, c.rem_euclid(t as i64) as u64, t), t)
}

/// The factor of a sum `Σ c_i·x_i` and the weights for it: k_i ≡ c_i·F/f_i, centred, for the F
/// among the candidates with the least noise; `toward` is a summand that comes on top.
#[doc(hidden)]
pub fn weights(t: u64, terms: &[(Summand, i64)], toward: Option<Summand>) -> (u64, Vec<i64>) {
    let weigh = |factor: u64| -> Vec<i64> { terms.iter().map(|(x, c)| weight(t, factor, x, *c)).collect() };
    let noise = |factor: u64, weights: &[i64]| {
        let one = |((x, _), k): (&(Summand, i64), &i64)| x.noise * Bound::of(k.unsigned_abs() as f64);
        let sum: Bound = terms.iter().zip(weights).map(one).sum();
        let Some(toward) = toward else { return sum };
        let (x, y) = aligned(t, &toward, &Summand { factor, noise: sum });
        toward.noise * Bound::of(x.unsigned_abs() as f64) + sum * Bound::of(y.unsigned_abs() as f64)
    };
    let candidates = toward.iter().map(|x| x.factor).chain(terms.iter().map(|(x, _)| x.factor));
    let weighed = candidates.map(|factor| (factor, weigh(factor)));
    let best = weighed.min_by(|(f, a), (g, b)| noise(*f, a).bits().total_cmp(&noise(*g, b).bits()));
    best.expect("a sum has terms")
}

/// The weights that bring a sum `c·head + Σ c_i·x_i` to one factor: the given one, that of the head
/// where it has a weight, or the best. Gives the factor, the head's weight and those of the others.
#[doc(hidden)]
pub fn weights_beside(
    t: u64,
    (head, c): (Summand, i64),
    others: &[(Summand, i64)],
    factor: Option<u64>,
) -> (u64, i64, Vec<i64>) {
    let of_head = (c != 0).then_some(head.factor);
    let factor = factor.or(of_head).unwrap_or_else(|| weights(t, others, None).0);
    (factor, weight(t, factor, &head, c), others.iter().map(|(x, c)| weight(t, factor, x, *c)).collect())
}

/// A term `c·p^power·x` of a sum.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct Powered {
    pub summand: Summand,
    /// c.
    pub count: i64,
    pub power: u32,
}

/// As [`weights`], of a sum `Σ c_i·p^{e_i}·x_i` modulo p^exponent: each weight counts modulo
/// p^{exponent − e_i}, the plaintext modulus of its x_i.
#[doc(hidden)]
pub fn weights_of_powers(prime: u64, exponent: u32, terms: &[Powered]) -> (u64, Vec<i64>) {
    let one = |factor: u64, term: &Powered| weight(prime.pow(exponent - term.power), factor, &term.summand, term.count);
    let noise = |weights: &[i64]| -> Bound {
        let size = |term: &Powered, k: i64| k.unsigned_abs() as f64 * (prime as f64).powi(term.power as i32);
        terms.iter().zip(weights).map(|(term, &k)| term.summand.noise * Bound::of(size(term, k))).sum()
    };
    let candidates = terms.iter().map(|term| term.summand.factor);
    let weighed = candidates.map(|factor| (factor, terms.iter().map(|term| one(factor, term)).collect::<Vec<_>>()));
    weighed.min_by(|(_, a), (_, b)| noise(a).bits().total_cmp(&noise(b).bits())).expect("a sum has terms")
}

impl Engine {
    /// `Σ c_i·x_i (+ toward)`.
    pub(super) fn weighted(&self, terms: &[(&Ciphertext, i64)], toward: Option<&Ciphertext>) -> Result<Ciphertext> {
        let Some(&(first, _)) = terms.first() else { return Err(no_terms()) };
        terms.iter().try_for_each(|(x, _)| self.check_summands(first, x))?;
        let t = self.modulus(first.exponent);
        // The terms meet at the lowest of their levels; only their sum is switched further.
        let level = terms.iter().map(|(x, _)| x.level()).min().expect("there is a first");
        let end = toward.map_or(level, |x| x.level().min(level));
        let summands: Vec<(Summand, i64)> = terms.iter().map(|(x, c)| (self.summand(x, end), *c)).collect();
        let (factor, weights) = weights(t, &summands, toward.map(|x| self.summand(x, end)));
        let factor = arith::mul_mod(factor, self.primes_between(end, level, t), t);
        let mut sum: Option<Ciphertext> = None;
        for ((x, _), k) in terms.iter().zip(weights).filter(|(_, k)| *k != 0) {
            let parts = x.parts.iter().map(|part| part.times_scalar(|q| q.reduce_i64(k))).collect();
            let scaled = Ciphertext { noise: x.noise * Bound::of(k.unsigned_abs() as f64), ..x.with_parts(parts) };
            let term = if scaled.level() == level { scaled } else { self.switched(&scaled, level).into_owned() };
            sum = Some(match sum {
                None => Ciphertext { factor, ..term },
                Some(mut sum) => {
                    sum.parts.iter_mut().zip(&term.parts).for_each(|(x, y)| x.add_assign(y));
                    Ciphertext { noise: sum.noise + term.noise, content: sum.content.max(term.content), ..sum }
                }
            });
        }
        let sum = match sum {
            Some(sum) => self.accept("weighted sum", self.capacity(first), sum)?,
            None => self.scaled(first, 0)?,
        };
        toward.map_or(Ok(sum.clone()), |base| self.add_or_sub(base, &sum, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
