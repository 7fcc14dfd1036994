//! Keys of automorphisms with the permutations that go with them, for all schemes.

use std::sync::Arc;

use windlass_ring::kernels::Automorphism;
use windlass_rlwe::EvaluationKeys;
use windlass_rlwe::switching::SwitchingKey;

use crate::error::{Error, Result};

/// What θ_t takes: its key, and how it moves values.
pub(super) type Move<'a> = (&'a SwitchingKey, Arc<Automorphism>);

/// For θ_t, t not 1. Errors: [`Error::MissingGaloisKey`].
pub(super) fn key_and_permutation(keys: &EvaluationKeys, t: u64) -> Result<Move<'_>> {
    let element = t % keys.context().params().m();
    let key = keys.galois(element).ok_or_else(|| Error::MissingGaloisKey {
        element,
        make_with: format!("EvaluationKeys::add_galois(&secret_key, {element}, level, &mut rng)"),
    })?;
    Ok((&**key, keys.context().ring().automorphism(t)?))
}

/// For several automorphisms.
pub(super) fn keys_and_permutations(
    keys: &EvaluationKeys,
    elements: impl Iterator<Item = u64>,
) -> Result<Vec<Move<'_>>> {
    elements.map(|t| key_and_permutation(keys, t)).collect()
}
