//! Checks numbers that callers give, and refuses those outside their limits.

use std::cmp::Ordering;
use std::fmt;

/// A number in a message: an integer or a real number, exactly as it was given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer of at least 0.
    Natural(u64),
    /// An integer below 0.
    Negative(i64),
    /// A real number, perhaps infinite or none.
    Real(f64),
}

macro_rules! integers {
    ($($type:ty),*) => {
        $(impl From<$type> for Number {
            fn from(x: $type) -> Self {
                u64::try_from(x).map_or(Self::Negative(x as i64), Self::Natural)
            }
        })*
    };
}

integers!(i32, u32, i64, u64, usize);

impl From<f64> for Number {
    fn from(x: f64) -> Self {
        Self::Real(x)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let integer = |x: &Self| match *x {
            Self::Natural(x) => Some(i128::from(x)),
            Self::Negative(x) => Some(i128::from(x)),
            Self::Real(_) => None,
        };
        let real = |x: &Self| match *x {
            Self::Natural(x) => x as f64,
            Self::Negative(x) => x as f64,
            Self::Real(x) => x,
        };
        match (integer(self), integer(other)) {
            (Some(a), Some(b)) => a.partial_cmp(&b),
            _ => real(self).partial_cmp(&real(other)),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Natural(x) => x.fmt(f),
            Self::Negative(x) => x.fmt(f),
            Self::Real(x) if *x == 0.0 || (1e-4..1e9).contains(&x.abs()) || !x.is_finite() => x.fmt(f),
            Self::Real(x) => write!(f, "{x:e}"),
        }
    }
}

/// What a number may be: bounds, and what must hold beside them or explains them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The least number allowed.
    pub least: Option<Number>,
    /// The greatest number allowed.
    pub most: Option<Number>,
    /// What else must hold, or why the bounds are what they are; empty for nothing.
    pub note: &'static str,
}

impl Limits {
    /// No bounds; `note` says what must hold.
    pub const fn only(note: &'static str) -> Self {
        Self { least: None, most: None, note }
    }

    /// `x ≥ least`.
    pub fn at_least(least: impl Into<Number>) -> Self {
        Self { least: Some(least.into()), ..Self::only("") }
    }

    /// `x ≤ most`.
    pub fn at_most(most: impl Into<Number>) -> Self {
        Self { most: Some(most.into()), ..Self::only("") }
    }

    /// `least ≤ x ≤ most`.
    pub fn between(least: impl Into<Number>, most: impl Into<Number>) -> Self {
        Self { most: Some(most.into()), ..Self::at_least(least) }
    }

    /// `x < count`: the numbers of `count` things.
    pub fn below(count: usize) -> Self {
        Self::at_most(count as i64 - 1)
    }

    /// The same bounds with a note.
    pub const fn with(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    /// # Errors
    /// [`OutOfRange`] for a number outside the bounds, and for NaN where there are any.
    pub fn check(self, what: &'static str, got: impl Into<Number>) -> Result<(), OutOfRange> {
        let got = got.into();
        let inside = self.least.is_none_or(|least| least <= got) && self.most.is_none_or(|most| got <= most);
        if inside { Ok(()) } else { Err(self.refuse(what, got)) }
    }

    /// The refusal of a number.
    pub fn refuse(self, what: &'static str, got: impl Into<Number>) -> OutOfRange {
        OutOfRange { what, got: got.into(), limits: self }
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (Some(least), Some(most)) => write!(f, "between {least} and {most}")?,
            (Some(least), None) => write!(f, "at least {least}")?,
            (None, Some(most)) => write!(f, "at most {most}")?,
            (None, None) => return f.write_str(self.note),
        }
        if self.note.is_empty() { Ok(()) } else { write!(f, ", {}", self.note) }
    }
}

/// A number outside the range in which an operation is defined.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{what} is {got}, but must be {limits}")]
pub struct OutOfRange {
    /// Which number.
    pub what: &'static str,
    /// What was given.
    pub got: Number,
    /// What is allowed.
    pub limits: Limits,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold_what_they_say() {
        let level = Limits::between(1, 5).with("the levels of the chain");
        assert!(level.check("level", 1).is_ok() && level.check("level", 5usize).is_ok());
        let refused = level.check("level", 6u64).unwrap_err();
        assert_eq!(refused.to_string(), "level is 6, but must be between 1 and 5, the levels of the chain");
        assert_eq!(refused.limits.most, Some(Number::Natural(5)));
        assert!(Limits::below(0).check("slot", 0).is_err() && Limits::below(1).check("slot", 0).is_ok());
        // Reals and integers compare by value; what is no number is nowhere.
        assert!(Limits::at_least(128).check("security", 128.0).is_ok());
        assert!(Limits::at_least(128).check("security", 127.9).is_err());
        assert!(Limits::at_most(1.0).check("bits", f64::NAN).is_err());
        assert_eq!(Limits::only("a prime").refuse("p", 9).to_string(), "p is 9, but must be a prime");
    }
}
