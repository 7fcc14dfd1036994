//! Operators of encrypted arrays, entry by entry.
//!
//! Slots beyond the entries of a row hold zeros, unless an operation puts something there: then the
//! array is not *clean*, and sums mask those slots first.

use std::sync::Arc;

use num_complex::Complex64;
use pyo3::prelude::*;
use rayon::prelude::*;
use windlass::schemes::ckks::{Wide, WideComplex, complex};
use windlass::schemes::{Ciphertext, ckks};
use windlass::{Approximate, Evaluator, Result};

use crate::array::{Parts, PyCiphertext};
use crate::array_layout::{ArrayLayout, in_words};
use crate::broadcast::{Meeting, meet};
use crate::either::map_kind;
use crate::error::plain;
use crate::handle::ServerKind;
use crate::numbers::{Numbers, Slice, Values, numpy, values};
use crate::progress::Ticker;
use crate::runtime::by_parts;
use crate::sparse::dense;

type ApproximateServer = windlass::Server<Approximate>;

/// The right side of an operator.
pub enum Operand<'py> {
    /// An encrypted array of the same shape, or one row for all.
    Encrypted(Bound<'py, PyCiphertext>),
    /// A number.
    Number(Values<'py>),
    /// An array, broadcast to the shape.
    Array(Values<'py>),
}

impl<'py> Operand<'py> {
    /// Anything that NumPy would take, checked.
    pub fn of(left: &PyCiphertext, given: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = given.py();
        if let Ok(other) = given.cast::<PyCiphertext>() {
            other.get().check_context(py, &left.setting, "operator")?;
            return Ok(Self::Encrypted(other.clone()));
        }
        let given = &dense(given)?;
        let array = values(given, left.setting.is_exact())?;
        array.check(py, "operand", left.setting.modulus())?;
        if array.shape().is_empty() {
            return Ok(Self::Number(array));
        }
        if array.shape() == left.layout.dims {
            return Ok(Self::Array(array));
        }
        let spread = numpy(py)?.getattr("broadcast_to")?.call1((given, left.layout.dims.clone()));
        let spread = spread.map_err(|_| {
            let message = format!(
                "an array of shape {} does not broadcast to {}",
                in_words(array.shape()),
                left.layout.in_words()
            );
            plain(py, "ShapeError", message)
        })?;
        Ok(Self::Array(values(&spread, left.setting.is_exact())?))
    }
}

/// Applies `one` to each, in parallel where there are several.
pub fn each<C: Sync, D: Send>(
    ticker: &Ticker,
    list: &[C],
    one: impl Fn(&C) -> Result<D> + Sync + Send,
) -> Result<Vec<D>> {
    numbered(ticker, list, |_, ct| one(ct))
}

/// Applies `one` to each with its number.
fn numbered<C: Sync, D: Send>(
    ticker: &Ticker,
    list: &[C],
    one: impl Fn(usize, &C) -> Result<D> + Sync + Send,
) -> Result<Vec<D>> {
    if let [only] = list {
        return Ok(vec![one(0, only)?]);
    }
    let checked = |(number, ct)| ticker.check("the operation").and_then(|()| one(number, ct));
    list.par_iter().enumerate().map(checked).collect()
}

/// What two encrypted arrays have in common: the server, the shape, and which ciphertexts meet.
pub fn paired(py: Python<'_>, a: &PyCiphertext, b: &PyCiphertext) -> PyResult<(Arc<ServerKind>, Meeting)> {
    let meeting = meet(a, b).ok_or_else(|| {
        let (left, right) = (&a.layout, &b.layout);
        let single = |own: &PyCiphertext| own.layout.length == 1 && own.layout.is_packed() && !own.spread;
        let more = if left.is_packed() != right.is_packed() {
            "; the result of a sum has one ciphertext for each entry, but an encrypted vector has one for all entries (keepdims=True keeps the dimension that a sum removes)"
        } else if left.length != right.length && (single(a) || single(b)) {
            "; a single number is in one slot of its ciphertext and not in the others; a sum is in all slots if the server has the keys of context.sum()"
        } else {
            ""
        };
        let message = format!("encrypted arrays of shapes {} and {} cannot be combined: the shapes must be equal, or one must broadcast to the other{more}", left.in_words(), right.in_words());
        plain(py, "ShapeError", message)
    })?;
    let server = if a.server.is_some() { a.server(py)? } else { b.server(py)? };
    Ok((server, meeting))
}

/// The result with the server of whichever has one.
pub fn result_of(a: &PyCiphertext, b: &PyCiphertext, parts: Parts, layout: ArrayLayout, clean: bool) -> PyCiphertext {
    let base = if a.server.is_some() { a } else { b };
    base.result(parts, layout, a.numbers.joined(b.numbers), clean)
}

/// An operation of two ciphertexts on all pairs.
macro_rules! on_pairs {
    ($py:expr, $a:expr, $b:expr, $method:ident, $clean:expr) => {{
        let (a, b): (&PyCiphertext, &PyCiphertext) = ($a, $b);
        let (server, Meeting { layout, places }) = paired($py, a, b)?;
        let parts = by_parts($py, places.len(), |ticker| {
            Ok(map_kind!((&*server, &*a.parts, &*b.parts), (s, x, y) => {
                each(ticker, &places, |&(i, k)| s.$method(&x[i], &y[k]))?
            }))
        })?;
        let spread = a.spread && b.spread;
        Ok(result_of(a, b, parts, layout, $clean).with_spread(spread))
    }};
}

/// `a + b`.
pub fn add(a: &PyCiphertext, b: Operand<'_>) -> PyResult<PyCiphertext> {
    match b {
        Operand::Encrypted(b) => on_pairs!(b.py(), a, b.get(), add, a.clean && b.get().clean),
        Operand::Number(values) => shifted(a, &values, true, 1.0),
        Operand::Array(values) => shifted(a, &values, false, 1.0),
    }
}

/// `a - b`.
pub fn subtract(a: &PyCiphertext, b: Operand<'_>) -> PyResult<PyCiphertext> {
    match b {
        Operand::Encrypted(b) => on_pairs!(b.py(), a, b.get(), sub, a.clean && b.get().clean),
        Operand::Number(values) => shifted(a, &values, true, -1.0),
        Operand::Array(values) => shifted(a, &values, false, -1.0),
    }
}

/// `a * b`, entry by entry.
pub fn multiply(a: &PyCiphertext, b: Operand<'_>) -> PyResult<PyCiphertext> {
    match b {
        Operand::Encrypted(b) if std::ptr::eq(a, b.get()) => square(b.py(), a),
        Operand::Encrypted(b) => multiply_pairs(b.py(), a, b.get()),
        Operand::Number(values) => scaled(a, &values),
        Operand::Array(values) => weighted(a, &values),
    }
}

/// `a * b` of encrypted arrays, entry by entry.
pub fn multiply_pairs(py: Python<'_>, a: &PyCiphertext, b: &PyCiphertext) -> PyResult<PyCiphertext> {
    on_pairs!(py, a, b, multiply, a.clean || b.clean)
}

pub fn square(py: Python<'_>, a: &PyCiphertext) -> PyResult<PyCiphertext> {
    let server = a.server(py)?;
    let parts = by_parts(py, a.parts.len(), |ticker| {
        Ok(map_kind!((&*server, &*a.parts), (s, list) => each(ticker, list, |x| s.square(x))?))
    })?;
    Ok(a.result(parts, a.layout.clone(), a.numbers, a.clean).with_spread(a.spread))
}

/// `−a`.
pub fn negate(py: Python<'_>, a: &PyCiphertext) -> PyResult<PyCiphertext> {
    let server = a.server(py)?;
    let parts = by_parts(py, a.parts.len(), |ticker| {
        Ok(map_kind!((&*server, &*a.parts), (s, list) => each(ticker, list, |x| s.engine().negate(x))?))
    })?;
    let numbers = if a.numbers == Numbers::Unsigned { Numbers::Signed } else { a.numbers };
    Ok(a.result(parts, a.layout.clone(), numbers, a.clean).with_spread(a.spread))
}

/// The public numbers of one ciphertext, as the library takes them.
enum Chunk {
    Integers(Vec<i64>),
    Complex(Vec<Complex64>),
}

/// The numbers that ciphertext `part` meets; `same` repeats one number. Zeros follow the entries,
/// but where the entry stands in every slot: there its number does, too.
fn chunk(a: &PyCiphertext, slice: Slice<'_>, part: usize, same: bool, sign: f64) -> Chunk {
    let (slots, chunks) = (a.setting.slots(), a.chunks());
    let entries = a.layout.entries(part % chunks, slots);
    let start = (part / chunks) * a.layout.length;
    let range = if same { 0..1 } else { start + entries.start..start + entries.end };
    let count = if a.spread { slots } else { entries.len() };
    let integer = if sign < 0.0 { -1 } else { 1 };
    match slice {
        Slice::Signed(list) => Chunk::Integers(filled(list[range].iter().map(|&x| integer * x), count, count)),
        Slice::Unsigned(list) => Chunk::Integers(filled(list[range].iter().map(|&x| integer * x as i64), count, count)),
        Slice::Real(list) => Chunk::Complex(filled(complex(&list[range]).into_iter().map(|z| z * sign), count, slots)),
        Slice::Complex(list) => Chunk::Complex(filled(list[range].iter().map(|z| z * sign), count, slots)),
    }
}

/// The values, the last repeated up to `count` of them, zeros up to `length`.
fn filled<T: Copy + Default>(values: impl Iterator<Item = T>, count: usize, length: usize) -> Vec<T> {
    let mut list: Vec<T> = values.collect();
    let last = list.last().copied().unwrap_or_default();
    list.resize(count, last);
    list.resize(length, T::default());
    list
}

fn refuse_elements(py: Python<'_>, a: &PyCiphertext) -> PyResult<()> {
    if a.elements {
        return Err(plain(
            py,
            "NotIntegers",
            "an array of ring elements (elements=True) can be combined only with an encrypted array: encrypt the other operand with elements=True",
        ));
    }
    Ok(())
}

fn python<'py>(values: &Values<'py>) -> Python<'py> {
    match values {
        Values::Signed(array) => array.py(),
        Values::Unsigned(array) => array.py(),
        Values::Real(array) => array.py(),
        Values::Complex(array) => array.py(),
    }
}

