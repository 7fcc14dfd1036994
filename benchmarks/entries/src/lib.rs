//! Entries of Windlass in the benchmark suite of HomomorphicEncryption.org.
//!
//! A harness, which stays outside this repository, calls the stages of an entry as separate
//! programs and times them. Here each entry is one program, which is called by the names of its
//! stages ([`stage`]). `docs/records/benchmarks.md` says how to run them.
#![forbid(unsafe_code)]

pub mod degree_two;
pub mod error;
pub mod files;
pub mod mnist;
pub mod stage;
pub mod zn;

pub use error::{EntryError, Result};
