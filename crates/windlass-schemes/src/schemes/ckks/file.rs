//! CKKS parameters as text.

use super::spec::{CkksSpec, RefreshLevel};
use super::text::{VersionedText, assurance_in_words, assurance_of};
use crate::error::Result;
#[cfg(doc)]
use crate::error::{Error, WireError};
use crate::secret_words::{parties_of, secret_of, weight_of};
use serde::{Deserialize, Serialize};

/// What a set is made from, in JSON; what follows from it is computed again.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CkksFile {
    windlass_ckks_parameters: u32,
    n: usize,
    scale_bits: u32,
    depth: usize,
    base_prime_bits: Vec<u32>,
    special_prime_bits: Vec<u32>,
    digits: usize,
    /// The levels of a refresh, from the lowest up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    refresh_levels: Vec<RefreshLevelFile>,
    /// The weight of a sparse secret; a uniform ternary one has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_weight: Option<u32>,
    /// The number of parties that hold the key together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parties: Option<u32>,
    /// "secure", "insecure" or "paper".
    assurance: String,
    /// The name of a set that is not called secure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RefreshLevelFile {
    prime_bits: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scale_bits: Option<u32>,
}

impl RefreshLevelFile {
    fn of(level: &RefreshLevel) -> Self {
        Self { prime_bits: level.prime_bits.clone(), scale_bits: level.scale_bits }
    }

    fn level(self) -> RefreshLevel {
        RefreshLevel { prime_bits: self.prime_bits, scale_bits: self.scale_bits }
    }
}

impl VersionedText for CkksFile {
    const WHAT: &'static str = "CKKS parameters";
    const VERSION: u32 = 1;

    fn version(&self) -> u32 {
        self.windlass_ckks_parameters
    }
}

impl CkksSpec {
    /// The specification as JSON.
    pub fn to_json(&self) -> String {
        let (assurance, name) = assurance_in_words(&self.assurance);
        let file = CkksFile {
            windlass_ckks_parameters: CkksFile::VERSION,
            n: self.n,
            scale_bits: self.scale_bits,
            depth: self.depth,
            base_prime_bits: self.base_prime_bits.clone(),
            special_prime_bits: self.special_prime_bits.clone(),
            digits: self.digits,
            refresh_levels: self.refresh_levels.iter().map(RefreshLevelFile::of).collect(),
            secret_weight: weight_of(self.secret),
            parties: parties_of(self.secret),
            assurance: assurance.into(),
            name,
        };
        file.to_text()
    }

    /// The specification that [`Self::to_json`] wrote. Contexts check more: a set that calls itself
    /// secure is refused below 128 bits.
    ///
    /// # Errors
    /// [`WireError::Text`] for other text, [`WireError::UnsupportedVersion`] for another version,
    /// [`WireError::TooLarge`] for a long one;
    /// [`Error::OutOfRange`] for sizes that no parameters have.
    pub fn from_json(text: &str) -> Result<Self> {
        let file = CkksFile::from_text(text)?;
        let assurance = assurance_of(&file.assurance, file.name).map_err(CkksFile::wrong)?;
        let spec = Self {
            n: file.n,
            scale_bits: file.scale_bits,
            depth: file.depth,
            base_prime_bits: file.base_prime_bits,
            special_prime_bits: file.special_prime_bits,
            digits: file.digits,
            secret: secret_of(file.secret_weight, file.parties).map_err(CkksFile::wrong)?,
            assurance,
            refresh_levels: file.refresh_levels.into_iter().map(RefreshLevelFile::level).collect(),
        };
        spec.check()?;
        Ok(spec)
    }
}

#[cfg(test)]
mod tests {
    use windlass_rlwe::{Assurance, SecretDistribution};

    use super::*;

    #[test]
    fn specifications_come_back_from_their_text() {
        let secure = CkksSpec::secure(3, 40, 4, 64).unwrap();
        let toy = CkksSpec {
            n: 64,
            secret: SecretDistribution::Sparse { weight: 8 },
            assurance: Assurance::Insecure { name: "insecure_toy".into() },
            ..secure.clone()
        };
        let level = |scale_bits| RefreshLevel { prime_bits: vec![28, 29], scale_bits };
        let refreshing = CkksSpec { refresh_levels: vec![level(Some(44)), level(None)], ..toy.clone() };
        let collective = CkksSpec { secret: SecretDistribution::Collective { parties: 3 }, ..toy.clone() };
        for spec in [secure, toy, refreshing, collective] {
            let text = spec.to_json();
            assert_eq!(CkksSpec::from_json(&text).unwrap(), spec);
            for end in (0..text.len()).step_by(5) {
                assert!(CkksSpec::from_json(&text[..end]).is_err(), "{end}");
            }
            assert!(CkksSpec::from_json(&text.replace("parameters\": 1", "parameters\": 2")).is_err());
            assert!(CkksSpec::from_json(&text.replace("\"n\"", "\"more\": 1, \"n\"")).is_err());
        }
    }
}
