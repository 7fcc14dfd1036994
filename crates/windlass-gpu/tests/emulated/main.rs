//! Every kernel on the emulated device against the rows of the processor, equal to the bit.
#![cfg(feature = "emulated")]

mod bad_input;
mod common;
mod key_switches;
mod parts;
mod rows;
mod transforms;
