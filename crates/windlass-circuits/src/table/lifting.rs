//! Polynomials that lift a digit to higher precision, for any value above the digit.
//!
//! If a digit d is known only modulo p^a, its ciphertext holds d + p^a·n. Nothing is known about n,
//! not even that it is an integer. For a polynomial f with Hasse derivatives f_k
//!
//! ```text
//! f(d + p^a·n) = f(d) + Σ_{k≥1} f_k(d)·p^{ak}·n^k,
//! ```
//!
//! So f maps all of these to d modulo p^c if f(d) = d and f_k(d) = 0 for 0 < k < c/a. Hermite
//! interpolation finds such an f of degree below p·⌈c/a⌉. Multiples of p^{c−ai}·M^i, with M = Π (X
//! − d), vanish on all arguments, so they can be added to remove coefficients. For c = a + 1 the
//! remaining degree is p (for p = 2 the polynomial is X²), for c = 2a it is 2p − 1 (3X² − 2X³).
//! Polynomials of smaller degree, which are correct only for integers n, are in [`crate::digits`].

use std::ops::RangeInclusive;

use windlass_ring::slots::PrimePower;
use windlass_schemes::error::Result;

use crate::digits::quotients::{divided, multiplied, trimmed};
use crate::interpolation::{newton_in_powers, with_roots};

/// The digits to base p: 0 and 1 for p = 2, balanced for odd p.
pub(super) fn digits(prime: u64) -> RangeInclusive<i64> {
    let half = (prime as i64 - 1) / 2;
    if prime == 2 { 0..=1 } else { -half..=half }
}

/// The coefficients, lowest first and centred, of a polynomial that takes `d + p^from·n` to d modulo
/// p^to, for every digit d and every n of any ring. Odd for odd p.
pub(super) fn lifting(prime: u64, from: u32, to: u32) -> Result<Vec<i64>> {
    let (modulus, order) = (PrimePower::new(prime, to)?, to.div_ceil(from) as usize);
    let digits: Vec<u64> = digits(prime).map(|d| modulus.reduce_i64(d)).collect();
    let mut f = reduced(modulus, from, &digits, hermite(modulus, &digits, order))?;
    if prime != 2 {
        // (f(X) − f(−X))/2 is right as well: −d is a digit too.
        f.iter_mut().step_by(2).for_each(|c| *c = 0);
    }
    Ok(trimmed(f).into_iter().map(|c| modulus.centred(c)).collect())
}

/// The polynomial with f(d) = d at every digit and f_k(d) = 0 for 0 < k < order, by divided
/// differences on nodes that come `order` times each: a difference of equal nodes is a derivative.
fn hermite(modulus: PrimePower, digits: &[u64], order: usize) -> Vec<u64> {
    let nodes: Vec<u64> = digits.iter().flat_map(|&d| std::iter::repeat_n(d, order)).collect();
    let mut differences = nodes.clone();
    for step in 1..nodes.len() {
        for k in (step..nodes.len()).rev() {
            let rise = modulus.sub(differences[k], differences[k - 1]);
            differences[k] = match modulus.sub(nodes[k], nodes[k - step]) {
                0 => 0,
                run => modulus.mul(rise, modulus.inv(run).expect("digits differ modulo p")),
            };
        }
    }
    newton_in_powers(modulus, &nodes, &differences)
}

/// f = Σ_i q_i·M^i with the q_i, of degree below p, modulo p^{c−ai}.
fn reduced(modulus: PrimePower, from: u32, digits: &[u64], f: Vec<u64>) -> Result<Vec<u64>> {
    let null = with_roots(modulus, digits);
    let (mut rest, mut power, mut sum) = (f, vec![1], Vec::new());
    for below in (1..=modulus.exponent()).rev().step_by(from as usize) {
        let [above, now] = divided(modulus, &rest, &null).expect("the null polynomial is monic");
        let low = modulus.with_exponent(below)?;
        let now: Vec<u64> = now.iter().map(|&c| modulus.reduce_i64(low.centred(low.reduce(c)))).collect();
        let term = multiplied(modulus, &now, &power);
        sum.resize(sum.len().max(term.len()), 0);
        sum.iter_mut().zip(term).for_each(|(sum, c)| *sum = modulus.add(*sum, c));
        (rest, power) = (above, multiplied(modulus, &power, &null));
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// f_k(d) = Σ_j C(j, k)·f_j·d^{j−k}, in integers.
    fn derivative(f: &[i64], k: usize, d: i64) -> i128 {
        let binomial = |j: usize| (0..k).fold(1i128, |c, i| c * (j - i) as i128 / (i as i128 + 1));
        (k..f.len()).map(|j| binomial(j) * i128::from(f[j]) * i128::from(d).pow((j - k) as u32)).sum()
    }

    /// Every derivative has the powers of p that elements ask for: exact, and for all n at once.
    #[test]
    fn digits_come_out_whatever_element_stands_above() {
        let sets = [(2u64, 8u32), (3, 5), (5, 3), (7, 2), (11, 2), (13, 2)];
        for (p, most) in sets {
            for (from, to) in (1..most).flat_map(|from| (from + 1..=most).map(move |to| (from, to))) {
                let f = lifting(p, from, to).unwrap();
                assert!(f.len() as u64 <= p * u64::from(to.div_ceil(from)), "{p}: {from} to {to}: {f:?}");
                for d in digits(p) {
                    let modulus = i128::from(p.pow(to));
                    assert_eq!((derivative(&f, 0, d) - i128::from(d)) % modulus, 0, "{p}: {from} to {to} at {d}");
                    for k in 1..f.len() {
                        let needed = i128::from(p.pow(to.saturating_sub(from * k as u32)));
                        assert_eq!(derivative(&f, k, d) % needed, 0, "{p}: {from} to {to} at {d}, k = {k}");
                    }
                }
            }
        }
    }

    #[test]
    fn small_steps_have_the_polynomials_of_the_papers() {
        for from in 1..8 {
            assert_eq!(lifting(2, from, from + 1).unwrap(), [0, 0, 1], "X² for one bit");
        }
        assert_eq!(lifting(2, 4, 8).unwrap(), [0, 0, 3, -2]);
        for (p, from) in [(3u64, 1), (3, 4), (5, 2), (13, 1)] {
            assert_eq!(lifting(p, from, from + 1).unwrap().len() as u64, p + 1, "degree p");
            assert_eq!(lifting(p, from, 2 * from).unwrap().len() as u64, if from == 1 { p + 1 } else { 2 * p });
        }
    }
}
