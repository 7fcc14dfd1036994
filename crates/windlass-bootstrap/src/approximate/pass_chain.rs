//! The chain of a refresh that is one of several passes.

use windlass_rlwe::{Assurance, Limits, RlweParams};
use windlass_schemes::error::Result;

use super::integers;
use super::precision::{doublings, ephemeral_special};
use super::spec::{MapOrder, RefreshSpec};

/// log2 of the scale of constants before the sine.
const FIRST_CONSTANTS: u32 = 54;

/// log2 of the scale of constants after the sine, if `larger_constants` is 0.
const LAST_CONSTANTS: f64 = 48.0;

/// What determines the chain of a pass. Its slots are all n/2, its maps back come last, it has no levels of its
/// own, and its sine is exact for every integer.
pub(crate) struct PassChain {
    pub n: usize,
    pub scale_bits: u32,
    pub gap_bits: u32,
    /// Bits by which the error of a coefficient is to be below the scale of the base, as a bound.
    pub gained: f64,
    /// log2 of what each constant of the maps back is larger by.
    pub larger_constants: f64,
    pub assurance: Assurance,
    /// How many parties hold the key together.
    pub parties: u32,
}

/// The largest weight of the ephemeral secret of a pass.
const MOST_WEIGHT: u32 = 32;

impl PassChain {
    /// Special primes and digits are placeholders.
    ///
    /// # Errors
    /// Those of [`RefreshSpec::with_sine_precision`].
    pub fn refresh(self) -> Result<RefreshSpec> {
        let Self { n, scale_bits, gap_bits, gained, larger_constants, assurance, parties } = self;
        Limits::between(1, RlweParams::MAX_PARTIES).check("the number of parties", parties)?;
        let (log2_n, stages) = (n.ilog2(), n.ilog2() as usize - 1);
        let maps = 3.min(stages);
        let shares: Vec<usize> = (0..maps).map(|k| stages * (k + 1) / maps - stages * k / maps).collect();
        let last = (LAST_CONSTANTS - larger_constants).round().clamp(40.0, 50.0) as u32;
        let spec = RefreshSpec {
            n,
            slots: n / 2,
            scale_bits,
            depth: 0,
            order: MapOrder::BackLast,
            gap_bits,
            sine_scale_bits: Vec::new(),
            to_slots: shares.clone(),
            to_coefficients: shares,
            // The maps take integers that are larger by the root of the number of parties.
            constant_bits: [FIRST_CONSTANTS + (f64::from(parties).log2() / 2.0).ceil() as u32, last],
            doublings: doublings(4, i64::from(MOST_WEIGHT / 2), integers::most(n, MOST_WEIGHT, parties)),
            degree: 15,
            arcsine: true,
            max_keys: Some(10),
            ephemeral_weight: 28.min(n as u32 / 4),
            parties,
            // Replaced by as many as the key takes.
            ephemeral_special: 1,
            // Replaced by as many as the digits need.
            special_prime_bits: vec![50; 8],
            digits: 1,
            assurance,
        };
        let spec = RefreshSpec { ephemeral_special: ephemeral_special(&spec), ..spec };
        // A coefficient has 1/√n of the deviation of a slot. A bound counts 72 of them, with room of 1.5 each: 108, 6.8
        // bits, and the rest of the 8.5 is room.
        let precision = gained + 8.5 - f64::from(log2_n) / 2.0;
        Ok(spec.with_sine_precision(precision)?.with_few_primes())
    }
}
