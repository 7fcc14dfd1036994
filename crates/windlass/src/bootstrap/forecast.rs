//! Running a circuit on noise bounds alone.

use std::sync::Arc;

use windlass_ring::kernels::arith;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::{Bound, EventCounter, Limits, NoiseModel, RandomEvents, RlweParams};

use crate::error::{Error, Result};
use crate::evaluator::{DividedProduct, Evaluator};
use crate::plaintext::{Content, Plaintext};
use crate::schemes::engine::{Summand, aligned, weights, weights_beside};
use crate::switching::{MixedRow, Switching, check_rows, no_terms};

/// An evaluator whose ciphertexts are noise bounds: the engine's arithmetic of bounds and levels,
/// without ciphertexts or keys.
///
/// Constants count with the norm of random ones: what the engine finds is seldom worse. Capacity
/// that goes below zero is kept as a negative number, not refused.
///
/// Random events are counted so that the engine has no more, at whatever level it does each
/// operation: a modulus switch counts wherever there could be one, a sum of products as its
/// products relinearised one by one.
#[derive(Debug)]
pub(crate) struct Forecast {
    slots: Arc<SlotRing>,
    params: RlweParams,
    models: Vec<NoiseModel>,
    events: EventCounter,
}

/// A ciphertext of a [`Forecast`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Expected {
    pub level: usize,
    pub exponent: u32,
    pub factor: u64,
    pub noise: Bound,
}

impl Forecast {
    pub fn new(params: &RlweParams, slots: &Arc<SlotRing>) -> Self {
        let modulus = slots.modulus();
        let models = (1..=modulus.exponent()).map(|r| NoiseModel::new(params, modulus.prime().pow(r))).collect();
        Self { slots: Arc::clone(slots), params: params.clone(), models, events: EventCounter::default() }
    }

    pub fn model(&self, exponent: u32) -> &NoiseModel {
        &self.models[exponent as usize - 1]
    }

    /// The random events of all operations so far.
    pub fn events(&self) -> &EventCounter {
        &self.events
    }

    /// Counts modulus switches.
    fn switches(&self, count: usize) {
        self.events.add(RandomEvents::MODULUS_SWITCH * count);
    }

    /// Counts the random events of an automorphism, of which the identity has none.
    fn moved(&self, t: u64, events: RandomEvents) {
        self.events.add(events * usize::from(t % self.slots.m() != 1));
    }

    fn modulus(&self, exponent: u32) -> u64 {
        self.slots.prime().pow(exponent)
    }

    /// Bits of capacity.
    pub fn capacity(&self, ct: &Expected) -> f64 {
        self.models[0].capacity(self.params.log2_q(ct.level), ct.noise)
    }

    /// The noise of a ciphertext with this capacity.
    pub fn noise_of_capacity(&self, level: usize, bits: f64) -> Bound {
        Bound::from_bits(self.models[0].capacity(self.params.log2_q(level), Bound::ONE) - bits)
    }

    /// A ciphertext with nothing but rounding noise.
    pub fn floor(&self, level: usize, exponent: u32) -> Expected {
        Expected { level, exponent, factor: 1, noise: self.model(exponent).rounding(2) * Bound::of(2.0) }
    }

    pub fn switch(&self, ct: &Expected, level: usize) -> Expected {
        if level >= ct.level {
            return *ct;
        }
        let (from, to) = (self.params.log2_q(ct.level), self.params.log2_q(level));
        let t = self.modulus(ct.exponent);
        let inverse = arith::inv_mod(self.dropped(ct.level, level, t), t).unwrap_or(1);
        let noise = self.model(ct.exponent).modulus_switch(ct.noise, from, to, 2);
        Expected { level, factor: arith::mul_mod(ct.factor, inverse, t), noise, ..*ct }
    }

    /// The product of the primes between two levels, modulo t.
    fn dropped(&self, from: usize, to: usize, t: u64) -> u64 {
        self.params.q_primes()[to..from].iter().fold(1 % t, |d, q| arith::mul_mod(d, q.value() % t, t))
    }

    fn summand(&self, ct: &Expected, level: usize) -> Summand {
        let t = self.modulus(ct.exponent);
        let inverse = arith::inv_mod(self.dropped(ct.level, level, t), t).unwrap_or(1);
        let bits = self.params.log2_q(level) - self.params.log2_q(ct.level);
        Summand { factor: arith::mul_mod(ct.factor, inverse, t), noise: ct.noise * Bound::from_bits(bits) }
    }

