//! Named sets.

use windlass_rlwe::Assurance;
use windlass_schemes::error::Result;
use windlass_schemes::names::unknown;

use super::plan::PreciseRefreshPlan;
use super::spec::PreciseRefreshSpec;

/// A set with its name: ring dimension, passes and bits of each, bits by which the scale is smaller than
/// these passes allow, rescalings.
struct Preset {
    name: &'static str,
    n: usize,
    passes: (usize, u32),
    less_scale: u32,
    depth: usize,
    is_secure: bool,
}

/// All sets, the toy first.
const PRESETS: &[Preset] = &[
    Preset {
        name: "insecure_toy_precise_1024",
        n: 1 << 10,
        passes: (3, 26),
        less_scale: 0,
        depth: 2,
        is_secure: false,
    },
    full("precise_n65536", (3, 26), 0, 3),
    full("precise_n65536_60bits", (3, 25), 12, 5),
];

const fn full(name: &'static str, passes: (usize, u32), less_scale: u32, depth: usize) -> Preset {
    Preset { name, n: 1 << 16, passes, less_scale, depth, is_secure: true }
}

/// The names that [`PreciseRefreshPlan::preset`] knows.
pub fn precise_refresh_preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.name)
}

impl PreciseRefreshPlan {
    /// The plan of a named set; [`precise_refresh_preset_names`] lists the names.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::UnknownName`] for another name.
    pub fn preset(name: &str) -> Result<Self> {
        let Some(preset) = PRESETS.iter().find(|preset| preset.name == name) else {
            return Err(unknown(precise_refresh_preset_names(), name, "refresh of several passes"));
        };
        let assurance = match preset.is_secure {
            true => Assurance::Secure,
            false => Assurance::Insecure { name: name.into() },
        };
        let spec = PreciseRefreshSpec::new(preset.n, preset.passes, preset.depth, assurance)?;
        Self::of_shape(&PreciseRefreshSpec { scale_bits: spec.scale_bits - preset.less_scale, ..spec })
    }
}
