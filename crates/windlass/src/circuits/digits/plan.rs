//! Which polynomials to use, and what they cost.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use windlass_ring::slots::PrimePower;

use super::polynomials::{Digits, least_degree};
use crate::circuits::PolynomialPlan;
use crate::error::{Error, Result};
use crate::names::named;

/// How digits are made precise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Method {
    /// The cheapest by [`DigitSpec::depth_weight`].
    #[default]
    Automatic,
    /// One step of precision at a time by the lifting polynomial (Halevi–Shoup 2015, Figure 1), with §5.3.1 for p = 2.
    HaleviShoup,
    /// Lifting for the digits that lower rows need, the final precision in one step from the row's argument by G_e (Chen–Han 2018, Algorithm 1).
    ChenHan,
    /// Polynomials of least degree between any two precisions, the steps chosen by cost (Geelen et al., eprint 2022/1364).
    LeastDegree,
    /// As [`Method::LeastDegree`], but right only while the removed part is within [`DigitSpec::bound`]: local null polynomials
    /// (Ma et al., eprint 2024/115). The cost does not depend on p.
    LocalNull,
}

/// The names, as [`Method::from_str`] reads and [`fmt::Display`] writes them.
const NAMES: [(&str, Method); 5] = [
    ("automatic", Method::Automatic),
    ("halevi-shoup", Method::HaleviShoup),
    ("chen-han", Method::ChenHan),
    ("least-degree", Method::LeastDegree),
    ("local-null", Method::LocalNull),
];

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(_, method)| method == self).map_or("", |(name, _)| name))
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named(&NAMES, text, "method of digit removal")
    }
}

/// What to remove, and how.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DigitSpec {
    /// p.
    pub prime: u64,
    /// e: the argument is known modulo p^e.
    pub exponent: u32,
    /// v < e: how many low digits go.
    pub removed: u32,
    /// The largest absolute value of the removed part, if that is known to be below its maximum (p^v − 1)/2. For odd p.
    pub bound: Option<u64>,
    /// How.
    pub method: Method,
    /// How many ciphertext products a level of depth is worth to [`Method::Automatic`] and [`Method::LeastDegree`].
    pub depth_weight: f64,
}

impl DigitSpec {
    /// Removes `removed` of `exponent` digits by the cheapest method.
    pub fn new(prime: u64, exponent: u32, removed: u32) -> Self {
        Self { prime, exponent, removed, bound: None, method: Method::Automatic, depth_weight: 10.0 }
    }
}

/// A value that knows a digit to `precision`: the row's argument (no `step`), or a polynomial of an earlier value of its row.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub precision: u32,
    /// The value it is made from, by number in the row, and the polynomial.
    pub step: Option<(usize, PolynomialPlan)>,
    pub depth: usize,
}

/// Digit j: its values (polynomials of one value share its powers), those that later rows subtract, and the one that is subtracted in the end.
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

/// How far a step of a row goes, and from where.
#[derive(Debug, Clone, Copy)]
enum Stride {
    One,
    Double,
    All,
    /// Every precision straight from the argument: least depth, and all polynomials share its powers.
    Fan,
}

impl DigitRemoval {
    /// Plans the removal.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for v outside 1..e, or where a polynomial of degree above 2048 would be needed; [`Error::Unplannable`] for
    /// [`Method::LocalNull`] without a bound or with p = 2; [`Error::Ring`] when p^e is not a supported prime power.
    pub fn new(spec: DigitSpec) -> Result<Self> {
        PrimePower::new(spec.prime, spec.exponent)?;
        if spec.removed == 0 || spec.removed >= spec.exponent {
            let range = format!("between 1 and {}, one less than the digits there are", spec.exponent - 1);
            return Err(Error::OutOfRange { what: "the number of digits to remove", got: spec.removed.into(), range });
        }
        let refuse = |reason: &str| Error::Unplannable { strategy: spec.method.to_string(), reason: reason.into() };
        let with = |method: Method| Self::build(DigitSpec { method, ..spec });
        match spec.method {
            Method::Automatic => {
                let mut candidates = vec![Method::HaleviShoup, Method::ChenHan, Method::LeastDegree];
                if spec.bound.is_some() && spec.prime != 2 {
                    candidates.push(Method::LocalNull);
                }
                let mut refused = refuse("there is no method");
                let plans = candidates.into_iter().filter_map(|method| with(method).map_err(|e| refused = e).ok());
                let best = plans.min_by(|a, b| a.price().total_cmp(&b.price()));
                best.ok_or(refused)
            }
            Method::LocalNull if spec.prime == 2 => Err(refuse("both digits occur for p = 2")),
            Method::LocalNull if spec.bound.is_none() => Err(refuse("it needs a bound on the part that is removed")),
            method => with(method),
        }
    }

