//! Named parameter sets.

use windlass_rlwe::{Assurance, RlweSpec, SecretDistribution};

use super::ephemeral::Ephemeral;
use super::set::Params;
use crate::error::Result;
use crate::names::unknown;
use crate::schemes::Scheme;

/// A row of the table of presets.
struct Preset {
    name: &'static str,
    m: u64,
    p: u64,
    r: u32,
    generators: &'static [u64],
    /// (bits, count) of the primes of Q in the order of the chain, and of P.
    q: Chain,
    /// Bits of the spare primes of Q.
    spare: &'static [u32],
    special: (u32, usize),
    digits: usize,
    /// 0: uniform ternary.
    weight: u32,
    /// That of a set that is made for bootstrapping.
    ephemeral: Option<Ephemeral>,
}

const fn toy(name: &'static str, m: u64, p: u64, r: u32) -> Preset {
    Preset {
        name,
        m,
        p,
        r,
        generators: &[],
        q: &[(50, 8)],
        spare: &[],
        special: (50, 3),
        digits: 3,
        weight: 0,
        ephemeral: None,
    }
}

/// Primes of Q.
type Chain = &'static [(u32, usize)];

/// Primes of Q in the chain, and spare ones.
type Chains = (Chain, &'static [u32]);

/// A bootstrapping set of the papers: QP of about the bits that HElib 2.3 gives it, in more digits
/// and so with more of them for Q, and its weight of 120. A spare prime or two, which levels leave
/// out, let them end close to what a product costs. A digit some bits
/// below P makes the error of a key switch no larger than that of rounding.
const fn paper(name: &'static str, m: u64, p: u64, r: u32, q: Chains, special: usize, digits: usize) -> Preset {
    let (q, spare) = q;
    Preset { name, m, p, r, generators: &[], q, spare, special: (50, special), digits, weight: 120, ephemeral: None }
}

/// A set of Halevi–Shoup 2018, Tables 1 to 4: about 400 bits of Q, a dense key as HElib measures
/// it, and the hypercube of the table.
const fn linear(name: &'static str, m: u64, generators: &'static [u64]) -> Preset {
    Preset { generators, ..toy(name, m, 2, 1) }
}

/// A set of Chen–Han 2018, Tables 4 and 5, with no less λ than the paper's set by the same tables:
/// log2 QP of 564 and up to 800 where they have log2 Q = 558 and 806, and weight 192 where they have
/// 128. (SEAL switched keys without special primes.) P is one digit, digits have one prime, and levels lie what a product costs apart, or half
/// of it: so a fresh ciphertext and a refreshed one allow as many products as they can.
/// The ephemeral key has no less λ than the main one.
const fn chen_han(
    name: &'static str,
    (n, p, r): (u64, u64, u32),
    (q, spare): Chains,
    (special, digits): ((u32, usize), usize),
    ephemeral_weight: u32,
) -> Preset {
    let ephemeral = Some(Ephemeral::in_digits(ephemeral_weight));
    Preset { name, m: 2 * n, p, r, generators: &[], q, spare, special, digits, weight: 192, ephemeral }
}

/// A set of Ma et al. 2024, Table 2: m = 2^16, weight 120, log2 QP = 1333, 1326 and 1333 for sets I, II
/// and III where the paper has 1332 for all three. Primes as in [`chen_han`]; an ephemeral key that
/// had 130 bits, as published, before rotations of the ring counted.
const fn ma(name: &'static str, p: u64, q: Chains, ephemeral_weight: u32) -> Preset {
    let (q, spare) = q;
    Preset {
        name,
        m: 1 << 16,
        p,
        r: 1,
        generators: &[],
        q,
        spare,
        special: (50, 6),
        digits: 4,
        weight: 120,
        ephemeral: Some(Ephemeral::in_digits(ephemeral_weight)),
    }
}

/// A set of 128 bits with ternary secrets.
const fn secure(name: &'static str, m: u64, q: Chain, special: (u32, usize), digits: usize) -> Preset {
    Preset { name, m, p: 65537, r: 1, generators: &[], q, spare: &[], special, digits, weight: 0, ephemeral: None }
}

/// For n = 2^15 and plaintext moduli p² of 14 to 16 bits: a product costs about 40 bits of capacity,
/// and digits are removed among smaller primes, which let levels end close to what each one costs.
#[doc(hidden)]
pub const SMALL_T: Chain = &[(50, 6), (35, 4), (40, 4), (50, 1)];

/// For n near 2^14.5 and plaintext modulus 2: the ephemeral key meets the first prime, in digits, so
/// that seven of I's are to be removed; spare primes let levels end close to what a product costs,
/// 20 to 25 bits. Two primes are a digit of the keys.
const COMPOSITE_41: Chain = &[(48, 1), (41, 10)];
const COMPOSITE_43: Chain = &[(48, 1), (43, 9)];
const COMPOSITE_46: Chain = &[(48, 1), (46, 9)];

/// For n near 2^15.5 and plaintext modulus 2^8, where a product costs about 40 bits.
const COMPOSITE_38: Chain = &[(50, 1), (38, 26)];

/// A set made for bootstrapping: a uniform ternary main secret, and an ephemeral one. Without
/// `insecure` in its name both have at least 128 bits by the tables.
const fn refreshing(
    name: &'static str,
    (m, p, r): (u64, u64, u32),
    (q, spare): Chains,
    special: (u32, usize),
    digits: usize,
    ephemeral: Ephemeral,
) -> Preset {
    Preset { name, m, p, r, generators: &[], q, spare, special, digits, weight: 0, ephemeral: Some(ephemeral) }
}

const PRESETS: [Preset; 43] = [
    secure("demo", 1 << 14, &[(43, 3)], (50, 1), 3),
    secure("bgv_n32768", 1 << 16, &[(50, 11)], (50, 6), 2),
    toy("insecure_toy_105", 105, 2, 1),
    toy("insecure_toy_1023", 1023, 2, 1),
    toy("insecure_toy_4369", 4369, 2, 1),
    toy("insecure_toy_4095", 4095, 2, 1),
    toy("insecure_toy_256", 256, 257, 1),
    toy("insecure_toy_2048", 2048, 65537, 1),
    refreshing("insecure_boot_105", (105, 2, 1), (&[(50, 14)], &[]), (50, 5), 3, Ephemeral::by_special_primes(6)),
    refreshing("insecure_boot_1023", (1023, 2, 1), (&[(50, 16)], &[]), (50, 6), 3, Ephemeral::by_special_primes(8)),
    refreshing("insecure_boot_4369", (4369, 2, 1), (&[(50, 16)], &[]), (50, 6), 3, Ephemeral::by_special_primes(12)),
    refreshing(
        "insecure_boot_256_p257",
        (256, 257, 1),
        (&[(50, 14)], &[]),
        (50, 5),
        3,
        Ephemeral::by_special_primes(8),
    ),
    refreshing("boot_n32768_p257", (1 << 16, 257, 1), (SMALL_T, &[]), (50, 3), 5, Ephemeral::in_digits(26)),
    refreshing(
        "boot_n32768_p127",
        (1 << 16, 127, 1),
        (&[(50, 1), (48, 11)], &[34, 35]),
        (50, 3),
        5,
        Ephemeral::in_digits(26),
    ),
    refreshing("boot_n65536_p65537", (1 << 17, 65537, 1), (&[(50, 18)], &[]), (50, 6), 3, Ephemeral::in_digits(26)),
    refreshing("boot_m28679_p2", (28679, 2, 1), (COMPOSITE_43, &[31, 36]), (46, 2), 7, Ephemeral::in_digits(28)),
    refreshing("boot_m31775_p2", (31775, 2, 1), (COMPOSITE_46, &[30, 36]), (49, 2), 7, Ephemeral::in_digits(26)),
    refreshing("boot_m37449_p2", (37449, 2, 1), (COMPOSITE_41, &[31, 33]), (45, 2), 7, Ephemeral::in_digits(26)),
    refreshing("boot_m69905_p2r8", (69905, 2, 8), (COMPOSITE_38, &[]), (41, 5), 6, Ephemeral::by_special_primes(48)),
    refreshing(
        "boot_m87381_p2r8",
        (87381, 2, 8),
        (&[(50, 1), (46, 19)], &[30, 37]),
        (48, 3),
        8,
        Ephemeral::by_special_primes(48),
    ),
    paper("paper_hs15_21845", 21845, 2, 1, (&[(48, 9)], &[32, 36]), 3, 4),
    paper("paper_hs15_18631", 18631, 2, 1, (&[(48, 12)], &[30]), 2, 7),
    paper("paper_hs15_28679", 28679, 2, 1, (&[(48, 14)], &[28]), 4, 4),
    paper("paper_hs15_35113", 35113, 2, 1, (&[(50, 16)], &[32]), 5, 4),
    paper("paper_hs15_45551", 45551, 17, 1, (&[(50, 20)], &[28]), 6, 4),
    paper("paper_hs15_51319", 51319, 127, 1, (&[(50, 23)], &[30, 39]), 7, 4),
    paper("paper_hs15_42799", 42799, 2, 8, (&[(50, 22)], &[30, 37]), 7, 4),
    paper("paper_hs15_49981", 49981, 2, 8, (&[(50, 28)], &[32, 37]), 8, 4),
    paper("paper_hs18_49981", 49981, 2, 1, (&[(50, 30)], &[32]), 7, 5),
    linear("paper_hs18_15709", 15709, &[]),
    linear("paper_hs18_18631_good", 18631, &[17, 1177]),
    linear("paper_hs18_18631_bad", 18631, &[7, 626]),
    linear("paper_hs18_24295_good", 24295, &[16386, 16427]),
    linear("paper_hs18_24295_bad", 24295, &[53, 42]),
    chen_han("paper_ch18_n16384_p127", (16384, 127, 1), (&[(49, 10)], &[25]), ((49, 1), 11), 24),
    chen_han("paper_ch18_n16384_p257", (16384, 257, 1), (&[(49, 10)], &[25]), ((49, 1), 11), 24),
    chen_han("paper_ch18_n32768_p127_r2", (32768, 127, 2), (&[(43, 16)], &[25, 31]), ((28, 2), 17), 24),
    chen_han("paper_ch18_n32768_p127_r3", (32768, 127, 3), (&[(40, 19)], &[]), ((40, 1), 19), 26),
    chen_han("paper_ch18_n32768_p257", (32768, 257, 1), (&[(50, 14)], &[25, 25]), ((50, 1), 15), 24),
    chen_han("paper_ch18_n32768_p257_r2", (32768, 257, 2), (&[(34, 22)], &[]), ((34, 1), 22), 26),
    ma("paper_ma24_set1_p65537", 65537, (&[(50, 1), (46, 12), (49, 5), (47, 3), (45, 1)], &[]), 24),
    ma("paper_ma24_set2_p8191", 8191, (&[(46, 12), (44, 6), (42, 5)], &[]), 24),
    // The ephemeral key meets the first two primes: one of 50 bits has no room for p² = 2^34.
    ma("paper_ma24_set3_p131071", 131_071, (&[(30, 2), (46, 12), (48, 5), (46, 3), (43, 1)], &[]), 24),
];

/// The names of all presets.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.name)
}