    /// ε times an integer; the factor stays with the caller.
    fn scaled(&self, ct: &Expected, k: i64) -> Expected {
        Expected { noise: ct.noise * Bound::of(k.unsigned_abs() as f64), ..*ct }
    }

    /// The lowest level that costs at most half a bit, as `Engine::reduce_level` finds it.
    pub fn reduce(&self, ct: &Expected) -> Expected {
        let wanted = self.capacity(ct) - 0.5;
        let lowered = (1..=ct.level).map(|level| self.switch(ct, level)).find(|low| self.capacity(low) >= wanted);
        lowered.unwrap_or(*ct)
    }

    fn product(&self, a: &Expected, b: &Expected) -> Expected {
        let top = a.level.min(b.level);
        let model = self.model(a.exponent);
        let at = |level: usize| {
            let (x, y) = (self.switch(a, level), self.switch(b, level));
            let factor = arith::mul_mod(x.factor, y.factor, self.modulus(a.exponent));
            Expected { level, factor, noise: x.noise * y.noise + model.key_switch(level), ..*a }
        };
        let candidates: Vec<Expected> = (1..=top).map(at).collect();
        let best = candidates.iter().map(|ct| self.capacity(ct)).fold(f64::NEG_INFINITY, f64::max);
        *candidates.iter().find(|ct| self.capacity(ct) >= best - 0.5).expect("the best is among them")
    }

    fn wide_error(&self, ct: &Expected) -> Bound {
        let t = Bound::of(self.modulus(ct.exponent) as f64);
        t * self.model(ct.exponent).inner_product(ct.level) / Bound::from_bits(self.params.log2_p())
    }

    /// The values that have a weight, with their numbers, modulo p^exponent.
    fn terms(&self, values: &[&Expected], weights: &[i64], exponent: u32) -> Vec<(usize, Expected, i64)> {
        let weighed = weights.iter().enumerate().filter(|(_, weight)| **weight != 0);
        let reduced = |x: &Expected| Expected { exponent, factor: x.factor % self.modulus(exponent), ..*x };
        weighed.map(|(k, &weight)| (k, reduced(values[k]), weight)).collect()
    }

    /// `Σ_i c_i·x_i`, plus `toward`; switches to its level are left to the caller to count.
    fn sum_of(&self, terms: &[(&Expected, i64)], toward: Option<&Expected>) -> Result<Expected> {
        let Some(&(first, _)) = terms.first() else {
            return Err(no_terms());
        };
        let t = self.modulus(first.exponent);
        let level = terms.iter().map(|(x, _)| x.level).min().unwrap_or(first.level);
        let end = toward.map_or(level, |x| x.level.min(level));
        let summands: Vec<(Summand, i64)> = terms.iter().map(|(x, c)| (self.summand(x, end), *c)).collect();
        let (factor, weights) = weights(t, &summands, toward.map(|x| self.summand(x, end)));
        let one = |(&(x, _), &k): (&(&Expected, i64), &i64)| self.switch(&self.scaled(x, k), level).noise;
        let noise = terms.iter().zip(&weights).map(one).sum();
        let dropped = self.dropped(level, end, t);
        let sum = Expected { level, noise, factor: arith::mul_mod(factor, dropped, t), ..*first };
        toward.map_or(Ok(sum), |base| self.add(base, &sum))
    }

    /// A sum at the level of one of its values, the others added before they are switched.
    fn sum_beside(&self, (shared, head): (usize, &Expected), terms: &[(usize, Expected, i64)]) -> Expected {
        let (level, t) = (head.level, self.modulus(head.exponent));
        let (own, others): (Vec<_>, Vec<_>) = terms.iter().partition(|(k, ..)| *k == shared);
        let own = own.first().map_or(0, |(_, _, weight)| *weight);
        let summands: Vec<(Summand, i64)> = others.iter().map(|(_, x, c)| (self.summand(x, level), *c)).collect();
        let of_head = Summand { factor: head.factor, noise: head.noise };
        let (factor, own, weights) = weights_beside(t, (of_head, own), &summands, None);
        let top = others.iter().map(|(_, x, _)| x.level).max().unwrap_or(level);
        let raised = |((_, x, _), k): (&(usize, Expected, i64), &i64)| {
            let bits = self.params.log2_q(top) - self.params.log2_q(x.level);
            x.noise * Bound::of(k.unsigned_abs() as f64) * Bound::from_bits(bits)
        };
        let noise = others.iter().zip(&weights).map(raised).sum();
        let others = self.switch(&Expected { level: top, noise, ..*head }, level);
        let others = if summands.is_empty() { Bound::ZERO } else { others.noise };
        Expected { factor, noise: head.noise * Bound::of(own.unsigned_abs() as f64) + others, ..*head }
    }

