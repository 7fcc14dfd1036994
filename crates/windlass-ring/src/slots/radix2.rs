//! The slots of power-of-two rings with p ≡ 1 mod 4: F_1 = x^d − ζ_0, so that a transform modulo
//! p^r does it all.

use windlass_kernels::arith;

use super::prime_power::PrimePower;

/// α = Σ_{i<d} X^i α_i(X^d), so with ζ_0 = ζ^d in Z_{p^r}, of order m_0 = m/d, `α(ζ^h) = Σ_i ζ^{hi}
/// α_i(ζ_0^h)`: d negacyclic transforms of length m_0/2, whose values land at ζ^{hi mod d} with a
/// factor ζ_0^{⌊hi/d⌋}.
#[derive(Debug)]
pub(crate) struct RadixTwo {
    modulus: PrimePower,
    degree: usize,
    roots: Vec<(u64, u64)>,
    inverses: Vec<(u64, u64)>,
    length_inverse: (u64, u64),
    /// ζ_0^b with Shoup quotients, 0 ≤ b < m_0.
    powers: Vec<(u64, u64)>,
    /// The position of ζ_0^h in transformed order, for the h of each slot.
    positions: Vec<u32>,
    points: Vec<u64>,
}

impl RadixTwo {
    /// `zeta` is ζ_0, of order m_0 = m/d modulo p^r; `points` are the exponents h of the slots
    /// modulo m.
    pub fn new(modulus: PrimePower, m: u64, degree: usize, zeta: u64, points: &[u64]) -> Self {
        let (order, value) = (m / degree as u64, modulus.value());
        let log = order.trailing_zeros();
        let inverse = modulus.inv(zeta).expect("a root of unity");
        let length_inverse = modulus.inv(order / 2).expect("p is odd");
        let position = |&h: &u64| ((h % order / 2).reverse_bits() >> (65 - log)) as u32;
        let powers = std::iter::successors(Some(1), |&power| Some(modulus.mul(power, zeta)));
        Self {
            modulus,
            degree,
            roots: bit_reversed_powers(zeta, log, value),
            inverses: bit_reversed_powers(inverse, log, value),
            length_inverse: with_quotient(length_inverse, value),
            powers: powers.take(order as usize).map(|power| with_quotient(power, value)).collect(),
            positions: points.iter().map(position).collect(),
            points: points.to_vec(),
        }
    }

    /// `[ℓ][d]` slots of an element.
    pub fn decode(&self, a: &[u64]) -> Vec<u64> {
        let degree = self.degree;
        let mut slots = vec![0; a.len()];
        for i in 0..degree {
            let mut values: Vec<u64> = a.iter().skip(i).step_by(degree).copied().collect();
            self.forward(&mut values);
            for (slot, &position) in self.positions.iter().enumerate() {
                let (place, factor) = self.place(slot, i);
                let value =
                    if i == 0 { values[position as usize] } else { self.product(values[position as usize], factor) };
                slots[slot * degree + place] = value;
            }
        }
        slots
    }

    /// The element with the given `[ℓ][d]` slots.
    pub fn encode(&self, slots: &[u64]) -> Vec<u64> {
        let degree = self.degree;
        let mut a = vec![0; slots.len()];
        let mut values = vec![0; self.positions.len()];
        for i in 0..degree {
            for (slot, &position) in self.positions.iter().enumerate() {
                let (place, factor) = self.place(slot, i);
                let order = self.powers.len();
                let value = slots[slot * degree + place];
                values[position as usize] = if i == 0 { value } else { self.product(value, (order - factor) % order) };
            }
            self.inverse(&mut values);
            a.iter_mut().skip(i).step_by(degree).zip(&values).for_each(|(a, &x)| *a = x);
        }
        a
    }

    /// hi = place + d·factor, the factor modulo m_0.
    fn place(&self, slot: usize, i: usize) -> (usize, usize) {
        let product = self.points[slot] as usize * i;
        (product % self.degree, product / self.degree % self.powers.len())
    }

    fn product(&self, x: u64, power: usize) -> u64 {
        let q = self.modulus.value();
        let y = shoup(x, self.powers[power], q);
        if y >= q { y - q } else { y }
    }

    /// Values stay below 4·p^r < 2^47. Block i of a level of `count` blocks lies below X^n + 1:
    /// root number count + i.
    fn forward(&self, x: &mut [u64]) {
        let (q, twice) = (self.modulus.value(), 2 * self.modulus.value());
        let (mut half, mut count) = (x.len() / 2, 1);
        while half > 0 {
            for (block, &root) in x.chunks_exact_mut(2 * half).zip(&self.roots[count..]) {
                let (low, high) = block.split_at_mut(half);
                for (u, v) in low.iter_mut().zip(high) {
                    let a = if *u >= twice { *u - twice } else { *u };
                    let b = shoup(*v, root, q);
                    *u = a + b;
                    *v = a + twice - b;
                }
            }
            half /= 2;
            count *= 2;
        }
        for x in x {
            let y = if *x >= twice { *x - twice } else { *x };
            *x = if y >= q { y - q } else { y };
        }
    }

    fn inverse(&self, x: &mut [u64]) {
        let (q, twice) = (self.modulus.value(), 2 * self.modulus.value());
        let (mut half, mut count) = (1, x.len() / 2);
        while half < x.len() {
            for (block, &root) in x.chunks_exact_mut(2 * half).zip(&self.inverses[count..]) {
                let (low, high) = block.split_at_mut(half);
                for (u, v) in low.iter_mut().zip(high) {
                    let sum = *u + *v;
                    let difference = *u + twice - *v;
                    *u = if sum >= twice { sum - twice } else { sum };
                    *v = shoup(difference, root, q);
                }
            }
            half *= 2;
            count /= 2;
        }
        for x in x {
            let y = shoup(*x, self.length_inverse, q);
            *x = if y >= q { y - q } else { y };
        }
    }
}

/// `v·w mod q` in [0, 2q) for any v, with `quotient = ⌊w·2^64/q⌋`.
fn shoup(v: u64, (w, quotient): (u64, u64), q: u64) -> u64 {
    let k = ((v as u128 * quotient as u128) >> 64) as u64;
    v.wrapping_mul(w).wrapping_sub(k.wrapping_mul(q))
}

fn with_quotient(w: u64, q: u64) -> (u64, u64) {
    (w, (((w as u128) << 64) / q as u128) as u64)
}

/// Entry i is root^{rev(i)}, rev the bit reversal on max_log − 1 bits: the twiddle of block i at
/// every level.
fn bit_reversed_powers(root: u64, max_log: u32, q: u64) -> Vec<(u64, u64)> {
    let bits = max_log - 1;
    let mut table = vec![(0, 0); 1 << bits];
    let mut power = 1;
    for k in 0..1u64 << bits {
        let index = if bits == 0 { 0 } else { k.reverse_bits() >> (64 - bits) };
        table[index as usize] = with_quotient(power, q);
        power = arith::mul_mod(power, root, q);
    }
    table
}
