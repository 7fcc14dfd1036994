//! Polynomials of several digits, of degree below p in each.
//!
//! A monomial Π_j D_j^{e_j} is named by the number Σ_j e_j·p^j, so that the product of two without a
//! common digit has the sum of their names. Digits are divided into two parts. With all monomials m
//! of either,
//!
//! ```text
//! f = Σ_h m_h·(Σ_l c_{h,l}·m_l),
//! ```
//!
//! where the products of one h each are added before they are relinearised: for 2^8, 11 monomials
//! of each half and 15 products (Paterson–Stockmeyer, in digits).

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use windlass_ring::slots::PrimePower;
use windlass_schemes::error::Result;
use windlass_schemes::evaluator::Evaluator;

use crate::interpolation::interpolate;
use crate::polynomial::{add_scalar, halves, log2_ceil};

/// The name of a monomial.
type Name = usize;

/// The terms of the polynomial of degree below p in each of r digits that has, at the digits of x,
/// the value number x: name and centred coefficient modulo p^s, those that are not 0.
///
/// Digits are 0 and 1, or balanced. Their differences are units, so exactly one exists: axis by
/// axis, by Newton's interpolation.
pub(super) fn terms(modulus: PrimePower, values: &[u64], digits: &[i64]) -> Vec<(Name, i64)> {
    let p = digits.len();
    let mut coefficients = in_digits(values, digits);
    let nodes: Vec<u64> = digits.iter().map(|&d| modulus.reduce_i64(d)).collect();
    let mut step = 1;
    while step < values.len() {
        for start in (0..values.len()).filter(|x| x / step % p == 0) {
            let place = |k: usize| start + k * step;
            let points: Vec<(u64, u64)> = nodes.iter().enumerate().map(|(k, &d)| (d, coefficients[place(k)])).collect();
            for (k, c) in interpolate(modulus, &points).into_iter().enumerate() {
                coefficients[place(k)] = c;
            }
        }
        step *= p;
    }
    let terms = coefficients.into_iter().map(|c| modulus.centred(c)).enumerate();
    terms.filter(|&(_, c)| c != 0).collect()
}

/// The values in the order of digits: place Σ_j k_j·p^j has the value of x = Σ_j d_{k_j}·p^j, where
/// d_k is digit number k in the list.
fn in_digits(values: &[u64], digits: &[i64]) -> Vec<u64> {
    let (p, length) = (digits.len(), values.len() as i64);
    let argument = |place: usize| {
        let (mut rest, mut unit, mut x) = (place, 1, 0);
        while unit < length {
            x += digits[rest % p] * unit;
            (rest, unit) = (rest / p, unit * p as i64);
        }
        x.rem_euclid(length) as usize
    };
    (0..values.len()).map(|place| values[argument(place)]).collect()
}

/// How a polynomial of digits is evaluated.
#[derive(Debug, Clone)]
pub(super) struct Monomials {
    prime: usize,
    /// Products of two earlier monomials; those of one list do not need each other.
    made: Vec<Vec<[Name; 2]>>,
    /// By m_h: the terms of its factor. Those of h = 0 stand by themselves.
    groups: BTreeMap<Name, Vec<(Name, i64)>>,
    products: usize,
    depth: usize,
}

impl Monomials {
    /// The cheapest division of the digits by `price`, of products and depth. `depths` are those of
    /// the digits that occur in the terms.
    pub fn plan(
        prime: u64,
        terms: &[(Name, i64)],
        depths: &BTreeMap<u32, usize>,
        price: impl Fn(usize, usize) -> f64,
    ) -> Self {
        // The last digits, which are the deepest, on one side.
        let digits: Vec<u32> = depths.keys().copied().collect();
        let sides = (0..=digits.len()).flat_map(|at| [&digits[..at], &digits[at..]]);
        let all = sides.map(|high| Self::divided(prime as usize, terms, depths, high));
        let price = |plan: &Self| price(plan.products, plan.depth);
        all.min_by(|a, b| price(a).total_cmp(&price(b))).expect("there is one division at least")
    }

    fn divided(prime: usize, terms: &[(Name, i64)], depths: &BTreeMap<u32, usize>, high: &[u32]) -> Self {
        let mut groups: BTreeMap<Name, Vec<(Name, i64)>> = BTreeMap::new();
        for &(name, c) in terms {
            let above: Name = high.iter().map(|&j| power_of(prime, name, j)).sum();
            groups.entry(above).or_default().push((name - above, c));
        }
        // What is multiplied by an integer alone stands by itself.
        let (alone, groups): (BTreeMap<_, _>, BTreeMap<_, _>) =
            groups.into_iter().partition(|(above, terms)| *above != 0 && matches!(terms[..], [(0, _)]));
        let mut groups: BTreeMap<Name, Vec<(Name, i64)>> = groups;
        groups.entry(0).or_default().extend(alone.into_iter().map(|(above, terms)| (above, terms[0].1)));

        let mut tree = Tree { prime, depths, known: BTreeMap::new(), splits: BTreeMap::new() };
        let mut depth = 0;
        for (&above, terms) in &groups {
            let inner = terms.iter().map(|&(name, _)| tree.depth(name)).max().unwrap_or(0);
            let own = if above == 0 { inner } else { 1 + inner.max(tree.depth(above)) };
            depth = depth.max(own);
        }
        let products = tree.splits.len() + groups.keys().filter(|&&above| above != 0).count();
        let mut made: BTreeMap<usize, Vec<[Name; 2]>> = BTreeMap::new();
        for (name, factors) in &tree.splits {
            made.entry(tree.known[name]).or_default().push(*factors);
        }
        Self { prime, made: made.into_values().collect(), groups, products, depth }
    }

