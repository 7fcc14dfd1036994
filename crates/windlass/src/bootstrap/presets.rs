//! Named bootstrapping parameters.

use windlass_rlwe::{Assurance, RlweParams, RlweSpec, SecretDistribution};

use super::spec::{BootstrapSpec, Mode, Numbers};
use crate::error::{Error, Result};
use crate::params::{Params, preset_names};
use crate::schemes::Scheme;

/// Parameters with the way to bootstrap under them.
#[derive(Debug, Clone)]
pub struct BootstrapPreset {
    /// The name.
    pub name: String,
    /// The ring and its moduli.
    pub params: RlweParams,
    /// p.
    pub prime: u64,
    /// r.
    pub exponent: u32,
    /// How to bootstrap.
    pub spec: BootstrapSpec,
}

/// A set of our own: (bits, count) of the primes of Q in the order of the chain, and of P.
struct Own {
    name: &'static str,
    m: u64,
    p: u64,
    r: u32,
    q: &'static [(u32, usize)],
    special: (u32, usize),
    digits: usize,
    weight: u32,
}

/// For n = 2^15 and plaintext moduli p² of 14 to 16 bits: a product costs about 40 bits of capacity.
const SMALL_T: &[(u32, usize)] = &[(50, 5), (40, 10)];

/// For n near 2^14.5 and plaintext modulus 2: the ephemeral key meets the first prime, a product costs about 30 bits.
const COMPOSITE: &[(u32, usize)] = &[(48, 1), (30, 15)];

/// The same for n near 2^15.5 and plaintext modulus 2^8, where it costs about 40 bits.
const COMPOSITE_38: &[(u32, usize)] = &[(50, 1), (38, 26)];
const COMPOSITE_42: &[(u32, usize)] = &[(50, 1), (42, 23)];

/// Uniform ternary main secrets; those without `insecure` in their name have at least 128 bits by the tables.
const OWN: [Own; 12] = [
    Own { name: "insecure_boot_105", m: 105, p: 2, r: 1, q: &[(50, 14)], special: (50, 5), digits: 3, weight: 6 },
    Own { name: "insecure_boot_1023", m: 1023, p: 2, r: 1, q: &[(50, 16)], special: (50, 6), digits: 3, weight: 8 },
    Own { name: "insecure_boot_4369", m: 4369, p: 2, r: 1, q: &[(50, 16)], special: (50, 6), digits: 3, weight: 12 },
    Own {
        name: "insecure_boot_256_p257",
        m: 256,
        p: 257,
        r: 1,
        q: &[(50, 14)],
        special: (50, 5),
        digits: 3,
        weight: 8,
    },
    Own { name: "boot_n32768_p257", m: 1 << 16, p: 257, r: 1, q: SMALL_T, special: (50, 3), digits: 5, weight: 30 },
    Own { name: "boot_n32768_p127", m: 1 << 16, p: 127, r: 1, q: SMALL_T, special: (50, 3), digits: 5, weight: 30 },
    Own {
        name: "boot_n65536_p65537",
        m: 1 << 17,
        p: 65537,
        r: 1,
        q: &[(50, 18)],
        special: (50, 6),
        digits: 3,
        weight: 30,
    },
    Own { name: "boot_m28679_p2", m: 28679, p: 2, r: 1, q: COMPOSITE, special: (37, 3), digits: 6, weight: 56 },
    Own { name: "boot_m31775_p2", m: 31775, p: 2, r: 1, q: COMPOSITE, special: (37, 3), digits: 6, weight: 56 },
    Own { name: "boot_m37449_p2", m: 37449, p: 2, r: 1, q: COMPOSITE, special: (37, 3), digits: 6, weight: 56 },
    Own { name: "boot_m69905_p2r8", m: 69905, p: 2, r: 8, q: COMPOSITE_38, special: (41, 5), digits: 6, weight: 48 },
    Own { name: "boot_m87381_p2r8", m: 87381, p: 2, r: 8, q: COMPOSITE_42, special: (48, 3), digits: 8, weight: 48 },
];

/// The weight of the ephemeral secret in a paper's set: 26, 24, 26 for Ma et al. as published; for Halevi–Shoup the largest up to their 56 that takes
/// no more digits than 24 does, as their bound is heuristic and ours holds at 2^−128; for powers of two elsewhere 30, the largest weight whose digits a
/// polynomial of degree 61 and depth 6 removes.
fn ephemeral_weight(name: &str, preset: &Params) -> Result<u32> {
    if name.starts_with("paper_hs") {
        let removed = |weight: u32| {
            let spec = BootstrapSpec { ephemeral_weight: weight, ..BootstrapSpec::default() };
            Numbers::new(preset.rlwe().shape(), (preset.p(), preset.r()), &spec).map(|numbers| numbers.removed)
        };
        let least = removed(24)?;
        return Ok((24..=56).rev().find(|&weight| removed(weight).is_ok_and(|digits| digits == least)).unwrap_or(24));
    }
    Ok(match name {
        "paper_ma24_set2_p8191" => 24,
        _ if name.starts_with("paper_ma24") => 26,
        _ => 30,
    })
}

