//! Exact products of polynomials modulo p^r: scalar transforms modulo one or two 62-bit primes, then Chinese remainders.

use windlass_kernels::arith;

use super::prime_power::PrimePower;

/// Products at or below this many coefficients of the shorter factor are schoolbook.
const SCHOOLBOOK: usize = 32;

/// Multiplies polynomials with coefficients modulo p^r.
#[derive(Debug)]
pub(crate) struct Convolver {
    modulus: PrimePower,
    max_log: u32,
    fields: Vec<Field>,
    /// q_1^{-1} mod q_2 when there are two primes.
    crt_inverse: u64,
}

/// Twiddles of the cyclic transforms of all lengths up to 2^max_log modulo one prime below 2^62.
#[derive(Debug)]
struct Field {
    q: u64,
    /// −q^{-1} mod 2^64.
    montgomery: u64,
    /// Bit-reversed roots with their Shoup quotients, and their inverses.
    roots: Vec<(u64, u64)>,
    inverses: Vec<(u64, u64)>,
}

/// A polynomial ready to be multiplied by: its cyclic transforms of length 2^log, bit-reversed, so that a prefix is the
/// transform of that shorter length.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    log: u32,
    images: Vec<Vec<u64>>,
}

impl Prepared {
    pub fn log(&self) -> u32 {
        self.log
    }
}

impl Convolver {
    /// For products of at most `max_len` coefficients.
    pub fn new(modulus: PrimePower, max_len: usize) -> Self {
        let max_log = max_len.max(2).next_power_of_two().trailing_zeros();
        // A coefficient of a product is below 2^max_log · (p^r)^2.
        let bits = max_log + 2 * (64 - modulus.value().leading_zeros());
        let primes = primes_below(1 << 62, max_log.max(20), if bits <= 61 { 1 } else { 2 });
        assert!(bits <= 61 * primes.len() as u32);
        let crt_inverse = primes.get(1).map_or(0, |&q| arith::inv_mod(primes[0] % q, q).expect("distinct primes"));
        let fields = primes.into_iter().map(|q| Field::new(q, max_log)).collect();
        Self { modulus, max_log, fields, crt_inverse }
    }

    pub fn modulus(&self) -> PrimePower {
        self.modulus
    }

