//! Choices that are written by name.

use crate::error::{Error, Result};

/// The value with this name; `what` is chosen, in the singular.
///
/// Errors: [`Error::UnknownName`], which lists the names.
pub(crate) fn named<T: Copy>(list: &[(&str, T)], given: &str, what: &'static str) -> Result<T> {
    let found = list.iter().find(|(name, _)| *name == given);
    found.map(|&(_, value)| value).ok_or_else(|| {
        let known = list.iter().map(|(name, _)| (*name).to_owned()).collect();
        Error::UnknownName { what, given: given.to_owned(), known }
    })
}
