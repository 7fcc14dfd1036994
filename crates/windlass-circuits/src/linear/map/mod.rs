//! Linear maps as sums of automorphisms with constants, what the constants are written in, and
//! grids of maps.

mod axes;
mod complex;
mod grid;
mod in_slots;
mod linear_map;
mod norms;
mod representation;

pub use axes::{Axes, Axis};
pub use complex::{ComplexMap, ComplexSlots};
pub use grid::LinearGrid;
pub use in_slots::InSlots;
pub use linear_map::LinearMap;
pub use representation::{PackedPlaintext, Plannable, Representation};

pub(crate) use axes::{inverse_mod, power_mod};
pub(crate) use norms::norms_of_entries;
