//! Plans: which way a map is evaluated, decided before anything is computed.
//!
//! A [`Strategy`] proposes factorings of the map's support. Each factoring is laid out as two trees of
//! automorphisms, one applied to the input and one applied to partial sums. It is checked against the
//! keys that exist and priced by a [`CostModel`]. The cheapest becomes a [`LinearPlan`]. Strategies are
//! rows of a table, and a user adds one with [`MapStrategy`].

mod bounds;
mod choice;
mod cost;
mod doubling;
mod explain;
mod factoring;
mod fingerprint;
mod interface;
mod layout;
mod linear_plan;
mod planned;
mod row;
mod schedule;
mod sources;
mod spec;
mod spread;
mod strategy;
mod table;
mod tree;

pub use cost::{CostModel, OperationCount};
pub use factoring::{Cofactors, Factoring, Powers, Route, Walk};
pub use interface::Plan;
pub use linear_plan::LinearPlan;
pub use planned::Planned;
pub use spec::{ConstantForm, HoistMode, PlanSpec};
pub use strategy::{MapStrategy, Proposal, Strategy, Support};

pub(crate) use choice::Pattern;
pub(crate) use choice::{Method, missing_key};
pub(crate) use doubling::{Addend, Doubling, DoublingStep};
pub(crate) use interface::impl_plan;
pub(crate) use layout::{BATCH, PlanLayout, batch_size};
pub(crate) use schedule::Schedule;
pub(crate) use sources::Source;
