//! Polynomials that know a digit more precisely than their argument does.
//!
//! An integer z knows the digit d to precision a when `z ≡ d (mod p^a)`. All polynomials are
//! generated, by Newton interpolation along a p-ordering (Bhargava) of the set of possible
//! arguments.

use std::ops::RangeInclusive;

use windlass_ring::slots::PrimePower;
use windlass_rlwe::Limits;
use windlass_schemes::error::Result;

/// Polynomials of a larger degree are refused: planning their evaluation would take longer than any
/// use of it.
pub(super) const MAX_DEGREE: usize = 2048;

/// The digits that may occur: all integers from `low` to `high`, distinct modulo p.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DigitRange {
    pub low: i64,
    pub high: i64,
}

impl DigitRange {
    /// All residues: 0 and 1 for p = 2, balanced for odd p.
    pub fn all(prime: u64) -> Self {
        let half = (prime as i64 - 1) / 2;
        if prime == 2 { Self { low: 0, high: 1 } } else { Self { low: -half, high: half } }
    }

    /// The balanced digits of absolute value at most `bound`, for odd p.
    pub fn up_to(bound: u64, prime: u64) -> Self {
        let bound = i64::try_from(bound).unwrap_or(i64::MAX).min(Self::all(prime).high);
        Self { low: -bound, high: bound }
    }

    /// Refuses ranges of no digits, and digits that are not below p or not distinct modulo p.
    pub fn check(self, prime: u64) -> Result<()> {
        let most = prime as i64 - 1;
        Limits::between(-most, most).with("digits to base p").check("the lowest digit", self.low)?;
        let most = most.min(self.low + most);
        let limits = Limits::between(self.low, most).with("with the lowest distinct modulo p");
        Ok(limits.check("the highest digit", self.high)?)
    }

    /// From the lowest to the highest.
    pub fn range(self) -> RangeInclusive<i64> {
        self.low..=self.high
    }

    fn count(self) -> usize {
        (self.high - self.low + 1) as usize
    }

    /// Element number i of the p-ordering of `{d + p^from·k}`: the digits for k = 0, then for k =
    /// 1, ..
    fn element(self, i: usize, step: i64) -> i64 {
        self.low + (i % self.count()) as i64 + step * (i / self.count()) as i64
    }
}

impl From<&RangeInclusive<i64>> for DigitRange {
    fn from(range: &RangeInclusive<i64>) -> Self {
        Self { low: *range.start(), high: *range.end() }
    }
}

/// An argument that a polynomial does not take to its digit modulo p^c, if there is one among the
/// `d + p^from·k`, d one of the digits.
///
/// Exact: what is left, f minus a polynomial that is right, has coefficients a_n in Newton's form
/// on the p-ordering, and a_n·P_n vanishes on all arguments if it does on s_n; so arguments up to
/// the degree of both decide.
pub(super) fn counterexample(modulus: PrimePower, coefficients: &[i64], from: u32, digits: DigitRange) -> Option<i64> {
    let step = modulus.prime().pow(from.min(modulus.exponent())) as i64;
    let least = digits.count() * modulus.exponent().div_ceil(from) as usize;
    let value = |x: i64| {
        let x = modulus.reduce_i64(x);
        coefficients.iter().rev().fold(0, |sum, &c| modulus.add(modulus.mul(sum, x), modulus.reduce_i64(c)))
    };
    (0..least.max(coefficients.len())).find_map(|i| {
        let (x, digit) = (digits.element(i, step), digits.element(i % digits.count(), step));
        (value(x) != modulus.reduce_i64(digit)).then_some(x)
    })
}

/// The polynomial of least degree modulo p^c that takes every `d + p^from·k`, d one of the digits,
/// to d. Coefficients centred, lowest first.
///
/// For all residues and from = 1 this is Chen–Han's G_c (Lemma 3), of degree (c−1)(p−1)+1 at most;
/// for c = from + 1 the lifting polynomial F of Halevi–Shoup (Corollary 5.5), of degree p;
/// otherwise the improved polynomials of eprint 2022/1364, and for few digits the local null
/// polynomials of 2024/115. Newton's form on the p-ordering s_i has `P_n = Π_{i<n}(X − s_i)`,
/// divisible by p^{v_n} on all arguments, so its coefficient matters modulo p^{c − v_n} alone and
/// the sum ends where v_n ≥ c. Odd when the digits are balanced.
///
/// # Errors
/// [`windlass_schemes::Error::OutOfRange`] for degrees above 2048.
pub(super) fn least_degree(modulus: PrimePower, from: u32, digits: DigitRange) -> Result<Vec<i64>> {
    let (prime, precision) = (modulus.prime(), modulus.exponent());
    let step = prime.pow(from.min(precision)) as i64;
    check_degree(newton_terms(prime, precision, from, digits) - 1)?;
    let mut f = in_powers(modulus, &newton_form(modulus, digits, step)?, digits, step);
    if digits.low == -digits.high {
        // (f(X) − f(−X))/2 takes the same values.
        f.iter_mut().step_by(2).for_each(|c| *c = 0);
    }
    while f.last() == Some(&0) {
        f.pop();
    }
    Ok(f.into_iter().map(|c| modulus.centred(c)).collect())
}

