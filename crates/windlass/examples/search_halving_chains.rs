//! How the chains of [`windlass::circuits::HalvingChain`] were found: `cargo run --release --example
//! search_halving_chains -- DIGITS SECONDS [SEED]`.
//!
//! y_0 = x and y_{i+1} = C(y_i, 2) + b·y_i + Σ_{k<i} β_k·y_i·y_k + Σ_{k<i} l_k·y_k, each known to
//! one bit less than the one before. The last low bit must be that of 2^v in x.
//!
//! The next low bit is bit 1 of y_i, except for products y_i·y_k and sums of low bits, which the
//! next weights choose freely. So a chain is kept while bit 1 of its last value is the bit of x
//! that is next, up to such products and sums. For the parities of the last weights, drawn at
//! random, that is linear over two elements: adding 2^{i−a+1} to a weight of step a changes nothing
//! that was looked at before, and bit 1 of y_{i+1} by the low bit of what it weighs.

use std::time::{Duration, Instant};

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

/// A function of x = 0, 1, .., 2^{v+1} − 1.
type Values = Vec<i64>;
/// The low bits of one.
type Bits = [u64; 8];
/// β_0, .., β_{i−1}, b, l_0, .., l_{i−1}.
type Weights = Vec<i64>;

/// How many draws of parities a chain gets before it is given up, how many of them may succeed, and
/// how many of the solutions of each are followed.
const DRAWS: usize = 512;
const SUCCESSES: usize = 4;
const SOLUTIONS: usize = 2;

struct Search {
    digits: usize,
    end: Instant,
    rng: ChaCha20Rng,
}

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let digits = arguments.first().map_or(7, |&v| v as usize);
    assert!((1..=8).contains(&digits), "1 to 8 digits");
    let seconds = arguments.get(1).copied().unwrap_or(60);
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&arguments.get(2).copied().unwrap_or(1).to_le_bytes());
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut search = Search { digits, end, rng: ChaCha20Rng::from_seed(seed) };
    while Instant::now() < end {
        if let Some(chain) = search.longer(&[]) {
            return print(&search, &chain);
        }
    }
    println!("none found");
}

impl Search {
    fn arguments(&self) -> usize {
        2 << self.digits
    }

    /// A whole chain that begins with these weights.
    fn longer(&mut self, chain: &[Weights]) -> Option<Vec<Weights>> {
        let values = self.values(chain);
        let low: Vec<Bits> = values.iter().map(|y| bits(y, 0)).collect();
        let i = chain.len();
        if i + 1 == self.digits {
            return self.ended(chain, &values, &low);
        }
        let freedom: Vec<(usize, usize, Bits)> = (0..=i).flat_map(|a| weighed(&low, a)).collect();
        let reached = Span::of(&freedom);
        let wanted = bits(&values[0], i + 2);
        let mut successes = 0;
        for _ in 0..DRAWS {
            if Instant::now() > self.end || successes == SUCCESSES {
                return None;
            }
            let parities: Weights = (0..=2 * i).map(|_| i64::from(self.rng.next_u32() & 1)).collect();
            let last = self.next(&values, &parities);
            let mut lows = low.clone();
            lows.push(bits(&last, 0));
            let mut reached = reached.clone();
            weighed(&lows, i + 1).iter().for_each(|(_, _, bits)| reached.add(bits));
            let Some(chosen) = reached.sum_to(sum(&bits(&last, 1), &wanted)) else { continue };

            successes += 1;
            for _ in 0..SOLUTIONS {
                let zeros = reached.zeros.iter().filter(|_| self.rng.next_u32() & 1 == 1);
                let solution = zeros.fold(chosen, |set, zero| set ^ zero);
                let mut next = chain.to_vec();
                next.push(parities.clone());
                for (_, (a, number, _)) in freedom.iter().enumerate().filter(|(k, _)| solution >> k & 1 == 1) {
                    next[*a][*number] += 1 << (i - a + 1);
                }
                if let Some(whole) = self.longer(&next) {
                    return Some(whole);
                }
            }
        }
        None
    }

    /// The chain with its last weights, which are only parities.
    fn ended(&self, chain: &[Weights], values: &[Values], low: &[Bits]) -> Option<Vec<Weights>> {
        let i = chain.len();
        let columns = weighed(low, i);
        let chosen = Span::of(&columns).sum_to(sum(&bits(&values[i], 1), &bits(&values[0], i + 1)))?;
        let mut last = vec![0; 2 * i + 1];
        (0..columns.len()).filter(|k| chosen >> k & 1 == 1).for_each(|k| last[columns[k].1] = 1);
        Some(chain.iter().cloned().chain([last]).collect())
    }

