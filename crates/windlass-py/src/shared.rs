//! Memory of Python objects as memory of the library's: keys and constants that many processes read
//! at one place.

use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// Bytes that nobody writes to, held by the Python object that they belong to.
pub struct SharedBytes {
    /// Keeps the memory, which `start` points into.
    _owner: Py<PyArray1<u8>>,
    start: usize,
    length: usize,
}

impl SharedBytes {
    /// The bytes of an array, unless somebody may write to them.
    pub fn of(array: &Bound<'_, PyArray1<u8>>) -> Option<Self> {
        let writeable = array.getattr("flags").and_then(|flags| flags.getattr("writeable"));
        let fixed = writeable.and_then(|flag| flag.extract::<bool>()).is_ok_and(|writeable| !writeable);
        if !fixed || !array.is_contiguous() {
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
        // alive, and with it the buffer that it views. The array is marked as not writeable; arrays
        // and buffers of which Python says so are not written to by Python code. Whoever does so
        // all the same, from another process that shares the memory, changes residues: results are
        // wrong then, and nothing else, since no kernel uses a residue as an index, a length or a
        // condition of a loop.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.length) }
    }
}
