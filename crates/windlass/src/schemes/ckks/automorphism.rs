//! Rotations and conjugation: one at a time, hoisted, and in base Q·P.

use num_complex::Complex64;
use rayon::prelude::*;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::switching::{self, Addend, Digits, Finish};

use super::arithmetic::{Factor, added};
use super::ciphertext::{Ciphertext, Info};
use super::engine::Engine;
use crate::error::{Error, Result, check_same_keys};
use crate::schemes::galois::{key_and_permutation, keys_and_permutations};
use crate::switching::{MixedRow, Switching, dot_and_add, no_terms};

/// Slots prepared for multiplication: values over Q_level·P at the scale of that level.
#[derive(Debug, Clone)]
pub struct Constant {
    pub(crate) poly: Poly<Eval>,
    pub(crate) level: usize,
    pub(crate) factor: Factor,
}

/// A ciphertext after decompose-and-extend of its second part.
#[derive(Debug, Clone)]
pub struct Hoisted {
    pub(super) ct: Ciphertext,
    pub(super) digits: Digits,
}

/// P times a ciphertext, over Q_level·P.
#[derive(Debug, Clone)]
pub struct Extended {
    /// `ct.parts` is over the wide basis; the rest is as after mod-down.
    pub(super) ct: Ciphertext,
    pub(super) level: usize,
}

impl Engine {
    /// Slot j of the result is slot `j + amount` of `a`, cyclically in its own number of slots.
    ///
    /// Errors: [`Error::MissingGaloisKey`], made for [`super::CkksContext::rotation_element`].
    pub fn rotate(&self, a: &Ciphertext, amount: i64) -> Result<Ciphertext> {
        let amount = amount.rem_euclid(a.slots() as i64);
        Switching::automorphism(self, a, self.context.rotation_element(amount))
    }

    /// The complex conjugate of every slot. Errors: [`Error::MissingGaloisKey`].
    pub fn conjugate(&self, a: &Ciphertext) -> Result<Ciphertext> {
        Switching::automorphism(self, a, self.context.conjugation_element())
    }

    /// Slots prepared for multiplication at one level: [`Switching::multiply_constant`] and linear maps.
    ///
    /// Cost: one transform for every prime of Q_level·P. Errors: as [`super::Encryptor::encrypt`]; [`Error::OutOfRange`] for the level.
    pub fn prepare(&self, values: &[Complex64], level: usize) -> Result<Constant> {
        let (base, top) = (self.context.base_level(), self.context.top_level());
        if level < base || level > top {
            let range = format!("between {base} and {top}");
            return Err(Error::OutOfRange { what: "level", got: level.into(), range });
        }
        let basis = self.context.rlwe().wide_basis(level);
        let (poly, factor) = self.encode_measured(values, self.context.scale(level), &basis)?;
        Ok(Constant { poly, level, factor })
    }

    fn is_identity(&self, t: u64) -> bool {
        t % Switching::conductor(self) == 1
    }

    pub(super) fn with_error(info: Info, deviation: f64) -> Info {
        Info { deviation: info.deviation + deviation, ..info }
    }

    /// The error of an inner product with a key, in units of the message at the scale of `info`.
    pub(super) fn wide_error(&self, level: usize, info: &Info) -> f64 {
        self.context.errors().inner_product(level) / self.context.scale(level).powi(info.degree)
    }

    pub(super) fn check_alike(&self, a: &Extended, b: &Extended) -> Result<()> {
        check_same_keys("sum in base QP", a.ct.key, b.ct.key)?;
        if (a.level, a.ct.info.degree) == (b.level, b.ct.info.degree) {
            return Ok(());
        }
        let describe = |x: &Extended| format!("level {}, degree {}", x.level, x.ct.info.degree);
        Err(Error::ContextMismatch { operation: "sum in base QP", left: describe(a), right: describe(b) })
    }

    pub(crate) fn check_constant(&self, c: &Constant, level: usize) -> Result<()> {
        if !std::sync::Arc::ptr_eq(c.poly.ring(), self.context.rlwe().ring()) {
            return Err(Error::ContextMismatch {
                operation: "multiply by a constant",
                left: self.context.rlwe().params().id().to_string(),
                right: "a constant prepared for other parameters".into(),
            });
        }
        if c.level != level {
            let range = format!("{}, the level the constant was prepared for", c.level);
            return Err(Error::OutOfRange { what: "level of the ciphertext", got: level.into(), range });
        }
        Ok(())
    }
}

impl Switching for Engine {
    type Ciphertext = Ciphertext;
    type Constant = Constant;
    type Hoisted = Hoisted;
    type Extended = Extended;

    fn conductor(&self) -> u64 {
        2 * self.context.spec().n as u64
    }

    fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.add_or_sub(a, b, false)
    }

    fn zero_like(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check("multiply by zero", a)?;
        Ok(self.zeroed(a))
    }

    fn multiply_constant(&self, a: &Ciphertext, c: &Constant) -> Result<Ciphertext> {
        let a = self.lowered(a, c.level)?;
        self.check_constant(c, a.level())?;
        self.times(&a, &c.poly, c.factor)
    }

    fn has_key(&self, t: u64) -> bool {
        self.is_identity(t) || self.keys.galois(t).is_some()
    }

    fn automorphism(&self, a: &Ciphertext, t: u64) -> Result<Ciphertext> {
        self.check("automorphism", a)?;
        if self.is_identity(t) {
            return Ok(a.clone());
        }
        let (context, level) = (self.context.rlwe(), a.level());
        let (key, permutation) = key_and_permutation(&self.keys, t)?;
        let finish = Finish { addends: [Some(&a.parts[0]), None], automorphism: Some(&permutation) };
        let parts = switching::switch(context, &a.parts[1], 1, key, &finish)?;
        let error = self.context.errors().key_switch(level) / a.scale();
        Ok(a.with_parts(parts.into(), Self::with_error(a.info, error)))
    }

    fn hoist(&self, a: &Ciphertext) -> Result<Hoisted> {
        self.check("hoist", a)?;
        Ok(Hoisted { ct: a.clone(), digits: Digits::new(self.context.rlwe(), &a.parts[1], 1) })
    }

    fn hoisted_automorphism(&self, a: &Hoisted, t: u64) -> Result<Extended> {
        self.check("hoisted automorphism", &a.ct)?;
        if self.is_identity(t) {
            return Switching::extend(self, &a.ct);
        }
        let context = self.context.rlwe();
        let (key, permutation) = key_and_permutation(&self.keys, t)?;
        let level = a.ct.level();
        let factors = switching::extension_factors(context, level, 1);
        let addend = Addend { poly: &a.ct.parts[0], factors: &factors };
        let parts = a.digits.switch_wide(key, Some(addend), Some(&permutation))?.into();
        let info = Self::with_error(a.ct.info, self.wide_error(level, &a.ct.info));
        Ok(Extended { ct: a.ct.with_parts(parts, info), level })
    }

    fn sum_hoisted(&self, a: &Hoisted, elements: &[u64]) -> Result<Extended> {
        self.check("sum of automorphisms", &a.ct)?;
        if elements.is_empty() {
            return Err(no_terms());
        }
        let (context, level) = (self.context.rlwe(), a.ct.level());
        let first = switching::extend_narrow(context, &a.ct.parts[0], 1);
        let moved = elements.iter().copied().filter(|&t| !self.is_identity(t));
        let terms = keys_and_permutations(&self.keys, moved)?;
        let parts = a.digits.sum_of_switched(context, &first, &terms)?;
        let error = self.wide_error(level, &a.ct.info);
        let info = a.ct.info.times(terms.len() as f64);
        let info = Self::with_error(info, error * terms.len() as f64);
        let mut sum = Extended { ct: a.ct.with_parts(parts.into(), info), level };
        for _ in terms.len()..elements.len() {
            Switching::add_extended_assign(self, &mut sum, &Switching::extend(self, &a.ct)?)?;
        }
        Ok(sum)
    }

    fn extend(&self, a: &Ciphertext) -> Result<Extended> {
        self.check("extend", a)?;
        let parts = a.parts.iter().map(|part| switching::extend(self.context.rlwe(), part, 1)).collect();
        Ok(Extended { level: a.level(), ct: a.with_parts(parts, a.info) })
    }

    fn dot_extended(&self, inputs: &[Extended], rows: &[MixedRow<'_, Constant>]) -> Result<Vec<Extended>> {
        dot_and_add(self, inputs, rows, |rows| self.dot_rows(inputs, rows))
    }

    fn dot_hoisted(&self, a: &Hoisted, elements: &[u64], rows: &[MixedRow<'_, Constant>]) -> Result<Vec<Extended>> {
        if elements.iter().any(|&t| self.is_identity(t)) {
            let image = |&t: &u64| self.hoisted_automorphism(a, t);
            let images: Vec<Extended> = elements.par_iter().map(image).collect::<Result<_>>()?;
            return self.dot_extended(&images, rows);
        }
        self.dot_moved(a, elements, rows)
    }

    fn extended_automorphism(&self, a: &Extended, t: u64) -> Result<Extended> {
        self.check("automorphism", &a.ct)?;
        if self.is_identity(t) {
            return Ok(a.clone());
        }
        let context = self.context.rlwe();
        let (key, permutation) = key_and_permutation(&self.keys, t)?;
        let narrowed = switching::mod_down(context, &a.ct.parts[1], a.level, 1);
        let addend = Addend { poly: &a.ct.parts[0], factors: &[] };
        let parts = switching::switch_wide(context, &narrowed, key, Some(addend), Some(&permutation))?.into();
        let scale = self.context.scale(a.level).powi(a.ct.info.degree);
        let info = Self::with_error(a.ct.info, self.context.errors().key_switch(a.level) / scale);
        Ok(Extended { ct: a.ct.with_parts(parts, info), level: a.level })
    }

    fn add_extended_assign(&self, a: &mut Extended, b: &Extended) -> Result<()> {
        self.check("add", &b.ct)?;
        self.check_alike(a, b)?;
        a.ct.parts.iter_mut().zip(&b.ct.parts).for_each(|(x, y)| x.add_assign(y));
        a.ct.info = added(a.ct.info, b.ct.info);
        Ok(())
    }

    fn mod_down(&self, a: Extended) -> Result<Ciphertext> {
        self.check("mod-down", &a.ct)?;
        let context = self.context.rlwe();
        let parts = switching::mod_down_pair(context, [&a.ct.parts[0], &a.ct.parts[1]], a.level, 1).into();
        let scale = self.context.scale(a.level).powi(a.ct.info.degree);
        let info = Self::with_error(a.ct.info, self.context.errors().rounding() / scale);
        self.accept("mod-down", a.ct.with_parts(parts, info))
    }
}
