//! Sums and products.

use std::sync::Arc;

use windlass_ring::kernels::arith;
use windlass_ring::slots::Hypercube;
use windlass_ring::{Basis, Eval, Poly, Values, norm};
use windlass_rlwe::switching::{self, Epilogue};
use windlass_rlwe::{Bound, Limits, RandomEvents, check_same_keys};

use super::rules::Metadata;
use super::{Ciphertext, Constant, Engine, centred};
use crate::error::{Error, Result, check_same_order};
use crate::evaluator::Evaluator;
use crate::plaintext::{Content, Plaintext};
use crate::schemes::Scheme;
use crate::schemes::refreshing::AutoRefresh;
use crate::switching::Arithmetic;

impl Arithmetic for Engine {
    type Ciphertext = Ciphertext;
    type Constant = Constant;

    fn conductor(&self) -> u64 {
        self.context.params().m()
    }

    fn slot_order(&self) -> Option<&Arc<Hypercube>> {
        Some(self.slot_ring.hypercube())
    }

    fn level_of(&self, a: &Ciphertext) -> usize {
        a.level()
    }

    fn check_input(&self, operation: &'static str, a: &Ciphertext) -> Result<()> {
        self.check(operation, a)
    }

    fn content(&self, a: &Ciphertext) -> Content {
        a.content
    }

    fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.refreshing(&[a, b], |x| self.add_or_sub(x[0], x[1], false))
    }

    fn zero_like(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.scaled(a, 0)
    }

    fn multiply_constant(&self, a: &Ciphertext, c: &Constant) -> Result<Ciphertext> {
        self.refreshing(&[a], |x| self.product_with_constant(x[0], c))
    }

    fn with_refreshes(
        &self,
        input: &Ciphertext,
        circuit: &dyn Fn(&Self, &Ciphertext) -> Result<Ciphertext>,
    ) -> Result<Ciphertext> {
        self.circuit_with_refreshes(input, circuit)
    }
}

impl Engine {
    /// The centred lift of factor·plaintext modulo p^exponent, and its canonical norm.
    fn lift(&self, plaintext: &Plaintext, factor: u64, exponent: u32) -> (Vec<i64>, Bound) {
        let lifted = self.centred_lift(plaintext, factor, exponent);
        let norm = norm::canonical_norm(self.context.ring().shape(), &lifted);
        (lifted, Bound::of(norm))
    }

    pub(super) fn centred_lift(&self, plaintext: &Plaintext, factor: u64, exponent: u32) -> Vec<i64> {
        let t = self.modulus(exponent);
        let canonical = exponent == self.slot_ring.modulus().exponent();
        let coefficients = plaintext.coefficients().iter();
        match factor == 1 && canonical {
            true => coefficients.map(|&x| centred(x, t)).collect(),
            false => coefficients.map(|&x| centred(arith::mul_mod(x % t, factor, t), t)).collect(),
        }
    }

    /// A constant with these values over [`windlass_rlwe::Context::covering_basis`] of a level.
    #[doc(hidden)]
    pub fn constant(&self, (values, level): (Values, usize), norm: Bound, content: Content) -> Constant {
        let (hypercube, modulus) = (Arc::clone(self.slot_ring.hypercube()), self.slot_ring.modulus());
        Constant { values, level, hypercube, modulus, norm, content }
    }

    pub(super) fn check_level(&self, level: usize) -> Result<()> {
        Ok(Limits::between(1, self.context.top_level()).check("level", level)?)
    }

    pub(super) fn add_or_sub(&self, a: &Ciphertext, b: &Ciphertext, subtract: bool) -> Result<Ciphertext> {
        self.check_summands(a, b)?;
        let content = a.content.max(b.content);
        // What has no noise is zero, at whatever level it is.
        if b.noise == Bound::ZERO {
            return Ok(Ciphertext { content, ..a.clone() });
        }
        if a.noise == Bound::ZERO {
            let b = if subtract { self.negate(b)? } else { b.clone() };
            return Ok(Ciphertext { content, ..b });
        }
        let (a, b) = self.align(a, b);
        let combine = if subtract { Poly::minus } else { Poly::plus };
        let parts = a.parts.iter().zip(&b.parts).map(|(x, y)| combine(x, y)).collect();
        let sum = Ciphertext { noise: a.noise + b.noise, content, ..a.with_parts(parts) };
        self.accept(if subtract { "subtract" } else { "add" }, self.capacity(&a), sum)
    }

