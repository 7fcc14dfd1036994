//! What exists for papers alone: methods that Windlass's planner never chooses, and published tables, with
//! pages and plots that show ours beside them.
//!
//! The methods implement the public traits of Windlass, as any researcher would: this crate shows that
//! they suffice. `windlass-bench` measures and writes records; the pages of `docs/records` are made of
//! them here.
#![forbid(unsafe_code)]

pub mod bootstrap;
pub mod goals;
pub mod halevi_shoup_2015;
pub mod halevi_shoup_2018;
pub mod integer_valued;
pub mod linear;
pub mod ma_2024;
pub mod moduli;
pub mod names;
pub mod page;
pub mod peer_record;
mod plot;
pub mod record;
pub mod trace;
