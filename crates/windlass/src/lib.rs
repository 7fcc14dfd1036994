//! Computing on encrypted vectors: BGV, BFV and CKKS with packed slots, fast linear maps on them,
//! and bootstrapping.
//!
//! # A matrix times an encrypted vector
//!
//! ```
//! use windlass::{Context, LinearMap};
//!
//! let context = Context::preset("demo")?; // 128 bits of security; println!("{context}")
//! let matrix = LinearMap::from_dense(&context, &[[1, 2, 3], [4, 5, 6]])?;
//! let plan = matrix.plan()?;
//! println!("{}", plan.explain_at(&context.prices())); // how, in how much time, with which keys
//! let (client, server) = context.generate_keys([&plan])?;
//! let answer = server.apply(&plan, &client.encrypt(&[7, 8, 9])?)?;
//! assert_eq!(client.decrypt(&answer)?[..2], [50, 122]);
//! # Ok::<(), windlass::Error>(())
//! ```
//!
//! A [`Context`] is what both sides agree on. A [`Client`] holds the secret key. A [`Server`] holds
//! exactly the keys that the given circuits need.
//!
//! # Functions of the integers in slots
//!
//! Circuits of different types can share one list of keys. Over a prime modulus every function is a
//! polynomial; [`circuits::SlotFunction`] finds the cheapest one.
//!
//! ```
//! use windlass::Context;
//! use windlass::circuits::{Power, SlotFunction};
//!
//! let context = Context::preset("insecure_toy_256")?; // p = 257, 128 slots; a toy
//! let less = SlotFunction::is_negative(&context, 10)?; // of integers in −10..=10
//! let cube = Power::new(3)?;
//! let (client, server) = context.generate_keys([&less, &cube])?;
//! let (a, b) = (client.encrypt(&[1, 7, 5])?, client.encrypt(&[4, 2, 5])?);
//! assert_eq!(client.decrypt(&server.apply(&less, &server.sub(&a, &b)?)?)?[..3], [1, 0, 0]);
//! assert_eq!(client.decrypt(&server.apply(&cube, &a)?)?[..3], [1, 343 % 257, 125]);
//! # Ok::<(), windlass::Error>(())
//! ```
//!
//! # Circuits of any depth
//!
//! If the server has the keys of a bootstrapping, it refreshes automatically: before a step that
//! would leave too little room for a later refresh.
//!
//! ```
//! use windlass::Context;
//!
//! let context = Context::preset("insecure_boot_256_p257")?; // a toy
//! let (client, server) = context.generate_keys([&context.bootstrapping()?])?;
//! let mut x = client.encrypt(&[2, 3])?;
//! for _ in 0..16 {
//!     x = server.square(&x)?;
//! }
//! assert_eq!(client.decrypt(&x)?[..2], [1, 1]); // x^(2^16) modulo 257
//! # Ok::<(), windlass::Error>(())
//! ```
//!
//! # Real numbers
//!
//! ```
//! use windlass::needs::Products;
//! use windlass::schemes::ckks::CkksSpec;
//! use windlass::{Context, LinearMap};
//!
//! // 2 rescalings, scale 2^36, values below 2^4 in absolute value, at least 2 slots
//! let context = Context::approximate(&CkksSpec::secure(2, 36, 4, 2)?)?;
//! let rotation = [[0.6, -0.8], [0.8, 0.6]];
//! let turn = LinearMap::matrix(&context.vectors(2)?, |i, k| rotation[i][k].into())?.plan()?;
//! let (client, server) = context.generate_keys([&turn, &Products])?;
//! let turned = server.apply(&turn, &client.encrypt(&[0.5, 0.25])?)?;
//! let squares = client.decrypt(&server.multiply(&turned, &turned)?)?;
//! assert!((squares[0] - 0.01).abs() < 1e-6 && (squares[1] - 0.3025).abs() < 1e-6);
//! # Ok::<(), windlass::Error>(())
//! ```
//!
//! # The layers below
//!
//! - [`schemes`][]: the engines inside clients and servers, with explicit levels, noise bounds and
//!   seeds.
//! - [`circuits`][]: the circuits that run on these engines.
//! - [`bootstrap`][]: the bootstrapping pipeline as a value.
//! - [`wire`][]: file formats.
//! - [`rlwe`] and [`ring`]: the crates underneath.
#![forbid(unsafe_code)]

pub mod front;
#[deprecated(since = "0.3.0", note = "use circuits::lookup; records are in windlass-retrieval")]
#[doc(hidden)]
pub mod lookup;
mod main_result;

pub use circuits::LinearMap;
pub use front::{
    AnyMatrix, Approximate, Circuit, Client, Context, Depth, Exact, Functions, GridCircuit, ListCircuit, MatrixShape,
    Mock, NeedsKeys, Server, SlotPacking, Step, needs,
};
pub use main_result::{MainError, MainResult};
#[doc(inline)]
pub use windlass_bootstrap as bootstrap;
#[doc(inline)]
pub use windlass_circuits as circuits;
pub use windlass_ring as ring;
pub use windlass_rlwe as rlwe;
use windlass_schemes::once;
pub use windlass_schemes::{
    Arithmetic, Beyond, Content, DividedProduct, Error, Evaluator, Integer, ParamSpec, Params, Plaintext, Result,
    Scheme, Subtrahend, Switching, check_memory, has_memory,
};
#[doc(inline)]
pub use windlass_schemes::{error, evaluator, params, plaintext, schemes, switching};
#[doc(inline)]
pub use windlass_wire as wire;

/// The programs in the documentation of the crates below are tests as well.
#[cfg(doctest)]
#[doc = include_str!("../../windlass-circuits/src/examples/comparison.md")]
#[doc = include_str!("../../windlass-circuits/src/examples/fixed_point.md")]
#[doc = include_str!("../../windlass-circuits/src/examples/function.md")]
#[doc = include_str!("../../windlass-circuits/src/examples/inner_product.md")]
#[doc = include_str!("../../windlass-circuits/src/examples/lookup.md")]
#[doc = include_str!("../../windlass-circuits/src/examples/matrix.md")]
#[doc = include_str!("../../windlass-circuits/src/examples/matrix_product.md")]
#[doc = include_str!("../../windlass-circuits/src/examples/slot_table.md")]
#[doc = include_str!("../../windlass-wire/src/examples/list.md")]
pub struct Examples;

/// The programs of the README and of the pages for users are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/explanation/library.md")]
#[doc = include_str!("../../../docs/how-to/functions.md")]
#[doc = include_str!("../../../docs/how-to/linear-maps.md")]
#[doc = include_str!("../../../docs/how-to/bootstrapping.md")]
#[doc = include_str!("../../../docs/how-to/trace.md")]
#[doc = include_str!("../../../docs/how-to/training.md")]
pub struct Pages;
