//! Choices that are written by name.

use crate::error::{Error, Result};

/// The value with this name, or an error that lists the names: `what` they are, in the plural.
pub(crate) fn named<T: Copy>(list: &[(&str, T)], text: &str, what: &str) -> Result<T> {
    let unknown = || {
        let names: Vec<&str> = list.iter().map(|(name, _)| *name).collect();
        Error::Unplannable { strategy: text.into(), reason: format!("the {what} are {}", names.join(", ")) }
    };
    list.iter().find(|(name, _)| *name == text).map(|&(_, value)| value).ok_or_else(unknown)
}
