//! Automorphisms: one at a time, hoisted, and in base Q·P.

use windlass_ring::kernels::arith;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::Bound;
use windlass_rlwe::switching::{self, Addend, Digits, Finish};

use super::{Ciphertext, Constant, Engine};
use crate::error::{Error, Result, check_same_keys};
use crate::plaintext::Content;
use crate::schemes::galois::{key_and_permutation, keys_and_permutations};
use crate::switching::no_terms;

/// A ciphertext after decompose-and-extend of its second part.
#[derive(Debug, Clone)]
pub struct Hoisted {
    pub(super) ct: Ciphertext,
    pub(super) digits: Digits,
}

/// P times a ciphertext, over Q_level·P.
///
/// For BGV the pair is held divided by t, so that mod-down is a plain rounding; the t returns with `Evaluator::mod_down`.
#[derive(Debug, Clone)]
pub struct Extended {
    /// Metadata; `ct.parts` is over the wide basis, `ct.noise` is that of the pair divided by P.
    pub(crate) ct: Ciphertext,
    pub(crate) level: usize,
}

impl Engine {
    pub(super) fn is_identity(&self, t: u64) -> bool {
        t % self.context.params().m() == 1
    }

    pub(super) fn apply_automorphism(&self, a: &Ciphertext, t: u64) -> Result<Ciphertext> {
        self.check("automorphism", a)?;
        if self.is_identity(t) {
            return Ok(a.clone());
        }
        let (key, permutation) = key_and_permutation(&self.keys, t)?;
        let (level, multiplier) = (a.level(), self.multiplier(a.exponent));
        let finish = Finish { addends: [Some(&a.parts[0]), None], automorphism: Some(&permutation) };
        let parts = switching::switch(&self.context, &a.parts[1], multiplier, key, &finish)?;
        let noise = a.noise + self.noise(a.exponent).key_switch(level);
        let out = Ciphertext { noise, ..a.with_parts(parts.into()) };
        self.accept("automorphism", self.capacity(a), out)
    }

    pub(super) fn hoisted(&self, a: &Ciphertext) -> Result<Hoisted> {
        self.check("hoist", a)?;
        let digits = Digits::new(&self.context, &a.parts[1], self.multiplier(a.exponent));
        Ok(Hoisted { ct: a.clone(), digits })
    }

    /// P·c/multiplier over Q_level·P.
    fn widen(&self, part: &Poly<Eval>, exponent: u32) -> Poly<Eval> {
        switching::extend(&self.context, part, self.multiplier(exponent))
    }

    /// t·‖Σ digit_k·e_k‖/P: the error of an inner product with a key, in the units of ε.
    pub(super) fn wide_error(&self, level: usize, exponent: u32) -> Bound {
        let t = Bound::of(self.modulus(exponent) as f64);
        t * self.noise(exponent).inner_product(level) / Bound::from_bits(self.context.params().log2_p())
    }

    pub(super) fn extended(&self, a: &Ciphertext) -> Result<Extended> {
        self.check("extend", a)?;
        let parts = a.parts.iter().map(|part| self.widen(part, a.exponent)).collect();
        Ok(Extended { level: a.level(), ct: a.with_parts(parts) })
    }

    pub(super) fn hoisted_to_extended(&self, a: &Hoisted, t: u64) -> Result<Extended> {
        self.check("hoisted automorphism", &a.ct)?;
        if self.is_identity(t) {
            return self.extended(&a.ct);
        }
        let (key, permutation) = key_and_permutation(&self.keys, t)?;
        let level = a.ct.level();
        let factors = switching::extension_factors(&self.context, level, self.multiplier(a.ct.exponent));
        let addend = Addend { poly: &a.ct.parts[0], factors: &factors };
        let parts = a.digits.switch_wide(key, Some(addend), Some(&permutation))?;
        let noise = a.ct.noise + self.wide_error(level, a.ct.exponent);
        let ct = Ciphertext { noise, ..a.ct.with_parts(parts.into()) };
        Ok(Extended { ct, level })
    }

    pub(super) fn summed_automorphisms(&self, a: &Hoisted, elements: &[u64]) -> Result<Extended> {
        self.check("sum of automorphisms", &a.ct)?;
        if elements.is_empty() {
            return Err(no_terms());
        }
        let (level, exponent) = (a.ct.level(), a.ct.exponent);
        let first = switching::extend_narrow(&self.context, &a.ct.parts[0], self.multiplier(exponent));
        let moved = elements.iter().copied().filter(|&t| !self.is_identity(t));
        let terms = keys_and_permutations(&self.keys, moved)?;
        let parts = a.digits.sum_of_switched(&self.context, &first, &terms)?;
        let noise = (a.ct.noise + self.wide_error(level, exponent)) * Bound::of(terms.len() as f64);
        let mut sum = Extended { ct: Ciphertext { noise, ..a.ct.with_parts(parts.into()) }, level };
        for _ in terms.len()..elements.len() {
            self.add_to_extended(&mut sum, &self.extended(&a.ct)?)?;
        }
        Ok(sum)
    }

