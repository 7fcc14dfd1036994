//! Expands one ciphertext of many coefficients into one ciphertext for each coefficient (Angel et
//! al. 2018, "SealPIR"; Chen–Chillotti–Ren 2019).
//!
//! The automorphism X ↦ X^{n/2^j + 1} fixes X^{k·2^j} for even k and negates it for odd k. So c +
//! θ(c) holds twice the coefficients at even k. X^{−2^j}·(c − θ(c)) holds twice those at odd k,
//! moved to the even places. After j steps ciphertext i holds 2^j times the coefficients i, i +
//! 2^j, .. . If the odd half holds only zeros, doubling replaces the step.

use rayon::prelude::*;
use windlass_kernels::u32_rows;

use crate::error::Result;
use crate::setting::Setting;
use crate::switch::{ExpansionStep, U32Keys};
use crate::u32_ciphertext::U32Ciphertext;

/// The ciphertexts of 2^depth times the first `wanted.len()` coefficients of one whose other
/// coefficients are zero, each as the constant coefficient: those that are wanted, in order. The
/// depth is that of the keys.
///
/// Cost: wanted.len() − 1 key switches for all of them; for a few at most the depth for each.
///
/// # Errors
/// [`crate::Error::MissingKey`].
pub fn expand(
    setting: &Setting,
    keys: &U32Keys<'_>,
    ciphertext: U32Ciphertext,
    wanted: &[bool],
) -> Result<Vec<U32Ciphertext>> {
    debug_assert!(wanted.len() <= 1 << keys.depth());
    // Each node with its number: that of the first coefficient in it.
    let mut nodes = vec![(0, ciphertext)];
    for step in 0..keys.depth() {
        let width = 1 << step;
        let mut leads = vec![false; 2 * width];
        wanted.iter().enumerate().for_each(|(coefficient, wanted)| leads[coefficient % (2 * width)] |= wanted);
        let split = |(index, node): (usize, U32Ciphertext)| -> Result<[Option<(usize, U32Ciphertext)>; 2]> {
            let [even_leads, odd_leads] = [leads[index], leads[index + width]];
            if !(even_leads || odd_leads) {
                return Ok([None, None]);
            }
            // Node i has an odd half that matters if coefficient i + 2^step is one of the first.
            if index + width >= wanted.len() {
                return Ok([Some((index, node.twice(setting))), None]);
            }
            let (even, odd) = halves(setting, keys.step(step)?, &node, step);
            Ok([even_leads.then_some((index, even)), odd_leads.then_some((index + width, odd))])
        };
        let split: Vec<_> = nodes.into_par_iter().map(split).collect::<Result<_>>()?;
        let (evens, odds): (Vec<_>, Vec<_>) = split.into_iter().map(|[even, odd]| (even, odd)).unzip();
        nodes = evens.into_iter().chain(odds).flatten().collect();
    }
    nodes.retain(|(index, _)| wanted.get(*index) == Some(&true));
    Ok(nodes.into_iter().map(|(_, node)| node).collect())
}

/// c + θ(c) and X^{−2^number}·(c − θ(c)).
fn halves(
    setting: &Setting,
    step: &ExpansionStep<'_>,
    node: &U32Ciphertext,
    number: usize,
) -> (U32Ciphertext, U32Ciphertext) {
    let switched = step.key.switch(setting, node.part(1), [Some(node.part(0)), None]);
    let (mut even, mut odd) = (U32Ciphertext::unspecified(setting), U32Ciphertext::unspecified(setting));
    for (part, (even, odd)) in even.rows_mut().into_iter().zip(odd.rows_mut()).enumerate() {
        for (index, (even, odd)) in even.into_iter().zip(odd).enumerate() {
            let how = (&*step.automorphism, setting.shift(number, index));
            let rows = [node.row(part, index), switched.row(part, index)];
            u32_rows::split(setting.isa(), setting.prime(index), how, rows, [even, odd]);
        }
    }
    (even, odd)
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;
    use windlass_rlwe::evaluation::EvaluationKeys;
    use windlass_rlwe::keys::SecretKey;

    use super::*;
    use crate::query::Seeded;
    use crate::setting::Moduli;
    use crate::switch::elements;

    #[test]
    fn some_of_an_expansion_are_those_of_all() {
        const COUNT: usize = 11;
        const DEPTH: u32 = 4;
        let setting = Setting::new(Moduli::Compact).unwrap();
        let mut rng = ChaCha20Rng::from_seed([9; 32]);
        let secret = SecretKey::generate(setting.context(), &mut rng);
        let mut keys = EvaluationKeys::of(&secret);
        elements(DEPTH).for_each(|element| keys.add_galois(&secret, element, 2, &mut rng).unwrap());
        let keys = U32Keys::new(&setting, &keys, DEPTH).unwrap();
        let values: Vec<i64> = (0..COUNT as i64).collect();
        let query = Seeded::of_values(&setting, (8, DEPTH), &secret, &values, &mut rng);
        let of = |wanted: &[bool]| expand(&setting, &keys, query.expand(&setting), wanted).unwrap();
        let all = of(&[true; COUNT]);
        assert_eq!(all.len(), COUNT);
        for which in [0, 1, 1 << 10, 0b110_0000_0000, 0b101_0101_0101, 0b000_0111_1110] {
            let wanted: Vec<bool> = (0..COUNT).map(|k| which >> k & 1 == 1).collect();
            let expected = all.iter().zip(&wanted).filter_map(|(c, wanted)| wanted.then_some(c.words()));
            assert!(of(&wanted).iter().map(U32Ciphertext::words).eq(expected), "{which:b}");
        }
    }
}
