//! What a client keeps between queries: secret keys, evaluation keys, and which table it knows.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass::rlwe::{EvaluationKeys, SecretKey};
use windlass::wire::{
    Access, FileContext, Passphrase, Wire, WireError, from_bytes, hex, is_sealed, load_for, load_sealed, read_secret,
    save, save_sealed, sha256, to_bytes, write_new, write_over,
};
use windlass_retrieval::{Client, KeyContext, Moduli, Schema, Setting};
use windlass_secrets::{KeepArgs, SecretError, sweep};

use super::error::{AskError, Result};

/// Below this many bits parameters are refused.
pub const SECURE_BITS: f64 = 128.0;

/// A directory of a client.
#[derive(Debug, Clone)]
pub struct State {
    dir: PathBuf,
    keep: KeepArgs,
}

/// What secret keys are called: one for each size of moduli.
const SECRETS: [&str; 2] = ["secret-wide.key", "secret-compact.key"];

impl State {
    /// The state in a directory, which is made for its owner only if it is missing. What killed
    /// askers left in it goes.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(dir: &Path) -> Result<Self> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(dir).map_err(|error| refused(dir, WireError::from(error)))?;
        sweep(dir);
        Ok(Self { dir: dir.to_owned(), keep: KeepArgs::default() })
    }

    /// The same state, with secret keys opened and encrypted in this way.
    pub fn keeping(self, keep: KeepArgs) -> Self {
        Self { keep, ..self }
    }

    /// Refuses a schema that is not the one that this service had when it was first asked; the
    /// first one is remembered. `accepted` is the beginning of the hash of the only first or new
    /// schema that is accepted.
    ///
    /// # Errors
    /// [`AskError::OtherSchema`], or those of the file system.
    pub fn pin(&self, address: &str, schema: &Schema, accepted: Option<&str>) -> Result<()> {
        let path = self.dir.join(format!("table-{}", &hex(&sha256(address.as_bytes()))[..16]));
        let found = hex(&schema.hash());
        let text = format!("{found} {address}\n");
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let Some(digits) = accepted.filter(|digits| !is_beginning(digits, &found)) {
                    return Err(AskError::OtherSchema {
                        address: address.to_owned(),
                        found: found[..16].to_owned(),
                        known: digits.to_owned(),
                    });
                }
                match write_new(&path, text.as_bytes(), Access::Public) {
                    // Another process was faster: what it found counts.
                    Err(WireError::Io { kind: io::ErrorKind::AlreadyExists, .. }) => {
                        self.pin(address, schema, accepted)
                    }
                    written => written.map_err(|error| refused(&path, error)),
                }
            }
            // What is no text is no hash either.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => match accepted {
                Some(digits) if is_beginning(digits, &found) => {
                    write_over(&path, text.as_bytes()).map_err(|error| refused(&path, error))
                }
                _ => Err(refused(&path, unknown(&found))),
            },
            Err(error) => Err(refused(&path, WireError::from(error))),
            Ok(known) if known.split_whitespace().next() == Some(&found) => Ok(()),
            Ok(_) if accepted.is_some_and(|digits| is_beginning(digits, &found)) => {
                write_over(&path, text.as_bytes()).map_err(|error| refused(&path, error))
            }
            Ok(known) => match known.split_whitespace().next().filter(|known| is_hash(known)) {
                Some(known) => Err(AskError::OtherSchema {
                    address: address.to_owned(),
                    found: found[..16].to_owned(),
                    known: known[..16].to_owned(),
                }),
                None => Err(refused(&path, unknown(&found))),
            },
        }
    }

    /// A client with the secret key for a table's moduli, after `told` was called with λ, which may
    /// refuse. A key that is missing is made, and encrypted where a passphrase was given for it or
    /// the key for other moduli is.
    ///
    /// # Errors
    /// What `told` says; files that are not ours, or not readable; no passphrase, or a wrong one.
    pub fn client(
        &self,
        schema: Schema,
        setting: &Arc<Setting>,
        told: impl FnOnce(f64) -> Result<()>,
    ) -> Result<Client> {
        told(setting.context().params().security().bits)?;
        let name = match setting.moduli() {
            Moduli::Wide => SECRETS[0],
            Moduli::Compact => SECRETS[1],
        };
        let (path, context) = (self.dir.join(name), KeyContext::new(setting));
        if let Some(secret) = self.secret(&path, &context)? {
            return Ok(Client::with_secret(schema, setting, secret)?);
        }
        let passphrase = self.keep.passphrase(&path, self.has_sealed()?)?;
        let client = Client::new(schema.clone(), setting)?;
        if keep_secret(&path, &context, client.secret(), passphrase.as_ref())? {
            return Ok(client);
        }
        // Another process was faster: its key is the one.
        let secret = match &passphrase {
            // It is not asked for again, nor read: it may have come out of a pipe.
            Some(passphrase) => load_sealed(&path, &context, passphrase).map_err(|error| refused(&path, error))?,
            None => self.secret(&path, &context)?.ok_or_else(|| refused(&path, "is gone again"))?,
        };
        Ok(Client::with_secret(schema, setting, secret)?)
    }

    /// Whether a secret key in the directory is encrypted.
    fn has_sealed(&self) -> Result<bool> {
        let mut found = false;
        for path in SECRETS.map(|name| self.dir.join(name)) {
            found |= match read_secret(&path) {
                Err(WireError::Io { kind: io::ErrorKind::NotFound, .. }) => false,
                read => is_sealed(&read.map_err(|error| refused(&path, error))?),
            };
        }
        Ok(found)
    }

    /// The secret key in a file, if there is one.
    fn secret(&self, path: &Path, context: &KeyContext) -> Result<Option<SecretKey>> {
        let bytes = match self.keep.read(path, context.hash()) {
            Err(error) if error.is_missing(path) => return Ok(None),
            Err(SecretError::File { path: file, source }) if file == path && is_damage(&source) => {
                return Err(damaged(path, source));
            }
            read => read?,
        };
        from_bytes(context, &bytes).map(Some).map_err(|error| match &error {
            windlass::Error::Wire(source) if !is_damage(source) => refused(path, error),
            _ => damaged(path, error),
        })
    }

    /// The file of a client's evaluation keys, which are made if they are missing.
    ///
    /// # Errors
    /// Files that are not ours, or not readable.
    pub fn evaluation_keys(&self, client: &Client) -> Result<Vec<u8>> {
        let context = KeyContext::new(client.setting());
        let (shape, secret) = (&client.schema().shape, client.secret());
        // What a table asks for are the keys of so many steps, and perhaps that of products.
        let name = format!("keys-{}-{}-{}", hex(&secret.key_id().0[..8]), shape.depth(), shape.selectors().min(1));
        let path = self.dir.join(name);
        // Keys that cannot be read are made again: the secret key is what must not be lost.
        let found = read::<EvaluationKeys>(&path, &context, secret).or_else(|_| {
            fs::remove_file(&path).map(|()| None).map_err(|error| refused(&path, WireError::from(error)))
        })?;
        if let Some(keys) = found {
            return Ok(to_bytes(&context, &keys)?.to_vec());
        }
        let keys = client.evaluation_keys()?;
        if !keep(&path, &context, &keys)? {
            let keys = load_for::<_, EvaluationKeys>(&path, &context, secret.key_id())?;
            return Ok(to_bytes(&context, &keys)?.to_vec());
        }
        Ok(to_bytes(&context, &keys)?.to_vec())
    }
}

