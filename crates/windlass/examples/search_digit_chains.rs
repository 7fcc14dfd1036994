//! How the chain of [`windlass::circuits::Searched`] was found: `cargo run --release --example
//! search_digit_chains -- SECONDS`.
//!
//! w_1 = x², w_2 = w_1², w_3 = w_2·(w_2 + a·w_1), and then w_k = L·M for sums L and M of earlier
//! products. Where L and the last weight of M are given, "the bit of x is L·M and earlier products"
//! is linear in all other weights: equations modulo 2^c, one for each of the first arguments, as
//! many as the polynomial's degree and one more. So L is drawn at random, with small weights, and
//! the rest is solved for; the last weight of M is ±1, since noise grows with it alone.

use std::time::{Duration, Instant};

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

/// The values of a function at 0, 1, 2, .., modulo 2^64.
type Values = Vec<u64>;

/// Degrees are at most 32.
const ARGUMENTS: u64 = 34;

/// A chain so far: its even products.
#[derive(Clone)]
struct Chain {
    products: Vec<Values>,
    story: Vec<String>,
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut rng = ChaCha20Rng::from_seed([7; 32]);

    let x: Values = (0..ARGUMENTS).collect();
    let bit: Values = x.iter().map(|x| x % 2).collect();
    let square = times(&x, &x);
    let fourth = times(&square, &square);
    let start = |a: i64| {
        let third = times(&fourth, &sum(&[(1, &fourth), (a, &square)]));
        let story = vec![format!("w3 = w2·(w2 + {a}·w1)")];
        Chain { products: vec![square.clone(), fourth.clone(), third], story }
    };
    let starts: Vec<Chain> = (-16..=16).map(|k| start(4 * k)).filter(|chain| last_value(chain, &bit, 8)).collect();
    println!("{} chains know 8 bits with three products", starts.len());

    let mut best = 20;
    while Instant::now() < end {
        let chain = &starts[(rng.next_u64() % starts.len() as u64) as usize];
        let Some(four) = longer(chain, &bit, 16, &mut rng) else { continue };
        for _ in 0..1000 {
            while let Some(five) = longer(&four, &bit, best + 1, &mut rng) {
                best += 1;
                println!("{best} bits with five products:\n  {}", five.story.join("\n  "));
            }
        }
    }
}

/// Whether a sum of the products knows the bit modulo 2^bits.
fn last_value(chain: &Chain, bit: &Values, bits: u32) -> bool {
    solved(&chain.products.iter().collect::<Vec<_>>(), bit, bits).is_some()
}

/// One more product, with which a sum knows the bit modulo 2^bits, if the draw is lucky.
fn longer(chain: &Chain, bit: &Values, bits: u32, rng: &mut ChaCha20Rng) -> Option<Chain> {
    let (last, earlier) = chain.products.split_last()?;
    let drawn: Vec<i64> = earlier.iter().map(|_| (rng.next_u64() % 129) as i64 - 64).collect();
    let left = sum(&drawn.iter().copied().zip(earlier).chain([(1, last)]).collect::<Vec<_>>());
    let sign = if rng.next_u64() % 2 == 0 { 1 } else { -1 };

    // The bit minus L·(±w_k) is L times a sum of earlier products, and a sum of all of them.
    let rest = sum(&[(1, bit), (-sign, &times(&left, last))]);
    let scaled: Vec<Values> = earlier.iter().map(|product| times(&left, product)).collect();
    let columns: Vec<&Values> = scaled.iter().chain(&chain.products).collect();
    let weights = solved(&columns, &rest, bits)?;

    let (right, on_top) = weights.split_at(earlier.len());
    let factor = sum(&right.iter().copied().zip(earlier).chain([(sign, last)]).collect::<Vec<_>>());
    let mut longer = chain.clone();
    longer.products.push(times(&left, &factor));
    longer.story.push(format!(
        "L = {drawn:?} on w1.. and 1, M = {right:?} on w1.. and {sign}; {bits} bits: L·M and {on_top:?} on w1.."
    ));
    Some(longer)
}

/// Weights of the columns that give the right-hand side modulo 2^bits, centred, if there are any:
/// elimination with a pivot of least valuation, which divides all that is left.
fn solved(columns: &[&Values], right: &Values, bits: u32) -> Option<Vec<i64>> {
    let mask = (1u64 << bits) - 1;
    let unknowns = columns.len();
    let row = |r: usize| columns.iter().map(|column| column[r] & mask).chain([right[r] & mask]).collect();
    let mut rows: Vec<Values> = (0..right.len()).map(row).collect();
    let mut pivots: Vec<usize> = Vec::new();
    for step in 0..unknowns.min(rows.len()) {
        let open = (step..rows.len()).flat_map(|r| (0..unknowns).map(move |j| (r, j)));
        let open = open.filter(|&(r, j)| rows[r][j] != 0 && !pivots.contains(&j));
        let Some((r, j)) = open.min_by_key(|&(r, j)| rows[r][j].trailing_zeros()) else { break };
        rows.swap(step, r);
        let valuation = rows[step][j].trailing_zeros();
        let unit = inverse(rows[step][j] >> valuation);
        rows[step].iter_mut().for_each(|x| *x = x.wrapping_mul(unit) & mask);
        let pivot = rows[step].clone();
        for row in &mut rows[step + 1..] {
            let factor = row[j] >> valuation;
            row.iter_mut().zip(&pivot).for_each(|(x, y)| *x = x.wrapping_sub(factor.wrapping_mul(*y)) & mask);
        }
        pivots.push(j);
    }
    if rows[pivots.len()..].iter().any(|row| row[unknowns] != 0) {
        return None;
    }
    let mut weights = vec![0u64; unknowns];
    for (row, &j) in rows.iter().zip(&pivots).rev() {
        let known = row.iter().zip(&weights).fold(0u64, |sum, (x, y)| sum.wrapping_add(x.wrapping_mul(*y)));
        let left = row[unknowns].wrapping_sub(known) & mask;
        if left % row[j] != 0 {
            return None;
        }
        weights[j] = left >> row[j].trailing_zeros();
    }
    let centred = |x: u64| if x > mask / 2 { x as i64 - mask as i64 - 1 } else { x as i64 };
    Some(weights.into_iter().map(centred).collect())
}

/// The inverse of an odd number modulo 2^64 (Newton's iteration doubles its bits).
fn inverse(x: u64) -> u64 {
    (0..6).fold(x, |y, _| y.wrapping_mul(2u64.wrapping_sub(x.wrapping_mul(y))))
}

fn times(f: &Values, g: &Values) -> Values {
    f.iter().zip(g).map(|(x, y)| x.wrapping_mul(*y)).collect()
}

fn sum(terms: &[(i64, &Values)]) -> Values {
    let at = |i: usize| terms.iter().fold(0u64, |sum, (c, f)| sum.wrapping_add((*c as u64).wrapping_mul(f[i])));
    (0..ARGUMENTS as usize).map(at).collect()
}
