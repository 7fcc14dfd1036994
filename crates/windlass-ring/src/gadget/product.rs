//! Σ_k digit_k·(b_k, a_k): the inner product of gadget digits with pairs of polynomials, made row
//! by row.

use windlass_kernels::rows::{self, PairSum};

use super::decomposition::Decomposition;
use crate::basis::Basis;
use crate::buffer::RowBuffer;
use crate::poly::{Coeff, Eval, Poly};
use crate::rns::{Division, Epilogue, Rows};

/// The digits of a product.
#[derive(Debug, Clone, Copy)]
enum Digits<'a> {
    Stored(&'a [Poly<Eval>]),
    /// Used once: never written to memory.
    Made(&'a Decomposition<'a>),
}

/// The pair (Σ_k digit_k·b_k, Σ_k digit_k·a_k), not yet evaluated.
#[derive(Debug, Clone, Copy)]
pub struct Product<'a> {
    digits: Digits<'a>,
    halves: [&'a [Poly<Eval>]; 2],
}

impl<'a> Product<'a> {
    /// The product with digits that are stored. The halves cover the basis of the digits.
    pub fn of_digits(digits: &'a [Poly<Eval>], halves: [&'a [Poly<Eval>]; 2]) -> Self {
        assert!(!digits.is_empty() && halves.iter().all(|half| half.len() >= digits.len()), "a pair for each digit");
        Self { digits: Digits::Stored(digits), halves }
    }

    /// The product with the digits of a decomposition, each row of them used while it is in cache.
    pub fn of_decomposition(decomposition: &'a Decomposition<'a>, halves: [&'a [Poly<Eval>]; 2]) -> Self {
        assert!(halves.iter().all(|half| half.len() >= decomposition.len()), "a pair for each digit");
        Self { digits: Digits::Made(decomposition), halves }
    }

    pub(super) fn basis(&self) -> &'a Basis {
        match self.digits {
            Digits::Stored(digits) => digits[0].basis(),
            Digits::Made(decomposition) => decomposition.basis(),
        }
    }

    /// Rows of scratch memory for digits.
    fn made(&self) -> usize {
        match self.digits {
            Digits::Stored(_) => 0,
            Digits::Made(decomposition) => decomposition.len(),
        }
    }

    /// Writes both rows of prime `index`; `scratch` holds the digits that have to be made.
    fn write(&self, index: usize, scratch: Vec<&mut [u64]>, out: [&mut [u64]; 2]) {
        let ring = self.halves[0][0].ring();
        let digits: Vec<&[u64]> = match self.digits {
            Digits::Stored(digits) => digits.iter().map(|digit| digit.row_of(index)).collect(),
            Digits::Made(decomposition) => {
                scratch.into_iter().enumerate().map(|(k, row)| decomposition.row(k, index, row)).collect()
            }
        };
        let [b, a] = self.halves;
        let terms = digits.iter().enumerate().map(|(k, &digit)| ([b[k].row_of(index), a[k].row_of(index)], digit));
        let mut sums = [PairSum { out, terms: terms.collect() }];
        rows::dot_pairs(ring.isa(), ring.modulus(index), &mut sums);
    }

    /// The pair itself, over the basis of the digits.
    pub fn evaluate(&self) -> [Poly<Eval>; 2] {
        let ring = self.halves[0][0].ring();
        let write = |_, index, out: [&mut [u64]; 2]| {
            ring.with_scratch(self.made(), |scratch| self.write(index, scratch.split_mut(), out));
        };
        self.filled(1, write).swap_remove(0)
    }

    /// Pairs over the basis of the digits whose rows `write(number, index, rows)` writes: modulo
    /// one prime those of all pairs, one after the other.
    pub(super) fn filled(
        &self,
        pairs: usize,
        write: impl Fn(usize, usize, [&mut [u64]; 2]) + Sync,
    ) -> Vec<[Poly<Eval>; 2]> {
        let (ring, basis) = (self.halves[0][0].ring(), self.basis());
        let unspecified = || std::array::from_fn(|_| Poly::<Coeff>::unspecified(ring, basis));
        let mut out: Vec<[Poly<Coeff>; 2]> = (0..pairs).map(|_| unspecified()).collect();
        let buffers = out.iter_mut().flatten().map(Poly::rows_mut).collect();
        ring.for_each_rows_of(buffers, |row, out| {
            let mut out = out.into_iter();
            for number in 0..pairs {
                write(number, basis.index(row), [(); 2].map(|()| out.next().expect("two rows for each pair")));
            }
        });
        out.into_iter().map(|pair| pair.map(Poly::assume_eval)).collect()
    }

    /// `θ(factor · round(product / D) + addends)` over `keep`, D the product of the other primes of
    /// the basis.
    pub fn divide(&self, keep: &Basis, factor: u64, epilogue: &Epilogue<'_, 2>) -> [Poly<Eval>; 2] {
        Division::new(self.halves[0][0].ring(), self.basis(), keep, 1, factor).apply(self, epilogue)
    }
}

impl Rows<2> for Product<'_> {
    fn scratch(&self) -> usize {
        self.made() + 2
    }

    fn rows<'a>(&'a self, index: usize, scratch: &'a mut RowBuffer) -> [&'a [u64]; 2] {
        let mut split = scratch.split_mut();
        let made = split.split_off(2);
        self.write(index, made, split.try_into().expect("two rows beside the digits"));
        [scratch.row(0), scratch.row(1)]
    }
}