/// Whether these are enough of the first digits of a hash.
fn is_beginning(digits: &str, hash: &str) -> bool {
    digits.len() >= 8 && hash.starts_with(&digits.to_ascii_lowercase())
}

/// Whether a text is a hash in hexadecimal.
fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c))
}

/// The error if it is unknown which table a service had before; it has `found` now.
fn unknown(found: &str) -> String {
    let digits = &found[..16];
    format!(
        "the file is damaged, so the table that the service had before is unknown; accept the table that it has now with --accept-schema {digits}"
    )
}

/// Whether a file holds something else than was written, rather than a file that this program or
/// this passphrase cannot open.
fn is_damage(error: &WireError) -> bool {
    matches!(
        error,
        WireError::NotWindlass
            | WireError::WrongKind { .. }
            | WireError::Truncated { .. }
            | WireError::TrailingBytes { .. }
            | WireError::TooLarge { .. }
            | WireError::Corrupt
            | WireError::Malformed { .. }
            | WireError::Text { .. }
            | WireError::OtherContext { .. }
    )
}

/// A secret key that cannot be read. Nothing is lost with it but the keys that were made of it.
fn damaged(path: &Path, error: impl ToString) -> AskError {
    let error = error.to_string();
    refused(path, format!("{error}; restore the file from a copy, or remove it: the next query makes a new key"))
}

