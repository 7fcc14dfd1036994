//! A table as a circuit.

use std::collections::{BTreeMap, BTreeSet};

use windlass_ring::slots::{PrimePower, SlotRing};
use windlass_rlwe::Limits;
use windlass_schemes::Integer;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::evaluator::Evaluator;

use super::lifting::digits;
use super::monomials::{Monomials, terms};
use super::polynomial_function::Centred;
use super::rows::{self, DigitRow, Liftings, Way};
use crate::polynomial::add_scalar;
use crate::slot_function::check_integers;

/// Any function of the integer in each slot, modulo p^r of at most 2^8, by its table.
///
/// The value at x in \[0, p^r) is `values[x]`: of a negative integer −k, which is the residue p^r −
/// k, entry p^r − k. Slots must hold integers, and others are refused.
///
/// *How.* Modulo p, and where the function is a polynomial modulo p^r, it is evaluated as one
/// ([`crate::PolynomialPlan`]); tables of the form a·x + b cost no product. Others are polynomials of
/// degree below p in each of the r digits of x to base p. The digits come out one after the other, as
/// in [`crate::DigitRemoval`], each as an integer modulo p^r, and products of monomials are added
/// before they are relinearised. Only digits on which the table depends are taken. Of several ways
/// the one with the least products + 10·depth is planned.
///
/// *What it costs*: a table without any pattern takes
///
/// | p^r | 2 | 3 | 5 | 17 | 127 | 251 | 2^3 | 2^4 | 2^8 | 3^2 | 3^5 | 5^2 | 13^2 |
/// |---|---|---|---|---|---|---|---|---|---|---|---|---|---|
/// | products | 0 | 1 | 2 | 7 | 24 | 33 | 8 | 17 | 79 | 8 | 75 | 16 | 48 |
/// | depth | 0 | 1 | 2 | 4 | 7 | 8 | 5 | 7 | 13 | 6 | 15 | 9 | 13 |
///
/// and others no more. Source: 2015, §1 of Halevi–Shoup asks for it in a refresh
/// (`RefreshOptions::with_table`); the digits are theirs (§5.3).
///
#[cfg_attr(not(doctest), doc = include_str!("../examples/slot_table.md"))]
#[derive(Debug, Clone)]
pub struct SlotTable {
    modulus: PrimePower,
    circuit: Circuit,
}

/// How a table is evaluated.
#[derive(Debug, Clone)]
enum Circuit {
    Polynomial(Centred),
    Digits(OfDigits),
}

/// f = f(0) + p^lost·g, g a polynomial of digits modulo p^s.
#[derive(Debug, Clone)]
struct OfDigits {
    constant: i64,
    lost: u32,
    rows: Vec<DigitRow>,
    monomials: Monomials,
}

/// The largest plaintext modulus.
const MAX_MODULUS: u64 = 1 << 8;

/// How many products a level of depth is worth to the planner.
const DEPTH_WEIGHT: f64 = 10.0;

impl SlotTable {
    /// The function with these values at 0, 1, .., p^r − 1.
    ///
    /// Cost: planning; for 2^8 about a second in a build without optimisation.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for p^r above 2^8, and for values outside \[−p^r/2, p^r);
    /// [`Error::ShapeMismatch`] unless there are exactly p^r of them.
    pub fn new<T: Integer>(ring: &SlotRing, values: &[T]) -> Result<Self> {
        let modulus = ring.modulus();
        let length = modulus.value();
        let limits = Limits::at_most(MAX_MODULUS)
            .with("a table has a value for each residue; for a larger prime with few arguments use SlotFunction");
        limits.check("the plaintext modulus of a table", length)?;
        if values.len() as u64 != length {
            let what = "a table, one value for each residue modulo p^r";
            return Err(Error::ShapeMismatch { what, expected: length as usize, got: values.len() });
        }
        let limits = Limits::between(-(length as i64 / 2), length - 1).with("a residue modulo p^r");
        for &value in values {
            limits.check("a value of a table", value.whole())?;
        }
        Self::of_residues(modulus, &values.iter().map(|value| value.residue(modulus)).collect::<Vec<_>>())
    }

    /// The function `f`, called once for each residue in \[0, p^r).
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_fn<T: Integer>(ring: &SlotRing, f: impl Fn(u64) -> T) -> Result<Self> {
        // One too many is as good as all of a large modulus, for the refusal.
        let length = ring.modulus().value().min(MAX_MODULUS + 1);
        Self::new(ring, &(0..length).map(f).collect::<Vec<_>>())
    }

    fn of_residues(modulus: PrimePower, values: &[u64]) -> Result<Self> {
        let circuit = match Centred::of(modulus, values)? {
            Some(polynomial) => Circuit::Polynomial(polynomial),
            None => Circuit::Digits(OfDigits::plan(modulus, values)?),
        };
        Ok(Self { modulus, circuit })
    }

    /// p^r.
    pub fn modulus(&self) -> PrimePower {
        self.modulus
    }

    /// Products of ciphertexts, squares included.
    pub fn products(&self) -> usize {
        match &self.circuit {
            Circuit::Polynomial(polynomial) => polynomial.plan.products(),
            Circuit::Digits(digits) => digits.products(),
        }
    }

    /// Relinearisations: products that are only added have one together.
    pub fn relinearisations(&self) -> usize {
        match &self.circuit {
            Circuit::Polynomial(polynomial) => polynomial.plan.relinearisations(),
            Circuit::Digits(digits) => {
                let rows: usize = digits.rows.iter().map(DigitRow::relinearisations).sum();
                rows + digits.monomials.relinearisations()
            }
        }
    }

