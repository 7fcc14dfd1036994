//! Encrypted bits that choose between ciphertexts: RGSW and its external product.
//!
//! With the gadget g_k = 2^{d + k·β}, k < ℓ, a *selector* of the bit b holds RLWE encryptions of
//! b·g_k and of b·g_k·s. Cutting both parts of a ciphertext into signed digits of base 2^β (the
//! lowest d bits are rounded away) and taking the inner product gives a ciphertext of b times its
//! phase: c_0 ≈ Σ digit_k(c_0)·g_k, and alike c_1·s. The client sends b·g_k only. From an
//! encryption (x_0, x_1) of b·g_k that of b·g_k·s is (0, x_0) plus x_1 switched from s² to s, with
//! the relinearisation key (Chen–Chillotti–Ren 2019).

use serde::{Deserialize, Serialize};
use windlass_ring::Poly;
use windlass_rlwe::evaluation::EvaluationKeys;
use windlass_rlwe::switching::{Finish, switch};

use crate::error::{Error, Result};
use crate::setting::{N, Pair, Setting};

/// The gadget of selectors: ℓ digits of β bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SelectorGadget {
    /// ℓ.
    pub digits: u32,
    /// β.
    pub base_bits: u32,
}

impl SelectorGadget {
    /// d: the bits that are rounded away, for a modulus of `modulus_bits` bits.
    pub fn dropped(self, modulus_bits: u32) -> u32 {
        modulus_bits.saturating_sub(self.digits * self.base_bits)
    }

    /// g_k, ascending.
    pub fn values(self, modulus_bits: u32) -> impl Iterator<Item = u64> {
        let dropped = self.dropped(modulus_bits);
        (0..self.digits).map(move |k| 1 << (dropped + k * self.base_bits))
    }
}

/// An encrypted bit, ready to choose.
#[derive(Debug)]
pub struct Selector {
    gadget: SelectorGadget,
    /// RLWE encryptions of b·g_k, then of b·g_k·s.
    rows: Vec<Pair>,
}

impl Selector {
    /// The selector of the bit b from encryptions of b·g_k.
    ///
    /// Cost: one key switch for each.
    ///
    /// # Errors
    /// [`Error::MissingKey`] without a relinearisation key.
    pub fn new(
        setting: &Setting,
        keys: &EvaluationKeys,
        gadget: SelectorGadget,
        encrypted: impl IntoIterator<Item = Pair>,
    ) -> Result<Self> {
        let key = keys.relinearisation().ok_or(Error::MissingKey { what: "the relinearisation key" })?;
        let mut rows: Vec<Pair> = encrypted.into_iter().collect();
        for k in 0..rows.len() {
            let finish = Finish { addends: [None, Some(&rows[k][0])], automorphism: None };
            let times_secret = switch(setting.context(), &rows[k][1], 1, key, &finish)?;
            rows.push(times_secret);
        }
        Ok(Self { gadget, rows })
    }

    /// A ciphertext of b times the phase of `ciphertext`.
    ///
    /// Cost: 4 inverse transforms, 4ℓ forward ones.
    pub fn times(&self, setting: &Setting, ciphertext: Pair) -> Pair {
        let mut digits = Vec::with_capacity(self.rows.len());
        for part in ciphertext {
            for digit in signed_digits(setting, self.gadget, &setting.integers(&part.into_coeff())) {
                digits.push(Poly::from_signed(setting.context().ring(), setting.basis(), &digit).into_eval());
            }
        }
        [0, 1].map(|part| {
            let terms: Vec<_> = self.rows.iter().zip(&digits).map(|(row, digit)| (&row[part], digit)).collect();
            Poly::dot(setting.context().ring(), setting.basis(), &terms)
        })
    }

    /// `if b { one } else { zero }`: zero + b·(one − zero).
    pub fn choose(&self, setting: &Setting, zero: &Pair, one: &Pair) -> Pair {
        let difference = [0, 1].map(|part| one[part].minus(&zero[part]));
        let mut chosen = self.times(setting, difference);
        chosen.iter_mut().zip(zero).for_each(|(chosen, zero)| chosen.add_assign(zero));
        chosen
    }
}

/// The digits of integers below Q, taken as centred ones: digit k of all of them is entry k.
fn signed_digits(setting: &Setting, gadget: SelectorGadget, integers: &[u64]) -> Vec<Vec<i64>> {
    let modulus = setting.modulus() as i64;
    let dropped = gadget.dropped(bits_of(setting.modulus()));
    let rounding = (1i64 << dropped) >> 1;
    let (base, half) = (1i64 << gadget.base_bits, 1i64 << (gadget.base_bits - 1));
    let mut digits = vec![vec![0; N]; gadget.digits as usize];
    let mut rest: Vec<i64> = integers
        .iter()
        .map(|&x| {
            let x = x as i64;
            let centred = x - (modulus & -((x > modulus / 2) as i64));
            (centred + rounding) >> dropped
        })
        .collect();
    let (last, lower) = digits.split_last_mut().expect("at least one digit");
    for digit in lower {
        for (digit, rest) in digit.iter_mut().zip(&mut rest) {
            *digit = ((*rest + half) & (base - 1)) - half;
            *rest = (*rest - *digit) >> gadget.base_bits;
        }
    }
    last.copy_from_slice(&rest);
    digits
}

/// The least b with x < 2^b.
pub(crate) fn bits_of(x: u64) -> u32 {
    64 - x.leading_zeros()
}

/// The column of a number that is given by its bits, lowest first.
///
/// Cost: one external product for each column but the first.
pub fn select(setting: &Setting, bits: &[Selector], columns: Vec<Pair>) -> Pair {
    use rayon::prelude::*;
    let chosen = bits.iter().fold(columns, |columns, bit| {
        let mut columns = columns.into_iter();
        let mut pairs = Vec::with_capacity(columns.len().div_ceil(2));
        while let Some(zero) = columns.next() {
            pairs.push((zero, columns.next()));
        }
        let choose = |(zero, one): (Pair, Option<Pair>)| match one {
            Some(one) => bit.choose(setting, &zero, &one),
            // There is no column of that number: whoever asked for another one has b = 0 here.
            None => zero,
        };
        pairs.into_par_iter().map(choose).collect()
    });
    chosen.into_iter().next().expect("a table has a column")
}

/// The ciphertext moved down by `step·number` coefficients, the number given by its bits, lowest
/// first.
pub fn move_down(setting: &Setting, bits: &[Selector], step: usize, ciphertext: Pair) -> Pair {
    bits.iter().enumerate().fold(ciphertext, |ciphertext, (j, bit)| {
        let monomial = setting.monomial((step << j) % N);
        let moved = [0, 1].map(|part| ciphertext[part].mul(&monomial));
        bit.choose(setting, &ciphertext, &moved)
    })
}
