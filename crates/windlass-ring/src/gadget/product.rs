//! Σ_k digit_k·(b_k, a_k): the inner product of gadget digits with pairs of polynomials, made row
//! by row.

use windlass_kernels::rows::{self, PairSum};
use windlass_kernels::work;

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

/// The pair (Σ_k digit_k·b_k, Σ_k digit_k·a_k), and what is added to it; not yet evaluated.
#[derive(Debug, Clone, Copy)]
pub struct Product<'a> {
    digits: Digits<'a>,
    halves: [&'a [Poly<Eval>]; 2],
    addends: Option<Addends<'a>>,
}

/// Multiples of two polynomials over part of the basis, zero modulo the other primes.
#[derive(Debug, Clone, Copy)]
struct Addends<'a> {
    pair: [&'a Poly<Eval>; 2],
    /// By row of their basis.
    factors: &'a [u64],
}

impl<'a> Product<'a> {
    /// The product with digits that are stored. The halves cover the basis of the digits.
    pub fn of_digits(digits: &'a [Poly<Eval>], halves: [&'a [Poly<Eval>]; 2]) -> Self {
        assert!(!digits.is_empty() && halves.iter().all(|half| half.len() >= digits.len()), "a pair for each digit");
        Self { digits: Digits::Stored(digits), halves, addends: None }
    }

    /// The product with the digits of a decomposition, each row of them used while it is in cache.
    pub fn of_decomposition(decomposition: &'a Decomposition<'a>, halves: [&'a [Poly<Eval>]; 2]) -> Self {
        assert!(halves.iter().all(|half| half.len() >= decomposition.len()), "a pair for each digit");
        Self { digits: Digits::Made(decomposition), halves, addends: None }
    }

    /// The product plus `factor·pair`, a factor for each prime of the basis of the pair. That is part of
    /// the basis of the digits, and zero is added modulo its other primes.
    pub fn plus(self, pair: [&'a Poly<Eval>; 2], factors: &'a [u64]) -> Self {
        assert!(pair.iter().all(|half| half.basis().len() == factors.len()), "a factor for each prime");
        Self { addends: Some(Addends { pair, factors }), ..self }
    }

    pub(super) fn basis(&self) -> &'a Basis {
        match self.digits {
            Digits::Stored(digits) => digits[0].basis(),
            Digits::Made(decomposition) => decomposition.basis(),
        }
    }

    /// Rows of scratch memory for the digits modulo one prime.
    fn made(&self) -> usize {
        match self.digits {
            Digits::Stored(_) => 0,
            Digits::Made(decomposition) => decomposition.len(),
        }
    }

    /// How many rows are best made together.
    pub(super) fn together(&self) -> usize {
        match self.digits {
            Digits::Stored(_) => 1,
            Digits::Made(decomposition) => decomposition.together(),
        }
    }

    /// Writes both rows of each prime.
    pub(super) fn write(&self, indices: &[usize], out: Vec<[&mut [u64]; 2]>) {
        let ring = self.halves[0][0].ring();
        ring.with_scratch(self.made() * indices.len(), |scratch| {
            let digits = self.digits(indices, scratch.split_mut());
            for ((row, &index), out) in indices.iter().enumerate().zip(out) {
                let [b, a] = self.halves;
                let keys = |k: usize| [b[k].row_of(index), a[k].row_of(index)];
                let terms = digits.iter().enumerate().map(|(k, rows)| (keys(k), rows[row]));
                let mut sums = [PairSum { out, terms: terms.collect() }];
                work::add(work::Kind::Keys, 2 * digits.len() * ring.n());
                rows::dot_pairs(ring.isa(), ring.modulus(index), &mut sums);
                let [PairSum { out, .. }] = sums;
                if let Some(addends) = self.addends {
                    addends.add_to(index, out);
                }
            }
        });
    }

    /// Digit by digit the rows modulo some primes; `scratch` holds those that have to be made.
    fn digits<'b>(&'b self, indices: &[usize], scratch: Vec<&'b mut [u64]>) -> Vec<Vec<&'b [u64]>> {
        let mut scratch = scratch.into_iter();
        match self.digits {
            Digits::Stored(digits) => {
                digits.iter().map(|digit| indices.iter().map(|&index| digit.row_of(index)).collect()).collect()
            }
            Digits::Made(decomposition) => (0..decomposition.len())
                .map(|k| decomposition.rows(k, indices, scratch.by_ref().take(indices.len()).collect()))
                .collect(),
        }
    }

    /// The pair itself, over the basis of the digits.
    pub fn evaluate(&self) -> [Poly<Eval>; 2] {
        self.filled(1, |_, indices, out| self.write(indices, out)).swap_remove(0)
    }

    /// Pairs over the basis of the digits whose rows `write(number, primes, rows)` writes: modulo
    /// a few primes those of all pairs, one after the other.
    pub(super) fn filled(
        &self,
        pairs: usize,
        write: impl Fn(usize, &[usize], Vec<[&mut [u64]; 2]>) + Sync,
    ) -> Vec<[Poly<Eval>; 2]> {
        let (ring, basis) = (self.halves[0][0].ring(), self.basis());
        let unspecified = || std::array::from_fn(|_| Poly::<Coeff>::unspecified(ring, basis));
        let mut out: Vec<[Poly<Coeff>; 2]> = (0..pairs).map(|_| unspecified()).collect();
        let buffers = out.iter_mut().flatten().map(Poly::rows_mut).collect();
        ring.for_each_block(buffers, self.together(), |first, rows| {
            let indices: Vec<usize> = (first..first + rows.len()).map(|row| basis.index(row)).collect();
            let mut rows: Vec<_> = rows.into_iter().map(Vec::into_iter).collect();
            let next = |row: &mut std::vec::IntoIter<_>| row.next().expect("two rows for each pair");
            for number in 0..pairs {
                write(number, &indices, rows.iter_mut().map(|row| [next(row), next(row)]).collect());
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

impl Addends<'_> {
    fn add_to(&self, index: usize, out: [&mut [u64]; 2]) {
        let ring = self.pair[0].ring();
        let Some(row) = self.pair[0].basis().row_of(index) else { return };
        for (out, half) in out.into_iter().zip(self.pair) {
            rows::mul_scalar_add_assign(ring.isa(), ring.modulus(index), out, half.row(row), self.factors[row]);
        }
    }
}

impl Rows<2> for Product<'_> {
    fn together(&self) -> usize {
        Product::together(self)
    }

    fn scratch(&self) -> usize {
        2
    }

    fn rows<'a>(&'a self, indices: &[usize], scratch: &'a mut RowBuffer) -> Vec<[&'a [u64]; 2]> {
        let mut rows = scratch.split_mut().into_iter();
        let mut next = || rows.next().expect("two rows for each prime");
        self.write(indices, indices.iter().map(|_| [next(), next()]).collect());
        (0..indices.len()).map(|k| [scratch.row(2 * k), scratch.row(2 * k + 1)]).collect()
    }
}
