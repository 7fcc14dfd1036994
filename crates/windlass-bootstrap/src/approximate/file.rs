//! The parameters of a CKKS refresh as JSON.

use serde::{Deserialize, Serialize};
#[cfg(doc)]
use windlass_schemes::error::Error;
use windlass_schemes::error::{Result, WireError};
use windlass_schemes::schemes::ckks::{VersionedText, assurance_in_words, assurance_of};

use super::spec::{MapOrder, RefreshSpec};

/// The first field.
const MARK: &str = "\"windlass_ckks_refresh\"";

/// The field of those with several passes that has the refresh of a pass.
const SEVERAL_PASSES: &str = "\"refresh_of_a_pass\"";

/// What a refresh is made from, in JSON; what follows from it is computed again.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object in braces")]
pub(crate) struct RefreshFile {
    windlass_ckks_refresh: u32,
    n: usize,
    slots: usize,
    scale_bits: u32,
    depth: usize,
    /// Whether the maps back are the first ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    back_first: bool,
    gap_bits: u32,
    sine_scale_bits: Vec<u32>,
    to_slots: Vec<usize>,
    to_coefficients: Vec<usize>,
    constant_bits: [u32; 2],
    doublings: u32,
    degree: usize,
    arcsine: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_keys: Option<usize>,
    ephemeral_weight: u32,
    /// The number of parties that hold the key together; missing for a key of one party.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parties: Option<u32>,
    ephemeral_special: usize,
    special_prime_bits: Vec<u32>,
    digits: usize,
    /// "secure", "insecure" or "paper".
    assurance: String,
    /// The name of a set that is not called secure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

impl VersionedText for RefreshFile {
    const WHAT: &'static str = "parameters of a refresh of CKKS";
    const VERSION: u32 = 1;

    fn version(&self) -> u32 {
        self.windlass_ckks_refresh
    }
}

impl RefreshSpec {
    /// Whether a text that names parameters is one of [`Self::to_json`], not of other parameters. A file of
    /// several passes has that of a pass inside, but begins with another field.
    pub fn is_json(text: &str) -> bool {
        text.contains(MARK) && !text.contains(SEVERAL_PASSES)
    }

    /// The specification as JSON.
    pub fn to_json(&self) -> String {
        RefreshFile::of(self).to_text()
    }

    /// The specification that [`Self::to_json`] wrote. Plans check more: a set that calls itself
    /// secure is refused below 128 bits.
    ///
    /// # Errors
    /// [`WireError::Text`] for other text, [`WireError::UnsupportedVersion`] for another version,
    /// [`WireError::TooLarge`] for a long one; [`Error::OutOfRange`] and [`Error::SlotCount`] for
    /// numbers that no refresh has.
    pub fn from_json(text: &str) -> Result<Self> {
        let spec = RefreshFile::from_text(text)?.into_spec()?;
        spec.check()?;
        Ok(spec)
    }
}

impl RefreshFile {
    pub fn of(spec: &RefreshSpec) -> Self {
        let (assurance, name) = assurance_in_words(&spec.assurance);
        Self {
            windlass_ckks_refresh: Self::VERSION,
            n: spec.n,
            slots: spec.slots,
            scale_bits: spec.scale_bits,
            depth: spec.depth,
            back_first: spec.order == MapOrder::BackFirst,
            gap_bits: spec.gap_bits,
            sine_scale_bits: spec.sine_scale_bits.clone(),
            to_slots: spec.to_slots.clone(),
            to_coefficients: spec.to_coefficients.clone(),
            constant_bits: spec.constant_bits,
            doublings: spec.doublings,
            degree: spec.degree,
            arcsine: spec.arcsine,
            max_keys: spec.max_keys,
            ephemeral_weight: spec.ephemeral_weight,
            parties: (spec.parties != 1).then_some(spec.parties),
            ephemeral_special: spec.ephemeral_special,
            special_prime_bits: spec.special_prime_bits.clone(),
            digits: spec.digits,
            assurance: assurance.into(),
            name,
        }
    }