    fn build(spec: DigitSpec) -> Result<Self> {
        let alternatives: Vec<(Stride, bool)> = match spec.method {
            Method::HaleviShoup => vec![(Stride::One, false)],
            Method::ChenHan => vec![(Stride::One, true)],
            _ => [Stride::One, Stride::Double, Stride::All, Stride::Fan]
                .iter()
                .flat_map(|&s| [(s, false), (s, true)])
                .collect(),
        };
        let plans: Vec<Self> = alternatives
            .into_iter()
            .map(|(stride, direct)| Self::assemble(spec, stride, direct))
            .collect::<Result<_>>()?;
        Ok(plans.into_iter().min_by(|a, b| a.price().total_cmp(&b.price())).expect("there is an alternative"))
    }

    fn assemble(spec: DigitSpec, stride: Stride, direct: bool) -> Result<Self> {
        let mut rows: Vec<Row> = Vec::new();
        let mut products = 0;
        for j in 0..spec.removed {
            // y_j depends on the values that the rows above lend it.
            let depth = rows.iter().enumerate().map(|(i, row)| row.known[row.for_rows[j as usize - 1 - i]].depth).max();
            let row = Row::plan(&spec, j, depth.unwrap_or(0), stride, direct)?;
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
    fn plan(spec: &DigitSpec, j: u32, depth: usize, stride: Stride, direct: bool) -> Result<Self> {
        let mut row = Self { known: vec![Known { precision: 1, step: None, depth }], for_rows: Vec::new(), last: 0 };
        let (lent, wanted) = (spec.removed - j, spec.exponent - j);
        let end = if direct { lent } else { wanted };
        while row.top().precision < end {
            let from = if matches!(stride, Stride::Fan) { 0 } else { row.known.len() - 1 };
            let now = row.top().precision;
            let next = match stride {
                Stride::One | Stride::Fan => now + 1,
                Stride::Double => (2 * now).min(end),
                Stride::All => end,
            };
            row.push(spec, j, from, next)?;
        }
        if row.top().precision < wanted {
            row.push(spec, j, 0, wanted)?;
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

    /// Adds a value of precision `to` made from value number `from`.
    fn push(&mut self, spec: &DigitSpec, j: u32, from: usize, to: u32) -> Result<()> {
        let have = self.known[from].precision;
        let squares = spec.prime == 2 && to == have + 1;
        // (b + 2n)^4 ≡ b modulo 16: the second squaring gains two bits (2015, §5.3.1).
        let to = if squares && have == 2 && self.known[from].step.is_some() { 4 } else { to };
        let coefficients =
            if squares { vec![0, 0, 1] } else { least_degree(PrimePower::new(spec.prime, to)?, have, spec.digits(j))? };
        let plan = PolynomialPlan::sharing(&coefficients, &self.powers_of(from));
        let depth = self.known[from].depth + plan.depth();
        self.known.push(Known { precision: to, step: Some((from, plan)), depth });
        Ok(())
    }
}

impl DigitSpec {
    /// What digit j can be.
    fn digits(&self, j: u32) -> Digits {
        match self.bound {
            Some(bound) if self.method == Method::LocalNull && j + 1 == self.removed => {
                let unit = self.prime.pow(j);
                Digits::up_to((bound + (unit - 1) / 2) / unit, self.prime)
            }
            _ => Digits::all(self.prime),
        }
    }
}
