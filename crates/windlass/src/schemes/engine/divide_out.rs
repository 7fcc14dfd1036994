//! Exact divisions with products in between, relinearised once.

use super::{Ciphertext, Engine};
use crate::error::Result;
use crate::evaluator::Subtrahend;
use windlass_rlwe::check_same_keys;

impl Engine {
    /// `(..((x − s_0)/p − s_1)/p ..)/p`: products stay in three parts until the end, so that the
    /// key switch is one for all of them.
    pub(super) fn divided_out(&self, x: &Ciphertext, subtrahends: &[Subtrahend<'_, Self>]) -> Result<Ciphertext> {
        let before = self.capacity(x);
        let mut rest = x.clone();
        for Subtrahend { value, product } in subtrahends {
            if let Some(value) = value {
                rest = self.without(&rest, value)?;
            }
            if let Some((a, b)) = *product {
                rest = self.without(&rest, &self.three_parts(a, b)?)?;
            }
            rest = self.divided_by_p(rest)?;
        }
        if rest.parts.len() == 2 {
            return Ok(rest);
        }
        self.accept("sum of products", before, self.relinearise(&rest)?)
    }

    /// `a·b` before relinearisation.
    fn three_parts(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.check_summands(a, b)?;
        let level = self.product_level(a, b);
        Ok(self.tensor(&self.switched(a, level), &self.switched(b, level)))
    }

    /// `a − b`, each of two parts or three.
    fn without(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        check_same_keys("subtract", a.key, b.key)?;
        let (a, b) = self.align(a, b)?;
        let (noise, content) = (a.noise + b.noise, a.content.max(b.content));
        let before = self.capacity(&a);
        let mut rest = a.into_owned();
        rest.parts.iter_mut().zip(&b.parts).for_each(|(x, y)| x.sub_assign(y));
        for part in b.parts.iter().skip(rest.parts.len()) {
            let mut part = part.clone();
            part.neg_assign();
            rest.parts.push(part);
        }
        self.accept("subtract", before, Ciphertext { noise, content, ..rest })
    }
}