    /// `a·b`, of `a.len() + b.len() − 1` coefficients (none when a factor is empty).
    pub fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
        if short.is_empty() {
            return Vec::new();
        }
        let len = a.len() + b.len() - 1;
        if short.len() <= SCHOOLBOOK {
            return self.schoolbook(short, long);
        }
        self.transformed(a, b, len.next_power_of_two().trailing_zeros(), len)
    }

    /// `a·b mod (x^m − 1)` of two sequences of m coefficients.
    pub fn mul_cyclic(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let m = a.len();
        let mut product = self.mul(a, b);
        for j in m..product.len() {
            product[j - m] = self.modulus.add(product[j - m], product[j]);
        }
        product.truncate(m);
        product
    }

    /// The transforms of a (of at most 2^log coefficients).
    pub fn prepare(&self, a: &[u64], log: u32) -> Prepared {
        assert!(log <= self.max_log && a.len() <= 1 << log);
        let transform = |field: &Field| {
            let mut x = padded(a, log);
            field.forward(&mut x);
            x
        };
        Prepared { log, images: self.fields.iter().map(transform).collect() }
    }

    /// The first `len` coefficients of `Σ a_i·b_i mod (x^{2^log} − 1)` of one or two products, log at most that of each b_i.
    pub fn mul_prepared(&self, terms: &[(&[u64], &Prepared)], log: u32, len: usize) -> Vec<u64> {
        debug_assert!(terms.len() <= 2 && terms.iter().all(|(a, b)| a.len() >> log <= 1 && log <= b.log));
        let image = |(index, field): (usize, &Field)| {
            let mut sum = Vec::new();
            for (a, b) in terms {
                let mut x = padded(a, log);
                field.forward(&mut x);
                x.iter_mut().zip(&b.images[index]).for_each(|(x, &y)| *x = field.montgomery_product(*x, y));
                if sum.is_empty() {
                    sum = x;
                } else {
                    sum.iter_mut().zip(x).for_each(|(sum, x)| *sum = field.add_lazy(*sum, x));
                }
            }
            field.inverse(&mut sum);
            sum.truncate(len);
            sum
        };
        self.recombined(self.fields.iter().enumerate().map(image))
    }

    fn schoolbook(&self, short: &[u64], long: &[u64]) -> Vec<u64> {
        let len = short.len() + long.len() - 1;
        let term = |k: usize| {
            let low = (k + 1).saturating_sub(long.len());
            let high = k.min(short.len() - 1);
            (low..=high).map(move |i| (short[i], long[k - i]))
        };
        if self.modulus.value() >> 29 == 0 {
            // At most 32 = 2^5 terms below 2^58.
            let sum = |k| term(k).map(|(x, y)| x * y).sum();
            (0..len).map(|k| self.modulus.reduce(sum(k))).collect()
        } else {
            let sum = |k| term(k).map(|(x, y)| x as u128 * y as u128).sum();
            (0..len).map(|k| self.modulus.reduce_u128(sum(k))).collect()
        }
    }

    fn transformed(&self, a: &[u64], b: &[u64], log: u32, len: usize) -> Vec<u64> {
        assert!(log <= self.max_log, "a product within the length given at construction");
        let square = std::ptr::eq(a, b);
        self.recombined(self.fields.iter().map(|field| {
            let mut x = padded(a, log);
            field.forward(&mut x);
            if square {
                x.iter_mut().for_each(|x| *x = field.montgomery_product(*x, *x));
            } else {
                let mut y = padded(b, log);
                field.forward(&mut y);
                x.iter_mut().zip(&y).for_each(|(x, &y)| *x = field.montgomery_product(*x, y));
            }
            field.inverse(&mut x);
            x.truncate(len);
            x
        }))
    }

    fn recombined(&self, mut images: impl Iterator<Item = Vec<u64>>) -> Vec<u64> {
        let first = images.next().expect("at least one prime");
        match images.next() {
            None => first.into_iter().map(|x| self.modulus.reduce(x)).collect(),
            Some(second) => first.into_iter().zip(second).map(|(x, y)| self.recombine(x, y)).collect(),
        }
    }

    /// x + q_1·((y − x)/q_1 mod q_2) mod p^r.
    fn recombine(&self, x: u64, y: u64) -> u64 {
        let (q1, q2) = (self.fields[0].q, self.fields[1].q);
        let difference = (y + q2 - x % q2) % q2;
        let k = arith::mul_mod(difference, self.crt_inverse, q2);
        self.modulus.add(self.modulus.reduce(x), self.modulus.mul(self.modulus.reduce(q1), self.modulus.reduce(k)))
    }
}

fn padded(a: &[u64], log: u32) -> Vec<u64> {
    let mut x = Vec::with_capacity(1 << log);
    x.extend_from_slice(a);
    x.resize(1 << log, 0);
    x
}

fn primes_below(limit: u64, log: u32, count: usize) -> Vec<u64> {
    let step = 1u64 << log;
    (1..).map(|k| limit - k * step + 1).filter(|&q| arith::is_prime(q)).take(count).collect()
}

/// `v·w mod q` in [0, 2q) for any v, with `quotient = ⌊w·2^64/q⌋`.
pub(crate) fn shoup(v: u64, (w, quotient): (u64, u64), q: u64) -> u64 {
    let k = ((v as u128 * quotient as u128) >> 64) as u64;
    v.wrapping_mul(w).wrapping_sub(k.wrapping_mul(q))
}

pub(crate) fn with_quotient(w: u64, q: u64) -> (u64, u64) {
    (w, (((w as u128) << 64) / q as u128) as u64)
}

impl Field {
    fn new(q: u64, max_log: u32) -> Self {
        let order = 1u64 << max_log;
        let nonresidue = (2..).find(|&g| arith::pow_mod(g, (q - 1) / 2, q) == q - 1).expect("half are nonresidues");
        let root = arith::pow_mod(nonresidue, (q - 1) / order, q);
        let inverse = arith::inv_mod(root, q).expect("a root of unity");
        let table = |root: u64| bit_reversed_powers(root, max_log, q);
        let newton = (0..6).fold(1u64, |x, _| x.wrapping_mul(2u64.wrapping_sub(q.wrapping_mul(x))));
        Self { q, montgomery: newton.wrapping_neg(), roots: table(root), inverses: table(inverse) }
    }