/// Combines every ciphertext with its public numbers, by the operation of its kind.
fn by_values(
    a: &PyCiphertext,
    values: &Values<'_>,
    same: bool,
    sign: f64,
    exact: impl Fn(&windlass::Server, &Ciphertext, &[i64]) -> Result<Ciphertext> + Sync + Send,
    approximate: impl Fn(&ApproximateServer, &ckks::Ciphertext, &[Complex64]) -> Result<ckks::Ciphertext> + Sync + Send,
) -> PyResult<Parts> {
    let py = python(values);
    let (server, slice) = (a.server(py)?, values.slice()?);
    by_parts(py, a.parts.len(), |ticker| {
        Ok(match (&*server, &*a.parts) {
            (ServerKind::Exact(s), Parts::Exact(list)) => {
                Parts::Exact(numbered(ticker, list, |part, ct| match chunk(a, slice, part, same, sign) {
                    Chunk::Integers(values) => exact(s, ct, &values),
                    Chunk::Complex(_) => unreachable!("exact contexts take integers"),
                })?)
            }
            (ServerKind::Approximate(s), Parts::Approximate(list)) => {
                Parts::Approximate(numbered(ticker, list, |part, ct| match chunk(a, slice, part, same, sign) {
                    Chunk::Complex(values) => approximate(s, ct, &values),
                    Chunk::Integers(_) => unreachable!("approximate contexts take complex numbers"),
                })?)
            }
            _ => unreachable!("contexts are the same"),
        })
    })
}

