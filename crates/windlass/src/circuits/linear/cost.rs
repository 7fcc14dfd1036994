//! What the parts of a plan cost.

use std::fmt;
use std::time::Instant;

use super::prepare::Packed;
use crate::error::{Error, Result};
use crate::evaluator::Evaluator;
use crate::plaintext::Plaintext;

/// Prices of a scheme's operations, in transforms of one residue row (a forward or inverse NTT of length n).
///
/// The planner only compares sums of these, so any common unit does. [`CostModel::hybrid`] derives them from the shape of a
/// hybrid key switch, [`CostModel::measure`] times them on an evaluator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostModel {
    /// Decompose-and-extend of one ciphertext.
    pub hoist: f64,
    /// One automorphism of a hoisted ciphertext, left in base `QP`.
    pub hoisted_automorphism: f64,
    /// One automorphism of a sum in base `QP` (a giant step): mod-down of one component, decompose, switch.
    pub extended_automorphism: f64,
    /// One product with a prepared constant, accumulated in base `QP`.
    pub multiply_constant: f64,
    /// Mod-down of both components.
    pub mod_down: f64,
    /// One automorphism by itself, a whole key switch in base `Q`.
    pub automorphism: f64,
    /// One product with a prepared constant in base `Q`, and adding it.
    pub multiply_narrow: f64,
    /// One constant expanded from its coefficients, where a plan keeps them so ([`super::ConstantForm`]).
    pub prepare: f64,
    /// The price of holding one key for the whole plan, to prefer plans with fewer keys among nearly equal ones.
    pub key: f64,
    /// Whether the prices are milliseconds; otherwise they are transforms of one row.
    pub measured: bool,
}

impl CostModel {
    /// The name of the unit.
    pub fn unit(&self) -> &'static str {
        if self.measured { "ms, measured prices" } else { "transforms of one row, estimated" }
    }

    /// Prices for `q_primes` primes in `Q`, `p_primes` in `P` and `digits` groups, in a power-of-two ring: there a row of a
    /// pointwise product with accumulation costs about 0.2 transforms.
    pub fn hybrid(q_primes: usize, p_primes: usize, digits: usize) -> Self {
        Self::hybrid_with_rows(q_primes, p_primes, digits, 0.2)
    }

    /// [`CostModel::hybrid`] with another price `row` for a row of a pointwise product, in transforms. Where transforms
    /// are dear (conductors with large odd primes) rows are cheap beside them, and plans want more baby steps.
    ///
    /// A permuted row is taken as ¾ of that, and each source row of a base conversion as 0.3 of it.
    pub fn hybrid_with_rows(q_primes: usize, p_primes: usize, digits: usize, row: f64) -> Self {
        let (q, p, digits) = (q_primes as f64, p_primes as f64, digits.max(1) as f64);
        let (permute, convert) = (0.75 * row, 0.3 * row);
        let all = q + p;
        let hoist = q + digits * (all - q / digits) * (1.0 + convert * q / digits);
        let hoisted_automorphism = digits * all * (permute + 2.0 * row) + q * (permute + row);
        let mod_down_one = p + q * (1.0 + convert * p + row);
        Self {
            hoist,
            hoisted_automorphism,
            automorphism: hoist + hoisted_automorphism + 2.0 * mod_down_one,
            multiply_narrow: 3.0 * q * row,
            extended_automorphism: mod_down_one + hoist + hoisted_automorphism,
            multiply_constant: 2.0 * all * row,
            mod_down: 2.0 * mod_down_one,
            prepare: 1.5 * all,
            key: 0.01,
            measured: false,
        }
    }

    /// Prices in milliseconds, measured on an evaluator with the current number of threads.
    ///
    /// `elements` are automorphisms that the evaluator has keys for; a dozen different ones are read from memory as in a plan, a single
    /// one stays in cache and looks cheaper than it is. Cost: about 100 key switches and the memory of 64 constants.
    /// Errors: [`crate::Error::MissingGaloisKey`], [`crate::Error::ShapeMismatch`] without elements, and what the evaluator reports.
    pub fn measure<E: Evaluator>(evaluator: &E, ciphertext: &E::Ciphertext, elements: &[u64]) -> Result<Self> {
        let start = Instant::now();
        Self::measure_by(evaluator, ciphertext, elements, &|| start.elapsed().as_secs_f64())
    }

    /// [`Self::measure`] by another clock, in seconds: processor time, say, where a machine is shared.
    ///
    /// Errors: as [`Self::measure`].
    pub fn measure_by<E: Evaluator>(
        evaluator: &E,
        ciphertext: &E::Ciphertext,
        elements: &[u64],
        clock: &dyn Fn() -> f64,
    ) -> Result<Self> {
        const BABIES: usize = 16;
        const SUMS: usize = 5;
        let least = |runs: usize, f: &mut dyn FnMut() -> Result<()>| least(runs, clock, f);
        let Some(&element) = elements.first() else {
            return Err(Error::ShapeMismatch { what: "automorphisms to measure with", expected: 1, got: 0 });
        };
        let babies: Vec<u64> = (0..BABIES).map(|i| elements[i % elements.len()]).collect();
        let values: Vec<u64> = (0..evaluator.slots().slots() as u64).map(|slot| slot % 2).collect();
        let constant = Plaintext::from_integers(evaluator.slots(), &values)?;
        let constants: Vec<E::Constant> =
            evaluator.prepare_many(BABIES * SUMS, evaluator.top_level(), &|_| Ok(constant.clone()))?;
        let rows: Vec<Vec<_>> =
            constants.chunks(BABIES).map(|row| row.iter().map(Some).enumerate().collect()).collect();
        let hoisted = evaluator.hoist(ciphertext)?;
        let hoist = least(3, &mut || evaluator.hoist(ciphertext).map(drop))?;
        let one_sum = least(3, &mut || evaluator.dot_hoisted(&hoisted, &babies, &rows[..1]).map(drop))?;
        let all_sums = least(3, &mut || evaluator.dot_hoisted(&hoisted, &babies, &rows).map(drop))?;
        let multiply_constant = ((all_sums - one_sum) / (BABIES * (SUMS - 1)) as f64).max(0.0);
        let wide = evaluator.hoisted_automorphism(&hoisted, element)?;
        let mut sum = wide.clone();
        let mut turn = (0..).map(|i: usize| elements[i % elements.len()]);
        let giant = least(4, &mut || {
            let moved = evaluator.extended_automorphism(&wide, turn.next().expect("endless"))?;
            evaluator.add_extended_assign(&mut sum, &moved)
        })?;
        let automorphism =
            least(4, &mut || evaluator.automorphism(ciphertext, turn.next().expect("endless")).map(drop))?;
        let mod_down = least(3, &mut || evaluator.mod_down(wide.clone()).map(drop))?;
        let packed = Packed::new(&constant);
        let prepare = least(2, &mut || {
            // All at once, as in a plan: they do not fit into cache.
            (0..BABIES).map(|_| packed.prepare(evaluator, evaluator.top_level())).collect::<Result<Vec<_>>>().map(drop)
        })?;
        let mut turn = constants.iter().cycle();
        let narrow = least(6, &mut || {
            let product = evaluator.multiply_constant(ciphertext, turn.next().expect("endless"))?;
            evaluator.add(&product, ciphertext).map(drop)
        })?;
        Ok(Self {
            hoist,
            hoisted_automorphism: (one_sum / BABIES as f64 - multiply_constant).max(0.0),
            extended_automorphism: giant,
            multiply_constant,
            mod_down,
            automorphism,
            multiply_narrow: narrow,
            prepare: prepare / BABIES as f64,
            key: hoist * 1e-4,
            measured: true,
        })
    }
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

