//! Operations of CKKS that refresh by themselves: see [`AutoRefresh`].

use std::borrow::Cow;
use std::sync::Arc;

use super::ciphertext::Ciphertext;
use super::engine::Engine;
use super::refresh_terms::RefreshTerms;
use crate::error::{Error, Result};
use crate::schemes::refresh::{Refresh, Refresher};
use crate::schemes::refreshing::AutoRefresh;

impl Engine {
    /// The same engine, which refreshes operands where an operation has no level left.
    pub fn refreshing_with(self, refresher: Arc<dyn Refresh<Ciphertext>>) -> Self {
        Self { refresher: Some(Refresher(refresher)), ..self }
    }

    /// The same engine without that.
    #[doc(hidden)]
    pub fn plain(&self) -> Self {
        Self { refresher: None, ..self.clone() }
    }

    /// The levels that are kept for the next refresh.
    fn kept(&self) -> usize {
        AutoRefresh::refresher(self).map_or(0, Refresh::levels)
    }

    /// The rescalings that a fresh ciphertext has room for, with what a refresh takes kept for it.
    pub(super) fn reach(&self) -> usize {
        self.context.spec().depth.saturating_sub(self.kept())
    }

    /// The products in sequence that a ciphertext has room for, likewise.
    pub(super) fn products_before_refresh(&self, ct: &Ciphertext) -> usize {
        ct.products_left().saturating_sub(self.kept())
    }

    /// Whether a ciphertext is refreshed before so many products: it lacks levels for them, or only those
    /// that are kept, and the refresh accepts it.
    fn calls_for_refresh(&self, ct: &Ciphertext, products: usize) -> bool {
        let Some(refresher) = AutoRefresh::refresher(self) else { return false };
        let bits = refresher.headroom_bits(ct);
        let lacks_all = ct.products_left() < products && bits >= 0.0 && bits.is_finite();
        self.products_before_refresh(ct) < products && (lacks_all || refresher.accepts(ct))
    }

    /// A factor with so many products in sequence left, beside the levels that the next refresh takes. One
    /// with fewer is refreshed, if the engine refreshes. If the refresh does not accept it, it stays as it is
    /// where its levels suffice without those.
    ///
    /// # Errors
    /// As [`Self::at_least`].
    pub(super) fn with_depth<'a>(&self, ct: &'a Ciphertext, products: usize) -> Result<Cow<'a, Ciphertext>> {
        match self.calls_for_refresh(ct, products) {
            true => self.at_least(ct, self.context.top_level()),
            false => Ok(Cow::Borrowed(ct)),
        }
    }

    /// Whether the engine refreshes, and a refreshed ciphertext has room for so many products in sequence.
    #[doc(hidden)]
    pub fn refreshes_for(&self, products: usize) -> bool {
        AutoRefresh::refresher(self).is_some() && products <= self.reach()
    }

    /// A ciphertext with room for so many products in sequence: as it is, or refreshed.
    ///
    /// # Errors
    /// Those of the refresh; [`Error::ContextMismatch`].
    #[doc(hidden)]
    pub fn ready_for<'a>(&self, ct: &'a Ciphertext, products: usize) -> Result<Cow<'a, Ciphertext>> {
        self.with_depth(ct, products)
    }

    /// What a refresh of a ciphertext of so many slots takes and adds, if the engine refreshes and knows it.
    #[doc(hidden)]
    pub fn refresh_terms(&self, slots: usize) -> Option<RefreshTerms> {
        AutoRefresh::refresher(self).and_then(|refresher| refresher.terms(slots))
    }

    /// Each ciphertext refreshed, whatever numbers it holds.
    ///
    /// # Errors
    /// As [`Self::refresh_real_all`].
    #[doc(hidden)]
    pub fn refresh_all(&self, list: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        AutoRefresh::refresher(self).ok_or(Error::MissingBootstrappingKeys)?.refresh_all(list)
    }

    /// Each ciphertext refreshed. All must hold real numbers, a single one too.
    ///
    /// **Warning.** An imaginary part is added to another ciphertext, or lost. No error is returned.
    ///
    /// # Errors
    /// Those of the refresh; [`Error::MissingBootstrappingKeys`] if the engine does not refresh.
    #[doc(hidden)]
    pub fn refresh_real_all(&self, list: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        AutoRefresh::refresher(self).ok_or(Error::MissingBootstrappingKeys)?.refresh_real_all(list)
    }

    /// A ciphertext at a level or above. One below is refreshed, if the engine refreshes.
    ///
    /// # Errors
    /// Those of the refresh; [`Error::ContextMismatch`].
    #[doc(hidden)]
    pub fn at_least<'a>(&self, ct: &'a Ciphertext, level: usize) -> Result<Cow<'a, Ciphertext>> {
        self.check("refresh", ct)?;
        match AutoRefresh::refresher(self) {
            Some(refresher) if self.rescaled_level(ct).is_ok_and(|own| own < level) => {
                Ok(self.refreshed_if_better(refresher, ct)?.map_or(Cow::Borrowed(ct), Cow::Owned))
            }
            _ => Ok(Cow::Borrowed(ct)),
        }
    }

    /// The level at which a factor of a product is that takes so many rescalings: its own once it is
    /// rescaled, or that of a refreshed one if it has too few left and the engine refreshes.
    ///
    /// # Errors
    /// As [`Self::rescale`].
    #[doc(hidden)]
    pub fn level_with_depth(&self, ct: &Ciphertext, rescalings: usize) -> Result<usize> {
        match self.calls_for_refresh(ct, rescalings) {
            true => Ok(self.context.top_level()),
            false => self.rescaled_level(ct),
        }
    }
}

impl AutoRefresh for Engine {
    fn refresher(&self) -> Option<&dyn Refresh<Ciphertext>> {
        self.refresher.as_ref().map(|own| &*own.0)
    }

    fn without_refreshes(&self) -> Self {
        self.plain()
    }

    fn bits_left(&self, ct: &Ciphertext) -> f64 {
        ct.headroom_bits()
    }

    /// Also if values would fit at the highest level: every level below has less room for them.
    fn is_shortage(&self, error: &Error) -> bool {
        match error {
            Error::LevelsExhausted { .. } | Error::StepTooDeep { .. } => true,
            Error::ModulusExhausted { needed_bits, .. } => *needed_bits < self.context.room(self.context.top_level()),
            _ => false,
        }
    }
}
