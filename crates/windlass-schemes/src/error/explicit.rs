//! Refusals of operations with explicit steps.

/// Why an operation with explicit steps was refused. Nothing was computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExplicitError {
    /// Operands have different levels.
    #[error("{operation}: the operands are at levels {left} and {right}; {}", bring_down(*left, *right))]
    Levels {
        /// The operation that was asked for.
        operation: &'static str,
        /// The level of the left operand.
        left: usize,
        /// The level of the right operand.
        right: usize,
    },
    /// Summands have different scales.
    #[error(
        "{operation}: the operands have different scales ({left} and {right}); rescale one, encode the plaintext at the other scale, multiply one by a plaintext whose scale is the quotient, or allow the difference by with_scale_tolerance"
    )]
    Scales {
        /// The operation that was asked for.
        operation: &'static str,
        /// The scale of the left operand.
        left: String,
        /// The scale of the right operand.
        right: String,
    },
    /// An operand has 3 polynomials.
    #[error("{operation} takes ciphertexts of 2 polynomials, but an operand has 3; call relinearize first")]
    Unrelinearised {
        /// The operation that was asked for.
        operation: &'static str,
    },
    /// A ciphertext of 2 polynomials was to be relinearised.
    #[error("relinearize: the ciphertext has 2 polynomials already; leave the relinearisation out")]
    Relinearised,
    /// The chain has no step left to drop.
    #[error(
        "{operation}: the ciphertext is at level {level}, but {steps} steps of the chain are to be dropped; make the context with a longer chain of moduli"
    )]
    NoStep {
        /// The operation that was asked for.
        operation: &'static str,
        /// The level of the ciphertext.
        level: usize,
        /// How many steps were to be dropped.
        steps: usize,
    },
    /// Message and noise do not fit the modulus.
    #[error(
        "{operation}: message and noise need {needed_bits:.1} bits, but the modulus at this level has {left_bits:.1}; rescale earlier, or use a smaller scale or larger steps of the chain"
    )]
    NoRoom {
        /// The operation that was asked for.
        operation: &'static str,
        /// log2 of the bound on the phase.
        needed_bits: f64,
        /// log2 of half the modulus.
        left_bits: f64,
    },
    /// The relinearisation key is missing.
    #[error("relinearize: the relinearisation key is missing; ask for it in evaluation_keys")]
    MissingRelinearisationKey,
    /// The key of a rotation is missing.
    #[error("the key for the rotation by {amount} is missing; name {amount} in evaluation_keys")]
    MissingRotationKey {
        /// The amount of the rotation.
        amount: i64,
    },
    /// Values or a scale are those of the other scheme.
    #[error("the context needs {expected} here; use those of its scheme")]
    OtherEncoding {
        /// What the context takes.
        expected: &'static str,
    },
}

/// How two levels become one.
fn bring_down(left: usize, right: usize) -> String {
    let (which, steps) = if left > right { ("left", left - right) } else { ("right", right - left) };
    format!("call level_reduce({steps}) or rescale on the {which} one")
}
