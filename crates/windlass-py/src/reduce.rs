//! Sums along dimensions, means and variances, as the functions of NumPy ask for them.
//!
//! Along the last dimension a sum is one of slots, and takes keys; along the others ciphertexts are
//! added.

use std::sync::Arc;

use pyo3::Borrowed;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use windlass::NeedsKeys;

use crate::array::{Parts, PyCiphertext};
use crate::array_layout::ArrayLayout;
use crate::broadcast::sources;
use crate::either::map_kind;
use crate::elementwise::{Operand, each, multiply, square, subtract};
use crate::error::{exception, plain};
use crate::numbers::Numbers;
use crate::runtime::{by_parts, quick};
use crate::sums::{filled, joined, of_rows};

/// The dimensions that a function is to go along.
pub enum Axes {
    /// The last, which is what methods take that are not told.
    Last,
    /// All, which is what NumPy's functions take that are not told.
    All,
    /// These; negative ones count from the end.
    Some(Vec<i64>),
}

impl<'py> FromPyObject<'_, 'py> for Axes {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if given.is_none() {
            return Ok(Self::All);
        }
        let index = PyModule::import(given.py(), "operator")?.getattr("index")?;
        let one = |axis: &Bound<'_, PyAny>| index.call1((axis,)).and_then(|axis| axis.extract::<i64>());
        let list = match given.cast::<PyTuple>() {
            Ok(tuple) => tuple.iter().map(|axis| one(&axis)).collect(),
            Err(_) => one(&given.to_owned()).map(|axis| vec![axis]),
        };
        list.map(Self::Some).map_err(|_| {
            let shown = given.repr().map_or_else(|_| String::from("this"), |text| text.to_string());
            plain(
                given.py(),
                "DTypeError",
                format!("axis must be an integer, a tuple of integers or None, not {shown}"),
            )
        })
    }
}

impl Axes {
    /// Which dimensions these are, increasing.
    fn of(&self, py: Python<'_>, a: &PyCiphertext) -> PyResult<Vec<usize>> {
        let count = a.layout.dims.len();
        let given = match self {
            Self::Last => return Ok(count.checked_sub(1).into_iter().collect()),
            Self::All => return Ok((0..count).collect()),
            Self::Some(given) => given,
        };
        let mut found = Vec::with_capacity(given.len());
        for &axis in given {
            let place = if axis < 0 { axis + count as i64 } else { axis };
            let place = usize::try_from(place).ok().filter(|&place| place < count).ok_or_else(|| {
                let shape = a.layout.in_words();
                plain(py, "ShapeError", format!("axis {axis}: an array of shape {shape} has {count} dimension(s)"))
            })?;
            if found.contains(&place) {
                return Err(plain(py, "ShapeError", format!("axis {axis} is given twice")));
            }
            found.push(place);
        }
        found.sort_unstable();
        Ok(found)
    }
}

/// Refuses what NumPy's functions may be told and sums of ciphertexts cannot do.
pub fn check_options(dtype: Option<&Bound<'_, PyAny>>, out: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    match (dtype, out) {
        (Some(dtype), _) => {
            let message = "dtype: the type of encrypted numbers cannot be changed; choose one when decrypting, as in client.decrypt(y, dtype=\"int64\")";
            Err(plain(dtype.py(), "ParameterError", message))
        }
        (_, Some(out)) => {
            Err(plain(out.py(), "ParameterError", "out: an encrypted result is always a new array; leave out= out"))
        }
        _ => Ok(()),
    }
}

/// The sums over the last dimension.
pub fn sum(py: Python<'_>, a: &PyCiphertext) -> PyResult<PyCiphertext> {
    sum_over(py, a, &Axes::Last, false)
}

/// The sums along dimensions.
pub fn sum_over(py: Python<'_>, a: &PyCiphertext, axes: &Axes, keepdims: bool) -> PyResult<PyCiphertext> {
    let axes = axes.of(py, a)?;
    sum_along(py, a, &axes, keepdims)
}