    pub(super) fn add_or_sub_plain(&self, a: &Ciphertext, b: &Plaintext, subtract: bool) -> Result<Ciphertext> {
        self.check("add plaintext", a)?;
        self.check_plaintext("add plaintext", b)?;
        let (lifted, norm) = self.lift(b, a.factor, a.exponent);
        let mut message = self.message(&lifted, a.parts[0].basis(), a.exponent);
        if subtract {
            message.neg_assign();
        }
        self.plus_message(a, message, norm, b.content())
    }

    /// The first part of a ciphertext without noise or secret: the lift of a plaintext modulo
    /// p^exponent, for BFV over t.
    pub(super) fn message(&self, lifted: &[i64], basis: &Basis, exponent: u32) -> Poly<Eval> {
        let mut message = Poly::from_signed(self.context.ring(), basis, lifted).into_eval();
        if self.scheme == Scheme::Bfv {
            let t = self.modulus(exponent);
            message.mul_scalar_assign(|q| q.inv(q.reduce(t)));
        }
        message
    }

    /// Adds a [`Self::message`] of this norm.
    pub(super) fn plus_message(
        &self,
        a: &Ciphertext,
        mut message: Poly<Eval>,
        norm: Bound,
        content: Content,
    ) -> Result<Ciphertext> {
        message.add_assign(&a.parts[0]);
        let parts = std::iter::once(message).chain(a.parts[1..].iter().cloned()).collect();
        let sum = Ciphertext { noise: a.noise + norm, content: a.content.max(content), ..a.with_parts(parts) };
        self.accept("add plaintext", self.capacity(a), sum)
    }

    pub(super) fn scaled(&self, a: &Ciphertext, k: i64) -> Result<Ciphertext> {
        self.check("multiply by a scalar", a)?;
        let t = self.modulus(a.exponent);
        let k = centred(k.rem_euclid(t as i64) as u64, t);
        let parts = a.parts.iter().map(|part| part.times_scalar(|q| q.reduce_i64(k))).collect();
        let out = a.restated(parts, self.rules.scaled(&a.metadata(), k));
        self.accept("multiply by a scalar", self.capacity(a), out)
    }

    pub(super) fn product_with_constant(&self, a: &Ciphertext, c: &Constant) -> Result<Ciphertext> {
        self.check("multiply by a constant", a)?;
        self.check_constant(c, a, a.level())?;
        let basis = a.parts[0].basis();
        let ring = self.context.ring();
        let parts = Poly::dot_pairs(ring, basis, &[vec![([&a.parts[0], &a.parts[1]], Some(&c.values))]]);
        let parts = parts.into_iter().flatten().collect();
        let out = Ciphertext { noise: a.noise * c.norm, content: a.content.max(c.content), ..a.with_parts(parts) };
        self.accept("multiply by a constant", self.capacity(a), out)
    }

    /// Refuses a constant of another context, plaintext modulus or slot order, or one that was
    /// prepared for lower levels. `level` is that of `ct`, whose parts may be over a wider basis.
    pub(super) fn check_constant(&self, c: &Constant, ct: &Ciphertext, level: usize) -> Result<()> {
        let fits = c.modulus.prime() == ct.prime && c.modulus.exponent() >= ct.exponent;
        if !fits || !Arc::ptr_eq(c.values.ring(), self.context.ring()) {
            return Err(Error::ContextMismatch {
                operation: "multiply by a constant",
                left: format!("{}, plaintext modulus {}^{}", self.context.params().id(), ct.prime, ct.exponent),
                right: format!("a constant of other parameters, or modulo {}", c.modulus.value()),
            });
        }
        check_same_order("multiply by a constant", self.slot_ring.hypercube(), &c.hypercube)?;
        if self.context.levels().covers(c.level, level) {
            return Ok(());
        }
        let limits = Limits::at_most(c.level).with("the level the constant was prepared for");
        Err(limits.refuse("level of the ciphertext", level).into())
    }

