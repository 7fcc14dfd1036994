//! Decryption to arrays.

use pyo3::prelude::*;
use rayon::prelude::*;
use windlass::schemes::{Ciphertext, Publication, ckks};
use windlass::{Approximate, Beyond, Error, Result};

use crate::array::{Parts, PyCiphertext};
use crate::either::Either;
use crate::error::plain;
use crate::numbers::{Numbers, complex_to_numpy, integers_to_numpy};
use crate::runtime::by_parts;
use crate::setting::Setting;

/// A client of the library.
pub type ClientKind = Either<windlass::Client, windlass::Client<Approximate>>;

/// The kind of numbers that a dtype of NumPy names.
pub fn numbers_of(py: Python<'_>, setting: &Setting, dtype: &Bound<'_, PyAny>) -> PyResult<Numbers> {
    let name: String = crate::numbers::numpy(py)?.getattr("dtype")?.call1((dtype,))?.getattr("name")?.extract()?;
    let exact = setting.is_exact();
    Numbers::named(&name).filter(|numbers| exact == matches!(numbers, Numbers::Signed | Numbers::Unsigned)).ok_or_else(
        || {
            let known = if exact { "int64 and uint64" } else { "float64 and complex128" };
            plain(py, "DTypeError", format!("this ciphertext decrypts to {known}, not to {name}"))
        },
    )
}

/// The array in a ciphertext, as `numbers`.
pub fn decrypt<'py>(
    py: Python<'py>,
    client: &ClientKind,
    setting: &Setting,
    ciphertext: &PyCiphertext,
    numbers: Numbers,
) -> PyResult<Bound<'py, PyAny>> {
    let (parts, layout) = (&ciphertext.parts, &ciphertext.layout);
    let mut dims = layout.dims.clone();
    let packed = setting.slots();
    let chunks = layout.chunks(packed);
    match (client, &**parts) {
        (ClientKind::Exact(client), Parts::Exact(list)) => {
            let degree = if ciphertext.elements { setting.degree() } else { 1 };
            let residues = by_parts(py, list.len(), |ticker| {
                let one = |(part, ct): (usize, &Ciphertext)| {
                    ticker.check("decrypt")?;
                    let mut values =
                        if ciphertext.elements { client.decrypt_elements(ct)? } else { client.decrypt(ct)? };
                    values.truncate(layout.entries(part % chunks, packed).len() * degree);
                    Ok(values)
                };
                joined(list, one)
            })?;
            if ciphertext.elements {
                dims.push(degree);
            }
            let modulus = setting.modulus().unwrap_or(2);
            integers_to_numpy(py, residues, modulus, numbers, &dims)
        }
        (ClientKind::Approximate(client), Parts::Approximate(list)) => {
            let values = by_parts(py, list.len(), |ticker| {
                let one = |(part, ct): (usize, &ckks::Ciphertext)| {
                    ticker.check("decrypt")?;
                    let entries = layout.entries(part % chunks, packed);
                    let first = part / chunks * layout.length + entries.start;
                    let values = client.decrypt_complex(ct);
                    let mut values = values.map_err(|error| at_index(error, first, entries.len()))?;
                    values.truncate(entries.len());
                    Ok(values)
                };
                joined(list, one)
            })?;
            complex_to_numpy(py, values, numbers, &dims)
        }
        _ => Err(plain(py, "OtherContext", "decrypt: the ciphertext is of another scheme")),
    }
}

/// The array in a ciphertext as two arrays, whose sum it is.
pub fn decrypt_wide<'py>(
    py: Python<'py>,
    client: &windlass::Client<Approximate>,
    setting: &Setting,
    ciphertext: &PyCiphertext,
) -> PyResult<[Bound<'py, PyAny>; 2]> {
    let (layout, packed) = (&ciphertext.layout, setting.slots());
    let chunks = layout.chunks(packed);
    let Parts::Approximate(list) = &*ciphertext.parts else {
        return Err(plain(py, "OtherContext", "decrypt: the ciphertext is of another scheme"));
    };
    let values = by_parts(py, list.len(), |ticker| {
        let one = |(part, ct): (usize, &ckks::Ciphertext)| {
            ticker.check("decrypt")?;
            let entries = layout.entries(part % chunks, packed);
            let first = part / chunks * layout.length + entries.start;
            let mut values = client.decrypt_wide(ct).map_err(|error| at_index(error, first, entries.len()))?;
            values.truncate(entries.len());
            Ok(values)
        };
        joined(list, one)
    })?;
    let high = complex_to_numpy(py, values.iter().map(|z| z.high()).collect(), ciphertext.numbers, &layout.dims)?;
    let low = complex_to_numpy(py, values.iter().map(|z| z.low()).collect(), ciphertext.numbers, &layout.dims)?;
    Ok([high, low])
}

/// The array in a ciphertext with noise that hides its errors, and how many bits of it are right. Every ciphertext of
/// the array is one decryption.
pub fn decrypt_public<'py>(
    py: Python<'py>,
    client: &windlass::Client<Approximate>,
    setting: &Setting,
    ciphertext: &PyCiphertext,
    publication: Publication,
) -> PyResult<(Bound<'py, PyAny>, f64)> {
    let (layout, packed) = (&ciphertext.layout, setting.slots());
    let chunks = layout.chunks(packed);
    let Parts::Approximate(list) = &*ciphertext.parts else {
        return Err(plain(py, "OtherContext", "decrypt: the ciphertext is of another scheme"));
    };
    if (publication.decryptions as usize) < list.len() {
        let message = format!(
            "decryptions={}, but this array has {} ciphertexts, and each is a decryption: state at least as many",
            publication.decryptions,
            list.len()
        );
        return Err(plain(py, "ParameterError", message));
    }
    let each = by_parts(py, list.len(), |ticker| {
        let one = |(part, ct): (usize, &ckks::Ciphertext)| {
            ticker.check("decrypt")?;
            let entries = layout.entries(part % chunks, packed);
            let first = part / chunks * layout.length + entries.start;
            let published = client.decrypt_public(ct, publication);
            let mut published = published.map_err(|error| at_index(error, first, entries.len()))?;
            published.values.truncate(entries.len());
            Ok(vec![published])
        };
        joined(list, one)
    })?;
    let bits = each.iter().map(|published| published.precision_bits).fold(f64::INFINITY, f64::min);
    let values = each.into_iter().flat_map(|published| published.values).collect();
    Ok((complex_to_numpy(py, values, ciphertext.numbers, &layout.dims)?, bits))
}

/// The numbers of all ciphertexts, one after the other.
fn joined<C: Sync, T: Send>(list: &[C], one: impl Fn((usize, &C)) -> Result<Vec<T>> + Sync + Send) -> Result<Vec<T>> {
    if let [only] = list {
        return one((0, only));
    }
    // Of several refusals the first one is told.
    let all: Vec<Result<Vec<T>>> = list.par_iter().enumerate().map(one).collect();
    Ok(all.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// A refusal of a ciphertext that holds the numbers of an array from `first` on: it names the place in
/// the array, and none beside the `count` numbers.
fn at_index(error: Error, first: usize, count: usize) -> Error {
    match error {
        Error::NotDecryptable { beyond } => Error::NotDecryptable {
            beyond: beyond
                .filter(|beyond| beyond.slot < count)
                .map(|beyond| Beyond { slot: first + beyond.slot, ..beyond }),
        },
        other => other,
    }
}
