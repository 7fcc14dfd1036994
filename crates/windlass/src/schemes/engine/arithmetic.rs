//! Sums and products.

use std::sync::Arc;

use windlass_ring::kernels::arith;
use windlass_ring::{Eval, Poly, norm};
use windlass_rlwe::Bound;
use windlass_rlwe::switching::{self, Digits};

use super::{Ciphertext, Constant, Engine, centred};
use crate::error::{Error, Result};
use crate::plaintext::Plaintext;
use crate::schemes::Scheme;

impl Engine {
    /// The centred lift of factor·plaintext modulo p^exponent, and its canonical norm.
    fn lift(&self, plaintext: &Plaintext, factor: u64, exponent: u32) -> (Vec<i64>, Bound) {
        let t = self.modulus(exponent);
        let lifted = |&x: &u64| centred(arith::mul_mod(x % t, factor, t), t);
        let lifted: Vec<i64> = plaintext.coefficients().iter().map(lifted).collect();
        let norm = norm::canonical_norm(self.context.ring().shape(), &lifted);
        (lifted, Bound::of(norm))
    }

    /// A plaintext prepared for multiplication at levels up to `level`.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] for a plaintext of another ring.
    pub fn prepare_at(&self, plaintext: &Plaintext, level: usize) -> Result<Constant> {
        self.check_plaintext("prepare", plaintext)?;
        let (lifted, norm) = self.lift(plaintext, 1, self.slots.quotient().modulus().exponent());
        let poly = Poly::from_signed(self.context.ring(), &self.context.wide_basis(level), &lifted).into_eval();
        Ok(Constant { poly, norm })
    }

    pub(super) fn add_or_sub(&self, a: &Ciphertext, b: &Ciphertext, subtract: bool) -> Result<Ciphertext> {
        let (mut sum, b) = self.align(a, b)?;
        let before = self.capacity(&sum);
        for (x, y) in sum.parts.iter_mut().zip(&b.parts) {
            if subtract { x.sub_assign(y) } else { x.add_assign(y) }
        }
        sum.noise = sum.noise + b.noise;
        self.accept(if subtract { "subtract" } else { "add" }, before, sum)
    }

    pub(super) fn add_or_sub_plain(&self, a: &Ciphertext, b: &Plaintext, subtract: bool) -> Result<Ciphertext> {
        self.check("add plaintext", a)?;
        self.check_plaintext("add plaintext", b)?;
        let (lifted, norm) = self.lift(b, a.factor, a.exponent);
        let mut message = Poly::from_signed(self.context.ring(), a.parts[0].basis(), &lifted).into_eval();
        if self.scheme == Scheme::Bfv {
            let t = self.modulus(a.exponent);
            message.mul_scalar_assign(|q| q.inv(q.reduce(t)));
        }
        let mut sum = a.clone();
        if subtract {
            sum.parts[0].sub_assign(&message)
        } else {
            sum.parts[0].add_assign(&message)
        }
        sum.noise = a.noise + norm;
        self.accept("add plaintext", self.capacity(a), sum)
    }

    pub(super) fn negated(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check("negate", a)?;
        let mut out = a.clone();
        out.parts.iter_mut().for_each(Poly::neg_assign);
        Ok(out)
    }

    pub(super) fn scaled(&self, a: &Ciphertext, k: i64) -> Result<Ciphertext> {
        self.check("multiply by a scalar", a)?;
        let t = self.modulus(a.exponent);
        let k = centred(k.rem_euclid(t as i64) as u64, t);
        let mut out = a.clone();
        out.parts.iter_mut().for_each(|part| part.mul_scalar_assign(|q| q.reduce_i64(k)));
        out.noise = out.noise * Bound::of(k.unsigned_abs() as f64);
        self.accept("multiply by a scalar", self.capacity(a), out)
    }

    pub(super) fn times_constant(&self, a: &Ciphertext, c: &Constant) -> Result<Ciphertext> {
        self.check("multiply by a constant", a)?;
        self.check_constant(c, a.level())?;
        let basis = a.parts[0].basis();
        let ring = self.context.ring();
        let parts = a.parts.iter().map(|part| Poly::dot(ring, basis, &[(part, &c.poly)])).collect();
        let out = Ciphertext { noise: a.noise * c.norm, ..a.with_parts(parts) };
        self.accept("multiply by a constant", self.capacity(a), out)
    }

    pub(super) fn check_constant(&self, c: &Constant, level: usize) -> Result<()> {
        if !Arc::ptr_eq(c.poly.ring(), self.context.ring()) {
            return Err(Error::ContextMismatch {
                operation: "multiply by a constant",
                left: self.context.params().id().to_string(),
                right: "a constant prepared for other parameters".into(),
            });
        }
        let prepared = c.poly.basis().len() - self.context.special().len();
        if prepared < level {
            let range = format!("at most {prepared}, the level the constant was prepared for");
            return Err(Error::OutOfRange { what: "level of the ciphertext", got: level as i64, range });
        }
        Ok(())
    }

