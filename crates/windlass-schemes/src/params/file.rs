//! Parameter sets as files. A planned or found set can be used wherever a preset can.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use windlass_rlwe::{Assurance, Limits, RlweSpec};

use super::Params;
use super::ephemeral::{Encapsulation, Ephemeral};
use crate::error::WireError;
use crate::error::{Error, Result};
use crate::json::from_json;
use crate::schemes::Scheme;
use crate::secret_words::{parties_of, secret_of, weight_of};

/// The longest file that is read: generous for a chain of a thousand primes.
const MOST_BYTES: u64 = 1 << 16;

/// A parameter file, in JSON. It holds only what the set is made from: primes, λ and the slot order
/// for bootstrapping are computed again. Version 1 has no ephemeral secret. Version 2 adds its
/// weight, for a key with special primes. Version 3 adds the kind of encapsulation. Version 4 adds
/// extra primes. Version 5 adds the number of parties that hold the key together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object in braces")]
struct ParamsFile {
    windlass_parameters: u32,
    name: String,
    scheme: String,
    p: u64,
    r: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generators: Option<Vec<u64>>,
    m: u64,
    q_prime_bits: Vec<u32>,
    /// Sizes of extra primes, if there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spare_prime_bits: Vec<u32>,
    special_prime_bits: Vec<u32>,
    digits: usize,
    /// The weight of a sparse secret; missing for a uniform ternary secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_weight: Option<u32>,
    /// The number of parties that hold the key together; missing for a key of one party.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parties: Option<u32>,
    /// The weight of the ephemeral secret of a set that is made for bootstrapping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ephemeral_weight: Option<u32>,
    /// "digits"; missing for special primes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    encapsulation: Option<String>,
    /// "secure", "insecure" or "paper".
    assurance: String,
}

/// The versions that have spare primes and parties, and the newest there is.
const WITH_SPARE_PRIMES: u32 = 4;
const WITH_PARTIES: u32 = 5;
const NEWEST: u32 = WITH_PARTIES;

/// The first version that can say it, and how an encapsulation is written there.
fn version(ephemeral: Option<Ephemeral>, has_spare: bool, has_parties: bool) -> (u32, Option<String>) {
    let (least, encapsulation) = match ephemeral.map(|secret| secret.encapsulation) {
        None => (1, None),
        Some(Encapsulation::SpecialPrimes) => (2, None),
        Some(digits @ Encapsulation::Digits) => (3, Some(digits.to_string())),
    };
    let version = match (has_parties, has_spare) {
        (true, _) => WITH_PARTIES,
        (false, true) => WITH_SPARE_PRIMES,
        (false, false) => least,
    };
    (version, encapsulation)
}

impl ParamsFile {
    fn ephemeral(&self) -> Result<Option<Ephemeral>> {
        let found = self.windlass_parameters;
        if found > NEWEST {
            let Ok(found) = found.try_into() else {
                return Err(wrong(format!(
                    "windlass_parameters is {found}, but this build knows the versions 1 to {NEWEST}"
                )));
            };
            return Err(WireError::UnsupportedVersion { found, supported: NEWEST as u16 }.into());
        }
        if found == 0 {
            return Err(wrong("windlass_parameters is 0, but must be at least 1"));
        }
        match (found == WITH_SPARE_PRIMES, self.spare_prime_bits.is_empty()) {
            (true, true) => {
                return Err(wrong("spare_prime_bits is empty: list sizes, or set windlass_parameters to 1, 2 or 3"));
            }
            (false, false) if found != WITH_PARTIES => {
                return Err(wrong("spare_prime_bits need \"windlass_parameters\": 4"));
            }
            _ => {}
        }
        if (found == WITH_PARTIES) != self.parties.is_some() {
            return Err(wrong("\"windlass_parameters\": 5 and parties need each other"));
        }
        match (self.windlass_parameters, self.ephemeral_weight, self.encapsulation.as_deref()) {
            (1, None, None) => Ok(of_version_1(&self.name)),
            (4 | 5, None, None) => Ok(None),
            (2 | 4 | 5, Some(weight), None) => Ok(Some(Ephemeral::by_special_primes(weight))),
            (3..=5, Some(weight), Some("digits")) => Ok(Some(Ephemeral::in_digits(weight))),
            (1, None, _) => Err(wrong("encapsulation needs \"windlass_parameters\": 3 and ephemeral_weight")),
            (1, ..) => Err(wrong("ephemeral_weight needs \"windlass_parameters\": 2, or 3 with encapsulation")),
            (2, ..) => Err(wrong("windlass_parameters is 2, which needs ephemeral_weight and allows no encapsulation")),
            (3, ..) => {
                Err(wrong("windlass_parameters is 3, which needs ephemeral_weight and \"encapsulation\": \"digits\""))
            }
            _ => Err(wrong("encapsulation must be \"digits\" with an ephemeral_weight, or be left out")),
        }
    }
}

