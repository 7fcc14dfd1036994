//! Chooses the polynomials of a digit removal, and computes their cost.

use windlass_ring::slots::PrimePower;
use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};

use super::halving::HalvingChain;
use super::method::{DigitMethod, DigitRoute, DigitSpec, Method};
use super::methods::DIGIT_METHODS;
use super::row::{Known, Row, RowStep};

/// A plan to remove the v low digits of integers modulo p^e.
#[derive(Debug, Clone)]
pub struct DigitRemoval {
    spec: DigitSpec,
    pub(super) circuit: DigitCircuit,
    products: usize,
    depth: usize,
}

/// How digits go.
#[derive(Debug, Clone)]
pub(super) enum DigitCircuit {
    /// One after the other, each in a row of its own.
    Rows(Vec<Row>),
    /// All of them in one chain.
    Halving(HalvingChain),
}

impl DigitRemoval {
    /// Plans the removal.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for v outside 1..e, or where a polynomial of degree above 2048 would
    /// be needed, or more than 2^16 residues checked; [`Error::Unplannable`] if the method refuses
    /// ([`super::DigitMethod::refusal`]), or its circuit is wrong; [`Error::Ring`] if p^e is not a
    /// supported prime power.
    pub fn new(spec: DigitSpec) -> Result<Self> {
        PrimePower::new(spec.prime, spec.exponent)?;
        let limits = Limits::between(1, spec.exponent - 1).with("one less than the digits there are");
        limits.check("the number of digits to remove", spec.removed)?;
        match spec.method {
            Method::Of(method) => Self::by(method, spec),
            Method::Automatic => {
                let (plans, refusals): (Vec<_>, Vec<_>) =
                    DIGIT_METHODS.iter().map(|&method| Self::by(method, spec)).partition(Result::is_ok);
                let best = plans.into_iter().flatten().min_by(|a, b| a.price().total_cmp(&b.price()));
                // The first method applies to everything: it says what the matter is.
                let refusal = refusals.into_iter().find_map(Result::err);
                best.ok_or_else(|| refusal.expect("a method makes a plan or refuses"))
            }
        }
    }

    /// The cheapest route of one method.
    fn by(method: &'static dyn DigitMethod, spec: DigitSpec) -> Result<Self> {
        let refuse = |reason: &str| Error::Unplannable { strategy: method.name().into(), reason: reason.into() };
        if let Some(reason) = method.refusal(&spec) {
            return Err(refuse(reason));
        }
        let spec = DigitSpec { method: Method::Of(method), ..spec };
        let by_route =
            |route: DigitRoute| Self::assemble(spec, |j, depth| Row::by_route(&spec, method, route, j, depth));
        let mut plans: Vec<Self> = method.routes(&spec).into_iter().map(by_route).collect::<Result<_>>()?;
        if let Some(chain) = method.chain(&spec) {
            if let Some(flaw) = chain.flaw(spec.prime, &spec.occurring())? {
                return Err(refuse(&flaw));
            }
            plans.push(Self::assemble(spec, |j, depth| Row::by_chain(&spec, &chain, j, depth))?);
        }
        if let Some(chain) = method.halving(&spec) {
            if let Some(flaw) = chain.flaw(spec.prime, spec.exponent, spec.removed)? {
                return Err(refuse(&flaw));
            }
            let (products, depth) = (chain.products.len(), chain.depth());
            plans.push(Self { spec, circuit: DigitCircuit::Halving(chain), products, depth });
        }
        let best = plans.into_iter().min_by(|a, b| a.price().total_cmp(&b.price()));
        best.ok_or_else(|| refuse("it gives neither a route nor a chain"))
    }

    fn assemble(spec: DigitSpec, row: impl Fn(u32, usize) -> Result<Row>) -> Result<Self> {
        let mut rows: Vec<Row> = Vec::new();
        for j in 0..spec.removed {
            // y_j depends on the values that the rows above lend it.
            let depth = rows.iter().enumerate().map(|(i, row)| row.known[row.for_rows[j as usize - 1 - i]].depth).max();
            rows.push(row(j, depth.unwrap_or(0))?);
        }
        let products = rows.iter().flat_map(|row| &row.known).map(Known::products).sum();
        let depth = rows.iter().map(|row| row.known[row.last].depth).max().unwrap_or(0);
        Ok(Self { spec, circuit: DigitCircuit::Rows(rows), products, depth })
    }

    fn price(&self) -> f64 {
        self.products as f64 + self.spec.depth_weight * self.depth as f64
    }

    /// What was asked for; the method is the one chosen.
    pub fn spec(&self) -> &DigitSpec {
        &self.spec
    }

    /// The number of ciphertext products, squares included.
    pub fn products(&self) -> usize {
        self.products
    }

    /// The number of relinearisations, no more than one for a product: those that are only added up
    /// have one together, those of the last digits too.
    pub fn relinearisations(&self) -> usize {
        let rows = match &self.circuit {
            DigitCircuit::Rows(rows) => rows,
            DigitCircuit::Halving(_) => return self.products,
        };
        let late = rows.iter().filter(|row| row.late.is_some()).count();
        rows.iter().flat_map(|row| &row.known).map(Known::relinearisations).sum::<usize>() - late.saturating_sub(1)
    }

    /// The multiplicative depth; products with integers are not counted.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The plan in words, one line for each digit.
    pub fn explain(&self) -> String {
        let DigitSpec { prime, exponent, removed, method, .. } = self.spec;
        let mut text = format!(
            "{removed} of {exponent} digits to base {prime}: {method}, {} products, depth {}",
            self.products, self.depth
        );
        match &self.circuit {
            DigitCircuit::Rows(rows) => rows.iter().enumerate().for_each(|(j, row)| text += &explained(j, row)),
            DigitCircuit::Halving(chain) => {
                let divided = chain.divided();
                text += &format!("\n  all digits in one chain, {divided} of its products divided by {prime}");
            }
        }
        text
    }
}

/// A row in words.
fn explained(j: usize, row: &Row) -> String {
    let step = |known: &Known| match &known.step {
        RowStep::Polynomial { of, plan, .. } => {
            let (a, b) = (row.known[*of].precision, known.precision);
            Some(format!("{a} to {b} ({} products)", plan.products()))
        }
        RowStep::Given | RowStep::Product(_) | RowStep::Sum { .. } => None,
    };
    let steps: Vec<String> = row.known.iter().filter_map(step).collect();
    if !steps.is_empty() {
        return format!("\n  digit {j}: precision {}", steps.join(", "));
    }
    let products: usize = row.known.iter().map(Known::products).sum();
    let last = row.known[row.last].precision;
    format!("\n  digit {j}: a chain of {products} products to precision {last}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digits::methods::Searched;

    /// The product that a row ends in is left for the division that follows, unless a later row or
    /// another value takes it: of eight bits the first and the last two do so.
    #[test]
    fn last_products_are_left_for_the_division() {
        let spec = DigitSpec { method: Method::Of(&Searched), ..DigitSpec::new(2, 9, 8) };
        let removal = DigitRemoval::new(spec).unwrap();
        let DigitCircuit::Rows(rows) = &removal.circuit else { panic!("eight bits go one by one") };
        let late: Vec<usize> = (0..8).filter(|&j| rows[j].late.is_some()).collect();
        assert_eq!((rows.len(), late), (8, vec![0, 6, 7]));
        for row in rows {
            let takes_late = |k: &usize| Some(*k) == row.late;
            assert!(!row.for_rows.iter().any(takes_late), "a later row takes it");
        }
    }
}
