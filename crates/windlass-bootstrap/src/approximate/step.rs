//! The steps of a refresh, as observers see them.

/// A step of a refresh that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshStep {
    /// To the highest level, through the ephemeral secret; for fewer slots, the sum that leaves their
    /// coefficients.
    Raise,
    /// A map from coefficients to slots, by number.
    ToSlots(usize),
    /// The sine of the real parts (0) or the imaginary ones (1); of both at once for fewer slots. On several
    /// threads both sines run side by side, and both steps are reported after the later one.
    Sine(usize),
    /// A map back, by number.
    ToCoefficients(usize),
}
