//! Encryption of arrays, with a secret or a public key.

use std::sync::Arc;

use num_complex::Complex64;
use pyo3::prelude::*;
use rayon::prelude::*;
use windlass::rlwe::context::os_rng;
use windlass::schemes::ckks::WideComplex;
use windlass::schemes::{Ciphertext, Encryptor, ckks};
use windlass::{Approximate, Plaintext, Result};

use crate::array::{Parts, PyCiphertext};
use crate::array_layout::ArrayLayout;
use crate::either::Either;
use crate::elementwise::wide_sum;
use crate::error::plain;
use crate::numbers::{Numbers, Slice, Values, layout_of, values};
use crate::progress::Ticker;
use crate::runtime::by_parts;
use crate::setting::{Kind, Setting};

/// Encrypts one ciphertext of integers, with a secret or a public key.
pub trait EncryptsIntegers: Sync {
    /// The ciphertext of a plaintext.
    fn plaintext(&self, plaintext: &Plaintext) -> Result<Ciphertext>;
}

impl EncryptsIntegers for windlass::Client {
    fn plaintext(&self, plaintext: &Plaintext) -> Result<Ciphertext> {
        self.encrypt_plaintext(plaintext)
    }
}

impl EncryptsIntegers for Encryptor {
    fn plaintext(&self, plaintext: &Plaintext) -> Result<Ciphertext> {
        self.encrypt(plaintext, &mut os_rng()?)
    }
}

/// Encrypts one ciphertext of complex numbers, with a secret or a public key.
pub trait EncryptsComplex: Sync {
    /// The ciphertext of values whose absolute values are at most `bound`.
    fn complex(&self, values: &[Complex64], bound: f64) -> Result<ckks::Ciphertext>;

    /// The same for numbers of two doubles.
    fn wide(&self, values: &[WideComplex], bound: f64) -> Result<ckks::Ciphertext>;
}

impl EncryptsComplex for windlass::Client<Approximate> {
    fn complex(&self, values: &[Complex64], bound: f64) -> Result<ckks::Ciphertext> {
        self.encrypt_complex(values, bound)
    }

    fn wide(&self, values: &[WideComplex], bound: f64) -> Result<ckks::Ciphertext> {
        self.encrypt_wide(values, bound)
    }
}

impl EncryptsComplex for ckks::Encryptor {
    fn complex(&self, values: &[Complex64], bound: f64) -> Result<ckks::Ciphertext> {
        self.encrypt_bounded(values, bound, &mut os_rng()?)
    }

    fn wide(&self, values: &[WideComplex], bound: f64) -> Result<ckks::Ciphertext> {
        self.encrypt_wide(values, bound, &mut os_rng()?)
    }
}

/// Who encrypts.
pub type Encrypts<'a> = Either<&'a dyn EncryptsIntegers, &'a dyn EncryptsComplex>;

/// All ciphertexts of an array, in parallel.
fn encrypt_all(
    ticker: &Ticker,
    by: Encrypts<'_>,
    setting: &Setting,
    slice: Slice<'_>,
    layout: &ArrayLayout,
    bound: f64,
    elements: bool,
) -> Result<Parts> {
    let packed = setting.slots();
    let chunks = layout.chunks(packed);
    let degree = if elements { setting.degree() } else { 1 };
    let range = |part: usize| {
        let entries = layout.entries(part % chunks, packed);
        let start = (part / chunks) * layout.length;
        (start + entries.start) * degree..(start + entries.end) * degree
    };
    let count = layout.rows * chunks;
    match (&setting.kind, by) {
        (Kind::Exact(context), Encrypts::Exact(by)) => {
            let one = |part: usize| {
                ticker.check("encrypt")?;
                let range = range(part);
                let ring = context.slot_ring();
                let plaintext = match (slice, elements) {
                    (Slice::Signed(list), false) => Plaintext::from_integers(ring, &list[range]),
                    (Slice::Unsigned(list), false) => Plaintext::from_integers(ring, &list[range]),
                    (Slice::Signed(list), true) => Plaintext::from_slots(ring, &list[range]),
                    (Slice::Unsigned(list), true) => Plaintext::from_slots(ring, &list[range]),
                    _ => unreachable!("exact contexts take integers"),
                }?;
                by.plaintext(&plaintext)
            };
            Ok(Parts::Exact(each_part(count, one)?))
        }
        (Kind::Approximate(_), Encrypts::Approximate(by)) => {
            let one = |part: usize| {
                ticker.check("encrypt")?;
                let range = range(part);
                let mut list = match slice {
                    Slice::Real(list) => ckks::complex(&list[range]),
                    Slice::Complex(list) => list[range].to_vec(),
                    _ => unreachable!("approximate contexts take real and complex numbers"),
                };
                list.resize(packed, Complex64::ZERO);
                // The noise of a decryption by several parties hides the rounding of doubles too, and would leave nothing.
                match setting.rlwe().secret().parties() {
                    1 => by.complex(&list, bound),
                    _ => by.wide(&list.into_iter().map(WideComplex::from).collect::<Vec<_>>(), bound),
                }
            };
            Ok(Parts::Approximate(each_part(count, one)?))
        }
        _ => unreachable!("contexts and keys are of one kind"),
    }
}

