//! Constants of a plan, converted for an evaluator.

use rayon::prelude::*;

use super::axes::inverse_mod;
use super::plan::{LinearPlan, Method};
use super::schedule::Term;
use super::spec::ConstantForm;
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::hoisting::Hoisting;
use crate::plaintext::Plaintext;

/// The constants of a plan, converted for one evaluator.
pub struct PreparedPlan<E: Hoisting> {
    /// One for each entry of `Schedule::sums`, in its order; for doubling the one constant.
    pub(super) sums: Vec<PreparedSum<E>>,
    bytes: usize,
}

/// One row of a layout: the input nodes with constants, and those with the constant 1.
pub(crate) struct PreparedRow<E: Hoisting> {
    pub(crate) weighted: Vec<(usize, E::Constant)>,
    pub(crate) plain: Vec<usize>,
}

/// One sum of products.
pub(super) struct PreparedSum<E: Hoisting> {
    pub row: usize,
    pub output: usize,
    pub terms: Vec<PreparedTerm<E>>,
}

/// One product.
pub(super) struct PreparedTerm<E: Hoisting> {
    pub column: usize,
    pub input: usize,
    pub constant: Held<E::Constant>,
}

/// (row, output node, products with their constants).
pub(super) type BuiltSum = (usize, usize, Vec<(Term, Plaintext)>);

/// A constant as it is held.
pub(crate) enum Held<C> {
    /// The constant 1.
    One,
    /// Ready for products.
    Ready(C),
    /// To be prepared when it is used.
    Packed(Packed),
}

/// Coefficients in as few bytes as the plaintext modulus allows.
pub(crate) enum Packed {
    Bytes(Vec<u8>),
    Shorts(Vec<u16>),
    Words(Plaintext),
}

impl Packed {
    fn new(constant: &Plaintext) -> Self {
        let modulus = constant.slots().quotient().modulus().value();
        let coefficients = constant.coefficients();
        match modulus {
            0..=0x100 => Packed::Bytes(coefficients.iter().map(|&c| c as u8).collect()),
            0x101..=0x1_0000 => Packed::Shorts(coefficients.iter().map(|&c| c as u16).collect()),
            _ => Packed::Words(constant.clone()),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Packed::Bytes(list) => list.len(),
            Packed::Shorts(list) => 2 * list.len(),
            Packed::Words(constant) => 8 * constant.coefficients().len(),
        }
    }

    /// The constant, prepared.
    pub(super) fn prepare<E: Evaluator>(&self, evaluator: &E) -> Result<E::Constant> {
        let coefficients = match self {
            Packed::Bytes(list) => list.iter().map(|&c| c.into()).collect(),
            Packed::Shorts(list) => list.iter().map(|&c| c.into()).collect(),
            Packed::Words(constant) => return evaluator.prepare(constant),
        };
        evaluator.prepare(&Plaintext::new(evaluator.slots(), coefficients)?)
    }
}

impl<E: Hoisting> PreparedPlan<E> {
    /// From the rows of a layout: for each output node the input nodes with constants, and those with the constant 1.
    pub(crate) fn from_rows(rows: Vec<PreparedRow<E>>) -> Self {
        let sum = |(output, row): (usize, PreparedRow<E>)| {
            let weighted = row.weighted.into_iter().map(|(input, constant)| (input, Held::Ready(constant)));
            let plain = row.plain.into_iter().map(|input| (input, Held::One));
            let term = |(input, constant)| PreparedTerm { column: 0, input, constant };
            PreparedSum { row: 0, output, terms: weighted.chain(plain).map(term).collect() }
        };
        let sums = rows.into_iter().enumerate().map(sum).filter(|sum| !sum.terms.is_empty()).collect();
        Self { sums, bytes: 0 }
    }

    /// Bytes of all constants.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl LinearPlan {
    /// The constants `θ_o^{-1}(κ_t)` of all products, sum by sum in the order of the schedule: Table 2's "build".
    pub(super) fn build_constants(&self) -> Result<Vec<BuiltSum>> {
        let Method::Sums { layout, schedule } = &self.method else { return Ok(Vec::new()) };
        let m = self.grid.slots().quotient().m();
        let sums: Vec<_> = schedule.sums.iter().collect();
        sums.into_par_iter()
            .map(|(&(row, output), terms)| {
                let back = inverse_mod(layout.outputs.nodes()[output].element, m);
                let constant = |term: &Term| {
                    let constant = self.grid.constant(row, term.column, term.t);
                    constant.expect("the schedule was made from the grid").automorphism(back)
                };
                let terms = terms.par_iter().map(|term| Ok((*term, constant(term)?))).collect::<Result<_>>()?;
                Ok((row, output, terms))
            })
            .collect()
    }

    /// Converts the constants for an evaluator, in parallel; done once for any number of [`LinearPlan::apply`].
    ///
    /// Errors: [`crate::Error::ContextMismatch`] for an evaluator of another plaintext ring.
    pub fn prepare<E: Evaluator>(&self, evaluator: &E) -> Result<PreparedPlan<E>> {
        crate::plaintext::check_same_ring(self.grid.slots(), evaluator.slots(), "LinearPlan::prepare")?;
        let expand = match self.spec.constants {
            ConstantForm::Evaluation => true,
            ConstantForm::Coefficients => false,
            ConstantForm::Automatic => {
                self.count().constant_products * evaluator.constant_bytes() <= self.spec.constant_bytes
            }
        };
        let hold = |constant: &Plaintext| -> Result<Held<E::Constant>> {
            Ok(match constant.is_one() {
                true => Held::One,
                false if expand => Held::Ready(evaluator.prepare(constant)?),
                false => Held::Packed(Packed::new(constant)),
            })
        };
        let sums: Vec<PreparedSum<E>> = match &self.method {
            Method::Sums { .. } => self
                .build_constants()?
                .into_par_iter()
                .map(|(row, output, terms)| {
                    let term = |(term, constant): &(Term, Plaintext)| {
                        Ok(PreparedTerm { column: term.column, input: term.input, constant: hold(constant)? })
                    };
                    Ok(PreparedSum { row, output, terms: terms.par_iter().map(term).collect::<Result<_>>()? })
                })
                .collect::<Result<_>>()?,
            Method::Doubling(doubling) => {
                let constant = hold(&doubling.constant)?;
                vec![PreparedSum { row: 0, output: 0, terms: vec![PreparedTerm { column: 0, input: 0, constant }] }]
            }
        };
        let bytes = |term: &PreparedTerm<E>| match &term.constant {
            Held::One => 0,
            Held::Ready(_) => evaluator.constant_bytes(),
            Held::Packed(packed) => packed.bytes(),
        };
        let bytes = sums.iter().flat_map(|sum| &sum.terms).map(bytes).sum();
        Ok(PreparedPlan { sums, bytes })
    }
}
