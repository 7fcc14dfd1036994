//! Polynomials of a ciphertext (Paterson–Stockmeyer), and sums and products of many.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use rayon::prelude::*;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::evaluator::Evaluator;
use windlass_schemes::plaintext::Plaintext;

/// A way to evaluate `f(x) = Σ_e c_e·x^e` with integer coefficients.
///
/// With a block length k, `f` is split at `x^{k·2^j}` from the top: `f = q·x^{k·2^j} + r`, down to
/// pieces of degree at most k, which are sums of small powers with scalar factors
/// (Paterson–Stockmeyer). Only the powers that occur are made, so an odd or even polynomial needs
/// half of them. Among all k the plan takes one of the least multiplicative depth, `⌈log2 deg f⌉`,
/// of those one with the fewest ciphertext products, and of those one with the fewest
/// relinearisations.
///
/// Down the low side `f = q_0·x^{k·2^j} + q_1·x^{k·2^{j−1}} + .. + r`: products that are only added
/// are relinearised as one ([`Evaluator::dot_ciphertexts`]).
#[derive(Debug, Clone)]
pub struct PolynomialPlan {
    powers: BTreeSet<usize>,
    body: Piece,
    products: usize,
    depth: usize,
}

/// A polynomial as the evaluation takes it apart.
#[derive(Debug, Clone)]
enum Piece {
    /// `Σ c_e·x^e`, all powers at hand; the pairs are (e, c_e), c_e ≠ 0.
    Leaf(Vec<(usize, i64)>),
    /// `high·x^power + low`.
    Split { high: Box<Piece>, power: usize, low: Box<Piece> },
}

impl PolynomialPlan {
    /// Plans the evaluation of the polynomial with these coefficients, lowest first.
    ///
    /// Coefficients count modulo the plaintext modulus of the evaluator: pass them centred, as
    /// small as they come, since the noise grows with their size. Cost: about deg f splits for each
    /// of deg f block lengths, 8·√deg f beyond degree 1024.
    pub fn new(coefficients: &[i64]) -> Self {
        Self::sharing(coefficients, &BTreeSet::new())
    }

    /// As [`Self::new`], for an argument whose powers `made` exist already and are free.
    pub(crate) fn sharing(coefficients: &[i64], made: &BTreeSet<usize>) -> Self {
        let terms: Vec<(usize, i64)> = coefficients.iter().copied().enumerate().filter(|&(_, c)| c != 0).collect();
        let degree = terms.last().map_or(0, |&(e, _)| e);
        // Blocks much longer than √degree never pay; of short polynomials all are tried, since few
        // terms may lie anywhere.
        let longest = if degree <= 1024 { degree.max(1) } else { 8 * degree.isqrt() };
        (1..=longest)
            .map(|block| Self::with_block(&terms, degree, block, made))
            .min_by_key(|plan| (plan.depth, plan.products, plan.relinearisations()))
            .expect("there is at least one block length")
    }

    fn with_block(terms: &[(usize, i64)], degree: usize, block: usize, made: &BTreeSet<usize>) -> Self {
        let mut top = block;
        while 2 * top < degree {
            top *= 2;
        }
        let body = Piece::of(terms, block, top);
        let mut powers = BTreeSet::new();
        body.collect_powers(&mut powers);
        let powers = closed(powers);
        let products = powers.iter().filter(|&&e| e > 1 && !made.contains(&e)).count() + body.products();
        let depth = body.depth();
        Self { powers, body, products, depth }
    }

    /// The number of ciphertext products, squares included.
    pub fn products(&self) -> usize {
        self.products
    }

    /// The number of relinearisations: one for each power that is made, and one for each sum of
    /// products.
    pub fn relinearisations(&self) -> usize {
        self.products - self.body.products() + self.body.relinearisations()
    }

    /// The powers of the argument that the evaluation uses.
    pub(crate) fn powers(&self) -> &BTreeSet<usize> {
        &self.powers
    }