    /// Row by row Σ c_i·x_{j_i}: all rows in one pass through memory.
    pub(super) fn dot_rows(&self, inputs: &[Extended], rows: &[Vec<(usize, &Constant)>]) -> Result<Vec<Extended>> {
        let Some(first) = inputs.first() else {
            return if rows.is_empty() { Ok(Vec::new()) } else { Err(no_terms()) };
        };
        for x in inputs {
            self.check("sum of products", &x.ct)?;
            self.check_alike(first, x)?;
        }
        let mut bounds = Vec::with_capacity(rows.len());
        let mut sums = Vec::with_capacity(rows.len());
        for row in rows {
            if row.is_empty() {
                return Err(no_terms());
            }
            let (mut noise, mut content) = (Bound::ZERO, Content::Integers);
            let mut sum = Vec::with_capacity(row.len());
            for &(j, c) in row {
                let x = &inputs[j];
                self.check_constant(c, &first.ct, first.level)?;
                noise = noise + x.ct.noise * c.norm;
                content = content.max(x.ct.content).max(c.content);
                sum.push(([&x.ct.parts[0], &x.ct.parts[1]], &c.poly));
            }
            bounds.push((noise, content));
            sums.push(sum);
        }
        let pairs = Poly::pair_sums(self.context.ring(), &self.context.wide_basis(first.level), &sums);
        let extended = |((noise, content), pair): ((Bound, Content), [Poly<Eval>; 2])| {
            let ct = Ciphertext { noise, content, ..first.ct.with_parts(pair.into()) };
            Extended { ct, level: first.level }
        };
        Ok(bounds.into_iter().zip(pairs).map(extended).collect())
    }

    fn check_alike(&self, a: &Extended, b: &Extended) -> Result<()> {
        check_same_keys("sum in base QP", a.ct.key, b.ct.key)?;
        if (a.level, a.ct.exponent, a.ct.factor) == (b.level, b.ct.exponent, b.ct.factor) {
            return Ok(());
        }
        let describe =
            |x: &Extended| format!("level {}, plaintext exponent {}, factor {}", x.level, x.ct.exponent, x.ct.factor);
        Err(Error::ContextMismatch { operation: "sum in base QP", left: describe(a), right: describe(b) })
    }

    pub(super) fn automorphism_of_extended(&self, a: &Extended, t: u64) -> Result<Extended> {
        self.check("automorphism", &a.ct)?;
        if self.is_identity(t) {
            return Ok(a.clone());
        }
        let (key, permutation) = key_and_permutation(&self.keys, t)?;
        // The pair is divided by the multiplier already.
        let narrowed = switching::mod_down(&self.context, &a.ct.parts[1], a.level, 1);
        let addend = Addend { poly: &a.ct.parts[0], factors: &[] };
        let parts = switching::switch_wide(&self.context, &narrowed, key, Some(addend), Some(&permutation))?;
        let noise = a.ct.noise + self.noise(a.ct.exponent).key_switch(a.level);
        let ct = Ciphertext { noise, ..a.ct.with_parts(parts.into()) };
        Ok(Extended { ct, level: a.level })
    }

    pub(super) fn add_to_extended(&self, a: &mut Extended, b: &Extended) -> Result<()> {
        self.check("add", &b.ct)?;
        self.check_alike(a, b)?;
        a.ct.parts.iter_mut().zip(&b.ct.parts).for_each(|(x, y)| x.add_assign(y));
        a.ct.noise = a.ct.noise + b.ct.noise;
        a.ct.content = a.ct.content.max(b.ct.content);
        Ok(())
    }

    /// Divides by P, exactly for the plaintext.
    pub(super) fn mod_down_extended(&self, a: &Extended) -> Result<Ciphertext> {
        self.check("mod-down", &a.ct)?;
        let pair = [&a.ct.parts[0], &a.ct.parts[1]];
        let parts = switching::mod_down_pair(&self.context, pair, a.level, self.multiplier(a.ct.exponent)).into();
        let before = self.capacity_at(a.level, a.ct.noise);
        let noise = a.ct.noise + self.noise(a.ct.exponent).rounding(2);
        let out = Ciphertext { noise, ..a.ct.with_parts(parts) };
        self.accept("mod-down", before, out)
    }

    /// θ_t for the rotation by i of a good dimension, and the masked pair of a bad one, is made by the linear maps; this is t = p^i.
    pub fn frobenius_element(&self, i: u64) -> u64 {
        arith::pow_mod(self.slots.prime(), i, self.context.params().m())
    }
}
