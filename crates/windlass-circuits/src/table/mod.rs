//! Evaluates any function of the integer in each slot, modulo p^r ≤ 2^8, from its table.

mod lifting;
mod monomials;
mod polynomial_function;
mod rows;
mod slot_table;

pub use slot_table::SlotTable;
