//! Sums of products with values of constants.

use std::sync::Arc;

use windlass_kernels::rows::{self, PairSum};
use windlass_kernels::{Isa, Modulus, work};

use crate::basis::Basis;
use crate::periodic_values::Values;
use crate::poly::{Eval, Poly};
use crate::ring::Ring;

/// Columns for which folded values are unfolded at a time: those of a sum then stay in cache.
const COLUMNS: usize = 512;

/// One sum modulo one prime, for some columns of rows: `out = (Σ x[0]·y, Σ x[1]·y) + Σ ones`.
pub(crate) struct Products<'a, 'b> {
    pub out: [&'b mut [u64]; 2],
    /// Rows of as many columns, and the values of their constants.
    pub terms: Vec<([&'a [u64]; 2], &'a Values)>,
    /// The rows whose constant is 1.
    pub ones: Vec<[&'a [u64]; 2]>,
}

impl<'a, 'b> Products<'a, 'b> {
    /// A sum of rows with constants; `None` stands for the constant 1.
    pub fn new(out: [&'b mut [u64]; 2], rows: impl Iterator<Item = ([&'a [u64]; 2], Option<&'a Values>)>) -> Self {
        let (mut terms, mut ones) = (Vec::with_capacity(rows.size_hint().0), Vec::new());
        for (x, constant) in rows {
            match constant {
                Some(y) => terms.push((x, y)),
                None => ones.push(x),
            }
        }
        if work::is_counting() {
            let columns = out[0].len();
            work::add(work::Kind::Constants, columns * terms.len());
            work::add(work::Kind::ConstantWords, terms.iter().map(|(_, y)| y.words_of(columns)).sum());
        }
        Self { out, terms, ones }
    }

    fn periodic_terms(&self) -> usize {
        self.terms.iter().filter(|(_, y)| y.is_periodic()).count()
    }
}

/// All sums modulo prime `index`, from column `first`.
pub(crate) fn add_up(ring: &Ring, index: usize, first: usize, sums: Vec<Products<'_, '_>>) {
    if sums.iter().any(|sum| sum.periodic_terms() > 0) {
        return add_up_in_pieces(ring, index, first, sums);
    }
    let (isa, q) = (ring.isa(), ring.modulus(index));
    let (mut pairs, mut ones_of_pairs) = (Vec::with_capacity(sums.len()), Vec::with_capacity(sums.len()));
    for Products { out, terms, ones } in sums {
        let columns = first..first + out[0].len();
        let terms = terms.into_iter().map(|(x, y)| (x, y.columns(index, columns.clone(), &mut []))).collect();
        pairs.push(PairSum { out, terms });
        ones_of_pairs.push(ones);
    }
    rows::dot_pairs(isa, q, &mut pairs);
    for (pair, ones) in pairs.iter_mut().zip(ones_of_pairs) {
        add_ones(isa, q, &mut pair.out, ones.into_iter());
    }
}

/// [`add_up`] where values have to be unfolded: a piece of a row at a time, which stays in cache.
fn add_up_in_pieces(ring: &Ring, index: usize, first: usize, mut sums: Vec<Products<'_, '_>>) {
    let (isa, q) = (ring.isa(), ring.modulus(index));
    let Some(length) = sums.first().map(|sum| sum.out[0].len()) else { return };
    let most = sums.iter().map(Products::periodic_terms).max().unwrap_or(0);
    let width = COLUMNS.min(ring.n());
    ring.with_scratch(most.div_ceil(ring.n() / width), |scratch| {
        let rows = scratch.split_mut().into_iter();
        let mut pieces: Vec<&mut [u64]> = rows.flat_map(|row| row.chunks_exact_mut(width)).collect();
        for start in (0..length).step_by(width) {
            let columns = start..length.min(start + width);
            for Products { out, terms, ones } in &mut sums {
                let out = out.each_mut().map(|out| out.split_off_mut(..columns.len()).expect("columns are left"));
                let mut unused = pieces.iter_mut();
                let mut pair = PairSum { out, terms: Vec::with_capacity(terms.len()) };
                for &mut (x, y) in terms {
                    let piece: &mut [u64] = match y.is_periodic() {
                        true => &mut unused.next().expect("a piece for each that is unfolded")[..columns.len()],
                        false => &mut [],
                    };
                    let values = y.columns(index, first + columns.start..first + columns.end, piece);
                    pair.terms.push((x.map(|row| &row[columns.clone()]), values));
                }
                rows::dot_pairs(isa, q, std::slice::from_mut(&mut pair));
                let ones = ones.iter().map(|x| x.map(|row| &row[columns.clone()]));
                add_ones(isa, q, &mut pair.out, ones);
            }
        }
    });
}

/// `out += Σ ones`.
fn add_ones<'a>(isa: Isa, q: Modulus, out: &mut [&mut [u64]; 2], ones: impl Iterator<Item = [&'a [u64]; 2]>) {
    for x in ones {
        out.iter_mut().zip(x).for_each(|(out, x)| rows::add_assign(isa, q, out, x));
    }
}

/// A term of [`Poly::dot_pairs`]: a pair of polynomials and a constant; `None` stands for 1.
pub type PairTerm<'a> = ([&'a Poly<Eval>; 2], Option<&'a Values>);

impl Poly<Eval> {
    /// Row by row of `sums` the pair `(Σ x_i[0]·y_i, Σ x_i[1]·y_i)` over the primes of `basis`,
    /// which all operands must cover. `None` stands for `y_i = 1`.
    ///
    /// One pass through memory for all sums: what occurs in several is read once for each prime.
    pub fn dot_pairs(ring: &Arc<Ring>, basis: &Basis, sums: &[Vec<PairTerm<'_>>]) -> Vec<[Self; 2]> {
        let mut out: Vec<[Self; 2]> =
            sums.iter().map(|_| std::array::from_fn(|_| Self::unspecified(ring, basis))).collect();
        let buffers = out.iter_mut().flatten().map(Self::rows_mut).collect();
        ring.for_each_rows_of(buffers, |row, out| {
            let index = basis.index(row);
            let mut out = out.into_iter();
            let mut products = Vec::with_capacity(sums.len());
            for terms in sums {
                let out = [(); 2].map(|()| out.next().expect("two rows for each sum"));
                let terms = terms.iter().map(|&(x, y)| (x.map(|half| half.row_of(index)), y));
                products.push(Products::new(out, terms));
            }
            add_up(ring, index, 0, products);
        });
        out
    }
}
