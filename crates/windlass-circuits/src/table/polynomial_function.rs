//! Functions modulo p^r that are polynomials with integer coefficients.
//!
//! Modulo p every function is such a polynomial. Modulo p^r few functions are: x ↦ ⌊x/p⌋ is not. In
//! Newton's form Σ c_n·x(x − 1)..(x − n + 1) the coefficient c_n counts modulo p^{r−v} with v =
//! v_p(n!). So the function is such a polynomial only if p^v divides the difference between the
//! function and the sum so far at n, for every n. The sum ends where v ≥ r.

use windlass_ring::slots::PrimePower;
use windlass_schemes::error::Result;

use crate::digits::quotients::trimmed;
use crate::interpolation::newton_in_powers;
use crate::polynomial::PolynomialPlan;

/// A polynomial in x − centre.
#[derive(Debug, Clone)]
pub(super) struct Centred {
    pub centre: i64,
    pub plan: PolynomialPlan,
}

impl Centred {
    /// The function with these values at 0, 1, .., if it is a polynomial. A function modulo p that is
    /// even or odd about some argument, up to a constant, is taken about it: half of the powers.
    pub fn of(modulus: PrimePower, values: &[u64]) -> Result<Option<Self>> {
        let Some(coefficients) = coefficients(modulus, values)? else { return Ok(None) };
        let mut best = Self { centre: 0, plan: PolynomialPlan::new(&coefficients) };
        // One product cannot be saved.
        let places = if modulus.exponent() == 1 && best.plan.products() > 1 { 1..values.len() } else { 0..0 };
        for centre in places.filter(|&centre| is_symmetric(modulus, values, centre)) {
            let mut about = values.to_vec();
            about.rotate_left(centre);
            let Some(coefficients) = self::coefficients(modulus, &about)? else { continue };
            let plan = PolynomialPlan::new(&coefficients);
            if (plan.depth(), plan.products()) < (best.plan.depth(), best.plan.products()) {
                best = Self { centre: modulus.centred(centre as u64), plan };
            }
        }
        Ok(Some(best))
    }
}

/// Whether f(c + x) = ±f(c − x), up to a constant.
fn is_symmetric(modulus: PrimePower, values: &[u64], centre: usize) -> bool {
    let p = values.len();
    let middle = modulus.add(values[centre], values[centre]);
    let pairs = || (1..=p / 2).map(|x| (values[(centre + x) % p], values[(centre + p - x) % p]));
    pairs().all(|(a, b)| a == b) || pairs().all(|(a, b)| modulus.add(a, b) == middle)
}

/// The centred coefficients, lowest first, if there are any; of least degree.
fn coefficients(modulus: PrimePower, values: &[u64]) -> Result<Option<Vec<i64>>> {
    let (p, r) = (modulus.prime(), modulus.exponent());
    let (mut newton, mut factorial) = (Vec::new(), (1u64, 0u32));
    for n in 0..values.len() as u64 {
        let (mut unit, mut valuation) = (n.max(1), factorial.1);
        while unit % p == 0 {
            (unit, valuation) = (unit / p, valuation + 1);
        }
        if valuation >= r {
            break;
        }
        factorial = (modulus.mul(factorial.0, modulus.reduce(unit)), valuation);
        let missing = modulus.sub(values[n as usize], value(modulus, &newton, n));
        if missing % p.pow(valuation) != 0 {
            return Ok(None);
        }
        let low = modulus.with_exponent(r - valuation)?;
        let inverse = low.inv(low.reduce(factorial.0)).expect("the powers of p have been divided out");
        let c = low.mul(low.reduce(missing / p.pow(valuation)), inverse);
        newton.push(modulus.reduce_i64(low.centred(c)));
    }
    if (0..values.len() as u64).any(|x| value(modulus, &newton, x) != values[x as usize]) {
        return Ok(None);
    }
    let nodes: Vec<u64> = (0..newton.len() as u64).map(|x| modulus.reduce(x)).collect();
    let coefficients = trimmed(newton_in_powers(modulus, &nodes, &newton));
    Ok(Some(coefficients.into_iter().map(|c| modulus.centred(c)).collect()))
}

/// Σ c_n·x(x − 1)..(x − n + 1).
fn value(modulus: PrimePower, newton: &[u64], x: u64) -> u64 {
    newton.iter().enumerate().rev().fold(0, |sum, (n, &c)| {
        let difference = modulus.reduce_i64(x as i64 - n as i64);
        modulus.add(modulus.mul(sum, difference), c)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(modulus: PrimePower, f: impl Fn(i64) -> i64) -> Vec<u64> {
        (0..modulus.value() as i64).map(|x| modulus.reduce_i64(f(x))).collect()
    }

    #[test]
    fn polynomials_are_found_with_their_coefficients() {
        for (p, r) in [(2u64, 8u32), (3, 5), (5, 3), (13, 2), (127, 1)] {
            let modulus = PrimePower::new(p, r).unwrap();
            let cube = coefficients(modulus, &values(modulus, |x| x * x * x - 3 * x + 2)).unwrap().unwrap();
            for x in 0..modulus.value() as i64 {
                let found = cube.iter().rev().fold(0i64, |sum, c| (sum * x + c) % modulus.value() as i64);
                assert_eq!((found - (x * x * x - 3 * x + 2)) % modulus.value() as i64, 0, "{p}^{r} at {x}");
            }
            assert!(cube.len() <= 4, "{p}^{r}: {cube:?}");
        }
    }

    #[test]
    fn what_forgets_a_digit_is_no_polynomial() {
        for (p, r) in [(2u64, 2u32), (2, 8), (3, 2), (5, 3)] {
            let modulus = PrimePower::new(p, r).unwrap();
            assert_eq!(coefficients(modulus, &values(modulus, |x| x / p as i64)).unwrap(), None, "{p}^{r}");
        }
    }

    /// The distance from 50 modulo 127 is even about 50.
    #[test]
    fn symmetric_tables_have_half_of_the_powers() {
        let modulus = PrimePower::new(127, 1).unwrap();
        let table = values(modulus, |x| (x - 50).rem_euclid(127).min((50 - x).rem_euclid(127)));
        let (about, plain) = (
            Centred::of(modulus, &table).unwrap().unwrap(),
            PolynomialPlan::new(&coefficients(modulus, &table).unwrap().unwrap()),
        );
        assert_eq!(about.centre, 50);
        assert!(about.plan.products() < plain.products() && about.plan.depth() <= plain.depth(), "{}", about.plan);
    }
}