/// The presets that were made for bootstrapping while version 1 was written, which could not say
/// it, with the weights that their secrets had then. Nothing is ever added here or changed.
const OF_VERSION_1: [(&str, u32); 12] = [
    ("insecure_boot_105", 6),
    ("insecure_boot_1023", 8),
    ("insecure_boot_4369", 12),
    ("insecure_boot_256_p257", 8),
    ("boot_n32768_p257", 30),
    ("boot_n32768_p127", 30),
    ("boot_n65536_p65537", 30),
    ("boot_m28679_p2", 56),
    ("boot_m31775_p2", 56),
    ("boot_m37449_p2", 56),
    ("boot_m69905_p2r8", 48),
    ("boot_m87381_p2r8", 48),
];

/// The secret of a set of this name in version 1.
fn of_version_1(name: &str) -> Option<Ephemeral> {
    let (_, weight) = OF_VERSION_1.iter().find(|(known, _)| *known == name)?;
    Some(Ephemeral::by_special_primes(*weight))
}

fn too_long() -> Error {
    wrong(format!("it is longer than {MOST_BYTES} bytes"))
}

fn wrong(reason: impl ToString) -> Error {
    WireError::text("parameter file", reason).into()
}

impl Params {
    /// The set as JSON.
    pub fn to_json(&self) -> String {
        let spec = self.spec();
        let (windlass_parameters, encapsulation) =
            version(self.ephemeral, !spec.spare_prime_bits.is_empty(), parties_of(spec.secret).is_some());
        let file = ParamsFile {
            windlass_parameters,
            name: self.name().into(),
            scheme: self.scheme().to_string(),
            p: self.p(),
            r: self.r(),
            generators: self.generators.clone(),
            m: spec.m,
            q_prime_bits: spec.q_prime_bits.clone(),
            spare_prime_bits: spec.spare_prime_bits.clone(),
            special_prime_bits: spec.special_prime_bits.clone(),
            digits: spec.digits,
            secret_weight: weight_of(spec.secret),
            parties: parties_of(spec.secret),
            ephemeral_weight: self.ephemeral.map(|secret| secret.weight),
            encapsulation,
            assurance: match spec.assurance {
                Assurance::Secure => "secure",
                Assurance::Insecure { .. } => "insecure",
                Assurance::Paper { .. } => "paper",
            }
            .into(),
        };
        serde_json::to_string_pretty(&file).expect("strings and numbers have a JSON form")
    }

    /// The set that [`Self::to_json`] wrote. Everything is checked as in [`Self::new`]. A set that
    /// claims to be secure is refused below 128 bits, and an ephemeral weight that is impossible in
    /// this ring is refused.
    ///
    /// # Errors
    /// [`WireError::Text`] if the text is not a parameter file; [`WireError::UnsupportedVersion`]
    /// if it comes from a newer Windlass; those of [`Self::new`]; [`Error::OutOfRange`] if the
    /// weight of the ephemeral secret is not from 1 to n.
    pub fn from_json(text: &str) -> Result<Self> {
        if text.len() as u64 > MOST_BYTES {
            return Err(too_long());
        }
        let file: ParamsFile = from_json(text.as_bytes()).map_err(wrong)?;
        let ephemeral = file.ephemeral()?;
        let scheme = match file.scheme.as_str() {
            "BGV" => Scheme::Bgv,
            "BFV" => Scheme::Bfv,
            _ => return Err(wrong("scheme must be \"BGV\" or \"BFV\"")),
        };
        let name = file.name.clone();
        let assurance = match file.assurance.as_str() {
            "secure" => Assurance::Secure,
            "insecure" => Assurance::Insecure { name },
            "paper" => Assurance::Paper { name },
            _ => return Err(wrong("assurance must be \"secure\", \"insecure\" or \"paper\"")),
        };
        let secret = secret_of(file.secret_weight, file.parties).map_err(wrong)?;
        let spec = RlweSpec {
            m: file.m,
            q_prime_bits: file.q_prime_bits,
            spare_prime_bits: file.spare_prime_bits,
            special_prime_bits: file.special_prime_bits,
            digits: file.digits,
            secret,
            assurance,
        };
        let params = Self::new(&file.name, scheme, (file.p, file.r), file.generators, spec)?;
        if let Some(Ephemeral { weight, .. }) = ephemeral {
            let limits = Limits::between(1, params.rlwe().n()).with("the number of its coefficients");
            limits.check("weight of the ephemeral secret", weight)?;
        }
        Ok(Self { ephemeral, ..params })
    }

