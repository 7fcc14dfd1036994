//! How chains for more than one bit were found: `cargo run --release --example
//! search_integer_valued -- DIGITS BITS MORE SECONDS [SEED]`.
//!
//! y_0 = x modulo 2^{v+r}; v products that are divided by 2 as in `search_halving_chains`, then
//! MORE that are not. The last value, a sum of all before it and one product, must be ⌊x/2^v⌋
//! modulo 2^r.
//!
//! It is raised bit by bit. Once it is right modulo 2^j, every change of one bit of one weight that
//! leaves it right modulo 2^j changes its bit j by some function of x; which of them add up to what
//! is wrong with that bit is linear over two elements, except for what the changes do to each
//! other. Where none do, weights are changed at random, as long as nothing that was right gets
//! wrong, and after a few attempts another chain is begun with.

use std::time::{Duration, Instant};

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

/// A function of x = 0, 1, .., 2^{v+r} − 1, and one bit of it.
type Values = Vec<u16>;
type Bits = Vec<u64>;

/// `(A·B + C)/2^divisions`, each a sum of all values before with these weights.
#[derive(Clone)]
struct Product {
    sums: [Vec<u16>; 3],
    divisions: u32,
    /// Its values count modulo two to this.
    exponent: u32,
}

/// One bit of one weight.
#[derive(Clone, Copy)]
struct Change {
    product: usize,
    sum: usize,
    weight: usize,
    bit: u32,
}

/// How often one chain is tried, how many draws a halving gets before it is begun again, how many
/// changes are made at random where a bit cannot be corrected, and how often that is done.
const USES: usize = 12;
const DRAWS: usize = 64;
const AT_RANDOM: usize = 200;
const ATTEMPTS: usize = 6;

struct Search {
    digits: usize,
    bits: u32,
    more: usize,
    end: Instant,
    rng: ChaCha20Rng,
}

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let given = |place: usize, default: u64| arguments.get(place).copied().unwrap_or(default);
    let (digits, bits, more) = (given(0, 4) as usize, given(1, 2) as u32, given(2, 1) as usize);
    assert!((1..=7).contains(&digits) && (1..=8).contains(&bits) && (1..=8).contains(&more), "see the source");
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&given(4, 1).to_le_bytes());
    let end = Instant::now() + Duration::from_secs(given(3, 60));
    let mut search = Search { digits, bits, more, end, rng: ChaCha20Rng::from_seed(seed) };
    while Instant::now() < end {
        let begun = search.halvings();
        for _ in 0..USES {
            let chain = search.with_more(&begun);
            if let Some(chain) = search.raised(chain) {
                return search.print(&chain);
            }
        }
    }
    println!("none found");
}

impl Search {
    fn exponent(&self) -> u32 {
        self.digits as u32 + self.bits
    }

    fn random(&mut self, below: usize) -> usize {
        self.rng.next_u32() as usize % below
    }

    /// v products that are divided, as `search_halving_chains` begins: bit 1 of each value is the
    /// next bit of x, except for what the weights after it choose freely.
    fn halvings(&mut self) -> Vec<Product> {
        let mut chain: Vec<Product> = Vec::new();
        let mut draws = 0;
        while chain.len() < self.digits {
            if draws == DRAWS {
                (chain, draws) = (Vec::new(), 0);
            }
            draws += 1;
            let mut longer = chain.clone();
            longer.push(self.halving(chain.len()));
            let i = longer.len();
            if i == self.digits {
                return longer;
            }
            let values = self.values(&longer).expect("even weights");
            let low: Vec<Bits> = values.iter().map(|y| bits(y, 0)).collect();
            let products = low.iter().map(|y| y.iter().zip(&low[i]).map(|(a, b)| a & b).collect());
            let free: Vec<Bits> = low.iter().cloned().chain(products).collect();
            let wrong = bits(&differing(&values[i], &self.wanted(i as u32)), 1);
            if self.mend(&mut longer, &values, 1, &wrong, free) {
                (chain, draws) = (longer, 0);
            }
        }
        chain
    }

    /// y_i·(y_i + even weights) + odd·y_i + even weights, which is even for any weights.
    fn halving(&mut self, i: usize) -> Product {
        let rng = &mut self.rng;
        let mut weights = || (0..i).map(|_| 2 * (rng.next_u32() & 1) as u16).collect::<Vec<_>>();
        let (mut right, mut rest) = (weights(), weights());
        let left: Vec<u16> = (0..=i).map(|k| u16::from(k == i)).collect();
        right.push(1);
        rest.push(u16::MAX.wrapping_add(2 * (self.rng.next_u32() & 1) as u16));
        Product { sums: [left, right, rest], divisions: 1, exponent: self.exponent() - 1 - i as u32 }
    }

