//! Refreshes of CKKS ciphertexts to more bits than one refresh gives: each pass refreshes what the passes
//! before it left of the error (the idea is meta-bootstrapping by Bae, Cheon, Cho, Kim and Kim 2022).
//!
//! One pass gives p bits. The scale Δ of the ciphertext is larger than that of a pass, Δ_B, by primes
//! q_1, .., q_{J−1} of p bits each. Q_B is the modulus of a pass, Q_J = Q_B·q_1·..·q_{J−1}.
//!
//! ```text
//! x   the ciphertext at Q_J                            phase Δ·m
//! y ← 0
//! for j = 1, .., J, with C = q_1·..·q_{J−j}:
//!     r ← x − y modulo Q_B·C                           phase −Δ·η_{j−1}, for j = 1: Δ·m
//!     r ← r divided by C, at Q_B
//!     z ← refresh of r, at the modulus of the result   phase −(Δ/C)·(η_{j−1} − η_j)
//!     y ← y + C·z                                      phase Δ·(m + η_j)
//! ```
//!
//! The sum is one of integers, so a pass adds no error but its own: |η_j| is 2^−p of |η_{j−1}|, until the
//! roundings of x and y at the scale Δ are larger.
//!
//! The derivation is in `docs/design/0036-more-bits-than-one-pass.md`.

mod bound;
mod file;
mod keys;
mod listing;
mod plan;
mod planner;
mod presets;
mod refresher;
mod spec;

pub use bound::PassBits;
pub use plan::PreciseRefreshPlan;
pub use planner::PreciseRefreshRequirements;
pub use presets::precise_refresh_preset_names;
pub use refresher::PreciseRefresher;
pub use spec::PreciseRefreshSpec;

#[cfg(test)]
mod tests;
