//! Which polynomials to use, and what they cost.

use std::collections::BTreeSet;

use windlass_ring::slots::PrimePower;

use windlass_rlwe::Limits;

use super::method::{DigitMethod, DigitRoute, DigitSpec, DigitStep, Method, Stride};
use super::papers::DIGIT_METHODS;
use super::polynomials::{DigitRange, counterexample};
use crate::circuits::PolynomialPlan;
use crate::error::{Error, Result};

/// A value that knows a digit to `precision`: the row's argument (no `step`), or a polynomial of an
/// earlier value of its row.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub precision: u32,
    /// The value it is made from, by number in the row, and the polynomial.
    pub step: Option<(usize, PolynomialPlan)>,
    pub depth: usize,
    /// Whether it is the square of the value it is made from.
    pub is_square: bool,
}

/// Digit j: its values (polynomials of one value share its powers), those that later rows subtract,
/// and the one that is subtracted in the end.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub known: Vec<Known>,
    /// For rows j+1, j+2, .., v−1: which value.
    pub for_rows: Vec<usize>,
    pub last: usize,
}

/// A plan to remove the v low digits of integers modulo p^e.
#[derive(Debug, Clone)]
pub struct DigitRemoval {
    spec: DigitSpec,
    pub(super) rows: Vec<Row>,
    products: usize,
    depth: usize,
}

impl DigitRemoval {
    /// Plans the removal.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for v outside 1..e, or where a polynomial of degree above 2048 would
    /// be needed; [`Error::Unplannable`] for [`super::LocalNull`] without a bound or with p = 2;
    /// [`Error::Ring`] when p^e is not a supported prime power.
    pub fn new(spec: DigitSpec) -> Result<Self> {
        PrimePower::new(spec.prime, spec.exponent)?;
        let limits = Limits::between(1, spec.exponent - 1).with("one less than the digits there are");
        limits.check("the number of digits to remove", spec.removed)?;
        match spec.method {
            Method::Of(method) => Self::by(method, spec),
            Method::Automatic => {
                let (plans, refusals): (Vec<_>, Vec<_>) =
                    DIGIT_METHODS.iter().map(|&method| Self::by(method, spec)).partition(Result::is_ok);
                let best = plans.into_iter().flatten().min_by(|a, b| a.price().total_cmp(&b.price()));
                // The first method applies to everything: it says what the matter is.
                let refusal = refusals.into_iter().find_map(Result::err);
                best.ok_or_else(|| refusal.expect("a method makes a plan or refuses"))
            }
        }
    }

    /// The cheapest route of one method.
    fn by(method: &'static dyn DigitMethod, spec: DigitSpec) -> Result<Self> {
        let refuse = |reason: &str| Error::Unplannable { strategy: method.name().into(), reason: reason.into() };
        if let Some(reason) = method.refusal(&spec) {
            return Err(refuse(reason));
        }
        let spec = DigitSpec { method: Method::Of(method), ..spec };
        let plan = |route: DigitRoute| Self::assemble(spec, method, route);
        let plans: Vec<Self> = method.routes().into_iter().map(plan).collect::<Result<_>>()?;
        let best = plans.into_iter().min_by(|a, b| a.price().total_cmp(&b.price()));
        best.ok_or_else(|| refuse("it names no route"))
    }

    fn assemble(spec: DigitSpec, method: &dyn DigitMethod, route: DigitRoute) -> Result<Self> {
        let mut rows: Vec<Row> = Vec::new();
        let mut products = 0;
        for j in 0..spec.removed {
            // y_j depends on the values that the rows above lend it.
            let depth = rows.iter().enumerate().map(|(i, row)| row.known[row.for_rows[j as usize - 1 - i]].depth).max();
            let row = Row::plan(&spec, method, j, depth.unwrap_or(0), route)?;
            products += row.known.iter().flat_map(|known| &known.step).map(|(_, plan)| plan.products()).sum::<usize>();
            rows.push(row);
        }
        let depth = rows.iter().map(|row| row.known[row.last].depth).max().unwrap_or(0);
        Ok(Self { spec, rows, products, depth })
    }

    fn price(&self) -> f64 {
        self.products as f64 + self.spec.depth_weight * self.depth as f64
    }

