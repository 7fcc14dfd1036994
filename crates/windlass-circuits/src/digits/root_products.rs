//! A digit of few candidates as `x + M(x)·c(x)`, M the product over their roots.
//!
//! Let z ≡ d modulo p, d one of the balanced digits −B, .., B. With `M = Π_d (X − d) =
//! X·Π_{1≤j≤B} (Y − j²)`, Y = X², and any polynomial c
//!
//! `z + M(z)·c(z) − d ≡ (z − d)·(1 + M'(d)·c(d))` modulo p²,
//!
//! since M(z) ≡ (z − d)·M'(d) is a multiple of p. So c(d) = −1/M'(d) modulo p is all that is asked
//! of c, which is even as M' is: a polynomial in Y with B + 1 values. The result has degree 4B + 1,
//! no less than the polynomial of least degree, but comes in factors. From Y, Y², .., Y^k, whose
//! sums are free:
//!
//! - M is a product of sums with up to k of the j² for roots each;
//! - c is (T + l_1)·l_2 + l_3, where T is the product of two of these sums, of degree 2k, and the
//!   l_i have degree k: dividing c by T leaves the quotient l_2, dividing the remainder by l_2 the
//!   quotient l_1. (So Paterson and Stockmeyer divide by powers of Y, which have to be made.)
//!
//! B = 12 takes 10 products, where the polynomial of least degree takes 14, in the same depth: k = 4
//! for Y to Y⁴, four for M, one for c, and the last one.
//!
//! *Noise.* In a sum, what was made earlier has been switched down since and may have any weight;
//! of two powers that have just been multiplied one has a weight as large as p², as they have
//! different factors. Y³ and Y⁴ are of one depth. So sums are of powers of Z = Y − s, and those
//! with four roots have roots that add up to 4s: then Z³ is not in them. And since only c modulo p
//! matters, so it is for all weights that it is made of.

use std::collections::BTreeMap;

use windlass_ring::slots::PrimePower;

use super::chain::{ChainValue, DigitChain, multiplied, sum};
use super::method::{DigitMethod, DigitRoute, DigitSpec};
use super::quotients::{Coefficients, divided, interpolated, less_product, raised, trimmed, with_roots};

/// A bounded digit from precision 1 to 2, by the product over the digits that occur.
#[derive(Debug, Clone, Copy)]
pub struct RootProducts;

impl DigitMethod for RootProducts {
    fn name(&self) -> &'static str {
        "root-products"
    }

    fn citation(&self) -> &'static str {
        "this library: the local null polynomials of eprint 2024/115, in factors"
    }

    fn refusal(&self, spec: &DigitSpec) -> Option<&'static str> {
        match spec.bound {
            _ if spec.prime == 2 => Some("it needs an odd p, since for p = 2 both digits occur"),
            _ if (spec.exponent, spec.removed) != (2, 1) => Some("it removes exactly one digit of two"),
            None => Some("it needs a bound on the part that is removed"),
            Some(bound) if bound >= spec.prime.saturating_sub(1) / 2 => Some("all digits occur; use a method with x^p"),
            Some(bound) if bound == 0 || bound > MOST => Some("it needs a bound from 1 to 13"),
            Some(_) => None,
        }
    }

    fn routes(&self, _: &DigitSpec) -> Vec<DigitRoute> {
        Vec::new()
    }

    /// The cheapest for all k.
    fn chain(&self, spec: &DigitSpec) -> Option<DigitChain> {
        let bound = spec.bound?;
        let chains = BLOCKS.into_iter().filter_map(|block| of_digit(spec.prime, bound, block));
        let price =
            |(chain, depth): &(DigitChain, usize)| chain.products.len() as f64 + spec.depth_weight * *depth as f64;
        chains.min_by(|a, b| price(a).total_cmp(&price(b))).map(|(chain, _)| chain)
    }
}

/// The k that are tried. Between powers of two the depth is that of the next one, and Y⁵ to Y⁸ would
/// be of one depth.
const BLOCKS: [usize; 3] = [1, 2, 4];

/// The largest bound for which one product makes c.
const fn most_of(block: usize) -> u64 {
    3 * block as u64 + 1
}

