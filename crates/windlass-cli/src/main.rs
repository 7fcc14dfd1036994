//! The `windlass` command line.
#![forbid(unsafe_code)]
fn main() {}
