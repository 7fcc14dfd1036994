//! Axes of odd prime-power index: Rader's convolution, cut into small transforms, on eight columns at once.

mod axis;
mod build;
mod codelets;
mod design;
mod lazy;
mod run;

pub(super) use axis::{AxisDesign, OddAxis};
pub(super) use build::Builder;
pub(super) use run::{Block, Direction};
