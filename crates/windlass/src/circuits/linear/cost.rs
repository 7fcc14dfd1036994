//! What the parts of a plan cost.

use std::fmt;

/// Prices of a scheme's operations, in transforms of one residue row (a forward or inverse NTT of length n).
///
/// The planner only compares sums of these, so any common unit does. [`CostModel::hybrid`] derives them from the shape of a
/// hybrid key switch; a caller who has measured a machine can fill the fields in directly.
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
}

impl CostModel {
    /// Prices for `q_primes` primes in `Q`, `p_primes` in `P` and `digits` groups.
    ///
    /// A row of a pointwise product with accumulation is taken as 0.2 transforms, a permuted row as 0.15, one row of a base
    /// conversion as 0.06 for every source row (ratios of the row kernels at n = 2^15, out of cache).
    pub fn hybrid(q_primes: usize, p_primes: usize, digits: usize) -> Self {
        let (q, p, digits) = (q_primes as f64, p_primes as f64, digits.max(1) as f64);
        let (accumulate, permute, convert) = (0.2, 0.15, 0.06);
        let all = q + p;
        let hoist = q + digits * (all - q / digits) * (1.0 + convert * q / digits);
        let hoisted_automorphism = digits * all * (permute + 2.0 * accumulate) + q * (permute + accumulate);
        let mod_down_one = p + q * (1.0 + convert * p + accumulate);
        Self {
            hoist,
            hoisted_automorphism,
            extended_automorphism: mod_down_one + hoist + hoisted_automorphism,
            multiply_constant: 2.0 * all * accumulate,
            mod_down: 2.0 * mod_down_one,
            key: 0.01,
        }
    }
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
            + self.constant_products as f64 * model.multiply_constant
            + self.mod_downs as f64 * model.mod_down
            + self.keys as f64 * model.key
    }
}

impl fmt::Display for OperationCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} decompositions, {} hoisted automorphisms, {} giant steps, {} constant products, {} mod-downs, {} keys",
            self.hoists,
            self.hoisted_automorphisms,
            self.extended_automorphisms,
            self.constant_products,
            self.mod_downs,
            self.keys
        )
    }
}