    fn plain_norm(&self, plaintext: &Plaintext, exponent: u32) -> Bound {
        // A monomial has the same absolute value at every root of unity (but X^j for j > 0 is an
        // element of the powerful basis for powers of two alone).
        let t = self.modulus(exponent);
        let mut present = plaintext.coefficients().iter().enumerate().filter(|(_, c)| **c != 0);
        match (present.next(), present.next()) {
            (None, _) => return Bound::ZERO,
            (Some((j, c)), None) if j == 0 || self.params.m().is_power_of_two() => {
                return Bound::of((c % t).min(t - c % t) as f64);
            }
            _ => {}
        }
        self.constant_norm(exponent)
    }

    /// The canonical norm that a constant with random centred coefficients modulo p^exponent has:
    /// one in e^6 has more.
    ///
    /// |α(ζ^u)|² is near to exponential with mean V = n·t²/12, so that the greatest of n/2 exceeds
    /// V·(ln(n/2) + u) with probability e^{−u}. The engine takes every constant's own norm.
    pub fn constant_norm(&self, exponent: u32) -> Bound {
        let (n, t) = (self.params.n() as f64, self.modulus(exponent) as f64);
        let typical = Bound::of(t * (n / 12.0 * ((n / 2.0).ln() + 6.0)).sqrt());
        if typical.bits() < self.model(exponent).plaintext_random().bits() {
            typical
        } else {
            self.model(exponent).plaintext_random()
        }
    }
}

impl Switching for Forecast {
    type Ciphertext = Expected;
    type Constant = Bound;
    type Hoisted = Expected;
    type Extended = Expected;

    fn conductor(&self) -> u64 {
        self.slots.m()
    }

    /// Bounds know nothing of slots, so nothing is refused for them.
    fn content(&self, _: &Expected) -> Content {
        Content::Integers
    }

    /// One of the two has the level of the sum.
    fn add(&self, a: &Expected, b: &Expected) -> Result<Expected> {
        self.switches(1);
        let level = a.level.min(b.level);
        let t = self.modulus(a.exponent);
        let (x, y) = aligned(t, &self.summand(a, level), &self.summand(b, level));
        let [a, b] = [(a, x), (b, y)].map(|(ct, k)| self.switch(&self.scaled(ct, k), level));
        Ok(Expected {
            noise: a.noise + b.noise,
            factor: arith::mul_mod(a.factor, x.rem_euclid(t as i64) as u64, t),
            ..a
        })
    }

    fn zero_like(&self, a: &Expected) -> Result<Expected> {
        Ok(Expected { noise: Bound::ZERO, ..*a })
    }

    fn multiply_constant(&self, a: &Expected, c: &Bound) -> Result<Expected> {
        Ok(Expected { noise: a.noise * *c, ..*a })
    }

    fn has_key(&self, _: u64) -> bool {
        true
    }

    fn automorphism(&self, a: &Expected, t: u64) -> Result<Expected> {
        self.moved(t, RandomEvents::KEY_SWITCH);
        Ok(Expected { noise: a.noise + self.model(a.exponent).key_switch(a.level), ..*a })
    }

    fn hoist(&self, a: &Expected) -> Result<Expected> {
        Ok(*a)
    }

    fn hoisted_automorphism(&self, a: &Expected, t: u64) -> Result<Expected> {
        self.moved(t, RandomEvents::INNER_PRODUCT);
        Ok(Expected { noise: a.noise + self.wide_error(a), ..*a })
    }

    fn extend(&self, a: &Expected) -> Result<Expected> {
        Ok(*a)
    }