    /// Whether a text that names parameters names a file: whether it ends in `.json`.
    pub fn is_file_name(text: &str) -> bool {
        text.ends_with(".json")
    }

    /// A preset by name, or the set in a file if the text ends in `.json`. All commands name
    /// parameters in this way.
    ///
    /// # Errors
    /// [`crate::Error::UnknownName`]; [`WireError::Io`]; as [`Self::from_json`].
    pub fn named_or_file(text: &str, scheme: Scheme) -> Result<Self> {
        if !Self::is_file_name(text) {
            return Self::preset(text, scheme);
        }
        let file = File::open(Path::new(text)).map_err(WireError::from)?;
        // Pipes and devices tell no length, and may have no end.
        let mut bytes = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(WireError::from)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(too_long());
        }
        let json = String::from_utf8(bytes).map_err(|error| wrong(error.utf8_error()))?;
        // Some editors put a byte order mark before the text.
        Ok(Self::from_json(json.trim_start_matches('\u{feff}'))?.with_scheme(scheme))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::preset_names;

    #[test]
    fn every_preset_comes_back_from_its_file() {
        for name in preset_names() {
            for scheme in [Scheme::Bgv, Scheme::Bfv] {
                let params = Params::preset(name, scheme).unwrap();
                let back = Params::from_json(&params.to_json()).unwrap();
                assert_eq!((back.id(), back.name(), back.scheme()), (params.id(), name, scheme));
                assert_eq!(back.rlwe().assurance(), params.rlwe().assurance());
                assert_eq!(back.ephemeral(), params.ephemeral());
            }
        }
    }

    /// Files of version 1 named no secret: that of the preset is then taken, in its present form.
    #[test]
    fn what_version_1_left_out_stays_what_it_was() {
        let version_1 = |name| {
            let params = Params::preset(name, Scheme::Bgv).unwrap();
            // Nor did it know spare primes: any chain will do.
            let (spare_prime_bits, q_prime_bits) = (Vec::new(), vec![50]);
            let special_prime_bits = vec![50];
            let spec =
                RlweSpec { spare_prime_bits, q_prime_bits, special_prime_bits, digits: 1, ..params.spec().clone() };
            let params = Params::new(name, Scheme::Bgv, (params.p(), params.r()), None, spec).unwrap();
            Params::from_json(&params.to_json()).unwrap().ephemeral()
        };
        for (name, weight) in OF_VERSION_1 {
            assert_eq!(version_1(name), Some(Ephemeral::by_special_primes(weight)), "{name}");
        }
        assert_eq!([version_1("paper_ma24_set1_p65537"), version_1("demo")], [None, None]);
    }

