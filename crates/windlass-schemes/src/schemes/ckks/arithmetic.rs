//! Sums and products of CKKS ciphertexts.

use std::borrow::Cow;

use num_complex::Complex64;
use windlass_ring::{Basis, Eval, Poly, Values};
use windlass_rlwe::switching::{self, Epilogue};

use super::ciphertext::{Ciphertext, Info};
use super::encode::{period, residue};
use super::engine::Engine;
use super::error_model::ErrorModel;
use super::magnitude::Magnitude;
use super::slot_error::{SlotError, Source};
use super::wide::{WIDE_ROUNDING, Wide, WideComplex};
use crate::error::{Error, Result};
use crate::schemes::refreshing::AutoRefresh;

/// Relative error of encoding in double precision.
const ROUNDING: f64 = 1.0 / (1u64 << 49) as f64;

/// What is known of public values that are encoded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PublicValues {
    /// Their absolute values.
    pub magnitude: Magnitude,
    /// The deviation that encoding leaves, in units of the values.
    pub rounding: f64,
}

impl Engine {
    /// `a + b`, slot by slot; the shorter vector is repeated.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.refreshing(&[a, b], |x| self.add_or_sub(Cow::Borrowed(x[0]), x[1], false))
    }

    /// `a − b`, slot by slot; the shorter vector is repeated.
    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.refreshing(&[a, b], |x| self.add_or_sub(Cow::Borrowed(x[0]), x[1], true))
    }

    /// An owned `a` becomes the result.
    pub(super) fn add_or_sub(&self, a: Cow<'_, Ciphertext>, b: &Ciphertext, subtract: bool) -> Result<Ciphertext> {
        let (sum, b) = self.align(a, Cow::Borrowed(b))?;
        let mut sum = sum.into_owned();
        for (x, y) in sum.parts.iter_mut().zip(&b.parts) {
            if subtract { x.sub_assign(y) } else { x.add_assign(y) }
        }
        sum.info.add_metadata(&b.info);
        self.accept(if subtract { "subtract" } else { "add" }, sum)
    }

    /// `−a`.
    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check("negate", a)?;
        let mut out = a.clone();
        out.parts.iter_mut().for_each(Poly::neg_assign);
        Ok(out)
    }

    /// `a + values` for public values; a shorter vector is repeated.
    ///
    /// # Errors
    /// [`Error::SlotCount`], [`Error::NotFinite`]; [`Error::NumberTooLarge`] for numbers beyond
    /// 2^960 divided by the scale; [`Error::ModulusExhausted`].
    pub fn add_plain(&self, a: &Ciphertext, values: &[Complex64]) -> Result<Ciphertext> {
        self.refreshing(&[a], |x| match period(values) {
            1 => self.add_number(x[0].clone(), values[0], values.len()),
            _ => self.add_vector(x[0], values),
        })
    }

    fn add_vector(&self, a: &Ciphertext, values: &[Complex64]) -> Result<Ciphertext> {
        self.check("add a constant", a)?;
        let (message, factor) = self.encode_measured(a, values, a.scale(), a.parts[0].basis())?;
        let mut sum = a.clone();
        sum.parts[0].add_assign(&message);
        self.with_constant(sum, values.len(), factor)
    }

    /// `a + c` for a number in so many slots that are repeated, in the memory of `a`: an integer, and a
    /// multiple of X^{n/2}.
    pub(super) fn add_number(&self, mut a: Ciphertext, c: Complex64, slots: usize) -> Result<Ciphertext> {
        self.check("add a constant", &a)?;
        self.context.check_scaled(&[c], a.scale())?;
        self.context.check_slots(slots)?;
        let [re, im] = [c.re, c.im].map(|x| (x * a.scale()).round_ties_even());
        a.parts[0].add_scalar_assign(|q| residue(re, q));
        if im != 0.0 {
            let basis = a.parts[0].basis().clone();
            a.parts[0].add_assign(&self.context.imaginary().restrict_times(&basis, |q| residue(im, q)));
        }
        let rounding = (c * a.scale() - Complex64::new(re, im)).norm() / a.scale();
        let entries = if slots == a.slots() { a.entries() } else { slots };
        let factor = PublicValues::new(Magnitude::measured(&vec![c; slots], entries), rounding);
        self.with_constant(a, slots, factor)
    }

    /// With what is known of a constant that was added.
    fn with_constant(&self, mut sum: Ciphertext, slots: usize, factor: PublicValues) -> Result<Ciphertext> {
        let (slots, deviation) = (sum.slots().max(slots), factor.rounding);
        let (magnitude, own) = (factor.beside(&sum.info.magnitude, slots), SlotError::unknown(deviation));
        let degree = sum.info.degree;
        sum.info.add_metadata(&Info { degree, magnitude, deviation, uneven: deviation, own });
        self.accept("add a constant", sum)
    }

    /// `a·values` for public values; a shorter vector is repeated. The product is of degree 2.
    ///
    /// # Errors
    /// As [`Self::add_plain`]; [`Error::LevelsExhausted`].
    pub fn multiply_plain(&self, a: &Ciphertext, values: &[Complex64]) -> Result<Ciphertext> {
        self.refreshing(&[a], |x| self.times_values(x[0], values))
    }

    /// As [`Self::add_plain`] for values of more bits than doubles have.
    ///
    /// Cost: that of two encodings, and of n·log2 n operations on numbers of two doubles.
    ///
    /// # Errors
    /// As there.
    pub fn add_wide(&self, a: &Ciphertext, values: &[WideComplex]) -> Result<Ciphertext> {
        self.refreshing(&[a], |x| {
            let a = x[0];
            self.check("add a constant", a)?;
            let scale = self.context.wide_scale_of(a.level(), a.info.degree);
            let (message, factor) = self.encode_wide(a, values, scale)?;
            let mut sum = a.clone();
            sum.parts[0].add_assign(&message);
            self.with_constant(sum, values.len(), factor)
        })
    }

    /// As [`Self::multiply_plain`] for values of more bits than doubles have.
    ///
    /// Cost: as [`Self::add_wide`], and a product with a constant.
    ///
    /// # Errors
    /// As there.
    pub fn multiply_wide(&self, a: &Ciphertext, values: &[WideComplex]) -> Result<Ciphertext> {
        self.refreshing(&[a], |x| {
            let a = self.rescaled(x[0])?;
            let scale = self.context.wide_constant_scale(a.level());
            let (poly, factor) = self.encode_wide(&a, values, scale)?;
            self.times(&a, &poly.into(), factor)
        })
    }

    /// As [`Self::encode_measured`], with a bound on the rounding instead of its measure.
    fn encode_wide(&self, a: &Ciphertext, values: &[WideComplex], scale: Wide) -> Result<(Poly<Eval>, PublicValues)> {
        self.context.check_wide_values(values, f64::INFINITY)?;
        let doubles: Vec<Complex64> = values.iter().map(|z| z.high()).collect();
        self.context.check_scaled(&doubles, scale.high())?;
        let entries = if values.len() == a.slots() { a.entries() } else { values.len() };
        let magnitude = Magnitude::measured(&doubles, entries);
        let rounding = self.context.errors().encoding(2 * values.len()) / scale.high();
        let poly = self.context.encode_wide(values, scale, a.parts[0].basis());
        Ok((poly, PublicValues { magnitude, rounding: rounding + magnitude.largest() * WIDE_ROUNDING }))
    }

    fn times_values(&self, a: &Ciphertext, values: &[Complex64]) -> Result<Ciphertext> {
        let a = self.rescaled(a)?;
        let (poly, factor) =
            self.encode_measured(&a, values, self.context.constant_scale(a.level()), a.parts[0].basis())?;
        self.times(&a, &poly.into(), factor)
    }

    /// Public values for a ciphertext as a ring element, and what is known of it: of those that meet
    /// its entries apart from others.
    fn encode_measured(
        &self,
        a: &Ciphertext,
        values: &[Complex64],
        scale: f64,
        basis: &Basis,
    ) -> Result<(Poly<Eval>, PublicValues)> {
        self.context.check_scaled(values, scale)?;
        let entries = if values.len() == a.slots() { a.entries() } else { values.len() };
        let (poly, rounding) = self.context.encode_public(values, scale, basis);
        Ok((poly, PublicValues::new(Magnitude::measured(values, entries), rounding)))
    }

    /// `a` times an encoded factor at the scale of its level.
    pub(crate) fn times(&self, a: &Ciphertext, values: &Values, factor: PublicValues) -> Result<Ciphertext> {
        let ring = self.context.rlwe().ring();
        let basis = a.parts[0].basis();
        let parts = Poly::dot_pairs(ring, basis, &[vec![([&a.parts[0], &a.parts[1]], Some(values))]]);
        let parts = parts.into_iter().flatten().collect();
        self.accept("multiply by a constant", a.with_parts(parts, self.weighed(&a.info, a.level(), factor)))
    }

    /// `k·a` for an integer: exact, no rescaling.
    ///
    /// # Errors
    /// [`Error::ModulusExhausted`].
    pub fn multiply_integer(&self, a: &Ciphertext, k: i64) -> Result<Ciphertext> {
        self.refreshing(&[a], |x| self.times_integer(x[0].clone(), k))
    }

    /// As [`Self::multiply_integer`], in the memory of `a`.
    pub(super) fn times_integer(&self, mut a: Ciphertext, k: i64) -> Result<Ciphertext> {
        self.check("multiply by an integer", &a)?;
        a.parts.iter_mut().for_each(|part| part.mul_scalar_assign(|q| q.reduce_i64(k)));
        a.info.scale(k.unsigned_abs() as f64);
        self.accept("multiply by an integer", a)
    }

    /// As [`Self::multiply_integer`], for an integer that is written as a double.
    fn multiply_whole(&self, a: &Ciphertext, k: f64) -> Result<Ciphertext> {
        let mut out = self.times_residues(a, k);
        out.info.scale(k.abs());
        self.accept("multiply by an integer", out)
    }

    /// The phase times an integer.
    fn times_residues(&self, a: &Ciphertext, k: f64) -> Ciphertext {
        let parts = a.parts.iter().map(|part| part.times_scalar(|q| residue(k, q))).collect();
        a.with_parts(parts, a.info.clone())
    }

    /// `i·a`: exact, no rescaling.
    pub fn multiply_i(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check("multiply by i", a)?;
        let (ring, basis) = (self.context.rlwe().ring(), a.parts[0].basis());
        let parts = a.parts.iter().map(|part| Poly::dot(ring, basis, &[(part, self.context.imaginary())])).collect();
        Ok(a.with_parts(parts, a.info.clone()))
    }

    /// `c·a` for a complex number. Multiplication by an integer of any size is free; any other
    /// number gives a product of degree 2.
    ///
    /// # Errors
    /// As [`Self::multiply_plain`].
    pub fn multiply_scalar(&self, a: &Ciphertext, c: Complex64) -> Result<Ciphertext> {
        self.refreshing(&[a], |x| self.times_number(x[0], c))
    }

    pub(super) fn times_number(&self, a: &Ciphertext, c: Complex64) -> Result<Ciphertext> {
        self.check("multiply by a number", a)?;
        self.context.check_scaled(&[c], self.context.constant_scale(a.level()))?;
        if c.im == 0.0 && c.re.fract() == 0.0 {
            return self.multiply_whole(a, c.re);
        }
        let a = self.rescaled(a)?;
        let scale = self.context.constant_scale(a.level());
        let [re, im] = [c.re, c.im].map(|x| (x * scale).round_ties_even());
        let mut product = self.times_residues(&a, re);
        if im != 0.0 {
            let turned = self.multiply_i(&a)?;
            for (part, mut turned) in product.parts.iter_mut().zip(turned.parts) {
                turned.mul_scalar_assign(|q| residue(im, q));
                part.add_assign(&turned);
            }
        }
        let rounding = (c * scale - Complex64::new(re, im)).norm() / scale;
        product.info = self.weighed(&a.info, a.level(), PublicValues::new(Magnitude::of(1, c.norm()), rounding));
        self.accept("multiply by a number", product)
    }

    /// `a·b`, relinearised, of degree 2. Operands of degree 2 are rescaled first.
    ///
    /// # Errors
    /// [`Error::MissingRelinearisationKey`], [`Error::LevelsExhausted`].
    pub fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.refreshing(&[a, b], |x| self.product("multiply", x[0], x[1]))
    }

    fn product(&self, operation: &'static str, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        let (product, third) = self.tensor(operation, a, b)?;
        self.relinearised(operation, &product, [&product.parts[0], &product.parts[1], &third], product.info.clone())
    }

    /// `a·b` without its third part, and that.
    pub(super) fn tensor(
        &self,
        operation: &'static str,
        a: &Ciphertext,
        b: &Ciphertext,
    ) -> Result<(Ciphertext, Poly<Eval>)> {
        self.check(operation, a)?;
        self.check(operation, b)?;
        let (a, b) = self.factors(a, b)?;
        let [first, second, third] = Poly::tensor([&a.parts[0], &a.parts[1]], [&b.parts[0], &b.parts[1]], |_| 1);
        let info = self.multiplied(a.level(), [&a.info, &b.info]);
        Ok((a.with_parts(vec![first, second], info), third))
    }

    /// `a²`, relinearised, of degree 2.
    pub fn square(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.refreshing(&[a], |x| self.product("square", x[0], x[0]))
    }

    /// What is known of a product with encoded values at a level.
    pub(crate) fn weighed(&self, a: &Info, level: usize, factor: PublicValues) -> Info {
        let slots = a.slots().max(factor.magnitude.slots());
        let known = a.magnitude.repeated(slots);
        let magnitude = known.times(factor.beside(&a.magnitude, slots));
        let mut product = Info { degree: 2, magnitude, own: a.error_in(slots), ..*a };
        product.scale_error(factor.magnitude.largest());
        product.add_certain((known.largest() + ErrorModel::BOUND_FACTOR * a.deviation) * factor.rounding);
        product.add_steered(self.steered(level, slots, &factor.magnitude));
        product
    }

    /// What is known of a product at a level before relinearisation.
    fn multiplied(&self, level: usize, [a, b]: [&Info; 2]) -> Info {
        let magnitude = a.magnitude.times(b.magnitude);
        let slots = magnitude.slots();
        let [of_a, of_b] = [a, b].map(|x| x.magnitude.largest());
        // a·b = m_a·m_b + m_b·ε_a + m_a·ε_b + ε_a·ε_b.
        let [mut own, mut other] = [a, b].map(|x| x.error_in(slots));
        own.scale(of_b);
        other.scale(of_a);
        own.add_metadata(&other);
        let deviation = of_a * b.deviation + of_b * a.deviation;
        let uneven = of_a * b.uneven + of_b * a.uneven;
        let mut product = Info { degree: 2, magnitude, deviation, uneven, own };
        product.add_certain(ErrorModel::BOUND_FACTOR * a.deviation * b.deviation);
        // Numbers that were added to one factor steer what the other brings.
        [a, b].iter().for_each(|x| product.add_steered(self.steered(level, slots, &x.magnitude)));
        product
    }

    /// [`ErrorModel::steered`] in so many own slots and in the whole ring, for a product at a level
    /// with slots of this number and magnitude, in units of the message.
    fn steered(&self, level: usize, own: usize, factor: &Magnitude) -> [f64; 2] {
        let (slots, magnitude) = (factor.slots(), factor.largest());
        let scale = self.context.scale(self.context.level_below(level).unwrap_or(level));
        [own, self.context.most_slots()]
            .map(|count| self.context.errors().steered(2 * count, 2 * slots, magnitude) / scale)
    }

    pub(super) fn relinearised(
        &self,
        operation: &'static str,
        like: &Ciphertext,
        [first, second, third]: [&Poly<Eval>; 3],
        info: Info,
    ) -> Result<Ciphertext> {
        let key = self.keys.relinearisation().ok_or(Error::MissingRelinearisationKey)?;
        let (context, level) = (self.context.rlwe(), like.level());
        let epilogue = Epilogue { addends: [Some(first), Some(second)], automorphism: None };
        let parts = switching::switch(context, third, 1, key, &epilogue)?;
        let mut out = like.with_parts(parts.into(), info);
        out.add_inner_product(level, Source::Key(0));
        out.add_rounding(level);
        self.accept(operation, out)
    }
}

impl PublicValues {
    /// Encoded values, and the deviation that the encoding itself leaves.
    pub(crate) fn new(magnitude: Magnitude, rounding: f64) -> Self {
        Self { magnitude, rounding: rounding + magnitude.largest() * ROUNDING }
    }

    /// The magnitude over so many slots, with the entries of what they meet: public values make
    /// none.
    fn beside(&self, other: &Magnitude, slots: usize) -> Magnitude {
        self.magnitude.repeated(slots).with_entries(other.repeated(slots).count())
    }
}

impl Info {
    /// What is known of a sum with another of the same degree.
    pub(crate) fn add_metadata(&mut self, other: &Self) {
        let slots = self.slots().max(other.slots());
        if slots != self.slots() {
            self.own = self.error_in(slots);
        }
        match slots == other.slots() {
            true => self.own.add_metadata(&other.own),
            false => self.own.add_metadata(&other.error_in(slots)),
        }
        self.magnitude = self.magnitude.plus(other.magnitude);
        self.uneven += other.uneven;
        self.deviation += other.deviation;
    }
}
