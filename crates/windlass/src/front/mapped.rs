//! Keys and constants in memory-mapped files.
//!
//! A mapped file holds keys or constants in the form in which they are used. Any number of
//! processes share one copy of it in memory, and none of them converts or copies anything. Such a
//! file is two to three times as large as the output of [`Server::to_bytes`], but a server opens it
//! faster and allocates no memory for it. The file is checked once, when it is opened. It may be
//! removed afterwards.
//!
//! **Warning.** No process may write to a mapped file or truncate it.

use std::path::Path;
use std::sync::Arc;

use windlass_ring::slots::SlotRing;

use super::context::Context;
use super::family::{Approximate, Exact, Family};
use super::server::Server;
use crate::bootstrap::BootstrapPlan;
use crate::bootstrap::approximate::RefreshPlan;
use crate::circuits::linear::{ComplexSlots, LinearPlan};
use crate::error::Result;
#[cfg(doc)]
use crate::wire;
use crate::wire::{FileContext, PlanFiles, ReadyKeys, Source};

/// What servers of exact integers and servers of approximate numbers have in common.
macro_rules! ready_keys {
    ($family:ty) => {
        impl Server<$family> {
            /// Writes the evaluation keys, ready for use, to a new file that can be mapped
            /// ([`Context::open_server`]), and returns its size in bytes: 16·d·(l + k)·n for each
            /// key of d digits over l + k primes.
            ///
            /// Memory: 1 MiB. Cost: one pass of SHA-256. The keys of bootstrappings are not
            /// included; they are small, and [`Server::to_bytes`] returns them.
            ///
            /// # Errors
            /// [`wire::WireError::Io`] if the file exists already or cannot be written; no partial
            /// file is left behind. [`wire::WireError::NoKeyPair`] if the server has no keys.
            pub fn save_ready_keys(&self, path: impl AsRef<Path>) -> Result<u64> {
                Ok(self.ready_keys().save(path.as_ref(), self.context().files())?)
            }

            /// The bytes that [`Self::save_ready_keys`] writes.
            ///
            /// # Errors
            /// [`wire::WireError::NoKeyPair`] if the server has no keys.
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
    /// A server that uses the keys in a file of [`Server::save_ready_keys`], with the keys of each
    /// bootstrapping plan in the bytes beside it. `source` is the path of the file, shared memory, or
    /// bytes ([`Source`]). Processes that open the same file share one copy of it in memory.
    ///
    /// The file is checked once, when it is opened: header, checksum and every residue. It may be
    /// removed afterwards.
    ///
    /// **Warning.** Do not write to the file or truncate it while it is mapped. A process that
    /// reads beyond a new end of the file is killed.
    ///
    /// Cost: two passes through the file, on the current threads.
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
    /// let worker = context.open_server(directory.path().join("keys.ready"), &[])?; // in any process
    /// let x = client.encrypt(&[7])?;
    /// assert_eq!(client.decrypt(&worker.square(&x)?)?[0], 49);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Any [`wire::WireError`]; then nothing of the file is used.
    pub fn open_server<'a>(
        &self,
        source: impl Into<Source<'a>>,
        bootstrappings: &[(Arc<BootstrapPlan>, &[u8])],
    ) -> Result<Server> {
        let keys = ReadyKeys::open(source, self.files())?;
        self.server_from_keys(keys.0, self.refresh_keys_from_bytes(bootstrappings)?)
    }

    /// As [`Self::open_server`], with the keys of the refresh through CKKS that the context is made for
    /// ([`Self::exact_refresh`]) in the bytes beside the file.
    ///
    /// # Errors
    /// As there; [`crate::Error::Bootstrap`] if the context has no such refresh.
    pub fn open_refreshing_server<'a>(&self, source: impl Into<Source<'a>>, refresh: &[u8]) -> Result<Server> {
        let keys = ReadyKeys::open(source, self.files())?;
        self.refreshing_server_from_keys(keys.0, self.exact_refresh_keys_from_bytes(refresh)?)
    }
}

impl Context<Approximate> {
    /// As [`Context::<Exact>::open_server`].
    ///
    /// # Errors
    /// As there.
    pub fn open_server<'a>(
        &self,
        source: impl Into<Source<'a>>,
        refreshes: &[(Arc<RefreshPlan>, &[u8])],
    ) -> Result<Server<Approximate>> {
        let keys = ReadyKeys::open(source, self.files())?;
        self.server_from_keys(keys.0, self.refresh_keys_from_bytes(refreshes)?)
    }
}