    /// y_0, y_1, ..
    fn values(&self, chain: &[Weights]) -> Vec<Values> {
        let mut values = vec![(0..self.arguments() as i64).collect::<Values>()];
        for weights in chain {
            values.push(self.next(&values, weights));
        }
        values
    }

    /// y_{i+1} of y_0, .., y_i.
    fn next(&self, values: &[Values], weights: &Weights) -> Values {
        let i = values.len() - 1;
        let modulus = self.arguments() as i64 >> (i + 1);
        let at = |x: usize| {
            let y = values[i][x];
            let terms = (0..i).map(|k| (weights[k] * y + weights[i + 1 + k]) * values[k][x]);
            (y * (y - 1) / 2 + weights[i] * y + terms.sum::<i64>()).rem_euclid(modulus)
        };
        (0..self.arguments()).map(at).collect()
    }
}

/// What each weight of step a weighs, modulo 2: the step, the number of the weight, the function.
fn weighed(low: &[Bits], a: usize) -> Vec<(usize, usize, Bits)> {
    let product = |k: usize| std::array::from_fn(|word| low[a][word] & low[k][word]);
    let products = (0..a).map(|k| (a, k, product(k)));
    products.chain([(a, a, low[a])]).chain((0..a).map(|k| (a, a + 1 + k, low[k]))).collect()
}

fn bits(values: &Values, bit: usize) -> Bits {
    let mut bits = Bits::default();
    values.iter().enumerate().for_each(|(x, y)| bits[x / 64] |= (*y as u64 >> bit & 1) << (x % 64));
    bits
}

fn sum(a: &Bits, b: &Bits) -> Bits {
    std::array::from_fn(|word| a[word] ^ b[word])
}

/// The sums of some vectors, by elimination.
#[derive(Clone)]
struct Span {
    /// How many vectors were added.
    vectors: usize,
    /// A pivot, a sum that has it and none of the pivots before, and of which vectors it is the sum.
    basis: Vec<(usize, Bits, u128)>,
    /// Sets of vectors whose sum is zero.
    zeros: Vec<u128>,
}

impl Span {
    fn of(columns: &[(usize, usize, Bits)]) -> Self {
        let mut span = Self { vectors: 0, basis: Vec::new(), zeros: Vec::new() };
        columns.iter().for_each(|(_, _, bits)| span.add(bits));
        span
    }

    fn add(&mut self, vector: &Bits) {
        let (rest, of) = self.reduced(*vector);
        let of = of ^ 1 << self.vectors;
        self.vectors += 1;
        match rest.iter().position(|&word| word != 0) {
            Some(word) => self.basis.push((64 * word + rest[word].trailing_zeros() as usize, rest, of)),
            None => self.zeros.push(of),
        }
    }

    /// The vector without pivots, and which vectors were added for that.
    fn reduced(&self, mut rest: Bits) -> (Bits, u128) {
        let mut of = 0;
        for (pivot, known, sum_of) in &self.basis {
            if rest[pivot / 64] >> (pivot % 64) & 1 == 1 {
                rest = sum(&rest, known);
                of ^= sum_of;
            }
        }
        (rest, of)
    }

    /// A set of vectors whose sum is the target, if there is one.
    fn sum_to(&self, target: Bits) -> Option<u128> {
        let (rest, of) = self.reduced(target);
        (rest == Bits::default()).then_some(of)
    }
}

/// The chain as `y_{i+1} = (y_i·(..) + ..)/2`, weights centred, checked on every argument.
fn print(search: &Search, chain: &[Weights]) {
    let values = search.values(chain);
    let right = values.iter().last().expect("y_0").iter().zip(0..).all(|(y, x)| *y == x >> search.digits);
    assert!(right, "a chain that was found takes every argument to its bit");
    for (i, weights) in chain.iter().enumerate() {
        let modulus = search.arguments() as i64 >> i;
        let centred = |x: i64| (x + modulus / 2 - 1).rem_euclid(modulus) - modulus / 2 + 1;
        let factor: Vec<i64> = weights[..i].iter().map(|w| centred(2 * w)).chain([1]).collect();
        let on_top = weights[i + 1..].iter().map(|w| 2 * w).chain([2 * weights[i] - 1]);
        println!("y_{} = (y_{i}·{factor:?} + {:?})/2", i + 1, on_top.map(centred).collect::<Vec<_>>());
    }
}
