//! What can stop a bootstrapping, named by stage.

/// Every refusal is before the first operation, except [`BootstrapError::Cancelled`] and, rarely, [`BootstrapError::CapacityTooLow`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BootstrapError {
    /// A Galois key of a stage is not there.
    #[error("bootstrapping, {stage}: no Galois key for X -> X^{element}; make all of BootstrapPlan::required_keys")]
    MissingKey {
        /// The stage.
        stage: String,
        /// The exponent t of θ_t.
        element: u64,
    },
    /// No relinearisation key.
    #[error("bootstrapping, {stage}: no relinearisation key; make it with EvaluationKeys::add_relinearisation")]
    MissingRelinearisationKey {
        /// The stage.
        stage: String,
    },
    /// The ciphertext has too little capacity left even to start.
    #[error(
        "bootstrapping, {stage}: the ciphertext has {left_bits:.1} bits of capacity, and {missing_bits:.1} more are needed before it can be refreshed; refresh earlier"
    )]
    CapacityTooLow {
        /// The stage that would run out.
        stage: String,
        /// Bits the ciphertext has.
        left_bits: f64,
        /// Bits that it lacks.
        missing_bits: f64,
    },
    /// The parameters cannot carry this bootstrapping.
    #[error(
        "bootstrapping, {stage}: the modulus chain is {missing_bits:.0} bits too short; use more primes, fewer merged stages or a smaller plaintext modulus"
    )]
    ChainTooShort {
        /// The stage that would run out.
        stage: String,
        /// Bits that are lacking.
        missing_bits: f64,
    },
    /// The ciphertext or the keys belong to other parameters.
    #[error("bootstrapping: {what} belongs to other parameters than the plan")]
    WrongContext {
        /// What does.
        what: &'static str,
    },
    /// The plaintext modulus of the ciphertext is not that of the plan.
    #[error("bootstrapping: the ciphertext has plaintext modulus p^{found}, the plan is for p^{expected}")]
    WrongPlaintextModulus {
        /// Exponent of the plan.
        expected: u32,
        /// Exponent of the ciphertext.
        found: u32,
    },
    /// Thin bootstrapping of slots that are not known to hold integers: all but their constant coefficients would be lost.
    #[error(
        "bootstrapping: the slots of the ciphertext hold elements, and thin bootstrapping keeps integers only; bootstrap it packed, or say \
         Ciphertext::assume_integers() where all slots are known to hold integers"
    )]
    NotIntegers,
    /// A combination that is not offered.
    #[error("bootstrapping: {what}")]
    Unsupported {
        /// What, and what to use instead.
        what: String,
    },
    /// The caller asked to stop.
    #[error("bootstrapping was cancelled before {stage}")]
    Cancelled {
        /// The stage that would have come next.
        stage: String,
    },
}
