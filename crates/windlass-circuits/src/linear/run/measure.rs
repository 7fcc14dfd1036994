//! Prices measured on an evaluator.

use std::sync::Arc;

use windlass_ring::slots::SlotRing;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::evaluator::Evaluator;
use windlass_schemes::plaintext::Plaintext;

use crate::linear::map::Plannable;
use crate::linear::plan::CostModel;

/// The automorphisms of one fused sum that is measured.
const BABIES: usize = 16;
/// How many sums of them are measured together.
const SUMS: usize = 5;

impl CostModel {
    /// Prices in milliseconds, measured on an evaluator with the current number of threads.
    ///
    /// `elements` are automorphisms that the evaluator has keys for; a dozen different ones are
    /// read from memory as in a plan, a single one stays in cache and looks cheaper than it is.
    /// Cost: about 100 key switches and the memory of 64 constants. Errors:
    /// [`windlass_schemes::Error::MissingGaloisKey`], [`windlass_schemes::Error::ShapeMismatch`] without elements, and
    /// what the evaluator reports. WebAssembly in browsers has no clock of its own: use
    /// [`Self::measure_by`] there.
    #[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
    pub fn measure<E: Evaluator>(evaluator: &E, ciphertext: &E::Ciphertext, elements: &[u64]) -> Result<Self> {
        let start = std::time::Instant::now();
        Self::measure_by(evaluator, ciphertext, elements, &|| start.elapsed().as_secs_f64())
    }

    /// [`Self::measure`] by another clock, in seconds: processor time, say, where a machine is
    /// shared.
    ///
    /// # Errors
    /// As [`Self::measure`].
    pub fn measure_by<E: Evaluator>(
        evaluator: &E,
        ciphertext: &E::Ciphertext,
        elements: &[u64],
        clock: &dyn Fn() -> f64,
    ) -> Result<Self> {
        if elements.is_empty() {
            return Err(Error::ShapeMismatch { what: "automorphisms to measure with", expected: 1, got: 0 });
        }
        let top = evaluator.top_level();
        let constant = dense_element(evaluator.slot_ring())?;
        let constants: Vec<E::Constant> = evaluator.prepare_many(BABIES * SUMS, top, &|_| Ok(constant.clone()))?;
        let hoisted = evaluator.hoist(ciphertext)?;
        let hoist = least(3, clock, &mut || evaluator.hoist(ciphertext).map(drop))?;
        let [hoisted_automorphism, multiply_constant] =
            Self::measure_sums(evaluator, &hoisted, elements, &constants, clock)?;
        let [extended_automorphism, automorphism, mod_down] =
            Self::measure_switches(evaluator, (ciphertext, &hoisted), elements, clock)?;
        let [prepare, multiply_base_q] = Self::measure_constants(evaluator, ciphertext, constant, &constants, clock)?;
        Ok(Self {
            hoist,
            hoisted_automorphism,
            extended_automorphism,
            multiply_constant,
            mod_down,
            automorphism,
            multiply_base_q,
            prepare,
            key: hoist * 1e-4,
            milliseconds: Some(1.0),
            key_bytes: None,
            constant_bytes: Some(evaluator.constant_bytes(top) as u64),
        })
    }

    /// The times of a giant step, of a whole key switch and of a mod-down. Automorphisms take turns, so
    /// that their keys do not stay in cache.
    fn measure_switches<E: Evaluator>(
        evaluator: &E,
        (ciphertext, hoisted): (&E::Ciphertext, &E::Hoisted),
        elements: &[u64],
        clock: &dyn Fn() -> f64,
    ) -> Result<[f64; 3]> {
        let mut turn = elements.iter().copied().cycle();
        let extended = evaluator.hoisted_automorphism(hoisted, elements[0])?;
        let mut sum = extended.clone();
        let giant = least(4, clock, &mut || {
            let moved = evaluator.extended_automorphism(&extended, turn.next().expect("endless"))?;
            evaluator.add_extended_assign(&mut sum, &moved)
        })?;
        let whole =
            least(4, clock, &mut || evaluator.automorphism(ciphertext, turn.next().expect("endless")).map(drop))?;
        let mod_down = least(3, clock, &mut || evaluator.mod_down(extended.clone()).map(drop))?;
        Ok([giant, whole, mod_down])
    }