/// The ephemeral secret that a set was made for, if it was made for bootstrapping.
pub fn preset_ephemeral(name: &str) -> Option<Ephemeral> {
    PRESETS.iter().find(|preset| preset.name == name)?.ephemeral
}

impl Params {
    /// A preset by name, for one scheme. Names with `insecure` are for tests; names with `paper`
    /// repeat published sets, most of them near 80 bits of security. All others have at least 128.
    ///
    /// # Errors
    /// [`crate::Error::UnknownName`], which lists the names.
    pub fn preset(name: &str, scheme: Scheme) -> Result<Self> {
        let Some(preset) = PRESETS.iter().find(|preset| preset.name == name) else {
            return Err(unknown(preset_names(), name, "parameter preset"));
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
            q_prime_bits: preset.q.iter().flat_map(|&(bits, count)| vec![bits; count]).collect(),
            spare_prime_bits: preset.spare.to_vec(),
            special_prime_bits: vec![preset.special.0; preset.special.1],
            digits: preset.digits,
            secret,
            assurance,
        };
        let generators = (!preset.generators.is_empty()).then(|| preset.generators.to_vec());
        let params = Self::new(name, scheme, (preset.p, preset.r), generators, spec)?;
        Ok(Self { ephemeral: preset.ephemeral, ..params })
    }
}
