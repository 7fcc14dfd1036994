//! What most tests start from: toy parameters, and a client with its server by the front door.
//!
//! `context(..).generate_keys_from_seed([&plan], seed)` gives both sides; tests that need levels,
//! seeds or a public key use [`windlass::Client::decryptor`] and [`windlass::Client::encryptor`].

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::needs::KeyRequest;
use windlass::rlwe::{Assurance, RlweSpec, SecretDistribution};
use windlass::schemes::Scheme;
use windlass::schemes::ckks::CkksSpec;
use windlass::{Content, Context, Params, Plaintext};
use windlass_ring::slots::SlotRing;

pub const SCHEMES: [Scheme; 2] = [Scheme::Bgv, Scheme::Bfv];

/// Without security: primes of these bits in Q and in P, three digits.
pub fn chain(m: u64, q_prime_bits: &[u32], special_prime_bits: &[u32]) -> RlweSpec {
    RlweSpec {
        m,
        q_prime_bits: q_prime_bits.to_vec(),
        spare_prime_bits: Vec::new(),
        special_prime_bits: special_prime_bits.to_vec(),
        digits: 3,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    }
}

/// Complex numbers without security: a base of 50 bits, or of 100 for scales above 40.
pub fn approximate(n: usize, scale_bits: u32, depth: usize) -> CkksSpec {
    CkksSpec {
        n,
        scale_bits,
        depth,
        base_prime_bits: if scale_bits <= 40 { vec![50] } else { vec![50, 50] },
        special_prime_bits: vec![50, 50],
        digits: (depth + 2).div_ceil(2),
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
        refresh_levels: Vec::new(),
    }
}

/// Slots modulo p^r in their automatic order.
pub fn context(scheme: Scheme, (p, r): (u64, u32), spec: RlweSpec) -> Context {
    Context::from_params(Params::new("insecure_test", scheme, (p, r), None, spec).unwrap()).unwrap()
}

/// Slots in the order of this ring.
pub fn context_over(ring: &SlotRing, scheme: Scheme, spec: RlweSpec) -> Context {
    let generators = ring.hypercube().dimensions().iter().map(|line| line.generator).collect();
    let modulus = (ring.prime(), ring.modulus().exponent());
    Context::from_params(Params::new("insecure_test", scheme, modulus, Some(generators), spec).unwrap()).unwrap()
}

/// Keys for products, and for these automorphisms.
pub fn keys(galois: impl IntoIterator<Item = u64>) -> KeyRequest {
    KeyRequest::none("a test").with_relinearisation().with_galois(galois)
}

/// Random residues in all slots: integers, or elements.
pub fn random(ring: &Arc<SlotRing>, content: Content, seed: u64) -> Plaintext {
    let (mut rng, modulus) = (ChaCha20Rng::seed_from_u64(seed), ring.modulus().value());
    let mut residues = |count: usize| -> Vec<u64> { (0..count).map(|_| rng.next_u64() % modulus).collect() };
    match content {
        Content::Integers => Plaintext::from_integers(ring, &residues(ring.slots())).unwrap(),
        Content::Elements => Plaintext::from_slots(ring, &residues(ring.slots() * ring.degree())).unwrap(),
    }
}
