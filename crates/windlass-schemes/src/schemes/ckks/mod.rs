//! CKKS: approximate arithmetic on encrypted complex vectors (Cheon–Kim–Kim–Song 2017), in full
//! RNS, on the same keys and key switch as the exact schemes.
//!
//! Nothing about scales or levels is left to the caller: see [`CkksContext`] for why they always
//! fit. Every ciphertext carries a bound on its values and an estimate of its error; see
//! [`Ciphertext::precision_bits`].

mod approximation;
mod arithmetic;
mod automorphism;
mod ciphertext;
mod client;
mod combinations;
mod context;
mod embedding;
mod encode;
mod engine;
mod error_model;
mod evaluation;
mod file;
mod flooding;
mod lazy;
mod levels;
mod magnitude;
mod operator;
mod polynomial;
mod polynomial_value;
mod raised;
mod refresh_terms;
mod refreshing;
mod slot_error;
mod slot_errors;
mod spec;
mod text;
mod wide;
#[cfg(test)]
mod wide_tests;

pub use super::Publication;
pub use automorphism::{Constant, Extended, Hoisted};
pub use ciphertext::Ciphertext;
#[doc(hidden)]
pub use ciphertext::{FiledInfo, states_most};
pub(crate) use client::open_phase;
pub use client::{Decryptor, Encryptor, Published, complex};
pub use context::CkksContext;
pub(crate) use embedding::Embedding;
pub(crate) use encode::{MOST_BITS, ring_element};
pub use engine::Engine;
#[doc(hidden)]
pub use evaluation::{RealArithmetic, evaluated};
#[doc(hidden)]
pub use lazy::{LazyCiphertext, LazyEngine};
pub use num_complex::Complex64;
#[doc(hidden)]
pub use operator::Operator;
pub use polynomial::{Polynomial, PowerBasis};
#[doc(hidden)]
pub use raised::Stated;
#[doc(hidden)]
pub use refresh_terms::RefreshTerms;
#[doc(hidden)]
pub use slot_errors::SlotErrors;
pub use spec::{CkksSpec, RefreshLevel};
#[doc(hidden)]
pub use text::{VersionedText, assurance_in_words, assurance_of};
pub use wide::{Wide, WideComplex};