/// The c_n of the digits' polynomial `Σ_n c_n·P_n`, each modulo p^{c − v_n}, up to the last with
/// v_n < c: c_n is the n-th digit less what the terms before it make of s_n, divided by P_n(s_n).
fn newton_form(modulus: PrimePower, digits: DigitRange, step: i64) -> Result<Vec<u64>> {
    let (prime, precision) = (modulus.prime(), modulus.exponent());
    let mut newton: Vec<u64> = Vec::new();
    for n in 0.. {
        let (unit, valuation) = product_before(modulus, digits, step, n);
        if valuation >= precision {
            break;
        }
        let digit = digits.low + (n % digits.count()) as i64;
        let before = evaluate_newton(modulus, &newton, digits, step, digits.element(n, step));
        let rest = modulus.sub(modulus.reduce_i64(digit), before);
        debug_assert_eq!(rest % prime.pow(valuation), 0, "the digit is a polynomial function");
        let low = modulus.with_exponent(precision - valuation)?;
        let inverse = low.inv(low.reduce(unit)).expect("the powers of p have been divided out");
        newton.push(low.mul(rest / prime.pow(valuation), inverse));
    }
    Ok(newton)
}

/// `P_n(s_n) = Π_{i<n}(s_n − s_i)`: the part that p does not divide, and v_n, how often it divides
/// the product.
fn product_before(modulus: PrimePower, digits: DigitRange, step: i64, n: usize) -> (u64, u32) {
    let prime = modulus.prime() as i64;
    let here = digits.element(n, step);
    let (mut unit, mut valuation) = (1u64, 0u32);
    for i in 0..n {
        let mut difference = here - digits.element(i, step);
        while difference % prime == 0 {
            difference /= prime;
            valuation += 1;
        }
        unit = modulus.mul(unit, modulus.reduce_i64(difference));
    }
    (unit, valuation)
}

/// Newton's form as coefficients of 1, X, X², ..: from the last term on, `f ← f·(X − s_n) + c_n`.
fn in_powers(modulus: PrimePower, newton: &[u64], digits: DigitRange, step: i64) -> Vec<u64> {
    let mut f = vec![0u64; newton.len()];
    for (n, &c) in newton.iter().enumerate().rev() {
        let root = modulus.reduce_i64(digits.element(n, step));
        for k in (0..f.len()).rev() {
            let shifted = if k > 0 { f[k - 1] } else { 0 };
            f[k] = modulus.sub(shifted, modulus.mul(f[k], root));
        }
        f[0] = modulus.add(f[0], c);
    }
    f
}

/// `Σ_n c_n·Π_{i<n}(x − s_i)`.
fn evaluate_newton(modulus: PrimePower, newton: &[u64], digits: DigitRange, step: i64, x: i64) -> u64 {
    newton
        .iter()
        .enumerate()
        .rev()
        .fold(0, |sum, (n, &c)| modulus.add(c, modulus.mul(sum, modulus.reduce_i64(x - digits.element(n, step)))))
}

/// The number of terms of Newton's form modulo p^c. Round k of the digits meets each digit k times
/// before, at the distances p^from·j, j ≤ k, so that v_n = k·from + v_p(k!) for n in that round:
/// the sum ends with the first round in which this is c.
fn newton_terms(prime: u64, precision: u32, from: u32, digits: DigitRange) -> u64 {
    let (mut round, mut valuation) = (0u64, 0u64);
    while valuation < u64::from(precision) {
        round += 1;
        valuation += u64::from(from);
        let mut rest = round;
        while rest % prime == 0 {
            rest /= prime;
            valuation += 1;
        }
    }
    round * digits.count() as u64
}

