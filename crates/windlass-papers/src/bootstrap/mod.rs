//! Bootstrapping: Halevi–Shoup 2015, Chen–Han 2018, Halevi–Shoup 2018 and Ma et al. 2024.

pub mod appendix_a;
mod chen_han;
pub mod circuit;
pub mod digits_table;
mod failure;
pub mod figures;
mod lambda;
mod missing;
pub mod page;
mod peers;
mod published;
pub mod records;
pub mod todays;
