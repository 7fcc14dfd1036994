//! Methods by name: those of this crate beside the library's.

use windlass::bootstrap::{FrontEnd, MapChoice, Partition};
use windlass::circuits::Method;
use windlass::{Error, Result};

use crate::halevi_shoup_2015::NearPrimePower;
use crate::halevi_shoup_2018::OLD_MAPS;
use crate::integer_valued::IntegerValued;
use crate::ma_2024::Table3;

/// The front end of this name.
///
/// # Errors
/// [`Error::UnknownName`], which lists the names.
pub fn front_end(name: &str) -> Result<FrontEnd> {
    among(&[("near-prime-power", NearPrimePower::FRONT_END)], name)
}

/// The partition of this name.
///
/// # Errors
/// [`Error::UnknownName`], which lists the names.
pub fn partition(name: &str) -> Result<Partition> {
    among(&[("paper", Table3::PARTITION)], name)
}

/// The method of digit removal of this name.
///
/// # Errors
/// [`Error::UnknownName`], which lists the names.
pub fn digits(name: &str) -> Result<Method> {
    among(&[("integer-valued", Method::Of(&IntegerValued))], name)
}

/// The way to evaluate linear maps of this name. `old-2018` belongs with
/// [`with_old_maps`](crate::halevi_shoup_2018::with_old_maps).
///
/// # Errors
/// [`Error::UnknownName`], which lists the names.
pub fn maps(name: &str) -> Result<MapChoice> {
    among(&[(OLD_MAPS_NAME, OLD_MAPS)], name)
}

/// The name of [`OLD_MAPS`] in records.
pub(crate) const OLD_MAPS_NAME: &str = "old-2018";

/// One of ours, or what the library reads.
fn among<T: Copy + std::str::FromStr<Err = Error>>(own: &[(&str, T)], name: &str) -> Result<T> {
    match own.iter().find(|(known, _)| *known == name) {
        Some(&(_, method)) => Ok(method),
        None => name.parse().map_err(|error| match error {
            Error::UnknownName { what, given, mut known } => {
                known.extend(own.iter().map(|(name, _)| (*name).to_owned()));
                Error::UnknownName { what, given, known }
            }
            other => other,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_read_by_the_names_that_they_print() {
        for name in ["prime-power", "near-prime-power"] {
            assert_eq!(front_end(name).unwrap().to_string(), name);
        }
        for name in ["standard", "least-time", "most-capacity", "single", "paper"] {
            assert_eq!(partition(name).unwrap().to_string(), name);
        }
        for name in ["automatic", "halevi-shoup", "searched", "integer-valued"] {
            assert_eq!(digits(name).unwrap().to_string(), name);
        }
        assert_eq!((maps("old-2018").unwrap(), maps("automatic").unwrap()), (OLD_MAPS, MapChoice::AUTOMATIC));
        match front_end("none") {
            Err(Error::UnknownName { known, .. }) => assert_eq!(known, ["prime-power", "near-prime-power"]),
            other => panic!("{other:?}"),
        }
    }
}