    /// Products of random sums, and the last, which begins as y_v.
    fn with_more(&mut self, begun: &[Product]) -> Vec<Product> {
        let mut chain = begun.to_vec();
        for k in 0..self.more {
            let count = self.digits + 1 + k;
            let unit: Vec<u16> = (0..count).map(|j| u16::from(j == self.digits)).collect();
            let sums = if k + 1 == self.more {
                [unit.clone(), vec![0; count], unit]
            } else {
                let mut drawn = || {
                    let mut sum: Vec<u16> = (0..count).map(|_| u16::from(self.rng.next_u32() % 3 == 0)).collect();
                    sum[self.rng.next_u32() as usize % count] = 1;
                    sum
                };
                [drawn(), drawn(), vec![0; count]]
            };
            chain.push(Product { sums, divisions: 0, exponent: self.bits });
        }
        chain
    }

    /// The chain once its last value is right, if that succeeds.
    fn raised(&mut self, mut chain: Vec<Product>) -> Option<Vec<Product>> {
        let wanted = self.wanted(self.digits as u32);
        let changes = self.changes(&chain);
        let mut attempts = 0;
        loop {
            let values = self.values(&chain)?;
            let wrong = differing(values.last().expect("one"), &wanted);
            let right = self.right_bits(&wrong);
            if right == self.bits {
                return Some(chain);
            }
            if attempts == ATTEMPTS || Instant::now() > self.end {
                return None;
            }
            attempts += 1;
            if self.mend(&mut chain, &values, right, &bits(&wrong, right), Vec::new()) {
                continue;
            }
            for _ in 0..AT_RANDOM {
                let change = changes[self.random(changes.len())];
                change.make(&mut chain);
                let still = self.values(&chain).map(|values| differing(values.last().expect("one"), &wanted));
                if still.is_none_or(|wrong| self.right_bits(&wrong) < right) {
                    change.undo(&mut chain);
                }
            }
        }
    }

    /// Makes changes that keep all bits below the wrong one and add up to it, except for sums of
    /// what is free. Returns whether such changes exist.
    fn mend(&mut self, chain: &mut [Product], values: &[Values], bit: u32, wrong: &Bits, free: Vec<Bits>) -> bool {
        let mut changes = self.changes(chain);
        (1..changes.len()).rev().for_each(|k| changes.swap(k, self.random(k + 1)));
        let last = values.last().expect("one");
        let mut span = Span::default();
        let mut made: Vec<Option<Change>> =
            free.into_iter().filter_map(|bits| span.add(bits).then_some(None)).collect();
        for change in changes {
            change.make(chain);
            let changed = self.values_from(chain, values, change.product);
            change.undo(chain);
            let Some(changed) = changed else { continue };
            let differs = differing(changed.last().expect("one"), last);
            if differs.iter().all(|x| x & ((1 << bit) - 1) == 0) && span.add(bits(&differs, bit)) {
                made.push(Some(change));
            }
        }
        let Some(chosen) = span.sum_to(wrong.clone()) else { return false };
        let before = chain.to_vec();
        chosen.into_iter().filter_map(|k| made[k]).for_each(|change| change.make(chain));
        // Together they may divide what is odd.
        if self.values(chain).is_none() {
            chain.clone_from_slice(&before);
            return false;
        }
        true
    }

    fn changes(&self, chain: &[Product]) -> Vec<Change> {
        let of_sum = |product: usize, sum: usize| {
            let Product { sums, exponent, divisions } = &chain[product];
            let bits = exponent + divisions;
            (0..sums[sum].len()).flat_map(move |weight| (0..bits).map(move |bit| Change { product, sum, weight, bit }))
        };
        (0..chain.len()).flat_map(|product| (0..3).flat_map(move |sum| of_sum(product, sum))).collect()
    }

    fn wanted(&self, digits: u32) -> Values {
        (0..1u32 << self.exponent()).map(|x| (x >> digits) as u16).collect()
    }

    fn values(&self, chain: &[Product]) -> Option<Vec<Values>> {
        self.values_from(chain, &[(0..1u32 << self.exponent()).map(|x| x as u16).collect()], 0)
    }