/// `a ± values`, only on the entries.
fn shifted(a: &PyCiphertext, values: &Values<'_>, same: bool, sign: f64) -> PyResult<PyCiphertext> {
    let py = python(values);
    refuse_elements(py, a)?;
    let parts = by_values(
        a,
        values,
        same,
        sign,
        |s, ct, integers| s.add_integers(ct, integers),
        |s, ct, numbers| s.engine().add_plain(ct, numbers),
    )?;
    let signed = sign < 0.0 && a.numbers == Numbers::Unsigned;
    let numbers = if signed { Numbers::Signed } else { a.numbers.joined(meant(values, same)) };
    Ok(a.result(parts, a.layout.clone(), numbers, a.clean).with_spread(a.spread))
}

/// What public numbers make of the dtype: a single integer that is not negative leaves it.
fn meant(values: &Values<'_>, same: bool) -> Numbers {
    match values.slice() {
        Ok(Slice::Signed(list)) if same && list.first().is_some_and(|&x| x >= 0) => Numbers::Unsigned,
        _ => values.numbers(),
    }
}

/// `number · a`.
fn scaled(a: &PyCiphertext, values: &Values<'_>) -> PyResult<PyCiphertext> {
    let py = python(values);
    let (server, slice) = (a.server(py)?, values.slice()?);
    let parts = by_parts(py, a.parts.len(), |ticker| {
        Ok(match (&*server, &*a.parts) {
            (ServerKind::Exact(s), Parts::Exact(list)) => Parts::Exact(each(ticker, list, |ct| match slice {
                Slice::Signed(number) => s.multiply_integer(ct, number[0]),
                Slice::Unsigned(number) => s.multiply_integer(ct, number[0]),
                _ => unreachable!("exact contexts take integers"),
            })?),
            (ServerKind::Approximate(s), Parts::Approximate(list)) => {
                Parts::Approximate(each(ticker, list, |ct| match slice {
                    Slice::Real(number) => s.multiply_real(ct, number[0]),
                    Slice::Complex(number) => s.engine().multiply_scalar(ct, number[0]),
                    _ => unreachable!("approximate contexts take complex numbers"),
                })?)
            }
            _ => unreachable!("contexts are the same"),
        })
    })?;
    Ok(a.result(parts, a.layout.clone(), a.numbers.joined(meant(values, true)), a.clean).with_spread(a.spread))
}

