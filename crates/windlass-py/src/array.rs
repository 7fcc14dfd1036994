//! Encrypted arrays.

use std::sync::Arc;

use pyo3::prelude::*;
use windlass::schemes::{Ciphertext, ckks};

use crate::array_layout::ArrayLayout;
use crate::either::{Either, map_kind, on_kind};
use crate::error::plain;
use crate::handle::{Handle, ServerKind};
use crate::memory::check_memory;
use crate::numbers::Numbers;
use crate::setting::Setting;

/// Ciphertexts of one scheme, row by row.
pub type Parts = Either<Vec<Ciphertext>, Vec<ckks::Ciphertext>>;

impl Parts {
    pub fn len(&self) -> usize {
        on_kind!(self, list => list.len())
    }

    pub fn bytes(&self) -> usize {
        on_kind!(self, list => list.iter().map(|ct| ct.bytes()).sum())
    }

    /// Those of some rows.
    pub fn rows(&self, chunks: usize, rows: &[usize]) -> Self {
        let places = rows.iter().flat_map(|row| row * chunks..(row + 1) * chunks);
        map_kind!(self, list => places.map(|place| list[place].clone()).collect())
    }
}

impl Parts {
    /// The same ciphertexts as those of an array. CKKS: each ciphertext states which slots hold
    /// entries. The other slots hold zeros if the array is clean, and polynomials keep them inside
    /// their interval.
    fn of(self, layout: &ArrayLayout, slots: usize, clean: bool) -> Self {
        let Self::Approximate(list) = self else { return self };
        let chunks = layout.chunks(slots);
        let declared = list.into_iter().enumerate().map(|(part, ct)| {
            let entries = layout.entries(part % chunks, slots).len();
            if clean { ct.with_zeros_beside(entries) } else { ct.with_entries(entries) }
        });
        Self::Approximate(declared.collect())
    }

    /// Whether all of them are fresh encryptions, which keep their seed.
    pub fn are_fresh(&self) -> bool {
        on_kind!(self, list => list.iter().all(|ct| ct.seed().is_some()))
    }

    /// Whether all slots beside the entries are known to hold zeros.
    fn are_clean(&self) -> bool {
        match self {
            Self::Exact(_) => false,
            Self::Approximate(list) => list.iter().all(|ct| ct.rest_magnitude() == 0.0),
        }
    }
}

/// An encrypted array.
///
/// Made by :meth:`Client.encrypt`. When it is bound to a server (:meth:`Server.receive`), it
/// supports the operations of NumPy arrays: ``+ - *`` with ciphertexts, arrays and numbers, ``**``
/// with a positive integer, ``@``, ``x.sum()``, ``x.roll(k)``, ``x.refresh()`` and indexing of
/// rows.
///
/// **Warning.** In contexts of integers all operations are modulo the plaintext modulus. A result
/// that is too large wraps around without an error.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> context = wl.Context.preset("insecure_toy_256")
/// >>> client, server = context.generate_keys(context.products())
/// >>> x = server.receive(client.encrypt([1, 2, 3]))
/// >>> client.decrypt(x * x - 2 * x + [10, 20, 30])
/// array([ 9, 20, 33])
#[pyclass(frozen, weakref, name = "Ciphertext", module = "windlass")]
pub struct PyCiphertext {
    pub setting: Arc<Setting>,
    pub parts: Arc<Parts>,
    pub layout: ArrayLayout,
    pub numbers: Numbers,
    /// Whether entries are elements of slots of higher degree, d coefficients each.
    pub elements: bool,
    /// Whether slots beyond the entries hold zeros.
    pub clean: bool,
    /// Whether each ciphertext holds one entry in every slot, as a sum over all slots does. Such an
    /// entry can be combined with a whole row.
    pub spread: bool,
    pub server: Option<Arc<Handle>>,
}

impl PyCiphertext {
    /// A fresh encryption, or a ciphertext that was read. `clean` says that all slots beside the
    /// entries hold zeros.
    pub fn fresh(
        setting: &Arc<Setting>,
        parts: Parts,
        layout: ArrayLayout,
        numbers: Numbers,
        (elements, clean): (bool, bool),
    ) -> Self {
        let parts = Arc::new(parts.of(&layout, setting.slots(), clean));
        let clean = clean || parts.are_clean();
        let setting = Arc::clone(setting);
        Self { setting, parts, layout, numbers, elements, clean, spread: false, server: None }
    }

    /// What was computed from this one. It is clean, too, if bounds show it or the entries fill
    /// their ciphertexts.
    pub fn result(&self, parts: Parts, layout: ArrayLayout, numbers: Numbers, clean: bool) -> Self {
        let (setting, server) = (Arc::clone(&self.setting), self.server.clone());
        let parts = Arc::new(parts.of(&layout, setting.slots(), clean));
        let clean = clean || parts.are_clean() || layout.length.is_multiple_of(setting.slots());
        Self { setting, parts, layout, numbers, elements: self.elements, clean, spread: false, server }
    }

    /// The same array, whose ciphertexts hold their entry in every slot if `spread`: not zeros, then.
    pub fn with_spread(self, spread: bool) -> Self {
        Self { spread, clean: self.clean && !spread, ..self }
    }

    /// The same ciphertext with a server.
    pub fn bound_to(&self, server: &Arc<Handle>) -> Self {
        Self { server: Some(Arc::clone(server)), ..self.copied() }
    }

    /// The same array.
    pub fn copied(&self) -> Self {
        let (setting, parts) = (Arc::clone(&self.setting), Arc::clone(&self.parts));
        Self { setting, parts, layout: self.layout.clone(), server: self.server.clone(), ..*self }
    }

    /// Ciphertexts of a row.
    pub fn chunks(&self) -> usize {
        self.layout.chunks(self.setting.slots())
    }

    pub fn check_context(&self, py: Python<'_>, setting: &Arc<Setting>, operation: &str) -> PyResult<()> {
        if Arc::ptr_eq(&self.setting, setting) || self.setting.same(setting) {
            return Ok(());
        }
        let message = format!(
            "{operation}: the ciphertext belongs to another context ({}, not {}); use one context for both",
            self.setting.in_words(),
            setting.in_words()
        );
        Err(plain(py, "OtherContext", message))
    }

    /// The server that computes. Refuses an array of many ciphertexts if the system has no memory
    /// for another such array.
    pub fn server(&self, py: Python<'_>) -> PyResult<Arc<ServerKind>> {
        let message =
            "this ciphertext is not bound to a server, which holds the keys: call x = server.receive(x) first";
        if self.parts.len() > 8 {
            check_memory(py, "the ciphertexts of the result", self.parts.bytes() as u64)?;
        }
        self.server.as_ref().ok_or_else(|| plain(py, "NotBound", message))?.open(py)
    }
}
