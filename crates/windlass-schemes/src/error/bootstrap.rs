//! The errors of bootstrapping. Each names the stage at which it occurs.

use windlass_rlwe::SecurityEstimate;

use super::number::short;

/// Why a bootstrapping was refused. All refusals occur before the first operation, except
/// [`BootstrapError::Cancelled`] and, rarely, [`BootstrapError::CapacityTooLow`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BootstrapError {
    /// The Galois key of a stage is missing.
    #[error(
        "bootstrapping, {stage}: the Galois key for X -> X^{element} is missing or its level is too low; name the plan when the keys are made: context.generate_keys([&plan, ..])"
    )]
    MissingKey {
        /// The stage.
        stage: String,
        /// The exponent t of θ_t.
        element: u64,
    },
    /// The relinearisation key is missing, or its level is below that of the stage.
    #[error(
        "bootstrapping, {stage}: the relinearisation key is missing or its level is too low; name the plan when the keys are made: context.generate_keys([&plan, ..])"
    )]
    MissingRelinearisationKey {
        /// The stage.
        stage: String,
    },
    /// The ciphertext has too little capacity to start.
    #[error(
        "bootstrapping, {stage}: the ciphertext has {left_bits:.1} bits of capacity, but a refresh needs {missing_bits:.1} more; refresh earlier"
    )]
    CapacityTooLow {
        /// The stage that would run out.
        stage: String,
        /// Bits the ciphertext has.
        left_bits: f64,
        /// Bits that it lacks.
        missing_bits: f64,
    },
    /// The bound on the values of a CKKS ciphertext is too large for a refresh.
    #[error(
        "bootstrapping: the bound on the values is {}, but a refresh takes values of absolute value at most {}; multiply them by a smaller constant first, or, if you know that they are smaller, call Ciphertext::with_magnitude({})",
        short(*bound),
        short(*most),
        short(*most)
    )]
    BoundTooLarge {
        /// The bound that the ciphertext states.
        bound: f64,
        /// The largest bound of a ciphertext that is refreshed.
        most: f64,
    },
    /// The modulus chain is too short for this bootstrapping.
    #[error(
        "bootstrapping, {stage}: the modulus chain is {missing_bits:.0} bits too short; use more primes, fewer merged stages or a smaller plaintext modulus"
    )]
    ChainTooShort {
        /// The stage that would run out.
        stage: String,
        /// The number of missing bits.
        missing_bits: f64,
    },
    /// The ciphertext or the keys belong to other parameters.
    #[error(
        "bootstrapping: {what} belongs to another context, scheme or plaintext prime than the bootstrapper; make both with one context"
    )]
    WrongContext {
        /// The value that belongs to another context.
        what: &'static str,
    },
    /// The plaintext modulus of the ciphertext is not that of the plan.
    #[error(
        "bootstrapping: the ciphertext has plaintext modulus p^{found}, but the plan is for p^{expected}; make a plan for p^{found}"
    )]
    WrongPlaintextModulus {
        /// Exponent of the plan.
        expected: u32,
        /// Exponent of the ciphertext.
        found: u32,
    },
    /// Thin bootstrapping of slots that are not known to hold integers. It would lose every
    /// coefficient except the constant ones.
    #[error(
        "bootstrapping: the slots of the ciphertext hold ring elements, but thin bootstrapping keeps only integers; plan Mode::Packed, or call Ciphertext::assume_integers() if you know that every slot holds an integer"
    )]
    NotIntegers,
    /// The weight of the ephemeral secret is out of range.
    #[error("bootstrapping: the weight of the ephemeral key is {weight}, but must be from 1 to n = {n}")]
    EphemeralWeight {
        /// The weight asked for.
        weight: u32,
        /// The coefficients that the secret has.
        n: usize,
    },
    /// The switching key of the ephemeral secret has less security than secure parameters require.
    #[error(
        "bootstrapping: an ephemeral key of weight {weight} at log2 QP = {log2_qp:.0} has {security}, but secure parameters need 128 by the tables; use a larger BootstrapSpec::ephemeral_weight, or parameters with Assurance::Insecure"
    )]
    EphemeralKeyTooWeak {
        /// The weight asked for.
        weight: u32,
        /// log2 of the modulus of the switching key.
        log2_qp: f64,
        /// λ, with its source.
        security: SecurityEstimate,
    },
    /// `failure_bits` is not −log2 of a probability below 1.
    #[error(
        "bootstrapping: failure_bits is {got}, but must be finite and above 0; the bound on the noise fails with probability 2^-failure_bits"
    )]
    FailureBits {
        /// What was asked for.
        got: f64,
    },
    /// Secure parameters require a negligible probability that the noise bound fails; the requested
    /// probability is larger.
    #[error(
        "bootstrapping: with failure_bits = {got} a plaintext is wrong without an error with probability 2^-{got}; secure parameters need at least {least}: raise it, or use parameters with Assurance::Insecure"
    )]
    TooLikelyToFail {
        /// What was asked for.
        got: f64,
        /// The minimum that is allowed.
        least: f64,
    },
    /// A partition that does not fit the elementary stages of a linear map.
    #[error(
        "bootstrapping: the partition {ends:?} must start above 0, ascend and end with {count}, the number of elementary stages; a map without stages has the partition []"
    )]
    Partition {
        /// The stages after which merged stages were to end.
        ends: Vec<usize>,
        /// How many stages there are.
        count: usize,
    },
    /// The given numbers are not a factorisation of m that can be used.
    #[error("bootstrapping: the factors {given:?} do not suit m = {m}: {why}")]
    Factors {
        /// What was given, the first factor first.
        given: Vec<u64>,
        /// The cyclotomic index.
        m: u64,
        /// What is wrong.
        why: &'static str,
    },
    /// Every plan that was found needs more keys than allowed.
    #[error(
        "bootstrapping: every plan needs at least {least} Galois keys, but {most} are allowed; allow {least} (BootstrapSpec::max_keys)"
    )]
    TooManyKeys {
        /// The maximum number of keys that was allowed.
        most: usize,
        /// The minimum over the plans that were tried.
        least: usize,
    },
    /// A combination of options that is not supported.
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
