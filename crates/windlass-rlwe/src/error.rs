//! The errors of this layer, with remedies.

use windlass_ring::RingError;
use windlass_ring::kernels::KernelError;

use crate::key_id::OtherKeyPair;
use crate::limits::OutOfRange;

/// What the tables of security cover.
fn covered(lowest: usize, highest: usize) -> String {
    if cfg!(all(target_arch = "wasm32", target_os = "unknown")) && lowest > highest {
        return "the package for browsers has no table of sparse secrets; choose parameters with a ternary secret"
            .to_owned();
    }
    if lowest > highest {
        return "the tables do not cover so sparse a secret; choose a larger weight".to_owned();
    }
    format!("the tables cover {lowest} to {highest}; choose m with phi(m) in that range")
}

/// What may give more security: a denser secret, if there is one, or a larger ring.
fn larger(secret: &str) -> &'static str {
    if secret.contains("sparse") {
        "use a larger ring or a ternary secret"
    } else {
        "use a larger ring, or ask for less"
    }
}

/// Every failure that a caller of this crate can meet. Variants carry data, never secrets.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RlweError {
    /// The kernels refused an index or a prime.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The ring layer refused its arguments.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// The ring dimension is outside the tables of hardness estimates.
    #[error(
        "no security estimate covers ring dimension {n} with {secret}: {}, or choose Assurance::Insecure with a name",
        covered(*lowest, *highest)
    )]
    SecurityOutOfRange {
        /// The ring dimension n = φ(m).
        n: usize,
        /// The secret distribution, in words.
        secret: String,
        /// Least dimension covered; above the largest where the secret is sparser than every one in
        /// the tables.
        lowest: usize,
        /// Largest dimension covered.
        highest: usize,
    },
    /// No modulus at all reaches the security that was asked for.
    #[error(
        "no modulus gives {wanted:.0} bits of security at n = {n} with {secret}: {}; no estimate claims more than 256 bits",
        larger(secret)
    )]
    SecurityUnreachable {
        /// The ring dimension n = φ(m).
        n: usize,
        /// Bits of security asked for.
        wanted: f64,
        /// The secret distribution, in words.
        secret: String,
    },
    /// The parameters fall short of 128 bits, and were not called insecure by name.
    #[error(
        "these parameters have {bits:.1} bits of security (n = {n}, log2 QP = {log2_qp:.1}), fewer than {required:.0}: keep log2 QP at or below {max_log2_qp:.1}, enlarge the ring, or name the set insecure"
    )]
    Insecure {
        /// Estimated security in bits.
        bits: f64,
        /// Bits required.
        required: f64,
        /// The ring dimension n = φ(m).
        n: usize,
        /// log2 of the product of all primes.
        log2_qp: f64,
        /// The largest log2 QP that would do at this n.
        max_log2_qp: f64,
    },
    /// A set that need not have 128 bits does not say so in its name.
    #[error("the set '{name}' may have less than 128 bits of security: begin its name with '{prefix}'")]
    MisleadingName {
        /// The name given.
        name: String,
        /// What it has to begin with.
        prefix: &'static str,
    },
    /// The special modulus is smaller than a digit: key switching would drown the message.
    #[error(
        "the special modulus has {log2_p:.1} bits, but the largest of the {digits} digits has {log2_digit:.1}: add special primes or use more digits"
    )]
    SpecialModulusTooSmall {
        /// log2 P.
        log2_p: f64,
        /// log2 of the largest product of a group of primes.
        log2_digit: f64,
        /// Number of groups.
        digits: usize,
    },
    /// The operating system gave no randomness.
    #[error(
        "the operating system provided no randomness for key generation: try again, or check its random number generator"
    )]
    NoEntropy,
    /// A secret key does not belong to the parameters.
    #[error(
        "the secret key does not fit the parameters: it must have phi(m) coefficients in -1, 0, 1, the weight of a sparse secret if the parameters state one, and a norm within the bound"
    )]
    BadSecretKey,
    /// A public or evaluation key does not belong to the parameters.
    #[error("the {what} does not fit the parameters (ring, level or number of digits): make it with these parameters")]
    BadKey {
        /// Which key.
        what: &'static str,
    },
    /// Two key pairs of one context met in one operation.
    #[error(transparent)]
    OtherKeyPair(#[from] OtherKeyPair),
    /// A key of several parties has not the shares of all.
    #[error("{added} shares of a key were added up, but {parties} parties hold it: add one share of each")]
    IncompleteSum {
        /// How many shares the sum has.
        added: u32,
        /// The number of parties.
        parties: u32,
    },
    /// A switching key was made for lower levels than the ciphertext has.
    #[error(
        "the switching key covers levels up to {key}, but the ciphertext is at level {needed}: switch the ciphertext down first, or make the key for level {needed}"
    )]
    KeyLevelTooLow {
        /// The level of the key.
        key: usize,
        /// The level of the ciphertext.
        needed: usize,
    },
    /// A value of the specification is outside its range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
}
