//! From a context to its two roles: keys for the circuits that were named.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass_rlwe::SecretRng;

use super::client::Client;
use super::context::Context;
use super::family::Family;
use super::needs::{KeyRequests, NeedsKeys};
use super::server::Server;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;

impl<F: Family> Context<F> {
    /// A client with a fresh secret key, and a server with the keys that the given circuits need,
    /// and no others. Randomness comes from the operating system.
    ///
    /// Circuits of different types stand in one list: `generate_keys([&matrix, &polynomial])`.
    /// Cost: about two transforms of every prime of QP for each digit of each key.
    ///
    /// # Errors
    /// [`Error::Rlwe`] without entropy, and for automorphisms of another ring.
    pub fn generate_keys<const N: usize>(&self, needs: [&dyn NeedsKeys; N]) -> Result<(Client<F>, Server<F>)> {
        self.generate_keys_with(&needs, SecretRng::from_os()?)
    }

    /// As [`Self::generate_keys`] with all randomness expanded from `seed`: for tests. Whoever
    /// knows the seed knows the secret key.
    ///
    /// # Errors
    /// As there.
    pub fn generate_keys_from_seed<const N: usize>(
        &self,
        needs: [&dyn NeedsKeys; N],
        seed: u64,
    ) -> Result<(Client<F>, Server<F>)> {
        self.generate_keys_with(&needs, SecretRng::fork(&mut ChaCha20Rng::seed_from_u64(seed)))
    }

    fn generate_keys_with(&self, needs: &[&dyn NeedsKeys], mut rng: SecretRng) -> Result<(Client<F>, Server<F>)> {
        let requests = KeyRequests::of(needs);
        let secret = F::generate_secret(self.setting(), &mut rng);
        let keys = F::generate(self.setting(), &secret, &requests, &mut rng)?;
        Ok((Client::new(self.clone(), secret, rng), Server::new(self.clone(), keys)))
    }
}
