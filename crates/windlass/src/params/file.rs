//! Parameter sets as files: what was planned or searched for is usable wherever a preset is.

use std::path::Path;

use serde::{Deserialize, Serialize};
use windlass_rlwe::{Assurance, RlweSpec, SecretDistribution};

use super::Params;
use super::presets::ephemeral_weight;
use crate::error::{Error, Result};
use crate::schemes::Scheme;
use crate::wire::WireError;

/// The longest file that is read: generous for a chain of a thousand primes.
const MOST_BYTES: u64 = 1 << 16;

/// A parameter file, in JSON. It holds what the set is made from and nothing that follows from it:
/// primes are found again, λ is computed again, and so is the order of slots that bootstrapping
/// needs. Version 2 has the weight of the ephemeral secret, version 1 has not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    special_prime_bits: Vec<u32>,
    digits: usize,
    /// The weight of a sparse secret; a uniform ternary one has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_weight: Option<u32>,
    /// The weight of the ephemeral secret of a set that is made for bootstrapping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ephemeral_weight: Option<u32>,
    /// "secure", "insecure" or "paper".
    assurance: String,
}

fn malformed(what: &'static str) -> Error {
    WireError::Malformed { what }.into()
}

impl Params {
    /// The set as JSON.
    pub fn to_json(&self) -> String {
        let spec = self.spec();
        let file = ParamsFile {
            windlass_parameters: 1 + u32::from(self.ephemeral_weight.is_some()),
            name: self.name().into(),
            scheme: self.scheme().to_string(),
            p: self.p(),
            r: self.r(),
            generators: self.generators.clone(),
            m: spec.m,
            q_prime_bits: spec.q_prime_bits.clone(),
            special_prime_bits: spec.special_prime_bits.clone(),
            digits: spec.digits,
            secret_weight: match spec.secret {
                SecretDistribution::Ternary => None,
                SecretDistribution::Sparse { weight } => Some(weight),
            },
            ephemeral_weight: self.ephemeral_weight,
            assurance: match spec.assurance {
                Assurance::Secure => "secure",
                Assurance::Insecure { .. } => "insecure",
                Assurance::Paper { .. } => "paper",
            }
            .into(),
        };
        serde_json::to_string_pretty(&file).expect("strings and numbers have a JSON form")
    }

    /// The set that [`Self::to_json`] wrote. Everything is checked as in [`Self::new`]: a set that
    /// calls itself secure is refused below 128 bits.
    ///
    /// # Errors
    /// [`WireError::Malformed`] for text that is no parameter file; those of [`Self::new`].
    pub fn from_json(text: &str) -> Result<Self> {
        if text.len() as u64 > MOST_BYTES {
            return Err(WireError::TooLarge { length: text.len() as u64, limit: MOST_BYTES }.into());
        }
        let file: ParamsFile = serde_json::from_str(text).map_err(|_| malformed("parameter file"))?;
        // The presets' own weights stand for those that version 1 could not name.
        let ephemeral_weight = match (file.windlass_parameters, file.ephemeral_weight) {
            (1, None) => ephemeral_weight(&file.name),
            (2, Some(weight)) => Some(weight),
            _ => return Err(malformed("version of a parameter file")),
        };
        let scheme = match file.scheme.as_str() {
            "BGV" => Scheme::Bgv,
            "BFV" => Scheme::Bfv,
            _ => return Err(malformed("scheme of a parameter file")),
        };
        let name = file.name.clone();
        let assurance = match file.assurance.as_str() {
            "secure" => Assurance::Secure,
            "insecure" => Assurance::Insecure { name },
            "paper" => Assurance::Paper { name },
            _ => return Err(malformed("assurance of a parameter file")),
        };
        let secret = match file.secret_weight {
            None => SecretDistribution::Ternary,
            Some(weight) => SecretDistribution::Sparse { weight },
        };
        let spec = RlweSpec {
            m: file.m,
            q_prime_bits: file.q_prime_bits,
            special_prime_bits: file.special_prime_bits,
            digits: file.digits,
            secret,
            assurance,
        };
        let params = Self::new(&file.name, scheme, (file.p, file.r), file.generators, spec)?;
        Ok(Self { ephemeral_weight, ..params })
    }

    /// A preset by name, or the set in a file where the text ends in `.json`: the one way in which
    /// commands name parameters.
    ///
    /// # Errors
    /// [`crate::Error::UnknownName`]; [`WireError::Io`]; as [`Self::from_json`].
    pub fn named_or_file(text: &str, scheme: Scheme) -> Result<Self> {
        if !text.ends_with(".json") {
            return Self::preset(text, scheme);
        }
        let length = std::fs::metadata(Path::new(text)).map_err(WireError::from)?.len();
        if length > MOST_BYTES {
            return Err(WireError::TooLarge { length, limit: MOST_BYTES }.into());
        }
        let json = std::fs::read_to_string(text).map_err(WireError::from)?;
        Ok(Self::from_json(&json)?.with_scheme(scheme))
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
                assert_eq!(back.ephemeral_weight(), params.ephemeral_weight());
            }
        }
    }

    #[test]
    fn what_is_no_parameter_file_is_refused() {
        let good = Params::preset("demo", Scheme::Bgv).unwrap().to_json();
        let refused = |text: &str| Params::from_json(text).expect_err("refused");
        for end in (0..good.len()).step_by(7) {
            refused(&good[..end]);
        }
        // Version 2 has a weight, version 1 has none, and there is no third.
        for (version, weight) in [("2", ""), ("1", "\"ephemeral_weight\": 30, "), ("3", "\"ephemeral_weight\": 30, ")] {
            let text =
                good.replace("\"windlass_parameters\": 1", &format!("{weight}\"windlass_parameters\": {version}"));
            refused(&text);
        }
        refused(&good.replace("\"digits\"", "\"extra\": 1, \"digits\""));
        refused(&good.replace("65537", "65536"));
        // Fewer coefficients under the same modulus: not secure any more, whatever the file says.
        let weak = refused(&good.replace("16384", "2048"));
        assert!(matches!(weak, Error::Rlwe(_)), "{weak}");
    }
}
