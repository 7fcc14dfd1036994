//! Functions as lists of polynomials, products and sums, with what they promise.

use std::fmt::Write;

#[cfg(doc)]
use windlass_schemes::error::Error;
use windlass_schemes::error::Result;
use windlass_schemes::schemes::ckks::RealArithmetic;

use super::approximate::{Approximation, largest_value, refused};
use crate::complex::{Polynomial, PowerBasis};

/// One step of a function. Value 0 is the argument, and value k the result of step k.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FunctionStep {
    /// `p(v)`. A polynomial of another value than the argument is in Chebyshev polynomials on −1..1.
    Polynomial { of: usize, p: Polynomial },
    /// `v·w`.
    Product(usize, usize),
    /// `constant + Σ factor·v`.
    Sum { terms: Vec<(usize, i64)>, constant: f64 },
}

impl FunctionStep {
    /// Whether a value is an operand.
    pub fn uses(&self, value: usize) -> bool {
        match self {
            Self::Polynomial { of, .. } => *of == value,
            Self::Product(a, b) => *a == value || *b == value,
            Self::Sum { terms, .. } => terms.iter().any(|&(term, _)| term == value),
        }
    }
}

/// A step with a bound on the absolute value of its result.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bounded {
    pub step: FunctionStep,
    pub bound: f64,
}

/// Arguments at which errors are measured.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grid {
    pub arguments: Vec<f64>,
    /// How much larger errors may be between them.
    pub between: f64,
}

/// A function of a real number on an interval, as polynomials and products of encrypted vectors,
/// with a contract:
///
/// - the interval, outside of which it is refused as far as bounds show it;
/// - the depth and the degrees;
/// - the distance of what is computed from the function ([`Self::approximation_error`]): an upper
///   bound over the interval, or over the part of it that [`Self::gap`] leaves;
/// - the error on a ciphertext, before anything runs ([`Self::error`]): that distance, the error of
///   the input as the function passes it on, and what the operations add.
///
/// The result of a plan states its error: [`Ciphertext::error_bound`] and
/// [`Ciphertext::precision_bits`] hold for its distance from the function itself.
///
/// [`Ciphertext::error_bound`]: windlass_schemes::schemes::ckks::Ciphertext::error_bound
/// [`Ciphertext::precision_bits`]: windlass_schemes::schemes::ckks::Ciphertext::precision_bits
///
#[cfg_attr(not(doctest), doc = include_str!("../../examples/function.md"))]
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionPlan {
    pub(super) name: String,
    pub(super) interval: (f64, f64),
    pub(super) steps: Vec<Bounded>,
    pub(super) approximation: f64,
    pub(super) gap: Option<f64>,
    pub(super) keeps_zero: bool,
    pub(super) grid: Grid,
}

impl FunctionPlan {
    /// A single polynomial on its interval.
    pub(super) fn polynomial(name: impl Into<String>, approximation: Approximation) -> Self {
        let Approximation { polynomial, distance } = approximation;
        let interval = interval_of(&polynomial);
        let grid = Grid::chebyshev(interval, polynomial.degree());
        let (keeps_zero, bound) = (polynomial.keeps_zero(), largest_value(&polynomial));
        let steps = vec![Bounded { step: FunctionStep::Polynomial { of: 0, p: polynomial }, bound }];
        Self { name: name.into(), interval, steps, approximation: distance, gap: None, keeps_zero, grid }
    }

    /// A polynomial in the Chebyshev basis as a function that it is near to: on its interval the
    /// distance is at most `distance`.
    ///
    /// **Warning.** The distance is not checked. The result states too small an error if it is wrong.
    ///
    /// # Errors
    /// [`Error::Unplannable`] for a polynomial in powers, which has no interval, and for a distance
    /// that is not a number of 0 or more.
    pub fn with_distance(name: &str, polynomial: &Polynomial, distance: f64) -> Result<Self> {
        if polynomial.basis() == PowerBasis::Monomial {
            return Err(refused(name, "a polynomial in powers has no interval; use the Chebyshev basis".into()));
        }
        if !(distance >= 0.0 && distance.is_finite()) {
            return Err(refused(name, format!("its distance is {distance}, which must be a number of 0 or more")));
        }
        Ok(Self::polynomial(name, Approximation { polynomial: polynomial.clone(), distance }))
    }

    /// The polynomial, if the function is one.
    pub fn as_polynomial(&self) -> Option<&Polynomial> {
        match self.steps.as_slice() {
            [Bounded { step: FunctionStep::Polynomial { p, .. }, .. }] => Some(p),
            _ => None,
        }
    }

    /// The name of the function.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The ends of the interval.
    pub fn interval(&self) -> (f64, f64) {
        self.interval
    }

    /// For sign and comparison: the contract holds for arguments of at least this absolute value.
    ///
    /// **Warning.** A smaller argument gets an unspecified value between those of both sides. No error is
    /// returned.
    pub fn gap(&self) -> Option<f64> {
        self.gap
    }

    /// The largest distance of what is computed from the function, without the errors of ciphertexts:
    /// an upper bound, measured on points that lie closer than any polynomial of the plan oscillates.
    pub fn approximation_error(&self) -> f64 {
        self.approximation
    }

    /// The degrees of the polynomials, in the order in which they run.
    pub fn degrees(&self) -> Vec<usize> {
        let degree = |own: &Bounded| match &own.step {
            FunctionStep::Polynomial { p, .. } => Some(p.degree()),
            _ => None,
        };
        self.steps.iter().filter_map(degree).collect()
    }

