//! Sums with products among their terms, relinearised once.
//!
//! Products stay in three parts, each at the level that is best for it. They are raised to the
//! level with the primes of all of them ([`Engine::raised_parts`]), which is exact, and added there.
//! The sum is then brought to the lowest of their levels, whose noise it has anyway. This takes one
//! switch and one relinearisation for all of them. Terms have different correction factors, and
//! integer weights make up for them: the sum has the factor of the term that leaves it the least
//! noise.

use std::borrow::Cow;

use windlass_ring::kernels::Modulus;
use windlass_rlwe::check_same_keys;

use super::rules::{GatheredSum, GatheredTerm};
use super::{Ciphertext, Engine};
use crate::error::{Error, Result};
use crate::evaluator::Subtrahend;
use crate::schemes::Scheme;
use crate::switching::no_terms;

/// What is in a sum `count·p^power` times.
struct Gathered<'a> {
    ct: Cow<'a, Ciphertext>,
    power: u32,
    count: i64,
}

impl Engine {
    /// Σ a_i·b_i. Products of one level and factor are added as they come, so that no more are held
    /// at once than differ.
    pub(super) fn dot_products(&self, pairs: &[(&Ciphertext, &Ciphertext)]) -> Result<Ciphertext> {
        let Some(&(first, other)) = pairs.first() else { return Err(no_terms()) };
        pairs.iter().try_for_each(|(a, _)| self.check_terms("sum of products", first, a))?;
        let mut sums: Vec<Ciphertext> = Vec::new();
        for (a, b) in pairs {
            let product = self.three_parts(a, b)?;
            let fits = |sum: &&mut Ciphertext| sum.level() == product.level() && sum.factor == product.factor;
            match sums.iter_mut().find(fits) {
                Some(sum) => {
                    sum.parts.iter_mut().zip(&product.parts).for_each(|(x, y)| x.add_assign(y));
                    sum.noise = sum.noise + product.noise;
                    sum.content = sum.content.max(product.content);
                }
                None => sums.push(product),
            }
        }
        let before = self.capacity(first).min(self.capacity(other));
        let sum = match sums.len() {
            1 => sums.remove(0),
            _ => {
                let term = |ct| Gathered { ct: Cow::Owned(ct), power: 0, count: 1 };
                self.gathered(first.exponent, 0, &sums.into_iter().map(term).collect::<Vec<_>>())
            }
        };
        self.accept("sum of products", before, self.relinearise(&sum)?)
    }

    /// `(..((x − s_0)/p − s_1)/p ..)/p = (x − Σ_j p^j·s_j)/p^v`.
    pub(super) fn divided_out(&self, x: &Ciphertext, subtrahends: &[Subtrahend<'_, Self>]) -> Result<Ciphertext> {
        let divisions = subtrahends.len() as u32;
        if divisions == 0 {
            return Ok(x.clone());
        }
        let terms = self.terms_of(x, subtrahends)?;
        let (before, sum) = (self.capacity(x), self.gathered(x.exponent, divisions, &terms));
        match sum.parts.len() {
            2 => self.accept("subtract", before, sum),
            _ => self.accept("sum of products", before, self.relinearise(&sum)?),
        }
    }

    /// The terms of [`Self::divided_out`], products in three parts.
    fn terms_of<'a>(&self, x: &'a Ciphertext, subtrahends: &[Subtrahend<'a, Self>]) -> Result<Vec<Gathered<'a>>> {
        let prime = self.slot_ring.prime();
        if x.exponent as usize <= subtrahends.len() {
            return Err(Error::NotDivisible { prime, exponent: x.exponent });
        }
        let mut terms = vec![Gathered { ct: Cow::Borrowed(x), power: 0, count: 1 }];
        for (power, Subtrahend { value, product }) in (0..).zip(subtrahends) {
            let product = product.map(|(a, b)| self.three_parts(a, b)).transpose()?;
            let both = value.map(Cow::Borrowed).into_iter().chain(product.map(Cow::Owned));
            terms.extend(both.map(|ct| Gathered { ct, power, count: -1 }));
        }
        for Gathered { ct, power, .. } in &terms {
            self.check("subtract", ct)?;
            check_same_keys("subtract", x.key, ct.key)?;
            if ct.exponent + power != x.exponent {
                let describe = |exponent: u32| format!("plaintext modulus {prime}^{exponent}");
                let [left, right] = [x.exponent - power, ct.exponent].map(describe);
                return Err(Error::ContextMismatch { operation: "subtract", left, right });
            }
        }
        Ok(terms)
    }

    /// `Σ_j c_j·p^{e_j}·x_j / p^divisions` at the lowest level of its terms, before relinearisation.
    fn gathered(&self, exponent: u32, divisions: u32, terms: &[Gathered<'_>]) -> Ciphertext {
        let content = terms.iter().map(|term| term.ct.content).max().expect("a sum has terms");
        let mut metadata = Vec::with_capacity(terms.len());
        for Gathered { ct, power, count } in terms {
            metadata.push(GatheredTerm { ct: ct.metadata(), power: *power, count: *count });
        }
        let GatheredSum { kept, weights, raised, level } = self.rules.gathered(exponent, divisions, &metadata);
        let terms: Vec<&Gathered<'_>> = kept.iter().map(|&j| &terms[j]).collect();
        let list: Vec<&Ciphertext> = terms.iter().map(|term| term.ct.as_ref()).collect();
        let parts = self
            .raised_parts(&list, |j, q| self.divided_weight(weights[j], divisions.saturating_sub(terms[j].power), q));
        let sum = Ciphertext { content, ..list[0].restated(parts, raised) };
        self.switched(&sum, level).into_owned()
    }

    /// `weight/p^divisions` modulo q, as ε takes it. A division by p divides ε in BGV. In BFV it changes
    /// the plaintext modulus alone.
    fn divided_weight(&self, weight: i64, divisions: u32, q: Modulus) -> u64 {
        let weight = q.reduce_i64(weight);
        match self.scheme {
            Scheme::Bgv => {
                let inverse = q.inv(q.reduce(self.slot_ring.prime()));
                (0..divisions).fold(weight, |x, _| q.mul(x, inverse))
            }
            Scheme::Bfv => weight,
        }
    }
}
