//! Extracts the digits of x modulo p^r one after the other, each to the precision that is needed.
//!
//! Row j begins at y_j = (x − Σ_{i<j} p^i·w_i)/p^j modulo p, where w_i is digit i modulo p^{j−i+1}. For
//! this x is needed modulo p^{j+1} only. A digit that is known modulo p^a is a ciphertext modulo p^a,
//! so its noise grows with that modulus and no larger one. To know the digit modulo p^c, c > a, the
//! ciphertext is read as one modulo p^c. It then holds the digit plus an unknown multiple of p^a, which
//! the noise bound covers ([`Evaluator::raise_exponent`]). A polynomial whose value does not depend on
//! that multiple makes the digit precise ([`lifting`]). The table may need digit j modulo p^s for an s
//! larger than r − j, the precision that x itself has there.

use std::collections::{BTreeMap, BTreeSet};

use windlass_schemes::error::Result;
use windlass_schemes::evaluator::{Evaluator, Subtrahend};

use super::lifting::lifting;
use crate::polynomial::PolynomialPlan;

/// How precision rises. All ways are right; the planner compares them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    /// Twice as much with each step, else one digit more.
    pub doubling: bool,
    /// Steps go so far; what asks for more gets the value of the last precision.
    pub cap: u32,
    /// The last precision by fewest products, else by least depth.
    pub sparing: bool,
}

impl Way {
    /// All of them, for digits modulo p^r.
    pub fn all(r: u32) -> impl Iterator<Item = Self> {
        let of_cap = |cap| {
            let of = move |doubling| [false, true].map(move |sparing| Self { doubling, cap, sparing });
            [false, true].into_iter().flat_map(of)
        };
        (1..=r).flat_map(of_cap)
    }
}

/// Lifting polynomials by their precisions: plans ask for few of them, again and again.
#[derive(Debug)]
pub(super) struct Liftings {
    prime: u64,
    known: BTreeMap<(u32, u32), PolynomialPlan>,
}

impl Liftings {
    pub fn new(prime: u64) -> Self {
        Self { prime, known: BTreeMap::new() }
    }

    fn get(&mut self, from: u32, to: u32) -> Result<&PolynomialPlan> {
        if !self.known.contains_key(&(from, to)) {
            self.known.insert((from, to), PolynomialPlan::new(&lifting(self.prime, from, to)?));
        }
        Ok(&self.known[&(from, to)])
    }
}

/// A value of a row: its argument, or a polynomial of an earlier value.
#[derive(Debug, Clone)]
struct Value {
    /// The digit modulo p^precision.
    precision: u32,
    depth: usize,
    /// Of which value, and the polynomial; none for the argument.
    step: Option<(usize, PolynomialPlan)>,
}

/// One digit.
#[derive(Debug, Clone)]
pub(super) struct DigitRow {
    values: Vec<Value>,
    /// What later rows take, the next one first.
    lent: Vec<usize>,
    /// What the table takes, if it takes this digit.
    exact: Option<usize>,
}

impl DigitRow {
    /// Rows up to the last digit in `used`, of which the table takes the values modulo p^s.
    pub fn plan(liftings: &mut Liftings, way: Way, s: u32, used: &BTreeSet<u32>) -> Result<Vec<Self>> {
        let last = used.last().copied().unwrap_or(0);
        let mut rows: Vec<Self> = Vec::new();
        for j in 0..=last {
            let lent = |(i, row): (usize, &Self)| row.values[row.lent[j as usize - 1 - i]].depth;
            let depth = rows.iter().enumerate().map(lent).max().unwrap_or(0);
            let (lends, takes) = (last - j + 1, if used.contains(&j) { s } else { 1 });
            let values = vec![Value { precision: 1, depth, step: None }];
            let mut row = Self { values, lent: Vec::new(), exact: None };
            row.make_precise(liftings, way, lends, lends.max(takes))?;
            row.lent = (2..=lends).map(|precision| row.knowing(precision)).collect();
            row.exact = used.contains(&j).then(|| row.knowing(s));
            rows.push(row);
        }
        Ok(rows)
    }

