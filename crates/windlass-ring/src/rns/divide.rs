//! Dividing by part of the modulus, with rounding.

use std::sync::Arc;

use windlass_kernels::{Automorphism, rows};

use crate::basis::Basis;
use crate::buffer::RowBuffer;
use crate::poly::{Coeff, Eval, Poly};
use crate::ring::Ring;
use crate::rns::BaseConverter;

/// Where the rows of N polynomials come from: they are there, or made when they are asked for.
pub(crate) trait Rows<const N: usize>: Sync {
    /// Rows of scratch memory that making them takes.
    fn scratch(&self) -> usize;

    /// The rows of prime `index`.
    fn rows<'a>(&'a self, index: usize, scratch: &'a mut RowBuffer) -> [&'a [u64]; N];
}

impl<const N: usize> Rows<N> for [&Poly<Eval>; N] {
    fn scratch(&self) -> usize {
        0
    }

    fn rows<'a>(&'a self, index: usize, _: &'a mut RowBuffer) -> [&'a [u64]; N] {
        self.map(|poly| poly.row_of(index))
    }
}

/// What is done to N results while their rows are in cache: `θ(result + addend)`.
#[derive(Debug, Clone, Copy)]
pub struct Epilogue<'a, const N: usize> {
    /// What is added, over the basis of the results.
    pub addends: [Option<&'a Poly<Eval>>; N],
    /// The automorphism applied last.
    pub automorphism: Option<&'a Automorphism>,
}

impl<const N: usize> Default for Epilogue<'_, N> {
    fn default() -> Self {
        Self { addends: [None; N], automorphism: None }
    }
}

/// `factor · multiplier · round(multiplier^{-1}·A·x / D)`, D the product of the primes `drop`, A that
/// of the primes of `keep` that x does not have.
pub(crate) struct Division {
    ring: Arc<Ring>,
    keep: Basis,
    drop: Basis,
    added: Basis,
    converter: Arc<BaseConverter>,
    /// −factor/D modulo each prime that is added, −factor·A/D modulo the others that are kept.
    quotients: Vec<u64>,
}

impl Division {
    pub fn new(ring: &Arc<Ring>, basis: &Basis, keep: &Basis, multiplier: u64, factor: u64) -> Self {
        let (drop, added) = (basis.without(keep), keep.without(basis));
        let converter = ring.raising_converter((&drop, keep), multiplier, &added);
        let quotient = |index: usize| {
            let (q, is_added) = (ring.modulus(index), added.row_of(index).is_some());
            let raise = if is_added { 1 } else { ring.product(&added, q) };
            q.mul(converter.quotient(index), q.mul(q.reduce(factor), raise))
        };
        Self {
            quotients: keep.indices().map(quotient).collect(),
            converter: Arc::clone(&converter),
            ring: Arc::clone(ring),
            keep: keep.clone(),
            drop,
            added,
        }
    }

    /// Divides N polynomials. Each row is made, converted, transformed, combined and permuted while
    /// it is in cache, and all transforms modulo one prime follow each other, so that its tables
    /// are read once.
    pub fn apply<const N: usize>(&self, source: &impl Rows<N>, epilogue: &Epilogue<'_, N>) -> [Poly<Eval>; N] {
        let finishes = epilogue.automorphism.is_some() || epilogue.addends.iter().any(Option::is_some);
        assert!(self.added.is_empty() || !finishes, "nothing is added or moved where primes are added");
        let residues = self.residues(source);
        let mut excess = self.ring.take_buffer(N);
        self.ring.for_each_row(&mut excess, |h, out| {
            self.converter.excess(&all_rows(&residues[h]), out);
        });
        let weighed: [Vec<&[u64]>; N] = std::array::from_fn(|h| {
            let mut rows = all_rows(&residues[h]);
            rows.push(excess.row(h));
            rows
        });
        let mut out: [Poly<Coeff>; N] = std::array::from_fn(|_| Poly::unspecified(&self.ring, &self.keep));
        self.ring.for_each_rows(out.each_mut().map(Poly::rows_mut), |row, out| {
            self.ring.with_scratch(source.scratch(), |scratch| {
                let index = self.keep.index(row);
                if self.added.row_of(index).is_some() {
                    out.into_iter().zip(&weighed).for_each(|(out, weighed)| self.write_added_row(row, weighed, out));
                    return;
                }
                let wide = source.rows(index, scratch);
                for (h, out) in out.into_iter().enumerate() {
                    self.finish_row(row, &weighed[h], wide[h], (epilogue.addends[h], epilogue.automorphism), out);
                }
            });
        });
        drop(weighed);
        self.ring.return_buffer(excess);
        out.map(Poly::assume_eval)
    }

