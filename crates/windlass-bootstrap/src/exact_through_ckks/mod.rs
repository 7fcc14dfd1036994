//! Refreshes of BGV and BFV ciphertexts through CKKS, for plaintext moduli whose digits are too
//! expensive to remove.
//!
//! That the error is read by a refresh of CKKS and subtracted is the idea of Kim, Seo and Song (eprint
//! 2024/109). The passes, bounds and parameters are ours.
//!
//! The phase of a BFV ciphertext modulo q is `(q·k + ε)/t`, where k holds the message and ε is small. So t
//! times the ciphertext has the phase ε modulo every divisor Q_B of q that is large against ε: a CKKS
//! ciphertext of the coefficients of ε. A CKKS refresh gives them back modulo a large Q', with a
//! relative error of 2^−p. They are subtracted from the ciphertext itself, raised to Q':
//!
//! ```text
//! for a pass j = 1, .., J, at modulus Q_j = Q_B·q_1·..·q_{j−1}, D = Q'/Q_j:
//!     x   ← the ciphertext at Q_j                     phase (Q_j·k + ε)/t,  |ε| ≤ E
//!     y   ← t·x modulo Q_B                            phase ε
//!     z   ← refresh of y by CKKS, at Q'               phase (q_J/t)·(ε + η),  |η| ≤ 2^−p·E
//!     x   ← D·x − (D/q_J)·z                           phase (Q'·k − D·η)/t
//! ```
//!
//! D/q_J is an integer, and D·x is exact. So only η is left: a pass gains p bits, whatever t is. With
//! q_j = 2^p each next pass reads what is left of the error at the same size E, modulo Q_j.
//!
//! The derivation is in `docs/design/0035-exact-plaintexts-through-ckks.md`.

mod compare;
mod file;
mod keys;
mod listing;
mod plan;
mod planner;
mod presets;
mod refresher;
mod spec;

pub use compare::{Comparison, RefreshCost, Way, compare};
pub use plan::ExactRefreshPlan;
pub use planner::ExactRefreshRequirements;
pub use presets::exact_refresh_preset_names;
pub use refresher::ExactRefresher;
pub use spec::ExactRefreshSpec;

#[cfg(test)]
mod tests;