    /// Products in sequence.
    pub fn depth(&self) -> usize {
        match &self.circuit {
            Circuit::Polynomial(polynomial) => polynomial.plan.depth(),
            Circuit::Digits(digits) => digits.monomials.depth(),
        }
    }

    /// What it is, in words.
    pub fn name(&self) -> String {
        format!("a table over all residues modulo {}^{}", self.modulus.prime(), self.modulus.exponent())
    }

    /// The plan in words: one line, and one for each digit.
    pub fn explain(&self) -> String {
        let mut text = format!(
            "{}: {} products, {} relinearisations, depth {}",
            self.name(),
            self.products(),
            self.relinearisations(),
            self.depth()
        );
        match &self.circuit {
            Circuit::Polynomial(Centred { centre: 0, .. }) => text += "\n  a polynomial",
            Circuit::Polynomial(Centred { centre, .. }) => text += &format!("\n  a polynomial in x - ({centre})"),
            Circuit::Digits(digits) => {
                for (j, row) in digits.rows.iter().enumerate() {
                    text += &format!("\n  digit {j}: {}", row.describe());
                }
                text += &format!("\n  a polynomial of the digits: {} products", digits.monomials.products());
            }
        }
        text
    }

    /// The value of the function in every slot.
    ///
    /// Cost: [`Self::products`] ciphertext products; no Galois keys.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] for a ciphertext of another plaintext modulus than p^r;
    /// [`Error::NotIntegers`] for slots that are not known to hold integers; what the evaluator
    /// reports.
    pub fn apply<E: Evaluator>(&self, evaluator: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        self.check(evaluator.slot_ring().prime(), evaluator.exponent_of(x))?;
        check_integers(&self.name(), evaluator, [x])?;
        match &self.circuit {
            Circuit::Polynomial(Centred { centre, plan }) => plan.apply(evaluator, &add_scalar(evaluator, x, -centre)?),
            Circuit::Digits(digits) => digits.apply(evaluator, x),
        }
    }

    /// Refuses another plaintext modulus.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`].
    #[doc(hidden)]
    pub fn check(&self, prime: u64, exponent: u32) -> Result<()> {
        let own = self.modulus;
        if (prime, exponent) == (own.prime(), own.exponent()) {
            return Ok(());
        }
        Err(Error::ContextMismatch {
            operation: "table",
            left: format!("a table modulo {}^{}", own.prime(), own.exponent()),
            right: format!("slots modulo {prime}^{exponent}"),
        })
    }
}

impl OfDigits {
    /// The cheapest of all ways to the digits.
    fn plan(modulus: PrimePower, values: &[u64]) -> Result<Self> {
        let (p, r) = (modulus.prime(), modulus.exponent());
        let constant = values[0];
        let rises: Vec<u64> = values.iter().map(|&value| modulus.sub(value, constant)).collect();
        // All differences have this factor, and digits are needed modulo p^s alone.
        let lost = (0..r).rev().find(|&k| rises.iter().all(|rise| rise % p.pow(k) == 0)).unwrap_or(0);
        let (low, scaled) = (modulus.with_exponent(r - lost)?, rises.iter().map(|rise| rise / p.pow(lost)));
        let digits: Vec<i64> = digits(p).collect();
        let terms = terms(low, &scaled.collect::<Vec<_>>(), &digits);
        let unit = |j: u32| p.pow(j) as usize;
        let takes = |j: &u32| terms.iter().any(|(name, _)| name / unit(*j) % p as usize != 0);
        let used: BTreeSet<u32> = (0..r).filter(takes).collect();

        // Of ways to digits of the same depths, the one with the fewest products.
        let mut liftings = Liftings::new(p);
        let mut ways: BTreeMap<BTreeMap<u32, usize>, (usize, Vec<DigitRow>)> = BTreeMap::new();
        for way in Way::all(r) {
            let rows = DigitRow::plan(&mut liftings, way, r - lost, &used)?;
            let products = rows.iter().map(DigitRow::products).sum();
            let depths = (0..).zip(&rows).filter_map(|(j, row)| Some((j, row.depth()?))).collect();
            if ways.get(&depths).is_none_or(|(known, _)| products < *known) {
                ways.insert(depths, (products, rows));
            }
        }

        let planned = ways.into_iter().map(|(depths, (of_rows, rows))| {
            let price = |products: usize, depth: usize| (of_rows + products) as f64 + DEPTH_WEIGHT * depth as f64;
            let monomials = Monomials::plan(p, &terms, &depths, price);
            let price = price(monomials.products(), monomials.depth());
            (price, Self { constant: modulus.centred(constant), lost, rows, monomials })
        });
        let best = planned.min_by(|a, b| a.0.total_cmp(&b.0));
        Ok(best.expect("there is a way").1)
    }

    fn products(&self) -> usize {
        self.rows.iter().map(DigitRow::products).sum::<usize>() + self.monomials.products()
    }

    fn apply<E: Evaluator>(&self, evaluator: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        let digits = rows::run(&self.rows, evaluator, x, evaluator.exponent_of(x) - self.lost)?;
        let value = self.monomials.run(evaluator, &digits)?;
        let value = (0..self.lost).try_fold(value, |value, _| evaluator.multiply_by_p(&value))?;
        add_scalar(evaluator, &value, self.constant)
    }
}
