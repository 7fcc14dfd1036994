//! Encrypted bits that choose between ciphertexts: RGSW and its external product.
//!
//! With the gadget g_k = 2^{d + k·β}, k < ℓ, a *selector* of the bit b holds RLWE encryptions of
//! b·g_k and of b·g_k·s. Cutting both parts of a ciphertext into signed digits of base 2^β (the
//! lowest d bits are rounded away) and taking the inner product gives a ciphertext of b times its
//! phase: c_0 ≈ Σ digit_k(c_0)·g_k, and alike c_1·s. The client sends b·g_k only. From an
//! encryption (x_0, x_1) of b·g_k that of b·g_k·s is (0, x_0) plus x_1 switched from s² to s, with
//! the relinearisation key (Chen–Chillotti–Ren 2019).

use serde::{Deserialize, Serialize};
use windlass_kernels::u32_rows::{Cut, Products, Rest};

use crate::error::Result;
use crate::setting::{N, PRIMES, Setting};
use crate::switch::U32Keys;
use crate::u32_ciphertext::{Coefficients, U32Ciphertext};

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
    cut: Cut,
    /// RLWE encryptions of b·g_k, then of b·g_k·s, modulo each prime of Q.
    rows: [Products; PRIMES],
}

impl Selector {
    /// The selector of the bit b from encryptions of b·g_k.
    ///
    /// Cost: one key switch for each.
    ///
    /// # Errors
    /// [`crate::Error::MissingKey`] without a relinearisation key.
    pub fn new(
        setting: &Setting,
        keys: &U32Keys<'_>,
        gadget: SelectorGadget,
        encrypted: impl IntoIterator<Item = U32Ciphertext>,
    ) -> Result<Self> {
        let key = keys.relinearisation()?;
        let mut rows: Vec<U32Ciphertext> = encrypted.into_iter().collect();
        for k in 0..rows.len() {
            let times_secret = key.switch(setting, rows[k].part(1), [None, Some(rows[k].part(0))]);
            rows.push(times_secret);
        }
        let of = |index: usize| {
            let pairs = rows.iter().map(|row| [row.row(0, index), row.row(1, index)]);
            Products::new(setting.isa(), setting.prime(index), pairs, 1, 0)
        };
        let dropped = gadget.dropped(bits_of(setting.modulus()));
        let cut = Cut::new([setting.prime(0), setting.prime(1)], gadget.digits, gadget.base_bits, dropped);
        Ok(Self { cut, rows: [of(0), of(1)] })
    }

    /// A ciphertext of b times the phase of one that is given by its coefficients, plus another.
    ///
    /// Cost: 4ℓ forward transforms.
    fn times(&self, setting: &Setting, ciphertext: &Coefficients, added: &U32Ciphertext) -> U32Ciphertext {
        let isa = setting.isa();
        let terms = self.rows[0].terms();
        let mut cut = setting.digits().take_or_abort(terms * N);
        let mut values = setting.digits().take_or_abort(terms * N);
        for (part, digits) in cut.residues_mut()[..terms * N].chunks_exact_mut(terms / 2 * N).enumerate() {
            self.cut.apply(isa, ciphertext.part(part), digits);
        }
        let mut out = U32Ciphertext::unspecified(setting);
        let [first, second] = out.rows_mut();
        for (index, (first, second)) in first.into_iter().zip(second).enumerate() {
            // Digits are held as words without sign.
            let addend = setting.prime(index).reduce_i64(self.cut.offset()) as u32;
            // Memory that was used before may be longer than what is asked for.
            let digits = cut.residues().chunks_exact(N).take(terms);
            for (values, digit) in values.residues_mut().chunks_exact_mut(N).zip(digits) {
                setting.plan(index).forward_from(digit, addend, values);
            }
            let digits: Vec<&[u32]> = values.residues().chunks_exact(N).take(terms).collect();
            let rest = Rest { scaled: None, added: [0, 1].map(|part| Some(added.row(part, index))) };
            self.rows[index].sum(isa, &digits, rest, [first, second]);
        }
        setting.digits().give_back(cut);
        setting.digits().give_back(values);
        out
    }

    /// `if b { one } else { zero }`: zero + b·(one − zero).
    ///
    /// Cost: 4 inverse transforms, 4ℓ forward ones.
    pub fn choose(&self, setting: &Setting, zero: &U32Ciphertext, one: &U32Ciphertext) -> U32Ciphertext {
        self.times(setting, &one.minus(setting, zero).into_coefficients(setting), zero)
    }

    /// `if b { X^{−k}·c } else { c }`, k < n.
    ///
    /// Cost: as [`Self::choose`]; coefficients are multiplied by a monomial where they stand.
    fn move_down(&self, setting: &Setting, ciphertext: &U32Ciphertext, k: usize) -> U32Ciphertext {
        let coefficients = ciphertext.copy(setting).into_coefficients(setting);
        self.times(setting, &coefficients.moved_difference(setting, k), ciphertext)
    }
}

/// The least b with x < 2^b.
pub(crate) fn bits_of(x: u64) -> u32 {
    64 - x.leading_zeros()
}

/// The column of a number that is given by its bits, lowest first.
///
/// Cost: one external product for each column but the first.
pub fn select(setting: &Setting, bits: &[Selector], columns: Vec<U32Ciphertext>) -> U32Ciphertext {
    use rayon::prelude::*;
    let chosen = bits.iter().fold(columns, |columns, bit| {
        let mut columns = columns.into_iter();
        let mut pairs = Vec::with_capacity(columns.len().div_ceil(2));
        while let Some(zero) = columns.next() {
            pairs.push((zero, columns.next()));
        }
        let choose = |(zero, one): (U32Ciphertext, Option<U32Ciphertext>)| match one {
            Some(one) => bit.choose(setting, &zero, &one),
            // There is no column of that number: whoever asked for another one has b = 0 here.
            None => zero,
        };
        pairs.into_par_iter().map(choose).collect()
    });
    chosen.into_iter().next().expect("a table has a column")
}

/// The ciphertext moved down by `step·number` coefficients, fewer than n, the number given by its
/// bits, lowest first.
pub fn move_down(setting: &Setting, bits: &[Selector], step: usize, ciphertext: U32Ciphertext) -> U32Ciphertext {
    bits.iter().enumerate().fold(ciphertext, |ciphertext, (j, bit)| bit.move_down(setting, &ciphertext, step << j))
}