    fn dot_extended(&self, inputs: &[Expected], rows: &[MixedRow<'_, Bound>]) -> Result<Vec<Expected>> {
        check_rows(inputs.len(), rows)?;
        let one = Bound::of(1.0);
        let sum = |row: &MixedRow<'_, Bound>| {
            let &(first, _) = row.first().ok_or_else(no_terms)?;
            let noise = row.iter().map(|&(j, c)| inputs[j].noise * *c.unwrap_or(&one)).sum();
            Ok(Expected { noise, ..inputs[first] })
        };
        rows.iter().map(sum).collect()
    }

    fn extended_automorphism(&self, a: &Expected, t: u64) -> Result<Expected> {
        self.moved(t, RandomEvents::KEY_SWITCH);
        Ok(Expected { noise: a.noise + self.model(a.exponent).key_switch(a.level), ..*a })
    }

    fn add_extended_assign(&self, a: &mut Expected, b: &Expected) -> Result<()> {
        a.noise = a.noise + b.noise;
        Ok(())
    }

    fn mod_down(&self, a: Expected) -> Result<Expected> {
        self.events.add(RandomEvents::MOD_DOWN);
        Ok(Expected { noise: a.noise + self.model(a.exponent).rounding(2), ..a })
    }
}

impl Evaluator for Forecast {
    fn slots(&self) -> &Arc<SlotRing> {
        &self.slots
    }

    fn top_level(&self) -> usize {
        self.params.top_level()
    }

    fn prepare_at(&self, constant: &Plaintext, _: usize) -> Result<Bound> {
        Ok(self.plain_norm(constant, self.slots.modulus().exponent()))
    }

    fn constant_bytes(&self, _: usize) -> usize {
        std::mem::size_of::<Bound>()
    }

    /// One of the terms has the level of the sum.
    fn weighted_sum(&self, terms: &[(&Expected, i64)], toward: Option<&Expected>) -> Result<Expected> {
        self.switches(terms.len().saturating_sub(1));
        self.sum_of(terms, toward)
    }

    fn weighted_sums(&self, values: &[&Expected], weights: &[Vec<i64>]) -> Result<Vec<Expected>> {
        let level = values.iter().map(|x| x.level).min().ok_or_else(no_terms)?;
        let switched: Vec<Expected> = values.iter().map(|x| self.switch(x, level)).collect();
        self.switches(values.len() - 1);
        let one = |weights: &Vec<i64>| {
            let terms = switched.iter().zip(weights).map(|(x, &c)| (x, c)).filter(|&(_, c)| c != 0);
            self.sum_of(&terms.collect::<Vec<_>>(), None)
        };
        weights.iter().map(one).collect()
    }

