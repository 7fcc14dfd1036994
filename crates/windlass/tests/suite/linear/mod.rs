//! Linear maps and plans on the exact mock, against plain matrix products on the slots.

mod block_columns;
mod builders;
mod combinations;
mod common;
mod counted;
mod encrypted;
mod folded;
mod full_size;
mod grids;
mod matmul;
mod modes;
mod plans;
mod refusals;
mod several;
mod thin;
