//! What a plan may use and what it should prefer.

use std::collections::BTreeSet;
use std::fmt;

use super::cost::CostModel;
use super::strategy::Strategy;

/// How automorphisms share work (Halevi–Shoup 2018, §5; Bossuat et al. 2021 for the first).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum HoistMode {
    /// Automorphisms of one ciphertext share its decomposition, and sums stay in base `QP` until
    /// the end: one mod-down.
    #[default]
    Double,
    /// Automorphisms of one ciphertext share its decomposition; each is brought down to base `Q`
    /// (the 2018 paper's way).
    Single,
    /// Every automorphism is a whole key switch.
    Off,
}

impl fmt::Display for HoistMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Double => "double hoisting",
            Self::Single => "single hoisting",
            Self::Off => "no hoisting",
        })
    }
}

/// How prepared constants are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum ConstantForm {
    /// As [`ConstantForm::Evaluation`] in the order of their use, as many constants as fit into
    /// [`PlanSpec::constant_bytes`]; the others as [`ConstantForm::Coefficients`].
    #[default]
    Automatic,
    /// Transformed once, for every prime of `QP`.
    Evaluation,
    /// As coefficients modulo `p^r` (one to eight bytes each), expanded whenever they are used:
    /// little memory, and the transforms of every constant are paid for in every application.
    Coefficients,
}

/// What a plan may use and what it should prefer.
#[derive(Debug, Clone)]
pub struct PlanSpec {
    /// The algorithm; [`Strategy::AUTOMATIC`] leaves it to the prices.
    pub strategy: Strategy,
    /// The automorphisms that have keys; `None` if keys will be made for the plan.
    pub keys: Option<BTreeSet<u64>>,
    /// The most keys that a plan may need, if that matters more than time.
    pub max_keys: Option<usize>,
    /// The prices.
    pub cost: CostModel,
    /// How automorphisms share work.
    pub hoisting: HoistMode,
    /// How constants are held.
    pub constants: ConstantForm,
    /// The limit of [`ConstantForm::Automatic`] in bytes, for the constants that are ready.
    pub constant_bytes: usize,
}

impl Default for PlanSpec {
    fn default() -> Self {
        Self {
            strategy: Strategy::AUTOMATIC,
            keys: None,
            max_keys: None,
            cost: CostModel::default(),
            hoisting: HoistMode::Double,
            constants: ConstantForm::Automatic,
            constant_bytes: 8 << 30,
        }
    }
}

impl PlanSpec {
    /// Whether keys are limited: plans then step along the map's own rotations.
    pub(super) fn has_few_keys(&self) -> bool {
        self.max_keys.is_some() || self.keys.is_some()
    }

    /// How many of so many constants are expanded on each use, by the size that the prices state:
    /// at most that many, since constants whose values repeat take less.
    pub(super) fn expanded(&self, constants: usize) -> usize {
        match (self.constants, self.cost.constant_bytes) {
            (ConstantForm::Coefficients, _) => constants,
            (ConstantForm::Automatic, Some(each)) if each > 0 => {
                constants.saturating_sub((self.constant_bytes as u64 / each) as usize)
            }
            _ => 0,
        }
    }

    /// A given strategy, with any keys it likes.
    pub fn with_strategy(strategy: Strategy) -> Self {
        Self { strategy, ..Self::default() }
    }

    /// The cheapest plan that the given keys allow.
    pub fn with_keys(keys: impl IntoIterator<Item = u64>) -> Self {
        Self { keys: Some(keys.into_iter().collect()), ..Self::default() }
    }
}
