//! Sums and products.

use num_complex::Complex64;
use windlass_ring::{Basis, Eval, Poly, Values};
use windlass_rlwe::switching::{self, Finish};

use super::ciphertext::{Ciphertext, Info};
use super::engine::Engine;
use super::error_model::ErrorModel;
use super::slot_error::{SlotError, Source};
use crate::error::{Error, Result};

/// Relative error of encoding in double precision.
const ROUNDING: f64 = 1.0 / (1u64 << 49) as f64;

/// What is known of public values that are encoded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Factor {
    pub slots: usize,
    /// The largest absolute value.
    pub magnitude: f64,
    /// The deviation that encoding leaves, in units of the values.
    pub rounding: f64,
}

impl Engine {
    /// `a + b`, slot by slot; the shorter vector is repeated.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.add_or_sub(a, b, false)
    }

    /// `a − b`, slot by slot; the shorter vector is repeated.
    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.add_or_sub(a, b, true)
    }

    pub(super) fn add_or_sub(&self, a: &Ciphertext, b: &Ciphertext, subtract: bool) -> Result<Ciphertext> {
        let (sum, b) = self.align(a, b)?;
        let mut sum = sum.into_owned();
        for (x, y) in sum.parts.iter_mut().zip(&b.parts) {
            if subtract { x.sub_assign(y) } else { x.add_assign(y) }
        }
        sum.info.absorb(&b.info);
        self.accept(if subtract { "subtract" } else { "add" }, sum)
    }

    /// `−a`.
    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check("negate", a)?;
        let mut out = a.clone();
        out.parts.iter_mut().for_each(Poly::neg_assign);
        Ok(out)
    }

    /// `a + values` for public values; a shorter vector is repeated. Errors: as
    /// [`super::Encryptor::encrypt`].
    pub fn add_plain(&self, a: &Ciphertext, values: &[Complex64]) -> Result<Ciphertext> {
        self.check("add a constant", a)?;
        let (message, Factor { slots, magnitude, rounding }) =
            self.encode_measured(values, a.scale(), a.parts[0].basis())?;
        let mut sum = a.clone();
        sum.parts[0].add_assign(&message);
        let own = SlotError::unknown(rounding);
        sum.info.absorb(&Info { degree: a.info.degree, slots, magnitude, deviation: rounding, own });
        self.accept("add a constant", sum)
    }

    /// `a·values` for public values; a shorter vector is repeated. The product is of degree 2.
    /// Errors: as [`super::Encryptor::encrypt`].
    pub fn multiply_plain(&self, a: &Ciphertext, values: &[Complex64]) -> Result<Ciphertext> {
        let a = self.rescaled(a)?;
        let (poly, factor) = self.encode_measured(values, self.context.scale(a.level()), a.parts[0].basis())?;
        self.times(&a, &poly.into(), factor)
    }

    /// Public values as a ring element, and what is known of it.
    pub(crate) fn encode_measured(
        &self,
        values: &[Complex64],
        scale: f64,
        basis: &Basis,
    ) -> Result<(Poly<Eval>, Factor)> {
        self.context.check_scaled(values, scale)?;
        let magnitude = self.measure(values)?;
        let (poly, rounding) = self.context.encode_public(values, scale, basis);
        Ok((poly, Factor { slots: values.len(), magnitude, rounding: rounding + magnitude * ROUNDING }))
    }

    /// `a` times an encoded factor at the scale of its level.
    pub(crate) fn times(&self, a: &Ciphertext, values: &Values, factor: Factor) -> Result<Ciphertext> {
        let ring = self.context.rlwe().ring();
        let basis = a.parts[0].basis();
        let parts = Poly::dot_pairs(ring, basis, &[vec![([&a.parts[0], &a.parts[1]], values)]]);
        let parts = parts.into_iter().flatten().collect();
        self.accept("multiply by a constant", a.with_parts(parts, self.weighed(&a.info, a.level(), factor)))
    }

    /// `k·a` for an integer: exact, no rescaling.
    pub fn multiply_integer(&self, a: &Ciphertext, k: i64) -> Result<Ciphertext> {
        self.check("multiply by an integer", a)?;
        let mut out = a.clone();
        out.parts.iter_mut().for_each(|part| part.mul_scalar_assign(|q| q.reduce_i64(k)));
        out.info.scale(k.unsigned_abs() as f64);
        self.accept("multiply by an integer", out)
    }

    /// `i·a`: exact, no rescaling.
    pub fn multiply_i(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check("multiply by i", a)?;
        let (ring, basis) = (self.context.rlwe().ring(), a.parts[0].basis());
        let parts = a.parts.iter().map(|part| Poly::dot(ring, basis, &[(part, self.context.imaginary())])).collect();
        Ok(a.with_parts(parts, a.info.clone()))
    }

    /// `c·a` for a complex number: an integer costs nothing, anything else makes a product of
    /// degree 2. Errors: [`Error::NotFinite`], [`Error::ValueTooLarge`].
    pub fn multiply_scalar(&self, a: &Ciphertext, c: Complex64) -> Result<Ciphertext> {
        self.check("multiply by a number", a)?;
        let magnitude = self.measure(&[c])?;
        if c.im == 0.0 && c.re.fract() == 0.0 && c.re.abs() < 1e6 {
            return self.multiply_integer(a, c.re as i64);
        }
        let a = self.rescaled(a)?;
        let scale = self.context.scale(a.level());
        let [re, im] = [c.re, c.im].map(|x| (x * scale).round_ties_even());
        if re.abs().max(im.abs()) >= 2f64.powi(62) {
            return Err(Error::ValueTooLarge { index: 0, bound_bits: 62.0 - scale.log2() });
        }
        let mut parts = a.parts.to_vec();
        parts.iter_mut().for_each(|part| part.mul_scalar_assign(|q| q.reduce_i64(re as i64)));
        if im != 0.0 {
            let turned = self.multiply_i(&a)?;
            for (part, mut turned) in parts.iter_mut().zip(turned.parts) {
                turned.mul_scalar_assign(|q| q.reduce_i64(im as i64));
                part.add_assign(&turned);
            }
        }
        let rounding = (c * scale - Complex64::new(re, im)).norm() / scale + magnitude * ROUNDING;
        let info = self.weighed(&a.info, a.level(), Factor { slots: 1, magnitude, rounding });
        self.accept("multiply by a number", a.with_parts(parts, info))
    }

    /// `a·b`, relinearised, of degree 2. Operands of degree 2 are rescaled first.
    ///
    /// Errors: [`Error::MissingRelinearisationKey`], [`Error::LevelsExhausted`].
    pub fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.check("multiply", a)?;
        self.check("multiply", b)?;
        let (a, b) = self.factors(a, b)?;
        let parts = tensor(&a, &b);
        self.relinearised("multiply", &a, parts, self.multiplied(a.level(), [&a.info, &b.info]))
    }

    /// `a²`, relinearised, of degree 2.
    pub fn square(&self, a: &Ciphertext) -> Result<Ciphertext> {
        let a = self.rescaled(a)?;
        self.relinearised("square", &a, tensor(&a, &a), self.multiplied(a.level(), [&a.info, &a.info]))
    }

    /// What is known of a product with encoded values at a level.
    pub(crate) fn weighed(&self, a: &Info, level: usize, factor: Factor) -> Info {
        let Factor { slots, magnitude, rounding } = factor;
        let mut product = Info { degree: 2, slots: a.slots.max(slots), own: a.error_in(a.slots.max(slots)), ..*a };
        product.scale(magnitude);
        product.add_certain((a.magnitude + ErrorModel::BOUND_FACTOR * a.deviation) * rounding);
        product.add_steered(self.steered(level, product.slots, (slots, magnitude)));
        product
    }

    /// What is known of a product at a level before relinearisation.
    fn multiplied(&self, level: usize, [a, b]: [&Info; 2]) -> Info {
        let slots = a.slots.max(b.slots);
        // a·b = m_a·m_b + m_b·ε_a + m_a·ε_b + ε_a·ε_b.
        let [mut own, mut other] = [a, b].map(|x| x.error_in(slots));
        own.scale(b.magnitude);
        other.scale(a.magnitude);
        own.absorb(&other);
        let deviation = a.magnitude * b.deviation + b.magnitude * a.deviation;
        let mut product = Info { degree: 2, slots, magnitude: a.magnitude * b.magnitude, deviation, own };
        product.add_certain(ErrorModel::BOUND_FACTOR * a.deviation * b.deviation);
        // Numbers that were added to one factor steer what the other brings.
        [a, b].iter().for_each(|x| product.add_steered(self.steered(level, slots, (x.slots, x.magnitude))));
        product
    }

    /// [`ErrorModel::steered`] in so many own slots and in the whole ring, for a product at a level
    /// with slots of this number and magnitude, in units of the message.
    fn steered(&self, level: usize, own: usize, (slots, magnitude): (usize, f64)) -> [f64; 2] {
        let scale = self.context.scale(level.saturating_sub(1).max(self.context.base_level()));
        [own, self.context.most_slots()]
            .map(|count| self.context.errors().steered(2 * count, 2 * slots, magnitude) / scale)
    }

    fn relinearised(
        &self,
        operation: &'static str,
        like: &Ciphertext,
        parts: [Poly<Eval>; 3],
        info: Info,
    ) -> Result<Ciphertext> {
        let key = self.keys.relinearisation().ok_or(Error::MissingRelinearisationKey)?;
        let (context, level) = (self.context.rlwe(), like.level());
        let finish = Finish { addends: [Some(&parts[0]), Some(&parts[1])], automorphism: None };
        let parts = switching::switch(context, &parts[2], 1, key, &finish)?;
        let mut out = like.with_parts(parts.into(), info);
        out.add_inner_product(level, Source::Key(0));
        out.add_rounding(level);
        self.accept(operation, out)
    }

    /// The largest absolute value of public values, which must be finite and as many as divide n/2.
    pub(crate) fn measure(&self, values: &[Complex64]) -> Result<f64> {
        self.context.check_values(values, f64::INFINITY)?;
        let largest = values.iter().map(|z| z.norm()).fold(0.0, f64::max);
        if largest.is_finite() {
            return Ok(largest);
        }
        let index = values.iter().position(|z| !z.norm().is_finite()).unwrap_or(0);
        Err(Error::ValueTooLarge { index, bound_bits: f64::MAX.log2() })
    }
}

/// Three parts of a product.
fn tensor(a: &Ciphertext, b: &Ciphertext) -> [Poly<Eval>; 3] {
    Poly::tensor([&a.parts[0], &a.parts[1]], [&b.parts[0], &b.parts[1]], |_| 1)
}

impl Info {
    /// What is known of a sum with another of the same degree.
    pub(crate) fn absorb(&mut self, other: &Self) {
        let slots = self.slots.max(other.slots);
        if slots != self.slots {
            self.own = self.error_in(slots);
        }
        match slots == other.slots {
            true => self.own.absorb(&other.own),
            false => self.own.add_certain(other.deviation),
        }
        self.slots = slots;
        self.magnitude += other.magnitude;
        self.deviation += other.deviation;
    }
}