/// What `one` makes of every part, in parallel. A single part is made on the caller's thread.
fn each_part<C: Send>(count: usize, one: impl Fn(usize) -> Result<C> + Sync + Send) -> Result<Vec<C>> {
    if count == 1 {
        return Ok(vec![one(0)?]);
    }
    (0..count).into_par_iter().map(one).collect()
}

/// Checks an array and encrypts it.
pub fn encrypt(
    py: Python<'_>,
    by: Encrypts<'_>,
    setting: &Arc<Setting>,
    given: &Bound<'_, PyAny>,
    bound: f64,
    elements: bool,
) -> PyResult<PyCiphertext> {
    let array: Values<'_> = values(given, setting.is_exact())?;
    array.check(py, "encrypt", setting.modulus())?;
    array.check_bound(py, bound)?;
    let mut shape = array.shape();
    if elements {
        let degree = setting.degree();
        let Some((&last, leading)) = shape.split_last().filter(|_| shape.len() > 1) else {
            return Err(plain(py, "ShapeError", "elements=True takes arrays of shape (..., slots, d)"));
        };
        if last != degree || !setting.is_exact() {
            let message = format!(
                "elements=True: the last dimension is {last}, but must be {degree}, the number of coefficients of a slot"
            );
            return Err(plain(py, "ShapeError", message));
        }
        shape = leading;
    }
    let layout = layout_of(py, shape)?;
    let needed = (layout.rows * layout.chunks(setting.slots())) as u64;
    let each = setting.sizes().ciphertext_memory;
    if needed > 1 {
        crate::memory::check_memory(py, "the ciphertexts", needed.saturating_mul(each))?;
    }
    let slice = array.slice()?;
    let parts =
        by_parts(py, needed as usize, |ticker| encrypt_all(ticker, by, setting, slice, &layout, bound, elements))?;
    Ok(PyCiphertext::fresh(setting, parts, layout, array.numbers(), (elements, true)))
}

/// Checks two arrays and encrypts their sum, which has more bits than either.
pub fn encrypt_wide(
    py: Python<'_>,
    by: &dyn EncryptsComplex,
    setting: &Arc<Setting>,
    [high, low]: [&Bound<'_, PyAny>; 2],
    bound: f64,
) -> PyResult<PyCiphertext> {
    let [high, low] = [values(high, false)?, values(low, false)?];
    for array in [&high, &low] {
        array.check(py, "encrypt", None)?;
        array.check_bound(py, bound)?;
    }
    if high.shape() != low.shape() {
        let message = format!("encrypt: high has the shape {:?}, but low has {:?}", high.shape(), low.shape());
        return Err(plain(py, "ShapeError", message));
    }
    let layout = layout_of(py, high.shape())?;
    let packed = setting.slots();
    let chunks = layout.chunks(packed);
    let count = layout.rows * chunks;
    if count > 1 {
        let needed = (count as u64).saturating_mul(setting.sizes().ciphertext_memory);
        crate::memory::check_memory(py, "the ciphertexts", needed)?;
    }
    let is_complex = [&high, &low].iter().any(|array| array.numbers() == Numbers::Complex);
    let numbers = if is_complex { Numbers::Complex } else { Numbers::Real };
    let [high, low] = [high.slice()?, low.slice()?];
    let parts = by_parts(py, count, |ticker| {
        let one = |part: usize| {
            ticker.check("encrypt")?;
            let (entries, start) = (layout.entries(part % chunks, packed), part / chunks * layout.length);
            let range = start + entries.start..start + entries.end;
            let mut list: Vec<WideComplex> = range.map(|at| wide_sum(high.complex(at), low.complex(at))).collect();
            list.resize(packed, WideComplex::default());
            by.wide(&list, bound)
        };
        each_part(count, one)
    })?;
    Ok(PyCiphertext::fresh(setting, Parts::Approximate(parts), layout, numbers, (false, true)))
}
