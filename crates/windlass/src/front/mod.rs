//! The front of the library: a context, and the two roles that use it.
//!
//! A [`Context`] is everything that both sides agree on. A [`Client`] holds the secret key. A
//! [`Server`] holds evaluation keys. [`Context::generate_keys`] makes both roles, with exactly the
//! keys that the given circuits need ([`NeedsKeys`]).

mod any_depth;
mod approximate;
mod approximate_refreshers;
mod circuit;
mod client;
mod context;
mod deprecated;
mod family;
mod files;
mod functions;
mod generate;
mod kept;
mod mapped;
pub mod needs;
mod no_set;
mod passes;
mod refreshers;
mod refreshing_sets;
mod server;
mod setting;
mod slot_packing;
mod steps;
mod training;

pub use approximate_refreshers::ApproximateRefreshers;
pub use circuit::{Circuit, GridCircuit, ListCircuit};
pub use client::Client;
pub use context::Context;
pub use family::{Approximate, Exact, ExactFamily, Family, Mock};
pub use functions::Functions;
pub use needs::NeedsKeys;
pub use refreshers::{MockRefreshers, Refreshers};
pub use server::Server;
pub use setting::{ApproximateSetting, ExactSetting};
pub use slot_packing::SlotPacking;
pub use steps::{AnyMatrix, Depth, MatrixShape, Step};
