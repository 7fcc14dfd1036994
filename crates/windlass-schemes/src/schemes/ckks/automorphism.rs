//! CKKS in the shared engine: rotations and conjugation, constants prepared for linear maps, and the
//! rules by which sums, products with constants and key switches change the metadata.

use std::sync::Arc;

use num_complex::Complex64;
use windlass_ring::{Eval, Poly, Values};
use windlass_rlwe::{EvaluationKeys, KeyId, Limits};

use super::arithmetic::PublicValues;
use super::ciphertext::Ciphertext;
use super::engine::Engine;
use super::magnitude::Magnitude;
use super::slot_error::Source;
use crate::error::{Error, Result};
use crate::schemes::Seed;
use crate::schemes::pairs::{self, Growth, RlweCiphertext, SchemeMetadata};
use crate::schemes::refreshing::AutoRefresh;
use crate::switching::{Arithmetic, Switching};

/// Slots prepared for multiplication: values over Q_level·P at the scale of constants there.
#[derive(Debug, Clone)]
pub struct Constant {
    pub(crate) values: Values,
    pub(crate) level: usize,
    pub(crate) factor: PublicValues,
}

impl Constant {
    /// Its values over Q_level·P.
    #[doc(hidden)]
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The slots in a file: how many, their largest absolute value, their rounding error.
    #[doc(hidden)]
    pub fn from_file(poly: Poly<Eval>, level: usize, (slots, magnitude, rounding): (usize, f64, f64)) -> Self {
        Self {
            values: poly.into(),
            level,
            factor: PublicValues { magnitude: Magnitude::of(slots, magnitude), rounding },
        }
    }

    /// What [`Self::from_file`] takes beside values and level.
    #[doc(hidden)]
    pub fn fields(&self) -> (usize, f64, f64) {
        (self.factor.magnitude.slots(), self.factor.magnitude.largest(), self.factor.rounding)
    }
}

/// A ciphertext after decompose-and-extend of its second part.
pub type Hoisted = pairs::Hoisted<Ciphertext>;

/// P times a ciphertext, over Q_level·P.
pub type Extended = pairs::Extended<Ciphertext>;

impl Engine {
    /// Slot j of the result is slot `j + amount` of `a`, cyclically in its own number of slots.
    ///
    /// # Errors
    /// [`Error::MissingGaloisKey`]; the key is that of [`super::CkksContext::rotation_element`] for the
    /// amount from 0 to the number of slots.
    pub fn rotate(&self, a: &Ciphertext, amount: i64) -> Result<Ciphertext> {
        let amount = amount.rem_euclid(a.slots() as i64);
        Switching::automorphism(self, a, self.context.rotation_element(amount))
    }

    /// The complex conjugate of every slot.
    ///
    /// # Errors
    /// [`Error::MissingGaloisKey`].
    pub fn conjugate(&self, a: &Ciphertext) -> Result<Ciphertext> {
        Switching::automorphism(self, a, self.context.conjugation_element())
    }

    /// Slots prepared for multiplication at one level: [`Arithmetic::multiply_constant`] and linear
    /// maps.
    ///
    /// Cost: one transform for every prime of Q_level·P.
    ///
    /// # Errors
    /// As [`Self::add_plain`]; [`Error::OutOfRange`] for the level.
    pub fn prepare(&self, values: &[Complex64], level: usize) -> Result<Constant> {
        self.context.check_level(level)?;
        let basis = self.context.rlwe().base_qp(level);
        let scale = self.context.constant_scale(level);
        self.context.check_scaled(values, scale)?;
        let (values_held, rounding) = self.context.encode_constant(values, scale, &basis);
        // A file stores only the largest absolute value.
        let largest = Magnitude::measured(values, values.len()).largest();
        let factor = PublicValues::new(Magnitude::of(values.len(), largest), rounding);
        Ok(Constant { values: values_held, level, factor })
    }