/// The dimension whose entries lie in the slots of one ciphertext, if there is one.
fn slot_axis(layout: &ArrayLayout) -> Option<usize> {
    (layout.length > 1).then(|| layout.dims.len() - 1)
}

fn sum_along(py: Python<'_>, a: &PyCiphertext, axes: &[usize], keepdims: bool) -> PyResult<PyCiphertext> {
    let slots = slot_axis(&a.layout).filter(|axis| axes.contains(axis));
    let rows: Vec<usize> = axes.iter().copied().filter(|&axis| Some(axis) != slots).collect();
    let added = if rows.is_empty() { a.copied() } else { add_rows(py, a, &rows)? };
    let summed = if slots.is_some() { of_rows(py, &added)? } else { added };
    let dims = a.layout.dims.iter().enumerate();
    let kept = dims.filter(|(axis, _)| keepdims || !axes.contains(axis));
    let dims = kept.map(|(axis, &size)| if axes.contains(&axis) { 1 } else { size }).collect();
    let layout = ArrayLayout { dims, ..summed.layout };
    Ok(PyCiphertext { layout, ..summed })
}

/// Ciphertexts added along dimensions that count rows, which become 1.
fn add_rows(py: Python<'_>, a: &PyCiphertext, axes: &[usize]) -> PyResult<PyCiphertext> {
    let server = a.server(py)?;
    let count = slot_axis(&a.layout).unwrap_or(a.layout.dims.len());
    let one = |dims: &[usize]| -> Vec<usize> {
        dims.iter().enumerate().map(|(axis, &size)| if axes.contains(&axis) { 1 } else { size }).collect()
    };
    let (own, chunks) = (&a.layout.dims[..count], a.chunks());
    let places = sources(&one(own), own);
    let rows: usize = one(own).iter().product();
    let mut groups = vec![Vec::new(); rows * chunks];
    for (row, target) in places.into_iter().enumerate() {
        (0..chunks).for_each(|chunk| groups[target * chunks + chunk].push(row * chunks + chunk));
    }
    let parts = by_parts(py, a.parts.len(), |ticker| {
        Ok(map_kind!((&*server, &*a.parts), (s, list) => each(ticker, &groups, |group| {
            joined(&group.iter().map(|&place| &list[place]).collect::<Vec<_>>(), |a, b| s.add(a, b))
        })?))
    })?;
    let layout = ArrayLayout { dims: one(&a.layout.dims), rows, length: a.layout.length };
    Ok(a.result(parts, layout, a.numbers, a.clean).with_spread(a.spread))
}

/// How many numbers lie along dimensions.
fn count_along(a: &PyCiphertext, axes: &[usize]) -> f64 {
    axes.iter().map(|&axis| a.layout.dims[axis] as f64).product()
}

/// The product with one number.
fn times(py: Python<'_>, a: &PyCiphertext, number: f64) -> PyResult<PyCiphertext> {
    let number = pyo3::types::PyFloat::new(py, number);
    multiply(a, Operand::of(a, number.as_any())?)
}

/// The means along dimensions. CKKS only.
pub fn mean(py: Python<'_>, a: &PyCiphertext, axes: &Axes, keepdims: bool) -> PyResult<PyCiphertext> {
    if a.setting.is_exact() {
        let message = "integers modulo q have no mean: decrypt x.sum() and divide, or use wl.Context.approximate(...)";
        return Err(plain(py, "DTypeError", message));
    }
    let axes = axes.of(py, a)?;
    let (sum, count) = (sum_along(py, a, &axes, keepdims)?, count_along(a, &axes));
    if count == 1.0 { Ok(sum) } else { times(py, &sum, count.recip()) }
}

