//! The errors of the whole library. Each message names the cause and a remedy.

mod bootstrap;
mod explicit;
mod kind;
mod number;
mod wire;

use std::sync::Arc;

use windlass_ring::slots::Hypercube;
use windlass_rlwe::{OtherKeyPair, OutOfRange, RlweError};

pub use bootstrap::BootstrapError;
pub use explicit::ExplicitError;
pub use kind::Kind;
#[doc(hidden)]
pub use number::short;
pub use wire::WireError;

/// Every error that a caller of Windlass can get. Variants carry data, never secrets.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no Galois key for the automorphism X ↦ X^element.
    #[error("the Galois key for the automorphism X -> X^{element} is missing; make it with {make_with}")]
    MissingGaloisKey {
        /// The exponent t of θ_t : X ↦ X^t, in [1, m).
        element: u64,
        /// The call that makes the key.
        make_with: String,
    },
    /// A circuit needs keys that the server does not hold. Nothing was computed.
    #[error(
        "{needed_by} needs {} for ciphertexts of level {level}; name it when the keys are made: context.generate_keys([&circuit, ..])",
        missing_keys(galois, *relinearisation, *bootstrappings)
    )]
    MissingKeys {
        /// The circuit that needs them.
        needed_by: String,
        /// The exponents t of the automorphisms X ↦ X^t without a Galois key for this level.
        galois: Vec<u64>,
        /// Whether the relinearisation key for this level is missing.
        relinearisation: bool,
        /// How many bootstrappings have no keys.
        bootstrappings: usize,
        /// The level at which the keys are needed: at most the level of the input. The server may
        /// hold keys for lower levels.
        level: usize,
    },
    /// A refresh was requested, but no bootstrapping keys were generated.
    #[error(
        "the server holds no bootstrapping keys; give the plan of context.bootstrapping(), or of context.refresh() for CKKS, to context.generate_keys"
    )]
    MissingBootstrappingKeys,
    /// The evaluation keys hold no relinearisation key.
    #[error(
        "products of ciphertexts need a relinearisation key; name needs::Products when the keys are made: context.generate_keys([&Products, ..])"
    )]
    MissingRelinearisationKey,
    /// There is no option with this name.
    #[error("unknown {what} {given:?}; choose one of {}", known.join(", "))]
    UnknownName {
        /// The kind of option, in the singular.
        what: &'static str,
        /// The name given.
        given: String,
        /// All names.
        known: Vec<String>,
    },
    /// The planner found no parameter set.
    #[error("no parameters meet the specification: {reason}")]
    NoParameters {
        /// Why the last candidate was refused, and what to ask for instead.
        reason: String,
    },
    /// A table has more cells than fit into the slots.
    #[error(
        "the table is too large for the parameters: {rows} rows of {words} words ({bits} bits each) do not fit into {slots} slots; choose larger parameters or split the table"
    )]
    TableTooLarge {
        /// Rows of the table.
        rows: usize,
        /// Words in a row.
        words: usize,
        /// Bits in a word.
        bits: u32,
        /// Slots of a ciphertext.
        slots: usize,
    },
    /// The ring layer refused.
    #[error(transparent)]
    Ring(#[from] windlass_ring::RingError),
    /// The RLWE layer refused.
    #[error(transparent)]
    Rlwe(RlweError),
    /// Values of two key pairs of one context were used in one operation.
    #[error(transparent)]
    OtherKeyPair(#[from] OtherKeyPair),
    /// Values with two slot orders of one plaintext ring were used in one operation.
    #[error(
        "{operation}: the values have different slot orders (generators {left:?} and {right:?}); make all plaintexts, plans and keys with one slot ring"
    )]
    OtherSlotOrder {
        /// The requested operation.
        operation: &'static str,
        /// The generators of the hypercube of the evaluator.
        left: Vec<u64>,
        /// Those of the value.
        right: Vec<u64>,
    },
    /// Values of different contexts (rings, moduli or parameters) were used in one operation.
    #[error("{operation}: the values belong to different contexts ({left} and {right}); make them with one context")]
    ContextMismatch {
        /// The operation that was asked for.
        operation: &'static str,
        /// The context of the operation or of its left operand.
        left: String,
        /// The context of the right operand.
        right: String,
    },
    /// The noise bound leaves too little room for the operation to be exact.
    #[error(
        "{operation} needs {needed_bits:.1} bits of capacity, but {left_bits:.1} are left; choose a longer modulus chain, or refresh the ciphertext first"
    )]
    CapacityExhausted {
        /// The operation that was asked for.
        operation: &'static str,
        /// log2 of the noise growth that the operation needs room for.
        needed_bits: f64,
        /// log2 of the room that is left under the noise bound.
        left_bits: f64,
    },
    /// A function of integers was applied to slots that are not known to hold integers.
    #[error(
        "{circuit} needs integers, but the slots of the ciphertext hold ring elements: encrypt integers, or call assume_integers() if you know that every slot holds one"
    )]
    NotIntegers {
        /// The function, in words.
        circuit: String,
    },
    /// A ciphertext cannot be decrypted: its noise, or in CKKS its values, exceed the bound that it
    /// states.
    #[error(
        "the ciphertext holds more noise or larger values than it states{}: it was made under another key, or someone changed it or a key that was used on it, or, in CKKS, a value was outside the interval of a polynomial or above a bound that was assumed for it",
        place_beyond(*beyond)
    )]
    NotDecryptable {
        /// Which slots exceed their bound, if the decoder can tell (CKKS). In exact schemes noise
        /// is measured in coefficients, so no slot is known.
        beyond: Option<Beyond>,
    },
    /// An argument has the wrong number of entries.
    #[error("{what}: expected {expected} entries, got {got}")]
    ShapeMismatch {
        /// Which argument.
        what: &'static str,
        /// How many entries it should have.
        expected: usize,
        /// How many it has.
        got: usize,
    },
    /// An argument is outside the range in which the operation is defined.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// A plan cannot be made with the requested strategy.
    #[error("{strategy} cannot be planned here: {reason}")]
    Unplannable {
        /// The strategy or method asked for.
        strategy: String,
        /// Why it does not fit.
        reason: String,
    },
    /// A linear map that has no inverse.
    #[error("the linear map has no inverse, since its matrix is singular modulo {prime}; choose an invertible map")]
    SingularMap {
        /// The plaintext prime p.
        prime: u64,
    },
    /// A value cannot be divided exactly by p.
    #[error(
        "the plaintext is not a multiple of {prime}, or its modulus {prime}^{exponent} has no factor left to divide by; divide only multiples of {prime} modulo at least {prime}^2"
    )]
    NotDivisible {
        /// The plaintext prime p.
        prime: u64,
        /// The exponent r of the plaintext modulus p^r.
        exponent: u32,
    },
    /// A value to encode is NaN or infinite.
    #[error("the value at index {index} is not a finite number; remove NaN and infinite values")]
    NotFinite {
        /// Its position.
        index: usize,
    },
    /// A value, perhaps a secret one, exceeds the stated bound.
    #[error(
        "the value at index {index} is larger in absolute value than the bound {}; state a larger bound",
        if *bound_bits < 1000.0 { short(bound_bits.exp2()) } else { format!("2^{bound_bits:.0}") }
    )]
    ValueTooLarge {
        /// Its position.
        index: usize,
        /// log2 of the bound.
        bound_bits: f64,
    },
    /// A bound on values exceeds what fits under these parameters.
    #[error(
        "the bound {} on the values is above {}, the largest bound of these parameters; {}",
        short(*bound),
        short(*most),
        larger_values("CkksSpec::secure", *value_bits)
    )]
    BoundTooLarge {
        /// The bound.
        bound: f64,
        /// The largest bound that fits.
        most: f64,
        /// The value size in bits with which parameters would fit it; `None` if no parameters do.
        value_bits: Option<u32>,
    },
    /// A public number is too large to be multiplied or added at the scale of the parameters.
    #[error(
        "the number {} is too large: at this scale a number must be below 2^{most_bits:.0}, so that its product with the scale is a finite double; choose a smaller scale, or use several smaller factors",
        short(*value)
    )]
    NumberTooLarge {
        /// Its absolute value.
        value: f64,
        /// log2 of the largest.
        most_bits: f64,
    },
    /// A polynomial on an interval was applied to values that are not known to lie in it.
    #[error(
        "the values may be as large as {} in absolute value, but the interval of the polynomial is from {} to {}; choose a wider interval, or, if you know that the values lie inside, call Ciphertext::with_magnitude({})",
        short(*bound),
        short(*low),
        short(*high),
        short(low.abs().max(high.abs()))
    )]
    OutsideInterval {
        /// The bound on the values.
        bound: f64,
        /// The lower end of the interval.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// A vector has a length that does not divide the number of slots.
    #[error(
        "a vector of {got} values cannot be packed: the length must be a power of two of at most {most}, the number of slots"
    )]
    SlotCount {
        /// The length.
        got: usize,
        /// The number of slots.
        most: usize,
    },
    /// The stated bounds on the values of an approximate ciphertext do not fit its modulus.
    #[error(
        "{operation}: values within the stated bounds need {needed_bits:.1} bits of the modulus, but it has {left_bits:.1}; state smaller bounds, or {}",
        larger_values("CkksSpec::secure", *value_bits)
    )]
    ModulusExhausted {
        /// The operation that was asked for.
        operation: &'static str,
        /// log2 of the scale times the bound on values and errors.
        needed_bits: f64,
        /// log2 of half the modulus, or of the range of doubles.
        left_bits: f64,
        /// The value size in bits with which parameters would fit it; `None` if no parameters do.
        value_bits: Option<u32>,
    },
    /// The depth of the parameters is used up: an approximate ciphertext has no prime left to
    /// rescale with.
    #[error(
        "{operation}: the depth is used up: {needed} more are needed, but {left} of {depth} are left. Choose parameters of depth {}. Every product in sequence with a ciphertext, a matrix or a number that is not an integer takes one, and a polynomial takes Polynomial::depth()",
        depth + needed.saturating_sub(*left)
    )]
    LevelsExhausted {
        /// The operation that was asked for.
        operation: &'static str,
        /// The depth of the parameters.
        depth: usize,
        /// The depth that the operation takes.
        needed: usize,
        /// The depth that was left.
        left: usize,
    },
    /// A step of a function takes more levels than a ciphertext has there, and no refresh before it helps.
    #[error(
        "{function}: {step} takes {needed} levels, but {left} are left of a ciphertext: {missing_bits:.0} bits of the modulus are missing; {remedy}"
    )]
    StepTooDeep {
        /// The function.
        function: String,
        /// The step, in words.
        step: String,
        /// The levels that it takes.
        needed: usize,
        /// The levels that a ciphertext has for it.
        left: usize,
        /// How many bits the modulus is too small.
        missing_bits: f64,
        /// What to do.
        remedy: String,
    },
    /// The noise that makes a decryption safe to publish would drown the values.
    #[error(
        "the noise that makes the decryption safe to publish leaves {left_bits:.1} bits of the values; use a larger scale, fewer decryptions or less statistical security"
    )]
    PrecisionExhausted {
        /// Bits that would be left, relative to the bound on the values.
        left_bits: f64,
    },
    /// The caller asked to stop.
    #[error("{operation} was cancelled")]
    Cancelled {
        /// What was under way.
        operation: &'static str,
    },
    /// The system does not provide the memory that is known to be needed.
    #[error(
        "{what} need {bytes} bytes of memory, but the system does not provide them; use smaller parameters or fewer of them"
    )]
    OutOfMemory {
        /// What needs it.
        what: &'static str,
        /// How much.
        bytes: u64,
    },
    /// Bytes or a file were refused.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A bootstrapping was refused.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    /// An operation with explicit steps was refused.
    #[error(transparent)]
    Explicit(#[from] ExplicitError),
}

