//! Ciphertexts as the server works on them: rows of 32-bit residues.

use std::sync::Arc;

use windlass_kernels::u32_rows;
use windlass_ring::{Eval, Poly};

use crate::pool::{Pool, Words};
use crate::setting::{N, PRIMES, Setting};

/// Words of a ciphertext.
const WORDS: usize = 2 * PRIMES * N;

/// Both parts of a ciphertext, phase c_0 + c_1·s, over the two primes of Q: `[part][prime][n]`
/// values, canonical, in the order of [`Poly<Eval>`].
#[derive(Debug)]
pub struct U32Ciphertext {
    words: Words,
    pool: Arc<Pool>,
}

impl Drop for U32Ciphertext {
    fn drop(&mut self) {
        self.pool.give_back(std::mem::take(&mut self.words));
    }
}

impl U32Ciphertext {
    /// Unspecified residues, to be overwritten.
    pub fn unspecified(setting: &Setting) -> Self {
        let pool = Arc::clone(setting.buffer_pool());
        Self { words: pool.take_or_abort(WORDS), pool }
    }

    /// The same residues in words of 32 bits.
    pub fn of(setting: &Setting, parts: [&Poly<Eval>; 2]) -> Self {
        let mut pair = Self::unspecified(setting);
        for (part, rows) in parts.into_iter().zip(pair.rows_mut()) {
            for (index, row) in rows.into_iter().enumerate() {
                row.iter_mut().zip(part.row(index)).for_each(|(word, &x)| *word = x as u32);
            }
        }
        pair
    }

    /// Residues in the order of [`Self::words`], which are canonical.
    pub fn of_words(setting: &Setting, words: &[u32]) -> Self {
        let mut pair = Self::unspecified(setting);
        pair.words.residues_mut()[..WORDS].copy_from_slice(words);
        pair
    }

    /// The residues, `[part][prime][n]`.
    pub fn words(&self) -> &[u32] {
        &self.words.residues()[..WORDS]
    }

    /// The engine's polynomials.
    #[cfg(test)]
    pub fn to_parts(&self, setting: &Setting) -> [Poly<Eval>; 2] {
        [0, 1].map(|part| {
            let residues = self.part(part).into_iter().flatten().map(|&x| x.into()).collect();
            let poly = Poly::from_rows(setting.context().ring(), setting.basis(), residues);
            poly.expect("residues are canonical")
        })
    }

    /// The row of a part modulo prime `index`.
    pub fn row(&self, part: usize, index: usize) -> &[u32] {
        &self.words.residues()[(part * PRIMES + index) * N..][..N]
    }

    /// Both rows of a part.
    pub fn part(&self, part: usize) -> [&[u32]; PRIMES] {
        [0, 1].map(|index| self.row(part, index))
    }

    /// All rows, `[part][prime]`.
    pub fn rows_mut(&mut self) -> [[&mut [u32]; PRIMES]; 2] {
        let mut rows = self.words.residues_mut()[..WORDS].chunks_exact_mut(N);
        [(); 2].map(|()| [(); PRIMES].map(|()| rows.next().expect("two rows for each part")))
    }

    /// The same memory as words of 64 bits: two rows of them.
    pub(crate) fn long_words(&self) -> &[u64] {
        bytemuck::cast_slice(&self.words.residues()[..WORDS])
    }

    /// The same, to be written.
    pub(crate) fn long_words_mut(&mut self) -> &mut [u64] {
        bytemuck::cast_slice_mut(&mut self.words.residues_mut()[..WORDS])
    }

    /// Row by row from the rows of two others.
    fn combined(setting: &Setting, x: &Self, y: &Self, f: impl Fn(usize, &mut [u32], [&[u32]; 2])) -> Self {
        let mut out = Self::unspecified(setting);
        for (part, rows) in out.rows_mut().into_iter().enumerate() {
            for (index, row) in rows.into_iter().enumerate() {
                f(index, row, [x.row(part, index), y.row(part, index)]);
            }
        }
        out
    }

    /// `self + self`.
    pub fn twice(&self, setting: &Setting) -> Self {
        let isa = setting.isa();
        Self::combined(setting, self, self, |index, out, [x, y]| u32_rows::add(isa, setting.prime(index), out, x, y))
    }

    /// `self − other`.
    pub fn minus(&self, setting: &Setting, other: &Self) -> Self {
        let isa = setting.isa();
        Self::combined(setting, self, other, |index, out, [x, y]| u32_rows::sub(isa, setting.prime(index), out, x, y))
    }

    /// The coefficients of both parts. Cost: four inverse transforms.
    pub fn into_coefficients(mut self, setting: &Setting) -> Coefficients {
        for rows in self.rows_mut() {
            rows.into_iter().enumerate().for_each(|(index, row)| setting.plan(index).inverse(row));
        }
        Coefficients(self)
    }

    /// A copy.
    pub fn copy(&self, setting: &Setting) -> Self {
        Self::combined(setting, self, self, |_, out, [x, _]| out.copy_from_slice(x))
    }
}

/// A ciphertext by its coefficients.
#[derive(Debug)]
pub struct Coefficients(U32Ciphertext);

impl Coefficients {
    /// Both rows of a part.
    pub fn part(&self, part: usize) -> [&[u32]; PRIMES] {
        self.0.part(part)
    }

    /// (X^{−k} − 1) times it, k < n: coefficients move down, those that leave come back negated.
    pub fn moved_difference(&self, setting: &Setting, k: usize) -> Self {
        let moved = U32Ciphertext::combined(setting, &self.0, &self.0, |index, out, [x, _]| {
            let q = setting.prime(index).value() as u32;
            let below = |sum: u32| sum.min(sum.wrapping_sub(q));
            let (low, high) = x.split_at(k);
            let (stay, come) = out.split_at_mut(N - k);
            stay.iter_mut().zip(high).zip(x).for_each(|((out, &from), &x)| *out = below(from + q - x));
            // −from − x, from and x below q < 2^31.
            let last = &x[N - k..];
            come.iter_mut().zip(low).zip(last).for_each(|((out, &from), &x)| *out = below(q - below(from + x)));
        });
        Self(moved)
    }
}
