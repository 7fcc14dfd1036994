//! The names of sets.

use windlass::bootstrap::approximate::precise::precise_refresh_preset_names;
use windlass::bootstrap::approximate::refresh_preset_names;
use windlass::bootstrap::bootstrap_preset_names;
use windlass::bootstrap::exact_through_ckks::exact_refresh_preset_names;

/// The names of all sets that refresh.
pub fn all_names() -> impl Iterator<Item = &'static str> {
    let of_integers = bootstrap_preset_names().chain(exact_refresh_preset_names());
    of_integers.chain(refresh_preset_names()).chain(precise_refresh_preset_names())
}
