//! The stages of the entry for handwritten digits.

use std::process::ExitCode;

use windlass_entries::{mnist, stage};

fn main() -> ExitCode {
    stage::run(&mnist::STAGES, mnist::run)
}
