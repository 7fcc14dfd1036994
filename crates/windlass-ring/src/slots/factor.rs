//! One irreducible factor of Φ_m modulo p^r, from a primitive idempotent.
//!
//! In F_p\[x\]/(x^m − 1) the primitive idempotent of the slot of ζ has the coefficients
//! `Tr(ζ^{−u})/m`: a sequence whose least linear recurrence is a factor of Φ_m. The idempotent is
//! found by splitting the idempotent of all primitive roots with random elements constant on the
//! orbits of p (whose slots are integers modulo p): Cantor–Zassenhaus without a single division.
//! The factor is then lifted by Newton's iteration on divisors of x^m − 1.

use windlass_kernels::arith;

use super::convolution::Convolver;
use super::division::Divisor;
use super::prime_power::PrimePower;
use super::quotient::{divide_by_binomial, multiply_by_binomial};

/// A monic factor of Φ_m modulo p, its coefficients from the constant term up.
///
/// With q² | m and p of order d/q modulo m/q, the factors are those of Φ_{m/q} in X^q.
pub(crate) fn one_factor(m: u64, p: PrimePower, degree: usize) -> Vec<u64> {
    let base = inflation_base(m, p.prime(), degree);
    let inflation = (m / base) as usize;
    let factor = one_factor_uninflated(base, p, degree / inflation);
    let mut inflated = vec![0; degree + 1];
    factor.into_iter().enumerate().for_each(|(j, x)| inflated[j * inflation] = x);
    inflated
}

/// The least m_0 such that F^{(m)}(X) = F^{(m_0)}(X^{m/m_0}) for the factors F.
fn inflation_base(m: u64, p: u64, degree: usize) -> u64 {
    let (mut base, mut order) = (m, degree as u64);
    for (q, _) in arith::factor(m) {
        while base % (q * q) == 0
            && order % q == 0
            && arith::multiplicative_order(p % (base / q), base / q) == order / q
        {
            (base, order) = (base / q, order / q);
        }
    }
    base
}

fn one_factor_uninflated(m: u64, p: PrimePower, degree: usize) -> Vec<u64> {
    if degree == 1 {
        let root = root_of_unity(m, p.prime());
        return vec![p.neg(root), 1];
    }
    if degree as u64 == arith::totient(m) {
        return cyclotomic(p, m, degree);
    }
    let convolver = Convolver::new(p, 2 * m as usize);
    let mut random = Random(m.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ p.prime());
    let mut idempotent = primitive_part(m, p);
    let mut failures = 0;
    loop {
        if failures >= 3 {
            let sequence: Vec<u64> = idempotent.iter().copied().cycle().take(2 * degree + 16).collect();
            let factor = recurrence(p, &sequence);
            if factor.len() == degree + 1 && is_primitive_factor(&convolver, m, &factor) {
                return factor;
            }
            failures = 0;
        }
        let part = split(&convolver, &idempotent, &mut random);
        if part == idempotent || part.iter().all(|&x| x == 0) {
            failures += 1;
        } else {
            idempotent = part;
            failures = 0;
        }
    }
}

/// Lifts a monic factor of x^m − 1 from modulo p to modulo p^r.
///
/// `f ← f + (x^m − 1)·f'·x/m mod f` doubles the precision: with x^m − 1 = f·g modulo p^k the
/// correction δ must satisfy δ·g ≡ x^m − 1, and 1/g ≡ f'/(m·x^{m−1}) ≡ f'·x/m modulo (f, p^k).
pub(crate) fn lift_factor(convolver: &Convolver, m: u64, factor: &[u64]) -> Vec<u64> {
    let modulus = convolver.modulus();
    let inverse = modulus.inv(modulus.reduce(m)).expect("p does not divide m");
    let mut factor = factor.to_vec();
    let mut precision = 1;
    while precision < modulus.exponent() {
        let divisor = Divisor::new(convolver, factor.clone());
        let mut rest = divisor.power_of_x(convolver, m);
        rest[0] = modulus.sub(rest[0], 1);
        let mut step = vec![0];
        step.extend(derivative(modulus, &factor).iter().map(|&x| modulus.mul(x, inverse)));
        let step = divisor.rem(convolver, &step);
        for (f, delta) in factor.iter_mut().zip(divisor.mul(convolver, &rest, &step)) {
            *f = modulus.add(*f, delta);
        }
        precision *= 2;
    }
    factor
}

pub(crate) fn derivative(modulus: PrimePower, f: &[u64]) -> Vec<u64> {
    f.iter().enumerate().skip(1).map(|(j, &x)| modulus.mul(modulus.reduce(j as u64), x)).collect()
}

/// Φ_m = Π_{e | m} (x^{m/e} − 1)^{μ(e)} modulo p, as a truncated power series.
fn cyclotomic(p: PrimePower, m: u64, degree: usize) -> Vec<u64> {
    let primes = arith::factor(m);
    let mut product = vec![0; degree + 1];
    product[0] = 1;
    for subset in 0u32..1 << primes.len() {
        let chosen = primes.iter().enumerate().filter(|(index, _)| subset >> index & 1 == 1);
        let exponent = (m / chosen.map(|(_, &(q, _))| q).product::<u64>()) as usize;
        match subset.count_ones() % 2 {
            0 => multiply_by_binomial(p, &mut product, exponent),
            _ => divide_by_binomial(p, &mut product, exponent),
        }
    }
    product
}

