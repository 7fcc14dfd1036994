//! What the parts of a plan cost.

use std::fmt;
use std::time::Instant;

use crate::error::Result;
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

    /// One automorphism by itself: decompose, switch, mod-down.
    pub fn automorphism(&self) -> f64 {
        self.hoist + self.hoisted_automorphism + self.mod_down
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
            extended_automorphism: mod_down_one + hoist + hoisted_automorphism,
            multiply_constant: 2.0 * all * row,
            mod_down: 2.0 * mod_down_one,
            key: 0.01,
            measured: false,
        }
    }

    /// Prices in milliseconds, measured on an evaluator with the current number of threads.
    ///
    /// `element` is an automorphism that the evaluator has a key for. Operations on base `QP` are timed over a working set of 16
    /// ciphertexts, so that they pay for memory as they do in a plan. Cost: about 20 key switches.
    /// Errors: [`crate::Error::MissingGaloisKey`], and what the evaluator reports.
    pub fn measure<E: Evaluator>(evaluator: &E, ciphertext: &E::Ciphertext, element: u64) -> Result<Self> {
        const SET: usize = 16;
        let constant = Plaintext::from_integers(evaluator.slots(), &vec![1; evaluator.slots().slots()])?;
        let constants: Vec<E::Constant> = (0..SET).map(|_| evaluator.prepare(&constant)).collect::<Result<_>>()?;
        let hoisted = evaluator.hoist(ciphertext)?;
        let hoist = least(2, || evaluator.hoist(ciphertext).map(drop))?;
        let mut inputs: Vec<E::Extended> = Vec::with_capacity(SET);
        let fill = least(3, || {
            inputs.clear();
            (0..SET).try_for_each(|_| {
                inputs.push(evaluator.hoisted_automorphism(&hoisted, element)?);
                Ok(())
            })
        })?;
        let rows = [constants.iter().enumerate().collect::<Vec<_>>()];
        let dot = least(2, || evaluator.dot_constants_rows(&inputs, &rows).map(drop))?;
        let giant = least(2, || evaluator.extended_automorphism(&inputs[0], element).map(drop))?;
        let mod_down = least(2, || evaluator.mod_down(inputs[0].clone()).map(drop))?;
        Ok(Self {
            hoist,
            hoisted_automorphism: fill / SET as f64,
            extended_automorphism: giant,
            multiply_constant: dot / SET as f64,
            mod_down,
            key: hoist * 1e-4,
            measured: true,
        })
    }
}

/// The least time of a few runs, in milliseconds.
fn least(runs: usize, mut f: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        f()?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
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
            + self.automorphisms as f64 * model.automorphism()
            + self.constant_products as f64 * model.multiply_constant
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
