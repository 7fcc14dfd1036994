//! NumPy arrays as the numbers of a scheme, checked; and back.

use num_complex::Complex64;
use numpy::{PyArray1, PyArrayDescrMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use windlass::ring::kernels::arith;

use crate::array_layout::{ArrayLayout, in_words};
use crate::error::{exception, plain};
use crate::memory::check_memory;
use crate::sparse::dense;

/// What the numbers of an encrypted array are: the dtype that decryption gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// Integers in (−q/2, q/2], q the plaintext modulus: int64.
    Signed,
    /// Integers in [0, q): uint64.
    Unsigned,
    /// Real numbers: float64.
    Real,
    /// Complex numbers: complex128.
    Complex,
}

impl Numbers {
    /// The name of the dtype.
    pub fn dtype(self) -> &'static str {
        match self {
            Self::Signed => "int64",
            Self::Unsigned => "uint64",
            Self::Real => "float64",
            Self::Complex => "complex128",
        }
    }

    /// The numbers of a dtype of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Signed, Self::Unsigned, Self::Real, Self::Complex].into_iter().find(|numbers| numbers.dtype() == name)
    }

    /// The numbers of a result of both.
    pub fn joined(self, other: Self) -> Self {
        match (self, other) {
            (Self::Complex, _) | (_, Self::Complex) => Self::Complex,
            (Self::Real, _) | (_, Self::Real) => Self::Real,
            (Self::Unsigned, Self::Unsigned) => Self::Unsigned,
            _ => Self::Signed,
        }
    }
}

