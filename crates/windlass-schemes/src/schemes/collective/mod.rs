//! Decryption by several parties, none of whom has the secret key.
//!
//! A ciphertext (c_0, c_1) has the phase c_0 + s·c_1. Party i gives s_i·c_1 + t·E_i, E_i noise that hides the error of
//! the ciphertext, which depends on the secrets. A reader with c_0 and all shares has the phase plus t·ΣE_i, and reads
//! the message as from any other ciphertext.
//!
//! *How much noise.* Let e be the error that the shares have to hide: a vector of integers with Σ|e_j| ≤ B. The
//! coefficients of E_i are uniform on 2^{w+1} points, so that the sum of the shares of all honest parties is within
//! statistical distance B/2^{w+1} of one that a simulator makes from the message alone. All decryptions together are
//! within 2^−κ for w ≥ κ + log2(decryptions) + log2 B − 1. This is the distance to shares without any error of the
//! ciphertext, for BGV, BFV and CKKS, and it does not need the noise of other parties.
//!
//! **Warning.** Noise hides the error in the *sum* of the honest parties' shares, not in each of them. Where fewer than
//! all parties are needed, a share alone shows the error modulo small numbers (`docs/math/parties.md`). Each share that
//! leaves a party must therefore be masked: the parties of a decryption add polynomials that look uniform and whose sum
//! is zero. `windlass-parties` does so.
//!
//! **Warning.** B follows from the bound that the ciphertext states. Whoever decrypts a ciphertext must know that the
//! bound is one of this library, for a circuit that was agreed on: a file with a forged bound makes the noise too small.
//! Each ciphertext that is decrypted counts, the same one again as well.

mod approximate;
mod exact;
mod shares;
mod sharing;
mod switch;

#[cfg(test)]
mod tests;

pub use approximate::{ApproximateDecryption, Opened};
pub use exact::ExactDecryption;
pub use sharing::{ApproximateSharing, RealShare};
pub use switch::{ApproximateSwitch, ExactSwitch, SwitchingShare};
pub use windlass_rlwe::collective::Holder;