    pub(crate) fn check_constant(&self, c: &Constant, level: usize) -> Result<()> {
        if !std::sync::Arc::ptr_eq(c.values.ring(), self.context.rlwe().ring()) {
            return Err(Error::ContextMismatch {
                operation: "multiply by a constant",
                left: self.context.rlwe().params().id().to_string(),
                right: "a constant prepared for other parameters".into(),
            });
        }
        let limits = Limits::between(c.level, c.level).with("the level the constant was prepared for");
        Ok(limits.check("level of the ciphertext", level)?)
    }
}

impl RlweCiphertext for Ciphertext {
    fn parts(&self) -> &[Poly<Eval>] {
        &self.parts
    }

    fn parts_mut(&mut self) -> &mut [Poly<Eval>] {
        &mut self.parts
    }

    fn with_polys(&self, parts: Vec<Poly<Eval>>) -> Self {
        self.with_parts(parts, self.info.clone())
    }

    fn key_id(&self) -> KeyId {
        self.key
    }

    fn seed(&self) -> Option<&Seed> {
        self.parts.seed()
    }

    fn with_seed(mut self, seed: Seed) -> Self {
        self.parts = self.parts.with_seed(seed);
        self
    }
}

impl Arithmetic for Engine {
    type Ciphertext = Ciphertext;
    type Constant = Constant;

    fn conductor(&self) -> u64 {
        self.context.rlwe().params().m()
    }

    fn level_of(&self, a: &Ciphertext) -> usize {
        a.level()
    }

    fn check_input(&self, operation: &'static str, ct: &Ciphertext) -> Result<()> {
        self.check(operation, ct)
    }

    fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.add(a, b)
    }

    fn zero_like(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check("multiply by zero", a)?;
        Ok(self.zeroed(a))
    }

    fn multiply_constant(&self, a: &Ciphertext, c: &Constant) -> Result<Ciphertext> {
        let a = self.lowered(a, c.level)?;
        self.check_constant(c, a.level())?;
        self.times(&a, &c.values, c.factor)
    }

    fn with_refreshes(
        &self,
        input: &Ciphertext,
        circuit: &dyn Fn(&Self, &Ciphertext) -> Result<Ciphertext>,
    ) -> Result<Ciphertext> {
        self.circuit_with_refreshes(input, circuit)
    }
}

impl SchemeMetadata for Engine {
    fn evaluation_keys(&self) -> &Arc<EvaluationKeys> {
        &self.keys
    }

    fn check_alike(&self, a: &Ciphertext, b: &Ciphertext) -> Result<()> {
        if a.info.degree == b.info.degree {
            return Ok(());
        }
        let describe = |x: &Ciphertext| format!("a product of degree {}", x.info.degree);
        Err(Error::ContextMismatch { operation: "sum in base QP", left: describe(a), right: describe(b) })
    }

    fn phase_multiplier(&self, _: &Ciphertext) -> u64 {
        1
    }

    fn add_noise(&self, ct: &mut Ciphertext, level: usize, growth: Growth) {
        if let Growth::KeySwitch(t) | Growth::InnerProduct(t) = growth {
            ct.info.turn(t);
            ct.add_inner_product(level, Source::Key(t % self.context.rlwe().params().m()));
        }
        if let Growth::KeySwitch(_) | Growth::Rounding = growth {
            ct.add_rounding(level);
        }
    }

    fn add_metadata(&self, sum: &mut Ciphertext, term: &Ciphertext) {
        sum.info.add_metadata(&term.info);
    }

    fn scale_metadata(&self, ct: &Ciphertext, level: usize, constant: &Constant) -> Result<Ciphertext> {
        Limits::at_most(1).with("so rescale it first").check("degree of a factor", ct.info.degree)?;
        self.check_constant(constant, level)?;
        Ok(ct.with_parts(Vec::new(), self.weighed(&ct.info, level, constant.factor)))
    }

    fn values(constant: &Constant) -> &Values {
        &constant.values
    }

    fn accept_result(&self, operation: &'static str, _: (&Ciphertext, usize), ct: Ciphertext) -> Result<Ciphertext> {
        self.accept(operation, ct)
    }
}
