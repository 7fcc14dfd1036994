//! Operators that need plans of their own: powers, shifts, products with matrices and vectors.

use std::sync::Arc;

use pyo3::prelude::*;
use windlass::Result;
use windlass::schemes::Ciphertext;

use crate::array::{Parts, PyCiphertext};
use crate::array_layout::{ArrayLayout, in_words};
use crate::broadcast::Meeting;
use crate::circuit::{PyCircuit, Recipe};
use crate::elementwise::{Operand, each, multiply, multiply_pairs, paired, result_of, square};
use crate::error::{made_by, plain};
use crate::handle::ServerKind;
use crate::matrix::{LinearInner, LinearSpec, PyLinear};
use crate::natural::Natural;
use crate::numbers::{Slice, Values, numpy, values};
use crate::progress::Ticker;
use crate::reduce::sum;
use crate::runtime::{by_parts, long, quick};
use crate::sparse::dense;
use crate::sums::{joined, total};

/// `a ** exponent`.
pub fn power(
    a: &PyCiphertext,
    exponent: &Bound<'_, PyAny>,
    modulo: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyCiphertext> {
    let py = exponent.py();
    if modulo.is_some() {
        return Err(plain(
            py,
            "ParameterError",
            "pow cannot take a modulus: integers are computed modulo that of the context",
        ));
    }
    let exponent =
        exponent.extract::<Natural>().map(|exponent| exponent.0).ok().filter(|&k| k > 0).ok_or_else(|| {
            plain(py, "ParameterError", "the exponent of an encrypted number must be a positive integer")
        })?;
    if exponent == 2 {
        return square(py, a);
    }
    let server = a.server(py)?;
    if let ServerKind::Exact(_) = &*server {
        let own = PyCircuit::make(py, &a.setting, Recipe::Power(exponent))?;
        return own.apply_one(py, a, None).map_err(|error| made_by(py, error, "context.products()"));
    }
    if exponent == 1 {
        return Ok(a.copied());
    }
    let degree = usize::try_from(exponent).ok().filter(|&degree| degree <= 1 << 16);
    let degree = degree.ok_or_else(|| plain(py, "ParameterError", "the exponent must be at most 2^16"))?;
    let mut coefficients = vec![0.0; degree + 1];
    coefficients[degree] = 1.0;
    let own = PyCircuit::make(py, &a.setting, Recipe::RealPolynomial { coefficients, interval: None })?;
    own.apply_one(py, a, None).map_err(|error| made_by(py, error, "context.products()"))
}

/// Entries shifted cyclically.
pub fn roll(py: Python<'_>, a: &PyCiphertext, shift: i64) -> PyResult<PyCiphertext> {
    if a.layout.length == 1 {
        return Ok(turned(a, shift));
    }
    let (setting, length) = (Arc::clone(&a.setting), a.layout.length);
    let inner = long(py, None, "planning", move |_| LinearInner::roll(&setting, length, shift))?;
    inner.apply(py, a, None).map_err(|error| made_by(py, error, &format!("context.roll({length}, {shift})")))
}

/// Entries that lie in ciphertexts of their own, shifted cyclically along the last dimension.
fn turned(a: &PyCiphertext, shift: i64) -> PyCiphertext {
    let size = if a.layout.is_packed() { 1 } else { a.layout.dims.last().copied().unwrap_or(1) };
    let shift = shift.rem_euclid(size as i64) as usize;
    let places: Vec<usize> = (0..a.parts.len()).map(|k| k / size * size + (k % size + size - shift) % size).collect();
    a.result(a.parts.rows(1, &places), a.layout.clone(), a.numbers, a.clean).with_spread(a.spread)
}

/// The sum of the products of two ciphertexts' entries.
fn inner_product(py: Python<'_>, a: &PyCiphertext, b: &PyCiphertext) -> PyResult<PyCiphertext> {
    let (server, Meeting { layout, places }) = paired(py, a, b)?;
    let plan = quick(py, || a.setting.sum(layout.length))?;
    if !a.setting.is_exact() || (!a.clean && !b.clean) {
        let products: PyResult<PyCiphertext> = multiply_pairs(py, a, b);
        return total(py, &products?, &plan);
    }
    let (x, y, chunks) = (Arc::clone(&a.parts), Arc::clone(&b.parts), a.chunks());
    let own = Arc::clone(&server);
    // Relinearised once for all ciphertexts of a row.
    let sums = long(py, None, "inner product", move |ticker| match (&*own, &*x, &*y) {
        (ServerKind::Exact(s), Parts::Exact(x), Parts::Exact(y)) => {
            let rows: Vec<_> = places.chunks(chunks).collect();
            Ok(Parts::Exact(each(ticker, &rows, |row| {
                let pairs: Vec<_> = row.iter().map(|&(i, k)| (&x[i], &y[k])).collect();
                s.apply(&*plan, &s.sum_of_products(&pairs)?)
            })?))
        }
        _ => unreachable!("contexts are exact here"),
    })
    .map_err(|error| made_by(py, error, &format!("context.inner_product({})", layout.length)))?;
    // Exact plans add all slots.
    Ok(result_of(a, b, sums, layout.summed(), false).with_spread(true))
}

/// `a @ other`.
pub fn matmul(a: &PyCiphertext, other: &Bound<'_, PyAny>) -> PyResult<PyCiphertext> {
    let py = other.py();
    if let Ok(b) = other.cast::<PyCiphertext>() {
        let b = b.get();
        b.check_context(py, &a.setting, "@")?;
        let fits = a.layout.length == b.layout.length && !a.layout.dims.is_empty();
        if b.layout.dims.len() != 1 || !fits || !a.layout.is_packed() || !b.layout.is_packed() {
            return Err(no_product(py, &a.layout.dims, &b.layout.dims));
        }
        return inner_product(py, a, b);
    }
    if other.is_instance_of::<PyLinear>() {
        return Err(plain(
            py,
            "DTypeError",
            "a planned matrix must be the left operand: layer @ x, or layer(x) for every row of x",
        ));
    }
    let other = &dense(other)?;
    let array = values(other, a.setting.is_exact())?;
    if !a.layout.is_packed() || a.layout.dims.is_empty() {
        return Err(no_product(py, &a.layout.dims, array.shape()));
    }
    match array.shape() {
        [length] if *length == a.layout.length => {
            array.check(py, "operand", a.setting.modulus())?;
            sum(py, &multiply(a, Operand::of(a, other)?)?)
        }
        [length, _] if *length == a.layout.length => {
            let transposed = other_as_array(other)?.getattr("T")?;
            product(py, a, &transposed, "context.linear(W.T)")
        }
        shape => Err(no_product(py, &a.layout.dims, shape)),
    }
}

/// `other @ a`.
pub fn matmul_from_left(a: &PyCiphertext, other: &Bound<'_, PyAny>) -> PyResult<PyCiphertext> {
    let py = other.py();
    let array = values(other, a.setting.is_exact())?;
    if let (&[_, columns], &[rows, _]) = (array.shape(), &*a.layout.dims)
        && columns == rows
        && a.layout.is_packed()
    {
        array.check(py, "operand", a.setting.modulus())?;
        return weighted_sums(py, a, &array);
    }
    if !a.layout.is_packed() || a.layout.dims.len() != 1 {
        return Err(no_product(py, array.shape(), &a.layout.dims));
    }
    match array.shape() {
        [length] if *length == a.layout.length => matmul(a, other),
        [_, length] if *length == a.layout.length => product(py, a, other, "context.linear(W)"),
        shape => Err(no_product(py, shape, &a.layout.dims)),
    }
}

/// The product of a public matrix with an array of two dimensions, whose rows are in ciphertexts of their
/// own: sums of these times numbers, without keys.
fn weighted_sums(py: Python<'_>, a: &PyCiphertext, weights: &Values<'_>) -> PyResult<PyCiphertext> {
    if matches!(weights, Values::Complex(_)) {
        let message = "W @ x with an encrypted array of two dimensions takes a matrix of real numbers: multiply by the real and the imaginary parts";
        return Err(plain(py, "DTypeError", message));
    }
    let (server, slice, chunks) = (a.server(py)?, weights.slice()?, a.chunks());
    let (count, rows) = (weights.shape()[0], a.layout.rows);
    let parts = by_parts(py, a.parts.len(), |ticker| {
        Ok(match (&*server, &*a.parts, slice) {
            (ServerKind::Approximate(s), Parts::Approximate(list), Slice::Real(weights)) => {
                let weights: Vec<&[f64]> = weights.chunks(rows).collect();
                Parts::Approximate(in_chunks(ticker, list, chunks, count, |part| s.weighted_sums(part, &weights))?)
            }
            (ServerKind::Exact(s), Parts::Exact(list), _) => {
                let weights: Vec<Vec<i64>> = whole(slice).chunks(rows).map(<[i64]>::to_vec).collect();
                let sum = |part: &[&Ciphertext], weights: &Vec<i64>| {
                    let terms: Vec<Ciphertext> =
                        part.iter().zip(weights).map(|(x, &k)| s.multiply_integer(x, k)).collect::<Result<_>>()?;
                    joined(&terms.iter().collect::<Vec<_>>(), |a, b| s.add(a, b))
                };
                Parts::Exact(in_chunks(ticker, list, chunks, count, |part| {
                    weights.iter().map(|weights| sum(part, weights)).collect()
                })?)
            }
            _ => unreachable!("checked before"),
        })
    })?;
    let layout = ArrayLayout::of_shape(&[count, a.layout.length]);
    Ok(a.result(parts, layout, a.numbers.joined(weights.numbers()), a.clean))
}

/// Integers as signed ones: in a context of integers there are no others.
fn whole(slice: Slice<'_>) -> Vec<i64> {
    match slice {
        Slice::Signed(list) => list.to_vec(),
        Slice::Unsigned(list) => list.iter().map(|&x| x as i64).collect(),
        Slice::Real(_) | Slice::Complex(_) => unreachable!("contexts of integers take integers"),
    }
}

/// `count` ciphertexts of those that stand above each other, chunk of a row by chunk; row by row again.
fn in_chunks<C: Clone>(
    ticker: &Ticker,
    list: &[C],
    chunks: usize,
    count: usize,
    sums: impl Fn(&[&C]) -> Result<Vec<C>>,
) -> Result<Vec<C>> {
    let mut columns = Vec::with_capacity(chunks);
    for chunk in 0..chunks {
        ticker.check("weighted sums")?;
        columns.push(sums(&list.iter().skip(chunk).step_by(chunks).collect::<Vec<_>>())?);
    }
    Ok((0..count).flat_map(|row| columns.iter().map(move |column| column[row].clone())).collect())
}

/// The product with a matrix that `call` plans.
fn product(py: Python<'_>, a: &PyCiphertext, matrix: &Bound<'_, PyAny>, call: &str) -> PyResult<PyCiphertext> {
    let inner = PyLinear::make(py, &a.setting, matrix, None, LinearSpec::default())?.inner;
    inner.apply(py, a, None).map_err(|error| made_by(py, error, call))
}

fn other_as_array<'py>(other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    numpy(other.py())?.getattr("asarray")?.call1((other,))
}

fn no_product(py: Python<'_>, left: &[usize], right: &[usize]) -> PyErr {
    plain(
        py,
        "ShapeError",
        format!(
            "the shapes {} and {} cannot be multiplied with @: the last dimension must be packed and the sizes must agree; layer(x) applies a matrix to every row of x",
            in_words(left),
            in_words(right)
        ),
    )
}
