//! The stages of the entry for products of 64-bit integers.

use std::process::ExitCode;

use windlass_entries::{stage, zn};

fn main() -> ExitCode {
    stage::run(&zn::STAGES, zn::run)
}