fn refused(path: &Path, error: impl ToString) -> AskError {
    AskError::File { path: path.to_owned(), reason: error.to_string() }
}

/// The value of this key pair in a file, if there is one.
fn read<T: Wire<KeyContext>>(path: &Path, context: &KeyContext, of: &SecretKey) -> Result<Option<T>> {
    match load_for(path, context, of.key_id()) {
        Ok(value) => Ok(Some(value)),
        Err(windlass::Error::Wire(WireError::Io { kind: io::ErrorKind::NotFound, .. })) => Ok(None),
        Err(error) => Err(refused(path, error)),
    }
}

/// Writes a value to a new file; false when there is one.
fn keep<C: FileContext, T: Wire<C>>(path: &Path, context: &C, value: &T) -> Result<bool> {
    kept(path, save(path, context, value).map_err(windlass::Error::from))
}

/// As [`keep`], encrypted where there is a passphrase.
fn keep_secret(path: &Path, context: &KeyContext, key: &SecretKey, passphrase: Option<&Passphrase>) -> Result<bool> {
    match passphrase {
        None => keep(path, context, key),
        Some(passphrase) => kept(path, save_sealed(path, context, key, passphrase)),
    }
}

/// Whether a new file was written; false when there is one.
fn kept(path: &Path, written: windlass::Result<u64>) -> Result<bool> {
    match written {
        Ok(_) => Ok(true),
        Err(windlass::Error::Wire(WireError::Io { kind: io::ErrorKind::AlreadyExists, .. })) => Ok(false),
        Err(error) => Err(refused(path, error)),
    }
}

#[cfg(test)]
mod tests {
    use windlass_retrieval::{Plan, RowStatistics, TableRequirements};

    use super::*;

    fn schema(bytes: usize) -> (Schema, Arc<Setting>) {
        let plan =
            Plan::rows(RowStatistics::of(&vec![vec![1u8; bytes]; 9]).unwrap(), &TableRequirements::default()).unwrap();
        Schema::from_json(&plan.schema.to_json()).unwrap()
    }

