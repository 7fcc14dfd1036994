//! Counts the random events on which the noise bounds of a whole circuit depend.

use std::ops::{Add, Mul};
use std::sync::{Mutex, PoisonError};

use super::bound::{Bound, FailureProbability};

/// Random events that bounds rest on: one for each tail that a [`super::NoiseModel`] cuts off.
///
/// Where none of them happens every bound of the circuit holds, so that one of N events of 2^−f
/// each spoils it with probability at most N·2^−f, however they depend on each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RandomEvents {
    /// Errors of encryptions.
    pub encryptions: u64,
    /// Inner products of digits with a switching key.
    pub inner_products: u64,
    /// Roundings of divisions by P_l.
    pub mod_downs: u64,
    /// Roundings of modulus switches.
    pub modulus_switches: u64,
}

impl RandomEvents {
    const NONE: Self = Self { encryptions: 0, inner_products: 0, mod_downs: 0, modulus_switches: 0 };
    /// One encryption.
    pub const ENCRYPTION: Self = Self { encryptions: 1, ..Self::NONE };
    /// One inner product.
    pub const INNER_PRODUCT: Self = Self { inner_products: 1, ..Self::NONE };
    /// One division by P_l.
    pub const MOD_DOWN: Self = Self { mod_downs: 1, ..Self::NONE };
    /// One modulus switch.
    pub const MODULUS_SWITCH: Self = Self { modulus_switches: 1, ..Self::NONE };
    /// A whole key switch: an inner product and a division by P_l.
    pub const KEY_SWITCH: Self = Self { inner_products: 1, mod_downs: 1, ..Self::NONE };

    /// N.
    pub fn total(self) -> u64 {
        self.encryptions + self.inner_products + self.mod_downs + self.modulus_switches
    }

    /// N·2^−f, from above; more than 1 says nothing.
    pub fn union_bound(self, each: FailureProbability) -> Bound {
        Bound::of(self.total() as f64) * Bound::from_bits(-each.bits())
    }
}

impl Add for RandomEvents {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            encryptions: self.encryptions + other.encryptions,
            inner_products: self.inner_products + other.inner_products,
            mod_downs: self.mod_downs + other.mod_downs,
            modulus_switches: self.modulus_switches + other.modulus_switches,
        }
    }
}

impl Mul<usize> for RandomEvents {
    type Output = Self;

    fn mul(self, times: usize) -> Self {
        let times = times as u64;
        Self {
            encryptions: self.encryptions * times,
            inner_products: self.inner_products * times,
            mod_downs: self.mod_downs * times,
            modulus_switches: self.modulus_switches * times,
        }
    }
}

/// Adds up the events of operations that may run side by side.
#[derive(Debug, Default)]
pub struct EventCounter(Mutex<RandomEvents>);

impl EventCounter {
    /// Counts these too.
    pub fn add(&self, events: RandomEvents) {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *sum = *sum + events;
    }

    /// What was counted.
    pub fn events(&self) -> RandomEvents {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was counted; counting starts again.
    pub fn take(&self) -> RandomEvents {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
