//! From one ciphertext of many coefficients to one ciphertext for each of them (Angel et al. 2018,
//! "SealPIR"; Chen–Chillotti–Ren 2019).
//!
//! The automorphism X ↦ X^{n/2^j + 1} leaves X^{k·2^j} alone for even k and negates it for odd k.
//! So c + θ(c) holds twice the coefficients at even k, and X^{−2^j}·(c − θ(c)) twice those at odd
//! k, moved to the places of the even ones. After j steps ciphertext i holds 2^j times the
//! coefficients i, i + 2^j, .., and where nothing but zeros are left in the odd half, doubling is
//! all that remains to be done.

use rayon::prelude::*;
use windlass_kernels::narrow;

use crate::error::Result;
use crate::pair::Pair;
use crate::setting::Setting;
use crate::switch::{NarrowKeys, Step};

/// The ciphertexts of 2^depth times the first `count` coefficients of one whose other coefficients
/// are zero, each as the constant coefficient; the depth is that of the keys.
///
/// Cost: count − 1 key switches.
///
/// # Errors
/// [`crate::Error::MissingKey`].
pub fn expand(setting: &Setting, keys: &NarrowKeys<'_>, ciphertext: Pair, count: usize) -> Result<Vec<Pair>> {
    debug_assert!(count <= 1 << keys.depth());
    let mut nodes = vec![ciphertext];
    for step in 0..keys.depth() {
        let width = 1 << step;
        // Node i has an odd half that matters if coefficient i + 2^step is one of the first.
        let split = |(index, node): (usize, Pair)| -> Result<(Pair, Option<Pair>)> {
            if index + width >= count {
                return Ok((node.twice(setting), None));
            }
            let (even, odd) = halves(setting, keys.step(step)?, &node, step);
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

/// c + θ(c) and X^{−2^number}·(c − θ(c)).
fn halves(setting: &Setting, step: &Step<'_>, node: &Pair, number: usize) -> (Pair, Pair) {
    let switched = step.key.switch(setting, node.part(1), [Some(node.part(0)), None]);
    let (mut even, mut odd) = (Pair::unspecified(setting), Pair::unspecified(setting));
    for (part, (even, odd)) in even.rows_mut().into_iter().zip(odd.rows_mut()).enumerate() {
        for (index, (even, odd)) in even.into_iter().zip(odd).enumerate() {
            let how = (&*step.automorphism, setting.shift(number, index));
            let rows = [node.row(part, index), switched.row(part, index)];
            narrow::split(setting.isa(), setting.prime(index), how, rows, [even, odd]);
        }
    }
    (even, odd)
}
