//! Lends memory of Python objects to the library, so that many processes read one copy of keys and
//! constants.

use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// Bytes that are never written to, held by the Python object that they belong to.
pub struct SharedBytes {
    /// Keeps the memory, which `start` points into.
    _owner: Py<PyArray1<u8>>,
    start: usize,
    length: usize,
}

impl SharedBytes {
    /// The bytes of an array, unless they can be written to. The object that owns the memory must
    /// be read-only, not only a view.
    pub fn of(array: &Bound<'_, PyArray1<u8>>) -> Option<Self> {
        let judge = PyModule::import(array.py(), "windlass._memory").and_then(|module| module.getattr("is_fixed"));
        let fixed = judge.and_then(|judge| judge.call1((array,))?.extract::<bool>());
        if !fixed.is_ok_and(|fixed| fixed) || !array.is_contiguous() {
            return None;
        }
        Some(Self { _owner: array.clone().unbind(), start: array.data() as usize, length: array.len() })
    }
}

impl AsRef<[u8]> for SharedBytes {
    #[allow(unsafe_code)]
    fn as_ref(&self) -> &[u8] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: `start` and `length` are those of a contiguous array of bytes that `_owner` keeps
        // alive, and with it the object that owns the memory: `bytes`, a read-only mapping of a
        // file, or a read-only buffer of an object store (`windlass._memory.is_fixed`). Python code
        // cannot write to any of them. On trust remains what mappings of files trust too
        // (`windlass_kernels::Mapping`): that no other process writes to the memory that it shares.
        // One that does changes residues: results are wrong then, and nothing else, since no kernel
        // uses a residue as an index, a length or a condition of a loop.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.length) }
    }
}
