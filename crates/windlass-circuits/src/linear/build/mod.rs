//! Builders of maps: each adds constructors to [`super::LinearMap`] and [`super::LinearGrid`].
//!
//! Slot `j` of `α` is `α(ζ^{u_j})` for a unit `u_j`, so slot `j` of `θ_t(α)` is `α(ζ^{u_j·t})`: it
//! is slot `j'` of `α` exactly if `u_j·t = u_{j'}`, and its image under the f-th power of Frobenius
//! if `u_j·t = u_{j'}·p^f`. A matrix entry at (row `j`, column `j'`) therefore belongs in slot `j`
//! of the constant of `t = u_{j'}/u_j`. In a bad dimension the rows that wrap around have another
//! `t` than those that do not: the masks of Halevi–Shoup 2018, Eq. (7), arise by themselves.

mod blocks;
mod complex;
mod integers;
mod inverse;
mod matmul;
mod slotwise;
mod units;

pub(crate) use integers::{check_rectangular, dense_entries};
