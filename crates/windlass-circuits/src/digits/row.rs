//! Evaluates one digit: all its values from its argument.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use windlass_ring::slots::PrimePower;
use windlass_schemes::error::{Error, Result};

use super::chain::{ChainValue, DigitChain};
use super::method::{DigitMethod, DigitPolynomial, DigitRoute, DigitSpec, DigitStep, LastStep, Stride};
use super::polynomials::{DigitRange, counterexample};
use crate::PolynomialPlan;

/// A value of a row.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// To which precision it knows the digit; 0 for a product of a chain that does not by itself.
    pub precision: u32,
    pub step: RowStep,
    pub depth: usize,
}

/// How a value comes from earlier ones of its row, which are named by their numbers.
#[derive(Debug, Clone)]
pub(super) enum RowStep {
    /// The row's argument.
    Given,
    /// A polynomial; those of one value share its powers.
    Polynomial { of: usize, plan: PolynomialPlan, is_square: bool },
    /// The product of two sums.
    Product([Terms; 2]),
    /// A product with its weight, and earlier values on top.
    Sum { product: (usize, i64), rest: Terms },
}

/// Values by number, and their weights.
pub(super) type Terms = Vec<(usize, i64)>;

impl Known {
    /// The products that it costs.
    pub fn products(&self) -> usize {
        match &self.step {
            RowStep::Given | RowStep::Sum { .. } => 0,
            RowStep::Polynomial { plan, .. } => plan.products(),
            RowStep::Product(_) => 1,
        }
    }

    /// Those of them that are not relinearised together with others of this value.
    pub fn relinearisations(&self) -> usize {
        match &self.step {
            RowStep::Polynomial { plan, .. } => plan.relinearisations(),
            RowStep::Given | RowStep::Sum { .. } | RowStep::Product(_) => self.products(),
        }
    }

    /// The value that this is the square of, if so.
    fn square_of(&self) -> Option<usize> {
        match &self.step {
            RowStep::Polynomial { of, is_square: true, .. } => Some(*of),
            _ => None,
        }
    }
}

/// Digit j: its values (polynomials of one value share its powers), those that later rows subtract,
/// and the one that is subtracted in the end.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub known: Vec<Known>,
    /// For rows j+1, j+2, .., v−1: which value.
    pub for_rows: Vec<usize>,
    pub last: usize,
    /// The product that only the last value uses, once: it need not be relinearised separately.
    pub late: Option<usize>,
}

impl Row {
    fn of_argument(depth: usize) -> Self {
        Self {
            known: vec![Known { precision: 1, step: RowStep::Given, depth }],
            for_rows: Vec::new(),
            last: 0,
            late: None,
        }
    }

    /// Row j by polynomials, its argument of the given depth.
    pub fn by_route(
        spec: &DigitSpec,
        method: &dyn DigitMethod,
        route: DigitRoute,
        j: u32,
        depth: usize,
    ) -> Result<Self> {
        let mut row = Self::of_argument(depth);
        let (lent, wanted) = spec.precisions(j);
        let end = match route.last {
            LastStep::AsTheOthers => wanted,
            LastStep::Direct => lent,
            LastStep::DirectBeyond(precision) => lent.min(precision),
        };
        while row.top().precision < end {
            let from = if route.stride == Stride::Fan { 0 } else { row.known.len() - 1 };
            let now = row.top().precision;
            let next = match route.stride {
                Stride::One | Stride::Fan => now + 1,
                Stride::Double => (2 * now).min(end),
                Stride::All => end,
            };
            row.push(method, spec.step(j, next), from)?;
        }
        if row.top().precision < wanted {
            row.push(method, spec.step(j, wanted), 0)?;
        }
        Ok(row.with_ends(lent, wanted))
    }

    /// Row j by a chain without flaw: its products as far as they are needed, and what knows the
    /// digit to the precisions that are asked for.
    ///
    /// # Errors
    /// [`Error::Unplannable`] where the chain does not go so far.
    pub fn by_chain(spec: &DigitSpec, chain: &DigitChain, j: u32, depth: usize) -> Result<Self> {
        let (lent, wanted) = spec.precisions(j);
        let too_short = || Error::Unplannable {
            strategy: spec.method.name().into(),
            reason: format!("its chain does not reach {wanted} digits to base {}", spec.prime),
        };
        let precisions = (2..=lent).chain([wanted]);
        let values: Option<BTreeMap<u32, &ChainValue>> =
            precisions.map(|precision| chain.value(precision).map(|value| (value.precision, value))).collect();
        let values = values.ok_or_else(too_short)?;
        let needed = values.values().map(|value| value.weights.len() - 1).max().unwrap_or(0);

        // Product k of the chain is value k of the row.
        let mut row = Self::of_argument(depth);
        for factors in &chain.products[..needed] {
            let factors = factors.each_ref().map(|weights| terms(weights));
            let depth = 1 + factors.iter().map(|terms| row.depth_of(terms)).max().unwrap_or(0);
            row.known.push(Known { precision: 0, step: RowStep::Product(factors), depth });
        }
        for (precision, value) in values {
            let mut rest = terms(&value.weights);
            let depth = row.depth_of(&rest);
            let product = rest.pop().expect("a chain without flaw has no empty sums");
            match (product, &rest[..]) {
                ((k, 1), []) => row.known[k].precision = precision,
                _ => {
                    row.known.push(Known { precision, step: RowStep::Sum { product, rest }, depth });
                }
            }
        }
        Ok(row.with_ends(lent, wanted))
    }