/// The array with zeros in the slots beyond its entries. Costs one product with a constant.
pub fn masked(py: Python<'_>, a: &PyCiphertext) -> PyResult<PyCiphertext> {
    let dtype = if a.setting.is_exact() { "int64" } else { "float64" };
    let ones = numpy(py)?.getattr("ones")?.call1((a.layout.dims.clone(), dtype))?;
    let product = times(&a.copied().with_spread(false), &values(&ones, a.setting.is_exact())?)?;
    Ok(PyCiphertext { numbers: a.numbers, ..product })
}

/// `values · a`, entry by entry: what lies beyond the entries becomes zero, unless the entry stands in
/// every slot.
fn weighted(a: &PyCiphertext, values: &Values<'_>) -> PyResult<PyCiphertext> {
    refuse_elements(python(values), a)?;
    times(a, values)
}

fn times(a: &PyCiphertext, values: &Values<'_>) -> PyResult<PyCiphertext> {
    let parts = by_values(
        a,
        values,
        false,
        1.0,
        |s, ct, integers| s.multiply_integers(ct, integers),
        |s, ct, numbers| s.engine().multiply_plain(ct, numbers),
    )?;
    let numbers = a.numbers.joined(values.numbers());
    Ok(a.result(parts, a.layout.clone(), numbers, !a.spread).with_spread(a.spread))
}

/// `a / number`.
pub fn divide(a: &PyCiphertext, number: &Bound<'_, PyAny>) -> PyResult<PyCiphertext> {
    let py = number.py();
    if a.setting.is_exact() {
        return Err(plain(
            py,
            "DTypeError",
            "integers modulo q have no division: multiply by an inverse, pow(k, -1, q), or use wl.Context.approximate(...)",
        ));
    }
    if number.cast::<PyCiphertext>().is_ok() {
        return Err(plain(
            py,
            "DTypeError",
            "division by an encrypted number: multiply by a polynomial that approximates 1/x on the range of the numbers",
        ));
    }
    let inverse = numpy(py)?.getattr("divide")?.call1((1.0, number))?;
    multiply(a, Operand::of(a, &inverse)?)
}

/// What is done with public numbers of more bits than float64 has.
#[derive(Debug, Clone, Copy)]
pub enum WideOperation {
    Add,
    Multiply,
}

/// `a + (high + low)` or `a·(high + low)`, entry by entry, the inner sums not rounded.
pub fn wide(a: &PyCiphertext, [high, low]: [&Bound<'_, PyAny>; 2], operation: WideOperation) -> PyResult<PyCiphertext> {
    let py = high.py();
    let refused = |message: &str| plain(py, "DTypeError", message);
    if a.setting.is_exact() {
        return Err(refused("integers have no digits beyond float64: use the operators, as in x + 1"));
    }
    let numbers = match (Operand::of(a, high)?, Operand::of(a, low)?) {
        (Operand::Number(high), Operand::Number(low)) => ([high, low], true),
        (Operand::Array(high), Operand::Array(low)) => ([high, low], false),
        (Operand::Encrypted(_), _) | (_, Operand::Encrypted(_)) => {
            return Err(refused("an encrypted array keeps all its bits in x + y and x * y"));
        }
        _ => return Err(plain(py, "ShapeError", "high and low must have one shape")),
    };
    let ([high, low], same) = numbers;
    let (server, slices) = (a.server(py)?, [high.slice()?, low.slice()?]);
    let parts = by_parts(py, a.parts.len(), |ticker| {
        let (ServerKind::Approximate(server), Parts::Approximate(list)) = (&*server, &*a.parts) else {
            unreachable!("contexts are the same")
        };
        let one = |part: usize, ct: &ckks::Ciphertext| {
            let [high, low] = slices.map(|slice| match chunk(a, slice, part, same, 1.0) {
                Chunk::Complex(values) => values,
                Chunk::Integers(_) => unreachable!("approximate contexts take complex numbers"),
            });
            let values: Vec<WideComplex> = high.into_iter().zip(low).map(|(high, low)| wide_sum(high, low)).collect();
            match operation {
                WideOperation::Add => server.add_wide(ct, &values),
                WideOperation::Multiply => server.multiply_wide(ct, &values),
            }
        };
        Ok(Parts::Approximate(numbered(ticker, list, one)?))
    })?;
    let numbers = a.numbers.joined(high.numbers()).joined(low.numbers());
    let clean = match operation {
        WideOperation::Add => a.clean,
        WideOperation::Multiply => !a.spread,
    };
    Ok(a.result(parts, a.layout.clone(), numbers, clean).with_spread(a.spread))
}

/// `a + b` without rounding.
pub fn wide_sum(a: Complex64, b: Complex64) -> WideComplex {
    WideComplex { re: Wide::sum(a.re, b.re), im: Wide::sum(a.im, b.im) }
}
