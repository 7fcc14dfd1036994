//! Named sets.

use windlass_rlwe::Assurance;
use windlass_schemes::error::{Error, Result};

use super::planner::groups;
use super::spec::{MapOrder, RefreshSpec};

/// A set with its name.
struct Preset {
    name: &'static str,
    make: fn() -> Result<RefreshSpec>,
}

/// All sets, the toy first.
const PRESETS: &[Preset] = &[
    Preset { name: "insecure_toy_refresh_1024", make: toy },
    Preset { name: "refresh_n65536", make: || full(27.0) },
    Preset { name: "refresh_n65536_small_keys", make: || Ok(RefreshSpec { max_keys: Some(4), ..full(27.0)? }) },
    Preset { name: "refresh_n32768", make: half },
    Preset { name: "refresh_n65536_slots4096", make: many },
    Preset { name: "refresh_n65536_slots256", make: few },
    Preset { name: "refresh_n65536_slots32", make: || deep(32) },
    Preset { name: "refresh_n32768_slots256", make: small },
    Preset { name: "insecure_toy_refresh_1024_slots16", make: deep_toy },
];

/// The names that [`RefreshSpec::preset`] knows.
pub fn refresh_preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.name)
}

impl RefreshSpec {
    /// A named set; [`refresh_preset_names`] lists the names.
    ///
    /// # Errors
    /// [`Error::NoParameters`] for another name.
    pub fn preset(name: &str) -> Result<Self> {
        let preset = PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
            let known: Vec<&str> = refresh_preset_names().collect();
            Error::NoParameters { reason: format!("no refresh is called {name}; known: {}", known.join(", ")) }
        })?;
        (preset.make)()
    }
}

/// n/2 = 512 slots without security.
fn toy() -> Result<RefreshSpec> {
    let spec = RefreshSpec {
        n: 1024,
        slots: 512,
        scale_bits: 40,
        depth: 3,
        order: MapOrder::BackLast,
        gap_bits: 8,
        sine_scale_bits: Vec::new(),
        to_slots: vec![3, 3, 3],
        to_coefficients: vec![3, 3, 3],
        constant_bits: [50, 40],
        doublings: 3,
        degree: 15,
        arcsine: true,
        max_keys: None,
        ephemeral_weight: 32,
        parties: 1,
        ephemeral_special: 2,
        special_prime_bits: vec![50; 5],
        digits: 5,
        assurance: Assurance::Insecure { name: "insecure_toy_refresh_1024".into() },
    };
    spec.with_sine_precision(28.0)
}

/// n = 2^16, all slots, the maps back first.
fn full(precision: f64) -> Result<RefreshSpec> {
    let spec = RefreshSpec { order: MapOrder::BackFirst, depth: 10, constant_bits: [50, 42], ..large()? };
    Ok(spec.with_sine_precision(precision)?.with_few_primes())
}

/// What the sets with n = 2^16 share.
fn large() -> Result<RefreshSpec> {
    Ok(RefreshSpec {
        n: 1 << 16,
        slots: 1 << 15,
        scale_bits: 42,
        depth: 9,
        to_slots: vec![5, 5, 5],
        to_coefficients: vec![5, 5, 5],
        constant_bits: [56, 40],
        special_prime_bits: vec![50; 7],
        digits: 4,
        // Of each map: 27 keys instead of 49 in all, at prices of the maps that are a sixth higher.
        max_keys: Some(10),
        ephemeral_weight: 28,
        assurance: Assurance::Secure,
        ..toy()?
    })
}

/// n = 2^15, all slots, the maps back first: three levels and about 17 bits. There is no room for a third
/// map.
fn half() -> Result<RefreshSpec> {
    let spec = RefreshSpec {
        n: 1 << 15,
        slots: 1 << 14,
        scale_bits: 32,
        depth: 3,
        order: MapOrder::BackFirst,
        gap_bits: 7,
        to_slots: vec![7, 7],
        to_coefficients: vec![7, 7],
        constant_bits: [41, 32],
        max_keys: Some(20),
        ephemeral_weight: 30,
        ephemeral_special: 1,
        special_prime_bits: vec![50; 3],
        digits: 6,
        ..large()?
    };
    spec.with_sine_precision(17.0)
}

/// n = 2^16 with 256 slots.
fn few() -> Result<RefreshSpec> {
    let spec = RefreshSpec { special_prime_bits: vec![50; 9], digits: 3, ..sparse(256, 2)? };
    Ok(spec.with_sine_precision(27.0)?.with_few_primes())
}

/// n = 2^16 with 4096 slots: with two maps each of them would have 127 diagonals.
fn many() -> Result<RefreshSpec> {
    let spec = RefreshSpec { special_prime_bits: vec![50; 8], ..sparse(4096, 3)? };
    spec.with_sine_precision(27.0)
}

/// n = 2^15 with 256 slots: three levels and about 16 bits. With eleven digits two special primes are
/// enough.
fn small() -> Result<RefreshSpec> {
    let spec = RefreshSpec {
        n: 1 << 15,
        scale_bits: 33,
        depth: 3,
        gap_bits: 7,
        constant_bits: [48, 31],
        ephemeral_weight: 30,
        ephemeral_special: 1,
        special_prime_bits: vec![50; 2],
        digits: 11,
        ..sparse(256, 2)?
    };
    Ok(spec.with_sine_precision(17.5)?.with_few_primes())
}

/// n = 2^16 with few slots and as many levels as there is room for: for training.
fn deep(slots: usize) -> Result<RefreshSpec> {
    let spec = RefreshSpec { depth: 14, scale_bits: 40, ..sparse(slots, 2)? };
    spec.with_sine_precision(26.0)
}

/// What the sets with fewer slots share.
fn sparse(slots: usize, maps: usize) -> Result<RefreshSpec> {
    let groups = groups(slots, maps);
    Ok(RefreshSpec { slots, to_slots: groups.clone(), to_coefficients: groups, ..large()? })
}

/// The same levels without security.
fn deep_toy() -> Result<RefreshSpec> {
    let spec = RefreshSpec {
        slots: 16,
        depth: 14,
        to_slots: vec![2, 2],
        to_coefficients: vec![2, 2],
        special_prime_bits: vec![50; 6],
        assurance: Assurance::Insecure { name: "insecure_toy_refresh_1024_slots16".into() },
        ..toy()?
    };
    spec.with_sine_precision(28.0)
}
