//! Private lookups over HTTP.
//!
//! A service has one prepared table. Clients fetch its public description, upload their evaluation
//! keys once, under the hash of their file, and send encrypted queries; requests that wait at the
//! same time are answered in one pass over the table. Everything that clients can make grow is
//! bounded: bodies, queue, times, connections, the cache of keys, the clients whose quotas are
//! remembered. Clients are distinguished by tokens, certificates or addresses, and each may have a
//! quota. The threads that compute are not those that serve connections.
#![forbid(unsafe_code)]

mod bodies;
pub mod client;
pub mod gate;
pub mod keys;
pub mod limits;
pub mod load;
pub mod mailbox;
pub mod metrics;
mod pem;
pub mod problem;
pub mod published;
pub mod queue;
mod quota;
pub mod routes;
pub mod server;
pub mod service;
pub mod shelf;
pub mod site;
mod stall;
pub mod start_error;
mod static_file;
pub mod tokens;
pub mod workers;