    /// # Errors
    /// [`WireError::Text`] for an unknown assurance.
    pub fn into_spec(self) -> Result<RefreshSpec> {
        if self.parties.is_some_and(|parties| parties < 2) {
            return Err(Self::wrong("parties has to be 2 or more: leave it out for a key of one party"));
        }
        Ok(RefreshSpec {
            n: self.n,
            slots: self.slots,
            scale_bits: self.scale_bits,
            depth: self.depth,
            order: if self.back_first { MapOrder::BackFirst } else { MapOrder::BackLast },
            gap_bits: self.gap_bits,
            sine_scale_bits: self.sine_scale_bits,
            to_slots: self.to_slots,
            to_coefficients: self.to_coefficients,
            constant_bits: self.constant_bits,
            doublings: self.doublings,
            degree: self.degree,
            arcsine: self.arcsine,
            max_keys: self.max_keys,
            ephemeral_weight: self.ephemeral_weight,
            parties: self.parties.unwrap_or(1),
            ephemeral_special: self.ephemeral_special,
            special_prime_bits: self.special_prime_bits,
            digits: self.digits,
            assurance: assurance_of(&self.assurance, self.name).map_err(Self::wrong)?,
        })
    }

    /// The refresh of a pass, in the file of a refresh of several passes.
    ///
    /// # Errors
    /// As [`RefreshSpec::from_json`].
    pub fn into_pass(self) -> Result<RefreshSpec> {
        if self.version() != Self::VERSION {
            let found = self.version().try_into().unwrap_or(u16::MAX);
            return Err(WireError::UnsupportedVersion { found, supported: Self::VERSION as u16 }.into());
        }
        let spec = self.into_spec()?;
        spec.check()?;
        Ok(spec)
    }
}

#[cfg(test)]
mod tests {
    use windlass_schemes::error::{Error, WireError};

    use super::super::refresh_preset_names;
    use super::*;

    #[test]
    fn every_set_comes_back_from_its_text() {
        for name in refresh_preset_names() {
            let spec = RefreshSpec::preset(name).unwrap();
            let limited = RefreshSpec { max_keys: Some(20), ..spec.clone() };
            for spec in [spec, limited] {
                assert_eq!(RefreshSpec::from_json(&spec.to_json()).unwrap(), spec, "{name}");
                assert!(RefreshSpec::is_json(&spec.to_json()) && !RefreshSpec::is_json(&spec.to_ckks().to_json()));
            }
        }
    }

    #[test]
    fn what_is_no_refresh_is_refused() {
        let good = RefreshSpec::preset("insecure_toy_refresh_1024").unwrap().to_json();
        let refused = |text: &str| RefreshSpec::from_json(text).expect_err("refused");
        for end in (0..good.len()).step_by(5) {
            assert!(matches!(refused(&good[..end]), Error::Wire(WireError::Text { .. })), "{end}");
        }
        let text = |from: &str, to: &str| {
            assert!(good.contains(from), "{from}");
            refused(&good.replace(from, to))
        };
        assert!(matches!(text("refresh\": 1", "refresh\": 2"), Error::Wire(WireError::UnsupportedVersion { .. })));
        assert!(matches!(text("\"n\"", "\"more\": 1, \"n\""), Error::Wire(WireError::Text { .. })));
        assert!(matches!(text("\"insecure\"", "\"secure\""), Error::Wire(WireError::Text { .. })));
        let depth = format!("\"depth\": {}, \"back_first\": true", usize::MAX);
        assert!(matches!(text("\"depth\": 3", &depth), Error::OutOfRange(_)));
        assert!(matches!(text("\"gap_bits\": 8", "\"gap_bits\": 99"), Error::OutOfRange(_)));
        assert!(matches!(text("\"slots\": 512", "\"slots\": 500"), Error::SlotCount { .. }));
        assert!(matches!(refused(&" ".repeat(1 << 17)), Error::Wire(WireError::TooLarge { .. })));
    }
}