    /// As the engine does it: the last value of the first factor is switched once, the others are
    /// added at the highest of their levels.
    fn divided_product(&self, values: &[&Expected], product: &DividedProduct) -> Result<Expected> {
        product.check(values.len())?;
        let sums = [&product.factors[0], &product.factors[1], &product.rest];
        let takes = |k: usize| sums.iter().any(|weights| weights.get(k).is_some_and(|&weight| weight != 0));
        let used = (0..values.len()).filter(|&k| takes(k)).map(|k| values[k]);
        let (exponent, top) =
            used.map(|x| (x.exponent, x.level)).reduce(|a, b| (a.0.min(b.0), a.1.min(b.1))).ok_or_else(no_terms)?;
        let [left, right, rest] = sums.map(|weights| self.terms(values, weights, exponent));
        let shared = product.factors[0].iter().rposition(|&weight| weight != 0).ok_or_else(no_terms)?;
        let noise_at = |terms: &[(usize, Expected, i64)], level| {
            let one =
                |(_, x, c): &(usize, Expected, i64)| self.summand(x, level).noise * Bound::of(c.unsigned_abs() as f64);
            terms.iter().map(one).sum::<Bound>() + self.model(exponent).rounding(2)
        };
        let at = |level: usize| {
            let noise = noise_at(&left, level) * noise_at(&right, level) + self.model(exponent).key_switch(level);
            self.capacity(&Expected { level, exponent, factor: 1, noise })
        };
        let best = (1..=top).map(at).fold(f64::NEG_INFINITY, f64::max);
        let level = (1..=top).find(|&level| at(level) >= best - 0.5).expect("the best is among them");

        // By the other operations both factors would be switched, and every term but one of a sum.
        self.switches(left.len() + right.len() + rest.len());
        self.events.add(RandomEvents::KEY_SWITCH);
        let head = self.switch(&self.reduce_exponent(values[shared], exponent)?, level);
        let [a, b] = [&left, &right].map(|terms| self.sum_beside((shared, &head), terms));
        let factor = arith::mul_mod(a.factor, b.factor, self.modulus(exponent));
        let (own, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(k, ..)| *k == shared);
        let own = own.first().map_or(0, |(_, _, weight)| *weight);
        let summands: Vec<(Summand, i64)> = others.iter().map(|(_, x, c)| (self.summand(x, level), *c)).collect();
        let (t, of_head) = (self.modulus(exponent), Summand { factor: head.factor, noise: head.noise });
        let (_, own, weights) = weights_beside(t, (of_head, own), &summands, Some(factor));
        let own = head.noise * Bound::of(own.unsigned_abs() as f64);
        let noise = a.noise * b.noise + own + self.model(exponent).key_switch(level);

        // What comes on top is not brought down: the product is raised to it.
        let whole = Expected { level, exponent, factor, noise };
        let raised = others.iter().map(|(_, x, _)| x).zip(weights).chain([(&whole, 1)]);
        let raised: Vec<(&Expected, i64)> = raised.filter(|(_, weight)| *weight != 0).collect();
        let top = raised.iter().map(|(x, _)| x.level).max().unwrap_or(level);
        let noise = raised.iter().map(|(x, weight)| {
            let bits = self.params.log2_q(top) - self.params.log2_q(x.level);
            x.noise * Bound::of(weight.unsigned_abs() as f64) * Bound::from_bits(bits)
        });
        let factor = arith::mul_mod(factor, self.dropped(top, level, t), t);
        let sum = Expected { level: top, exponent, factor, noise: noise.sum() };
        (0..product.divisions).try_fold(sum, |sum, _| self.divide_by_p(&sum))
    }

    fn sub(&self, a: &Expected, b: &Expected) -> Result<Expected> {
        self.add(a, b)
    }

    fn negate(&self, a: &Expected) -> Result<Expected> {
        Ok(*a)
    }

    fn add_plain(&self, a: &Expected, b: &Plaintext) -> Result<Expected> {
        Ok(Expected { noise: a.noise + self.plain_norm(b, a.exponent), ..*a })
    }

    fn sub_plain(&self, a: &Expected, b: &Plaintext) -> Result<Expected> {
        self.add_plain(a, b)
    }

    fn multiply(&self, a: &Expected, b: &Expected) -> Result<Expected> {
        self.switches(2);
        self.events.add(RandomEvents::KEY_SWITCH);
        Ok(self.product(a, b))
    }

    fn square(&self, a: &Expected) -> Result<Expected> {
        self.switches(1);
        self.events.add(RandomEvents::KEY_SWITCH);
        Ok(self.product(a, a))
    }

    fn multiply_scalar(&self, a: &Expected, k: i64) -> Result<Expected> {
        let t = self.modulus(a.exponent) as i64;
        let k = k.rem_euclid(t).min(t - k.rem_euclid(t));
        Ok(Expected { noise: a.noise * Bound::of(k as f64), ..*a })
    }

    fn exponent_of(&self, a: &Expected) -> u32 {
        a.exponent
    }

    fn reduce_exponent(&self, a: &Expected, exponent: u32) -> Result<Expected> {
        Limits::between(1, a.exponent).check("the exponent of a smaller plaintext modulus", exponent)?;
        Ok(Expected { exponent, factor: a.factor % self.modulus(exponent), ..*a })
    }

    fn multiply_by_p(&self, a: &Expected) -> Result<Expected> {
        let (most, p) = (self.slots.modulus().exponent(), self.slots.prime());
        Limits::at_most(most).check("the exponent of the plaintext modulus", a.exponent + 1)?;
        Ok(Expected { exponent: a.exponent + 1, noise: a.noise * Bound::of(p as f64), ..*a })
    }

    fn divide_by_p(&self, a: &Expected) -> Result<Expected> {
        let prime = self.slots.prime();
        if a.exponent < 2 {
            return Err(Error::NotDivisible { prime, exponent: a.exponent });
        }
        let factor = a.factor % self.modulus(a.exponent - 1);
        Ok(Expected { exponent: a.exponent - 1, factor, noise: a.noise / Bound::of(prime as f64), ..*a })
    }
}
