//! CKKS and BGV with every step given by the caller: the chain of moduli, scales, relinearisations,
//! rescalings and levels.
//!
//! For programs of compilers that place these steps themselves, and for experiments with their
//! placement. [`crate::schemes::ckks`] and [`crate::schemes::engine`] place them on their own.
//!
//! A ciphertext is 2 or 3 polynomials with a *level* (how many steps of the chain can still be
//! dropped) and a *scale*. Its phase is `φ = Σ parts[i]·s^i` modulo the product of the steps up to its
//! level, and
//!
//! ```text
//! CKKS (t = 1)   φ = Δ·m + ε           scale Δ, a real number
//! BGV            φ = ε ≡ f·m (mod t)    scale f, a unit modulo t (the plaintext factor)
//! ```
//!
//! Both schemes are one arithmetic: errors of encryption, key switches and roundings are multiples of
//! t. No operation changes an operand to make it fit. If levels, scales or numbers of polynomials do not
//! fit, the operation is refused ([`ExplicitError`](crate::error::ExplicitError)).
//!
//! Every ciphertext carries bounds on the canonical norms of Δ·m (*signal*, 0 in BGV) and of ε
//! (*noise*), and one on the coefficients of ε. With S and E for the first two:
//!
//! ```text
//! a + b      S_a + S_b                  E_a + E_b + S_b·|1 − Δ_a/Δ_b|
//! a·b        S_a·S_b                    S_a·E_b + E_a·S_b + E_a·E_b
//! rescale    S/q                        E/q + rounding
//! relinearize, rotate   S               E + key switch
//! ```
//!
//! Decryption refuses a ciphertext whose bound does not fit the modulus, and one that is seen to hold
//! more than its bound.
//!
//! ```
//! use std::sync::Arc;
//! use windlass_rlwe::{Assurance, SecretDistribution, context::os_rng};
//! use windlass_schemes::schemes::explicit::{Chain, Client, Context, Encoding, Scale, Server, Values};
//!
//! let (moduli, special) = (vec![1 << 50, 1 << 40, 1 << 40], vec![1 << 50]);
//! let (secret, assurance) = (SecretDistribution::Ternary, Assurance::Secure);
//! let context = Context::new(&Chain { n: 8192, moduli, special, secret, assurance }, Encoding::Ckks)?;
//! let (mut rng, scale) = (os_rng()?, Scale::bits(40.0));
//! let client = Client::generate(&context, &mut rng);
//! let server = Server::new(&context, Arc::new(client.evaluation_keys(&[1], true, &mut rng)?))?;
//!
//! let x = client.encrypt(&Values::from(&[0.5, 0.25][..]), 1.0, 2, scale, &mut rng)?;
//! let product = server.multiply(&x, &server.rotate(&x, 1)?)?;
//! assert_eq!((product.size(), product.level(), product.scale()), (3, 2, Scale::bits(80.0)));
//! let product = server.rescale(&server.relinearize(&product)?)?;
//! assert_eq!((product.size(), product.level()), (2, 1));
//! let Values::Complex(slots) = client.decrypt(&product)? else { unreachable!("CKKS") };
//! assert!((slots[0].re - 0.125).abs() < 1e-6);
//! # Ok::<(), windlass_schemes::Error>(())
//! ```

mod chain;
mod ciphertext;
mod client;
mod context;
mod encode;
mod noise;
mod scale;
mod server;
#[cfg(test)]
mod tests;

pub use chain::{Chain, Encoding};
pub use ciphertext::{Ciphertext, Plaintext};
pub use client::Client;
pub use context::Context;
pub use encode::Values;
pub use scale::Scale;
pub use server::Server;
