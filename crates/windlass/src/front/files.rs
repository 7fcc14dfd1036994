//! Values of the front door as bytes and as files.
//!
//! Every container names its parameters and its key pair; what belongs to another context is
//! refused before anything of it is used. Formats are those of [`crate::wire`].

use std::path::Path;
use std::sync::Arc;

use windlass_rlwe::{EvaluationKeys, SecretKey};
use zeroize::Zeroizing;

use super::client::Client;
use super::context::Context;
use super::family::{Approximate, Exact};
use super::server::Server;
use crate::bootstrap::{BootstrapKeys, BootstrapPlan};
use crate::error::Result;
use crate::wire::{self, ApproximateContext, BootstrapContext, Passphrase, PassphraseCost, Wire, WireContext};

/// What exact and approximate contexts, clients and servers do alike.
macro_rules! files {
    ($family:ty, $files:ty, $program:literal) => {
        impl Context<$family> {
            /// A ciphertext or public keys in the bytes of its file. A secret key does not compile
            /// here: its bytes would stay in memory, and [`Client::secret_to_bytes`] wipes them.
            ///
            /// ```compile_fail
            #[doc = $program]
            /// let (client, _) = context.generate_keys([])?;
            /// context.to_bytes(&**client.secret_key())?;
            /// # Ok::<(), windlass::Error>(())
            /// ```
            ///
            /// # Errors
            /// [`wire::WireError::NoKeyPair`] for a set of no keys.
            pub fn to_bytes<T: Wire<$files>>(&self, value: &T) -> Result<Vec<u8>> {
                const { assert!(!T::KIND.is_secret(), "secret keys go through Client::secret_to_bytes") };
                Ok(wire::to_bytes(self.files(), value)?.to_vec())
            }

            /// The value in the bytes of its file.
            ///
            /// # Errors
            /// Every [`wire::WireError`]: nothing is used that is not whole and of this context.
            pub fn from_bytes<T: Wire<$files>>(&self, bytes: &[u8]) -> Result<T> {
                wire::from_bytes(self.files(), bytes)
            }

            /// Writes a value to a new file and gives its size in bytes.
            ///
            /// # Errors
            /// [`wire::WireError::Io`] when the file is there already; then it stays as it is.
            pub fn save<T: Wire<$files>>(&self, path: impl AsRef<Path>, value: &T) -> Result<u64> {
                Ok(wire::save(path.as_ref(), self.files(), value)?)
            }

            /// Reads a value from a file.
            ///
            /// # Errors
            /// As [`Self::from_bytes`].
            pub fn load<T: Wire<$files>>(&self, path: impl AsRef<Path>) -> Result<T> {
                Ok(wire::load(path.as_ref(), self.files())?.0)
            }

            /// The client with the secret key in these bytes.
            ///
            /// # Errors
            /// As [`Self::from_bytes`]; [`crate::Error::Rlwe`] without entropy.
            pub fn client_from_bytes(&self, bytes: &[u8]) -> Result<Client<$family>> {
                self.client_from_key(Arc::new(self.from_bytes::<SecretKey>(bytes)?))
            }

            /// The client with the secret key in these bytes, which a passphrase encrypts.
            ///
            /// # Errors
            /// As [`wire::from_sealed_bytes`], and as [`Self::client_from_bytes`].
            pub fn client_from_sealed_bytes(&self, bytes: &[u8], passphrase: &Passphrase) -> Result<Client<$family>> {
                self.client_from_key(Arc::new(wire::from_sealed_bytes(self.files(), bytes, passphrase)?))
            }

            /// The client with the secret key in a file that a passphrase encrypts.
            ///
            /// # Errors
            /// As [`Self::client_from_sealed_bytes`], and [`wire::WireError::Io`].
            pub fn load_sealed_client(
                &self,
                path: impl AsRef<Path>,
                passphrase: &Passphrase,
            ) -> Result<Client<$family>> {
                self.client_from_key(Arc::new(wire::load_sealed(path.as_ref(), self.files(), passphrase)?))
            }

            /// The client with the secret key in a file.
            ///
            /// # Errors
            /// As [`Self::client_from_bytes`]; [`wire::WireError::Sealed`] for one that a
            /// passphrase encrypts.
            pub fn load_client(&self, path: impl AsRef<Path>) -> Result<Client<$family>> {
                self.client_from_key(Arc::new(self.load::<SecretKey>(path)?))
            }
        }

        impl Client<$family> {
            /// The secret key in the bytes of its file; they are wiped when they go.
            ///
            /// # Errors
            /// None for a client that a context made.
            pub fn secret_to_bytes(&self) -> Result<Zeroizing<Vec<u8>>> {
                Ok(wire::to_bytes(self.context().files(), &**self.secret_key())?)
            }

            /// Writes the secret key to a new file that its owner alone may read.
            ///
            /// # Errors
            /// As [`Context::save`].
            pub fn save_secret(&self, path: impl AsRef<Path>) -> Result<u64> {
                Ok(wire::save(path.as_ref(), self.context().files(), &**self.secret_key())?)
            }

            /// The secret key in the bytes of a file that a passphrase encrypts (Argon2id and
            /// ChaCha20-Poly1305).
            ///
            /// Cost: that of the passphrase, [`wire::PassphraseCost::default`].
            ///
            /// # Errors
            /// [`crate::Error::Rlwe`] without entropy.
            pub fn secret_to_sealed_bytes(&self, passphrase: &Passphrase) -> Result<Vec<u8>> {
                wire::seal_secret(&self.secret_to_bytes()?, passphrase, PassphraseCost::default())
            }

            /// Writes the secret key to a new file that its owner alone may read and that a
            /// passphrase encrypts.
            ///
            /// ```
            /// use windlass::wire::Passphrase;
            ///
            #[doc = $program]
            /// let (client, _) = context.generate_keys([])?;
            /// let dir = tempfile::tempdir()?;
            /// let path = dir.path().join("secret.key");
            /// let words = Passphrase::new("correct horse battery staple")?;
            /// client.save_sealed_secret(&path, &words)?;
            ///
            /// let again = context.load_sealed_client(&path, &words)?;
            /// assert_eq!(again.secret_key().key_id(), client.secret_key().key_id());
            /// let guess = Passphrase::new("a guess")?;
            /// assert!(context.load_sealed_client(&path, &guess).is_err());
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            ///
            /// # Errors
            /// As [`Context::save`]; [`crate::Error::Rlwe`] without entropy.
            pub fn save_sealed_secret(&self, path: impl AsRef<Path>, passphrase: &Passphrase) -> Result<u64> {
                wire::save_sealed(path.as_ref(), self.context().files(), &**self.secret_key(), passphrase)
            }
        }
    };
}

