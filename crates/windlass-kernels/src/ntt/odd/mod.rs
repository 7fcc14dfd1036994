//! Axes of odd prime-power index: Rader's convolution, cut into small transforms, on eight columns
//! at once.

mod axis;
mod build;
mod cell;
mod codelets;
mod design;
mod lazy;
mod program;
mod run;

pub(super) use axis::{AxisDesign, OddAxis};
pub(super) use build::{Builder, Direction};
pub(super) use design::joint_order;
pub(super) use run::{Columns, Memory, run};
