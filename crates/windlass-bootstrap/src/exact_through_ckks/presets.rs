//! Named sets.

use windlass_rlwe::Assurance;
use windlass_schemes::error::Result;
use windlass_schemes::names::unknown;

use super::plan::ExactRefreshPlan;
use super::spec::ExactRefreshSpec;

/// A set with its name: ring dimension, plaintext modulus, passes and bits of each.
struct Preset {
    name: &'static str,
    n: usize,
    modulus: (u64, u32),
    passes: (usize, u32),
    is_secure: bool,
}

/// A prime of 40 bits that is 1 modulo 2^17, so that every power-of-two ring up to n = 2^16 has n slots. It divides no
/// modulus of the sets.
const PRIME_OF_40_BITS: u64 = 1_030_789_267_457;

/// All sets, the toys first.
const PRESETS: &[Preset] = &[
    toy("insecure_toy_exact_1024_p257", (257, 1)),
    toy("insecure_toy_exact_1024_p65537", (65537, 1)),
    toy("insecure_toy_exact_1024_p2r16", (2, 16)),
    toy("insecure_toy_exact_1024_p40bits", (PRIME_OF_40_BITS, 1)),
    full("exact_n65536_p65537", (65537, 1), (3, 26)),
    full("exact_n65536_p2r16", (2, 16), (3, 26)),
    full("exact_n65536_p2r20", (2, 20), (3, 26)),
];

const fn toy(name: &'static str, modulus: (u64, u32)) -> Preset {
    Preset { name, n: 1024, modulus, passes: (3, 26), is_secure: false }
}

const fn full(name: &'static str, modulus: (u64, u32), passes: (usize, u32)) -> Preset {
    Preset { name, n: 1 << 16, modulus, passes, is_secure: true }
}

/// The names that [`ExactRefreshPlan::preset`] knows.
pub fn exact_refresh_preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.name)
}

impl ExactRefreshPlan {
    /// The plan of a named set; [`exact_refresh_preset_names`] lists the names.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::UnknownName`] for another name.
    pub fn preset(name: &str) -> Result<Self> {
        let Some(preset) = PRESETS.iter().find(|preset| preset.name == name) else {
            return Err(unknown(exact_refresh_preset_names(), name, "refresh through CKKS"));
        };
        let assurance = match preset.is_secure {
            true => Assurance::Secure,
            false => Assurance::Insecure { name: name.into() },
        };
        Self::of_shape(&ExactRefreshSpec::new(preset.n, preset.modulus, preset.passes, assurance)?)
    }
}