    /// The multiplicative depth; products with integers are not counted.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Whether there is no constant, so that 0 goes to 0.
    pub fn keeps_zero(&self) -> bool {
        let mut piece = &self.body;
        loop {
            match piece {
                Piece::Leaf(terms) => return terms.iter().all(|&(power, _)| power > 0),
                Piece::Split { low, .. } => piece = low,
            }
        }
    }

    /// `f(x)`, slot by slot and more generally in the plaintext ring.
    pub fn apply<E: Evaluator>(&self, evaluator: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        self.apply_sharing(evaluator, x, &mut BTreeMap::new())
    }

    /// As [`Self::apply`], taking powers of x from `made` and leaving there those that it makes.
    pub(crate) fn apply_sharing<E: Evaluator>(
        &self,
        evaluator: &E,
        x: &E::Ciphertext,
        made: &mut BTreeMap<usize, E::Ciphertext>,
    ) -> Result<E::Ciphertext> {
        evaluator.check_input("polynomial", x)?;
        self.make_powers(evaluator, x, made)?;
        match self.body.evaluate(evaluator, made)? {
            Value::Encrypted(value) => Ok(value),
            Value::Public(c) => add_scalar(evaluator, &evaluator.multiply_scalar(x, 0)?, c),
        }
    }

    /// All powers that are not made yet, those of one depth in parallel.
    fn make_powers<E: Evaluator>(
        &self,
        evaluator: &E,
        x: &E::Ciphertext,
        made: &mut BTreeMap<usize, E::Ciphertext>,
    ) -> Result<()> {
        made.entry(1).or_insert_with(|| x.clone());
        let deepest = self.powers.last().map_or(0, |&e| log2_ceil(e));
        for depth in 1..=deepest {
            let wanted = self.powers.iter().copied().filter(|e| log2_ceil(*e) == depth && !made.contains_key(e));
            let level: Vec<(usize, E::Ciphertext)> = wanted
                .collect::<Vec<_>>()
                .into_par_iter()
                .map(|e| {
                    let (a, b) = halves(e);
                    let power =
                        if a == b { evaluator.square(&made[&a])? } else { evaluator.multiply(&made[&a], &made[&b])? };
                    Ok((e, power))
                })
                .collect::<Result<_>>()?;
            made.extend(level);
        }
        Ok(())
    }
}

impl fmt::Display for PolynomialPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} products, depth {}, powers {:?}", self.products, self.depth, self.powers)
    }
}

/// What a piece comes to.
enum Value<C> {
    Encrypted(C),
    Public(i64),
}

impl Piece {
    /// Splits terms of degree at most `2·top` at `x^top`, and so on down to degree `block`.
    fn of(terms: &[(usize, i64)], block: usize, top: usize) -> Self {
        let degree = terms.last().map_or(0, |&(e, _)| e);
        if degree <= block {
            return Piece::Leaf(terms.to_vec());
        }
        if degree <= top {
            return Self::of(terms, block, top / 2);
        }
        let at = terms.partition_point(|&(e, _)| e < top);
        let high: Vec<(usize, i64)> = terms[at..].iter().map(|&(e, c)| (e - top, c)).collect();
        let half = (top / 2).max(block);
        Piece::Split {
            high: Box::new(Self::of(&high, block, half)),
            power: top,
            low: Box::new(Self::of(&terms[..at], block, half)),
        }
    }

    /// The constant that this piece is, if it is one.
    fn public(&self) -> Option<i64> {
        match self {
            Piece::Leaf(terms) => match terms[..] {
                [] => Some(0),
                [(0, c)] => Some(c),
                _ => None,
            },
            Piece::Split { .. } => None,
        }
    }

    fn collect_powers(&self, powers: &mut BTreeSet<usize>) {
        match self {
            Piece::Leaf(terms) => powers.extend(terms.iter().map(|&(e, _)| e).filter(|&e| e > 0)),
            Piece::Split { high, power, low } => {
                powers.insert(*power);
                high.collect_powers(powers);
                low.collect_powers(powers);
            }
        }
    }