/// An array of numbers in row-major order, borrowed from NumPy where it has that form already.
pub enum Values<'py> {
    /// int64.
    Signed(PyReadonlyArrayDyn<'py, i64>),
    /// uint64.
    Unsigned(PyReadonlyArrayDyn<'py, u64>),
    /// float64.
    Real(PyReadonlyArrayDyn<'py, f64>),
    /// complex128.
    Complex(PyReadonlyArrayDyn<'py, Complex64>),
}

/// The same without the interpreter.
#[derive(Clone, Copy)]
pub enum Slice<'a> {
    /// int64.
    Signed(&'a [i64]),
    /// uint64.
    Unsigned(&'a [u64]),
    /// float64.
    Real(&'a [f64]),
    /// complex128.
    Complex(&'a [Complex64]),
}

impl Slice<'_> {
    /// A real or complex number of the array; integers are none.
    pub fn complex(&self, at: usize) -> Complex64 {
        match self {
            Self::Real(list) => Complex64::new(list[at], 0.0),
            Self::Complex(list) => list[at],
            Self::Signed(_) | Self::Unsigned(_) => unreachable!("real and complex numbers were asked for"),
        }
    }
}

static NUMPY: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// The module numpy.
pub fn numpy(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    Ok(NUMPY.get_or_try_init(py, || PyModule::import(py, "numpy").map(Bound::unbind))?.bind(py))
}

fn dtype_error(py: Python<'_>, message: String) -> PyErr {
    plain(py, "DTypeError", message)
}

/// The array in row-major order with elements of this type; the same array if it is so already.
fn converted<'py>(array: &Bound<'py, PyAny>, dtype: &str) -> PyResult<Bound<'py, PyAny>> {
    numpy(array.py())?.getattr("require")?.call1((array, dtype, ["C", "A"]))
}

/// Anything that NumPy makes an array of. Integers for exact contexts, numbers of any kind for
/// approximate ones.
pub fn values<'py>(given: &Bound<'py, PyAny>, exact: bool) -> PyResult<Values<'py>> {
    let py = given.py();
    // What is right already takes no detour. Masked arrays are arrays too, and are refused below.
    if !given.is_exact_instance_of::<PyUntypedArray>() {
        // Conversions follow.
    } else if exact {
        if let Ok(array) = given.extract::<PyReadonlyArrayDyn<'py, i64>>()
            && array.is_c_contiguous()
            && array.as_slice().is_ok()
        {
            return Ok(Values::Signed(array));
        }
    } else if let Ok(array) = given.extract::<PyReadonlyArrayDyn<'py, f64>>()
        && array.is_c_contiguous()
        && array.as_slice().is_ok()
    {
        return Ok(Values::Real(array));
    }
    let given = &dense(given)?;
    if PyModule::import(py, "numpy.ma")?.getattr("isMaskedArray")?.call1((given,))?.is_truthy()? {
        return Err(dtype_error(py, "a masked array: fill the masked numbers, as in x.filled(0)".into()));
    }
    if let Ok(length) = given.len() {
        check_memory(py, "the numbers of the array", (length as u64).saturating_mul(8))?;
    }
    let array = numpy(py)?.getattr("asarray")?.call1((given,))?;
    let untyped = array.cast::<PyUntypedArray>().map_err(PyErr::from)?;
    let name = untyped.dtype().to_string();
    if untyped.shape().contains(&0) {
        let message = format!("an array of shape {} has no numbers", in_words(untyped.shape()));
        return Err(plain(py, "ShapeError", message));
    }
    let count = untyped.shape().iter().fold(1u64, |product, &dim| product.saturating_mul(dim as u64));
    let read = |dtype: &str| {
        check_memory(py, "the numbers of the array", count.saturating_mul(if dtype == "complex128" { 16 } else { 8 }))?;
        converted(&array, dtype)
    };
    Ok(match (untyped.dtype().kind(), exact) {
        (b'b' | b'i', true) => Values::Signed(read("int64")?.extract()?),
        (b'u', true) => Values::Unsigned(read("uint64")?.extract()?),
        (b'b' | b'i' | b'u' | b'f', false) => Values::Real(read("float64")?.extract()?),
        (b'c', false) => Values::Complex(read("complex128")?.extract()?),
        (b'f', true) => {
            return Err(dtype_error(py, format!(
                "{name}, but the context computes with integers: round first, as in np.rint(x * 100).astype(int), or use wl.Context.approximate(...), which computes with real numbers"
            )));
        }
        (b'c', true) => return Err(dtype_error(py, format!("{name}, but the context computes with integers: use wl.Context.approximate(...)"))),
        (b'O', _) => return Err(dtype_error(py, "an array of Python objects (dtype object): integers beyond 64 bits, rows of different lengths or a mixture; give an array of numbers".into())),
        _ => return Err(dtype_error(py, format!("dtype {name}: an array of numbers is expected"))),
    })
}

impl Values<'_> {
    /// Refuses numbers above a stated bound.
    pub fn check_bound(&self, py: Python<'_>, bound: f64) -> PyResult<()> {
        if !(bound.is_finite() && bound > 0.0) {
            let message = format!("the bound on absolute values is {bound}, but must be a positive finite number");
            return Err(plain(py, "ParameterError", message));
        }
        let above = match self.slice()? {
            Slice::Real(list) => list.iter().position(|x| x.abs() > bound).map(|at| (at, list[at].to_string())),
            Slice::Complex(list) => list.iter().position(|z| z.norm() > bound).map(|at| (at, list[at].to_string())),
            _ => None,
        };
        above.map_or(Ok(()), |(index, value)| {
            let place = position(index, self.shape());
            let message = format!(
                "encrypt: the value {value} at {place} is above the bound {bound}: state a larger bound (encrypt(x, bound=...)), which must not depend on the values"
            );
            Err(exception(py, "ValueRangeError", message, |data| {
                data.set_item("index", index)?;
                data.set_item("value", value)
            }))
        })
    }

    /// The shape.
    pub fn shape(&self) -> &[usize] {
        match self {
            Self::Signed(array) => array.shape(),
            Self::Unsigned(array) => array.shape(),
            Self::Real(array) => array.shape(),
            Self::Complex(array) => array.shape(),
        }
    }

    /// What they are.
    pub fn numbers(&self) -> Numbers {
        match self {
            Self::Signed(_) => Numbers::Signed,
            Self::Unsigned(_) => Numbers::Unsigned,
            Self::Real(_) => Numbers::Real,
            Self::Complex(_) => Numbers::Complex,
        }
    }

    /// All of them, row by row.
    pub fn slice(&self) -> PyResult<Slice<'_>> {
        Ok(match self {
            Self::Signed(array) => Slice::Signed(array.as_slice()?),
            Self::Unsigned(array) => Slice::Unsigned(array.as_slice()?),
            Self::Real(array) => Slice::Real(array.as_slice()?),
            Self::Complex(array) => Slice::Complex(array.as_slice()?),
        })
    }

    /// Refuses numbers that the plaintext space does not have: integers outside its range, NaN and
    /// infinities. `modulus` is that of exact contexts.
    pub fn check(&self, py: Python<'_>, what: &str, modulus: Option<u64>) -> PyResult<()> {
        let refuse = |index: usize, value: String, range: String| {
            let place = position(index, self.shape());
            exception(py, "ValueRangeError", format!("{what}: the value {value} at {place} is {range}"), |data| {
                data.set_item("index", index)?;
                data.set_item("value", value.clone())
            })
        };
        let not_finite = || "not a finite number".to_owned();
        match (self.slice()?, modulus) {
            (Slice::Signed(values), Some(q)) => {
                let (low, high) = signed_range(q);
                let outside = values.iter().position(|&x| x < low || x > high);
                outside.map_or(Ok(()), |index| Err(refuse(index, values[index].to_string(), format!(
                    "outside [{low}, {high}], the signed integers modulo {q}: reduce it, choose a larger modulus, or give unsigned integers (dtype uint64), which lie in [0, {}]", q - 1
                ))))
            }
            (Slice::Unsigned(values), Some(q)) => {
                let outside = values.iter().position(|&x| x >= q);
                outside.map_or(Ok(()), |index| {
                    Err(refuse(
                        index,
                        values[index].to_string(),
                        format!(
                            "outside [0, {}], the unsigned integers modulo {q}: reduce it, or choose a larger modulus",
                            q - 1
                        ),
                    ))
                })
            }
            (Slice::Real(values), _) => {
                let bad = values.iter().position(|x| !x.is_finite());
                bad.map_or(Ok(()), |index| Err(refuse(index, values[index].to_string(), not_finite())))
            }
            (Slice::Complex(values), _) => {
                let bad = values.iter().position(|x| !x.is_finite());
                bad.map_or(Ok(()), |index| Err(refuse(index, values[index].to_string(), not_finite())))
            }
            _ => Ok(()),
        }
    }
}

