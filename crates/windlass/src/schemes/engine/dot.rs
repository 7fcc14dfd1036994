//! Sums of products of ciphertexts, relinearised once.

use super::{Ciphertext, Engine};
use crate::error::Result;
use crate::switching::no_terms;
use windlass_rlwe::check_same_keys;

impl Engine {
    /// Σ a_i·b_i: all operands at one level, tensor products summed, one relinearisation.
    ///
    /// Operands that do not fit together (different plaintext moduli or factors) are multiplied and
    /// added one by one.
    pub(super) fn dot_products(&self, pairs: &[(&Ciphertext, &Ciphertext)]) -> Result<Ciphertext> {
        let Some((&(a, b), rest)) = pairs.split_first() else { return Err(no_terms()) };
        for ct in pairs.iter().flat_map(|(a, b)| [a, b]) {
            self.check("sum of products", ct)?;
            check_same_keys("sum of products", a.key, ct.key)?;
        }
        let one_modulus = pairs.iter().all(|(x, y)| x.exponent == a.exponent && y.exponent == a.exponent);
        if one_modulus {
            let level = pairs.iter().map(|(a, b)| self.product_level(a, b)).min().expect("at least one pair");
            let product =
                |(a, b): &(&Ciphertext, &Ciphertext)| self.tensor(&self.switched(a, level), &self.switched(b, level));
            let mut sum = product(&pairs[0]);
            let mut one_factor = true;
            for product in rest.iter().map(product) {
                one_factor &= product.factor == sum.factor;
                if !one_factor {
                    break;
                }
                sum.parts.iter_mut().zip(&product.parts).for_each(|(x, y)| x.add_assign(y));
                sum.noise = sum.noise + product.noise;
                sum.content = sum.content.max(product.content);
            }
            if one_factor {
                let before = self.capacity(a).min(self.capacity(b));
                return self.accept("sum of products", before, self.relinearise(&sum)?);
            }
        }
        rest.iter().try_fold(self.product(a, b)?, |sum, (a, b)| self.add_or_sub(&sum, &self.product(a, b)?, false))
    }
}