/// The largest bound of all.
const MOST: u64 = most_of(BLOCKS[BLOCKS.len() - 1]);

/// The chain with Z, .., Z^block for the digits up to `bound`, and its depth. None where the block
/// is too small for the bound, or a quotient has not the degree that it has for nearly all primes
/// (of those above 47 for all that were tried).
fn of_digit(prime: u64, bound: u64, block: usize) -> Option<(DigitChain, usize)> {
    if bound > most_of(block) {
        return None;
    }
    let [field, modulus] = [1, 2].map(|exponent| PrimePower::new(prime, exponent).ok());
    let (field, modulus) = (field?, modulus?);
    let mut circuit = Circuit { field, modulus, products: Vec::new(), depths: vec![0] };
    let x = Sum { weights: vec![1], constant: 0 };
    let roots = Roots::dealt_out(modulus, bound, block)?;
    let powers = circuit.powers_of_shifted_square(&x, roots.shift, block)?;
    let Null { value: null, pair } = circuit.null(&x, &powers, &roots)?;
    let cofactor = Cofactor::new(field, &roots, block, pair.as_ref())?;
    let cofactor = circuit.cofactor(&powers, pair.as_ref(), &cofactor)?;
    let last = circuit.product(&null, &cofactor)?;
    let digit = circuit.total(&[(&last, 1), (&x, 1)]);

    let depth = circuit.depth(&digit);
    let value = ChainValue { precision: 2, weights: circuit.centred(&digit) };
    Some((DigitChain { products: circuit.products, values: vec![value] }, depth))
}

/// The j² of M by the sums that have them for roots, and the s that is taken off them.
struct Roots {
    /// Those with fewer than k roots first.
    sums: Vec<Vec<u64>>,
    shift: u64,
}

impl Roots {
    /// As many full sums as there are, of which those of four roots add up to the same. None where
    /// there are too few for T.
    fn dealt_out(modulus: PrimePower, bound: u64, block: usize) -> Option<Self> {
        let squares: Vec<u64> = (1..=bound).map(|j| j * j).collect();
        if block < 4 {
            let (rest, full) = squares.split_at(squares.len() % block);
            let sums = [rest].into_iter().filter(|sum| !sum.is_empty()).chain(full.chunks(block));
            return Some(Self { sums: sums.map(<[u64]>::to_vec).collect(), shift: 0 });
        }
        let least = if squares.len() > 2 * block { 2 } else { 0 };
        let full = (least..=squares.len() / block).rev().find_map(|count| balanced_fours(&squares, count))?;
        let total: u64 = full.first().into_iter().flatten().sum();
        let shift = modulus.mul(modulus.reduce(total), modulus.inv(4)?);

        // Of what is left at most three are a sum, the smaller one first.
        let rest: Vec<u64> = squares.into_iter().filter(|square| !full.iter().flatten().any(|x| x == square)).collect();
        let (first, others) = rest.split_at(rest.len() % 3);
        let small = [first].into_iter().filter(|sum| !sum.is_empty()).chain(others.chunks(3));
        Some(Self { sums: small.map(<[u64]>::to_vec).chain(full).collect(), shift })
    }

    fn bound(&self) -> u64 {
        self.sums.iter().map(|sum| sum.len() as u64).sum()
    }
}

/// So many disjoint fours of numbers with the same total.
fn balanced_fours(numbers: &[u64], count: usize) -> Option<Vec<Vec<u64>>> {
    let of = |mask: u32| numbers.iter().enumerate().filter(move |(k, _)| mask >> k & 1 == 1).map(|(_, &x)| x);
    let mut by_total: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for mask in (0..1 << numbers.len()).filter(|mask: &u32| mask.count_ones() == 4) {
        by_total.entry(of(mask).sum()).or_default().push(mask);
    }
    let masks = if count == 0 { Some(Vec::new()) } else { by_total.values().find_map(|fours| disjoint(fours, count)) };
    masks.map(|masks| masks.into_iter().map(|mask| of(mask).collect()).collect())
}

/// So many of these sets that have nothing in common.
fn disjoint(sets: &[u32], count: usize) -> Option<Vec<u32>> {
    if count == 0 {
        return Some(Vec::new());
    }
    sets.iter().enumerate().find_map(|(k, &set)| {
        let others: Vec<u32> = sets[k + 1..].iter().copied().filter(|other| set & other == 0).collect();
        disjoint(&others, count - 1).map(|mut found| {
            found.push(set);
            found
        })
    })
}

