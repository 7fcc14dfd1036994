//! Texts of parameters of CKKS: JSON with its version in the first field.

use serde::{Serialize, de::DeserializeOwned};
use windlass_rlwe::Assurance;

use crate::error::{Error, Result, WireError};
use crate::json::from_json;

/// The longest text that is read: generous for a chain of a thousand primes.
const MOST_BYTES: u64 = 1 << 16;

/// What a kind of parameters is made from, in JSON. What follows from it is computed again.
#[doc(hidden)]
pub trait VersionedText: Serialize + DeserializeOwned {
    /// What errors call the text.
    const WHAT: &'static str;

    /// The version that is written.
    const VERSION: u32;

    /// The version that the text states.
    fn version(&self) -> u32;

    /// The refusal of a text.
    fn wrong(reason: impl ToString) -> Error {
        WireError::text(Self::WHAT, reason).into()
    }

    /// The text.
    fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).expect("strings and numbers have a JSON form")
    }

    /// What [`Self::to_text`] wrote.
    ///
    /// # Errors
    /// [`WireError::TooLarge`] for a long text, [`WireError::Text`] for other text,
    /// [`WireError::UnsupportedVersion`] for another version.
    fn from_text(text: &str) -> Result<Self> {
        let length = text.len() as u64;
        if length > MOST_BYTES {
            return Err(WireError::TooLarge { length, limit: MOST_BYTES }.into());
        }
        let file: Self = from_json(text.as_bytes()).map_err(Self::wrong)?;
        if file.version() != Self::VERSION {
            let found = file.version().try_into().unwrap_or(u16::MAX);
            return Err(WireError::UnsupportedVersion { found, supported: Self::VERSION as u16 }.into());
        }
        Ok(file)
    }
}

/// What a set claims, as files say it: a word, and the name of a set that is not called secure.
#[doc(hidden)]
pub fn assurance_in_words(assurance: &Assurance) -> (&'static str, Option<String>) {
    match assurance {
        Assurance::Secure => ("secure", None),
        Assurance::Insecure { name } => ("insecure", Some(name.clone())),
        Assurance::Paper { name } => ("paper", Some(name.clone())),
    }
}

/// What [`assurance_in_words`] wrote; otherwise what is expected.
#[doc(hidden)]
pub fn assurance_of(word: &str, name: Option<String>) -> Result<Assurance, &'static str> {
    match (word, name) {
        ("secure", None) => Ok(Assurance::Secure),
        ("insecure", Some(name)) => Ok(Assurance::Insecure { name }),
        ("paper", Some(name)) => Ok(Assurance::Paper { name }),
        _ => Err("assurance must be \"secure\", without a name, or \"insecure\" or \"paper\", with one"),
    }
}
