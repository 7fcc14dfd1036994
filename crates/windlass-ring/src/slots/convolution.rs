//! Exact products of polynomials modulo p^r: negacyclic transforms modulo one to three 50-bit
//! primes, then Chinese remainders.

use std::sync::OnceLock;

use windlass_kernels::modulus::find_primes;
use windlass_kernels::{Isa, Modulus, rows};

use super::negacyclic::Negacyclic;
use super::prime_power::PrimePower;

/// Products at or below this many coefficients of the shorter factor are schoolbook.
const SCHOOLBOOK: usize = 32;

/// Least log of a transform's length.
const MIN_LOG: u32 = 6;

/// Largest log of a transform's length.
const MAX_LOG: u32 = 21;

/// Multiplies polynomials with coefficients modulo p^r.
#[derive(Debug)]
pub(crate) struct Convolver {
    modulus: PrimePower,
    isa: Isa,
    max_log: u32,
    fields: Vec<Field>,
}

/// The transforms modulo one prime, and its part in Chinese remainders in mixed radix.
#[derive(Debug)]
struct Field {
    q: Modulus,
    /// By log of the length less [`MIN_LOG`], made when first used.
    transforms: Vec<OnceLock<Negacyclic>>,
    /// A multiple of p^r that makes every coefficient of a sum of two products positive.
    offset: u64,
    /// Products of the primes before this one, of none to all of them, modulo this one.
    weights: Vec<u64>,
    /// The inverse of the last of them, and ⌊2^64·inverse/q⌋.
    inverse: [u64; 2],
    /// The last of them modulo p^r.
    place: u64,
}

/// A polynomial ready to be multiplied by: its negacyclic transforms of length 2^log.
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

/// The first primes below 2^50 with transforms of all lengths.
pub(crate) fn primes(count: usize) -> Vec<Modulus> {
    find_primes(2 << MAX_LOG, Modulus::MAX_BITS, count, &[]).expect("there are hundreds of such primes")
}

impl Convolver {
    /// For products of at most `max_len` coefficients, at most 2^21.
    pub fn new(modulus: PrimePower, max_len: usize) -> Self {
        let max_log = log_of(max_len);
        assert!(max_log <= MAX_LOG);
        // A coefficient of a sum of two products lies within ±2^{max_log + 1}·(p^r − 1)^2, and the
        // offset is at least as large as that: their sum is below 2^bits.
        let bits = max_log + 2 + 2 * (64 - (modulus.value() - 1).leading_zeros());
        let primes = primes(bits.div_ceil(Modulus::MAX_BITS - 1) as usize);
        let fields = (0..primes.len()).map(|index| Field::new(modulus, max_log, &primes[..=index])).collect();
        Self { modulus, isa: Isa::best(), max_log, fields }
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
        if short.len() <= SCHOOLBOOK {
            return self.schoolbook(short, long);
        }
        let len = a.len() + b.len() - 1;
        let log = log_of(len);
        let square = std::ptr::eq(a, b);
        self.recombined(len, |index| {
            let field = &self.fields[index];
            let mut product = self.transformed(field, a, log);
            let other = if square { product.clone() } else { self.transformed(field, b, log) };
            rows::mul_assign(self.isa, field.q, &mut product, &other);
            field.transform(log, self.isa).inverse(&mut product);
            product
        })
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
        let log = log.max(MIN_LOG);
        let images = self.fields.iter().map(|field| self.transformed(field, a, log)).collect();
        Prepared { log, images }
    }

    /// The first `len` coefficients of `Σ a_i·b_i mod (x^N + 1)` of one or two products, N the
    /// length that all b_i are prepared for.
    pub fn mul_prepared(&self, terms: &[(&[u64], &Prepared)], len: usize) -> Vec<u64> {
        let log = terms[0].1.log;
        debug_assert!(terms.len() <= 2 && terms.iter().all(|(_, b)| b.log == log));
        self.recombined(len, |index| {
            let field = &self.fields[index];
            let left: Vec<Vec<u64>> = terms.iter().map(|(a, _)| self.transformed(field, a, log)).collect();
            let pairs: Vec<(&[u64], &[u64])> =
                left.iter().zip(terms).map(|(a, (_, b))| (&a[..], &b.images[index][..])).collect();
            let mut sum = vec![0; 1 << log];
            rows::dot(self.isa, field.q, &mut sum, &pairs);
            field.transform(log, self.isa).inverse(&mut sum);
            sum
        })
    }

    fn schoolbook(&self, short: &[u64], long: &[u64]) -> Vec<u64> {
        let len = short.len() + long.len() - 1;
        if self.modulus.value() >> 29 == 0 {
            // At most 32 = 2^5 terms below 2^58.
            let mut sums = vec![0; len];
            for (i, &x) in short.iter().enumerate() {
                add_multiple(&mut sums[i..i + long.len()], x, long);
            }
            sums.iter_mut().for_each(|x| *x = self.modulus.reduce(*x));
            sums
        } else {
            let mut sums = vec![0u128; len];
            for (i, &x) in short.iter().enumerate() {
                sums[i..].iter_mut().zip(long).for_each(|(sum, &y)| *sum += x as u128 * y as u128);
            }
            sums.into_iter().map(|x| self.modulus.reduce_u128(x)).collect()
        }
    }

