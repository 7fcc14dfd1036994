//! The engine as an [`Evaluator`].

use std::ops::Range;
use std::sync::Arc;

use windlass_ring::slots::SlotRing;
use windlass_ring::{Poly, Values, norm};
use windlass_rlwe::{Bound, Limits};

use super::rules::Metadata;
use super::{Ciphertext, Constant, Engine};
use crate::error::{Error, Result};
use crate::evaluator::{
    DividedProduct, Evaluator, Subtrahend, divided_by_parts, divided_one_by_one, weighted_one_by_one,
};
use crate::plaintext::{Content, Plaintext};
use crate::schemes::Scheme;
use crate::schemes::refreshing::AutoRefresh;

impl Evaluator for Engine {
    fn slot_ring(&self) -> &Arc<SlotRing> {
        &self.slot_ring
    }

    fn top_level(&self) -> usize {
        self.top
    }

    fn prepare_at(&self, constant: &Plaintext, level: usize) -> Result<Constant> {
        self.check_plaintext("prepare", constant)?;
        self.check_level(level)?;
        let modulus = self.slot_ring.modulus();
        let lifted = self.centred_lift(constant, 1, modulus.exponent());
        let norm = Bound::of(norm::public_norm(self.context.ring().shape(), &lifted));
        let values = Values::of_signed(self.context.ring(), &self.context.covering_basis(level), &lifted);
        Ok(self.constant((values, level), norm, constant.content()))
    }

    fn prepare_many(
        &self,
        count: usize,
        level: usize,
        constant: &(dyn Fn(usize) -> Result<Plaintext> + Sync),
    ) -> Result<Vec<Constant>> {
        self.check_level(level)?;
        let (ring, modulus) = (self.context.ring(), self.slot_ring.modulus());
        let lift = |numbers: Range<usize>| -> Result<Vec<(Vec<i64>, (Bound, Content))>> {
            let mut lifted = Vec::with_capacity(numbers.len());
            let mut contents = Vec::with_capacity(numbers.len());
            for k in numbers {
                let plaintext = constant(k)?;
                self.check_plaintext("prepare", &plaintext)?;
                lifted.push(self.centred_lift(&plaintext, 1, modulus.exponent()));
                contents.push(plaintext.content());
            }
            let norms: Vec<f64> =
                lifted.chunks(2).flat_map(|pair| norm::public_norm_bounds(ring.shape(), pair)).collect();
            Ok(lifted.into_iter().zip(norms.into_iter().map(Bound::of).zip(contents)).collect())
        };
        let basis = self.context.covering_basis(level);
        let evaluated = Poly::evaluated_batch(ring, &basis, count, lift)?;
        Ok(evaluated
            .into_iter()
            .map(|(values, (norm, content))| self.constant((values, level), norm, content))
            .collect())
    }

    fn constant_bytes(&self, level: usize) -> usize {
        let rows = self.context.covering_basis(level.clamp(1, self.context.top_level())).len();
        8 * rows * self.context.params().n()
    }

    fn held_bytes(&self, constant: &Constant) -> usize {
        constant.bytes()
    }

    fn keeps_periodic_values(&self) -> bool {
        true
    }

    fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.refreshing(&[a, b], |x| self.add_or_sub(x[0], x[1], true))
    }

    fn negate(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check("negate", a)?;
        let mut out = a.clone();
        out.parts.iter_mut().for_each(Poly::neg_assign);
        Ok(out)
    }

    fn add_plain(&self, a: &Ciphertext, b: &Plaintext) -> Result<Ciphertext> {
        self.refreshing(&[a], |x| self.add_or_sub_plain(x[0], b, false))
    }

    fn sub_plain(&self, a: &Ciphertext, b: &Plaintext) -> Result<Ciphertext> {
        self.refreshing(&[a], |x| self.add_or_sub_plain(x[0], b, true))
    }

    fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.refreshing(&[a, b], |x| self.product(x[0], x[1]))
    }

    fn square(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.refreshing(&[a], |x| self.product(x[0], x[0]))
    }

    fn multiply_scalar(&self, a: &Ciphertext, k: i64) -> Result<Ciphertext> {
        self.refreshing(&[a], |x| self.scaled(x[0], k))
    }

    fn exponent_of(&self, a: &Ciphertext) -> u32 {
        a.exponent
    }

    // ε ≡ factor·message modulo p^e is so modulo a smaller power: of BGV nothing changes, of BFV the
    // scalar that makes ε of the phase.
    fn reduce_exponent(&self, a: &Ciphertext, exponent: u32) -> Result<Ciphertext> {
        self.check("reduce the plaintext modulus", a)?;
        Limits::between(1, a.exponent).check("the exponent of a smaller plaintext modulus", exponent)?;
        let mut out = a.clone();
        let scale = self.slot_ring.prime().pow(out.exponent - exponent);
        if self.scheme == Scheme::Bfv && scale > 1 {
            out.parts.iter_mut().for_each(|part| part.mul_scalar_assign(|q| q.reduce(scale)));
        }
        let Metadata { exponent, factor, .. } = self.rules.reduced(&out.metadata(), exponent);
        Ok(Ciphertext { exponent, factor, ..out })
    }

    // ε modulo a larger power of p is factor times another message, congruent to the one it was:
    // of BGV nothing changes, of BFV the scalar that makes ε of the phase.
    fn raise_exponent(&self, a: &Ciphertext, exponent: u32) -> Result<Ciphertext> {
        self.check("raise the plaintext modulus", a)?;
        let most = self.slot_ring.modulus().exponent();
        Limits::between(a.exponent, most).check("the exponent of a larger plaintext modulus", exponent)?;
        if exponent == a.exponent {
            return Ok(a.clone());
        }
        let mut out = a.clone();
        let scale = self.slot_ring.prime().pow(exponent - out.exponent);
        if self.scheme == Scheme::Bfv {
            out.parts.iter_mut().for_each(|part| part.mul_scalar_assign(|q| q.inv(q.reduce(scale))));
        }
        out.exponent = exponent;
        out.content = Content::any(&self.slot_ring);
        Ok(out)
    }

    fn declare_integers(&self, a: Ciphertext) -> Ciphertext {
        a.assume_integers()
    }

    // p·ε ≡ factor·p·message modulo p^{e+1}: of BFV the phase stays.
    fn multiply_by_p(&self, a: &Ciphertext) -> Result<Ciphertext> {
        let product = |a: &Ciphertext| {
            self.check("multiply by p", a)?;
            let most = self.slot_ring.modulus().exponent();
            Limits::at_most(most).check("the exponent of the plaintext modulus", a.exponent + 1)?;
            let (before, p) = (self.capacity(a), self.slot_ring.prime());
            let mut out = a.clone();
            if self.scheme == Scheme::Bgv {
                out.parts.iter_mut().for_each(|part| part.mul_scalar_assign(|q| q.reduce(p)));
            }
            let Metadata { exponent, noise, .. } = self.rules.multiplied_by_p(&out.metadata());
            self.accept("multiply by p", before, Ciphertext { exponent, noise, ..out })
        };
        self.refreshing(&[a], |x| product(x[0]))
    }

    fn divide_by_p(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.divided_by_p(a.clone())
    }

    fn divide_out(&self, x: &Ciphertext, subtrahends: &[Subtrahend<'_, Self>]) -> Result<Ciphertext> {
        match self.divided_out(x, subtrahends) {
            // One by one there is room for refreshes in between.
            Err(Error::CapacityExhausted { .. }) => divided_one_by_one(self, x, subtrahends),
            result => result,
        }
    }

    fn divided_product(&self, values: &[&Ciphertext], product: &DividedProduct) -> Result<Ciphertext> {
        match self.divided_at_once(values, product) {
            // Part by part there is room for refreshes in between.
            Err(Error::CapacityExhausted { .. }) => divided_by_parts(self, values, product),
            result => result,
        }
    }

    fn dot_ciphertexts(&self, pairs: &[(&Ciphertext, &Ciphertext)]) -> Result<Ciphertext> {
        let operands: Vec<&Ciphertext> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        self.refreshing(&operands, |x| self.dot_products(&x.chunks_exact(2).map(|p| (p[0], p[1])).collect::<Vec<_>>()))
    }

    fn weighted_sum(&self, terms: &[(&Ciphertext, i64)], toward: Option<&Ciphertext>) -> Result<Ciphertext> {
        let operands: Vec<&Ciphertext> = terms.iter().map(|(x, _)| *x).chain(toward).collect();
        self.refreshing(&operands, |x| {
            let terms: Vec<_> = x.iter().zip(terms).map(|(x, (_, weight))| (*x, *weight)).collect();
            self.weighted(&terms, toward.map(|_| x[terms.len()]))
        })
    }

    fn weighted_sums(&self, values: &[&Ciphertext], weights: &[Vec<i64>]) -> Result<Vec<Ciphertext>> {
        match self.weighted_batch(values, weights) {
            // One by one there is room for refreshes.
            Err(Error::CapacityExhausted { .. }) => weighted_one_by_one(self, values, weights),
            result => result,
        }
    }
}
