//! Schemes: BGV and BFV on one engine, CKKS, and the exact mock `clear`.

pub mod ckks;
pub mod clear;
pub mod client;
pub mod engine;
mod galois;
mod refresh;

pub use client::{Decryptor, Encryptor};
pub use engine::{Ciphertext, Constant, Engine};
pub use refresh::Refresh;

/// The form of a ciphertext: where the message sits in the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Least significant: phase m + t·e (Brakerski–Gentry–Vaikuntanathan).
    Bgv,
    /// Most significant: phase round(Q·m/t) + e (Brakerski; Fan–Vercauteren).
    Bfv,
}

impl std::fmt::Display for Scheme {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Scheme::Bgv => "BGV",
            Scheme::Bfv => "BFV",
        })
    }
}
