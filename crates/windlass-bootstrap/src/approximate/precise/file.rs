//! The parameters of a refresh of several passes as JSON.

use serde::{Deserialize, Serialize};
use windlass_schemes::error::Result;
#[cfg(doc)]
use windlass_schemes::error::{Error, WireError};
use windlass_schemes::schemes::ckks::VersionedText;

use super::spec::PreciseRefreshSpec;
use crate::approximate::RefreshFile;

/// The first field, which no other parameters have.
const MARK: &str = "\"windlass_precise_refresh\"";

/// What a refresh is made from, in JSON; what follows from it is computed again.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object in braces")]
struct PreciseRefreshFile {
    windlass_precise_refresh: u32,
    passes: usize,
    pass_bits: u32,
    scale_bits: u32,
    depth: usize,
    refresh_of_a_pass: RefreshFile,
}

impl VersionedText for PreciseRefreshFile {
    const WHAT: &'static str = "parameters of a refresh of several passes";
    const VERSION: u32 = 1;

    fn version(&self) -> u32 {
        self.windlass_precise_refresh
    }
}

impl PreciseRefreshSpec {
    /// Whether a text that names parameters is one of [`Self::to_json`], not of other parameters.
    pub fn is_json(text: &str) -> bool {
        text.contains(MARK)
    }

    /// The specification as JSON.
    pub fn to_json(&self) -> String {
        let file = PreciseRefreshFile {
            windlass_precise_refresh: PreciseRefreshFile::VERSION,
            passes: self.passes,
            pass_bits: self.pass_bits,
            scale_bits: self.scale_bits,
            depth: self.depth,
            refresh_of_a_pass: RefreshFile::of(&self.refresh),
        };
        file.to_text()
    }

    /// The specification that [`Self::to_json`] wrote. Plans check more: a set that calls itself secure is refused
    /// below 128 bits.
    ///
    /// # Errors
    /// [`WireError::Text`] for other text, [`WireError::UnsupportedVersion`] for another version,
    /// [`WireError::TooLarge`] for a long one; [`Error::OutOfRange`], [`Error::SlotCount`] and [`Error::Bootstrap`]
    /// for numbers that no refresh has.
    pub fn from_json(text: &str) -> Result<Self> {
        let file = PreciseRefreshFile::from_text(text)?;
        let (passes, pass_bits) = (file.passes, file.pass_bits);
        let refresh = file.refresh_of_a_pass.into_pass()?;
        let spec = Self { passes, pass_bits, scale_bits: file.scale_bits, depth: file.depth, refresh };
        spec.check()?;
        Ok(spec)
    }
}

#[cfg(test)]
mod tests {
    use windlass_schemes::error::{BootstrapError, Error, WireError};

    use super::super::{PreciseRefreshPlan, precise_refresh_preset_names};
    use super::*;
    use crate::approximate::RefreshSpec;

    fn toy() -> PreciseRefreshSpec {
        let name = precise_refresh_preset_names().next().unwrap();
        PreciseRefreshPlan::preset(name).unwrap().spec().clone()
    }

    #[test]
    fn a_specification_comes_back_from_its_text() {
        let spec = toy();
        for spec in [PreciseRefreshSpec { scale_bits: spec.scale_bits - 5, depth: 7, ..spec.clone() }, spec] {
            let text = spec.to_json();
            assert_eq!(PreciseRefreshSpec::from_json(&text).unwrap(), spec);
            assert!(PreciseRefreshSpec::is_json(&text) && !RefreshSpec::is_json(&text));
            assert!(!PreciseRefreshSpec::is_json(&spec.refresh.to_json()));
        }
    }

    #[test]
    fn what_is_no_refresh_is_refused() {
        let good = toy().to_json();
        let refused = |text: &str| PreciseRefreshSpec::from_json(text).expect_err("refused");
        for end in (0..good.len()).step_by(7) {
            assert!(matches!(refused(&good[..end]), Error::Wire(WireError::Text { .. })), "{end}");
        }
        let text = |from: &str, to: &str| {
            assert!(good.contains(from), "{from}: {good}");
            refused(&good.replace(from, to))
        };
        for first in ["precise_refresh\": ", "ckks_refresh\": "] {
            let error = text(&format!("{first}1"), &format!("{first}2"));
            assert!(matches!(error, Error::Wire(WireError::UnsupportedVersion { found: 2, .. })), "{error}");
        }
        assert!(matches!(text("\"passes\"", "\"more\": 1, \"passes\""), Error::Wire(WireError::Text { .. })));
        assert!(matches!(text("\"insecure\"", "\"secure\""), Error::Wire(WireError::Text { .. })));
        assert!(matches!(text("\"passes\": 3", "\"passes\": 9"), Error::OutOfRange(_)));
        assert!(matches!(text("\"pass_bits\": 26", "\"pass_bits\": 4000000000"), Error::OutOfRange(_)));
        let scale = format!("\"scale_bits\": {},\n  \"depth\"", toy().scale_bits);
        assert!(matches!(text(&scale, "\"scale_bits\": 4000000000, \"depth\""), Error::OutOfRange(_)));
        let back = text("\"gap_bits\"", "\"back_first\": true, \"gap_bits\"");
        assert!(matches!(back, Error::Bootstrap(BootstrapError::Unsupported { .. }) | Error::OutOfRange(_)), "{back}");
        assert!(matches!(refused(&" ".repeat(1 << 17)), Error::Wire(WireError::TooLarge { .. })));
    }
}
