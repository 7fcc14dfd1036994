//! Queries: the encrypted number of a polynomial in a table, and of a record in it.

use std::sync::Arc;

use rand_core::RngCore;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use windlass_ring::{Coeff, Eval, Poly, sample};
use windlass_rlwe::evaluation::EvaluationKeys;
use windlass_rlwe::keys::SecretKey;
use windlass_rlwe::{KeyId, Limits};
use zeroize::{Zeroize, Zeroizing};

use crate::error::Result;
use crate::query_name::QueryName;
use crate::selector::bits_of;
use crate::setting::{N, PRIMES, Setting};
use crate::shape::{Shape, index_bits};
use crate::u32_ciphertext::U32Ciphertext;

/// Most rows that one query asks for.
pub const MOST_ROWS: usize = 1024;

/// One record of the table that a query selects. Secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    /// The number of a polynomial: row + R·column.
    pub polynomial: usize,
    /// The record in it.
    pub record: usize,
}

/// An encryption whose second half is expanded from a seed.
#[derive(Debug, Clone)]
pub struct Seeded {
    pub(crate) seed: [u8; 32],
    pub(crate) first: Poly<Eval>,
}

impl Seeded {
    /// An encryption of the polynomial with these residues, `[prime][n]`.
    fn encrypt(setting: &Setting, secret: &SecretKey, residues: &[u64], rng: &mut impl RngCore) -> Self {
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let [mut first, _] = secret.encrypt_zero(PRIMES, seed, 1, rng);
        let message = Poly::<Coeff>::from_rows(setting.context().ring(), setting.basis(), residues.to_vec());
        let mut message = message.expect("residues are canonical").into_eval();
        first.add_assign(&message);
        message.zeroize();
        Self { seed, first }
    }

    /// Encrypts `values` modulo 2^{message bits} as coefficients for an expansion of `depth` steps.
    /// Time and memory accesses do not depend on them.
    pub(crate) fn of_values(
        setting: &Setting,
        (message_bits, depth): (u32, u32),
        secret: &SecretKey,
        values: &[i64],
        rng: &mut impl RngCore,
    ) -> Self {
        let mut residues = Zeroizing::new(vec![0; PRIMES * N]);
        for (index, row) in residues.chunks_exact_mut(N).enumerate() {
            let q = setting.prime(index);
            let unit = unit(setting, message_bits, depth, index);
            for (place, &value) in row.iter_mut().zip(values) {
                *place = q.mul(q.reduce_i64(value), unit);
            }
        }
        Self::encrypt(setting, secret, &residues, rng)
    }

    /// Both halves.
    pub(crate) fn expand(&self, setting: &Setting) -> U32Ciphertext {
        let second = sample::uniform(setting.context().ring(), setting.basis(), &self.seed, 0);
        U32Ciphertext::of(setting, [&self.first, &second])
    }
}

/// Encrypted selections: the message that a client sends.
#[derive(Debug, Clone)]
pub struct Query {
    pub(crate) key: KeyId,
    pub(crate) name: QueryName,
    /// The hash of the schema of the table.
    pub(crate) table: [u8; 32],
    /// How many selections.
    pub(crate) count: usize,
    pub(crate) ciphertexts: Vec<Seeded>,
}

impl Query {
    /// The key pair.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// The number of selections.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Encrypts selections, which the query does not tell apart from others; it has no name.
    ///
    /// Cost: a fresh encryption for every [`Shape::selections`] of them.
    ///
    /// # Errors
    /// [`crate::Error::OutOfRange`] for a selection that the table does not have, or none at all.
    pub fn new(
        setting: &Setting,
        shape: &Shape,
        secret: &SecretKey,
        selections: &[Selection],
        rng: &mut impl RngCore,
    ) -> Result<Self> {
        Limits::at_least(1).check("the number of selections", selections.len())?;
        for selection in selections {
            Limits::below(shape.polynomials()).check("the polynomial that is asked for", selection.polynomial)?;
            Limits::below(shape.records).check("the record that is asked for", selection.record)?;
        }
        let encrypt = |chosen: &[Selection]| {
            let mut residues = Zeroizing::new(vec![0; PRIMES * N]);
            for (index, row) in residues.chunks_exact_mut(N).enumerate() {
                encode(setting, shape, index, chosen, row);
            }
            Seeded::encrypt(setting, secret, &residues, rng)
        };
        let ciphertexts = selections.chunks(shape.selections).map(encrypt).collect();
        let (key, name) = (secret.key_id(), QueryName::default());
        Ok(Self { key, name, table: shape.hash(&[]), count: selections.len(), ciphertexts })
    }
}

