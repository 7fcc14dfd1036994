//! The server that a ciphertext is bound to, as the ciphertext holds it.

use std::sync::{Arc, PoisonError, RwLock};

use pyo3::prelude::*;
use windlass::rlwe::EvaluationKeys;
use windlass::{Approximate, Result};

use crate::bootstrapping::PyBootstrapping;
use crate::either::{Either, map_kind, on_kind};
use crate::error::plain;
use crate::setting::Setting;

/// A server of the library.
pub type ServerKind = Either<windlass::Server, windlass::Server<Approximate>>;

impl ServerKind {
    /// A server that holds no keys.
    pub fn without_keys(setting: &Setting) -> Result<Self> {
        Ok(map_kind!(&setting.kind, context => context.server_without_keys()?))
    }

    /// The evaluation keys.
    pub fn keys(&self) -> &Arc<EvaluationKeys> {
        on_kind!(self, server => server.engine().keys())
    }
}

/// What ciphertexts hold of their server. It is empty after `close`.
pub struct Handle {
    pub setting: Arc<Setting>,
    pub kind: RwLock<Option<Arc<ServerKind>>>,
    /// How the servers of these keys refresh.
    pub bootstrappings: Vec<PyBootstrapping>,
}

impl Handle {
    /// The server, unless it was closed.
    pub fn open(&self, py: Python<'_>) -> PyResult<Arc<ServerKind>> {
        // The lock is given back before Python runs again.
        let kind = self.kind.read().unwrap_or_else(PoisonError::into_inner).clone();
        kind.ok_or_else(|| plain(py, "ServerClosed", "the server was closed, and its keys are gone: load them again"))
    }
}
