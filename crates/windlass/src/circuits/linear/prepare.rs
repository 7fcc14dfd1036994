//! Constants of a plan, converted for an evaluator.

use rayon::prelude::*;

use super::axes::inverse_mod;
use super::plan::{LinearPlan, Method};
use super::spec::ConstantForm;
use crate::error::{Error, Result};
use crate::evaluator::Evaluator;
use crate::plaintext::{Content, Plaintext};
use crate::switching::Switching;

/// The constants of a plan, converted for one evaluator.
pub struct PreparedPlan<E: Switching> {
    /// The number of the plan; none where plan and constants are held together.
    plan: Option<u64>,
    /// One for each entry of `Schedule::sums`, in its order; for doubling the one constant.
    pub(super) sums: Vec<PreparedSum<E>>,
    bytes: usize,
    /// What the constants are prepared for.
    pub(super) level: usize,
}

/// One row of a layout: the input nodes with constants, and those with the constant 1.
pub(crate) struct PreparedRow<E: Switching> {
    pub(crate) weighted: Vec<(usize, E::Constant)>,
    pub(crate) plain: Vec<usize>,
}

/// One sum of products.
pub(super) struct PreparedSum<E: Switching> {
    pub row: usize,
    pub output: usize,
    pub terms: Vec<PreparedTerm<E>>,
}

/// One product.
pub(super) struct PreparedTerm<E: Switching> {
    pub column: usize,
    pub input: usize,
    pub constant: Held<E::Constant>,
}

/// A constant as it is held.
pub(crate) enum Held<C> {
    /// The constant 1.
    One,
    /// Ready for products.
    Ready(C),
    /// To be prepared when it is used.
    Packed(Packed),
}

/// Coefficients in as few bytes as the plaintext modulus allows, with their content.
pub(crate) enum Packed {
    Bytes(Vec<u8>, Content),
    Shorts(Vec<u16>, Content),
    Words(Plaintext),
}

impl Packed {
    pub(super) fn new(constant: &Plaintext) -> Self {
        let modulus = constant.slots().modulus().value();
        let (coefficients, content) = (constant.coefficients(), constant.content());
        match modulus {
            0..=0x100 => Packed::Bytes(coefficients.iter().map(|&c| c as u8).collect(), content),
            0x101..=0x1_0000 => Packed::Shorts(coefficients.iter().map(|&c| c as u16).collect(), content),
            _ => Packed::Words(constant.clone()),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Packed::Bytes(list, _) => list.len(),
            Packed::Shorts(list, _) => 2 * list.len(),
            Packed::Words(constant) => 8 * constant.coefficients().len(),
        }
    }

    /// The constant, prepared for a level.
    pub(super) fn prepare<E: Evaluator>(&self, evaluator: &E, level: usize) -> Result<E::Constant> {
        let (coefficients, content) = match self {
            Packed::Bytes(list, content) => (list.iter().map(|&c| c.into()).collect(), content),
            Packed::Shorts(list, content) => (list.iter().map(|&c| c.into()).collect(), content),
            Packed::Words(constant) => return evaluator.prepare_at(constant, level),
        };
        evaluator.prepare_at(&Plaintext::new(evaluator.slots(), coefficients)?.declared(*content), level)
    }
}

impl<E: Switching> PreparedPlan<E> {
    /// From the rows of a layout: for each output node the input nodes with constants, and those with the constant 1.
    pub(crate) fn from_rows(rows: Vec<PreparedRow<E>>) -> Self {
        let sum = |(output, row): (usize, PreparedRow<E>)| {
            let weighted = row.weighted.into_iter().map(|(input, constant)| (input, Held::Ready(constant)));
            let plain = row.plain.into_iter().map(|input| (input, Held::One));
            let term = |(input, constant)| PreparedTerm { column: 0, input, constant };
            PreparedSum { row: 0, output, terms: weighted.chain(plain).map(term).collect() }
        };
        let sums = rows.into_iter().enumerate().map(sum).filter(|sum| !sum.terms.is_empty()).collect();
        Self { plan: None, sums, bytes: 0, level: 0 }
    }

    /// Errors: [`Error::ContextMismatch`] unless these are the constants of the plan with this number.
    pub(super) fn check(&self, plan: u64) -> Result<()> {
        if self.plan == Some(plan) {
            return Ok(());
        }
        let right =
            self.plan.map_or_else(|| "constants without a plan".to_owned(), |n| format!("constants of plan {n}"));
        Err(Error::ContextMismatch { operation: "LinearPlan::apply", left: format!("plan {plan}"), right })
    }

