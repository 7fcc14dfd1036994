//! Encrypted matrices times encrypted vectors: the diagonals are ciphertexts, the plans the same.

use rayon::prelude::*;
use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::evaluator::Evaluator;
use windlass_schemes::plaintext::{Content, Plaintext};
use windlass_schemes::switching::Arithmetic;

use super::work::LayoutRun;
use crate::linear::map::{LinearGrid, inverse_mod};
use crate::linear::plan::{LinearPlan, Method};

/// Products of one sum: (column, input node, encrypted constant).
type Terms<E> = Vec<(usize, usize, <E as Arithmetic>::Ciphertext)>;

/// The constants of a plan, encrypted: a matrix that the evaluator does not see.
///
/// What it does see is the plan: which automorphisms occur, with their zero constants; and whether
/// all entries together are integers.
pub struct EncryptedMatrix<E: Evaluator> {
    /// (row, output node, products), in the order of the schedule.
    sums: Vec<(usize, usize, Terms<E>)>,
    /// The products of the plan that it was encrypted for.
    products: Vec<[u64; 4]>,
}

impl<E: Evaluator> EncryptedMatrix<E> {
    /// The number of ciphertexts.
    pub fn len(&self) -> usize {
        self.sums.iter().map(|(_, _, terms)| terms.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }
}

impl LinearPlan {
    /// Encrypts a matrix for this plan, whose own map serves as its pattern: every automorphism of
    /// the pattern gets a ciphertext, of zero where the matrix has none. Owner and evaluator make
    /// the plan from the same pattern, say a matrix of ones.
    ///
    /// `encrypt` is called once for each product, in the order that the plan has. Errors:
    /// [`Error::Unplannable`] for a plan by doubling, [`Error::OutOfRange`] if the matrix has an
    /// automorphism that the pattern lacks, [`Error::ShapeMismatch`] and [`Error::ContextMismatch`]
    /// for another shape, and what `encrypt` reports.
    pub fn encrypt_matrix<E: Evaluator>(
        &self,
        matrix: &LinearGrid,
        mut encrypt: impl FnMut(&Plaintext) -> Result<E::Ciphertext>,
    ) -> Result<EncryptedMatrix<E>> {
        windlass_schemes::plaintext::check_same_ring(
            self.grid().slot_ring(),
            matrix.slot_ring(),
            "encryption of a matrix",
        )?;
        for (what, expected, got) in [
            ("rows of the matrix, in blocks,", self.grid().rows(), matrix.rows()),
            ("columns of the matrix, in blocks,", self.grid().columns(), matrix.columns()),
        ] {
            if expected != got {
                return Err(Error::ShapeMismatch { what, expected, got });
            }
        }
        let Method::Sums { layout, schedule } = self.method() else { return Err(self.no_matrix()) };
        self.check_pattern(matrix)?;
        let m = self.grid().slot_ring().m();
        let zero = Plaintext::zero(self.grid().slot_ring());
        // One content for all: it must not show which products are with zero.
        let content = matrix.constants().map(Plaintext::content).max().unwrap_or(Content::Integers);
        let mut sums = Vec::new();
        for (&(row, output), terms) in &schedule.sums {
            let back = inverse_mod(layout.outputs.nodes()[output].element, m);
            let mut products = Vec::with_capacity(terms.len());
            for term in terms {
                let constant = matrix.constant(row, term.column, term.t).unwrap_or(&zero).automorphism(back)?;
                products.push((term.column, term.input, encrypt(&constant.declared(content))?));
            }
            sums.push((row, output, products));
        }
        Ok(EncryptedMatrix { sums, products: self.products() })
    }

    /// All products: row, automorphism of the output, column, automorphism of the input.
    fn products(&self) -> Vec<[u64; 4]> {
        let Method::Sums { layout, schedule } = self.method() else { return Vec::new() };
        let (inputs, outputs) = (layout.inputs.nodes(), layout.outputs.nodes());
        let sums = schedule.sums.iter();
        sums.flat_map(|(&(row, output), terms)| {
            let output = outputs[output].element;
            terms.iter().map(move |term| [row as u64, output, term.column as u64, inputs[term.input].element])
        })
        .collect()
    }

    fn check_pattern(&self, matrix: &LinearGrid) -> Result<()> {
        for row in 0..matrix.rows() {
            for column in 0..matrix.columns() {
                let support = matrix.block(row, column).map_or_else(Vec::new, |map| map.support());
                if let Some(t) = support.into_iter().find(|&t| self.grid().constant(row, column, t).is_none()) {
                    let limits = Limits::only("one of those of the plan's map");
                    return Err(limits.refuse("an automorphism of the matrix", t).into());
                }
            }
        }
        Ok(())
    }

    fn no_matrix(&self) -> Error {
        let reason = "repeated doubling has no place for a matrix".to_owned();
        Error::Unplannable { strategy: self.strategy().to_string(), reason }
    }

    /// The product of an encrypted matrix and an encrypted vector, one ciphertext for each column
    /// of the grid.
    ///
    /// Cost: one product of ciphertexts for each product of the plan, and its automorphisms by
    /// whole key switches (babies hoisted).
    ///
    /// # Errors
    /// As [`LinearPlan::apply_grid`], with [`Error::MissingRelinearisationKey`], and
    /// [`Error::ContextMismatch`] for a matrix that was encrypted for a plan with other products.
    pub fn apply_encrypted<E: Evaluator>(
        &self,
        matrix: &EncryptedMatrix<E>,
        evaluator: &E,
        ciphertexts: &[E::Ciphertext],
    ) -> Result<Vec<E::Ciphertext>> {
        self.check(evaluator, ciphertexts)?;
        if matrix.products != self.products() {
            let describe = |products: &[[u64; 4]]| format!("a factoring into {} products", products.len());
            let (left, right) = (describe(&self.products()), describe(&matrix.products) + " for another plan");
            return Err(Error::ContextMismatch { operation: "product with an encrypted matrix", left, right });
        }
        let Method::Sums { layout, schedule } = self.method() else { return Err(self.no_matrix()) };
        let inputs: Vec<&E::Ciphertext> = ciphertexts.iter().collect();
        let run = LayoutRun { layout, schedule, evaluator, inputs: &inputs, mode: self.spec().hoisting };
        let made = run.inputs()?;
        let sums: Vec<E::Ciphertext> = matrix
            .sums
            .par_iter()
            .map(|(_, _, terms)| {
                let made = |column: usize, input: usize| made[column][input].as_ref().expect("wanted inputs are made");
                let pairs: Vec<_> = terms.iter().map(|(column, input, c)| (c, made(*column, *input))).collect();
                evaluator.dot_ciphertexts(&pairs)
            })
            .collect::<Result<_>>()?;
        let places = matrix.sums.iter().map(|&(row, output, _)| (row, output));
        run.fill(run.gather(places.zip(sums))?)
    }
}
