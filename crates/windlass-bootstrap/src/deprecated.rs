//! Names of version 0.2 that [`Bootstrapper::refresh_list`] with [`RefreshOptions`] replaces.

use std::ops::ControlFlow;

use windlass_circuits::SlotTable;
use windlass_schemes::error::Result;
use windlass_schemes::schemes::Ciphertext;

use super::bootstrapper::Bootstrapper;
use super::options::RefreshOptions;
use super::progress::Progress;

/// Old names of refreshes. Errors are those of [`Bootstrapper::refresh_list`].
impl Bootstrapper {
    /// [`Self::refresh_one`] with [`RefreshOptions::observed_by`].
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use refresh_one with RefreshOptions::observed_by")]
    pub fn refresh_with(
        &self,
        ct: &Ciphertext,
        observe: impl FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Ciphertext> {
        self.refresh_one(ct, RefreshOptions::new().observed_by(observe))
    }

    /// [`Self::refresh_one`] with [`RefreshOptions::traced_by`].
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use refresh_one with RefreshOptions::traced_by")]
    pub fn refresh_traced(
        &self,
        ct: &Ciphertext,
        observe: impl FnMut(&Progress, &Ciphertext) -> ControlFlow<()>,
    ) -> Result<Ciphertext> {
        self.refresh_one(ct, RefreshOptions::new().traced_by(observe))
    }

    /// [`Self::refresh_one`] with [`RefreshOptions::with_table`].
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use refresh_one with RefreshOptions::with_table")]
    pub fn refresh_with_table(&self, ct: &Ciphertext, table: &SlotTable) -> Result<Ciphertext> {
        self.refresh_one(ct, RefreshOptions::new().with_table(table))
    }

    /// [`Self::refresh_list`] without options.
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use refresh_list")]
    pub fn refresh_several(&self, list: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        self.refresh_list(list, RefreshOptions::new())
    }

    /// [`Self::refresh_list`] with [`RefreshOptions::observed_by`].
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use refresh_list with RefreshOptions::observed_by")]
    pub fn refresh_several_with(
        &self,
        list: &[Ciphertext],
        observe: impl FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Ciphertext>> {
        self.refresh_list(list, RefreshOptions::new().observed_by(observe))
    }

    /// [`Self::refresh_list`] with [`RefreshOptions::in_one_batch`].
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use refresh_list with RefreshOptions::in_one_batch")]
    pub fn refresh_batch(&self, batch: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        self.refresh_list(batch, RefreshOptions::new().in_one_batch())
    }

    /// [`Self::refresh_list`] with [`RefreshOptions::in_one_batch`] and
    /// [`RefreshOptions::observed_by`].
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use refresh_list with RefreshOptions::in_one_batch and observed_by")]
    pub fn refresh_batch_with(
        &self,
        batch: &[Ciphertext],
        observe: impl FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Ciphertext>> {
        self.refresh_list(batch, RefreshOptions::new().in_one_batch().observed_by(observe))
    }
}
