//! One whole key switch on a device.

use std::sync::Arc;

use windlass_ring::Eval;
use windlass_rlwe::Context;

use crate::decomposition::{Decomposer, DeviceKey};
use crate::device::Device;
use crate::division::Divider;
use crate::error::DeviceError;
use crate::poly::DevicePoly;
use crate::ring::DeviceRing;

/// The key switch of one level on a device, as [`windlass_rlwe::switching::switch`]: its constants are there, to be
/// used many times. The residues are the processor's.
#[derive(Debug)]
pub struct KeySwitch {
    decomposer: Decomposer,
    divider: Divider,
    /// Pairs of a key before the first that a digit of this level meets.
    skipped: usize,
}

/// The tables of all primes of a context.
///
/// # Errors
/// As [`DeviceRing::new`].
pub fn ring_of(device: &Device, context: &Context) -> Result<Arc<DeviceRing>, DeviceError> {
    DeviceRing::new(device, context.ring(), &context.covering_basis(context.top_level()))
}

impl KeySwitch {
    /// The key switch of polynomials over the modulus of `level`, from 1 to the top level of the context. BGV has the
    /// plaintext modulus as multiplier, BFV and CKKS 1.
    ///
    /// # Errors
    /// [`DeviceError::OtherRing`] unless the ring is that of the context; [`DeviceError::NoSuchLevel`];
    /// [`DeviceError::OutOfMemory`].
    pub fn new(ring: &Arc<DeviceRing>, context: &Context, level: usize, multiplier: u64) -> Result<Self, DeviceError> {
        if !Arc::ptr_eq(ring.ring(), context.ring()) {
            return Err(DeviceError::OtherRing);
        }
        let top = context.top_level();
        if !(1..=top).contains(&level) {
            return Err(DeviceError::NoSuchLevel { level, top });
        }
        let (basis, special) = (context.basis(level), context.special_at(level));
        let left_out = context.special().without(&special);
        let decomposer = Decomposer::new(ring, context.gadget(), (&basis, &special), (multiplier, &left_out))?;
        let divider = Divider::new(ring, &basis.union(&special), &basis, multiplier)?;
        Ok(Self { decomposer, divider, skipped: context.gadget().skipped(&basis) })
    }

    /// `θ_t(multiplier·round(Σ digit_k((multiplier·P/P_l)^{-1}·x)·(b_k, a_k)/P_l) + addends)`, t = `element` odd.
    ///
    /// # Errors
    /// As [`Decomposer::digits`], [`DeviceDigits::inner_product`](crate::DeviceDigits::inner_product) and
    /// [`Divider::divide`].
    pub fn switch(
        &self,
        x: &DevicePoly<Eval>,
        key: &DeviceKey,
        addends: [Option<&DevicePoly<Eval>>; 2],
        element: u64,
    ) -> Result<[DevicePoly<Eval>; 2], DeviceError> {
        let [b, a] = self.decomposer.digits(x)?.inner_product(key, self.skipped)?;
        Ok([self.divider.divide(&b, addends[0], element)?, self.divider.divide(&a, addends[1], element)?])
    }
}