impl Default for CostModel {
    /// Nine primes in `Q`, four in `P`, three digits.
    fn default() -> Self {
        Self::hybrid(9, 4, 3)
    }
}

/// How often a plan uses each operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OperationCount {
    /// Decompose-and-extend of a ciphertext.
    pub hoists: usize,
    /// Automorphisms of hoisted ciphertexts.
    pub hoisted_automorphisms: usize,
    /// Giant steps.
    pub extended_automorphisms: usize,
    /// Automorphisms by a whole key switch each, where a plan does without base `QP` ([`super::HoistMode`]).
    pub automorphisms: usize,
    /// Products with constants.
    pub constant_products: usize,
    /// Those of them that are made in base `Q`.
    pub narrow_products: usize,
    /// Mod-downs of both components.
    pub mod_downs: usize,
    /// Distinct Galois keys.
    pub keys: usize,
}

impl OperationCount {
    /// The sum at a model's prices.
    pub fn price(&self, model: &CostModel) -> f64 {
        self.hoists as f64 * model.hoist
            + self.hoisted_automorphisms as f64 * model.hoisted_automorphism
            + self.extended_automorphisms as f64 * model.extended_automorphism
            + self.automorphisms as f64 * model.automorphism
            + (self.constant_products - self.narrow_products) as f64 * model.multiply_constant
            + self.narrow_products as f64 * model.multiply_narrow
            + self.mod_downs as f64 * model.mod_down
            + self.keys as f64 * model.key
    }
}

impl fmt::Display for OperationCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} decompositions, {} hoisted automorphisms, {} giant steps, {} whole key switches, {} constant products, {} mod-downs, {} keys",
            self.hoists,
            self.hoisted_automorphisms,
            self.extended_automorphisms,
            self.automorphisms,
            self.constant_products,
            self.mod_downs,
            self.keys
        )
    }
}
