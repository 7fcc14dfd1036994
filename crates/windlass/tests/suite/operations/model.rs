//! Slots as their definition has them: ℓ elements of Z_t\[x\]/F with schoolbook arithmetic, moved
//! by index.

use std::sync::Arc;

use windlass_ring::kernels::arith;
use windlass_ring::slots::SlotRing;

/// `[ℓ][d]` coefficients modulo t.
pub type Values = Vec<u64>;

/// The plaintext ring as a product of Galois rings E = Z_t\[x\]/F, ζ = x.
pub struct Model {
    ring: Arc<SlotRing>,
    t: u64,
    /// ζ^0, .., ζ^{m−1}.
    zeta: Vec<Vec<u64>>,
}

impl Model {
    pub fn new(ring: &Arc<SlotRing>) -> Self {
        let (d, t) = (ring.degree(), ring.modulus().value());
        let factor = ring.galois().defining_polynomial();
        let mut power = vec![0; d];
        power[0] = 1 % t;
        let mut zeta = Vec::new();
        for _ in 0..ring.m() {
            zeta.push(power.clone());
            let lead = power[d - 1];
            power.rotate_right(1);
            power[0] = 0;
            for (x, &f) in power.iter_mut().zip(factor) {
                *x = (*x + arith::mul_mod(t - lead, f, t)) % t;
            }
        }
        Self { ring: Arc::clone(ring), t, zeta }
    }

    pub fn modulus(&self) -> u64 {
        self.t
    }

    /// Pseudorandom elements of E in all slots.
    pub fn random(&self, seed: u64) -> Values {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 17) % self.t
        };
        (0..self.ring.slots() * self.ring.degree()).map(|_| next()).collect()
    }

    /// Pseudorandom integers in all slots.
    pub fn integers(&self, seed: u64) -> Values {
        let d = self.ring.degree();
        self.random(seed).iter().enumerate().map(|(i, &x)| if i % d == 0 { x } else { 0 }).collect()
    }

    fn entrywise(&self, a: &[u64], b: &[u64], f: impl Fn(u64, u64) -> u64) -> Values {
        a.iter().zip(b).map(|(&x, &y)| f(x, y) % self.t).collect()
    }

    pub fn add(&self, a: &[u64], b: &[u64]) -> Values {
        self.entrywise(a, b, |x, y| x + y)
    }

    pub fn sub(&self, a: &[u64], b: &[u64]) -> Values {
        self.entrywise(a, b, |x, y| x + self.t - y)
    }

    pub fn scale(&self, a: &[u64], k: i64) -> Values {
        let k = k.rem_euclid(self.t as i64) as u64;
        a.iter().map(|&x| arith::mul_mod(x, k, self.t)).collect()
    }

    /// The integer k in every slot.
    pub fn scalar(&self, k: i64) -> Values {
        let mut one = vec![0; self.ring.degree()];
        one[0] = 1 % self.t;
        self.scale(&one.repeat(self.ring.slots()), k)
    }

    /// Slot by slot x·y = Σ x_i·y_j·ζ^{i+j}.
    pub fn mul(&self, a: &[u64], b: &[u64]) -> Values {
        let (d, t) = (self.ring.degree(), self.t as u128);
        let m = self.zeta.len();
        let product = |(x, y): (&[u64], &[u64])| {
            let mut convolution = vec![0u128; 2 * d - 1];
            for (i, &x) in x.iter().enumerate() {
                for (j, &y) in y.iter().enumerate() {
                    convolution[i + j] = (convolution[i + j] + x as u128 * y as u128) % t;
                }
            }
            let mut sum = vec![0u128; d];
            for (e, &c) in convolution.iter().enumerate() {
                // Below d the power of ζ is a basis element.
                if e < d {
                    sum[e] = (sum[e] + c) % t;
                    continue;
                }
                sum.iter_mut().zip(&self.zeta[e % m]).for_each(|(sum, &z)| *sum = (*sum + c * z as u128) % t);
            }
            sum.into_iter().map(|x| x as u64).collect::<Vec<_>>()
        };
        a.chunks(d).zip(b.chunks(d)).flat_map(product).collect()
    }

    /// σ^k in every slot: ζ^j to ζ^{j·p^k}.
    pub fn frobenius(&self, a: &[u64], k: u64) -> Values {
        let m = self.zeta.len() as u64;
        let scale = arith::pow_mod(self.ring.prime() % m, k, m);
        a.chunks(self.ring.degree()).flat_map(|value| self.conjugate(value, scale)).collect()
    }

    fn conjugate(&self, value: &[u64], scale: u64) -> Vec<u64> {
        let m = self.zeta.len() as u64;
        let mut sum = vec![0; value.len()];
        for (j, &x) in value.iter().enumerate() {
            let power = &self.zeta[(j as u64 * scale % m) as usize];
            sum.iter_mut().zip(power).for_each(|(sum, &z)| *sum = (*sum + arith::mul_mod(x, z, self.t)) % self.t);
        }
        sum
    }

    /// θ_u: slot e goes to the e' with t(e)·u = t(e')·p^k, and σ^k is applied.
    pub fn automorphism(&self, a: &[u64], u: u64) -> Values {
        let (cube, d, m) = (self.ring.hypercube(), self.ring.degree(), self.zeta.len() as u64);
        let mut out = vec![0; a.len()];
        for (slot, value) in a.chunks(d).enumerate() {
            let (to, k) = cube.locate(cube.element(slot) * u % m).expect("a unit");
            let scale = arith::pow_mod(cube.prime() % m, k as u64, m);
            out[to * d..][..d].copy_from_slice(&self.conjugate(value, scale));
        }
        out
    }

    /// Slot with coordinate c to coordinate c + amount along a dimension; `cyclic` or with zeros
    /// moving in.
    pub fn moved(&self, a: &[u64], dimension: usize, amount: i64, cyclic: bool) -> Values {
        let (cube, d) = (self.ring.hypercube(), self.ring.degree());
        let size = cube.dimensions()[dimension].size as i64;
        let mut out = vec![0; a.len()];
        for (slot, value) in a.chunks(d).enumerate() {
            let mut coordinates = cube.coordinates(slot);
            let to = coordinates[dimension] as i64 + amount;
            if cyclic || (0..size).contains(&to) {
                coordinates[dimension] = to.rem_euclid(size) as usize;
                out[cube.index(&coordinates) * d..][..d].copy_from_slice(value);
            }
        }
        out
    }

    /// Σ_f σ^f, slot by slot.
    pub fn trace(&self, a: &[u64]) -> Values {
        (1..self.ring.degree() as u64).fold(a.to_vec(), |sum, k| self.add(&sum, &self.frobenius(a, k)))
    }

    /// Σ c_e·x^e by Horner's rule.
    pub fn polynomial(&self, x: &[u64], coefficients: &[i64]) -> Values {
        let step = |sum: Values, &c: &i64| self.add(&self.mul(&sum, x), &self.scalar(c));
        coefficients.iter().rev().fold(self.scalar(0), step)
    }
}
