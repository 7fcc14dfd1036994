//! From one ciphertext of many coefficients to one ciphertext for each of them (Angel et al. 2018,
//! "SealPIR"; Chen–Chillotti–Ren 2019).
//!
//! The automorphism X ↦ X^{n/2^j + 1} leaves X^{k·2^j} alone for even k and negates it for odd k.
//! So c + θ(c) holds twice the coefficients at even k, and X^{−2^j}·(c − θ(c)) twice those at odd
//! k, moved to the places of the even ones. After j steps ciphertext i holds 2^j times the
//! coefficients i, i + 2^j, .., and where nothing but zeros are left in the odd half, doubling is
//! all that remains to be done.

use rayon::prelude::*;
use windlass_rlwe::evaluation::EvaluationKeys;
use windlass_rlwe::switching::{Finish, switch};

use crate::error::{Error, Result};
use crate::setting::{N, Pair, Setting};

/// The automorphisms of an expansion of `depth` steps.
pub fn elements(depth: u32) -> impl Iterator<Item = u64> {
    (0..depth).map(|j| (N as u64 >> j) + 1)
}

/// The ciphertexts of 2^depth times the first `count` coefficients of one whose other coefficients
/// are zero, each as the constant coefficient.
///
/// Cost: count − 1 key switches.
///
/// # Errors
/// [`Error::MissingKey`] when a key of [`elements`] is not there.
pub fn expand(
    setting: &Setting,
    keys: &EvaluationKeys,
    ciphertext: Pair,
    depth: u32,
    count: usize,
) -> Result<Vec<Pair>> {
    debug_assert!(count <= 1 << depth);
    let mut nodes = vec![ciphertext];
    for (step, element) in elements(depth).enumerate() {
        let width = 1 << step;
        // Node i has an odd half that matters if coefficient i + 2^step is one of the first.
        let split = |(index, node): (usize, Pair)| -> Result<(Pair, Option<Pair>)> {
            if index + width >= count {
                return Ok((node.map(|part| part.plus(&part)), None));
            }
            let (even, odd) = halves(setting, keys, node, step as u32, element)?;
            Ok((even, Some(odd)))
        };
        let split: Vec<_> = nodes.into_par_iter().enumerate().map(split).collect::<Result<_>>()?;
        let (evens, odds): (Vec<Pair>, Vec<Option<Pair>>) = split.into_iter().unzip();
        nodes = evens;
        nodes.extend(odds.into_iter().flatten());
    }
    nodes.truncate(count);
    Ok(nodes)
}

/// c + θ(c) and X^{−2^step}·(c − θ(c)).
fn halves(setting: &Setting, keys: &EvaluationKeys, node: Pair, step: u32, element: u64) -> Result<(Pair, Pair)> {
    let context = setting.context();
    let key = keys.galois(element).ok_or(Error::MissingKey { what: "an automorphism of the expansion" })?;
    let automorphism = context.ring().automorphism(element).map_err(windlass_rlwe::RlweError::from)?;
    let finish = Finish { addends: [Some(&node[0]), None], automorphism: Some(&automorphism) };
    let moved = switch(context, &node[1], 1, key, &finish)?;
    let even = [0, 1].map(|part| node[part].plus(&moved[part]));
    let odd = [0, 1].map(|part| node[part].minus(&moved[part]).mul(setting.shift(step)));
    Ok((even, odd))
}
