//! The compiled half of the npm package `windlass` (`js` is the other): the client's side of the library
//! for browsers and Node.
//!
//! It converts: typed arrays into slots and back, bytes into keys and ciphertexts, errors into
//! JavaScript's. What is computed is computed by the crates `windlass`, `windlass-retrieval` and `windlass-scoring`.
#![deny(unsafe_code)]

mod error;
#[cfg(feature = "lookup")]
mod hidden;
#[cfg(feature = "lookup")]
mod lookup;
#[cfg(any(feature = "vectors", feature = "scoring"))]
mod parameters;
#[cfg(feature = "scoring")]
mod scoring;
#[cfg(feature = "search")]
mod search;
mod secret;
#[cfg(feature = "vectors")]
mod vectors;

/// What functions that JavaScript calls return.
type Result<T> = std::result::Result<T, wasm_bindgen::JsValue>;