/// The names of all bootstrapping presets: our own, and the papers' parameter sets.
pub fn bootstrap_preset_names() -> impl Iterator<Item = &'static str> {
    OWN.iter().map(|own| own.name).chain(preset_names().filter(|name| name.starts_with("paper_")))
}

impl BootstrapPreset {
    /// A preset by name; a paper's set is bootstrapped in thin mode unless `mode` says otherwise.
    ///
    /// # Errors
    /// [`Error::UnknownPreset`], which lists the names.
    pub fn named(name: &str, mode: Mode) -> Result<Self> {
        if let Some(own) = OWN.iter().find(|own| own.name == name) {
            let assurance = match name.starts_with("insecure") {
                true => Assurance::Insecure { name: name.into() },
                false => Assurance::Secure,
            };
            let params = RlweParams::new(&RlweSpec {
                m: own.m,
                q_prime_bits: own.q.iter().flat_map(|&(bits, count)| vec![bits; count]).collect(),
                special_prime_bits: vec![own.special.0; own.special.1],
                digits: own.digits,
                secret: SecretDistribution::Ternary,
                assurance,
            })?;
            let spec = BootstrapSpec { mode, ephemeral_weight: own.weight, ..BootstrapSpec::default() };
            return Ok(Self { name: name.into(), params, prime: own.p, exponent: own.r, spec });
        }
        if !bootstrap_preset_names().any(|known| known == name) {
            let known = bootstrap_preset_names().collect::<Vec<_>>().join(", ");
            return Err(Error::UnknownPreset { name: name.into(), known });
        }
        let preset = Params::preset(name, Scheme::Bgv)?;
        let spec =
            BootstrapSpec { mode, ephemeral_weight: ephemeral_weight(name, &preset)?, ..BootstrapSpec::default() };
        Ok(Self { name: name.into(), params: preset.rlwe().clone(), prime: preset.p(), exponent: preset.r(), spec })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use windlass_rlwe::security;

    use super::super::encapsulation::InputModulus;
    use super::super::plan::check_ephemeral_key;
    use super::super::{BootstrapError, BootstrapPlan};

    #[test]
    fn every_preset_has_parameters() {
        for name in bootstrap_preset_names() {
            let preset = BootstrapPreset::named(name, Mode::Thin).unwrap();
            let numbers = Numbers::new(preset.params.shape(), (preset.prime, preset.exponent), &preset.spec);
            let numbers = numbers.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(numbers.removed >= 1 && numbers.exponent == preset.exponent + numbers.removed, "{name}");
            let secure = !name.starts_with("insecure") && !name.starts_with("paper");
            assert!(!secure || preset.params.security().bits >= 128.0, "{name}");
            let input = InputModulus::choose(&preset.params, &numbers, &preset.spec).unwrap();
            let ephemeral = SecretDistribution::Sparse { weight: preset.spec.ephemeral_weight };
            let size = input.log2_modulus(&preset.params);
            let bits = security::indicative_security_bits(preset.params.n(), size, ephemeral).bits;
            assert!(!secure || bits >= 128.0, "{name}: {bits}");
            let accepted = check_ephemeral_key(&preset.params, &input, &preset.spec);
            assert!(accepted.is_ok(), "{name}: {accepted:?}");
            assert_eq!(*preset.params.assurance() == Assurance::Secure, secure, "{name}");
        }
        let weight = |name| BootstrapPreset::named(name, Mode::Thin).unwrap().spec.ephemeral_weight;
        assert_eq!([weight("paper_ma24_set2_p8191"), weight("paper_ma24_set1_p65537")], [24, 26]);
        assert!(matches!(BootstrapPreset::named("paper_none", Mode::Thin), Err(Error::UnknownPreset { .. })));
    }

    /// Weights that a preset refuses: none and more than n under any parameters, too few bits under secure ones.
    #[test]
    fn ephemeral_keys_that_are_too_weak_are_refused() {
        let plan = |name, weight| {
            let preset = BootstrapPreset::named(name, Mode::Thin).unwrap();
            let spec = BootstrapSpec { ephemeral_weight: weight, ..preset.spec };
            match BootstrapPlan::new(&preset.params, (preset.prime, preset.exponent), spec) {
                Ok(_) => None,
                Err(Error::Bootstrap(error)) => Some(error),
                Err(other) => panic!("{name}, weight {weight}: {other}"),
            }
        };
        assert_eq!(plan("insecure_boot_105", 0), Some(BootstrapError::EphemeralWeight { weight: 0, n: 48 }));
        assert_eq!(plan("insecure_boot_105", 49), Some(BootstrapError::EphemeralWeight { weight: 49, n: 48 }));
        assert_eq!(plan("boot_n32768_p257", 0), Some(BootstrapError::EphemeralWeight { weight: 0, n: 32768 }));
        assert_eq!(plan("insecure_boot_105", 6), None);
        for small in [1, 8, 20] {
            let error = plan("boot_n32768_p257", small).unwrap();
            let BootstrapError::EphemeralKeyTooWeak { weight, log2_qp, security } = error else { panic!("{error}") };
            assert!(weight == small && security.bits < 128.0 && log2_qp > 50.0 && log2_qp < 200.0, "{error}");
            let text = error.to_string();
            assert!(text.contains("larger BootstrapSpec::ephemeral_weight") && text.contains("Insecure"), "{text}");
        }
    }
}