/// A sum of the products of a chain and a constant, modulo p².
#[derive(Debug, Clone)]
struct Sum {
    weights: Vec<u64>,
    constant: u64,
}

/// M, and T if there is one.
struct Null {
    value: Sum,
    pair: Option<Expanded>,
}

/// A sum, or the product T of two: the value, and the polynomial in Z that it is.
struct Expanded {
    value: Sum,
    polynomial: Coefficients,
}

/// A chain as it grows.
struct Circuit {
    /// p and p².
    field: PrimePower,
    modulus: PrimePower,
    products: Vec<[Vec<i64>; 2]>,
    /// Of the argument and of each product.
    depths: Vec<usize>,
}

impl Circuit {
    /// Z = Y − shift, Z², .., Z^block.
    fn powers_of_shifted_square(&mut self, x: &Sum, shift: u64, block: usize) -> Option<Vec<Sum>> {
        let square = self.product(x, x)?;
        let mut powers = vec![Sum { constant: self.modulus.neg(shift), ..square }];
        for exponent in 2..=block {
            let high = exponent.next_power_of_two() / 2;
            let power = self.product(&powers[high - 1], &powers[exponent - high - 1])?;
            powers.push(power);
        }
        Some(powers)
    }

    /// M; two of the full sums are T where c needs it.
    fn null(&mut self, x: &Sum, powers: &[Sum], roots: &Roots) -> Option<Null> {
        let shifted = |square: &u64| self.modulus.sub(self.modulus.reduce(*square), roots.shift);
        let leaf = |sum: &Vec<u64>| {
            let polynomial = with_roots(self.modulus, sum.iter().map(shifted));
            Expanded { value: self.of_powers(powers, &polynomial), polynomial }
        };
        let mut leaves: Vec<Expanded> = roots.sums.iter().map(leaf).collect();

        let mut pair = None;
        if roots.bound() > 2 * powers.len() as u64 {
            let (a, b) = (leaves.pop()?, leaves.pop()?);
            let value = self.product(&a.value, &b.value)?;
            pair = Some(Expanded { value, polynomial: multiplied(self.modulus, &a.polynomial, &b.polynomial) });
        }
        let factors = [x.clone()].into_iter().chain(leaves.into_iter().map(|leaf| leaf.value));
        let factors = factors.chain(pair.iter().map(|pair| pair.value.clone())).collect();
        Some(Null { value: self.balanced(factors)?, pair })
    }

    /// The product of all, the shallowest two first.
    fn balanced(&mut self, mut factors: Vec<Sum>) -> Option<Sum> {
        while factors.len() > 1 {
            factors.sort_by_key(|factor| self.depth(factor));
            let product = self.product(&factors[0], &factors[1])?;
            factors.splice(..2, [product]);
        }
        factors.pop()
    }

    /// `(T + l_1)·(α·T + l_2) + l_3`, or the same without T.
    fn cofactor(&mut self, powers: &[Sum], pair: Option<&Expanded>, cofactor: &Cofactor) -> Option<Sum> {
        let [first, second, third] = cofactor.leaves.each_ref().map(|leaf| self.of_powers(powers, leaf));
        if second.weights.is_empty() {
            return Some(self.modulo_p(&third));
        }
        let (left, right) = match pair {
            Some(Expanded { value, .. }) => {
                (self.total(&[(value, 1), (&first, 1)]), self.total(&[(value, cofactor.alpha), (&second, 1)]))
            }
            None => (first, second),
        };
        let product = self.product(&self.modulo_p(&left), &self.modulo_p(&right))?;
        Some(self.modulo_p(&self.total(&[(&product, 1), (&third, 1)])))
    }

    /// A sum congruent modulo p, with small weights.
    fn modulo_p(&self, x: &Sum) -> Sum {
        let small = |weight: u64| self.modulus.reduce_i64(self.field.centred(self.field.reduce(weight)));
        Sum { weights: trimmed(x.weights.iter().map(|&weight| small(weight)).collect()), constant: small(x.constant) }
    }

