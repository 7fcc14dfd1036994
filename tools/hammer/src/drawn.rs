//! What approximate circuits are made of: parameters, numbers, a matrix, the sum of all slots.

use windlass::bootstrap::approximate::RefreshSpec;
use windlass::circuits::{ComplexMap, ComplexSlots, LinearPlan, PlanSpec, SlotSums, Strategy, TracePlan, TraceSpec};
use windlass::rlwe::{Assurance, SecretDistribution};
use windlass::schemes::ckks::{CkksSpec, Complex64};
use windlass::{Approximate, Context, Error};

use super::dice::Dice;

/// A matrix and its plan.
pub struct Matrix {
    pub rows: Vec<Vec<Complex64>>,
    pub plan: LinearPlan<ComplexSlots>,
    pub name: String,
}

/// Some parameters, without security. An adversary's have the shortest secrets and the longest, and
/// now and then a large ring.
pub fn spec(dice: &mut Dice) -> CkksSpec {
    let (scale_bits, depth) = (dice.within(28, 45) as u32, 1 + dice.index(5));
    let large = dice.is_adversarial() && dice.once_in(16);
    let n = if large { 512 << dice.below(4) } else { 8 << dice.below(6) };
    let weights: &[u32] = if dice.is_adversarial() { &[1, 2, n as u32] } else { &[4] };
    let sparse = SecretDistribution::Sparse { weight: dice.pick(weights) };
    CkksSpec {
        n,
        scale_bits,
        depth,
        base_prime_bits: if scale_bits <= 40 { vec![50] } else { vec![50, 50] },
        special_prime_bits: vec![50, 50],
        digits: (depth + 2).div_ceil(2),
        secret: if dice.once_in(if dice.is_adversarial() { 4 } else { 2 }) {
            SecretDistribution::Ternary
        } else {
            sparse
        },
        assurance: Assurance::Insecure { name: "insecure_hammer".into() },
        refresh_levels: Vec::new(),
    }
}

/// Parameters of a refresh in a small ring.
pub fn refresh_spec(dice: &mut Dice) -> Result<RefreshSpec, Error> {
    let n: usize = 64 << dice.below(3);
    let slots = (n / 2) >> dice.below(4);
    let stages = slots.ilog2() as usize;
    let mut split = || {
        let maps = 1 + dice.index(3);
        (0..maps).map(|k| stages * (k + 1) / maps - stages * k / maps).collect::<Vec<_>>()
    };
    let (to_slots, to_coefficients) = (split(), split());
    let spec = RefreshSpec {
        n,
        slots,
        to_slots,
        to_coefficients,
        depth: 1 + dice.index(4),
        arcsine: dice.once_in(2),
        max_keys: if dice.once_in(2) { Some(3) } else { None },
        ephemeral_weight: 8 + dice.below(n as u64 / 8) as u32,
        ..RefreshSpec::preset("insecure_toy_refresh_1024")?
    };
    spec.with_sine_precision(18.0 + dice.below(10) as f64)
}

/// Numbers of absolute value up to a bound.
pub fn numbers(dice: &mut Dice, count: usize, bound: f64) -> Vec<Complex64> {
    if dice.is_adversarial() && dice.once_in(2) {
        let (step, signs) = (dice.below(8), dice.once_in(2));
        let turn = |j: usize, k: u64| Complex64::I.powu((j as u64 * step + 2 * k) as u32 % 4) * bound;
        return (0..count).map(|j| turn(j, if signs { dice.below(2) } else { 0 })).collect();
    }
    let mut number = || Complex64::from_polar(bound * dice.real().abs(), std::f64::consts::PI * dice.real());
    (0..count).map(|_| number()).collect()
}

/// A sum of all slots in some number of groups.
pub fn total(dice: &mut Dice, context: &Context<Approximate>) -> Result<TracePlan, Error> {
    let chain = context.ckks().total_sums(context.slots())?;
    TracePlan::new(&chain, &TraceSpec::with_groups(1 + dice.index(chain.factors().len())))
}

impl Matrix {
    /// On a number of slots, by any strategy.
    pub fn draw(dice: &mut Dice, context: &Context<Approximate>) -> Result<Self, Error> {
        let most = context.slots().min(32);
        let count = if dice.once_in(2) { most } else { 1 << dice.below(most.ilog2() as u64 + 1) };
        let rows: Vec<Vec<Complex64>> = (0..count).map(|_| numbers(dice, count, 1.0)).collect();
        let map = ComplexMap::matrix(&context.vectors(count)?, |i, k| rows[i][k])?;
        let strategies: Vec<Strategy> = Strategy::candidates().chain([Strategy::AUTOMATIC]).collect();
        let strategy = dice.pick(&strategies);
        let plan = LinearPlan::new(&map, &PlanSpec::with_strategy(strategy))?;
        Ok(Self { rows, plan, name: format!("matrix on {count} slots by {strategy}") })
    }
}
