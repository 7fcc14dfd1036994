//! Which instruction set the kernels run on: detected once, carried as a value.

/// An instruction set that this machine is known to have.
///
/// Values other than `Portable` are only made by detection, so holding one proves that the features are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// Plain Rust, on every machine.
    Portable,
}

impl Isa {
    /// The fastest instruction set of this machine.
    pub fn best() -> Self {
        Isa::Portable
    }

    /// All instruction sets of this machine, slowest first.
    pub fn available() -> Vec<Self> {
        vec![Isa::Portable]
    }

    /// A short lower-case name, as printed in benchmarks.
    pub fn name(self) -> &'static str {
        "portable"
    }
}