    /// x·y/2^64 in [0, 2q) for x·y < 2^126.
    fn montgomery_product(&self, x: u64, y: u64) -> u64 {
        let product = x as u128 * y as u128;
        let k = (product as u64).wrapping_mul(self.montgomery);
        ((product + k as u128 * self.q as u128) >> 64) as u64
    }

    /// `x + y` of values in [0, 2q), in [0, 2q).
    fn add_lazy(&self, x: u64, y: u64) -> u64 {
        let sum = x + y;
        if sum >= 2 * self.q { sum - 2 * self.q } else { sum }
    }

    /// Inputs in [0, 4q), output in [0, 2q), bit-reversed order.
    fn forward(&self, x: &mut [u64]) {
        let (q, twice) = (self.q, 2 * self.q);
        let mut half = x.len() / 2;
        while half > 0 {
            for (block, &root) in x.chunks_exact_mut(2 * half).zip(&self.roots) {
                let (low, high) = block.split_at_mut(half);
                for (u, v) in low.iter_mut().zip(high) {
                    let a = if *u >= twice { *u - twice } else { *u };
                    let b = shoup(*v, root, q);
                    *u = a + b;
                    *v = a + twice - b;
                }
            }
            half /= 2;
        }
        x.iter_mut().filter(|x| **x >= twice).for_each(|x| *x -= twice);
    }

    /// The inverse of [`Field::forward`] times 2^64 (undoing one Montgomery product); output canonical.
    fn inverse(&self, x: &mut [u64]) {
        let (q, twice) = (self.q, 2 * self.q);
        let mut half = 1;
        while half < x.len() {
            for (block, &root) in x.chunks_exact_mut(2 * half).zip(&self.inverses) {
                let (low, high) = block.split_at_mut(half);
                for (u, v) in low.iter_mut().zip(high) {
                    let sum = *u + *v;
                    let difference = *u + twice - *v;
                    *u = if sum >= twice { sum - twice } else { sum };
                    *v = shoup(difference, root, q);
                }
            }
            half *= 2;
        }
        let two_64 = (1u128 << 64) % q as u128;
        let len_inverse = arith::inv_mod(x.len() as u64, q).expect("a power of two");
        let unit = with_quotient((two_64 * len_inverse as u128 % q as u128) as u64, q);
        for x in x {
            let y = shoup(*x, unit, q);
            *x = if y >= q { y - q } else { y };
        }
    }
}

/// Entry i is root^{rev(i)}, rev the bit reversal on max_log − 1 bits: the twiddle of block i at every level.
pub(crate) fn bit_reversed_powers(root: u64, max_log: u32, q: u64) -> Vec<(u64, u64)> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_the_definition() {
        for (p, r) in [(2, 1), (2, 22), (2, 44), (17, 3), (65537, 2)] {
            let modulus = PrimePower::new(p, r).unwrap();
            let convolver = Convolver::new(modulus, 1000);
            for (rows, columns) in [(1, 1), (3, 40), (33, 33), (100, 57), (400, 401)] {
                let entry = |j: u64| modulus.value() - 1 - modulus.reduce(j * j * 0x9e37_79b9);
                let a: Vec<u64> = (0..rows).map(entry).collect();
                let b: Vec<u64> = (7..7 + columns).map(entry).collect();
                let mut expected = vec![0; (rows + columns - 1) as usize];
                for (i, &x) in a.iter().enumerate() {
                    for (j, &y) in b.iter().enumerate() {
                        let term = (x as u128 * y as u128 % modulus.value() as u128) as u64;
                        expected[i + j] = (expected[i + j] + term) % modulus.value();
                    }
                }
                assert_eq!(convolver.mul(&a, &b), expected, "{p}^{r}, {rows} by {columns}");
            }
        }
    }
}