    fn products(&self) -> usize {
        match self {
            Piece::Leaf(_) => 0,
            Piece::Split { high, low, .. } => usize::from(high.public().is_none()) + high.products() + low.products(),
        }
    }

    fn relinearisations(&self) -> usize {
        let (splits, _) = self.spine();
        let own = splits.iter().any(|(high, _)| high.public().is_none());
        usize::from(own) + splits.iter().map(|(high, _)| high.relinearisations()).sum::<usize>()
    }

    fn depth(&self) -> usize {
        match self {
            Piece::Leaf(terms) => terms.last().map_or(0, |&(e, _)| log2_ceil(e)),
            Piece::Split { high, power, low } => {
                let product = usize::from(high.public().is_none()) + high.depth().max(log2_ceil(*power));
                product.max(low.depth())
            }
        }
    }

    /// The splits down the low side, and the leaf that they end in.
    fn spine(&self) -> (Vec<(&Piece, usize)>, &[(usize, i64)]) {
        let (mut splits, mut rest) = (Vec::new(), self);
        loop {
            match rest {
                Piece::Leaf(terms) => return (splits, terms),
                Piece::Split { high, power, low } => {
                    splits.push((high.as_ref(), *power));
                    rest = low;
                }
            }
        }
    }

    /// `Σ high_i·x^{power_i}` down the low side, relinearised once, with the leaf on top.
    fn evaluate<E: Evaluator>(
        &self,
        evaluator: &E,
        powers: &BTreeMap<usize, E::Ciphertext>,
    ) -> Result<Value<E::Ciphertext>> {
        let (splits, leaf) = self.spine();
        let heads: Vec<(Value<E::Ciphertext>, usize)> = splits
            .into_par_iter()
            .map(|(high, power)| Ok((high.evaluate(evaluator, powers)?, power)))
            .collect::<Result<_>>()?;

        // A head that is an integer makes a term as those of the leaf are.
        let (mut products, mut terms, mut constant) = (Vec::new(), Vec::new(), 0);
        for (head, power) in &heads {
            match head {
                Value::Encrypted(head) => products.push((head, &powers[power])),
                Value::Public(c) => terms.push((&powers[power], *c)),
            }
        }
        for &(e, c) in leaf {
            match e {
                0 => constant = c,
                e => terms.push((&powers[&e], c)),
            }
        }

        // The terms take over what the factor of the products is.
        let products = match products[..] {
            [] => None,
            [(head, power)] => Some(evaluator.multiply(head, power)?),
            _ => Some(evaluator.dot_ciphertexts(&products)?),
        };
        let sum = match (products, &terms[..]) {
            (None, []) => return Ok(Value::Public(constant)),
            (Some(products), []) => products,
            (None, [(x, 1)]) => (*x).clone(),
            (products, terms) => evaluator.weighted_sum(terms, products.as_ref())?,
        };
        Ok(Value::Encrypted(add_scalar(evaluator, &sum, constant)?))
    }
}

/// `x + c` for an integer c.
pub(super) fn add_scalar<E: Evaluator>(evaluator: &E, x: &E::Ciphertext, c: i64) -> Result<E::Ciphertext> {
    if c == 0 {
        return Ok(x.clone());
    }
    evaluator.add_plain(x, &Plaintext::scalar(evaluator.slot_ring(), c))
}

/// `⌈log2 e⌉`, the least depth of `x^e`.
pub(super) fn log2_ceil(e: usize) -> usize {
    e.max(1).next_power_of_two().trailing_zeros() as usize
}

/// Two exponents with sum e that keep `x^e` at its least depth: the largest power of two below e,
/// and the rest.
pub(super) fn halves(e: usize) -> (usize, usize) {
    let high = e.next_power_of_two() / 2;
    (high, e - high)
}

/// The exponents with all that their products need; 1 is always at hand and left out.
fn closed(wanted: BTreeSet<usize>) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    let mut open: Vec<usize> = wanted.into_iter().collect();
    while let Some(e) = open.pop() {
        if e > 1 && all.insert(e) {
            let (a, b) = halves(e);
            open.extend([a, b]);
        }
    }
    all
}