    /// `a·b` (`a = b` by reference for a square): switch both to the best level, tensor, relinearise.
    pub(super) fn product(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.check("multiply", a)?;
        self.check("multiply", b)?;
        if a.exponent != b.exponent {
            let describe = |ct: &Ciphertext| {
                format!("plaintext modulus {}^{}", self.slots.quotient().modulus().prime(), ct.exponent)
            };
            return Err(Error::ContextMismatch { operation: "multiply", left: describe(a), right: describe(b) });
        }
        let level = self.product_level(a, b);
        let before = self.capacity(a).min(self.capacity(b));
        let left = self.switch_unchecked(a, level);
        let tensor = if std::ptr::eq(a, b) {
            self.tensor_square(&left)
        } else {
            let right = self.switch_unchecked(b, level);
            self.tensor(&left, &right)
        };
        self.accept("multiply", before, self.relinearise(&tensor)?)
    }

    /// For BFV one operand carries the factor t: t·(φ_a·φ_b) is (t·φ_a)(t·φ_b)/t.
    fn tensor_scale(&self, parts: &mut [Poly<Eval>], exponent: u32) {
        if self.scheme == Scheme::Bfv {
            let t = self.modulus(exponent);
            parts.iter_mut().for_each(|part| part.mul_scalar_assign(|q| q.reduce(t)));
        }
    }

    fn tensor(&self, a: &Ciphertext, b: &Ciphertext) -> Ciphertext {
        let (ring, basis) = (self.context.ring(), a.parts[0].basis());
        let mut scaled = a.parts.clone();
        self.tensor_scale(&mut scaled, a.exponent);
        let [a0, a1] = [&scaled[0], &scaled[1]];
        let [b0, b1] = [&b.parts[0], &b.parts[1]];
        let parts = vec![a0.mul(b0), Poly::dot(ring, basis, &[(a0, b1), (a1, b0)]), a1.mul(b1)];
        self.tensored(a, b, parts)
    }

    fn tensor_square(&self, a: &Ciphertext) -> Ciphertext {
        let mut scaled = a.parts.clone();
        self.tensor_scale(&mut scaled, a.exponent);
        let mut middle = scaled[0].mul(&a.parts[1]);
        let double = middle.clone();
        middle.add_assign(&double);
        self.tensored(a, a, vec![scaled[0].mul(&a.parts[0]), middle, scaled[1].mul(&a.parts[1])])
    }

    fn tensored(&self, a: &Ciphertext, b: &Ciphertext, parts: Vec<Poly<Eval>>) -> Ciphertext {
        let t = self.modulus(a.exponent);
        Ciphertext { factor: arith::mul_mod(a.factor, b.factor, t), noise: a.noise * b.noise, ..a.with_parts(parts) }
    }

    /// From three parts to two.
    fn relinearise(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        let key = self.keys.relinearisation().ok_or(Error::MissingRelinearisationKey)?;
        let (level, multiplier) = (ct.level(), self.multiplier(ct.exponent));
        let digits = Digits::new(&self.context, &ct.parts[2], multiplier);
        let switched = digits.inner_product(&self.context, key)?;
        let parts = switched.iter().zip(&ct.parts).map(|(wide, part)| {
            let mut sum = self.narrow(wide, level, ct.exponent);
            sum.add_assign(part);
            sum
        });
        let noise = ct.noise + self.noise(ct.exponent).key_switch(level);
        Ok(Ciphertext { noise, ..ct.with_parts(parts.collect()) })
    }

    /// Mod-down of a key switch whose digits were taken of `multiplier^{-1}·x`: the multiplier comes back.
    pub(super) fn narrow(&self, wide: &Poly<Eval>, level: usize, exponent: u32) -> Poly<Eval> {
        switching::mod_down(&self.context, wide, level, self.multiplier(exponent))
    }

    pub(super) fn divided_by_p(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check("divide by p", a)?;
        let p = self.slots.quotient().modulus().prime();
        if a.exponent < 2 {
            return Err(Error::NotDivisible { prime: p, exponent: a.exponent });
        }
        let mut out = a.clone();
        if self.scheme == Scheme::Bgv {
            out.parts.iter_mut().for_each(|part| part.mul_scalar_assign(|q| q.inv(q.reduce(p))));
        }
        out.exponent -= 1;
        out.factor %= self.modulus(out.exponent);
        out.noise = out.noise / Bound::of(p as f64);
        Ok(out)
    }
}