    #[test]
    fn ephemeral_secrets_have_one_to_n_coefficients() {
        let good = Params::preset("insecure_boot_105", Scheme::Bgv).unwrap().to_json();
        let with = |weight: &str| {
            Params::from_json(&good.replace("\"ephemeral_weight\": 6", &format!("\"ephemeral_weight\": {weight}")))
        };
        for weight in [1, 48] {
            assert_eq!(with(&weight.to_string()).unwrap().ephemeral(), Some(Ephemeral::by_special_primes(weight)));
        }
        for weight in ["0", "49", "4294967295"] {
            let refused = with(weight).unwrap_err();
            assert!(matches!(refused, Error::OutOfRange { .. }), "{refused}");
            assert!(refused.to_string().contains("weight of the ephemeral secret"), "{refused}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn files_without_an_end_are_refused() {
        let place = std::env::temp_dir().join(format!("windlass-endless-{}.json", std::process::id()));
        std::os::unix::fs::symlink("/dev/zero", &place).unwrap();
        let refused = Params::named_or_file(place.to_str().unwrap(), Scheme::Bgv).unwrap_err();
        std::fs::remove_file(&place).unwrap();
        assert!(refused.to_string().contains("longer than 65536 bytes"), "{refused}");
    }

    #[test]
    fn what_is_no_parameter_file_is_refused() {
        let good = Params::preset("demo", Scheme::Bgv).unwrap().to_json();
        let refused = |text: &str| Params::from_json(text).expect_err("refused");
        for end in (0..good.len()).step_by(7) {
            refused(&good[..end]);
        }
        // Each version says what it has and nothing else, and the fourth is for spare primes.
        let (weight, digits) = (r#""ephemeral_weight": 30, "#, r#""encapsulation": "digits", "#);
        let (both, special) = (format!("{weight}{digits}"), digits.replace("digits", "special-primes"));
        let with = |version: u32, said: &str| {
            let text = format!("{said}\"windlass_parameters\": {version}");
            good.replace("\"windlass_parameters\": 1", &text)
        };
        for (version, said) in [(1, weight), (1, digits), (2, ""), (2, &both), (3, ""), (3, weight), (3, digits)] {
            refused(&with(version, said));
        }
        refused(&with(3, &format!("{weight}{special}")));
        refused(&with(4, &both));
        // The fifth is for several parties.
        let parties = r#""parties": 3, "#;
        for (version, said) in [(1, parties), (4, parties), (5, "")] {
            refused(&with(version, said));
        }
        refused(&with(5, r#""parties": 3, "secret_weight": 3, "#));
        let three = Params::from_json(&with(5, parties)).unwrap();
        assert_eq!(three.id(), Params::preset("demo", Scheme::Bgv).unwrap().with_parties(3).unwrap().id());
        assert_eq!(Params::from_json(&three.to_json()).unwrap().id(), three.id());
        let accepted = [(1, ""), (2, weight), (3, &both)].map(|(version, said)| with(version, said));
        let read = accepted.map(|text| Params::from_json(&text).unwrap().ephemeral());
        assert_eq!(read, [None, Some(Ephemeral::by_special_primes(30)), Some(Ephemeral::in_digits(30))]);
        refused(&good.replace("\"digits\"", "\"extra\": 1, \"digits\""));
        refused(&good.replace("65537", "65536"));
        assert_eq!(
            refused(&with(6, &both)),
            WireError::UnsupportedVersion { found: 6, supported: 5 }.into(),
            "a newer Windlass has more to say"
        );
        // Fewer coefficients under the same modulus: not secure any more, whatever the file says.
        let weak = refused(&good.replace("16384", "2048"));
        assert!(matches!(weak, Error::Rlwe(_)), "{weak}");
    }

    /// People write these files: a refusal says what is wrong and where.
    #[test]
    fn refusals_say_what_is_wrong() {
        let good = Params::preset("demo", Scheme::Bgv).unwrap().to_json();
        let reason = |from: &str, to: &str| {
            let Err(Error::Wire(WireError::Text { what, reason })) = Params::from_json(&good.replace(from, to)) else {
                panic!("{from} for {to}");
            };
            assert_eq!(what, "parameter file");
            reason
        };
        assert!(reason("\"digits\"", "\"digit\"").starts_with("unknown field `digit`, expected one of"));
        assert!(reason("\"m\": 16384", "\"m\": \"16384\"").contains("at line 7 column"));
        let version = "\"windlass_parameters\": 1";
        let none = version.replace('1', "0");
        assert_eq!(reason(version, &none), "windlass_parameters is 0, but must be at least 1");
        assert!(reason(version, "\"windlass_parameters\": 4").contains("spare_prime_bits is empty"));
        let spare = format!("{version}, \"spare_prime_bits\": [30]");
        assert_eq!(reason(version, &spare), "spare_prime_bits need \"windlass_parameters\": 4");
        assert!(reason("\"BGV\"", "\"CKKS\"").starts_with("scheme must be"));
        assert_eq!(reason(version, "\"windlass_parameters\": 0, \"spare_prime_bits\": [30]"), reason(version, &none));
        let long = reason("\"m\": 16384", &format!("\"m\": \"{}\"", "ä".repeat(1000)));
        assert!(long.chars().count() == 303 && long.ends_with("..."), "{long}");
    }
}
