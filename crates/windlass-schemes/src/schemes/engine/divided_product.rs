//! Computes `(Σ·Σ + Σ)/p^k` as a [`ProductPlan`] says.

use std::borrow::Cow;

use windlass_ring::{Eval, Poly};
use windlass_rlwe::check_same_keys;

use super::rules::{FactorSum, Metadata, ProductPlan};
use super::{Ciphertext, Engine};
use crate::error::Result;
use crate::evaluator::{DividedProduct, Evaluator};

impl Engine {
    /// `(Σ a_k·y_k · Σ b_k·y_k + Σ c_k·y_k)/p^divisions` with one relinearisation.
    pub(super) fn divided_at_once(&self, values: &[&Ciphertext], product: &DividedProduct) -> Result<Ciphertext> {
        product.check(values.len())?;
        let used: Vec<&Ciphertext> = (0..values.len()).filter(|&k| product.takes(k)).map(|k| values[k]).collect();
        for ct in &used {
            self.check("product", ct)?;
            check_same_keys("product", used[0].key, ct.key)?;
        }
        let stated: Vec<Metadata> = values.iter().map(|x| x.metadata()).collect();
        let plan = self.rules.divided_product(&stated, product)?;
        let shared = values[plan.shared];
        let head = match shared.exponent == plan.exponent {
            true => self.switched(shared, plan.level),
            false => Cow::Owned(self.switched(&self.reduce_exponent(shared, plan.exponent)?, plan.level).into_owned()),
        };
        let [left, right] = plan.factors.each_ref().map(|sum| self.factor_sum(values, &head, sum));

        // What the shared value adds on top has the product's level: it joins before the product is
        // relinearised.
        let scale = self.tensor_scale(plan.exponent);
        let mut tensor = Poly::tensor(halves(&left), halves(&right), |q| q.reduce(scale));
        add_times(&mut tensor, &head.parts, plan.rest.own);
        let product_parts = self.relinearised_parts(plan.exponent, &tensor)?;
        let content = used.iter().map(|ct| ct.content).max().unwrap_or(shared.content);
        let whole = self.with_on_top(values, &head, product_parts, &plan);
        let whole = Ciphertext { content, ..head.restated(whole, plan.sum) };
        let whole = self.accept("product", self.capacity(shared), whole)?;
        (0..product.divisions).try_fold(whole, |ct, _| self.divided_by_p(ct))
    }

    /// The parts of a factor `Σ c_k·y_k` at the level of the product.
    fn factor_sum(&self, values: &[&Ciphertext], head: &Ciphertext, sum: &FactorSum) -> Vec<Poly<Eval>> {
        let mut parts: Vec<Poly<Eval>> = match sum.own {
            1 => head.parts.to_vec(),
            own => head.parts.iter().map(|part| times(part, own)).collect(),
        };
        if !sum.others.is_empty() {
            let others: Vec<(&Ciphertext, i64)> = sum.others.iter().map(|&(k, weight)| (values[k], weight)).collect();
            let raised = self.raised(head.exponent, &others);
            let level = self.context.level_of(raised[0].basis());
            let raised = head.restated(raised, Metadata { level, ..head.metadata() });
            let others = self.switched(&raised, head.level());
            parts.iter_mut().zip(&others.parts).for_each(|(x, y)| x.add_assign(y));
        }
        parts
    }

    /// The parts of a product with the sum on top, with the primes of both.
    fn with_on_top(
        &self,
        values: &[&Ciphertext],
        head: &Ciphertext,
        product: Vec<Poly<Eval>>,
        plan: &ProductPlan,
    ) -> Vec<Poly<Eval>> {
        if plan.rest.others.is_empty() {
            return product;
        }
        let product = head.with_parts(product);
        let on_top = plan.rest.others.iter().map(|&(k, weight)| (values[k], weight));
        let terms: Vec<(&Ciphertext, i64)> = std::iter::once((&product, 1)).chain(on_top).collect();
        self.raised(plan.exponent, &terms)
    }
}

fn halves(parts: &[Poly<Eval>]) -> [&Poly<Eval>; 2] {
    [&parts[0], &parts[1]]
}

/// An integer times a part.
fn times(part: &Poly<Eval>, k: i64) -> Poly<Eval> {
    part.times_scalar(|q| q.reduce_i64(k))
}

/// Adds an integer times the parts of a ciphertext.
fn add_times(sum: &mut [Poly<Eval>], parts: &[Poly<Eval>], k: i64) {
    if k != 0 {
        sum.iter_mut().zip(parts).for_each(|(x, y)| x.add_assign(&times(y, k)));
    }
}
