//! Named parameter sets.

use windlass_rlwe::{Assurance, RlweSpec, SecretDistribution};

use super::Params;
use crate::error::{Error, Result};
use crate::schemes::Scheme;

/// A row of the table of presets.
struct Preset {
    name: &'static str,
    m: u64,
    p: u64,
    r: u32,
    generators: &'static [u64],
    /// (bits, count) of the primes of Q and of P.
    q: (u32, usize),
    special: (u32, usize),
    digits: usize,
    /// 0: uniform ternary.
    weight: u32,
}

const fn toy(name: &'static str, m: u64, p: u64, r: u32) -> Preset {
    Preset { name, m, p, r, generators: &[], q: (50, 8), special: (50, 3), digits: 3, weight: 0 }
}

/// The chains of the papers' sets follow the bits of Q and P that HElib 2.3 gives them; weights are HElib's.
const fn paper(
    name: &'static str,
    m: u64,
    p: u64,
    r: u32,
    generators: &'static [u64],
    q: usize,
    special: usize,
) -> Preset {
    Preset { name, m, p, r, generators, q: (50, q), special: (50, special), digits: 3, weight: 120 }
}

const PRESETS: [Preset; 28] = [
    Preset {
        name: "demo",
        m: 1 << 14,
        p: 65537,
        r: 1,
        generators: &[],
        q: (43, 3),
        special: (50, 1),
        digits: 3,
        weight: 0,
    },
    Preset {
        name: "bgv_n32768",
        m: 1 << 16,
        p: 65537,
        r: 1,
        generators: &[],
        q: (50, 11),
        special: (50, 6),
        digits: 2,
        weight: 0,
    },
    toy("insecure_toy_105", 105, 2, 1),
    toy("insecure_toy_1023", 1023, 2, 1),
    toy("insecure_toy_4369", 4369, 2, 1),
    toy("insecure_toy_4095", 4095, 2, 1),
    toy("insecure_toy_256", 256, 257, 1),
    toy("insecure_toy_2048", 2048, 65537, 1),
    paper("paper_hs15_21845", 21845, 2, 1, &[], 9, 4),
    paper("paper_hs15_18631", 18631, 2, 1, &[], 10, 4),
    paper("paper_hs15_28679", 28679, 2, 1, &[], 13, 5),
    paper("paper_hs15_35113", 35113, 2, 1, &[], 16, 6),
    paper("paper_hs15_45551", 45551, 17, 1, &[], 20, 7),
    paper("paper_hs15_51319", 51319, 127, 1, &[], 24, 8),
    paper("paper_hs15_42799", 42799, 2, 8, &[], 24, 8),
    paper("paper_hs15_49981", 49981, 2, 8, &[], 28, 10),
    paper("paper_hs18_15709", 15709, 2, 1, &[], 8, 3),
    paper("paper_hs18_18631_good", 18631, 2, 1, &[17, 1177], 8, 3),
    paper("paper_hs18_18631_bad", 18631, 2, 1, &[7, 626], 8, 3),
    paper("paper_hs18_24295_good", 24295, 2, 1, &[16386, 16427], 8, 3),
    paper("paper_hs18_24295_bad", 24295, 2, 1, &[53, 42], 8, 3),
    paper("paper_hs18_49981", 49981, 2, 1, &[], 28, 10),
    paper("paper_ch18_n16384_p127", 1 << 15, 127, 1, &[], 12, 4),
    paper("paper_ch18_n16384_p257", 1 << 15, 257, 1, &[], 12, 4),
    paper("paper_ch18_n32768_p127", 1 << 16, 127, 2, &[], 20, 7),
    paper("paper_ch18_n32768_p257", 1 << 16, 257, 2, &[], 20, 7),
    paper("paper_ma24_set2_p8191", 1 << 16, 8191, 1, &[], 27, 9),
    paper("paper_ma24_set3_p65537", 1 << 16, 65537, 1, &[], 27, 9),
];

/// The names of all presets.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.name)
}

impl Params {
    /// A preset by name, for one scheme. Names with `insecure` are for tests; names with `paper` repeat published sets, most of them near 80
    /// bits of security. All others have at least 128.
    ///
    /// # Errors
    /// [`Error::UnknownPreset`], which lists the names.
    pub fn preset(name: &str, scheme: Scheme) -> Result<Self> {
        let Some(preset) = PRESETS.iter().find(|preset| preset.name == name) else {
            let known = preset_names().collect::<Vec<_>>().join(", ");
            return Err(Error::UnknownPreset { name: name.into(), known });
        };
        let assurance = match name.split('_').next() {
            Some("insecure") => Assurance::Insecure { name: name.into() },
            Some("paper") => Assurance::Paper { name: name.into() },
            _ => Assurance::Secure,
        };
        let secret = match preset.weight {
            0 => SecretDistribution::Ternary,
            weight => SecretDistribution::Sparse { weight },
        };
        let spec = RlweSpec {
            m: preset.m,
            q_prime_bits: vec![preset.q.0; preset.q.1],
            special_prime_bits: vec![preset.special.0; preset.special.1],
            digits: preset.digits,
            secret,
            assurance,
        };
        let generators = (!preset.generators.is_empty()).then(|| preset.generators.to_vec());
        Self::new(name, scheme, (preset.p, preset.r), generators, spec)
    }
}
