//! Key generation: a client and a server with the keys that the given circuits need.

use std::ops::ControlFlow;
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass_rlwe::context::os_rng;
use windlass_rlwe::{Context as RlweContext, EvaluationKeys, SecretKey, SecretRng};

use super::client::Client;
use super::context::Context;
use super::family::{Approximate, Family, approximate_keys, exact_keys};
use super::needs::{KeyRequest, NeedsKeys};
use super::server::Server;
use crate::bootstrap::approximate::{RefreshKeys, RefreshPlan};
use crate::bootstrap::{BootstrapKeys, BootstrapPlan};
use crate::error::{Error, Result};

impl<F: Family> Context<F> {
    /// A client with a fresh secret key, and a server with exactly the keys that the given circuits
    /// need. Randomness comes from the operating system.
    ///
    /// Circuits of different types can be passed in one list: `generate_keys([&matrix,
    /// &polynomial])`.
    ///
    /// Cost: about two transforms of every prime of QP for each digit of each key.
    ///
    /// # Errors
    /// [`Error::Rlwe`] if there is no entropy, or if an automorphism belongs to another ring.
    pub fn generate_keys<const N: usize>(&self, needs: [&dyn NeedsKeys; N]) -> Result<(Client<F>, Server<F>)> {
        self.generate_keys_observed(needs, |_, _| ())
    }

    /// As [`Self::generate_keys`]. After each key `observe` receives the number of keys made so far
    /// and the total, since large sets take minutes. The keys of one bootstrapping count as one.
    ///
    /// # Errors
    /// As [`Self::generate_keys`].
    pub fn generate_keys_observed<const N: usize>(
        &self,
        needs: [&dyn NeedsKeys; N],
        mut observe: impl FnMut(usize, usize),
    ) -> Result<(Client<F>, Server<F>)> {
        self.generate_keys_for(&needs, |done, count| {
            observe(done, count);
            ControlFlow::Continue(())
        })
    }