/// Checks that a polynomial of at most this degree can be planned.
fn check_degree(degree: u64) -> Result<()> {
    let limits =
        Limits::at_most(MAX_DEGREE).with("so for a large p state a bound on the digits (local null polynomials)");
    Ok(limits.check("the degree of a digit polynomial", degree)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_schemes::error::Error;

    fn value(modulus: PrimePower, f: &[i64], x: i64) -> u64 {
        f.iter().rev().fold(0u128, |sum, &c| {
            (sum * modulus.reduce_i64(x) as u128 + modulus.reduce_i64(c) as u128) % modulus.value() as u128
        }) as u64
    }

    /// X is right on the digits 0 and 1, and of degree below that of what is right on all residues.
    #[test]
    fn polynomials_that_are_right_on_the_digits_alone_are_found() {
        let digits = DigitRange { low: 0, high: 1 };
        for c in 2..8 {
            let modulus = PrimePower::new(2, c).unwrap();
            assert_eq!(counterexample(modulus, &[0, 1], 1, digits), Some(2), "2^{c}");
            // 0 is right on 0 alone.
            assert_eq!(counterexample(modulus, &[0], 1, digits), Some(1), "2^{c}");
        }
    }

    /// The first n terms of Newton's form are right on the first n arguments, and wrong on the next
    /// one where the next term counts; and there are as many terms as the degree is judged by.
    #[test]
    fn every_term_of_newtons_form_is_missed_at_its_argument() {
        let sets = [(2, 12, DigitRange::all(2)), (3, 7, DigitRange::all(3)), (5, 4, DigitRange::up_to(1, 5))];
        for (p, most, digits) in sets {
            for (c, from) in (2..=most).flat_map(|c| (1..c).map(move |from| (c, from))) {
                let (modulus, step) = (PrimePower::new(p, c).unwrap(), p.pow(from) as i64);
                let newton = newton_form(modulus, digits, step).unwrap();
                assert_eq!(newton_terms(p, c, from, digits), newton.len() as u64, "{p}^{c} from {from}");
                for n in (1..newton.len()).filter(|&n| newton[n] != 0) {
                    let f = in_powers(modulus, &newton[..n], digits, step);
                    let f: Vec<i64> = f.into_iter().map(|c| modulus.centred(c)).collect();
                    let missed = counterexample(modulus, &f, from, digits);
                    assert_eq!(missed, Some(digits.element(n, step)), "{p}^{c} from {from}: {n} terms");
                }
            }
        }
    }

    #[test]
    fn refusals_name_the_degree() {
        let degree = |p, c, from, digits| match least_degree(PrimePower::new(p, c).unwrap(), from, digits) {
            Err(Error::OutOfRange(refused)) => refused.got.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(degree(65537, 2, 1, DigitRange::all(65537)), "131073");
        assert_eq!(degree(8191, 3, 2, DigitRange::all(8191)), "16381");
        assert_eq!(degree(2053, 2, 1, DigitRange::all(2053)), "4105");
    }

    #[test]
    fn every_argument_goes_to_its_digit() {
        for (p, most) in [(2u64, 9), (3, 6), (5, 4), (7, 4), (17, 3), (31, 2)] {
            for c in 2..=most {
                let modulus = PrimePower::new(p, c).unwrap();
                for from in 1..c {
                    let digits = DigitRange::all(p);
                    let f = least_degree(modulus, from, digits).unwrap();
                    for d in digits.low..=digits.high {
                        for k in 0..p.pow(c - from) as i64 {
                            let x = d + p.pow(from) as i64 * k;
                            assert_eq!(value(modulus, &f, x), modulus.reduce_i64(d), "{p}^{c} from {from}: {x}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn degrees_are_those_of_the_papers() {
        for (p, e) in [(2u64, 6u32), (3, 4), (5, 4), (7, 3), (17, 4), (31, 3), (127, 3)] {
            let degree =
                |from, c, digits| least_degree(PrimePower::new(p, c).unwrap(), from, digits).unwrap().len() - 1;
            assert!(degree(1, e, DigitRange::all(p)) <= (e as usize - 1) * (p as usize - 1) + 1, "G_{e} for {p}");
            assert_eq!(degree(1, 2, DigitRange::all(p)), p as usize);
            assert!(degree(2, 3, DigitRange::all(p)) <= p as usize);
        }
        // 2^1 to 2^4 in degree 4, as X^4 does.
        let four = least_degree(PrimePower::new(2, 4).unwrap(), 1, DigitRange::all(2)).unwrap();
        assert!(four.len() <= 5, "{four:?}");
        // DigitRange up to 5 in a large field: degree 2·11 − 1 whatever p is.
        for p in [127u64, 257, 8191, 65537] {
            let modulus = PrimePower::new(p, 2).unwrap();
            let f = least_degree(modulus, 1, DigitRange::up_to(5, p)).unwrap();
            assert!(f.len() <= 22 && f.iter().step_by(2).all(|&c| c == 0), "{p}: degree {}", f.len() - 1);
            for d in -5..=5i64 {
                for k in [0, 1, 2, 77, p as i64 - 1] {
                    assert_eq!(value(modulus, &f, d + k * p as i64), modulus.reduce_i64(d), "{p}: {d}, {k}");
                }
            }
        }
    }

    #[test]
    fn enormous_degrees_are_refused() {
        let modulus = PrimePower::new(8191, 2).unwrap();
        assert!(matches!(least_degree(modulus, 1, DigitRange::all(8191)), Err(Error::OutOfRange { .. })));
    }
}