    /// One more product of the chain, that of the sums without their constants, and what their
    /// constants add to it. None for a sum of nothing.
    fn product(&mut self, a: &Sum, b: &Sum) -> Option<Sum> {
        if a.weights.is_empty() || b.weights.is_empty() {
            return None;
        }
        self.depths.push(1 + self.depth(a).max(self.depth(b)));
        self.products.push([self.centred(a), self.centred(b)]);
        let mut alone = vec![0; self.products.len()];
        alone.push(1);
        let alone = Sum { weights: alone, constant: self.modulus.mul(a.constant, b.constant) };
        let [a, b] = [(a, b.constant), (b, a.constant)]
            .map(|(x, factor)| (Sum { weights: x.weights.clone(), constant: 0 }, factor));
        Some(self.total(&[(&alone, 1), (&a.0, a.1), (&b.0, b.1)]))
    }

    /// A polynomial in Z of the powers' degree at most.
    fn of_powers(&self, powers: &[Sum], polynomial: &[u64]) -> Sum {
        let constant = Sum { weights: Vec::new(), constant: 1 };
        let powers = [&constant].into_iter().chain(powers);
        self.total(&powers.zip(polynomial.iter().copied()).collect::<Vec<_>>())
    }

    fn total(&self, terms: &[(&Sum, u64)]) -> Sum {
        let weights: Vec<Vec<u64>> = terms.iter().map(|(x, _)| x.weights.clone()).collect();
        let factors: Vec<i64> = terms.iter().map(|&(_, factor)| factor as i64).collect();
        let constants = terms.iter().map(|(x, factor)| self.modulus.mul(x.constant, *factor));
        let constant = constants.fold(0, |total, c| self.modulus.add(total, c));
        Sum { weights: trimmed(sum(self.modulus, &weights, &factors)), constant }
    }

    fn centred(&self, x: &Sum) -> Vec<i64> {
        x.weights.iter().map(|&weight| self.modulus.centred(weight)).collect()
    }

    fn depth(&self, x: &Sum) -> usize {
        let taken = x.weights.iter().zip(&self.depths).filter(|&(&weight, _)| weight != 0);
        taken.map(|(_, &depth)| depth).max().unwrap_or(0)
    }
}

/// c as `(T + l_1)·(α·T + l_2) + l_3` modulo p, or as `l_1·l_2 + l_3` where it is short.
struct Cofactor {
    alpha: u64,
    leaves: [Coefficients; 3],
}

impl Cofactor {
    fn new(field: PrimePower, roots: &Roots, block: usize, pair: Option<&Expanded>) -> Option<Self> {
        let bound = roots.bound();
        let shifted = |d: u64| field.sub(field.reduce(d * d), field.reduce(roots.shift));
        let points = (0..=bound).map(|d| Some((shifted(d), field.neg(field.inv(slope(field, bound, d))?))));
        let [c, null] = interpolated(field, &points.collect::<Option<Vec<_>>>()?)?;
        let Some(pair) = pair else {
            // Of degree 2k at most: split at Z^k, which is at hand.
            let at = if c.len() > block + 1 { block } else { c.len() };
            let (low, high) = c.split_at(at);
            return Some(Self { alpha: 0, leaves: [raised(&[1], block), high.to_vec(), trimmed(low.to_vec())] });
        };
        let pair: Coefficients = pair.polynomial.iter().map(|&coefficient| field.reduce(coefficient)).collect();
        let most = 3 * block as u64;
        if bound < most {
            // What vanishes on all the points gives c the degree that the divisions expect.
            let c = sum(field, &[c, raised(&null, (most - bound - 1) as usize)], &[1, 1]);
            return Self::by_divisions(field, 0, &c, &pair, block);
        }
        // Of degree 3k + 1, c is of degree 3k beside a multiple of T² less what vanishes.
        let (alpha, rest) = if bound > most {
            let [_, square] = divided(field, &multiplied(field, &pair, &pair), &null)?;
            let [top, of_square] = [&c, &square].map(|f| f.get(most as usize + 1).copied().unwrap_or(0));
            let alpha = field.mul(top, field.inv(of_square)?);
            (alpha, less_product(field, &c, &[alpha], &square))
        } else {
            (0, c)
        };
        Self::by_divisions(field, alpha, &rest, &pair, block)
    }