/// An element of order m modulo the prime p ≡ 1 mod m.
fn root_of_unity(m: u64, p: u64) -> u64 {
    let primes = arith::factor(m);
    (2..p)
        .map(|g| arith::pow_mod(g, (p - 1) / m, p))
        .find(|&w| primes.iter().all(|&(q, _)| arith::pow_mod(w, m / q, p) != 1))
        .expect("the units modulo a prime are cyclic")
}

/// The idempotent that is 1 at primitive m-th roots of unity and 0 at the others: Ramanujan's sums
/// c_m(u)/m.
fn primitive_part(m: u64, p: PrimePower) -> Vec<u64> {
    let inverse = p.inv(p.reduce(m)).expect("p does not divide m");
    let sum = |u: u64| {
        let rest = m / arith::gcd(u, m);
        let factors = arith::factor(rest);
        if factors.iter().any(|&(_, e)| e > 1) {
            return 0;
        }
        let size = p.reduce(arith::totient(m) / arith::totient(rest));
        if factors.len() % 2 == 0 { size } else { p.neg(size) }
    };
    let mut by_divisor = std::collections::HashMap::new();
    (0..m).map(|u| *by_divisor.entry(arith::gcd(u, m)).or_insert_with(|| p.mul(sum(u), inverse))).collect()
}

/// The part of an idempotent on the slots where a random integer is (p = 2) odd or (p odd) a
/// square.
fn split(convolver: &Convolver, idempotent: &[u64], random: &mut Random) -> Vec<u64> {
    let p = convolver.modulus();
    let element = random.constant_on_orbits(p, idempotent.len());
    let mut part = convolver.mul_cyclic(idempotent, &element);
    if p.prime() == 2 {
        return part;
    }
    let base = part.clone();
    let exponent = (p.prime() - 1) / 2;
    for bit in (0..63 - exponent.leading_zeros()).rev() {
        part = convolver.mul_cyclic(&part, &part);
        if exponent >> bit & 1 == 1 {
            part = convolver.mul_cyclic(&part, &base);
        }
    }
    let half = p.value().div_ceil(2);
    let square = convolver.mul_cyclic(&part, &part);
    part.iter().zip(square).map(|(&x, y)| p.mul(p.add(x, y), half)).collect()
}

fn is_primitive_factor(convolver: &Convolver, m: u64, factor: &[u64]) -> bool {
    let divisor = Divisor::new(convolver, factor.to_vec());
    let is_one = |exponent| {
        let power = divisor.power_of_x(convolver, exponent);
        power[0] == 1 && power[1..].iter().all(|&x| x == 0)
    };
    is_one(m) && arith::factor(m).iter().all(|&(q, _)| !is_one(m / q))
}

/// The characteristic polynomial, reversed into monic form, of the shortest recurrence of a
/// sequence over F_p (Berlekamp–Massey): f with Σ_j f_j s_{u+j} = 0.
pub(crate) fn recurrence(p: PrimePower, sequence: &[u64]) -> Vec<u64> {
    let (mut current, mut previous) = (vec![1u64], vec![1u64]);
    let (mut length, mut shift, mut last) = (0, 1, 1);
    let word_sums = (p.value() as u128).pow(2) * sequence.len() as u128 <= 1 << 64;
    for position in 0..sequence.len() {
        let terms = current.iter().zip(sequence[..=position].iter().rev());
        let discrepancy = if word_sums {
            p.reduce(terms.map(|(&c, &x)| c * x).sum())
        } else {
            p.reduce_u128(terms.map(|(&c, &x)| c as u128 * x as u128).sum())
        };
        if discrepancy == 0 {
            shift += 1;
            continue;
        }
        let factor = p.neg(p.mul(discrepancy, p.inv(last).expect("a nonzero discrepancy")));
        let longer = 2 * length <= position;
        let saved = longer.then(|| current.clone());
        current.resize(current.len().max(previous.len() + shift), 0);
        for (x, &y) in current[shift..].iter_mut().zip(&previous) {
            *x = p.add(*x, p.mul(factor, y));
        }
        match saved {
            Some(saved) => {
                (length, previous, last, shift) = (position + 1 - length, saved, discrepancy, 1);
            }
            None => shift += 1,
        }
    }
    current.resize(length + 1, 0);
    current.reverse();
    current
}

/// SplitMix64: the factorisation is public, its random choices only need to vary.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn constant_on_orbits(&mut self, p: PrimePower, m: usize) -> Vec<u64> {
        let mut element = vec![u64::MAX; m];
        for start in 0..m {
            if element[start] == u64::MAX {
                let value = p.reduce(self.next());
                let mut u = start;
                while element[u] == u64::MAX {
                    element[u] = value;
                    u = (u as u64 * (p.prime() % m as u64) % m as u64) as usize;
                }
            }
        }
        element
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_divides_the_cyclotomic_polynomial_after_lifting() {
        for (m, p) in
            [(105, 2), (15, 2), (1023, 2), (4369, 2), (45, 2), (64, 3), (64, 7), (105, 17), (1023, 127), (7, 127)]
        {
            let degree = arith::multiplicative_order(p % m, m) as usize;
            let factor = one_factor(m, PrimePower::new(p, 1).unwrap(), degree);
            assert_eq!(factor.len(), degree + 1);
            let modulus = PrimePower::new(p, 3).unwrap();
            let convolver = Convolver::new(modulus, 2 * m as usize);
            let lifted = lift_factor(&convolver, m, &factor);
            assert!(lifted.iter().zip(&factor).all(|(&x, &y)| x % p == y));
            assert!(is_primitive_factor(&convolver, m, &lifted), "m = {m}, p = {p}");
        }
    }
}
