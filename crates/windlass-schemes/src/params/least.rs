//! The minimum modulus that a specification needs, from noise bounds only.

use windlass_rlwe::{Assurance, Bound, NoiseModel, RlweSpec, SecretDistribution};

use super::spec::ParamSpec;

/// What to do about a modulus that is too short.
pub(super) const LESS: &str = "ask for less depth, fewer slots or a smaller plaintext modulus, or plan for circuits of any depth with refreshes (Context::plan_any_depth)";

/// A set of one prime: what noise does in the ring of m.
pub(super) fn toy(m: u64) -> RlweSpec {
    RlweSpec {
        m,
        q_prime_bits: vec![50],
        spare_prime_bits: Vec::new(),
        special_prime_bits: vec![50],
        digits: 1,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_noise_estimate".into() },
    }
}

/// Lower bounds on log2 Q in bits: first, for the specification without multiplications but with
/// linear maps over this many slots; second, for each multiplication.
///
/// A fresh ciphertext has capacity log2 Q − log2 ε up to a constant. Modulus switching never
/// increases it. A product reduces it by log2 ε ≥ log2 ρ, where ρ is the rounding noise. A linear
/// map reduces it by the size of its constants.
pub(super) fn least_bits(noise: &NoiseModel, spec: &ParamSpec, slots: usize) -> [f64; 2] {
    let map = (noise.plaintext_random() * Bound::of(slots as f64)).bits() * f64::from(spec.linear_maps);
    // capacity = log2 Q − 1 − log2(C_m·ε).
    let constant = -noise.capacity(0.0, Bound::ONE);
    [constant + spec.capacity + noise.fresh_public().bits() + map, noise.rounding(2).bits()]
}
