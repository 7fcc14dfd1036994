//! What the parts of a plan cost.

use std::fmt;
use std::ops::Add;
use std::sync::Arc;

use windlass_ring::{Basis, Poly, Ring};
use windlass_rlwe::{Context, RandomEvents, RlweParams};

/// Prices of a scheme's operations, in transforms of one residue row (a forward or inverse NTT of
/// length n).
///
/// The planner only compares sums of these, so any common unit does. [`CostModel::hybrid`] derives
/// them from the shape of a hybrid key switch, [`CostModel::for_context`] knows how long one
/// transform takes, [`CostModel::measure`] times each operation on an evaluator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostModel {
    /// Decompose-and-extend of one ciphertext.
    pub hoist: f64,
    /// One automorphism of a hoisted ciphertext, left in base `QP`.
    pub hoisted_automorphism: f64,
    /// One automorphism of a sum in base `QP` (a giant step): mod-down of one component, decompose,
    /// switch.
    pub extended_automorphism: f64,
    /// One product with a prepared constant, accumulated in base `QP`.
    pub multiply_constant: f64,
    /// Mod-down of both components.
    pub mod_down: f64,
    /// One automorphism with a whole key switch in base `Q`.
    pub automorphism: f64,
    /// One product with a prepared constant in base `Q`, and adding it.
    pub multiply_base_q: f64,
    /// One constant expanded from its coefficients, where a plan keeps them so
    /// ([`super::ConstantForm`]).
    pub prepare: f64,
    /// The price of holding one key for the whole plan, to prefer plans with fewer keys among
    /// nearly equal ones.
    pub key: f64,
    /// Milliseconds for each unit of price, if they are known: 1 for measured prices.
    pub milliseconds: Option<f64>,
    /// Bytes of one Galois key in memory, if they are known.
    pub key_bytes: Option<u64>,
    /// Bytes of one prepared constant, if they are known.
    pub constant_bytes: Option<u64>,
}

/// Whether the machine tells the time. WebAssembly in browsers does not by itself.
const HAS_CLOCK: bool = cfg!(not(all(target_arch = "wasm32", target_os = "unknown")));

impl CostModel {
    /// Prices for `q_primes` primes in `Q`, `p_primes` in `P` and `digits` groups, in a
    /// power-of-two ring: there a row of a pointwise product with accumulation costs about 0.2
    /// transforms.
    pub fn hybrid(q_primes: usize, p_primes: usize, digits: usize) -> Self {
        Self::hybrid_with_rows(q_primes, p_primes, digits, Self::ROW)
    }

    /// A row of a pointwise product with accumulation in a power-of-two ring, in transforms.
    #[doc(hidden)]
    pub const ROW: f64 = 0.2;

    /// [`CostModel::hybrid`] for what a key switch at a level takes.
    pub fn at_level(params: &RlweParams, level: usize) -> Self {
        let basis = params.levels().basis(level);
        Self::hybrid(basis.len(), params.special_at(level), params.gadget().active(basis).len())
    }

    /// [`CostModel::hybrid`] with another price `row` for a row of a pointwise product, in
    /// transforms. Where transforms are expensive (conductors with large odd primes) rows are cheap
    /// beside them, and plans want more baby steps.
    ///
    /// A permuted row is taken as ¾ of that, and each source row of a base conversion as 0.3 of it.
    pub fn hybrid_with_rows(q_primes: usize, p_primes: usize, digits: usize, row: f64) -> Self {
        let (q, p, digits) = (q_primes as f64, p_primes as f64, digits.max(1) as f64);
        let (permute, convert) = (0.75 * row, 0.3 * row);
        let all = q + p;
        let hoist = q + digits * (all - q / digits) * (1.0 + convert * q / digits);
        let hoisted_automorphism = digits * all * (permute + 2.0 * row) + q * (permute + row);
        let mod_down_one = Self::division_with_rows(p, q, row);
        Self {
            hoist,
            hoisted_automorphism,
            automorphism: hoist + hoisted_automorphism + 2.0 * mod_down_one,
            multiply_base_q: 3.0 * q * row,
            extended_automorphism: mod_down_one + hoist + hoisted_automorphism,
            multiply_constant: 2.0 * all * row,
            mod_down: 2.0 * mod_down_one,
            prepare: 1.5 * all,
            key: 0.01,
            milliseconds: None,
            key_bytes: None,
            constant_bytes: None,
        }
    }

    /// Dividing one polynomial by the product of `dropped` of its primes, so that `kept` are left:
    /// the price of a mod-down, or a modulus switch, of one part.
    #[doc(hidden)]
    pub fn division(dropped: usize, kept: usize) -> f64 {
        Self::division_with_rows(dropped as f64, kept as f64, Self::ROW)
    }

