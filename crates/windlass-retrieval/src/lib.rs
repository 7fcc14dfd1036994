//! Private lookups in tables of any size, and nearest neighbours.
//!
//! The client's query is one ciphertext. The server expands it into encryptions of the coefficients
//! of a selection, multiplies a prepared table by them in one pass, chooses a column by encrypted
//! bits, and sends the result back at the smallest modulus that decrypts. All of it is over Z\[X\]/(X^n
//! + 1) with residues of 32 bits ([`Moduli`]).
#![forbid(unsafe_code)]

mod answer;
pub mod bounds;
mod bytes;
mod error;
mod evaluate;
mod expand;
mod query;
mod selector;
mod setting;
mod shape;
mod tiles;

pub use answer::{Answer, Part};
pub use error::{Error, Result};
pub use evaluate::{TOGETHER, answer};
pub use query::{Query, Selection, evaluation_keys};
pub use selector::SelectorGadget;
pub use setting::{Moduli, N, PRIMES, Setting};
pub use shape::{Shape, Sizes, setting_of};
pub use tiles::Segment;
