//! Contexts, keys and ciphertexts as bytes and as files.
//!
//! Every container names its parameters and its key pair. A container that belongs to another
//! context is refused before any of its content is used. The formats are those of [`crate::wire`].

use std::path::Path;
use std::sync::Arc;

use windlass_rlwe::{EvaluationKeys, SecretKey};
use zeroize::Zeroizing;

use super::client::Client;
use super::context::Context;
use super::family::{Approximate, Exact};
use super::server::Server;
use crate::bootstrap::approximate::{RefreshKeys, RefreshPlan};
use crate::bootstrap::exact_through_ckks::ExactRefreshPlan;
use crate::bootstrap::{BootstrapKeys, BootstrapPlan};
use crate::error::Result;
use crate::wire::{
    self, ApproximateContext, BootstrapContext, Passphrase, PassphraseCost, RefreshContext, Wire, WireContext,
};

/// What the exact and the approximate family have in common.
macro_rules! files {
    ($family:ty, $files:ty, $program:literal) => {
        impl Context<$family> {
            /// Serialises a ciphertext or public keys; the bytes equal those of a file. A secret
            /// key does not compile here, because its bytes would stay in memory. Use
            /// [`Client::secret_to_bytes`], which wipes them.
            ///
            /// ```compile_fail
            #[doc = $program]
            /// let (client, _) = context.generate_keys([])?;
            /// context.to_bytes(&**client.secret_key())?;
            /// # Ok::<(), windlass::Error>(())
            /// ```
            ///
            /// # Errors
            /// [`wire::WireError::NoKeyPair`] for an empty set of keys.
            pub fn to_bytes<T: Wire<$files>>(&self, value: &T) -> Result<Vec<u8>> {
                const { assert!(!T::KIND.is_secret(), "save a secret key with Client::secret_to_bytes") };
                Ok(wire::to_bytes(self.files(), value)?.to_vec())
            }

            /// Reads a value from the bytes of its file.
            ///
            /// # Errors
            /// Any [`wire::WireError`]. Content that is incomplete or of another context is not
            /// used.
            pub fn from_bytes<T: Wire<$files>>(&self, bytes: &[u8]) -> Result<T> {
                wire::from_bytes(self.files(), bytes)
            }

            /// Writes a value to a new file and returns its size in bytes.
            ///
            /// # Errors
            /// [`wire::WireError::Io`] if the file exists already; it is then left unchanged.
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

            /// A client with the secret key in these bytes.
            ///
            /// # Errors
            /// As [`Self::from_bytes`]; [`crate::Error::Rlwe`] if there is no entropy.
            pub fn client_from_bytes(&self, bytes: &[u8]) -> Result<Client<$family>> {
                self.client_from_key(Arc::new(self.from_bytes::<SecretKey>(bytes)?))
            }

            /// A client with the secret key in these bytes, which are encrypted under a passphrase.
            ///
            /// # Errors
            /// As [`wire::from_sealed_bytes`] and [`Self::client_from_bytes`].
            pub fn client_from_sealed_bytes(&self, bytes: &[u8], passphrase: &Passphrase) -> Result<Client<$family>> {
                self.client_from_key(Arc::new(wire::from_sealed_bytes(self.files(), bytes, passphrase)?))
            }

            /// A client with the secret key in a file that is encrypted under a passphrase.
            ///
            /// # Errors
            /// As [`Self::client_from_sealed_bytes`]; [`wire::WireError::Io`].
            pub fn load_sealed_client(
                &self,
                path: impl AsRef<Path>,
                passphrase: &Passphrase,
            ) -> Result<Client<$family>> {
                self.client_from_key(Arc::new(wire::load_sealed(path.as_ref(), self.files(), passphrase)?))
            }

            /// A client with the secret key in an unencrypted file.
            ///
            /// # Errors
            /// As [`Self::client_from_bytes`]; [`wire::WireError::Sealed`] if the file is encrypted
            /// under a passphrase.
            pub fn load_client(&self, path: impl AsRef<Path>) -> Result<Client<$family>> {
                self.client_from_key(Arc::new(self.load::<SecretKey>(path)?))
            }
        }

        impl Client<$family> {
            /// The secret key in the bytes of its file. The bytes are wiped when they are dropped.
            ///
            /// # Errors
            /// None if a context made the client.
            pub fn secret_to_bytes(&self) -> Result<Zeroizing<Vec<u8>>> {
                Ok(wire::to_bytes(self.context().files(), &**self.secret_key())?)
            }

            /// Writes the secret key, unencrypted, to a new file that only its owner may read.
            ///
            /// # Errors
            /// As [`Context::save`].
            pub fn save_secret(&self, path: impl AsRef<Path>) -> Result<u64> {
                Ok(wire::save(path.as_ref(), self.context().files(), &**self.secret_key())?)
            }

            /// The secret key encrypted under a passphrase (Argon2id and ChaCha20-Poly1305), in the
            /// bytes of its file.
            ///
            /// Cost: that of deriving a key from the passphrase, [`wire::PassphraseCost::default`].
            ///
            /// # Errors
            /// [`crate::Error::Rlwe`] if there is no entropy.
            pub fn secret_to_sealed_bytes(&self, passphrase: &Passphrase) -> Result<Vec<u8>> {
                wire::seal_secret(&self.secret_to_bytes()?, passphrase, PassphraseCost::default())
            }

            /// Encrypts the secret key under a passphrase and writes it to a new file that only its
            /// owner may read.
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
            /// As [`Context::save`]; [`crate::Error::Rlwe`] if there is no entropy.
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

/// What keys of a refresh are checked against: those of exact integers, or of approximate numbers.
macro_rules! servers {
    ($family:ty, $plan:ty, $keys:ty, $plans:ident, $files:expr, $through_ckks:expr) => {
        impl Context<$family> {
            /// A server with the evaluation keys in these bytes, and the keys of each plan of a refresh in
            /// the bytes beside it.
            ///
            /// # Errors
            /// As [`Self::from_bytes`].
            pub fn server_from_bytes(
                &self,
                evaluation: &[u8],
                refreshes: &[(Arc<$plan>, &[u8])],
            ) -> Result<Server<$family>> {
                let keys: EvaluationKeys = self.from_bytes(evaluation)?;
                self.server_from_keys(Arc::new(keys), self.refresh_keys_from_bytes(refreshes)?)
            }

            /// Reads the keys of refreshes from the bytes of their files.
            pub(super) fn refresh_keys_from_bytes(
                &self,
                refreshes: &[(Arc<$plan>, &[u8])],
            ) -> Result<Vec<(Arc<$plan>, $keys)>> {
                let files: fn(&Self, &Arc<$plan>) -> _ = $files;
                let read = |(plan, bytes): &(Arc<$plan>, &[u8])| {
                    Ok((Arc::clone(plan), wire::from_bytes(&files(self, plan), bytes)?))
                };
                refreshes.iter().map(read).collect()
            }
        }

        impl Server<$family> {
            /// The evaluation keys, and the keys of each refresh, in the bytes of their files.
            ///
            /// # Errors
            /// [`wire::WireError::NoKeyPair`] if the server has no keys.
            pub fn to_bytes(&self) -> Result<(Vec<u8>, Vec<Vec<u8>>)> {
                let evaluation = self.context().to_bytes(&**self.engine().keys())?;
                let files: fn(&Context<$family>, &Arc<$plan>) -> _ = $files;
                let own =
                    self.$plans().map(|(plan, keys)| Ok(wire::to_bytes(&files(self.context(), plan), keys)?.to_vec()));
                let through_ckks: fn(&Self) -> Result<Option<Vec<u8>>> = $through_ckks;
                Ok((evaluation, own.chain(through_ckks(self).transpose()).collect::<Result<_>>()?))
            }
        }
    };
}

servers!(
    Exact,
    BootstrapPlan,
    BootstrapKeys,
    bootstrappings,
    |context, plan| BootstrapContext::new(plan, context.rlwe(), context.scheme()),
    |server| {
        let bytes = |(plan, keys): (&Arc<ExactRefreshPlan>, &RefreshKeys)| {
            Ok(wire::to_bytes(&RefreshContext::new(plan.ckks()), keys)?.to_vec())
        };
        server.exact_refresh().map(bytes).transpose()
    }
);
servers!(Approximate, RefreshPlan, RefreshKeys, refreshes, |_, plan| RefreshContext::new(plan), |_| Ok(None));

/// Keys of a refresh through CKKS: their files are those of its CKKS refresh.
impl Context {
    /// A server with the evaluation keys in these bytes, and the keys of the refresh through CKKS that the context is
    /// made for ([`Self::exact_refresh`]) in the bytes beside them. [`Server::to_bytes`] writes both.
    ///
    /// # Errors
    /// As [`Self::from_bytes`]; [`crate::Error::Bootstrap`] if the context has no such refresh.
    pub fn refreshing_server_from_bytes(&self, evaluation: &[u8], refresh: &[u8]) -> Result<Server> {
        let keys: EvaluationKeys = self.from_bytes(evaluation)?;
        self.refreshing_server_from_keys(Arc::new(keys), self.exact_refresh_keys_from_bytes(refresh)?)
    }

    pub(super) fn exact_refresh_keys_from_bytes(&self, bytes: &[u8]) -> Result<RefreshKeys> {
        wire::from_bytes(&RefreshContext::new(self.exact_refresh()?.ckks()), bytes)
    }
}
