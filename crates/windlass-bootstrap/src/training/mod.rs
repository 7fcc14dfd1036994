//! Logistic regression trained on encrypted rows (CKKS), with Nesterov's accelerated gradient (Kim, Song,
//! Kim, Lee and Cheon 2018; Han, Song, Cheon and Park 2019).
//!
//! Row i of the data is `z_i = ±(x_i, 1)`: the features and a 1 for the bias, with the sign of the label.
//! The loss `Σ log(1 + exp(−z_i·w))/N` has the gradient `−Σ σ(−z_i·w)·z_i/N`. A step at rate α is
//!
//! ```text
//! w_t     = v_t + α/N·Σ_i (1/2 − o(z_i·v_t))·z_i        o a polynomial near σ − 1/2, odd
//! v_{t+1} = w_t + μ_t·(w_t − w_{t−1})                   v_1 = w_0 = 0
//! ```
//!
//! with `μ_t = (λ_t − 1)/λ_{t+1}`, `λ_1 = 1`, `λ_{t+1} = (1 + √(1 + 4λ_t²))/2`, and 0 in the last step.
//!
//! *Packing.* Slot `i·C + j` holds entry j of row i, C a power of two. The weights are a ciphertext with C
//! slots, which repeats over all rows. So the gradient, a sum over i, is a sum over all rotations by
//! multiples of C: it lands in C slots without a mask. The scores, sums over j, are right in the slots
//! j = 0 only; a mask keeps these and brings the scores to −1..1, and C copies fill the row.
//!
//! *Levels.* One for z·v, one for the mask, those of the polynomial, one for the product with z. All
//! other factors are constants of ciphertexts that have levels to spare: `w_{t−1}` can be computed from
//! `v_t` and `w_{t−2}`, which are both there when the step begins, so
//!
//! ```text
//! v_{t+1} = a·v_t + b·w_{t−2} + (1 + μ_t)·α/N·Σ_i (1/2 − o(z_i·v_t))·z_i
//! ```
//!
//! *Sums before rescaling.* Products with z are summed first and rescaled afterwards, so that the rounding
//! is there once and not once for each row.
//!
//! *Refreshes.* Only v and w are refreshed, as one vector v + i·w of C slots: a sparse refresh.
//!
//! *Scale of the data.* z is encrypted as κ·z with `κ² = α/(N·V)`, V the bound on the weights, and the
//! weights as w/V. Then both factors of the last product are of the size κ, and so is what their errors
//! are multiplied by.

mod data;
mod explain;
mod plan;
mod run;
mod schedule;
mod spec;

pub use data::TrainedWeights;
pub use plan::Training;
pub use run::TrainingProgress;
pub use spec::TrainingSpec;

#[cfg(test)]
mod tests;
