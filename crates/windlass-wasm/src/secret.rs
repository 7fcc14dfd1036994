//! Secret keys in the bytes of their files. What of them lies in memory here is wiped.

use js_sys::Uint8Array;
use windlass::rlwe::SecretKey;
use windlass::wire::{
    FileContext, Passphrase, PassphraseCost, from_bytes, from_sealed_bytes, is_sealed, seal_secret, to_bytes,
};
use zeroize::Zeroizing;

use crate::Result;
use crate::error::{raise, refuse};

/// The words of a passphrase that a caller gave. They are wiped, whether they are used or not.
pub struct Words(Option<Zeroizing<Vec<u8>>>);

impl Words {
    /// Takes them up, before anything can fail.
    pub fn new(words: Option<Vec<u8>>) -> Self {
        Self(words.map(Zeroizing::new))
    }

    fn passphrase(&self) -> Result<Option<Passphrase>> {
        let words = self.0.as_ref();
        words.map(|words| Passphrase::new(&**words).map_err(|error| refuse(error.into()))).transpose()
    }
}

/// The file of a secret key that a caller gave, with its passphrase. Both are wiped, whether they are used
/// or not.
pub struct SecretFile {
    file: Zeroizing<Vec<u8>>,
    words: Words,
}

impl SecretFile {
    /// Takes them up, before anything can fail.
    pub fn new(file: Option<Vec<u8>>, words: Option<Vec<u8>>) -> Option<Self> {
        let words = Words::new(words);
        file.map(|file| Self { file: Zeroizing::new(file), words })
    }

    /// The secret key, which is encrypted if there is a passphrase.
    pub fn read(&self, files: &impl FileContext) -> Result<SecretKey> {
        match self.words.passphrase()? {
            None => from_bytes(files, &self.file).map_err(refuse),
            Some(_) if !is_sealed(&self.file) => {
                Err(raise("FileError", "this secret key is not encrypted: give no passphrase"))
            }
            Some(words) => from_sealed_bytes(files, &self.file, &words).map_err(refuse),
        }
    }
}

/// The file of a secret key, encrypted if there is a passphrase.
pub fn write(files: &impl FileContext, secret: &SecretKey, words: &Words) -> Result<Uint8Array> {
    let file = to_bytes(files, secret).map_err(|error| refuse(error.into()))?;
    match words.passphrase()? {
        None => Ok(Uint8Array::from(&file[..])),
        Some(words) => {
            let sealed = seal_secret(&file, &words, PassphraseCost::default()).map_err(refuse)?;
            Ok(Uint8Array::from(&sealed[..]))
        }
    }
}
