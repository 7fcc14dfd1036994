//! The linear maps that Halevi–Shoup 2018, Table 5, calls old.

use windlass::bootstrap::{BootstrapSpec, MapChoice};
use windlass::circuits::{HoistMode, Strategy};
use windlass::rlwe::KeyStrategy;

/// No baby and giant steps, no hoisting, one or two whole key switches for each automorphism.
pub const OLD_MAPS: MapChoice = MapChoice { strategy: Strategy::ONE_BY_ONE, hoisting: HoistMode::Off };

/// Their keys.
pub const OLD_KEYS: KeyStrategy = KeyStrategy::Default;

/// The same bootstrapping by old maps, with default keys unless the specification says otherwise.
pub fn with_old_maps(spec: BootstrapSpec) -> BootstrapSpec {
    BootstrapSpec { maps: OLD_MAPS, keys: spec.keys.or(Some(OLD_KEYS)), ..spec }
}
