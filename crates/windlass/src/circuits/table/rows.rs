//! The digits of x modulo p^r one after the other, each as precise as it is needed.
//!
//! Row j begins at y_j = (x − Σ_{i<j} p^i·w_i)/p^j, where w_i knows digit i modulo p^{j−i+1}: y_j
//! knows digit j modulo p, as an integer modulo p^{r−j}. A table takes the digit modulo p^s, and s
//! may be larger than r − j. Then y_j is taken for an element modulo p^s, of which the noise says
//! what stands above ([`Evaluator::raise_exponent`]), and made precise by polynomials that do not
//! look at it ([`lifting`]).

use std::collections::{BTreeMap, BTreeSet};

use super::lifting::lifting;
use crate::circuits::polynomial::PolynomialPlan;
use crate::error::Result;
use crate::evaluator::{Evaluator, Subtrahend};

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
    known: BTreeMap<(u32, u32), Vec<i64>>,
}

impl Liftings {
    pub fn new(prime: u64) -> Self {
        Self { prime, known: BTreeMap::new() }
    }

    fn get(&mut self, from: u32, to: u32) -> Result<&[i64]> {
        if !self.known.contains_key(&(from, to)) {
            self.known.insert((from, to), lifting(self.prime, from, to)?);
        }
        Ok(&self.known[&(from, to)])
    }
}

/// A value of a row: its argument, or a polynomial of an earlier value.
#[derive(Debug, Clone)]
struct Value {
    /// It knows the digit modulo p^precision.
    precision: u32,
    depth: usize,
    /// Of which value, and the polynomial; none for the argument.
    step: Option<(usize, PolynomialPlan)>,
}

/// One digit.
#[derive(Debug, Clone)]
pub(super) struct DigitRow {
    /// The plaintext modulus of its values is p to this.
    exponent: u32,
    values: Vec<Value>,
    /// What later rows take, the next one first.
    lent: Vec<usize>,
    /// What the table takes, if it takes this digit.
    exact: Option<usize>,
}

impl DigitRow {
    /// Rows 0 to `last`; of the digits in `used` the table takes the value modulo p^s.
    pub fn plan(liftings: &mut Liftings, way: Way, (r, s): (u32, u32), used: &BTreeSet<u32>) -> Result<Vec<Self>> {
        let last = used.last().copied().unwrap_or(0);
        let mut rows: Vec<Self> = Vec::new();
        for j in 0..=last {
            let lent = |(i, row): (usize, &Self)| row.values[row.lent[j as usize - 1 - i]].depth;
            let depth = rows.iter().enumerate().map(lent).max().unwrap_or(0);
            let (lends, takes) = (last - j + 1, if used.contains(&j) { s } else { 1 });
            let exponent = (r - j).max(takes);
            let mut row = Self::of_argument(exponent, depth);
            row.make_precise(liftings, way, lends, takes)?;
            row.lent = (2..=lends).map(|precision| row.knowing(precision)).collect();
            row.exact = used.contains(&j).then(|| row.knowing(s));
            rows.push(row);
        }
        Ok(rows)
    }

    fn of_argument(exponent: u32, depth: usize) -> Self {
        let values = vec![Value { precision: 1, depth, step: None }];
        Self { exponent, values, lent: Vec::new(), exact: None }
    }

    /// Steps as far as later rows ask for, then to the end.
    fn make_precise(&mut self, liftings: &mut Liftings, way: Way, lends: u32, takes: u32) -> Result<()> {
        let end = lends.max(takes);
        let top = |row: &Self| row.values[row.values.len() - 1].precision;
        while top(self) < lends.min(way.cap) {
            let now = top(self);
            let next = if way.doubling { (2 * now).min(end) } else { now + 1 };
            let value = self.value(liftings, self.values.len() - 1, next)?;
            self.values.push(value);
        }
        if top(self) < end {
            let all = (0..self.values.len()).map(|from| Ok((from, self.value(liftings, from, end)?)));
            let all: Vec<(usize, Value)> = all.collect::<Result<_>>()?;
            let products = |value: &Value| value.step.as_ref().map_or(0, |(_, plan)| plan.products());
            let best = all.into_iter().min_by_key(|(_, value)| match way.sparing {
                true => (products(value), value.depth),
                false => (value.depth, products(value)),
            });
            self.values.extend(best.map(|(_, value)| value));
        }
        Ok(())
    }