/// Δ = round(Q/t), t = 2^{message bits}.
pub(crate) fn delta(setting: &Setting, message_bits: u32) -> u64 {
    (setting.modulus() + (1 << (message_bits - 1))) >> message_bits
}

/// What the message 1 is before an expansion, modulo prime `index`: Δ·2^{−depth}.
fn unit(setting: &Setting, message_bits: u32, depth: u32, index: usize) -> u64 {
    let q = setting.prime(index);
    q.mul(q.reduce(delta(setting, message_bits)), q.inv(q.pow(2, u64::from(depth))))
}

/// The coefficients of some selections modulo prime `index`. Time and memory accesses do not depend
/// on what is selected.
fn encode(setting: &Setting, shape: &Shape, index: usize, chosen: &[Selection], row: &mut [u64]) {
    let q = setting.prime(index);
    let unit = unit(setting, shape.message_bits, shape.depth(), index);
    let halve = q.inv(q.pow(2, u64::from(shape.depth())));
    let gadget: Vec<u64> =
        shape.gadget.values(bits_of(setting.modulus())).map(|value| q.mul(q.reduce(value), halve)).collect();
    for (selection, place) in chosen.iter().zip(row.chunks_exact_mut(shape.selection_coefficients())) {
        // R is public, so is the time that dividing by it takes; the quotient is not looked at.
        let (wanted, column) = divided(selection.polynomial, shape.rows);
        let (rows, selectors) = place.split_at_mut(shape.rows);
        for (number, coefficient) in rows.iter_mut().enumerate() {
            *coefficient = u64::conditional_select(&0, &unit, (number as u64).ct_eq(&wanted));
        }
        let column_bits = index_bits(shape.columns);
        let bits = (0..column_bits).map(|bit| column >> bit & 1);
        let bits = bits.chain((0..index_bits(shape.records)).map(|bit| selection.record as u64 >> bit & 1));
        for (bit, selector) in bits.zip(selectors.chunks_exact_mut(gadget.len())) {
            let bit = Choice::from(bit as u8);
            for (coefficient, value) in selector.iter_mut().zip(&gadget) {
                *coefficient = u64::conditional_select(&0, value, bit);
            }
        }
    }
}

/// (x mod d, ⌊x/d⌋) in a time that does not depend on x < 2^50, d ≤ 2^12: by long division, since a
/// processor's own takes longer for larger quotients.
pub(crate) fn divided(x: usize, d: usize) -> (u64, u64) {
    let (mut rest, mut quotient) = (x as u64, 0);
    for bit in (0..50).rev() {
        let multiple = (d as u64) << bit;
        let fits = Choice::from((rest.wrapping_sub(multiple) >> 63) as u8 ^ 1);
        rest = u64::conditional_select(&rest, &rest.wrapping_sub(multiple), fits);
        quotient |= u64::from(fits.unwrap_u8()) << bit;
    }
    (rest, quotient)
}

/// The evaluation keys that a server needs for tables of this shape.
///
/// # Errors
/// Those of the RLWE layer.
pub fn evaluation_keys(
    setting: &Arc<Setting>,
    shape: &Shape,
    secret: &SecretKey,
    rng: &mut impl RngCore,
) -> Result<EvaluationKeys> {
    let mut keys = EvaluationKeys::of(secret);
    for element in shape.elements() {
        keys.add_galois(secret, element, PRIMES, rng)?;
    }
    if shape.selectors() > 0 {
        keys.add_relinearisation(secret, PRIMES, rng)?;
    }
    debug_assert!(Arc::ptr_eq(keys.context(), setting.context()));
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_division_is_division() {
        for d in [1, 2, 3, 512, 4095, 4096] {
            for x in [0, 1, 2, 511, 512, 513, 4096 * 5 + 7, (1 << 36) + 12345] {
                assert_eq!(divided(x, d), ((x % d) as u64, (x / d) as u64), "{x} by {d}");
            }
        }
    }
}