    /// The number of rescalings, with that of the result. Ciphertexts whose slots beside the entries
    /// must be cleared first take one more ([`Self::masks_in_passing`]).
    pub fn depth(&self) -> usize {
        let mut depths = vec![0];
        for own in &self.steps {
            depths.push(match &own.step {
                FunctionStep::Polynomial { of, p } => depths[*of] + p.depth(),
                FunctionStep::Product(a, b) => 1 + depths[*a].max(depths[*b]),
                FunctionStep::Sum { terms, .. } => terms.iter().map(|&(value, _)| depths[value]).max().unwrap_or(0),
            });
        }
        depths[depths.len() - 1]
    }

    /// The largest number of products of ciphertexts, squares included.
    pub fn products(&self) -> usize {
        let products = |own: &Bounded| match &own.step {
            FunctionStep::Polynomial { p, .. } => p.products(),
            FunctionStep::Product(..) => 1,
            FunctionStep::Sum { .. } => 0,
        };
        self.steps.iter().map(products).sum()
    }

    /// Whether slots beside the entries that hold any values take no further depth
    /// ([`Polynomial::masks_in_passing`]).
    pub fn masks_in_passing(&self) -> bool {
        !self.multiplies_argument()
            && self.steps.iter().all(|own| match &own.step {
                FunctionStep::Polynomial { of: 0, p } => p.masks_in_passing(),
                _ => true,
            })
    }

    /// Whether slots with zeros keep them.
    pub fn keeps_zero(&self) -> bool {
        self.keeps_zero
    }

    /// Whether the argument is a factor or a summand itself.
    pub(super) fn multiplies_argument(&self) -> bool {
        self.steps.iter().any(|own| match &own.step {
            FunctionStep::Polynomial { .. } => false,
            FunctionStep::Product(a, b) => *a == 0 || *b == 0,
            FunctionStep::Sum { terms, .. } => terms.iter().any(|&(value, _)| value == 0),
        })
    }

    /// The largest absolute value of the result.
    pub fn bound(&self) -> f64 {
        self.steps.last().map_or(0.0, |own| own.bound)
    }

    /// What is computed for a number: the polynomials and products in double precision, without the
    /// errors of ciphertexts.
    pub fn value(&self, x: f64) -> f64 {
        let mut values = vec![x];
        for own in &self.steps {
            values.push(match &own.step {
                FunctionStep::Polynomial { of, p } => p.value(values[*of]),
                FunctionStep::Product(a, b) => values[*a] * values[*b],
                FunctionStep::Sum { terms, constant } => {
                    terms.iter().fold(*constant, |sum, &(value, factor)| sum + factor as f64 * values[value])
                }
            });
        }
        values[values.len() - 1]
    }

    /// The contract in words: interval, degrees, depth, products, error.
    pub fn explain(&self) -> String {
        let mut text = String::new();
        let (low, high) = self.interval;
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<22}{value}");
        };
        line("function", self.name.clone());
        line("interval", format!("{low} to {high}"));
        if let Some(gap) = self.gap {
            line("outside of", format!("|x| < {gap:.3e}, where any value between both sides is possible"));
        }
        line("degrees", self.degrees().iter().map(usize::to_string).collect::<Vec<_>>().join(", "));
        line("depth", format!("{} rescalings", self.depth()));
        line("products", format!("at most {}", self.products()));
        line("distance", format!("at most {:.2e}, 2^{:.1}", self.approximation, self.approximation.log2()));
        text.trim_end().to_owned()
    }
}

/// `constant + Σ factor·v`, on any machine.
pub(super) fn summed<M: RealArithmetic>(
    machine: &M,
    value: impl Fn(usize) -> M::Value,
    terms: &[(usize, i64)],
    constant: f64,
) -> Result<M::Value> {
    let mut sum: Option<M::Value> = None;
    for &(index, factor) in terms {
        let term = machine.multiply_number(&value(index), factor as f64)?;
        sum = Some(match sum {
            Some(sum) => machine.add(sum, &term)?,
            None => term,
        });
    }
    machine.add_number(sum.expect("sums have terms"), constant)
}

fn interval_of(p: &Polynomial) -> (f64, f64) {
    match p.basis() {
        PowerBasis::Chebyshev { low, high } => (low, high),
        PowerBasis::Monomial => (-1.0, 1.0),
    }
}

impl Grid {
    /// For polynomials of a degree: enough points that errors are at most 1.09 times as large between
    /// them, for degrees up to 2047. For larger degrees the points are 8192, and errors up to 1.42 times
    /// as large (degree 4096). Above, errors count twice, which is an estimate.
    pub fn chebyshev((low, high): (f64, f64), degree: usize) -> Self {
        let count = (4 * (degree + 1)).min(MOST_POINTS);
        let angle = std::f64::consts::PI / count as f64;
        let at = |j: usize| 0.5 * (low + high) + 0.5 * (high - low) * ((j as f64 + 0.5) * angle).cos();
        Self { arguments: (0..count).map(at).collect(), between: between(degree, count) }
    }
}

/// How much larger a polynomial of a degree may be between this many Chebyshev points.
pub(super) fn between(degree: usize, count: usize) -> f64 {
    match degree as f64 / (2 * count) as f64 {
        turn if turn <= 0.25 => 1.0 / (std::f64::consts::PI * turn).cos(),
        _ => 2.0,
    }
}

/// Points of a grid.
const MOST_POINTS: usize = 1 << 13;

impl std::fmt::Display for FunctionPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.explain())
    }
}
