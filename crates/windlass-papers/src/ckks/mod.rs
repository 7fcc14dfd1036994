//! Refreshes of CKKS: records of their stages, and the page that shows them against a floor.

pub mod figures;
pub mod page;
pub mod reach;
