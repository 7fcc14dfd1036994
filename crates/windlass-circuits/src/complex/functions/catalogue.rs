//! Functions by name.

use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};

use super::approximate::{Samples, check_interval, target};
use super::erf::normal_distribution;
use super::plan::FunctionPlan;

/// A function with a name, of one real number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// e^x.
    Exponential,
    /// The natural logarithm, for x > 0.
    Logarithm,
    /// 1/x, on an interval without 0.
    Inverse,
    /// √x, for x ≥ 0. At 0 the slope is infinite: with the lower end 0, few bits are reached.
    SquareRoot,
    /// 1/√x, for x > 0.
    InverseSquareRoot,
    /// 1/(1 + e^{−x}).
    Sigmoid,
    /// tanh x.
    Tanh,
    /// x·Φ(x), where Φ is the normal distribution.
    Gelu,
}

impl Function {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Exponential,
        Self::Logarithm,
        Self::Inverse,
        Self::SquareRoot,
        Self::InverseSquareRoot,
        Self::Sigmoid,
        Self::Tanh,
        Self::Gelu,
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exponential => "exp",
            Self::Logarithm => "log",
            Self::Inverse => "inverse",
            Self::SquareRoot => "sqrt",
            Self::InverseSquareRoot => "inverse_sqrt",
            Self::Sigmoid => "sigmoid",
            Self::Tanh => "tanh",
            Self::Gelu => "gelu",
        }
    }

    /// The function with this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with all names.
    pub fn named(name: &str) -> Result<Self> {
        let known = || Self::ALL.map(|own| own.name().to_owned()).to_vec();
        let unknown = || Error::UnknownName { what: "function", given: name.to_owned(), known: known() };
        Self::ALL.into_iter().find(|own| own.name() == name).ok_or_else(unknown)
    }

    /// Its value.
    pub fn value(self, x: f64) -> f64 {
        match self {
            Self::Exponential => x.exp(),
            Self::Logarithm => x.ln(),
            Self::Inverse => 1.0 / x,
            Self::SquareRoot => x.sqrt(),
            Self::InverseSquareRoot => 1.0 / x.sqrt(),
            Self::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Self::Tanh => x.tanh(),
            Self::Gelu => x * normal_distribution(x),
        }
    }

    /// Refuses an interval on which it is not defined.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    fn check(self, (low, high): (f64, f64)) -> Result<()> {
        check_interval((low, high))?;
        let (is_defined, limits) = match self {
            Self::Logarithm | Self::InverseSquareRoot => (low > 0.0, Limits::only("positive")),
            Self::SquareRoot => (low >= 0.0, Limits::at_least(0.0)),
            Self::Inverse => (low > 0.0 || high < 0.0, Limits::only("positive, or the upper end negative")),
            _ => (true, Limits::only("")),
        };
        match is_defined {
            true => Ok(()),
            false => Err(limits.refuse("the lower end of the interval", low).into()),
        }
    }
}

impl FunctionPlan {
    /// A function with a name, within 2^−bits on an interval.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for an interval on which it is not defined; as [`Self::of`].
    pub fn named(function: Function, interval: (f64, f64), bits: f64) -> Result<Self> {
        function.check(interval)?;
        match function {
            Function::Inverse => Self::inverse(interval, bits),
            _ => Self::of(function.name(), &|x| function.value(x), interval, bits),
        }
    }

    /// Any function, within 2^−bits on an interval: by one polynomial in the Chebyshev basis, of the
    /// smallest degree up to 1023 that suffices. The distance is measured on 8193 points, and what
    /// may lie between them is added: an upper bound unless the function oscillates there.
    ///
    /// Cost: f at 8193 points.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for an empty interval, or bits outside of −50 to 50;
    /// [`Error::Unplannable`] if a value of the function is not finite, or with the bits that the
    /// largest degree reaches.
    pub fn of(name: &str, f: &dyn Fn(f64) -> f64, interval: (f64, f64), bits: f64) -> Result<Self> {
        let target = target(bits)?;
        Ok(Self::polynomial(name, Samples::of(name, f, interval)?.approximation(target)?))
    }
}