/// The variances along dimensions, of n numbers Σ(x − mean)²/(n − ddof). CKKS only.
///
/// With c = 1/√(n − ddof) they are Σ(c·x − (c/n)·Σx)²: two products one after the other.
pub fn variance(py: Python<'_>, a: &PyCiphertext, axes: &Axes, ddof: f64, keepdims: bool) -> PyResult<PyCiphertext> {
    check_variance(py, a)?;
    let axes = axes.of(py, a)?;
    let count = count_along(a, &axes);
    let free = count - ddof;
    if free.is_nan() || free <= 0.0 {
        let message =
            format!("a variance of {count} number(s) with ddof = {ddof} would divide by {free}: choose a smaller ddof");
        return Err(plain(py, "ParameterError", message));
    }
    let share = free.sqrt().recip();
    let sum = sum_along(py, a, &axes, true)?;
    let mean = match slot_axis(&a.layout).filter(|axis| axes.contains(axis)) {
        None => times(py, &sum, share / count)?,
        Some(_) => {
            let sum = stretched(py, &sum, a)?;
            multiply(&sum, filled(py, &sum, share / count)?)?
        }
    };
    // A product with an array leaves zeros beyond the entries.
    let scaled = if a.clean { times(py, a, share)? } else { multiply(a, filled(py, a, share)?)? };
    let off = subtract(&scaled, Operand::Encrypted(Bound::new(py, mean)?))?;
    let squares = sum_along(py, &square(py, &off)?, &axes, keepdims)?;
    let Parts::Approximate(list) = &*a.parts else { unreachable!("checked before") };
    let largest = list.iter().map(|ct| ct.magnitude()).fold(0.0, f64::max);
    // The squares of numbers are on average no less than those of their distances from the mean.
    let bound = largest * largest * (count / free);
    let Parts::Approximate(list) = &*squares.parts else { unreachable!("of the same context") };
    let parts = Arc::new(Parts::Approximate(list.iter().map(|ct| ct.clone().with_magnitude(bound)).collect()));
    Ok(PyCiphertext { parts, ..squares })
}

fn check_variance(py: Python<'_>, a: &PyCiphertext) -> PyResult<()> {
    if a.setting.is_exact() {
        let message =
            "integers modulo q have no variance: decrypt x.sum() and (x * x).sum(), or use wl.Context.approximate(...)";
        return Err(plain(py, "DTypeError", message));
    }
    if a.numbers == Numbers::Complex {
        let message = "the variance of complex numbers needs their conjugates: encrypt real and imaginary parts separately, and add the variances";
        return Err(plain(py, "DTypeError", message));
    }
    Ok(())
}

/// Sums of rows, whose last dimension is 1, as rows of as many entries as `like` has.
fn stretched(py: Python<'_>, sum: &PyCiphertext, like: &PyCiphertext) -> PyResult<PyCiphertext> {
    if !sum.spread {
        return Err(not_spread(py, like)?);
    }
    let chunks = like.chunks();
    let places: Vec<usize> = (0..sum.parts.len()).flat_map(|place| std::iter::repeat_n(place, chunks)).collect();
    let layout = sum.layout.with_length(like.layout.length);
    Ok(sum.result(sum.parts.rows(1, &places), layout, sum.numbers, false))
}

/// Why a sum does not stand for every entry.
fn not_spread(py: Python<'_>, a: &PyCiphertext) -> PyResult<PyErr> {
    let (server, plan) = (a.server(py)?, quick(py, || a.setting.sum(a.setting.slots()))?);
    let elements = plan.key_request().galois.into_keys();
    let missing: Vec<u64> = elements.filter(|&element| server.keys().galois(element).is_none()).collect();
    Ok(if missing.is_empty() {
        let message = "the bound on a sum over all slots is too large for the modulus: state a smaller one (x.assume_bound), or plan the context with larger value_bits";
        plain(py, "CapacityExhausted", message)
    } else {
        let message =
            "the mean must be in every slot of a row: name context.sum(), without a length, when keys are made";
        exception(py, "MissingGaloisKey", message.to_owned(), |data| data.set_item("elements", missing))
    })
}