/// The least and greatest of the integers modulo q that lie around 0.
pub fn signed_range(q: u64) -> (i64, i64) {
    (-(((q - 1) / 2) as i64), (q / 2) as i64)
}

/// An index of a flat array in Python's notation.
fn position(index: usize, shape: &[usize]) -> String {
    if shape.len() < 2 {
        return format!("index {index}");
    }
    let mut rest = index;
    let mut parts: Vec<String> = shape
        .iter()
        .rev()
        .map(|&size| {
            let part = rest % size.max(1);
            rest /= size.max(1);
            part.to_string()
        })
        .collect();
    parts.reverse();
    format!("index ({})", parts.join(", "))
}

/// Integers of any size below 2^63, in one dimension.
pub fn integers(given: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<i64>> {
    let array = values(given, true)?;
    if array.shape().len() != 1 {
        let message =
            format!("{what}: a list of integers is expected, not an array of shape {}", in_words(array.shape()));
        return Err(plain(given.py(), "ShapeError", message));
    }
    Ok(match array.slice()? {
        Slice::Signed(list) => list.to_vec(),
        Slice::Unsigned(list) => {
            if let Some(index) = list.iter().position(|&x| x > i64::MAX as u64) {
                let message = format!("{what}: the value {} at index {index} is not below 2^63", list[index]);
                return Err(exception(given.py(), "ValueRangeError", message, |data| data.set_item("index", index)));
            }
            list.iter().map(|&x| x as i64).collect()
        }
        _ => unreachable!("integers were asked for"),
    })
}

/// A residue modulo q as the integer around 0.
fn centred(residue: u64, q: u64) -> i64 {
    if residue > q / 2 { residue as i64 - q as i64 } else { residue as i64 }
}

/// Residues as an array of the numbers' dtype.
pub fn integers_to_numpy<'py>(
    py: Python<'py>,
    residues: Vec<u64>,
    q: u64,
    numbers: Numbers,
    dims: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    match numbers {
        Numbers::Unsigned => shaped(PyArray1::from_vec(py, residues).into_any(), dims),
        _ => {
            let signed: Vec<i64> = residues.into_iter().map(|x| centred(x, q)).collect();
            shaped(PyArray1::from_vec(py, signed).into_any(), dims)
        }
    }
}

/// Complex numbers as an array of the numbers' dtype.
pub fn complex_to_numpy<'py>(
    py: Python<'py>,
    values: Vec<Complex64>,
    numbers: Numbers,
    dims: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    match numbers {
        Numbers::Complex => shaped(PyArray1::from_vec(py, values).into_any(), dims),
        _ => {
            let real: Vec<f64> = values.into_iter().map(|z| z.re).collect();
            shaped(PyArray1::from_vec(py, real).into_any(), dims)
        }
    }
}

/// The array in this shape; a number where there is no dimension.
fn shaped<'py>(array: Bound<'py, PyAny>, dims: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    match dims {
        [] => array.get_item(0),
        [_] => Ok(array),
        _ => array.call_method1("reshape", (dims.to_vec(),)),
    }
}

/// p and r of a modulus p^r.
pub fn prime_power(py: Python<'_>, modulus: u64) -> PyResult<(u64, u32)> {
    for r in 1..=63u32 {
        let near = (modulus as f64).powf(1.0 / f64::from(r)).round() as u64;
        for p in near.saturating_sub(1)..=near.saturating_add(1) {
            if p >= 2 && p.checked_pow(r) == Some(modulus) && arith::is_prime(p) {
                return Ok((p, r));
            }
        }
    }
    Err(plain(
        py,
        "ParameterError",
        format!(
            "the modulus {modulus} is not a power of a prime: choose a prime such as 65537, or a power such as 2**8"
        ),
    ))
}

/// The layout of an array to be encrypted. Refuses what has no entries.
pub fn layout_of(py: Python<'_>, shape: &[usize]) -> PyResult<ArrayLayout> {
    if shape.contains(&0) {
        return Err(plain(
            py,
            "ShapeError",
            format!("an array of shape {} has no entries: there is nothing to encrypt", in_words(shape)),
        ));
    }
    Ok(ArrayLayout::of_shape(shape))
}
