//! Operations of BGV and BFV that refresh by themselves: see [`AutoRefresh`].

use std::sync::Arc;

use super::{Ciphertext, Engine};
use crate::error::Error;
use crate::schemes::refresh::{Refresh, Refresher};
use crate::schemes::refreshing::AutoRefresh;

impl Engine {
    /// The same engine, which refreshes operands where the result of an operation would otherwise
    /// be left with too little capacity to be refreshed itself.
    pub fn refreshing_with(self, refresher: Arc<dyn Refresh<Ciphertext>>) -> Self {
        Self { refresher: Some(Refresher(refresher)), ..self }
    }

    /// The same engine without that.
    #[doc(hidden)]
    pub fn plain(&self) -> Self {
        Self { refresher: None, ..self.clone() }
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
        self.capacity(ct)
    }

    fn is_shortage(&self, error: &Error) -> bool {
        matches!(error, Error::CapacityExhausted { .. })
    }
}
