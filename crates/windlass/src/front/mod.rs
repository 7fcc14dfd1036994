//! What a program meets first: a context, and the two roles around it.
//!
//! A [`Context`] is everything that both sides agree on. A [`Client`] holds the secret key, a
//! [`Server`] evaluation keys; [`Context::generate_keys`] makes both, with the keys that the named
//! circuits need ([`NeedsKeys`]) and no others.

mod any_depth;
mod approximate;
mod circuit;
mod client;
mod context;
mod family;
mod files;
mod generate;
mod kept;
mod mapped;
pub mod needs;
mod no_set;
mod refreshers;
mod refreshing_sets;
mod server;
mod setting;
mod slot_packing;
mod steps;

pub use circuit::{Circuit, GridCircuit};
pub use client::Client;
pub use context::Context;
pub use family::{Approximate, Exact, ExactFamily, Family, Mock};
pub use needs::NeedsKeys;
pub use refreshers::{MockRefreshers, Refreshers};
pub use server::Server;
pub use setting::{ApproximateSetting, ExactSetting};
pub use slot_packing::SlotPacking;
pub use steps::{AnyMatrix, Depth, Step};