    /// Steps as far as later rows ask for, then to the end.
    fn make_precise(&mut self, liftings: &mut Liftings, way: Way, lends: u32, end: u32) -> Result<()> {
        let top = |row: &Self| row.values[row.values.len() - 1].precision;
        while top(self) < lends.min(way.cap) {
            let now = top(self);
            let next = if way.doubling { (2 * now).min(end) } else { now + 1 };
            let value = self.value(liftings, self.values.len() - 1, next)?;
            self.values.push(value);
        }
        if top(self) < end {
            let ends = self.ends(liftings, end)?;
            let products = |values: &[Value]| values.iter().map(Value::products).sum::<usize>();
            let depth = |values: &[Value]| values.last().map_or(0, |value| value.depth);
            let best = ends.into_iter().min_by_key(|values| match way.sparing {
                true => (products(values), depth(values)),
                false => (depth(values), products(values)),
            });
            self.values.extend(best.unwrap_or_default());
        }
        Ok(())
    }

    /// From each value to the last precision, in one step or two.
    fn ends(&self, liftings: &mut Liftings, end: u32) -> Result<Vec<Vec<Value>>> {
        let mut ends = Vec::new();
        for from in 0..self.values.len() {
            ends.push(vec![self.value(liftings, from, end)?]);
            for half in self.values[from].precision + 1..end {
                let first = self.value(liftings, from, half)?;
                let plan = liftings.get(half, end)?.clone();
                let depth = first.depth + plan.depth();
                let second = Value { precision: end, depth, step: Some((self.values.len(), plan)) };
                ends.push(vec![first, second]);
            }
        }
        Ok(ends)
    }

    /// What value number `from` becomes by a polynomial that takes it to a precision.
    fn value(&self, liftings: &mut Liftings, from: usize, precision: u32) -> Result<Value> {
        let source = &self.values[from];
        let plan = liftings.get(source.precision, precision)?.clone();
        Ok(Value { precision, depth: source.depth + plan.depth(), step: Some((from, plan)) })
    }

    /// The first value that knows the digit so precisely.
    fn knowing(&self, precision: u32) -> usize {
        let found = self.values.iter().position(|value| value.precision >= precision);
        found.expect("a row goes as far as it is asked for")
    }

    /// The depth of what the table takes.
    pub fn depth(&self) -> Option<usize> {
        self.exact.map(|exact| self.values[exact].depth)
    }

    pub fn products(&self) -> usize {
        self.values.iter().map(Value::products).sum()
    }

    pub fn relinearisations(&self) -> usize {
        let plans = self.values.iter().filter_map(|value| value.step.as_ref());
        plans.map(|(_, plan)| plan.relinearisations()).sum()
    }

    /// The precisions that it goes through, in words.
    pub fn describe(&self) -> String {
        let precisions: Vec<String> = self.values.iter().map(|value| value.precision.to_string()).collect();
        format!("precision {} ({} products)", precisions.join(", "), self.products())
    }

    /// All values, of the argument modulo p.
    fn run<E: Evaluator>(&self, evaluator: &E, argument: E::Ciphertext) -> Result<Vec<E::Ciphertext>> {
        let mut made = vec![evaluator.declare_integers(argument)];
        for value in &self.values {
            let Some((of, plan)) = &value.step else { continue };
            let raised = evaluator.raise_exponent(&made[*of], value.precision)?;
            made.push(evaluator.declare_integers(plan.apply(evaluator, &raised)?));
        }
        Ok(made)
    }
}

impl Value {
    fn products(&self) -> usize {
        self.step.as_ref().map_or(0, |(_, plan)| plan.products())
    }
}

/// The digits that the table takes, by number, each as an integer modulo p^s.
///
/// Cost: the products of all rows.
pub(super) fn run<E: Evaluator>(
    rows: &[DigitRow],
    evaluator: &E,
    x: &E::Ciphertext,
    s: u32,
) -> Result<BTreeMap<u32, E::Ciphertext>> {
    let mut made: Vec<Vec<E::Ciphertext>> = Vec::new();
    let mut taken = BTreeMap::new();
    for (j, row) in (0u32..).zip(rows) {
        let lent = |(i, (row, values)): (u32, (&DigitRow, &Vec<E::Ciphertext>))| {
            evaluator.reduce_exponent(&values[row.lent[(j - 1 - i) as usize]], j - i + 1)
        };
        let lent: Vec<E::Ciphertext> = (0..j).zip(rows.iter().zip(&made)).map(lent).collect::<Result<_>>()?;
        let subtrahends = lent.iter().map(|value| Subtrahend { value: Some(value), product: None });
        let known = evaluator.reduce_exponent(x, j + 1)?;
        let argument = evaluator.divide_out(&known, &subtrahends.collect::<Vec<_>>())?;
        let values = row.run(evaluator, argument)?;
        if let Some(exact) = row.exact {
            taken.insert(j, evaluator.reduce_exponent(&values[exact], s)?);
        }
        made.push(values);
    }
    Ok(taken)
}
