//! The scales of the sine for a precision.

use windlass_rlwe::Limits;
use windlass_schemes::error::Result;

use super::samples::Samples;
use super::sine::Sine;
use super::spec::{LEAST_BITS, RefreshSpec};

impl RefreshSpec {
    /// The same with the scales of the sine for an error of 2^−bits in a slot of the message: each
    /// level adds as much to it as the others.
    ///
    /// Cost: some milliseconds.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::OutOfRange`] for a precision outside 1 to 60 bits, and for numbers
    /// that no refresh has.
    pub fn with_sine_precision(mut self, bits: f64) -> Result<Self> {
        self.check_shape()?;
        let limits = Limits::between(1, 60);
        if !(1.0..=60.0).contains(&bits) {
            return Err(limits.refuse("the precision of the sine in bits", bits).into());
        }
        let sine = Sine::new(&self)?;
        let sensitivities = Samples::sensitivities(&self, &sine)?;
        let n = self.n as f64;
        // Of a rescaling under a uniform ternary secret, in the slots of the sine.
        let rounding = ((2 * self.sine_slots()) as f64 / 12.0 * (1.0 + 2.0 * n / 3.0)).sqrt();
        // To slots: of both parts, as many sums as there are slots, in units of the message.
        let gain = (2.0 * self.slots as f64).sqrt() * f64::from(self.gap_bits).exp2() / sine.factor();
        let share = (-bits).exp2() / (sensitivities.len() as f64).sqrt();
        let scale = |s: &f64| (s * rounding * gain / share).log2().ceil() as u32;
        let mut scales: Vec<u32> = sensitivities.iter().map(scale).collect();
        // The maps after the sine lower the scale, and what a level drops is at least one prime.
        if let Some(last) = scales.last_mut() {
            *last = self.scale_bits.max(*last);
        }
        for level in (0..scales.len() - 1).rev() {
            scales[level] = scales[level].max((scales[level + 1] + LEAST_BITS).div_ceil(2));
        }
        self.sine_scale_bits = scales;
        Ok(self)
    }
}
