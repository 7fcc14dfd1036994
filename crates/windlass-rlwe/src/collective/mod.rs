//! Keys that several parties hold together.
//!
//! Party i draws a uniform ternary secret s_i. The secret key is s = Σ s_i, and no party ever has it. What the
//! key pair needs is made of *shares*, one from each party, which are added up:
//!
//! | what | share of party i | sum |
//! |---|---|---|
//! | public key | −a·s_i + e_i | −a·s + e |
//! | Galois key of θ, digit k | −a_k·θ^{-1}(s_i) + P·g_k·s_i + e_i | as of one party |
//! | relinearisation, round 1 | −a_k·u_i + P·g_k·s_i + e_i and a_k·s_i + e'_i | h_0 = −a·u + P·g·s + e and h_1 = a·s + e' |
//! | relinearisation, round 2 | s_i·(h_0 − a') + u_i·h_1 + e''_i | −a'·s + P·g·s² + (s·e + u·e' + e'') |
//! | decryption of (c_0, c_1) | s_i·c_1 + t·E_i | c_1·s + t·E |
//! | a switch to another public key (b, a) | (s_i·c_1 + t·(b·u_i + E_i), t·(a·u_i + e_i)) | with c_0 an encryption under that key |
//!
//! The polynomials a and a' are expanded from a seed that the parties agree on ([`Common`]): so the keys have the
//! form of those of one party, on disk as well. Keys of bootstrapping and of key switches between two secrets are
//! linear in the secrets, as Galois keys are.
//!
//! *Thresholds.* Each party cuts its s_i into Shamir shares and sends one to every party ([`deal`]). Party j adds up
//! what it gets, and holds the value σ(j) of a polynomial σ of degree t − 1 with σ(0) = s ([`ThresholdShare`]). Any t
//! parties have additive shares λ_j·σ(j) of s, with λ_j = Π_{k≠j} k/(k − j) over the t parties. Numbers of parties are
//! smaller than every prime, so that these inverses exist modulo each.
//!
//! **Warning.** This protects against parties that keep to the protocol and put together what they saw (semi-honest,
//! chosen in advance). A party that deviates can spoil keys and results, and a party that gets shares for chosen
//! inputs from another can find its secret. `docs/explanation/parties.md` has the argument.
//!
//! Sources: Mouchet, Troncoso-Pastoriza, Bossuat and Hubaux, "Multiparty homomorphic encryption from
//! ring-learning-with-errors" (2020/304), for keys of all n parties; Mouchet, Bertrand and Hubaux, "An efficient
//! threshold access-structure for RLWE-based multiparty homomorphic encryption" (2022/780), for thresholds. Round 2 of
//! relinearisation is theirs with one polynomial instead of two, for a key whose second half comes from the seed
//! (`docs/math/parties.md`).

mod common;
mod decryption;
mod keys;
mod secret;
mod shamir;

pub use common::{Common, KeyName};
pub use decryption::{Flooding, Holder};
pub use keys::{KeyShare, KeySum, Stage};
pub use secret::SecretShare;
pub use shamir::{DealtShare, ThresholdShare, check_participants, deal};
