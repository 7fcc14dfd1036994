//! Options that are given by name.

use crate::error::{Error, Result};

/// The value with this name; `what` is chosen, in the singular.
///
/// # Errors
/// [`Error::UnknownName`], which lists the names.
pub fn named<T: Copy>(list: &[(&str, T)], given: &str, what: &'static str) -> Result<T> {
    let found = list.iter().find(|(name, _)| *name == given);
    found.map(|&(_, value)| value).ok_or_else(|| unknown(list.iter().map(|(name, _)| *name), given, what))
}

/// The refusal of an unknown name.
pub fn unknown<'a>(known: impl Iterator<Item = &'a str>, given: &str, what: &'static str) -> Error {
    Error::UnknownName { what, given: given.to_owned(), known: known.map(str::to_owned).collect() }
}

/// Choices that are written by name; of two names the first is printed.
#[doc(hidden)]
#[macro_export]
macro_rules! by_name {
    ($choice:ty, $what:literal, { $($name:literal => $value:expr,)* }) => {
        impl std::str::FromStr for $choice {
            type Err = $crate::error::Error;

            fn from_str(text: &str) -> $crate::error::Result<Self> {
                $crate::names::named(&[$(($name, $value)),*], text, $what)
            }
        }

        impl std::fmt::Display for $choice {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let names = [$(($name, $value)),*];
                let (name, _) = names.iter().find(|(_, value)| value == self).expect("every choice has a name");
                f.pad(name)
            }
        }
    };
}

pub use by_name;