/// Constants of plans in files. Servers keep them like those that [`Server::apply`] converts.
macro_rules! prepared {
    ($family:ty, $representation:ty) => {
        impl Server<$family> {
            /// Converts the constants of a plan for ciphertexts up to a level (CKKS: at this
            /// level), before any ciphertext exists.
            ///
            /// # Errors
            /// As [`LinearPlan::prepare_at`].
            pub fn prepare_at(&self, plan: &LinearPlan<$representation>, level: usize) -> Result<()> {
                self.prepared_at(plan, (plan.number(), level)).map(drop)
            }

            /// Takes the constants of a plan from a file that another server with equal parameters
            /// saved. [`Server::apply`] and [`Server::apply_grid`] use them until
            /// [`Server::forget`]. `source` is the path of the file, shared memory, or bytes
            /// ([`Source`]). Processes that open the same file share one copy of it in memory.
            ///
            /// The plan must be made here as well, from the same map and with the same
            /// specification. The file is checked once, when it is opened. It may be removed
            /// afterwards.
            ///
            /// **Warning.** Do not write to the file or truncate it while it is mapped.
            ///
            /// Cost: two passes through the file, and one pass of SHA-256 through the constants of
            /// the plan, on the current threads.
            ///
            /// # Errors
            /// Any [`wire::WireError`]; then nothing of the file is used.
            /// [`wire::WireError::OtherPlan`] if the constants belong to another map or factoring.
            pub fn open_prepared<'a>(
                &self,
                plan: &LinearPlan<$representation>,
                source: impl Into<Source<'a>>,
            ) -> Result<()> {
                let constants = self.plan_files(plan).open(source)?;
                self.keep((plan.number(), constants.level()), Arc::new(constants));
                Ok(())
            }

            fn plan_files<'a>(
                &'a self,
                plan: &'a LinearPlan<$representation>,
            ) -> PlanFiles<'a, impl FileContext, <$family as Family>::Engine, $representation> {
                PlanFiles::new(self.context().files(), self.engine(), plan)
            }
        }
    };
}

prepared!(Exact, Arc<SlotRing>);
prepared!(Approximate, ComplexSlots);

impl Server {
    /// Writes the constants of a plan, converted for ciphertexts of every level, to a new file that
    /// can be mapped ([`Self::open_prepared`]). Returns its size in bytes: 8·(l + k)·n for each
    /// constant over l + k primes. Constants that are not converted yet are converted and kept. The
    /// file of a plan that keeps its constants as coefficients ([`crate::circuits::ConstantForm`])
    /// contains no constants.
    ///
    /// # Errors
    /// [`wire::WireError::Io`] if the file exists already or cannot be written; no partial file is
    /// left behind. Errors of [`LinearPlan::prepare`].
    pub fn save_prepared(&self, plan: &LinearPlan, path: impl AsRef<Path>) -> Result<u64> {
        self.plan_files(plan).save(path.as_ref(), &*self.prepared_at(plan, self.place(plan))?)
    }

    /// The bytes that [`Self::save_prepared`] writes.
    ///
    /// # Errors
    /// As [`LinearPlan::prepare`].
    pub fn prepared_to_bytes(&self, plan: &LinearPlan) -> Result<Vec<u8>> {
        self.plan_files(plan).to_bytes(&*self.prepared_at(plan, self.place(plan))?)
    }

    fn place(&self, plan: &LinearPlan) -> (u64, usize) {
        (plan.number(), self.context().params().top_level())
    }
}

impl Server<Approximate> {
    /// As [`Server::<Exact>::save_prepared`], for ciphertexts that are multiplied by the constants
    /// at one level. The file serves ciphertexts of a higher level that are lowered first;
    /// [`Server::apply`] uses its constants only for inputs of exactly this level.
    ///
    /// # Errors
    /// As [`Server::<Exact>::save_prepared`]; [`crate::Error::OutOfRange`] if there is no such
    /// level.
    pub fn save_prepared(&self, plan: &LinearPlan<ComplexSlots>, level: usize, path: impl AsRef<Path>) -> Result<u64> {
        self.plan_files(plan).save(path.as_ref(), &*self.prepared_at(plan, (plan.number(), level))?)
    }

    /// The bytes that [`Self::save_prepared`] writes.
    ///
    /// # Errors
    /// As [`Self::save_prepared`].
    pub fn prepared_to_bytes(&self, plan: &LinearPlan<ComplexSlots>, level: usize) -> Result<Vec<u8>> {
        self.plan_files(plan).to_bytes(&*self.prepared_at(plan, (plan.number(), level))?)
    }
}
