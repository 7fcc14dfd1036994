//! What exists for papers alone: methods that Windlass's planner never chooses, and published tables, with
//! pages and plots that show ours beside them.
//!
//! The methods use the public traits of Windlass, as any researcher would: this crate depends on
//! `windlass` alone and shows that they suffice.
//!
//! | Method | Trait |
//! |---|---|
//! | [`halevi_shoup_2015::NearPrimePower`] | [`windlass::bootstrap::DecryptionMethod`] |
//! | [`ma_2024::Table3`] | [`windlass::bootstrap::StagePartition`] |
//! | [`integer_valued::IntegerValued`], [`bootstrap::digits_table`] | [`windlass::circuits::DigitMethod`] |
//! | [`halevi_shoup_2018::OLD_MAPS`] | none: a choice of strategy, hoisting and keys |
//!
//! `windlass-bench` measures and writes records; the pages of `docs/records` are made of them here.
//!
//! These are for papers alone, too, and stay in the library, since no public trait reaches what they
//! need: [`HoistMode::Off`](windlass::circuits::HoistMode::Off) (a branch of the evaluator, and what
//! tests compare the others with), [`BootstrapPlan::unfactored`](windlass::bootstrap::BootstrapPlan::unfactored)
//! (it reads the steps of a plan), and the rows of 60 bits in the kernels (they use its vector
//! instructions, which are private).
#![forbid(unsafe_code)]

pub mod bootstrap;
pub mod ckks;
pub mod goals;
pub mod halevi_shoup_2015;
pub mod halevi_shoup_2018;
pub mod integer_valued;
pub mod linear;
pub mod ma_2024;
pub mod moduli;
pub mod names;
pub mod page;
pub mod peer_record;
mod plot;
pub mod record;
pub mod trace;
