//! Secrets that are texts, in files that can be encrypted as those of secret keys are.

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::container::{ContextHash, Expected, Label, open, seal};
use super::{KeyId, Kind, WireError};

/// The longest text.
const MOST_BYTES: u64 = 1 << 12;

/// What files of such texts have in place of the hash of parameters.
pub fn text_context(purpose: &str) -> ContextHash {
    let mut hash = Sha256::new();
    hash.update(b"windlass secret text 1\n");
    hash.update(purpose.as_bytes());
    hash.finalize().into()
}

/// The file of a secret text with a purpose, which belongs to `id`: a container of kind [`Kind::SecretKey`], for
/// [`super::seal_secret`]. **Secret.**
pub fn text_to_file(purpose: &str, id: KeyId, text: &str) -> Zeroizing<Vec<u8>> {
    let label = Label { kind: Kind::SecretKey, context: text_context(purpose), key: id };
    Zeroizing::new(seal(&label, text.as_bytes()))
}

/// The text of [`text_to_file`], for the same purpose.
///
/// # Errors
/// Every [`WireError`] of [`open`]: [`WireError::OtherContext`] for the file of a secret key.
pub fn text_from_file(purpose: &str, bytes: &[u8]) -> Result<Zeroizing<String>, WireError> {
    let expected = Expected { kind: Kind::SecretKey, context: text_context(purpose), key: None, limit: MOST_BYTES };
    let (_, payload) = open(bytes, &expected)?;
    let text = std::str::from_utf8(payload).map_err(|_| WireError::Malformed { what: "secret text" })?;
    Ok(Zeroizing::new(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Passphrase, PassphraseCost, open_secret, seal_secret};

    #[test]
    fn secret_texts_come_back_for_their_purpose() {
        let file = text_to_file("an identity", KeyId([3; 16]), "words");
        assert_eq!(text_from_file("an identity", &file).unwrap().as_str(), "words");
        assert!(matches!(text_from_file("another", &file), Err(WireError::OtherContext { .. })));
        assert!(text_from_file("an identity", &file[..file.len() - 1]).is_err());
        let (passphrase, cost) = (Passphrase::new("words").unwrap(), PassphraseCost::new(64, 1, 1).unwrap());
        let sealed = seal_secret(&file, &passphrase, cost).unwrap();
        assert!(matches!(text_from_file("an identity", &sealed), Err(WireError::Sealed)));
        assert_eq!(*open_secret(&sealed, &passphrase).unwrap(), *file);
    }
}
