//! The parameters of a refresh through CKKS as JSON.

use serde::{Deserialize, Serialize};
use windlass_schemes::error::Result;
#[cfg(doc)]
use windlass_schemes::error::{Error, WireError};
use windlass_schemes::schemes::Scheme;
use windlass_schemes::schemes::ckks::VersionedText;

use super::spec::ExactRefreshSpec;
use crate::approximate::RefreshFile;

/// The first field, which no other parameters have.
const MARK: &str = "\"windlass_exact_refresh\"";

/// What a refresh is made from, in JSON; what follows from it is computed again.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object in braces")]
struct ExactRefreshFile {
    windlass_exact_refresh: u32,
    /// "BGV" or "BFV".
    scheme: String,
    p: u64,
    r: u32,
    passes: usize,
    pass_bits: u32,
    /// Missing if ε is no larger than the scale.
    #[serde(default, skip_serializing_if = "is_zero")]
    excess_bits: f64,
    refresh_of_a_pass: RefreshFile,
}

fn is_zero(bits: &f64) -> bool {
    *bits == 0.0
}

impl VersionedText for ExactRefreshFile {
    const WHAT: &'static str = "parameters of a refresh through CKKS";
    const VERSION: u32 = 1;

    fn version(&self) -> u32 {
        self.windlass_exact_refresh
    }
}

impl ExactRefreshSpec {
    /// Whether a text that names parameters is one of [`Self::to_json`], not of other parameters.
    pub fn is_json(text: &str) -> bool {
        text.contains(MARK)
    }

    /// The specification as JSON, with the scheme of the ciphertexts.
    pub fn to_json(&self, scheme: Scheme) -> String {
        let file = ExactRefreshFile {
            windlass_exact_refresh: ExactRefreshFile::VERSION,
            scheme: scheme.to_string(),
            p: self.prime,
            r: self.exponent,
            passes: self.passes,
            pass_bits: self.pass_bits,
            excess_bits: self.excess_bits,
            refresh_of_a_pass: RefreshFile::of(&self.refresh),
        };
        file.to_text()
    }

    /// The specification and the scheme that [`Self::to_json`] wrote. Plans check more: a set that calls itself secure is refused
    /// below 128 bits.
    ///
    /// # Errors
    /// [`WireError::Text`] for other text, [`WireError::UnsupportedVersion`] for another version,
    /// [`WireError::TooLarge`] for a long one; [`Error::OutOfRange`], [`Error::SlotCount`] and [`Error::Bootstrap`]
    /// for numbers that no refresh has.
    pub fn from_json(text: &str) -> Result<(Self, Scheme)> {
        let file = ExactRefreshFile::from_text(text)?;
        let scheme = match file.scheme.as_str() {
            "BGV" => Scheme::Bgv,
            "BFV" => Scheme::Bfv,
            other => {
                return Err(ExactRefreshFile::wrong(format!("scheme is {other:?}, but must be \"BGV\" or \"BFV\"")));
            }
        };
        let spec = Self {
            prime: file.p,
            exponent: file.r,
            passes: file.passes,
            pass_bits: file.pass_bits,
            excess_bits: file.excess_bits,
            refresh: file.refresh_of_a_pass.into_pass()?,
        };
        spec.check()?;
        Ok((spec, scheme))
    }
}

#[cfg(test)]
mod tests {
    use windlass_schemes::error::{BootstrapError, Error, WireError};

    use super::super::{ExactRefreshPlan, exact_refresh_preset_names};
    use super::*;
    use crate::approximate::RefreshSpec;

    fn toys() -> impl Iterator<Item = ExactRefreshSpec> {
        let names = exact_refresh_preset_names().filter(|name| name.starts_with("insecure"));
        names.map(|name| ExactRefreshPlan::preset(name).unwrap().spec().clone())
    }

    #[test]
    fn every_toy_comes_back_from_its_text() {
        let mut excess = false;
        for spec in toys() {
            for scheme in [Scheme::Bgv, Scheme::Bfv] {
                let text = spec.to_json(scheme);
                assert_eq!(ExactRefreshSpec::from_json(&text).unwrap(), (spec.clone(), scheme));
                assert!(ExactRefreshSpec::is_json(&text) && !RefreshSpec::is_json(&text));
            }
            excess |= spec.excess_bits > 0.0;
        }
        assert!(excess, "a number that is no integer is tried");
    }

    #[test]
    fn what_is_no_refresh_is_refused() {
        let good = toys().last().unwrap().to_json(Scheme::Bfv);
        let refused = |text: &str| ExactRefreshSpec::from_json(text).expect_err("refused");
        for end in (0..good.len()).step_by(7) {
            assert!(matches!(refused(&good[..end]), Error::Wire(WireError::Text { .. })), "{end}");
        }
        let text = |from: &str, to: &str| {
            assert!(good.contains(from), "{from}: {good}");
            refused(&good.replace(from, to))
        };
        for first in ["exact_refresh\": ", "ckks_refresh\": "] {
            let error = text(&format!("{first}1"), &format!("{first}2"));
            assert!(matches!(error, Error::Wire(WireError::UnsupportedVersion { found: 2, .. })), "{error}");
        }
        assert!(matches!(text("\"passes\"", "\"more\": 1, \"passes\""), Error::Wire(WireError::Text { .. })));
        assert!(matches!(text("BFV", "CKKS"), Error::Wire(WireError::Text { .. })));
        assert!(matches!(text("\"insecure\"", "\"secure\""), Error::Wire(WireError::Text { .. })));
        assert!(matches!(text("\"passes\": 3", "\"passes\": 0"), Error::OutOfRange(_)));
        assert!(matches!(text("\"r\": 1", "\"r\": 2"), Error::OutOfRange(_)));
        let back = text("\"gap_bits\"", "\"back_first\": true, \"gap_bits\"");
        assert!(matches!(back, Error::Bootstrap(BootstrapError::Unsupported { .. }) | Error::OutOfRange(_)), "{back}");
        assert!(matches!(refused(&" ".repeat(1 << 17)), Error::Wire(WireError::TooLarge { .. })));
    }

    /// Numbers that a text may have and no constructor gives.
    #[test]
    fn excess_bits_out_of_range_are_refused() {
        let spec = toys().next().unwrap();
        for excess_bits in [-3.0, -1e300, 7.5, 1e9] {
            let error =
                ExactRefreshSpec::from_json(&ExactRefreshSpec { excess_bits, ..spec.clone() }.to_json(Scheme::Bgv));
            assert!(matches!(error.unwrap_err(), Error::OutOfRange(_)), "{excess_bits}");
        }
    }
}