    pub fn products(&self) -> usize {
        self.products
    }

    /// One for each monomial that is made, and one for all products that are added.
    pub fn relinearisations(&self) -> usize {
        let made: usize = self.made.iter().map(Vec::len).sum();
        made + usize::from(made < self.products)
    }

    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The value, modulo the plaintext modulus of the digits, which must not be none.
    pub fn run<E: Evaluator>(&self, evaluator: &E, digits: &BTreeMap<u32, E::Ciphertext>) -> Result<E::Ciphertext> {
        let named = digits.iter().map(|(&j, x)| (self.prime.pow(j), x.clone()));
        let mut monomials: BTreeMap<Name, E::Ciphertext> = named.collect();
        for level in &self.made {
            let made = level.par_iter().map(|[a, b]| {
                let product = match a == b {
                    true => evaluator.square(&monomials[a])?,
                    false => evaluator.multiply(&monomials[a], &monomials[b])?,
                };
                Ok((a + b, product))
            });
            let made: Vec<(Name, E::Ciphertext)> = made.collect::<Result<_>>()?;
            monomials.extend(made);
        }
        let above: Vec<Name> = self.groups.keys().copied().filter(|&above| above != 0).collect();
        let factors = self.factors(evaluator, &above, &monomials)?;
        let pairs: Vec<_> = factors.iter().zip(&above).map(|(factor, above)| (factor, &monomials[above])).collect();
        let products = match pairs[..] {
            [] => None,
            [(a, b)] => Some(evaluator.multiply(a, b)?),
            _ => Some(evaluator.dot_ciphertexts(&pairs)?),
        };
        let (constant, alone) = split(&self.groups[&0]);
        let alone: Vec<(&E::Ciphertext, i64)> = alone.iter().map(|(name, c)| (&monomials[name], *c)).collect();
        let sum = match (products, &alone[..]) {
            (Some(products), []) => products,
            (products, alone) => evaluator.weighted_sum(alone, products.as_ref())?,
        };
        add_scalar(evaluator, &sum, constant)
    }

    /// Σ_l c_{h,l}·m_l for these h.
    fn factors<E: Evaluator>(
        &self,
        evaluator: &E,
        above: &[Name],
        monomials: &BTreeMap<Name, E::Ciphertext>,
    ) -> Result<Vec<E::Ciphertext>> {
        if above.is_empty() {
            return Ok(Vec::new());
        }
        let sums: Vec<(i64, Vec<(Name, i64)>)> = above.iter().map(|above| split(&self.groups[above])).collect();
        let names: BTreeSet<Name> = sums.iter().flat_map(|(_, terms)| terms.iter().map(|&(name, _)| name)).collect();
        let values: Vec<&E::Ciphertext> = names.iter().map(|name| &monomials[name]).collect();
        let weights = |(_, terms): &(i64, Vec<(Name, i64)>)| {
            let of: BTreeMap<Name, i64> = terms.iter().copied().collect();
            names.iter().map(|name| of.get(name).copied().unwrap_or(0)).collect()
        };
        let weights: Vec<Vec<i64>> = sums.iter().map(weights).collect();
        let made = evaluator.weighted_sums(&values, &weights)?;
        made.iter().zip(&sums).map(|(sum, (constant, _))| add_scalar(evaluator, sum, *constant)).collect()
    }
}

/// The constant of some terms, and the others.
fn split(terms: &[(Name, i64)]) -> (i64, Vec<(Name, i64)>) {
    let (constants, others): (Vec<_>, Vec<_>) = terms.iter().partition(|(name, _)| *name == 0);
    (constants.iter().map(|(_, c)| c).sum(), others)
}

/// The part of a monomial in digit j.
fn power_of(prime: usize, name: Name, j: u32) -> Name {
    let unit = prime.pow(j);
    name / unit % prime * unit
}

/// Of which factors monomials are made.
struct Tree<'a> {
    prime: usize,
    depths: &'a BTreeMap<u32, usize>,
    known: BTreeMap<Name, usize>,
    splits: BTreeMap<Name, [Name; 2]>,
}

impl Tree<'_> {
    /// The depth of a monomial, which is noted with all that it is made of.
    fn depth(&mut self, name: Name) -> usize {
        if name == 0 {
            return 0;
        }
        if let Some(&depth) = self.known.get(&name) {
            return depth;
        }
        let depth = match self.factors(name) {
            Err(digit) => self.depths[&digit],
            Ok(factors) => {
                self.splits.insert(name, factors);
                1 + factors.map(|factor| self.depth(factor)).into_iter().fold(0, usize::max)
            }
        };
        self.known.insert(name, depth);
        depth
    }

    /// The power of the deepest digit by itself; of one digit both halves of the exponent. A digit
    /// alone is given.
    fn factors(&self, name: Name) -> Result<[Name; 2], u32> {
        let own = |j: u32| power_of(self.prime, name, j);
        let all = self.depths.keys().copied().filter(|&j| own(j) != 0);
        let reached = |j: u32| self.depths[&j] + log2_ceil(own(j) / self.prime.pow(j));
        let deepest = all.max_by_key(|&j| (reached(j), j)).expect("a monomial has a digit");
        let (power, unit) = (own(deepest), self.prime.pow(deepest));
        match power == name {
            false => Ok([name - power, power]),
            true if power == unit => Err(deepest),
            true => Ok(<[usize; 2]>::from(halves(power / unit)).map(|exponent| exponent * unit)),
        }
    }
}
