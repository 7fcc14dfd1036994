//! Names of version 0.2 that others replace: [`Server::refresh_list`] with [`RefreshOptions`],
//! [`Context::open_server`] and [`Server::open_prepared`] with [`Source`].

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use windlass_ring::kernels::Mapping;
use windlass_ring::slots::SlotRing;

use super::context::Context;
use super::family::{Approximate, Exact};
use super::server::Server;
use crate::bootstrap::{BootstrapPlan, Progress, RefreshOptions};
use crate::circuits::SlotTable;
use crate::circuits::linear::{ComplexSlots, LinearPlan};
use crate::error::Result;
use crate::schemes::Ciphertext;
#[cfg(doc)]
use crate::wire::Source;

/// Old names of refreshes. Errors are those of [`Server::refresh_list`].
impl Server {
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

    /// [`Self::refresh_one`] with [`RefreshOptions::observed_by`].
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use refresh_one with RefreshOptions::observed_by")]
    pub fn refresh_with(
        &self,
        a: &Ciphertext,
        observe: impl FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Ciphertext> {
        self.refresh_one(a, RefreshOptions::new().observed_by(observe))
    }

    /// [`Self::refresh_one`] with [`RefreshOptions::with_table`].
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use refresh_one with RefreshOptions::with_table")]
    pub fn refresh_with_table(&self, a: &Ciphertext, table: &SlotTable) -> Result<Ciphertext> {
        self.refresh_one(a, RefreshOptions::new().with_table(table))
    }
}

/// Old names of [`Context::open_server`]. Errors are those of that method.
impl Context {
    /// [`Self::open_server`] of a file.
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use open_server")]
    pub fn map_server(&self, path: impl AsRef<Path>) -> Result<Server> {
        self.open_server(path.as_ref(), &[])
    }

    /// [`Self::open_server`] of a file.
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use open_server")]
    pub fn map_server_with(
        &self,
        path: impl AsRef<Path>,
        bootstrappings: &[(Arc<BootstrapPlan>, &[u8])],
    ) -> Result<Server> {
        self.open_server(path.as_ref(), bootstrappings)
    }

    /// [`Self::open_server`] of bytes.
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use open_server")]
    pub fn server_from_ready_bytes(
        &self,
        ready: &[u8],
        bootstrappings: &[(Arc<BootstrapPlan>, &[u8])],
    ) -> Result<Server> {
        self.open_server(ready, bootstrappings)
    }

    /// [`Self::open_server`] of shared memory.
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use open_server")]
    pub fn share_server(&self, ready: Arc<Mapping>, bootstrappings: &[(Arc<BootstrapPlan>, &[u8])]) -> Result<Server> {
        self.open_server(ready, bootstrappings)
    }
}

/// Old names of [`Context::open_server`]. Errors are those of that method.
impl Context<Approximate> {
    /// [`Self::open_server`] of a file.
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use open_server")]
    pub fn map_server(&self, path: impl AsRef<Path>) -> Result<Server<Approximate>> {
        self.open_server(path.as_ref(), &[])
    }

    /// [`Self::open_server`] of shared memory.
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use open_server")]
    pub fn share_server(&self, ready: Arc<Mapping>) -> Result<Server<Approximate>> {
        self.open_server(ready, &[])
    }

    /// [`Self::open_server`] of bytes.
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use open_server")]
    pub fn server_from_ready_bytes(&self, ready: &[u8]) -> Result<Server<Approximate>> {
        self.open_server(ready, &[])
    }
}

macro_rules! prepared {
    ($family:ty, $representation:ty) => {
        /// Old names of [`Self::open_prepared`]. Errors are those of that method.
        impl Server<$family> {
            /// [`Self::open_prepared`] of a file.
            ///
            /// # Errors
            /// As there.
            #[deprecated(since = "0.3.0", note = "use open_prepared")]
            pub fn map_prepared(&self, plan: &LinearPlan<$representation>, path: impl AsRef<Path>) -> Result<()> {
                self.open_prepared(plan, path.as_ref())
            }

            /// [`Self::open_prepared`] of shared memory.
            ///
            /// # Errors
            /// As there.
            #[deprecated(since = "0.3.0", note = "use open_prepared")]
            pub fn share_prepared(&self, plan: &LinearPlan<$representation>, memory: Arc<Mapping>) -> Result<()> {
                self.open_prepared(plan, memory)
            }

            /// [`Self::open_prepared`] of bytes.
            ///
            /// # Errors
            /// As there.
            #[deprecated(since = "0.3.0", note = "use open_prepared")]
            pub fn prepared_from_bytes(&self, plan: &LinearPlan<$representation>, bytes: &[u8]) -> Result<()> {
                self.open_prepared(plan, bytes)
            }
        }
    };
}

prepared!(Exact, Arc<SlotRing>);
prepared!(Approximate, ComplexSlots);