    /// The times of the preparation of one constant, and of a product with one in base Q with its
    /// addition.
    fn measure_constants<E: Evaluator>(
        evaluator: &E,
        ciphertext: &E::Ciphertext,
        constant: Plaintext,
        constants: &[E::Constant],
        clock: &dyn Fn() -> f64,
    ) -> Result<[f64; 2]> {
        let packed = evaluator.slot_ring().pack(constant);
        let prepare = least(2, clock, &mut || {
            // All at once, as in a plan: they do not fit into cache.
            let unpack = |_| evaluator.slot_ring().unpack(&packed);
            evaluator.prepare_many(BABIES, evaluator.top_level(), &unpack).map(drop)
        })?;
        let mut turn = constants.iter().cycle();
        let multiply = least(6, clock, &mut || {
            let product = evaluator.multiply_constant(ciphertext, turn.next().expect("endless"))?;
            evaluator.add(&product, ciphertext).map(drop)
        })?;
        Ok([prepare / BABIES as f64, multiply])
    }

    /// The times of a hoisted automorphism and of a product in base QP: one fused sum has as many
    /// automorphisms as all of them, and fewer products.
    fn measure_sums<E: Evaluator>(
        evaluator: &E,
        hoisted: &E::Hoisted,
        elements: &[u64],
        constants: &[E::Constant],
        clock: &dyn Fn() -> f64,
    ) -> Result<[f64; 2]> {
        let babies: Vec<u64> = elements.iter().copied().cycle().take(BABIES).collect();
        let rows: Vec<Vec<_>> =
            constants.chunks(BABIES).map(|row| row.iter().map(Some).enumerate().collect()).collect();
        let one_sum = least(3, clock, &mut || evaluator.dot_hoisted(hoisted, &babies, &rows[..1]).map(drop))?;
        let all_sums = least(3, clock, &mut || evaluator.dot_hoisted(hoisted, &babies, &rows).map(drop))?;
        let multiply_constant = ((all_sums - one_sum) / (BABIES * (SUMS - 1)) as f64).max(0.0);
        Ok([(one_sum / BABIES as f64 - multiply_constant).max(0.0), multiply_constant])
    }
}

/// An element whose slots are unrelated, like a diagonal of a dense matrix. One with repeating slots would be
/// prepared in a smaller ring and measured as too cheap.
fn dense_element(slot_ring: &Arc<SlotRing>) -> Result<Plaintext> {
    let modulus = slot_ring.modulus();
    let value = |place: u64| modulus.reduce((place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20);
    let values: Vec<u64> = (0..(slot_ring.slots() * slot_ring.degree()) as u64).map(value).collect();
    Plaintext::from_slots(slot_ring, &values)
}

/// The least time of a few runs, in milliseconds.
fn least(runs: usize, clock: &dyn Fn() -> f64, f: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = clock();
        f()?;
        best = best.min((clock() - start) * 1e3);
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use windlass_ring::kernels::{Isa, arith};

    use super::*;

    /// No automorphism keeps it, in any ring: nothing of it is folded.
    #[test]
    fn what_is_measured_with_does_not_repeat() {
        for (m, p, r) in [(105, 2, 1), (1023, 2, 4), (64, 257, 1), (256, 7, 2), (4369, 2, 1)] {
            let slots = Arc::new(SlotRing::new(m, p, r, Isa::best()).unwrap());
            let element = dense_element(&slots).unwrap();
            let units = (2..m).filter(|&t| arith::gcd(t, m) == 1);
            assert!(units.into_iter().all(|t| element.automorphism(t).unwrap() != element), "m = {m}, p = {p}");
        }
    }
}
