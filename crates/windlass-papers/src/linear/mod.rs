//! Linear maps: Halevi–Shoup 2018, Tables 1 to 4.

pub mod columns;
pub mod measured;
pub mod pages;
mod published;
mod reach;
