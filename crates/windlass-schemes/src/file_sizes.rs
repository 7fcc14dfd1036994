//! Sizes of files whose residues are written without gaps, and sizes in words.

/// Bytes of a file in addition to its payload: a header of 68 and a checksum of 32.
pub const OVERHEAD: usize = 100;

/// Bits that a residue modulo `modulus` takes.
pub fn residue_bits(modulus: u64) -> u32 {
    64 - modulus.saturating_sub(1).leading_zeros()
}

/// Bytes that `count` packed residues modulo `modulus` take; each row ends on a byte.
pub fn packed_len(count: usize, modulus: u64) -> usize {
    (count * residue_bits(modulus) as usize).div_ceil(8)
}

/// A size with the word for its unit.
pub fn in_words(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "gigabytes"), (1_000_000, "megabytes"), (1000, "kilobytes")];
    match UNITS.iter().find(|(size, _)| bytes >= *size) {
        Some((size, unit)) => format!("{:.1} {unit}", bytes as f64 / *size as f64),
        None => format!("{bytes} bytes"),
    }
}