    fn division_with_rows(dropped: f64, kept: f64, row: f64) -> f64 {
        dropped + kept * (1.0 + 0.3 * row * dropped + row)
    }

    /// Prices for a whole context at its top level: [`CostModel::hybrid`], with the time of one
    /// transform taken here and now, and the sizes of keys and constants. WebAssembly has no clock:
    /// there the time is unknown. Cost: some transforms of one row.
    pub fn for_context(context: &Context) -> Self {
        let params = context.params();
        let special = params.special_primes().len();
        let primes = params.q_primes().len();
        let wide_rows = (primes + special) as u64;
        Self {
            milliseconds: HAS_CLOCK.then(|| Self::transform_milliseconds(context.ring())),
            key_bytes: Some(params.key_sizes().switching_key_memory),
            constant_bytes: Some(8 * wide_rows * params.n() as u64),
            ..Self::hybrid(primes, special, params.digits())
        }
    }

    /// The minimum of a few runs of one transform of one row, or infinity where there is no clock.
    #[doc(hidden)]
    pub fn transform_milliseconds(ring: &Arc<Ring>) -> f64 {
        if !HAS_CLOCK {
            return f64::INFINITY;
        }
        let (basis, ones) = (Basis::new(0..1), vec![1; ring.n()]);
        let mut least = f64::INFINITY;
        for _ in 0..7 {
            let poly = Poly::from_signed(ring, &basis, &ones);
            let start = std::time::Instant::now();
            std::hint::black_box(poly.into_eval());
            least = least.min(start.elapsed().as_secs_f64() * 1e3);
        }
        least
    }

    /// A price in words: a time where the prices are known as times.
    pub fn in_words(&self, price: f64) -> String {
        match self.milliseconds.map(|milliseconds| price * milliseconds) {
            None => format!("{price:.1} transforms of one row"),
            Some(time) if time >= 1000.0 => format!("{:.2} seconds", time / 1000.0),
            Some(time) => format!("{time:.2} milliseconds"),
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
    /// Automorphisms of sums in base QP: giant steps, and under double hoisting every step that follows
    /// another one on the way to an input. Each contains a decomposition, which `hoists` does not count.
    pub extended_automorphisms: usize,
    /// Automorphisms by a whole key switch each, where a plan does without base `QP`
    /// ([`super::HoistMode`]).
    pub automorphisms: usize,
    /// Products with constants.
    pub constant_products: usize,
    /// Those of them that are made in base `Q`.
    pub base_q_products: usize,
    /// Mod-downs of both components.
    pub mod_downs: usize,
    /// Distinct Galois keys.
    pub keys: usize,
}

impl Add for OperationCount {
    type Output = Self;

    /// The operations of two plans, one after the other. Keys are added, so those that both need are
    /// counted twice.
    fn add(self, other: Self) -> Self {
        Self {
            hoists: self.hoists + other.hoists,
            hoisted_automorphisms: self.hoisted_automorphisms + other.hoisted_automorphisms,
            extended_automorphisms: self.extended_automorphisms + other.extended_automorphisms,
            automorphisms: self.automorphisms + other.automorphisms,
            constant_products: self.constant_products + other.constant_products,
            base_q_products: self.base_q_products + other.base_q_products,
            mod_downs: self.mod_downs + other.mod_downs,
            keys: self.keys + other.keys,
        }
    }
}

impl OperationCount {
    /// The sum at a model's prices.
    pub fn price(&self, model: &CostModel) -> f64 {
        self.hoists as f64 * model.hoist
            + self.hoisted_automorphisms as f64 * model.hoisted_automorphism
            + self.extended_automorphisms as f64 * model.extended_automorphism
            + self.automorphisms as f64 * model.automorphism
            + (self.constant_products - self.base_q_products) as f64 * model.multiply_constant
            + self.base_q_products as f64 * model.multiply_base_q
            + self.mod_downs as f64 * model.mod_down
            + self.keys as f64 * model.key
    }

    /// The random events that the bounds of exact schemes rest on (docs/math/noise.md): an inner
    /// product for each automorphism, a division by P for each mod-down, both for a giant step and
    /// a whole key switch.
    pub fn random_events(&self) -> RandomEvents {
        RandomEvents::KEY_SWITCH * (self.automorphisms + self.extended_automorphisms)
            + RandomEvents::INNER_PRODUCT * self.hoisted_automorphisms
            + RandomEvents::MOD_DOWN * self.mod_downs
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