    /// What value number `from` becomes by a polynomial that takes it to a precision.
    fn value(&self, liftings: &mut Liftings, from: usize, precision: u32) -> Result<Value> {
        let plan = PolynomialPlan::sharing(liftings.get(self.values[from].precision, precision)?, &self.powers(from));
        let depth = self.values[from].depth + plan.depth();
        Ok(Value { precision, depth, step: Some((from, plan)) })
    }

    /// The powers of a value that its polynomials so far have made.
    fn powers(&self, from: usize) -> BTreeSet<usize> {
        let plans = self.values.iter().filter_map(|value| value.step.as_ref());
        plans.filter(|(of, _)| *of == from).flat_map(|(_, plan)| plan.powers().iter().copied()).collect()
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
        self.plans().map(PolynomialPlan::products).sum()
    }

    pub fn relinearisations(&self) -> usize {
        self.plans().map(PolynomialPlan::relinearisations).sum()
    }

    fn plans(&self) -> impl Iterator<Item = &PolynomialPlan> {
        self.values.iter().filter_map(|value| value.step.as_ref().map(|(_, plan)| plan))
    }

    /// The precisions that it goes through, in words.
    pub fn describe(&self) -> String {
        let precisions: Vec<String> = self.values.iter().map(|value| value.precision.to_string()).collect();
        format!("precision {} ({} products)", precisions.join(", "), self.products())
    }

    /// All values, of the argument modulo the exponent of this row.
    fn run<E: Evaluator>(&self, evaluator: &E, argument: E::Ciphertext) -> Result<Vec<E::Ciphertext>> {
        let mut made = vec![argument];
        let mut powers: Vec<BTreeMap<usize, E::Ciphertext>> = vec![BTreeMap::new(); self.values.len()];
        for (of, plan) in self.values.iter().filter_map(|value| value.step.as_ref()) {
            let value = plan.apply_sharing(evaluator, &made[*of], &mut powers[*of])?;
            made.push(value);
        }
        Ok(made)
    }
}

/// The digits that the table takes, by number, each as an integer modulo p^s; x is one modulo p^r.
///
/// Cost: the products of all rows.
pub(super) fn run<E: Evaluator>(
    rows: &[DigitRow],
    evaluator: &E,
    x: &E::Ciphertext,
    (r, s): (u32, u32),
) -> Result<BTreeMap<u32, E::Ciphertext>> {
    let mut lent: Vec<Vec<E::Ciphertext>> = Vec::new();
    let mut taken = BTreeMap::new();
    for (j, row) in (0..).zip(rows) {
        let places = (0..j as usize).rev();
        let value = |(values, place): (&'_ Vec<E::Ciphertext>, usize)| values[place].clone();
        let values: Vec<E::Ciphertext> = lent.iter().zip(places).map(value).collect();
        let subtrahends = values.iter().map(|value| Subtrahend { value: Some(value), product: None });
        let argument = evaluator.divide_out(x, &subtrahends.collect::<Vec<_>>())?;
        let made = row.run(evaluator, evaluator.raise_exponent(&argument, row.exponent)?)?;
        let reduced = |k: &usize| evaluator.reduce_exponent(&made[*k], r - j);
        lent.push(row.lent.iter().map(reduced).collect::<Result<_>>()?);
        if let Some(exact) = row.exact {
            taken.insert(j, evaluator.declare_integers(evaluator.reduce_exponent(&made[exact], s)?));
        }
    }
    Ok(taken)
}
