//! Dividing by part of the modulus, with rounding.

use std::sync::Arc;

use windlass_kernels::{Automorphism, rows};

use crate::basis::Basis;
use crate::buffer::RowBuffer;
use crate::poly::{Coeff, Eval, Poly};
use crate::ring::Ring;
use crate::rns::{BaseConverter, PrimeRow};

/// Where the rows of N polynomials come from: they are there, or made when they are asked for.
pub(crate) trait Rows<const N: usize>: Sync {
    /// How many rows are best made together.
    fn together(&self) -> usize;

    /// Rows of scratch memory that making those of one prime takes.
    fn scratch(&self) -> usize;

    /// The rows of each prime.
    fn rows<'a>(&'a self, indices: &[usize], scratch: &'a mut RowBuffer) -> Vec<[&'a [u64]; N]>;
}

impl<const N: usize> Rows<N> for [&Poly<Eval>; N] {
    fn together(&self) -> usize {
        1
    }

    fn scratch(&self) -> usize {
        0
    }

    fn rows<'a>(&'a self, indices: &[usize], _: &'a mut RowBuffer) -> Vec<[&'a [u64]; N]> {
        indices.iter().map(|&index| self.map(|poly| poly.row_of(index))).collect()
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
        let together = source.together().max(self.ring.rows_together(self.drop.len() + 1, self.keep.len()));
        self.ring.for_each_block(out.each_mut().map(Poly::rows_mut).into(), together, |first, rows| {
            let rows = (first..).map(|row| self.keep.index(row)).zip(rows);
            let (added, kept): (Vec<_>, Vec<_>) = rows.partition(|&(index, _)| self.added.row_of(index).is_some());
            let (indices, kept): (Vec<usize>, Vec<_>) = kept.into_iter().unzip();
            self.ring.with_scratch(source.scratch() * indices.len(), |scratch| {
                let in_qp = source.rows(&indices, scratch);
                for (h, out) in halves::<N>(kept).into_iter().enumerate() {
                    let in_qp = in_qp.iter().map(|rows| rows[h]).collect::<Vec<_>>();
                    let out = indices.iter().copied().zip(out).collect();
                    self.finish_rows(&weighed[h], &in_qp, (epilogue.addends[h], epilogue.automorphism), out);
                }
            });
            let (indices, added): (Vec<usize>, Vec<_>) = added.into_iter().unzip();
            for (h, out) in halves::<N>(added).into_iter().enumerate() {
                self.write_added_rows(&weighed[h], indices.iter().copied().zip(out).collect());
            }
        });
        drop(weighed);
        self.ring.return_buffer(excess);
        out.map(Poly::assume_eval)
    }

    /// The coefficients modulo the primes that are dropped, weighed, in source form.
    fn residues<const N: usize>(&self, source: &impl Rows<N>) -> [Poly<Coeff>; N] {
        let ring = &self.ring;
        let mut residues: [Poly<Coeff>; N] = std::array::from_fn(|_| Poly::unspecified(ring, &self.drop));
        let buffers = residues.each_mut().map(Poly::rows_mut).into();
        ring.for_each_block(buffers, source.together(), |first, rows| {
            let indices: Vec<usize> = (first..first + rows.len()).map(|row| self.drop.index(row)).collect();
            ring.with_scratch(source.scratch() * rows.len(), |scratch| {
                let in_qp = source.rows(&indices, scratch);
                for ((&index, in_qp), out) in indices.iter().zip(in_qp).zip(rows) {
                    for (out, in_qp) in out.into_iter().zip(in_qp) {
                        rows::mul_scalar(ring.isa(), ring.modulus(index), out, in_qp, self.converter.weight(index));
                        ring.plan(index).inverse(out);
                        self.converter.prepare_weighed(out);
                    }
                }
            });
        });
        residues
    }

    /// δ·(−factor/D) modulo primes that A·x is a multiple of.
    fn write_added_rows(&self, weighed: &[&[u64]], mut out: Vec<PrimeRow<'_>>) {
        let ring = &self.ring;
        self.converter.convert_rows(weighed, &mut out);
        for (index, out) in out {
            ring.plan(index).forward(out);
            rows::mul_scalar_assign(ring.isa(), ring.modulus(index), out, self.quotient(index));
        }
    }

    /// What a sum is multiplied by modulo a prime that is kept.
    fn quotient(&self, index: usize) -> u64 {
        self.quotients[self.keep.row_of(index).expect("a prime that is kept")]
    }

    /// θ((δ/A − x)·(−factor·A/D) + addend), δ/A converted from the weighed residues.
    fn finish_rows(
        &self,
        weighed: &[&[u64]],
        in_qp: &[&[u64]],
        (addend, automorphism): (Option<&Poly<Eval>>, Option<&Automorphism>),
        mut out: Vec<PrimeRow<'_>>,
    ) {
        let (ring, isa) = (&self.ring, self.ring.isa());
        let divide = |rows: &mut [PrimeRow<'_>]| {
            self.converter.convert_rows(weighed, rows);
            for ((index, x), in_qp) in rows.iter_mut().zip(in_qp) {
                let (q, quotient) = (ring.modulus(*index), self.quotient(*index));
                ring.plan(*index).forward(x);
                match addend {
                    Some(addend) => {
                        rows::sub_mul_scalar_add_assign(isa, q, x, in_qp, quotient, addend.row_of(*index));
                    }
                    None => rows::sub_mul_scalar_assign(isa, q, x, in_qp, quotient),
                }
            }
        };
        let Some(automorphism) = automorphism else { return divide(&mut out) };
        ring.with_scratch(out.len(), |scratch| {
            let indices = out.iter().map(|&(index, _)| index);
            divide(&mut indices.zip(scratch.split_mut()).collect::<Vec<_>>());
            for (row, (_, out)) in out.into_iter().enumerate() {
                automorphism.apply(isa, out, scratch.row(row));
            }
        });
    }
}

/// From the rows of N polynomials prime by prime, those of each polynomial.
fn halves<const N: usize>(rows: Vec<Vec<&mut [u64]>>) -> [Vec<&mut [u64]>; N] {
    let mut halves = std::array::from_fn(|_| Vec::with_capacity(rows.len()));
    rows.into_iter().for_each(|row| halves.iter_mut().zip(row).for_each(|(half, row)| half.push(row)));
    halves
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
