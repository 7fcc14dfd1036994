//! The interface of a method of digit removal.

use std::fmt;
use std::ops::RangeInclusive;

use windlass_ring::slots::PrimePower;
use windlass_rlwe::Limits;
use windlass_schemes::error::Result;

use super::chain::DigitChain;
use super::halving::HalvingChain;
use super::polynomials::{DigitRange, least_degree};

/// A method that makes digits precise: its polynomials, and the precisions between which they lift.
///
/// An integer z knows the digit d to precision a when `z ≡ d (mod p^a)`. The argument of each digit
/// knows it to precision 1; polynomials of it, and of their values, know it better, until it can be
/// subtracted and divided out. That is all in which the methods of the literature differ:
/// [`HaleviShoup`](super::HaleviShoup), [`ChenHan`](super::ChenHan),
/// [`LeastDegree`](super::LeastDegree), [`LocalNull`](super::LocalNull). [`Searched`](super::Searched)
/// and [`RootProducts`](super::RootProducts) have chains of products instead: for each digit, or for
/// all of them together.
///
/// One of your own is used as [`Method::Of`]; every polynomial that it gives is checked on all
/// arguments before a plan is made with it.
pub trait DigitMethod: fmt::Debug + Send + Sync {
    /// The name that it is chosen by.
    fn name(&self) -> &'static str;

    /// Where it was published.
    fn citation(&self) -> &'static str;

    /// Why it does not apply, if so.
    fn refusal(&self, _: &DigitSpec) -> Option<&'static str> {
        None
    }

    /// The ways from the first precision to the last that the planner compares.
    fn routes(&self, spec: &DigitSpec) -> Vec<DigitRoute>;

    /// A chain of products instead of polynomials from precision to precision. It is checked like
    /// those; for a single digit, only on the arguments that occur. It is compared with the routes
    /// by price.
    fn chain(&self, _: &DigitSpec) -> Option<DigitChain> {
        None
    }

    /// A chain that divides after each product, instead of rows digit by digit. It is checked on
    /// every residue (at most 2^16), and compared with the others by price.
    fn halving(&self, _: &DigitSpec) -> Option<HalvingChain> {
        None
    }

    /// The polynomial of one step. By default the one of least degree for all digits, the square
    /// for p = 2 and one more bit. The library evaluates it by Paterson–Stockmeyer; a method that fixes its
    /// products gives a chain instead.
    ///
    /// # Errors
    /// Those of [`DigitStep::least_degree`].
    fn polynomial(&self, step: &DigitStep) -> Result<DigitPolynomial> {
        match step.squaring() {
            Some(square) => Ok(square),
            None => step.least_degree(&step.digits),
        }
    }
}

/// One step: from a value that knows a digit to one that knows it better.
#[derive(Debug, Clone, PartialEq)]
pub struct DigitStep {
    /// p.
    pub prime: u64,
    /// The argument is congruent to its digit modulo p^from.
    pub from: u32,
    /// The value is to be congruent to it modulo p^to, to > from.
    pub to: u32,
    /// The digits of this base: 0 and 1 for p = 2, balanced for odd p.
    pub digits: RangeInclusive<i64>,
    /// Those of them that occur, by [`DigitSpec::bound`].
    pub occurring: RangeInclusive<i64>,
    /// Whether the argument is the square of a value that knows the digit to precision 1 at least.
    pub is_square: bool,
}

/// A polynomial that makes a digit precise.
#[derive(Debug, Clone, PartialEq)]
pub struct DigitPolynomial {
    /// The coefficients modulo p^precision, lowest first: pass them centred.
    pub coefficients: Vec<i64>,
    /// Its values know the digit so precisely: [`DigitStep::to`] or better.
    pub precision: u32,
}

impl DigitStep {
    /// The polynomial of least degree that takes every argument with one of these digits to it. With `from`
    /// = 1 and all digits it is the lowest digit retain polynomial of Chen–Han 2018.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::OutOfRange`] for degrees above 2048, an empty range, digits that are not
    /// below p or not distinct modulo p, and an argument that knows none of its digits;
    /// [`windlass_schemes::Error::Ring`] if p^to is not a supported prime power.
    pub fn least_degree(&self, digits: &RangeInclusive<i64>) -> Result<DigitPolynomial> {
        let (modulus, digits) = (PrimePower::new(self.prime, self.to)?, DigitRange::from(digits));
        Limits::at_least(1).check("the precision of the argument", self.from)?;
        digits.check(self.prime)?;
        Ok(DigitPolynomial { coefficients: least_degree(modulus, self.from, digits)?, precision: self.to })
    }

    /// X² for p = 2 and one more bit; two where the argument is a square itself: (b + 2n)^4 ≡ b
    /// modulo 16 (Halevi–Shoup 2015, §5.3.1).
    pub fn squaring(&self) -> Option<DigitPolynomial> {
        let precision = if self.from == 2 && self.is_square { 4 } else { self.to };
        (self.prime == 2 && self.to == self.from + 1)
            .then(|| DigitPolynomial { coefficients: vec![0, 0, 1], precision })
    }
}

/// A way from the first precision of a digit to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DigitRoute {
    /// How far each step goes, and from where.
    pub stride: Stride,
    /// How the last precision is reached.
    pub last: LastStep,
}

/// How the last precision of a digit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastStep {
    /// By a step like the others.
    AsTheOthers,
    /// In one step from the digit's first value; the others go only as far as other digits need
    /// them.
    Direct,
    /// In one step from the digit's first value; the others go to this precision at most. Digits
    /// that need more of this one wait for the last value.
    DirectBeyond(u32),
}

/// How far a step goes, and from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stride {
    /// One precision more than the value before.
    One,
    /// Twice that of the value before.
    Double,
    /// To the last.
    All,
    /// Every precision straight from the first value: least depth, and all polynomials share its
    /// powers.
    Fan,
}

impl DigitRoute {
    /// Every stride, with a direct last step and without.
    pub fn all() -> Vec<Self> {
        let of = |stride| [LastStep::AsTheOthers, LastStep::Direct].map(|last| Self { stride, last });
        [Stride::One, Stride::Double, Stride::All, Stride::Fan].into_iter().flat_map(of).collect()
    }
}

/// The method to use.
#[derive(Debug, Clone, Copy, Default)]
pub enum Method {
    /// The cheapest by [`DigitSpec::depth_weight`] of [`DIGIT_METHODS`](super::DIGIT_METHODS).
    #[default]
    Automatic,
    /// This one.
    Of(&'static dyn DigitMethod),
}

impl Method {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Of(method) => method.name(),
        }
    }
}

/// By name.
impl PartialEq for Method {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Method {}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
    /// The largest absolute value of the removed part, if that is known to be below its maximum
    /// (p^v − 1)/2. For odd p.
    ///
    /// **Warning.** A plan with a bound may be right only for arguments within the bound. A slot
    /// that holds any other argument gets an unspecified value, and no error is returned.
    pub bound: Option<u64>,
    /// How.
    pub method: Method,
    /// How many ciphertext products a level of depth is worth to the planner.
    pub depth_weight: f64,
}

impl DigitSpec {
    /// Removes `removed` of `exponent` digits by the cheapest method.
    pub fn new(prime: u64, exponent: u32, removed: u32) -> Self {
        Self { prime, exponent, removed, bound: None, method: Method::Automatic, depth_weight: 10.0 }
    }
}
