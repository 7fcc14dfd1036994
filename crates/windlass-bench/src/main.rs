//! Benchmarks of every layer.
fn main() {}