    /// As [`Self::generate_keys`] for a list of any length. `observe` is called after each key;
    /// `Break` stops the generation.
    ///
    /// # Errors
    /// As [`Self::generate_keys`]; [`Error::Cancelled`] after a `Break`.
    pub fn generate_keys_for(
        &self,
        needs: &[&dyn NeedsKeys],
        mut observe: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<(Client<F>, Server<F>)> {
        self.generate_keys_with(needs, SecretRng::from_os()?, &mut observe)
    }

    /// As [`Self::generate_keys`] with all randomness expanded from `seed`, for tests.
    ///
    /// **Warning.** Everyone with the seed can compute the secret key.
    ///
    /// # Errors
    /// As [`Self::generate_keys`].
    pub fn generate_keys_from_seed<const N: usize>(
        &self,
        needs: [&dyn NeedsKeys; N],
        seed: u64,
    ) -> Result<(Client<F>, Server<F>)> {
        let rng = SecretRng::fork(&mut ChaCha20Rng::seed_from_u64(seed));
        self.generate_keys_with(&needs, rng, &mut |_, _| ControlFlow::Continue(()))
    }

    fn generate_keys_with(
        &self,
        needs: &[&dyn NeedsKeys],
        mut rng: SecretRng,
        observe: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<(Client<F>, Server<F>)> {
        let secret = F::generate_secret(self.setting(), &mut rng);
        let server = make_server(self, &secret, needs, &mut rng, observe)?;
        Ok((Client::new(self.clone(), secret, rng), server))
    }
}

/// A server with the requested keys. `observe` is called after each key and may stop the
/// generation.
fn make_server<F: Family>(
    context: &Context<F>,
    secret: &F::Secret,
    needs: &[&dyn NeedsKeys],
    rng: &mut SecretRng,
    observe: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Server<F>> {
    let requests = KeyRequest::union(needs);
    let (count, mut done) = (requests.count(), 0);
    let mut made = || {
        done += 1;
        match observe(done, count) {
            ControlFlow::Break(()) if done < count => Err(Error::Cancelled { operation: "key generation" }),
            _ => Ok(()),
        }
    };
    let keys = F::generate(context.setting(), secret, &requests, rng, &mut made)?;
    Ok(Server::new(context.clone(), keys))
}

impl<F: Family> Client<F> {
    /// Another server for this client's key pair, with the keys that these circuits need.
    ///
    /// # Errors
    /// As [`Context::generate_keys`].
    pub fn generate_server<const N: usize>(&self, needs: [&dyn NeedsKeys; N]) -> Result<Server<F>> {
        self.generate_server_for(&needs, |_, _| ControlFlow::Continue(()))
    }

    /// As [`Self::generate_server`]. `observe` is called as in [`Context::generate_keys_for`].
    ///
    /// # Errors
    /// As [`Context::generate_keys_for`].
    pub fn generate_server_for(
        &self,
        needs: &[&dyn NeedsKeys],
        mut observe: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Server<F>> {
        make_server(self.context(), self.secret(), needs, &mut self.fork_rng()?, &mut observe)
    }
}

impl Context {
    /// A client with an existing secret key.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] if the key has other parameters; [`Error::Rlwe`] if there is no
    /// entropy.
    pub fn client_from_key(&self, secret: Arc<SecretKey>) -> Result<Client> {
        same_parameters(self.rlwe(), secret.context())?;
        Ok(Client::new(self.clone(), secret, os_rng()?))
    }

    /// A server with existing keys.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] if the keys have other parameters.
    pub fn server_from_keys(
        &self,
        keys: Arc<EvaluationKeys>,
        bootstrappings: Vec<(Arc<BootstrapPlan>, BootstrapKeys)>,
    ) -> Result<Server> {
        same_parameters(self.rlwe(), keys.context())?;
        let keys = exact_keys(self.setting(), keys, bootstrappings, None)?;
        Ok(Server::new(self.clone(), keys))
    }

    /// A server with existing keys, among them those of the refresh through CKKS that the context is made for
    /// ([`Self::exact_refresh`]).
    ///
    /// # Errors
    /// As [`Self::server_from_keys`]; [`Error::Bootstrap`] if the context has no such refresh.
    pub fn refreshing_server_from_keys(&self, keys: Arc<EvaluationKeys>, refresh: RefreshKeys) -> Result<Server> {
        self.exact_refresh()?;
        same_parameters(self.rlwe(), keys.context())?;
        let keys = exact_keys(self.setting(), keys, Vec::new(), Some(refresh))?;
        Ok(Server::new(self.clone(), keys))
    }

    /// A server without keys. It adds, multiplies by public integers and changes levels, on
    /// ciphertexts of any key pair.
    ///
    /// # Errors
    /// None if the context exists.
    pub fn server_without_keys(&self) -> Result<Server> {
        self.server_from_keys(Arc::new(EvaluationKeys::empty(self.rlwe())), Vec::new())
    }
}

impl Context<Approximate> {
    /// A client with an existing secret key.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] if the key has other parameters; [`Error::Rlwe`] if there is no
    /// entropy.
    pub fn client_from_key(&self, secret: Arc<SecretKey>) -> Result<Client<Approximate>> {
        same_parameters(self.ckks().rlwe(), secret.context())?;
        Ok(Client::new(self.clone(), secret, os_rng()?))
    }

    /// A server with existing keys.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] if the keys or the plan of a refresh have other parameters.
    pub fn server_from_keys(
        &self,
        keys: Arc<EvaluationKeys>,
        refreshes: Vec<(Arc<RefreshPlan>, RefreshKeys)>,
    ) -> Result<Server<Approximate>> {
        same_parameters(self.ckks().rlwe(), keys.context())?;
        Ok(Server::new(self.clone(), approximate_keys(self.setting(), keys, refreshes)?))
    }

    /// A server without keys. It adds, and multiplies by public numbers, on ciphertexts of any key pair.
    ///
    /// # Errors
    /// None if the context exists.
    pub fn server_without_keys(&self) -> Result<Server<Approximate>> {
        self.server_from_keys(Arc::new(EvaluationKeys::empty(self.ckks().rlwe())), Vec::new())
    }
}

/// # Errors
/// [`Error::ContextMismatch`].
fn same_parameters(context: &Arc<RlweContext>, key: &Arc<RlweContext>) -> Result<()> {
    let [left, right] = [context, key].map(|context| context.params().id());
    if left == right {
        return Ok(());
    }
    let (left, right) = (left.to_string(), right.to_string());
    Err(Error::ContextMismatch { operation: "keys for a context", left, right })
}
