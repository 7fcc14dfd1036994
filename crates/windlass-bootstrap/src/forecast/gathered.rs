//! The noise of sums with products among their terms. It follows the engine step by step.

use windlass_ring::kernels::arith;
use windlass_rlwe::{Bound, RandomEvents};
use windlass_schemes::error::{Error, Result};
use windlass_schemes::evaluator::Subtrahend;
use windlass_schemes::schemes::engine::{Powered, weights_of_powers};
use windlass_schemes::switching::no_terms;

use super::{Expected, Forecast};

/// What is in a sum `count·p^power` times.
#[derive(Clone, Copy)]
struct Gathered {
    ct: Expected,
    power: u32,
    count: i64,
}

impl Forecast {
    /// Σ a_i·b_i, products of one level and factor added as they come.
    pub(super) fn dot_products(&self, pairs: &[(&Expected, &Expected)]) -> Result<Expected> {
        let &(first, _) = pairs.first().ok_or_else(no_terms)?;
        let mut sums: Vec<Expected> = Vec::new();
        for (a, b) in pairs {
            self.one_by_one(true);
            let product = self.three_parts(a, b);
            match sums.iter_mut().find(|sum| sum.level == product.level && sum.factor == product.factor) {
                Some(sum) => {
                    self.pay_term(3, product.level);
                    sum.noise = sum.noise + product.noise;
                }
                None => sums.push(product),
            }
        }
        let sum = match sums[..] {
            [sum] => sum,
            _ => {
                let terms: Vec<Gathered> = sums.into_iter().map(|ct| Gathered { ct, power: 0, count: 1 }).collect();
                self.gathered(first.exponent, 0, 3, &terms)
            }
        };
        self.pay_relinearisation(sum.level);
        Ok(self.relinearised(&sum))
    }

    /// `(x − Σ_j p^j·s_j)/p^v`.
    pub(super) fn divided_out(&self, x: &Expected, subtrahends: &[Subtrahend<'_, Self>]) -> Result<Expected> {
        let divisions = subtrahends.len() as u32;
        if x.exponent <= divisions {
            return Err(Error::NotDivisible { prime: self.slots.prime(), exponent: x.exponent });
        }
        if divisions == 0 {
            return Ok(*x);
        }
        let mut terms = vec![Gathered { ct: *x, power: 0, count: 1 }];
        for (power, Subtrahend { value, product }) in (0..).zip(subtrahends) {
            value.iter().for_each(|_| self.one_by_one(false));
            product.iter().for_each(|_| self.one_by_one(true));
            let product = product.map(|(a, b)| self.three_parts(a, b));
            terms.extend(value.copied().into_iter().chain(product).map(|ct| Gathered { ct, power, count: -1 }));
        }
        let has_products = subtrahends.iter().any(|subtrahend| subtrahend.product.is_some());
        let parts = if has_products { 3 } else { 2 };
        let sum = self.gathered(x.exponent, divisions, parts, &terms);
        if !has_products {
            return Ok(sum);
        }
        self.pay_relinearisation(sum.level);
        Ok(self.relinearised(&sum))
    }

    /// The random events of a term that is added by itself, a product relinearised before.
    fn one_by_one(&self, is_product: bool) {
        self.switches(1);
        if is_product {
            self.switches(2);
            self.events.add(RandomEvents::KEY_SWITCH);
        }
    }

    /// `Σ_j c_j·p^{e_j}·x_j / p^divisions` in so many parts, before relinearisation.
    fn gathered(&self, exponent: u32, divisions: u32, parts: u32, terms: &[Gathered]) -> Expected {
        let (heard, zeros): (Vec<Gathered>, Vec<Gathered>) =
            terms.iter().copied().partition(|term| term.ct.noise != Bound::ZERO);
        let terms = if heard.is_empty() { zeros } else { heard };

        let levels = || terms.iter().map(|term| term.ct.level);
        let low = levels().min().expect("a sum has terms");
        let top = self.params.levels().join_all(levels()).expect("a sum has terms");
        let powered = |Gathered { ct, power, count }: &Gathered| Powered {
            summand: self.summand(ct, low),
            count: *count,
            power: *power,
        };
        let prime = self.slots.prime();
        let (factor, weights) = weights_of_powers(prime, exponent, &terms.iter().map(powered).collect::<Vec<_>>());
        let raised = |(term, weight): (&Gathered, &i64)| {
            let divisor = (prime as f64).powi((divisions - term.power) as i32);
            let bits = self.params.log2_q(top) - self.params.log2_q(term.ct.level);
            self.pay_term(parts, term.ct.level);
            self.scaled(&term.ct, *weight).noise * Bound::from_bits(bits) / Bound::of(divisor)
        };
        let noise = terms.iter().zip(&weights).map(raised).sum();
        let exponent = exponent - divisions;
        let t = self.modulus(exponent);
        let factor = arith::mul_mod(factor % t, self.dropped(top, low, t), t);
        self.pay_switch(parts, top, low);
        self.switch_parts(&Expected { level: top, exponent, factor, noise }, low, parts)
    }
}
