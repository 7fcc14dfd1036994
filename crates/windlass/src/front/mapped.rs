//! Keys and constants in files that are mapped: any number of processes share one copy of them in
//! memory, and none converts or copies anything.
//!
//! Such a file is larger than what [`Server::to_bytes`] gives and opens much faster. It is checked
//! once, when it is opened, and may be removed afterwards; nobody may write to it.

use std::path::Path;
use std::sync::Arc;

use super::context::Context;
use super::family::{Approximate, Exact};
use super::server::Server;
use crate::bootstrap::BootstrapPlan;
use crate::error::Result;
#[cfg(doc)]
use crate::wire;
use crate::wire::ReadyKeys;

/// What servers of exact integers and of approximate numbers do alike.
macro_rules! ready_keys {
    ($family:ty) => {
        impl Server<$family> {
            /// Writes the evaluation keys, ready for use, to a new file that can be mapped
            /// ([`Context::map_server`]), and gives its size in bytes: 16·d·(l + k)·n for each key
            /// of d digits over l + k primes.
            ///
            /// Memory: one MiB. Cost: one pass of SHA-256. Keys of bootstrappings are not in it:
            /// they are small, and [`Server::to_bytes`] gives them.
            ///
            /// # Errors
            /// [`wire::WireError::Io`] when the file is there already or cannot be written; then
            /// nothing is left behind. [`wire::WireError::NoKeyPair`] for a server without any key.
            pub fn save_ready_keys(&self, path: impl AsRef<Path>) -> Result<u64> {
                Ok(self.ready_keys().save(path.as_ref(), self.context().files())?)
            }

            /// The bytes that [`Self::save_ready_keys`] writes.
            ///
            /// # Errors
            /// [`wire::WireError::NoKeyPair`] for a server without any key.
            pub fn ready_keys_to_bytes(&self) -> Result<Vec<u8>> {
                Ok(self.ready_keys().to_bytes(self.context().files())?)
            }

            fn ready_keys(&self) -> ReadyKeys {
                ReadyKeys(Arc::clone(self.engine().keys()))
            }
        }
    };
}

ready_keys!(Exact);
ready_keys!(Approximate);

impl Context {
    /// The server with the keys of a file that [`Server::save_ready_keys`] wrote, used where they
    /// lie: processes that map one file share one copy of it in memory.
    ///
    /// The file is checked once, now: header, checksum, every residue. It may be removed
    /// afterwards, but not written to or cut: a process that reads beyond a new end is killed.
    /// Cost: two passes through the file, over the current threads.
    ///
    /// ```
    /// use windlass::Context;
    /// use windlass::needs::Products;
    ///
    /// let context = Context::preset("insecure_toy_256")?;
    /// let (client, server) = context.generate_keys([&Products])?;
    /// let directory = tempfile::tempdir()?;
    /// server.save_ready_keys(directory.path().join("keys.ready"))?;
    ///
    /// let worker = context.map_server(directory.path().join("keys.ready"))?; // in any process
    /// let x = client.encrypt(&[7])?;
    /// assert_eq!(client.decrypt(&worker.square(&x)?)?[0], 49);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Every [`wire::WireError`], and nothing of the file is used.
    pub fn map_server(&self, path: impl AsRef<Path>) -> Result<Server> {
        self.map_server_with(path, &[])
    }

    /// As [`Self::map_server`], with the keys of bootstrappings in these bytes, in the order of
    /// their plans.
    ///
    /// # Errors
    /// As there.
    pub fn map_server_with(
        &self,
        path: impl AsRef<Path>,
        bootstrappings: &[(Arc<BootstrapPlan>, &[u8])],
    ) -> Result<Server> {
        self.server_from_ready_keys(ReadyKeys::map(path.as_ref(), self.files())?, bootstrappings)
    }

    /// The server with the keys in the bytes of such a file, which are copied.
    ///
    /// # Errors
    /// As [`Self::map_server`].
    pub fn server_from_ready_bytes(
        &self,
        ready: &[u8],
        bootstrappings: &[(Arc<BootstrapPlan>, &[u8])],
    ) -> Result<Server> {
        self.server_from_ready_keys(self.from_bytes(ready)?, bootstrappings)
    }

    fn server_from_ready_keys(
        &self,
        keys: ReadyKeys,
        bootstrappings: &[(Arc<BootstrapPlan>, &[u8])],
    ) -> Result<Server> {
        self.server_from_keys(keys.0, self.bootstrap_keys_from_bytes(bootstrappings)?)
    }
}

impl Context<Approximate> {
    /// As [`Context::<Exact>::map_server`].
    ///
    /// # Errors
    /// As there.
    pub fn map_server(&self, path: impl AsRef<Path>) -> Result<Server<Approximate>> {
        self.server_from_keys(ReadyKeys::map(path.as_ref(), self.files())?.0)
    }

    /// The server with the keys in the bytes of such a file, which are copied.
    ///
    /// # Errors
    /// As [`Self::map_server`].
    pub fn server_from_ready_bytes(&self, ready: &[u8]) -> Result<Server<Approximate>> {
        self.server_from_keys(self.from_bytes::<ReadyKeys>(ready)?.0)
    }
}
