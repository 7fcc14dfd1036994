//! Encrypted arrays out of bytes and files, and back into bytes.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use windlass::schemes::{Ciphertext, ckks};
use windlass::wire::{CiphertextList, Kind as Kinds, NumberKind, WireError};
use windlass::{Error, Result};

use crate::array::{Parts, PyCiphertext};
use crate::array_layout::ArrayLayout;
use crate::either::{map_kind, on_kind};
use crate::error::{of_file, plain};
use crate::numbers::Numbers;
use crate::runtime::quick;
use crate::setting::Setting;

impl PyCiphertext {
    pub fn from_bytes(
        py: Python<'_>,
        setting: &Arc<Setting>,
        parts: &[&[u8]],
        shape: Vec<usize>,
        numbers: Numbers,
        (length, elements, clean, spread): (usize, bool, bool, bool),
    ) -> PyResult<Self> {
        let malformed = |what: &str| plain(py, "FileError", format!("malformed ciphertext: {what}"));
        let layout = ArrayLayout::with_vectors(shape, length).ok_or_else(|| malformed("shape"))?;
        if layout.rows.checked_mul(layout.chunks(setting.slots())) != Some(parts.len()) {
            return Err(malformed("number of parts"));
        }
        if (elements && !setting.is_exact())
            || setting.is_exact() != matches!(numbers, Numbers::Signed | Numbers::Unsigned)
        {
            return Err(malformed("dtype"));
        }
        let parts = quick(py, || read_parts(setting, parts))?;
        if spread && (length != 1 || elements || clean) {
            return Err(malformed("flags"));
        }
        Ok(Self { spread, ..Self::fresh(setting, parts, layout, numbers, (elements, clean)) })
    }

    pub fn load(py: Python<'_>, setting: &Arc<Setting>, path: PathBuf) -> PyResult<Self> {
        let read = quick(py, || {
            Ok(map_kind!(&setting.kind, context => whole(context.load(&path), || context.load(&path))?).with_common())
        });
        let (found, parts) = read.map_err(|error| of_file(py, error, &path))?;
        let (shape, kind) = found.unwrap_or(([1, setting.slots() as u64], NumberKind::Elements));
        let numbers = match (kind, setting.is_exact()) {
            (NumberKind::Unsigned, true) => Numbers::Unsigned,
            (NumberKind::Complex, false) => Numbers::Complex,
            (_, true) => Numbers::Signed,
            (_, false) => Numbers::Real,
        };
        let [rows, length] = shape.map(|size| size as usize);
        let layout = if rows == 1 { ArrayLayout::of_shape(&[length]) } else { ArrayLayout::of_shape(&[rows, length]) };
        if layout.rows * layout.chunks(setting.slots()) != parts.len() {
            return Err(plain(
                py,
                "FileError",
                format!("{}: malformed list of ciphertexts: its shape", path.display()),
            ));
        }
        // Beyond the entries of a fresh encryption there are zeros. Of others nothing is known but
        // what CKKS ciphertexts say themselves.
        let clean = length.is_multiple_of(setting.slots()) || parts.are_fresh();
        Ok(Self::fresh(setting, parts, layout, numbers, (false, clean)))
    }

    /// What files of arrays say the numbers are.
    pub fn number_kind(&self) -> NumberKind {
        match self.numbers {
            Numbers::Signed => NumberKind::Signed,
            Numbers::Unsigned => NumberKind::Unsigned,
            Numbers::Real => NumberKind::Real,
            Numbers::Complex => NumberKind::Complex,
        }
    }

    /// Each ciphertext in the bytes of its file.
    pub fn to_bytes(&self) -> Result<Vec<Vec<u8>>> {
        on_kind!((&self.setting.kind, &*self.parts), (context, list) => {
            list.iter().map(|ct| context.to_bytes(ct)).collect()
        })
    }
}

/// What a file of an array states about it, and its ciphertexts.
type Found<C> = (Option<([u64; 2], NumberKind)>, Vec<C>);

/// The list in a file, or the one ciphertext.
fn whole<C: Clone>(list: Result<CiphertextList<C>>, single: impl FnOnce() -> Result<C>) -> Result<Found<C>>
where
    CiphertextList<C>: Listed<C>,
{
    match list {
        Ok(list) => Ok((Some(list.description()), list.ciphertexts())),
        Err(Error::Wire(WireError::WrongKind {
            found: Some(Kinds::Ciphertext | Kinds::ApproximateCiphertext),
            ..
        })) => Ok((None, vec![single()?])),
        Err(error) => Err(error),
    }
}

/// What is taken from a list of ciphertexts of either scheme.
trait Listed<C> {
    fn description(&self) -> ([u64; 2], NumberKind);
    fn ciphertexts(self) -> Vec<C>;
}

impl Listed<Ciphertext> for CiphertextList<Ciphertext> {
    fn description(&self) -> ([u64; 2], NumberKind) {
        (self.shape(), self.numbers())
    }

    fn ciphertexts(self) -> Vec<Ciphertext> {
        self.into_ciphertexts()
    }
}

impl Listed<ckks::Ciphertext> for CiphertextList<ckks::Ciphertext> {
    fn description(&self) -> ([u64; 2], NumberKind) {
        (self.shape(), self.numbers())
    }

    fn ciphertexts(self) -> Vec<ckks::Ciphertext> {
        self.into_ciphertexts()
    }
}

fn read_parts(setting: &Setting, parts: &[&[u8]]) -> Result<Parts> {
    Ok(map_kind!(&setting.kind, context => {
        parts.iter().map(|bytes| context.from_bytes(bytes)).collect::<Result<_>>()?
    }))
}
