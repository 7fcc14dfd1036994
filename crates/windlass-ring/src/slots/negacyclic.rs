//! Negacyclic transforms of any length 2^k up to 2^21 modulo one 50-bit prime, by the vector
//! kernels.

use std::sync::Arc;

use windlass_kernels::{Isa, Modulus, NttPlan, Shape, arith, rows};

/// Largest k of a kernel.
const KERNEL_LOG: u32 = 17;

/// The transform modulo x^{2^k} + 1. The order of the values is its own: they are only multiplied
/// place by place.
#[derive(Debug)]
pub(crate) struct Negacyclic {
    modulus: Modulus,
    isa: Isa,
    method: Method,
}

#[derive(Debug)]
enum Method {
    Kernel(NttPlan),
    Halves(Box<Halves>),
}

/// x^{2h} + 1 = (x^h − ι)(x^h + ι), ι² = −1; x = β·y with β^h = ∓ι makes either factor y^h + 1.
#[derive(Debug)]
struct Halves {
    half: Negacyclic,
    iota: u64,
    /// 1/2 and 1/(2ι).
    untangle: [u64; 2],
    /// β^j for both factors, and β^{−j}.
    twists: [Vec<u64>; 2],
    untwists: [Vec<u64>; 2],
}

impl Negacyclic {
    /// Length 2^log modulo a prime that is 1 modulo 2^{log+1}.
    pub fn new(log: u32, modulus: Modulus, isa: Isa) -> Self {
        let method = if log <= KERNEL_LOG {
            let shape = Arc::new(Shape::new(2 << log).expect("a length of the kernels"));
            Method::Kernel(NttPlan::new(&shape, modulus, isa).expect("a prime with these roots of unity"))
        } else {
            Method::Halves(Box::new(Halves::new(log, modulus, isa)))
        };
        Self { modulus, isa, method }
    }

    /// Coefficients to values, in place, canonical.
    pub fn forward(&self, row: &mut [u64]) {
        match &self.method {
            Method::Kernel(plan) => plan.forward(row),
            Method::Halves(halves) => halves.forward(self.isa, self.modulus, row),
        }
    }

    /// Values to coefficients, in place, canonical.
    pub fn inverse(&self, row: &mut [u64]) {
        match &self.method {
            Method::Kernel(plan) => plan.inverse(row),
            Method::Halves(halves) => halves.inverse(self.isa, self.modulus, row),
        }
    }
}

impl Halves {
    fn new(log: u32, modulus: Modulus, isa: Isa) -> Self {
        let (q, length) = (modulus.value(), 1u64 << log);
        let root = modulus.root_of_unity(2 * length).expect("a prime with these roots of unity");
        let iota = arith::pow_mod(root, length / 2, q);
        let inverse = |x: u64| arith::inv_mod(x, q).expect("not zero");
        let powers = |base: u64| {
            let next = move |&power: &u64| Some(arith::mul_mod(power, base, q));
            std::iter::successors(Some(1), next).take(length as usize / 2).collect::<Vec<u64>>()
        };
        // (root³)^h = ι³ = −ι and root^h = ι.
        let bases = [arith::pow_mod(root, 3, q), root];
        Self {
            half: Negacyclic::new(log - 1, modulus, isa),
            iota,
            untangle: [inverse(2), inverse(arith::mul_mod(2, iota, q))],
            twists: bases.map(powers),
            untwists: bases.map(|base| powers(inverse(base))),
        }
    }

    fn forward(&self, isa: Isa, q: Modulus, row: &mut [u64]) {
        let (low, high) = row.split_at_mut(row.len() / 2);
        rows::mul_scalar_assign(isa, q, high, self.iota);
        let product = high.to_vec();
        high.copy_from_slice(low);
        rows::add_assign(isa, q, low, &product);
        rows::sub_assign(isa, q, high, &product);
        for (part, twist) in [low, high].into_iter().zip(&self.twists) {
            rows::mul_assign(isa, q, part, twist);
            self.half.forward(part);
        }
    }

    fn inverse(&self, isa: Isa, q: Modulus, row: &mut [u64]) {
        let (low, high) = row.split_at_mut(row.len() / 2);
        for (part, untwist) in [&mut *low, &mut *high].into_iter().zip(&self.untwists) {
            self.half.inverse(part);
            rows::mul_assign(isa, q, part, untwist);
        }
        let second = high.to_vec();
        high.copy_from_slice(low);
        rows::add_assign(isa, q, low, &second);
        rows::sub_assign(isa, q, high, &second);
        rows::mul_scalar_assign(isa, q, low, self.untangle[0]);
        rows::mul_scalar_assign(isa, q, high, self.untangle[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_any_length_are_negacyclic() {
        let isa = Isa::best();
        let q = windlass_kernels::modulus::find_primes(2 << 21, Modulus::MAX_BITS, 1, &[]).unwrap()[0];
        for log in [6, 17, 18, 20] {
            let (transform, n) = (Negacyclic::new(log, q, isa), 1usize << log);
            let mut a: Vec<u64> =
                (0..n as u64).map(|j| q.reduce(j.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 14)).collect();
            let original = a.clone();
            // b = 3 + 5·x^{n−2}: the product is known from the definition.
            let mut b = vec![0; n];
            (b[0], b[n - 2]) = (3, 5);
            transform.forward(&mut a);
            transform.forward(&mut b);
            rows::mul_assign(isa, q, &mut a, &b);
            transform.inverse(&mut a);
            for j in 0..n {
                let shifted = original[(j + 2) % n];
                let shifted = if j + 2 < n { q.neg(shifted) } else { shifted };
                assert_eq!(a[j], q.add(q.mul(3, original[j]), q.mul(5, shifted)), "length 2^{log}, coefficient {j}");
            }
        }
    }
}