    /// `a·b` (`a = b` by reference for a square): switch both to the best level, tensor,
    /// relinearise.
    pub(super) fn product(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        let tensor = self.three_parts(a, b)?;
        let before = self.capacity(a).min(self.capacity(b));
        self.accept("multiply", before, self.relinearise(&tensor)?)
    }

    /// `a·b` before relinearisation, both at the best level.
    pub(super) fn three_parts(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.check("multiply", a)?;
        self.check("multiply", b)?;
        check_same_keys("multiply", a.key, b.key)?;
        if a.exponent != b.exponent {
            let describe = |ct: &Ciphertext| format!("plaintext modulus {}^{}", self.slot_ring.prime(), ct.exponent);
            return Err(Error::ContextMismatch { operation: "multiply", left: describe(a), right: describe(b) });
        }
        let product = self.rules.product(&a.metadata(), &b.metadata());
        let left = self.switched(a, product.level);
        let parts = match std::ptr::eq(a, b) {
            true => self.tensor(&left, &left),
            false => self.tensor(&left, &self.switched(b, product.level)),
        };
        Ok(Ciphertext { content: a.content.max(b.content), ..left.restated(parts, product) })
    }

    /// Three parts of a product. For BFV they carry the factor t: t·(φ_a·φ_b) is (t·φ_a)(t·φ_b)/t.
    fn tensor(&self, a: &Ciphertext, b: &Ciphertext) -> Vec<Poly<Eval>> {
        let scale = self.tensor_scale(a.exponent);
        let [[a0, a1], [b0, b1]] = [a, b].map(|ct| [&ct.parts[0], &ct.parts[1]]);
        Poly::tensor([a0, a1], [b0, b1], |q| q.reduce(scale)).into()
    }

    /// What the parts of a product carry.
    pub(super) fn tensor_scale(&self, exponent: u32) -> u64 {
        if self.scheme == Scheme::Bfv { self.modulus(exponent) } else { 1 }
    }

    /// From three parts to two.
    pub(super) fn relinearise(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        let parts = self.relinearised_parts(ct.exponent, &ct.parts)?;
        Ok(ct.restated(parts, self.rules.relinearised(&ct.metadata())))
    }

    /// The two parts of a ciphertext modulo p^exponent in three parts.
    pub(super) fn relinearised_parts(&self, exponent: u32, parts: &[Poly<Eval>]) -> Result<Vec<Poly<Eval>>> {
        let key = self.keys.relinearisation().ok_or(Error::MissingRelinearisationKey)?;
        let epilogue = Epilogue { addends: [Some(&parts[0]), Some(&parts[1])], automorphism: None };
        let multiplier = self.multiplier(exponent);
        let parts = switching::switch(&self.context, &parts[2], multiplier, key, &epilogue)?;
        self.events.add(RandomEvents::KEY_SWITCH);
        Ok(parts.into())
    }

    /// [`crate::Evaluator::divide_by_p`], without a copy.
    pub(super) fn divided_by_p(&self, a: Ciphertext) -> Result<Ciphertext> {
        self.check("divide by p", &a)?;
        let p = self.slot_ring.prime();
        if a.exponent < 2 {
            return Err(Error::NotDivisible { prime: p, exponent: a.exponent });
        }
        let mut out = a;
        if self.scheme == Scheme::Bgv {
            out.parts.iter_mut().for_each(|part| part.mul_scalar_assign(|q| q.inv(q.reduce(p))));
        }
        let Metadata { exponent, factor, noise, .. } = self.rules.divided_by_p(&out.metadata());
        Ok(Ciphertext { exponent, factor, noise, ..out })
    }
}
