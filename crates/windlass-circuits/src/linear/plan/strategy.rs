//! What a strategy is: a name, a citation, and the factorings that it proposes for a support set.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::factoring::{Factoring, Route};
use crate::linear::map::Axes;

/// What a strategy is asked: a way to reach these automorphisms.
#[derive(Debug, Clone, Copy)]
pub struct Support<'a> {
    /// The conductor m: automorphisms are units modulo m, and the identity is 1.
    pub m: u64,
    /// Coordinates on the group of automorphisms.
    pub axes: &'a Axes,
    /// The automorphisms that have a constant, increasing.
    pub elements: &'a [u64],
    /// The automorphisms that have keys; `None` where keys will be made for the plan.
    pub keys: Option<&'a BTreeSet<u64>>,
}

/// One way to evaluate a map, to be priced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proposal {
    /// Output and input of every automorphism by one rule.
    Rule(Factoring),
    /// A separate output and input for every automorphism: one route for each of
    /// [`Support::elements`], in their order.
    Routes(Vec<Route>),
    /// Repeated doubling; it is left out for maps that are no sum of powers of one automorphism
    /// with one constant.
    Doubling,
}

/// A way to factor the support of linear maps.
///
/// The papers' algorithms are the constants of [`Strategy`]; a custom strategy implements this
/// trait, and [`Strategy::own`] makes a [`Strategy`] of it. The planner prices every proposal and
/// keeps the cheapest that the keys allow, so a strategy may propose many ways.
///
/// A strategy says which automorphisms are applied to what. Whether those of one ciphertext share its
/// decomposition is `PlanSpec::hoisting`: for one key switch each, plan `hoisted` with `HoistMode::Off`.
pub trait MapStrategy: Send + Sync {
    /// Its name, which is printed and compared.
    fn name(&self) -> &'static str;

    /// Where it comes from: paper, section, algorithm.
    fn citation(&self) -> &'static str;

    /// Ways to evaluate a map with this support. `babies` is the number of baby steps that the
    /// caller fixed, if he did.
    fn proposals(&self, support: &Support<'_>, babies: Option<usize>) -> Vec<Proposal>;

    /// Whether a number of baby steps can be fixed.
    fn takes_babies(&self) -> bool {
        false
    }

    /// Whether every map has such a plan.
    fn is_general(&self) -> bool {
        true
    }
}

/// How a [`super::LinearPlan`] evaluates its map: a [`MapStrategy`], and the number of baby steps
/// where it is fixed.
///
/// [`Strategy::ALL`] are the named ones; a name reads back by `parse`, with `:g` behind it for g
/// baby steps (`"baby-giant:26"`). Two strategies are equal if they have one name and one number of
/// baby steps.
#[derive(Clone, Copy)]
pub struct Strategy {
    method: &'static dyn MapStrategy,
    babies: Option<usize>,
}

impl Strategy {
    /// A custom strategy.
    pub const fn own(method: &'static dyn MapStrategy) -> Self {
        Self { method, babies: None }
    }

    /// The same with a fixed number of baby steps, or with the choice left to the prices;
    /// strategies without baby steps stay as they are.
    pub fn with_babies(self, babies: impl Into<Option<usize>>) -> Self {
        Self { babies: babies.into().filter(|_| self.method.takes_babies()), ..self }
    }

    /// The number of baby steps that the caller fixed.
    pub fn babies(self) -> Option<usize> {
        self.babies
    }

    /// The name, without the number of baby steps.
    pub fn name(self) -> &'static str {
        self.method.name()
    }

    /// Where the strategy comes from.
    pub fn citation(self) -> &'static str {
        self.method.citation()
    }

    /// Whether every map has a plan by this strategy.
    pub fn is_general(self) -> bool {
        self.method.is_general()
    }

    /// Ways to evaluate a map with this support.
    pub fn proposals(self, support: &Support<'_>) -> Vec<Proposal> {
        self.method.proposals(support, self.babies)
    }
}

impl PartialEq for Strategy {
    fn eq(&self, other: &Self) -> bool {
        (self.name(), self.babies) == (other.name(), other.babies)
    }
}

impl Eq for Strategy {}

impl Hash for Strategy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.name(), self.babies).hash(state);
    }
}

impl fmt::Debug for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.babies {
            Some(babies) => write!(f, "{}:{babies}", self.name()),
            None => f.write_str(self.name()),
        }
    }
}
