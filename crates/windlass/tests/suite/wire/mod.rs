//! Keys, ciphertexts and messages as bytes: they come back, golden files stay readable, damage is
//! refused.

mod approximate;
mod bootstrap;
mod common;
mod exact;
mod key_pairs;
mod lists;
mod parameters;
mod parties;
mod passes;
mod prepared;
mod ready_keys;
mod refresh;
mod sealed;
mod seeds;