    /// Bytes of all constants.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// A constant to be prepared: `θ_back` of one of the map's.
struct Source<'a> {
    /// Where it goes: (sum, term).
    place: (usize, usize),
    constant: &'a Plaintext,
    back: u64,
}

impl Source<'_> {
    fn make(&self) -> Result<Plaintext> {
        self.constant.automorphism(self.back)
    }
}

impl LinearPlan {
    /// Converts the constants for an evaluator and ciphertexts of every level, in parallel; done once for any number of [`LinearPlan::apply`].
    ///
    /// Those in evaluation form are laid out in the order of their use. Errors: [`crate::Error::ContextMismatch`] for an evaluator of
    /// another plaintext ring.
    pub fn prepare<E: Evaluator>(&self, evaluator: &E) -> Result<PreparedPlan<E>> {
        self.prepare_at(evaluator, evaluator.top_level())
    }

    /// [`LinearPlan::prepare`] for ciphertexts of levels up to `level` alone: constants are that much smaller.
    ///
    /// Errors: as there, with [`crate::Error::OutOfRange`] for a level that is none.
    pub fn prepare_at<E: Evaluator>(&self, evaluator: &E, level: usize) -> Result<PreparedPlan<E>> {
        crate::plaintext::check_same_ring(self.grid.slots(), evaluator.slots(), "LinearPlan::prepare")?;
        let expand = match self.spec.constants {
            ConstantForm::Evaluation => true,
            ConstantForm::Coefficients => false,
            ConstantForm::Automatic => {
                self.count().constant_products * evaluator.constant_bytes(level) <= self.spec.constant_bytes
            }
        };
        let mut sums = self.empty_sums();
        let sources = self.sources(&sums);
        if expand {
            let ready = evaluator.prepare_many(sources.len(), level, &|k| sources[k].make())?;
            for (source, constant) in sources.iter().zip(ready) {
                sums[source.place.0].terms[source.place.1].constant = Held::Ready(constant);
            }
        } else {
            let pack = |source: &Source<'_>| Ok(Packed::new(&source.make()?));
            let packed: Vec<Packed> = sources.par_iter().map(pack).collect::<Result<_>>()?;
            for (source, constant) in sources.iter().zip(packed) {
                sums[source.place.0].terms[source.place.1].constant = Held::Packed(constant);
            }
        }
        let bytes = |term: &PreparedTerm<E>| match &term.constant {
            Held::One => 0,
            Held::Ready(_) => evaluator.constant_bytes(level),
            Held::Packed(packed) => packed.bytes(),
        };
        let bytes = sums.iter().flat_map(|sum| &sum.terms).map(bytes).sum();
        Ok(PreparedPlan { plan: Some(self.number), sums, bytes, level })
    }

    /// The sums with the constant 1 everywhere.
    fn empty_sums<E: Evaluator>(&self) -> Vec<PreparedSum<E>> {
        let one = |column, input| PreparedTerm { column, input, constant: Held::One };
        match &self.method {
            Method::Sums { schedule, .. } => schedule
                .sums
                .iter()
                .map(|(&(row, output), terms)| PreparedSum {
                    row,
                    output,
                    terms: terms.iter().map(|t| one(t.column, t.input)).collect(),
                })
                .collect(),
            Method::Doubling(_) => vec![PreparedSum { row: 0, output: 0, terms: vec![one(0, 0)] }],
        }
    }

    /// The constants `θ_o^{-1}(κ_t)` other than 1, in the order of their use: input by input ciphertext, batch by batch, sum by sum.
    fn sources<E: Evaluator>(&self, sums: &[PreparedSum<E>]) -> Vec<Source<'_>> {
        let (layout, schedule) = match &self.method {
            Method::Sums { layout, schedule } => (layout, schedule),
            Method::Doubling(doubling) => {
                let source = Source { place: (0, 0), constant: &doubling.constant, back: 1 };
                return if doubling.constant.is_one() { Vec::new() } else { vec![source] };
            }
        };
        let m = self.grid.slots().m();
        let mut sources = Vec::new();
        for (index, (&(row, output), terms)) in schedule.sums.iter().enumerate() {
            let back = inverse_mod(layout.outputs.nodes()[output].element, m);
            for (position, term) in terms.iter().enumerate() {
                let constant = self.grid.constant(row, term.column, term.t);
                let constant = constant.expect("the schedule was made from the grid");
                // An automorphism leaves 1 as it is.
                if !constant.is_one() {
                    sources.push(Source { place: (index, position), constant, back });
                }
            }
        }
        let batches = super::wide::batches(layout);
        sources.sort_by_key(|source| {
            let term = &sums[source.place.0].terms[source.place.1];
            (term.column, batches[term.input], source.place)
        });
        sources
    }
}