    /// The coefficients modulo the primes that are dropped, weighed.
    fn residues<const N: usize>(&self, source: &impl Rows<N>) -> [Poly<Coeff>; N] {
        let ring = &self.ring;
        let mut residues: [Poly<Coeff>; N] = std::array::from_fn(|_| Poly::unspecified(ring, &self.drop));
        ring.for_each_rows(residues.each_mut().map(Poly::rows_mut), |row, out| {
            ring.with_scratch(source.scratch(), |scratch| {
                let index = self.drop.index(row);
                let wide = source.rows(index, scratch);
                for (out, wide) in out.into_iter().zip(wide) {
                    rows::mul_scalar(ring.isa(), ring.modulus(index), out, wide, self.converter.weight(index));
                    ring.plan(index).inverse(out);
                }
            });
        });
        residues
    }

    /// δ·(−factor/D) modulo a prime that A·x is a multiple of.
    fn write_added_row(&self, row: usize, weighed: &[&[u64]], out: &mut [u64]) {
        let (ring, index) = (&self.ring, self.keep.index(row));
        self.converter.convert_row(weighed, index, out);
        ring.plan(index).forward(out);
        rows::mul_scalar_assign(ring.isa(), ring.modulus(index), out, self.quotients[row]);
    }

    /// θ((δ/A − x)·(−factor·A/D) + addend), δ/A converted from the weighed residues.
    fn finish_row(
        &self,
        row: usize,
        weighed: &[&[u64]],
        wide: &[u64],
        (addend, automorphism): (Option<&Poly<Eval>>, Option<&Automorphism>),
        out: &mut [u64],
    ) {
        let (ring, index) = (&self.ring, self.keep.index(row));
        let (isa, q) = (ring.isa(), ring.modulus(index));
        let divide = |x: &mut [u64]| {
            self.converter.convert_row(weighed, index, x);
            ring.plan(index).forward(x);
            match addend {
                Some(addend) => {
                    let addend = addend.row_of(index);
                    rows::sub_mul_scalar_add_assign(isa, q, x, wide, self.quotients[row], addend);
                }
                None => rows::sub_mul_scalar_assign(isa, q, x, wide, self.quotients[row]),
            }
        };
        match automorphism {
            Some(automorphism) => ring.with_scratch(1, |scratch| {
                divide(scratch.row_mut(0));
                automorphism.apply(isa, out, scratch.row(0));
            }),
            None => divide(out),
        }
    }
}

fn all_rows(poly: &Poly<Coeff>) -> Vec<&[u64]> {
    (0..poly.basis().len()).map(|row| poly.row(row)).collect()
}

impl Poly<Eval> {
    /// `multiplier · round(multiplier^{-1}·x / D)` modulo the primes of `keep`, D the product of
    /// the other primes of the basis: x minus the residue δ ≡ x mod D, δ ≡ 0 mod multiplier, |δ| ≤
    /// multiplier·D/2, divided by D.
    ///
    /// Multiplier 1 is the plain rounded division. The multiplier must be invertible modulo D.
    /// Where the basis does not have all primes of `keep`, x is multiplied by the others first.
    /// Cost: |D| inverse and |keep| forward transforms, (|D|+1)·|keep| multiply-adds a coefficient.
    pub fn divide_rounded(&self, keep: &Basis, multiplier: u64) -> Self {
        let division = Division::new(self.ring(), self.basis(), keep, multiplier, 1);
        let [quotient] = division.apply(&[self], &Epilogue::default());
        quotient
    }

    /// `θ(factor · round(x / D) + addend)` for two polynomials over one basis: as
    /// [`Self::divide_rounded`] with multiplier 1, the rest at next to no cost.
    pub fn divide_pair(pair: [&Self; 2], keep: &Basis, factor: u64, epilogue: &Epilogue<'_, 2>) -> [Self; 2] {
        assert_eq!(pair[0].basis(), pair[1].basis(), "polynomials over one basis");
        Division::new(pair[0].ring(), pair[0].basis(), keep, 1, factor).apply(&pair, epilogue)
    }
}