files!(Exact, WireContext, r#"let context = windlass::Context::preset("insecure_toy_256")?;"#);
files!(
    Approximate,
    ApproximateContext,
    "let spec = windlass::schemes::ckks::CkksSpec::secure(2, 40, 4, 64)?;\nlet context = windlass::Context::approximate(&spec)?;"
);

impl Context {
    /// The server with the keys in these bytes: those of bootstrappings in the order of their
    /// plans.
    ///
    /// # Errors
    /// As [`Self::from_bytes`]; [`crate::Error::ShapeMismatch`] unless there are bytes for each
    /// plan.
    pub fn server_from_bytes(
        &self,
        evaluation: &[u8],
        bootstrappings: &[(Arc<BootstrapPlan>, &[u8])],
    ) -> Result<Server> {
        let keys: EvaluationKeys = self.from_bytes(evaluation)?;
        self.server_from_keys(Arc::new(keys), self.bootstrap_keys_from_bytes(bootstrappings)?)
    }

    /// The keys of bootstrappings in the bytes of their files.
    pub(super) fn bootstrap_keys_from_bytes(
        &self,
        bootstrappings: &[(Arc<BootstrapPlan>, &[u8])],
    ) -> Result<Vec<(Arc<BootstrapPlan>, BootstrapKeys)>> {
        let read = |(plan, bytes): &(Arc<BootstrapPlan>, &[u8])| {
            let files = BootstrapContext::new(plan, self.files().context(), self.scheme());
            Ok((Arc::clone(plan), wire::from_bytes(&files, bytes)?))
        };
        bootstrappings.iter().map(read).collect()
    }
}

impl Server {
    /// The evaluation keys, and the keys of all bootstrappings, in the bytes of their files.
    ///
    /// # Errors
    /// [`wire::WireError::NoKeyPair`] for a server without any key.
    pub fn to_bytes(&self) -> Result<(Vec<u8>, Vec<Vec<u8>>)> {
        let evaluation = self.context().to_bytes(&**self.engine().keys())?;
        let own = self.bootstrappings().map(|(plan, keys)| {
            let files = self.bootstrap_files(plan);
            Ok(wire::to_bytes(&files, keys)?.to_vec())
        });
        Ok((evaluation, own.collect::<Result<_>>()?))
    }

    fn bootstrap_files(&self, plan: &Arc<BootstrapPlan>) -> BootstrapContext {
        BootstrapContext::new(plan, self.context().files().context(), self.context().scheme())
    }
}

impl Server<Approximate> {
    /// The evaluation keys in the bytes of their file.
    ///
    /// # Errors
    /// [`wire::WireError::NoKeyPair`] for a server without any key.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.context().to_bytes(&**self.engine().keys())
    }
}

impl Context<Approximate> {
    /// The server with the evaluation keys in these bytes.
    ///
    /// # Errors
    /// As [`Self::from_bytes`].
    pub fn server_from_bytes(&self, bytes: &[u8]) -> Result<Server<Approximate>> {
        self.server_from_keys(Arc::new(self.from_bytes::<EvaluationKeys>(bytes)?))
    }
}
