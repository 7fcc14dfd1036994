//! Keys that several parties hold together.

mod agreement;
mod calls;
mod collecting;
mod handover;
mod identity;
mod member;

pub use agreement::{PyAgreement, restore_agreement};
pub use collecting::{PyAssembly, PyReading};
pub use handover::PyHandover;
pub use identity::PyIdentity;
pub use member::PyParty;