    /// Names the values that other rows and the last sum take.
    fn with_ends(mut self, lent: u32, wanted: u32) -> Self {
        let least = |precision: u32| {
            let enough = self.known.iter().enumerate().filter(|(_, known)| known.precision >= precision);
            enough.min_by_key(|(_, known)| known.precision).expect("made above").0
        };
        let for_rows = (2..=lent).map(least).collect();
        self.last = least(wanted);
        self.for_rows = for_rows;
        self.late = self.late_product();
        self
    }

    /// The product of the last value, where nothing else takes it and its weight is 1.
    fn late_product(&self) -> Option<usize> {
        let product = match &self.known[self.last].step {
            RowStep::Product(_) => self.last,
            RowStep::Sum { product: (product, 1), .. } => *product,
            RowStep::Given | RowStep::Polynomial { .. } | RowStep::Sum { .. } => return None,
        };
        let takes = |known: &Known| match &known.step {
            RowStep::Given => false,
            RowStep::Polynomial { of, .. } => *of == product,
            RowStep::Product(factors) => factors.iter().flatten().any(|(k, _)| *k == product),
            RowStep::Sum { product: (k, _), rest } => *k == product || rest.iter().any(|(k, _)| *k == product),
        };
        let others = self.known.iter().enumerate().filter(|(k, _)| *k != self.last);
        let is_lent = [product, self.last].iter().any(|k| self.for_rows.contains(k));
        (!is_lent && !others.into_iter().any(|(_, known)| takes(known))).then_some(product)
    }

    /// The sums that take product k and come after it: their numbers, and what they take besides.
    pub fn sums_with(&self, k: usize) -> Vec<(usize, &Terms)> {
        self.known
            .iter()
            .enumerate()
            .filter_map(|(number, known)| match &known.step {
                RowStep::Sum { product, rest } if product.0 == k && !rest.is_empty() => Some((number, rest)),
                _ => None,
            })
            .collect()
    }

    fn depth_of(&self, terms: &Terms) -> usize {
        terms.iter().map(|&(k, _)| self.known[k].depth).max().unwrap_or(0)
    }

    fn top(&self) -> &Known {
        self.known.last().expect("a row has its argument")
    }

    /// The powers of value number `from` that its polynomials so far have made.
    fn powers_of(&self, from: usize) -> BTreeSet<usize> {
        let plans = self.known.iter().filter_map(|known| match &known.step {
            RowStep::Polynomial { of, plan, .. } if *of == from => Some(plan),
            _ => None,
        });
        plans.flat_map(|plan| plan.powers().iter().copied()).collect()
    }

    /// Adds the value that a step makes from value number `from`.
    fn push(&mut self, method: &dyn DigitMethod, step: DigitStep, from: usize) -> Result<()> {
        let source = &self.known[from];
        let root = source.square_of().map(|root| &self.known[root]);
        let step = DigitStep { from: source.precision, is_square: root.is_some(), ..step };
        let polynomial = method.polynomial(&step)?;
        if let Some(reason) = flaw(&step, &polynomial, root.map(|root| root.precision))? {
            return Err(Error::Unplannable { strategy: method.name().into(), reason });
        }
        let plan = PolynomialPlan::sharing(&polynomial.coefficients, &self.powers_of(from));
        let depth = source.depth + plan.depth();
        let is_square = polynomial.coefficients == [0, 0, 1];
        let step = RowStep::Polynomial { of: from, plan, is_square };
        self.known.push(Known { precision: polynomial.precision, step, depth });
        Ok(())
    }
}

/// The weights that are not 0.
fn terms(weights: &[i64]) -> Terms {
    weights.iter().copied().enumerate().filter(|&(_, weight)| weight != 0).collect()
}

/// What is wrong with a method's polynomial, if anything. Where arguments are squares (of values
/// that know the digit to precision `root`) it is enough if those go to their digits.
fn flaw(step: &DigitStep, polynomial: &DigitPolynomial, root: Option<u32>) -> Result<Option<String>> {
    let DigitPolynomial { coefficients, precision } = polynomial;
    let modulus = PrimePower::new(step.prime, *precision)?;
    let wrong_at = |coefficients: &[i64], known| counterexample(modulus, coefficients, known, (&step.occurring).into());
    let of_squares = |root: u32| {
        let even: Vec<i64> = coefficients.iter().flat_map(|&c| [c, 0]).collect();
        wrong_at(&even, root)
    };
    let counterexample = wrong_at(coefficients, step.from);
    Ok(match counterexample.filter(|_| root.is_none_or(|root| of_squares(root).is_some())) {
        Some(x) => Some(format!("modulo {}^{precision} its polynomial does not take {x} to its digit", step.prime)),
        None if *precision < step.to => {
            Some(format!("its polynomial goes to precision {precision} instead of {}", step.to))
        }
        None => None,
    })
}

impl DigitSpec {
    /// To which precisions digit j is needed: by later digits at most, and in the end.
    fn precisions(&self, j: u32) -> (u32, u32) {
        (self.removed - j, self.exponent - j)
    }

    /// The digits that occur in any row: where one row is all, its own.
    pub(super) fn occurring(&self) -> RangeInclusive<i64> {
        if self.removed == 1 { self.step(0, self.exponent).occurring } else { DigitRange::all(self.prime).range() }
    }

    /// A step of digit j to some precision, from its first value.
    fn step(&self, j: u32, to: u32) -> DigitStep {
        let all = DigitRange::all(self.prime);
        let occurring = match self.bound {
            Some(bound) if self.prime != 2 && j + 1 == self.removed => {
                let unit = self.prime.pow(j);
                DigitRange::up_to(bound.saturating_add((unit - 1) / 2) / unit, self.prime)
            }
            _ => all,
        };
        DigitStep {
            prime: self.prime,
            from: 1,
            to,
            digits: all.range(),
            occurring: occurring.range(),
            is_square: false,
        }
    }
}
