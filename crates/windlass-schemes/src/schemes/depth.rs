//! How many products in sequence a noise bound allows.

use windlass_rlwe::{Bound, NoiseModel, RlweParams};

use super::engine::rules::best_level;

/// The number of squarings in sequence after which a ciphertext of this level and noise bound has
/// `least_bits` of capacity or more left.
#[doc(hidden)]
pub fn products_left(
    rlwe: &RlweParams,
    noise: &NoiseModel,
    (mut level, mut bound): (usize, Bound),
    least_bits: f64,
) -> u32 {
    let mut depth = 0;
    while let Some((next, product)) = best_product(rlwe, noise, level, bound) {
        if noise.capacity(rlwe.log2_q(next), product) < least_bits {
            break;
        }
        (level, bound, depth) = (next, product, depth + 1);
    }
    depth
}

/// The level and noise of the product of two ciphertexts with this noise, at the level that the
/// engine chooses: the lowest within half a bit of the greatest capacity. `None` if none is left.
#[doc(hidden)]
pub fn best_product(rlwe: &RlweParams, noise: &NoiseModel, top: usize, bound: Bound) -> Option<(usize, Bound)> {
    let product = |level: usize| {
        let switched =
            if level == top { bound } else { noise.modulus_switch(bound, rlwe.log2_q(top), rlwe.log2_q(level), 2) };
        switched * switched + noise.relinearisation(level)
    };
    if top == 0 {
        return None;
    }
    let level = best_level(top, |level| noise.capacity(rlwe.log2_q(level), product(level)));
    let chosen = (level, product(level));
    noise.decryptable(rlwe.log2_q(chosen.0), chosen.1).then_some(chosen)
}
