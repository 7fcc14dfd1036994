//! Plans: which way a map is evaluated, decided before anything is computed.
//!
//! A [`Strategy`] proposes factorings of the map's support; each is laid out as two trees of
//! automorphisms, priced by a [`CostModel`], checked against the keys there are, and the cheapest
//! becomes a [`LinearPlan`]. Strategies are rows of a table; anyone can add his own by
//! [`MapStrategy`].

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
