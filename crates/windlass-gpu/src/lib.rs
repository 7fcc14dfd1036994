//! Rows of residues on a device: a GPU, or the emulated device that runs the same kernels on the processor.
//!
//! The kernels in `kernels/` are one source for CUDA and for g++. They have the primes and the
//! arithmetic of `windlass-kernels` (doubles with fused multiply-add), and rows leave them canonical, so every
//! residue equals the processor's. `docs/design/0042-device.md` says why, and what is missing.
#![deny(unsafe_code)]

mod argument;
mod backend;
mod conversion;
#[cfg(feature = "cuda")]
mod cuda;
mod decomposition;
mod device;
mod division;
#[cfg(feature = "emulated")]
mod emulated;
pub mod error;
mod key_switch;
mod poly;
mod ring;

pub use decomposition::{Decomposer, DeviceDigits, DeviceKey};
pub use device::Device;
pub use division::Divider;
#[cfg(feature = "emulated")]
pub use emulated::Order;
pub use error::DeviceError;
pub use key_switch::{KeySwitch, ring_of};
pub use poly::DevicePoly;
pub use ring::DeviceRing;
