//! Sums over the automorphisms of one hoisted ciphertext, with constants: the baby steps of linear maps in one pass.

use windlass_ring::{Eval, Poly};
use windlass_rlwe::Bound;
use windlass_rlwe::switching::{self, Addend, Weights};

use super::{Ciphertext, Constant, Engine, Extended, Hoisted};
use crate::error::Result;
use crate::plaintext::Content;
use crate::schemes::galois::keys_and_permutations;
use crate::switching::{MixedRow, no_terms};

impl Engine {
    /// Row by row Σ c·θ_{t_j}(a); no t_j is 1.
    pub(super) fn dot_moved(
        &self,
        a: &Hoisted,
        elements: &[u64],
        rows: &[MixedRow<'_, Constant>],
    ) -> Result<Vec<Extended>> {
        self.check("sum of products", &a.ct)?;
        let (level, exponent) = (a.ct.level(), a.ct.exponent);
        let keys = keys_and_permutations(&self.keys, elements.iter().copied())?;
        let moved = a.ct.noise + self.wide_error(level, exponent);
        let mut bounds = Vec::with_capacity(rows.len());
        let mut sums: Vec<Weights<'_>> = Vec::with_capacity(rows.len());
        for row in rows {
            if row.is_empty() {
                return Err(no_terms());
            }
            let (mut norms, mut content) = (Bound::ZERO, a.ct.content);
            for constant in row.iter().map(|(_, constant)| constant) {
                if let Some(constant) = constant {
                    self.check_constant(constant, &a.ct, level)?;
                    content = content.max(constant.content);
                }
                norms = norms + constant.map_or(Bound::of(1.0), |constant| constant.norm);
            }
            bounds.push((moved * norms, content));
            sums.push(row.iter().map(|&(j, constant)| (j, constant.map(|constant| &constant.poly))).collect());
        }
        let factors = switching::extension_factors(&self.context, level, self.multiplier(exponent));
        let addend = Addend { poly: &a.ct.parts[0], factors: &factors };
        let pairs = a.digits.weighted_sums(&self.context, addend, &keys, &sums)?;
        let extended = |((noise, content), pair): ((Bound, Content), [Poly<Eval>; 2])| {
            let ct = Ciphertext { noise, content, ..a.ct.with_parts(pair.into()) };
            Extended { ct, level }
        };
        Ok(bounds.into_iter().zip(pairs).map(extended).collect())
    }
}