/// The sum of one or more ciphertexts.
///
/// # Errors
/// [`Error::ShapeMismatch`] for an empty list.
pub fn sum_of_many<E: Evaluator>(evaluator: &E, terms: &[E::Ciphertext]) -> Result<E::Ciphertext> {
    balanced(terms, &|a, b| evaluator.add(a, b))
}

/// The product of one or more ciphertexts, in a balanced tree of depth `⌈log2 count⌉`.
///
/// # Errors
/// [`Error::ShapeMismatch`] for an empty list.
pub fn product_of_many<E: Evaluator>(evaluator: &E, factors: &[E::Ciphertext]) -> Result<E::Ciphertext> {
    balanced(factors, &|a, b| evaluator.multiply(a, b))
}

fn balanced<C: Clone + Send + Sync>(list: &[C], combine: &(impl Fn(&C, &C) -> Result<C> + Sync)) -> Result<C> {
    match list {
        [] => Err(Error::ShapeMismatch { what: "ciphertexts to combine", expected: 1, got: 0 }),
        [one] => Ok(one.clone()),
        _ => {
            let (left, right) = list.split_at(list.len().next_power_of_two() / 2);
            let (left, right) = rayon::join(|| balanced(left, combine), || balanced(right, combine));
            combine(&left?, &right?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_least_and_products_are_few() {
        for degree in 1..70usize {
            let coefficients: Vec<i64> = (0..=degree as i64).map(|e| e + 1).collect();
            let plan = PolynomialPlan::new(&coefficients);
            assert_eq!(plan.depth(), log2_ceil(degree), "degree {degree}");
            let bound = 2 * (degree as f64).sqrt().ceil() as usize + log2_ceil(degree);
            assert!(plan.products() <= bound, "degree {degree}: {plan}");
        }
    }

    #[test]
    fn products_that_are_only_added_are_relinearised_as_one() {
        let counts = |degree: i64| {
            let plan = PolynomialPlan::new(&(0..=degree).map(|e| e + 1).collect::<Vec<_>>());
            (plan.products(), plan.relinearisations())
        };
        // Of degree 15 in blocks of 4: x², x³, x⁴, x⁸, then (q_3·x⁴ + q_2)·x⁸ + q_1·x⁴ + q_0.
        assert_eq!([3, 7, 15, 31, 63, 127].map(counts), [(2, 2), (4, 4), (7, 6), (11, 10), (16, 13), (24, 21)]);
    }

    #[test]
    fn odd_and_even_polynomials_need_fewer_products() {
        for (degree, fewer) in [(31, 1), (63, 1), (127, 4)] {
            let plan = |keep: fn(i64) -> bool| {
                let coefficients: Vec<i64> = (0..=degree).map(|e| if keep(e) { 3 } else { 0 }).collect();
                PolynomialPlan::new(&coefficients)
            };
            let (full, odd, even) = (plan(|_| true), plan(|e| e % 2 == 1), plan(|e| e % 2 == 0));
            assert_eq!((odd.depth(), even.depth()), (full.depth(), full.depth()));
            assert!(odd.products() + fewer <= full.products(), "degree {degree}: {odd} against {full}");
            assert!(even.products() + fewer <= full.products(), "degree {degree}: {even} against {full}");
        }
    }

    #[test]
    fn zero_goes_to_zero_without_a_constant() {
        for degree in 0..70i64 {
            let keeps_zero = |c: i64| PolynomialPlan::new(&[&[c][..], &vec![2; degree as usize]].concat()).keeps_zero();
            assert!(keeps_zero(0) && !keeps_zero(-3), "degree {degree}");
        }
        assert!(PolynomialPlan::new(&[]).keeps_zero());
    }

    #[test]
    fn degenerate_polynomials() {
        for (coefficients, products) in [(&[][..], 0), (&[0, 0], 0), (&[5], 0), (&[1, 2], 0), (&[0, 0, 7], 1)] {
            let plan = PolynomialPlan::new(coefficients);
            assert_eq!(plan.products(), products, "{plan}");
        }
    }
}
