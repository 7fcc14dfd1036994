//! Both schemes against vectors in the clear, and every refusal.

mod bgv;
mod ckks;

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass_rlwe::{Assurance, SecretDistribution};

use super::{Chain, Client, Context, Encoding, Server};

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(7)
}

/// n = 64, a toy.
fn context(moduli: &[u64], encoding: Encoding) -> Arc<Context> {
    let assurance = Assurance::Insecure { name: "insecure_explicit".into() };
    let (moduli, special) = (moduli.to_vec(), vec![1 << 60]);
    let chain = Chain { n: 64, moduli, special, secret: SecretDistribution::Ternary, assurance };
    Context::new(&chain, encoding).unwrap()
}

/// With keys for rotations by these amounts and for relinearisation.
fn parties(context: &Arc<Context>, rotations: &[i64]) -> (Client, Server) {
    let client = Client::generate(context, &mut rng());
    let keys = client.evaluation_keys(rotations, true, &mut rng()).unwrap();
    (client, Server::new(context, Arc::new(keys)).unwrap())
}