    #[test]
    fn keys_are_made_once_and_schemas_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::open(&dir.path().join("new/state")).unwrap();
        let (first, setting) = schema(8);
        let refuse = |bits| Err(AskError::Weak { bits });
        assert!(matches!(state.client(first.clone(), &setting, refuse), Err(AskError::Weak { bits }) if bits >= 128.0));
        assert_eq!(fs::read_dir(&state.dir).unwrap().count(), 0, "nothing is made before it is told");
        let client = state.client(first.clone(), &setting, |_| Ok(())).unwrap();
        let keys = state.evaluation_keys(&client).unwrap();
        let again = state.client(first.clone(), &setting, |_| Ok(())).unwrap();
        assert_eq!(again.secret().key_id(), client.secret().key_id());
        assert_eq!(state.evaluation_keys(&again).unwrap(), keys);
        let file = fs::read_dir(&state.dir).unwrap().flatten().map(|entry| entry.path());
        let file = file.into_iter().find(|path| path.to_string_lossy().contains("keys-")).unwrap();
        fs::write(&file, &keys[..keys.len() / 2]).unwrap();
        let made = state.evaluation_keys(&again).unwrap();
        assert!(made.len() == keys.len() && fs::read(&file).unwrap() == made, "what cannot be read is made again");
        #[cfg(unix)]
        for entry in fs::read_dir(&state.dir).unwrap().flatten() {
            use std::os::unix::fs::PermissionsExt;
            let secret = entry.file_name().to_string_lossy().starts_with("secret");
            let others = entry.metadata().unwrap().permissions().mode() & 0o077;
            assert!(!secret || others == 0, "{entry:?}");
        }
        let (second, _) = schema(9);
        state.pin("http://a", &first, None).unwrap();
        state.pin("http://a", &first, None).unwrap();
        state.pin("http://b", &second, None).unwrap();
        let other = state.pin("http://c", &second, Some("0123456789"));
        assert!(matches!(other, Err(AskError::OtherSchema { .. })), "the first one must be the one that was named");
        let found = hex(&second.hash());
        for accepted in [None, Some(""), Some(&hex(&first.hash())[..16])] {
            let error = state.pin("http://a", &second, accepted).unwrap_err();
            assert!(matches!(error, AskError::OtherSchema { found: digits, .. } if found.starts_with(&digits)));
        }
        state.pin("http://a", &second, Some(&found[..16])).unwrap();
        assert!(state.pin("http://a", &first, None).is_err());
    }

    /// Each says what to do, and with that the state works again.
    #[test]
    fn damaged_files_are_refused_with_a_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::open(dir.path()).unwrap();
        let (schema, setting) = schema(8);
        let made = || state.client(schema.clone(), &setting, |_| Ok(()));
        let file = |beginning: &str| {
            let mut files = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
            files.find(|path| path.file_name().unwrap().to_string_lossy().starts_with(beginning)).unwrap()
        };
        let first = made().unwrap();
        let secret = file("secret-");
        let whole = fs::read(&secret).unwrap();
        let mut bent = whole.clone();
        bent[100] ^= 1;
        for bytes in [&bent[..], &whole[..50], b"", b"not a key"] {
            fs::write(&secret, bytes).unwrap();
            let told = made().expect_err("no key").to_string();
            assert!(told.contains("secret-") && told.contains("or remove it: the next query"), "{told}");
            assert_eq!(fs::read(&secret).unwrap(), bytes, "nothing is made in its place");
        }
        fs::remove_file(&secret).unwrap();
        assert_ne!(made().unwrap().secret().key_id(), first.secret().key_id());
        state.pin("http://a", &schema, None).unwrap();
        let (pin, found) = (file("table-"), hex(&schema.hash()));
        for bytes in [&b""[..], b"\xff\xfe", b"\x1b[2Jxyz http://a", &found.as_bytes()[..40]] {
            fs::write(&pin, bytes).unwrap();
            let told = state.pin("http://a", &schema, None).unwrap_err().to_string();
            assert!(told.contains("damaged, so the table that the service had"), "{told}");
            assert!(told.contains(&format!("--accept-schema {}", &found[..16])) && !told.contains('\x1b'), "{told}");
            state.pin("http://a", &schema, Some(&found[..16])).unwrap();
            state.pin("http://a", &schema, None).unwrap();
        }
    }

    /// Tables of other moduli have another secret key: it is encrypted as the first one is.
    #[test]
    fn a_key_beside_an_encrypted_one_is_encrypted() {
        use clap::Parser as _;
        use windlass::wire::{PassphraseCost, seal_secret};
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            keep: KeepArgs,
        }
        let dir = tempfile::tempdir().unwrap();
        let words = dir.path().join("words");
        fs::write(&words, "two or three words\n").unwrap();
        let state = State::open(&dir.path().join("state")).unwrap();
        let (schema, setting) = schema(8);
        let other = if setting.moduli() == Moduli::Wide { Moduli::Compact } else { Moduli::Wide };
        let other = Arc::new(Setting::new(other).unwrap());
        let path = |setting: &Setting| state.dir.join(SECRETS[usize::from(setting.moduli() == Moduli::Compact)]);
        let made = |state: &State, setting| state.client(schema.clone(), setting, |_| Ok(()));
        made(&state, &setting).unwrap();
        let plain = fs::read(path(&setting)).unwrap();
        let passphrase = Passphrase::new("two or three words").unwrap();
        let sealed = seal_secret(&plain, &passphrase, PassphraseCost::new(64, 1, 1).unwrap()).unwrap();
        fs::write(path(&setting), sealed).unwrap();
        // A passphrase that cannot be read leaves no key.
        let lost = dir.path().join("lost");
        let line = Line::try_parse_from(["ask".as_ref(), "--passphrase-file".as_ref(), lost.as_os_str()]).unwrap();
        let refused = made(&state.clone().keeping(line.keep), &other).expect_err("no key without a passphrase");
        assert!(refused.to_string().contains("lost"), "{refused}");
        assert!(!path(&other).exists());
        let line = Line::try_parse_from(["ask".as_ref(), "--passphrase-file".as_ref(), words.as_os_str()]).unwrap();
        let keeping = state.clone().keeping(line.keep);
        let client = made(&keeping, &other).unwrap();
        assert!(is_sealed(&fs::read(path(&other)).unwrap()));
        assert_eq!(made(&keeping, &other).unwrap().secret().key_id(), client.secret().key_id());
    }
}
