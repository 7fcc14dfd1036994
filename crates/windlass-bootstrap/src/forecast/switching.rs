//! The operations that exact and approximate schemes share (additions, products with constants, key
//! switches), on noise bounds instead of ciphertexts.

use windlass_rlwe::Bound;
use windlass_schemes::error::Result;
use windlass_schemes::plaintext::Content;
use windlass_schemes::schemes::engine::rules::Alignment;
use windlass_schemes::schemes::pairs::Growth;
use windlass_schemes::switching::{Arithmetic, MixedRow, Switching, check_rows, no_terms};

use super::{Expected, Forecast};

impl Arithmetic for Forecast {
    type Ciphertext = Expected;
    type Constant = Bound;

    fn conductor(&self) -> u64 {
        self.slot_ring.m()
    }

    /// Bounds know nothing of slots, so nothing is refused for them.
    fn content(&self, _: &Expected) -> Content {
        Content::Integers
    }

    /// One of the two has the level of the sum.
    fn add(&self, a: &Expected, b: &Expected) -> Result<Expected> {
        self.switches(1);
        let Alignment { multipliers, sum } = self.rules.aligned(a, b);
        for (ct, k) in [a, b].into_iter().zip(multipliers) {
            // What is multiplied by a unit other than 1, and the sum.
            if k != 1 {
                self.pay_term(2, ct.level);
            }
            self.pay_switch(2, ct.level, sum.level);
        }
        self.pay_term(2, sum.level);
        Ok(sum)
    }

    fn zero_like(&self, a: &Expected) -> Result<Expected> {
        Ok(Expected { noise: Bound::ZERO, ..*a })
    }

    fn multiply_constant(&self, a: &Expected, c: &Bound) -> Result<Expected> {
        Ok(Expected { noise: a.noise * *c, ..*a })
    }
}

impl Switching for Forecast {
    type Hoisted = Expected;
    type Extended = Expected;

    fn has_key(&self, _: u64) -> bool {
        true
    }

    fn automorphism(&self, a: &Expected, t: u64) -> Result<Expected> {
        Ok(self.grown(a, Growth::KeySwitch(t)))
    }

    fn hoist(&self, a: &Expected) -> Result<Expected> {
        Ok(*a)
    }

    fn hoisted_automorphisms(&self, list: &[Expected], t: u64) -> Result<Vec<Expected>> {
        Ok(list.iter().map(|a| self.grown(a, Growth::InnerProduct(t))).collect())
    }

    fn extend(&self, a: &Expected) -> Result<Expected> {
        Ok(*a)
    }

    fn dot_extended(&self, inputs: &[&Expected], rows: &[MixedRow<'_, Bound>]) -> Result<Vec<Expected>> {
        check_rows(inputs.len(), rows)?;
        let one = Bound::of(1.0);
        let sum = |row: &MixedRow<'_, Bound>| {
            let &(first, _) = row.first().ok_or_else(no_terms)?;
            let noise = row.iter().map(|&(j, c)| inputs[j].noise * *c.unwrap_or(&one)).sum();
            Ok(Expected { noise, ..*inputs[first] })
        };
        rows.iter().map(sum).collect()
    }

    fn extended_automorphisms(&self, list: &[&Expected], t: u64) -> Result<Vec<Expected>> {
        list.iter().map(|a| self.automorphism(a, t)).collect()
    }

    fn add_extended_assign(&self, a: &mut Expected, b: &Expected) -> Result<()> {
        a.noise = a.noise + b.noise;
        Ok(())
    }

    fn mod_down(&self, a: Expected) -> Result<Expected> {
        Ok(self.grown(&a, Growth::Rounding))
    }
}