    /// What was asked for; the method is the one chosen.
    pub fn spec(&self) -> &DigitSpec {
        &self.spec
    }

    /// The number of ciphertext products, squares included.
    pub fn products(&self) -> usize {
        self.products
    }

    /// The multiplicative depth; products with integers are not counted.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The plan in words, one line for each digit.
    pub fn explain(&self) -> String {
        let DigitSpec { prime, exponent, removed, method, .. } = self.spec;
        let mut text = format!(
            "{removed} of {exponent} digits to base {prime}: {method}, {} products, depth {}",
            self.products, self.depth
        );
        for (j, row) in self.rows.iter().enumerate() {
            let step = |known: &Known| {
                let (from, plan) = known.step.as_ref()?;
                let (a, b) = (row.known[*from].precision, known.precision);
                Some(format!("{a} to {b} ({} products)", plan.products()))
            };
            let steps: Vec<String> = row.known.iter().filter_map(step).collect();
            text += &format!("\n  digit {j}: precision {}", steps.join(", "));
        }
        text
    }
}

impl Row {
    /// Row j, whose argument has the given depth.
    fn plan(spec: &DigitSpec, method: &dyn DigitMethod, j: u32, depth: usize, route: DigitRoute) -> Result<Self> {
        let mut row = Self {
            known: vec![Known { precision: 1, step: None, depth, is_square: false }],
            for_rows: Vec::new(),
            last: 0,
        };
        let (lent, wanted) = (spec.removed - j, spec.exponent - j);
        let end = if route.is_direct { lent } else { wanted };
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
        let at_least = |precision: u32| row.known.iter().position(|known| known.precision >= precision);
        row.for_rows = (2..=lent).map(|precision| at_least(precision).expect("made above")).collect();
        row.last = at_least(wanted).expect("made above");
        Ok(row)
    }

    fn top(&self) -> &Known {
        self.known.last().expect("a row has its argument")
    }

    /// The powers of value number `from` that its polynomials so far have made.
    fn powers_of(&self, from: usize) -> BTreeSet<usize> {
        let steps = self.known.iter().filter_map(|known| known.step.as_ref());
        steps.filter(|(source, _)| *source == from).flat_map(|(_, plan)| plan.powers().iter().copied()).collect()
    }

    /// Adds the value that a step makes from value number `from`.
    fn push(&mut self, method: &dyn DigitMethod, step: DigitStep, from: usize) -> Result<()> {
        let source = &self.known[from];
        let root = source.step.as_ref().filter(|_| source.is_square).map(|(root, _)| &self.known[*root]);
        let step = DigitStep { from: source.precision, is_square: root.is_some(), ..step };
        let polynomial = method.polynomial(&step)?;
        let modulus = PrimePower::new(step.prime, polynomial.precision)?;
        let wrong_at =
            |coefficients: &[i64], known| counterexample(modulus, coefficients, known, (&step.occurring).into());
        // Where arguments are squares, it is enough if those go to their digits.
        let of_squares = |root: &Known| {
            let even: Vec<i64> = polynomial.coefficients.iter().flat_map(|&c| [c, 0]).collect();
            wrong_at(&even, root.precision)
        };
        let counterexample = wrong_at(&polynomial.coefficients, step.from);
        let wrong = match counterexample.filter(|_| root.is_none_or(|root| of_squares(root).is_some())) {
            Some(x) => Some(format!(
                "modulo {}^{} its polynomial does not take {x} to its digit",
                step.prime, polynomial.precision
            )),
            None if polynomial.precision < step.to => {
                Some(format!("its polynomial goes to precision {} instead of {}", polynomial.precision, step.to))
            }
            None => None,
        };
        if let Some(reason) = wrong {
            return Err(Error::Unplannable { strategy: method.name().into(), reason });
        }
        let plan = PolynomialPlan::sharing(&polynomial.coefficients, &self.powers_of(from));
        let depth = source.depth + plan.depth();
        let is_square = polynomial.coefficients == [0, 0, 1];
        self.known.push(Known { precision: polynomial.precision, step: Some((from, plan)), depth, is_square });
        Ok(())
    }
}

impl DigitSpec {
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
