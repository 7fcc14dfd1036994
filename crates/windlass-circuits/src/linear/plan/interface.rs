//! What every plan of a linear map says before anything is encrypted.

use std::collections::BTreeSet;

use super::cost::{CostModel, OperationCount};
use super::linear_plan::LinearPlan;
use super::planned::Planned;

/// A planned linear map: [`LinearPlan`], [`MatrixPlan`](crate::MatrixPlan) and, since a trace is a
/// linear map whose constants are all 1, [`TracePlan`](crate::TracePlan).
///
/// Code that keeps account of keys and costs takes `&dyn Plan`. The three types also have these
/// methods themselves, so programs that use one of them need no import.
pub trait Plan {
    /// What is computed, in a few words for error messages: "a linear map on 128 slots".
    fn name(&self) -> String;

    /// The automorphisms that need Galois keys. No other keys are needed.
    fn required_keys(&self) -> BTreeSet<u64>;

    /// How often each operation is used.
    fn count(&self) -> OperationCount;

    /// The price by the model that chose this plan, in its unit (milliseconds, if the model was
    /// measured).
    fn price(&self) -> f64;

    /// The plan in words, by the prices that chose it.
    fn explain(&self) -> String;

    /// The plan in words, with times and sizes by other prices: `context.prices()`,
    /// [`CostModel::measure`].
    fn explain_at(&self, prices: &CostModel) -> String;
}

/// [`Plan`] for a type that has its methods; the name is given.
macro_rules! impl_plan {
    ([$($generics:tt)*] $plan:ty, |$own:ident| $name:expr) => {
        impl $($generics)* $crate::linear::Plan for $plan {
            fn name(&self) -> String {
                let $own = self;
                $name
            }

            fn required_keys(&self) -> std::collections::BTreeSet<u64> {
                self.required_keys()
            }

            fn count(&self) -> $crate::linear::OperationCount {
                self.count()
            }

            fn price(&self) -> f64 {
                self.price()
            }

            fn explain(&self) -> String {
                self.explain()
            }

            fn explain_at(&self, prices: &$crate::linear::CostModel) -> String {
                self.explain_at(prices)
            }
        }
    };
}

pub(crate) use impl_plan;

impl_plan!([<R: Planned>] LinearPlan<R>, |plan| format!("a linear map on {}", plan.grid().representation().describe()));
