//! Polynomials over a prime field from their roots or from their values.

use windlass_ring::kernels::arith;
use windlass_ring::slots::PrimePower;

/// Π (X − v), lowest coefficient first.
pub(super) fn with_roots(modulus: PrimePower, roots: &[u64]) -> Vec<u64> {
    let mut product = vec![1];
    for &root in roots {
        product.push(0);
        for k in (0..product.len()).rev() {
            let below = if k > 0 { product[k - 1] } else { 0 };
            product[k] = modulus.sub(below, modulus.mul(root, product[k]));
        }
    }
    product
}

/// The polynomial of degree below k through k points, by Newton's divided differences.
pub(super) fn interpolate(modulus: PrimePower, points: &[(u64, u64)]) -> Vec<u64> {
    let mut differences: Vec<u64> = points.iter().map(|&(_, value)| value).collect();
    for step in 1..points.len() {
        for k in (step..points.len()).rev() {
            let rise = modulus.sub(differences[k], differences[k - 1]);
            let run = modulus.sub(points[k].0, points[k - step].0);
            differences[k] = modulus.mul(rise, modulus.inv(run).expect("arguments differ modulo p"));
        }
    }
    let nodes: Vec<u64> = points.iter().map(|&(x, _)| x).collect();
    newton_in_powers(modulus, &nodes, &differences)
}

/// `Σ_n c_n·Π_{k<n} (X − x_k)`, lowest coefficient first: Horner's rule over the factors, from the
/// last c_n down.
pub(super) fn newton_in_powers(modulus: PrimePower, nodes: &[u64], newton: &[u64]) -> Vec<u64> {
    let mut polynomial: Vec<u64> = Vec::with_capacity(newton.len());
    for (&x, &c) in nodes.iter().zip(newton).rev() {
        polynomial.push(0);
        for k in (0..polynomial.len()).rev() {
            let below = if k > 0 { polynomial[k - 1] } else { c };
            polynomial[k] = modulus.sub(below, modulus.mul(x, polynomial[k]));
        }
    }
    polynomial
}

/// The polynomial of degree below p with the given values at 0, .., p − 1.
///
/// Its coefficients are `c_0 = f(0)`, `c_k = −Σ_{a≠0} f(a)·a^{−k}` for 0 < k < p − 1 and
/// `c_{p−1} = −Σ_a f(a)`. With `a = g^i` for a generator g the sums are one discrete Fourier
/// transform of length p − 1 over the field itself.
pub(super) fn interpolate_everywhere(modulus: PrimePower, values: &[u64]) -> Vec<u64> {
    let p = modulus.value();
    if p == 2 {
        return vec![values[0], modulus.sub(values[1], values[0])];
    }
    let generator = primitive_root(p);
    let mut argument = 1;
    let mut in_order = Vec::with_capacity(p as usize - 1);
    for _ in 1..p {
        in_order.push(values[argument as usize]);
        argument = modulus.mul(argument, generator);
    }
    let root = modulus.inv(generator).expect("a generator is a unit");
    let sums = fourier(modulus, &in_order, root);
    let mut coefficients: Vec<u64> = sums.iter().map(|&sum| modulus.neg(sum)).collect();
    coefficients.push(modulus.sub(coefficients[0], values[0]));
    coefficients[0] = values[0];
    coefficients
}

/// `Σ_i x_i·root^{ik}` for all k, by splitting off one prime factor of the length after the other
/// (Cooley–Tukey).
fn fourier(modulus: PrimePower, x: &[u64], root: u64) -> Vec<u64> {
    let length = x.len();
    let Some(&(radix, _)) = arith::factor(length as u64).first() else { return x.to_vec() };
    let (radix, rest) = (radix as usize, length / radix as usize);
    let outer = modulus.pow(root, radix as u64);
    let parts: Vec<Vec<u64>> = (0..radix)
        .map(|start| {
            let part: Vec<u64> = x[start..].iter().step_by(radix).copied().collect();
            fourier(modulus, &part, outer)
        })
        .collect();
    let mut out = Vec::with_capacity(length);
    let mut power = 1;
    for k in 0..length {
        // Horner's rule in root^k over the parts.
        let sum = parts.iter().rev().fold(0, |sum, part| modulus.add(modulus.mul(sum, power), part[k % rest]));
        out.push(sum);
        power = modulus.mul(power, root);
    }
    out
}

/// The least generator of the units modulo an odd prime.
fn primitive_root(p: u64) -> u64 {
    let factors = arith::factor(p - 1);
    let generates = |g: u64| factors.iter().all(|&(q, _)| arith::pow_mod(g, (p - 1) / q, p) != 1);
    (2..p).find(|&g| generates(g)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(modulus: PrimePower, polynomial: &[u64], x: u64) -> u64 {
        polynomial.iter().rev().fold(0, |sum, &c| modulus.add(modulus.mul(sum, x), c))
    }

    #[test]
    fn interpolation_meets_every_point() {
        for p in [2u64, 3, 5, 17, 31, 127, 257] {
            let modulus = PrimePower::new(p, 1).unwrap();
            let values: Vec<u64> = (0..p).map(|x| (x * x * 7 + x / 3 + 1) % p).collect();
            let everywhere = interpolate_everywhere(modulus, &values);
            let points: Vec<(u64, u64)> = (0..p).map(|x| (x, values[x as usize])).collect();
            let newton = interpolate(modulus, &points);
            assert_eq!(everywhere, newton, "p = {p}");
            for (x, &wanted) in (0..p).zip(&values) {
                assert_eq!(value(modulus, &everywhere, x), wanted, "p = {p}, x = {x}");
            }
            let few = interpolate(modulus, &points[..points.len().min(4)]);
            assert!(few.len() <= 4 && points.iter().take(4).all(|&(x, y)| value(modulus, &few, x) == y));
        }
    }

    #[test]
    fn roots_are_roots() {
        let modulus = PrimePower::new(31, 1).unwrap();
        let polynomial = with_roots(modulus, &[3, 7, 30]);
        for x in 0..31 {
            assert_eq!(value(modulus, &polynomial, x) == 0, [3, 7, 30].contains(&x));
        }
    }

    #[test]
    fn a_large_prime_takes_no_time() {
        let modulus = PrimePower::new(65537, 1).unwrap();
        let values: Vec<u64> = (0..65537).map(|x| x % 3).collect();
        let polynomial = interpolate_everywhere(modulus, &values);
        for x in [0, 1, 2, 255, 65535, 65536] {
            assert_eq!(value(modulus, &polynomial, x), x % 3);
        }
    }
}