impl From<RlweError> for Error {
    fn from(error: RlweError) -> Self {
        match error {
            RlweError::OtherKeyPair(error) => Self::OtherKeyPair(error),
            error => Self::Rlwe(error),
        }
    }
}

/// # Errors
/// [`Error::OtherSlotOrder`] unless the hypercubes are the same.
#[doc(hidden)]
pub fn check_same_order(operation: &'static str, left: &Arc<Hypercube>, right: &Arc<Hypercube>) -> Result<()> {
    if Arc::ptr_eq(left, right) || left == right {
        return Ok(());
    }
    let [left, right] = [left, right].map(|cube| cube.dimensions().iter().map(|line| line.generator).collect());
    Err(Error::OtherSlotOrder { operation, left, right })
}

/// Results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The remedy if values outgrow the parameters.
fn larger_values(made_by: &str, value_bits: Option<u32>) -> String {
    match value_bits {
        Some(bits) => format!("choose parameters for larger values ({made_by} with value_bits = {bits})"),
        None => "divide the values by a constant first: no parameters have room for values of this size".to_owned(),
    }
}

/// Slots of a ciphertext that exceed their stated bound. It contains their positions, which follow
/// from the layout, but no values.
///
/// **Warning.** Which slots exceed their bound depends on the values, as the refusal itself does.
/// Only the owner of the key should see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beyond {
    /// The first of them, from 0.
    pub slot: usize,
    /// The number of such slots. If it is all or nearly all of them, the key is another one, or the
    /// ciphertext was changed.
    pub count: usize,
}

/// Where a ciphertext holds more than it states, in words.
fn place_beyond(beyond: Option<Beyond>) -> String {
    match beyond {
        None => String::new(),
        Some(Beyond { slot, count: 1 }) => format!(", in slot {slot} alone"),
        Some(Beyond { slot, count }) => format!(", first in slot {slot} ({count} slots in all)"),
    }
}

/// The keys that are missing, in words; long lists are cut short.
fn missing_keys(galois: &[u64], relinearisation: bool, bootstrappings: usize) -> String {
    const SHOWN: usize = 6;
    let mut parts = Vec::new();
    if relinearisation {
        parts.push("the relinearisation key".to_owned());
    }
    if !galois.is_empty() {
        let shown: Vec<String> = galois.iter().take(SHOWN).map(u64::to_string).collect();
        let rest = if galois.len() > SHOWN { format!(", .. ({} in all)", galois.len()) } else { String::new() };
        parts.push(format!("Galois keys for X -> X^t with t = {}{rest}", shown.join(", ")));
    }
    if bootstrappings > 0 {
        parts.push(format!("the keys of {bootstrappings} bootstrapping(s)"));
    }
    parts.join(" and ")
}