    /// The values of a, padded with zeros. Coefficients are below 2^45, so below the prime.
    fn transformed(&self, field: &Field, a: &[u64], log: u32) -> Vec<u64> {
        assert!(
            log <= self.max_log.max(MIN_LOG) && a.len() <= 1 << log,
            "a product within the length given at construction"
        );
        let mut x = Vec::with_capacity(1 << log);
        x.extend_from_slice(a);
        x.resize(1 << log, 0);
        field.transform(log, self.isa).forward(&mut x);
        x
    }

    /// The first `len` of the integers that `image` gives modulo each prime, modulo p^r.
    fn recombined(&self, len: usize, image: impl Fn(usize) -> Vec<u64>) -> Vec<u64> {
        let images: Vec<Vec<u64>> = (0..self.fields.len()).map(image).collect();
        let shifted = |index: usize, j: usize| {
            let field = &self.fields[index];
            field.q.add(images[index][j], field.offset)
        };
        if images.len() == 1 {
            return (0..len).map(|j| self.modulus.reduce(shifted(0, j))).collect();
        }
        if let [first, second] = &self.fields[..] {
            // x = x_0 + q_0·((x_1 − x_0)/q_0 mod q_1), below 2^100.
            let coefficient = |j: usize| {
                let low = shifted(0, j);
                let high = second.times_inverse(second.q.sub(shifted(1, j), second.q.reduce(low)));
                self.modulus.reduce_u128(low as u128 + high as u128 * first.q.value() as u128)
            };
            return (0..len).map(coefficient).collect();
        }
        let coefficient = |j: usize| {
            let mut digits = [0; 3];
            let mut sum = 0;
            for (index, field) in self.fields.iter().enumerate() {
                let known = digits[..index]
                    .iter()
                    .zip(&field.weights)
                    .fold(0, |known, (&digit, &weight)| field.q.add(known, field.q.mul(field.q.reduce(digit), weight)));
                digits[index] = field.times_inverse(field.q.sub(shifted(index, j), known));
                sum = self.modulus.add(sum, self.modulus.mul(self.modulus.reduce(digits[index]), field.place));
            }
            sum
        };
        (0..len).map(coefficient).collect()
    }
}

impl Field {
    /// `primes`: those before this one, and this one.
    fn new(modulus: PrimePower, max_log: u32, primes: &[Modulus]) -> Self {
        let (&q, before) = primes.split_last().expect("its own prime");
        let square = q.mul(q.reduce(modulus.value()), q.reduce(modulus.value()));
        let next = |(weight, place): (u64, u64), prime: &Modulus| {
            (q.mul(weight, q.reduce(prime.value())), modulus.mul(place, modulus.reduce(prime.value())))
        };
        let mut weights = vec![(1, modulus.reduce(1))];
        for prime in before {
            weights.push(next(weights[weights.len() - 1], prime));
        }
        let (last, place) = weights[before.len()];
        Self {
            q,
            transforms: (MIN_LOG..=max_log.max(MIN_LOG)).map(|_| OnceLock::new()).collect(),
            offset: q.mul(square, q.reduce(2 << max_log)),
            weights: weights.into_iter().map(|(weight, _)| weight).collect(),
            inverse: [q.inv(last), (((q.inv(last) as u128) << 64) / q.value() as u128) as u64],
            place,
        }
    }

    /// `x·inverse mod q`: Shoup's product, whose quotient is short by at most 1.
    fn times_inverse(&self, x: u64) -> u64 {
        let [inverse, ratio] = self.inverse;
        let quotient = ((x as u128 * ratio as u128) >> 64) as u64;
        let rest = x.wrapping_mul(inverse).wrapping_sub(quotient.wrapping_mul(self.q.value()));
        if rest >= self.q.value() { rest - self.q.value() } else { rest }
    }

    fn transform(&self, log: u32, isa: Isa) -> &Negacyclic {
        self.transforms[(log - MIN_LOG) as usize].get_or_init(|| Negacyclic::new(log, self.q, isa))
    }
}

/// `sums += x·y`, x and y below 2^32: written so that compilers use the product of half words.
pub(crate) fn add_multiple(sums: &mut [u64], x: u64, y: &[u64]) {
    let half = u32::MAX as u64;
    debug_assert!(x <= half && y.iter().all(|&y| y <= half));
    sums.iter_mut().zip(y).for_each(|(sum, &y)| *sum += (x & half) * (y & half));
}

/// The least log of a transform with room for that many coefficients.
pub(crate) fn log_of(length: usize) -> u32 {
    length.next_power_of_two().trailing_zeros().max(MIN_LOG)
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
