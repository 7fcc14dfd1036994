//! The interface through which schemes refresh ciphertexts. Bootstrapping implements it.

use std::fmt;
use std::sync::Arc;

use super::ckks::RefreshTerms;
use crate::error::Result;

/// Something that gives a ciphertext new capacity, so that circuits that run out of it refresh
/// automatically.
pub trait Refresh<C>: Send + Sync {
    /// The same message with more capacity.
    fn refresh(&self, ciphertext: &C) -> Result<C>;

    /// As [`Refresh::refresh`] for each of a list, in its order; together where that costs less.
    ///
    /// # Errors
    /// Those of [`Refresh::refresh`].
    fn refresh_all(&self, list: &[C]) -> Result<Vec<C>> {
        list.iter().map(|ciphertext| self.refresh(ciphertext)).collect()
    }

    /// As [`Refresh::refresh_all`] for ciphertexts of CKKS whose slots are real, of which two may take one refresh.
    ///
    /// **Warning.** An imaginary part of a ciphertext is added to another ciphertext, or lost. No error is returned.
    ///
    /// # Errors
    /// Those of [`Refresh::refresh`].
    #[doc(hidden)]
    fn refresh_real_all(&self, list: &[C]) -> Result<Vec<C>> {
        self.refresh_all(list)
    }

    /// What a refresh of a ciphertext of CKKS of so many slots takes and adds, for circuits that refresh between their
    /// steps. `None` if only the refresh itself knows.
    #[doc(hidden)]
    fn terms(&self, _slots: usize) -> Option<RefreshTerms> {
        None
    }

    /// Bits of capacity that may be spent on it before it can no longer be refreshed; infinite if
    /// there is no noise.
    fn headroom_bits(&self, ciphertext: &C) -> f64;

    /// The levels that a refresh itself takes of a ciphertext that has levels (CKKS).
    fn levels(&self) -> usize {
        0
    }

    /// Whether [`Refresh::refresh`] accepts a ciphertext.
    fn accepts(&self, ciphertext: &C) -> bool {
        let bits = self.headroom_bits(ciphertext);
        bits >= 0.0 && bits.is_finite()
    }

    /// The ciphertext as it is if `bits` may be spent on it, otherwise refreshed. A circuit that calls
    /// this before each step never runs out.
    ///
    /// # Errors
    /// Those of [`Refresh::refresh`].
    fn with_headroom_bits(&self, ciphertext: C, bits: f64) -> Result<C> {
        if self.headroom_bits(&ciphertext) < bits { self.refresh(&ciphertext) } else { Ok(ciphertext) }
    }

    /// The old name of [`Refresh::headroom_bits`].
    #[deprecated(since = "0.3.0", note = "use headroom_bits")]
    fn spare_bits(&self, ciphertext: &C) -> f64 {
        self.headroom_bits(ciphertext)
    }

    /// The old name of [`Refresh::with_headroom_bits`].
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use with_headroom_bits")]
    fn with_spare_bits(&self, ciphertext: C, bits: f64) -> Result<C> {
        self.with_headroom_bits(ciphertext, bits)
    }
}

impl<C, R: Refresh<C> + ?Sized> Refresh<C> for Arc<R> {
    fn refresh(&self, ciphertext: &C) -> Result<C> {
        (**self).refresh(ciphertext)
    }

    fn refresh_all(&self, list: &[C]) -> Result<Vec<C>> {
        (**self).refresh_all(list)
    }

    fn refresh_real_all(&self, list: &[C]) -> Result<Vec<C>> {
        (**self).refresh_real_all(list)
    }

    fn terms(&self, slots: usize) -> Option<RefreshTerms> {
        (**self).terms(slots)
    }

    fn headroom_bits(&self, ciphertext: &C) -> f64 {
        (**self).headroom_bits(ciphertext)
    }

    fn levels(&self) -> usize {
        (**self).levels()
    }

    fn accepts(&self, ciphertext: &C) -> bool {
        (**self).accepts(ciphertext)
    }
}

/// What an engine refreshes with.
#[derive(Clone)]
pub(crate) struct Refresher<C>(pub Arc<dyn Refresh<C>>);

impl<C> fmt::Debug for Refresher<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Refresher")
    }
}
