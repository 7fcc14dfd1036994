//! Secret keys in the bytes of their files. What of them lies in memory here is wiped.

use js_sys::Uint8Array;
use windlass::rlwe::SecretKey;
use windlass::wire::{
    FileContext, Passphrase, PassphraseCost, from_bytes, from_sealed_bytes, is_sealed, seal_secret, to_bytes,
};
use zeroize::Zeroizing;

use crate::Result;
use crate::error::{raise, refuse};

fn passphrase(words: Vec<u8>) -> Result<Passphrase> {
    Passphrase::new(&*Zeroizing::new(words)).map_err(|error| refuse(error.into()))
}

/// The file of a secret key, encrypted if there is a passphrase.
pub fn write(files: &impl FileContext, secret: &SecretKey, words: Option<Vec<u8>>) -> Result<Uint8Array> {
    let file = to_bytes(files, secret).map_err(|error| refuse(error.into()))?;
    match words {
        None => Ok(Uint8Array::from(&file[..])),
        Some(words) => {
            let sealed = seal_secret(&file, &passphrase(words)?, PassphraseCost::default()).map_err(refuse)?;
            Ok(Uint8Array::from(&sealed[..]))
        }
    }
}

/// The secret key in a file, which is encrypted if there is a passphrase.
pub fn read(files: &impl FileContext, file: Vec<u8>, words: Option<Vec<u8>>) -> Result<SecretKey> {
    let file = Zeroizing::new(file);
    match words {
        None => from_bytes(files, &file).map_err(refuse),
        Some(words) => {
            let words = passphrase(words)?;
            if !is_sealed(&file) {
                return Err(raise("FileError", "this secret key is not encrypted: give no passphrase"));
            }
            from_sealed_bytes(files, &file, &words).map_err(refuse)
        }
    }
}