    /// y_0, y_1, .., those before a product as they are known; none where a division is not exact.
    fn values_from(&self, chain: &[Product], known: &[Values], product: usize) -> Option<Vec<Values>> {
        let mut values = known[..=product].to_vec();
        for Product { sums, divisions, exponent } in &chain[product..] {
            let [left, right, mut whole] = sums.each_ref().map(|weights| sum(weights, &values));
            whole
                .iter_mut()
                .zip(left.iter().zip(&right))
                .for_each(|(x, (a, b))| *x = x.wrapping_add(a.wrapping_mul(*b)));
            if *divisions == 1 && whole.iter().any(|x| x & 1 == 1) {
                return None;
            }
            whole.iter_mut().for_each(|x| *x = (*x >> divisions) & ((1 << exponent) - 1));
            values.push(whole);
        }
        Some(values)
    }

    /// How many low bits are zero everywhere.
    fn right_bits(&self, wrong: &Values) -> u32 {
        wrong.iter().fold(0, |all, x| all | x).trailing_zeros().min(self.bits)
    }

    /// Each product as `(A·B + C)/2`, weights centred.
    fn print(&self, chain: &[Product]) {
        for (k, Product { sums, divisions, exponent }) in chain.iter().enumerate() {
            let modulus = 1i64 << (exponent + divisions);
            let centred = |x: &u16| (i64::from(*x) + modulus / 2 - 1).rem_euclid(modulus) - modulus / 2 + 1;
            let [left, right, rest] = sums.each_ref().map(|sum| sum.iter().map(centred).collect::<Vec<_>>());
            println!("y_{} = ({left:?}·{right:?} + {rest:?})/{}", k + 1, 1 << divisions);
        }
    }
}

impl Change {
    fn make(self, chain: &mut [Product]) {
        let weight = &mut chain[self.product].sums[self.sum][self.weight];
        *weight = weight.wrapping_add(1 << self.bit);
    }

    fn undo(self, chain: &mut [Product]) {
        let weight = &mut chain[self.product].sums[self.sum][self.weight];
        *weight = weight.wrapping_sub(1 << self.bit);
    }
}

fn sum(weights: &[u16], values: &[Values]) -> Values {
    let mut sum = vec![0u16; values[0].len()];
    for (&weight, values) in weights.iter().zip(values).filter(|(weight, _)| **weight != 0) {
        sum.iter_mut().zip(values).for_each(|(sum, x)| *sum = sum.wrapping_add(weight.wrapping_mul(*x)));
    }
    sum
}

/// The bits that differ.
fn differing(a: &Values, b: &Values) -> Values {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

fn bits(values: &Values, bit: u32) -> Bits {
    let word = |chunk: &[u16]| chunk.iter().enumerate().fold(0, |word, (k, x)| word | u64::from(x >> bit & 1) << k);
    values.chunks(64).map(word).collect()
}

/// The sums of some vectors, by elimination.
#[derive(Default)]
struct Span {
    /// A pivot, a sum that has it, and of which vectors it is the sum.
    basis: Vec<(usize, Bits, Vec<bool>)>,
}

impl Span {
    /// Whether it was none of the sums.
    fn add(&mut self, vector: Bits) -> bool {
        let (rest, mut of) = self.reduced(vector);
        let Some(word) = rest.iter().position(|&word| word != 0) else { return false };
        let pivot = 64 * word + rest[word].trailing_zeros() as usize;
        of.resize(self.basis.len(), false);
        of.push(true);
        self.basis.push((pivot, rest, of));
        true
    }

    /// The vector without pivots, and the sum of which vectors was taken off.
    fn reduced(&self, mut rest: Bits) -> (Bits, Vec<bool>) {
        let mut of = vec![false; self.basis.len()];
        for (pivot, known, sum_of) in &self.basis {
            if rest[pivot / 64] >> (pivot % 64) & 1 == 1 {
                rest.iter_mut().zip(known).for_each(|(x, y)| *x ^= y);
                of.iter_mut().zip(sum_of).for_each(|(x, y)| *x ^= y);
            }
        }
        (rest, of)
    }

    /// Which vectors add up to this one, if any do.
    fn sum_to(&self, target: Bits) -> Option<Vec<usize>> {
        let (rest, of) = self.reduced(target);
        let chosen = of.iter().enumerate().filter(|(_, taken)| **taken).map(|(k, _)| k);
        rest.iter().all(|&word| word == 0).then(|| chosen.collect())
    }
}