    /// For `c = α·T² + T·a + r`: (T + l_1)·(α·T + l_2) + l_3 with l_2 = a − α·l_1 and
    /// l_1·l_2 + l_3 = r.
    fn by_divisions(field: PrimePower, alpha: u64, rest: &[u64], pair: &[u64], block: usize) -> Option<Self> {
        let [a, r] = divided(field, rest, pair)?;
        if a.len() != block + 1 {
            return None;
        }
        // From the top: in the coefficient of Z^{k+j} the j-th of l_1 stands beside the last of a,
        // and else there is only what is known of l_1 by then. (For α = 0 this is long division.)
        let last = field.inv(a[block])?;
        let mut first = vec![0; block];
        for j in (1..block).rev() {
            let second = less_product(field, &a, &[alpha], &first);
            let missing = less_product(field, &r, &first, &second);
            first[j] = field.mul(missing.get(block + j).copied().unwrap_or(0), last);
        }
        let second = less_product(field, &a, &[alpha], &first);
        let third = less_product(field, &r, &first, &second);
        Some(Self { alpha, leaves: [trimmed(first), second, third] })
    }
}

/// M'(d).
fn slope(field: PrimePower, bound: u64, d: u64) -> u64 {
    let square = |j: u64| field.reduce(j * j);
    let others = (1..=bound).filter(|&j| j != d).map(|j| field.sub(square(d), square(j)));
    let product = others.fold(1, |product, x| field.mul(product, x));
    if d == 0 { product } else { field.mul(product, field.reduce(2 * d * d)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products and depth, and that the chain is right on every argument that matters.
    fn counted(prime: u64, bound: u64) -> Option<(usize, usize)> {
        let spec = DigitSpec { bound: Some(bound), depth_weight: 10.0, ..DigitSpec::new(prime, 2, 1) };
        let chain = RootProducts.chain(&spec)?;
        let bound = bound as i64;
        assert_eq!(chain.flaw(prime, &(-bound..=bound)).unwrap(), None, "{bound} modulo {prime}");
        // The next digit is one too many.
        assert!(chain.flaw(prime, &(-bound..=bound + 1)).unwrap().is_some(), "{bound} modulo {prime}");
        let depth = BLOCKS.into_iter().filter_map(|block| of_digit(prime, bound as u64, block));
        let depth = depth.filter(|(other, _)| *other == chain).map(|(_, depth)| depth).next()?;
        Some((chain.products.len(), depth))
    }

    #[test]
    fn twelve_digits_to_each_side_take_ten_products() {
        let of = |prime| [3, 6, 8, 10, 12, 13].map(|bound| counted(prime, bound).unwrap());
        for prime in [127, 257, 8191, 65537, 131_071] {
            assert_eq!(of(prime), [(6, 4), (7, 5), (8, 6), (9, 6), (10, 6), (10, 6)], "modulo {prime}");
        }
    }

    #[test]
    fn every_bound_has_a_chain_but_for_bad_luck() {
        for prime in [61, 127, 257, 8191, 65537, 131_071] {
            let none: Vec<u64> = (1..=MOST).filter(|&bound| counted(prime, bound).is_none()).collect();
            assert!(none.len() <= if prime < 300 { 2 } else { 0 }, "modulo {prime}: {none:?}");
        }
    }

    /// Y³ is in no sum with Y⁴ that is multiplied, except those of c, which come a level later.
    #[test]
    fn fours_have_roots_with_the_same_total() {
        for bound in 8..=13 {
            let roots = Roots::dealt_out(PrimePower::new(8191, 2).unwrap(), bound, 4).unwrap();
            let totals: Vec<u64> = roots.sums.iter().filter(|sum| sum.len() == 4).map(|sum| sum.iter().sum()).collect();
            assert!(totals.len() >= 2 && totals.iter().all(|&total| total == totals[0]), "{bound}: {:?}", roots.sums);
            let mut all = roots.sums.concat();
            all.sort_unstable();
            assert_eq!(all, (1..=bound).map(|j| j * j).collect::<Vec<_>>());
        }
    }
}
