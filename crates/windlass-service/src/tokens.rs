//! Who may ask: clients with a token, as a file lists them.
//!
//! A token is 32 random bytes in hexadecimal. The file holds their SHA-256, so that a reader of the
//! file can ask nothing; a hash of random bytes needs no salt and no slow function. One line a
//! client:
//!
//! ```text
//! NAME SHA256-OF-TOKEN [PORTIONS-A-MINUTE]
//! ```

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass::rlwe::context::os_rng;
use windlass::wire::{hex, sha256};
use zeroize::Zeroizing;

use crate::keys::parse_name;

/// Longest file that is read.
const MOST_BYTES: u64 = 1 << 22;
/// Longest name of a client.
const MOST_NAME: usize = 64;

/// What the file states about a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its name.
    pub name: Arc<str>,
    /// Portions of rows that it may ask for in a minute, if that is its own number.
    pub portions: Option<u32>,
}

/// The clients of a file, by the hash of their token.
#[derive(Debug, Default)]
pub struct Tokens {
    holders: HashMap<[u8; 32], Holder>,
}

/// A file of tokens that is not taken.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct BadTokens {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// What a text lists, and what is wrong with it.
#[derive(Debug, Default)]
struct Listing {
    /// The lines that are right.
    tokens: Tokens,
    /// Tokens of lines that are faulty beside that.
    faulty: HashSet<[u8; 32]>,
    /// The first fault.
    fault: Option<String>,
}

impl Listing {
    fn of(text: &str) -> Self {
        let mut listing = Self::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            let taken = holder(&words).and_then(|(hash, holder)| match listing.tokens.holders.entry(hash) {
                Entry::Vacant(place) => {
                    place.insert(holder);
                    Ok(())
                }
                Entry::Occupied(_) => {
                    Err("the token also stands in a line above: give every client a different token".to_owned())
                }
            });
            if let Err(reason) = taken {
                listing.faulty.extend(words.get(1).and_then(|hash| parse_name(hash)));
                listing.fault.get_or_insert_with(|| format!("line {}: {reason}", number + 1));
            }
        }
        listing
    }
}

/// The client of a line, by the hash of its token.
fn holder(words: &[&str]) -> Result<([u8; 32], Holder), String> {
    let &[name, hash, ref rest @ ..] = words else {
        return Err("expected NAME SHA256-OF-TOKEN [PORTIONS-A-MINUTE]".to_owned());
    };
    check_name(name)?;
    let hash = parse_name(hash)
        .ok_or("the second word is not a SHA-256 of 64 hexadecimal digits: write the hash, not the token")?;
    let portions = match rest {
        [] => None,
        [portions] => Some(
            portions
                .parse::<u32>()
                .ok()
                .filter(|&portions| portions > 0)
                .ok_or("the third word is not a number of at least 1: write how many portions of rows the client may ask for in a minute")?,
        ),
        _ => return Err("the line has more than three words".to_owned()),
    };
    Ok((hash, Holder { name: name.into(), portions }))
}

impl Tokens {
    /// Reads a file.
    ///
    /// # Errors
    /// [`BadTokens`] with the line that cannot be read.
    pub fn read(path: &Path) -> Result<Self, BadTokens> {
        Self::parse(&read_text(path)?).map_err(|reason| BadTokens { path: path.to_owned(), reason })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let listing = Listing::of(text);
        listing.fault.map_or(Ok(listing.tokens), Err)
    }

    /// Reads a file again. A faulty file admits no new client, and revokes every token whose line
    /// is gone. One that cannot be read takes all tokens.
    ///
    /// # Errors
    /// [`BadTokens`] with the first line that cannot be read; then these are the tokens that are left.
    pub(crate) fn reread(&mut self, path: &Path) -> Result<(), BadTokens> {
        let refuse = |reason: String| BadTokens { path: path.to_owned(), reason };
        let listing = match read_text(path) {
            Ok(text) => Listing::of(&text),
            Err(error) => {
                self.holders.clear();
                return Err(error);
            }
        };
        let Some(fault) = listing.fault else {
            *self = listing.tokens;
            return Ok(());
        };
        self.holders.retain(|hash, holder| match listing.tokens.holders.get(hash) {
            Some(now) => {
                now.clone_into(holder);
                true
            }
            None => listing.faulty.contains(hash),
        });
        Err(refuse(fault))
    }

    /// Whose token it is.
    pub fn holder(&self, token: &str) -> Option<&Holder> {
        // Who tries tokens learns from times of look-ups about hashes, not about tokens.
        self.holders.get(&sha256(token.as_bytes()))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.holders.len()
    }
}

/// What a file of tokens holds.
fn read_text(path: &Path) -> Result<String, BadTokens> {
    let refuse = |reason: String| BadTokens { path: path.to_owned(), reason };
    let length = fs::metadata(path).map_err(|error| refuse(error.to_string()))?.len();
    if length > MOST_BYTES {
        return Err(refuse(format!("the file has {length} bytes, but a file of tokens has at most {MOST_BYTES}")));
    }
    fs::read_to_string(path).map_err(|error| refuse(error.to_string()))
}

fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '@');
    if name.is_empty() || name.len() > MOST_NAME || !name.chars().all(plain) {
        return Err(format!("a name has 1 to {MOST_NAME} letters, digits and . _ - @"));
    }
    Ok(())
}

/// A fresh token for a client, whose line is added to a file (which is made, for only its owner, if
/// it is missing).
///
/// # Errors
/// [`BadTokens`]: a name that exists or is not allowed, a file that cannot be read or
/// written, no randomness.
pub fn add(path: &Path, name: &str, portions: Option<u32>) -> Result<Zeroizing<String>, BadTokens> {
    let refuse = |reason: String| BadTokens { path: path.to_owned(), reason };
    check_name(name).map_err(refuse)?;
    let mut tokens = Tokens::default();
    let mut line = String::new();
    if path.exists() {
        let text = read_text(path)?;
        tokens = Tokens::parse(&text).map_err(refuse)?;
        if !text.is_empty() && !text.ends_with('\n') {
            // An editor left the last line open: what is added begins one of its own.
            line.push('\n');
        }
    }
    if tokens.holders.values().any(|holder| &*holder.name == name) {
        return Err(refuse(format!("{name} already has a token: remove its line first")));
    }
    let mut bytes = Zeroizing::new([0; 32]);
    rand_core::RngCore::fill_bytes(&mut os_rng().map_err(|error| refuse(error.to_string()))?, &mut *bytes);
    let token = Zeroizing::new(hex(&*bytes));
    let portions = portions.map_or_else(String::new, |portions| format!(" {portions}"));
    line += &format!("{name} {}{portions}\n", hex(&sha256(token.as_bytes())));
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| file.write_all(line.as_bytes()));
    written.map_err(|error| refuse(error.to_string()))?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_made_listed_and_recognised() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tokens");
        let [ada, alan] = [add(&file, "ada", None).unwrap(), add(&file, "alan", Some(30)).unwrap()];
        assert_ne!(*ada, *alan);
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains(ada.as_str()) && !text.contains(alan.as_str()), "the file holds hashes alone");
        let tokens = Tokens::read(&file).unwrap();
        assert_eq!(tokens.count(), 2);
        assert_eq!(tokens.holder(&ada), Some(&Holder { name: "ada".into(), portions: None }));
        assert_eq!(tokens.holder(&alan), Some(&Holder { name: "alan".into(), portions: Some(30) }));
        for stranger in ["", "ada", &ada[1..], &text[4..68]] {
            assert_eq!(tokens.holder(stranger), None, "{stranger}");
        }
        assert!(add(&file, "ada", None).unwrap_err().to_string().contains("already"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0);
        }
    }

    #[test]
    fn a_line_that_an_editor_left_open_stays_a_line_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tokens");
        let ada = add(&file, "ada", Some(5)).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        for open in [text.trim_end().to_owned(), format!("{text}# on leave")] {
            fs::write(&file, &open).unwrap();
            let alan = add(&file, "alan", None).unwrap();
            let tokens = Tokens::read(&file).unwrap();
            assert_eq!(tokens.count(), 2, "{open:?}");
            assert_eq!(tokens.holder(&ada).unwrap().portions, Some(5));
            assert_eq!(&*tokens.holder(&alan).unwrap().name, "alan");
        }
        fs::write(&file, "").unwrap();
        add(&file, "ada", None).unwrap();
        assert!(fs::read_to_string(&file).unwrap().starts_with("ada "), "an empty file gets no empty line");
    }

    #[test]
    fn files_that_are_wrong_are_refused_by_line() {
        let hash = "0f".repeat(32);
        let parsed = Tokens::parse(&format!("# who\n\n ada {hash}  # of the first floor\n")).unwrap();
        assert_eq!(parsed.count(), 1);
        for (text, part) in [
            ("ada\n".to_owned(), "line 1: expected"),
            (format!("\nada {}\n", &hash[1..]), "line 2: the second word"),
            (format!("a/b {hash}\n"), "a name has"),
            (format!("{} {hash}\n", "a".repeat(65)), "a name has"),
            (format!("ada {hash} 0\n"), "at least 1"),
            (format!("ada {hash} many\n"), "at least 1"),
            (format!("ada {hash} 1 2\n"), "more than three"),
            (format!("ada {hash}\nalan {hash}\n"), "line 2: the token also stands in a line above"),
            (format!("ada {hash}\n\nthis\nthat\n"), "line 3: expected"),
        ] {
            let told = Tokens::parse(&text).unwrap_err();
            assert!(told.contains(part), "{told}");
        }
    }

    /// If a line is gone, its token is worth nothing, for any other lines.
    #[test]
    fn a_faulty_file_takes_tokens_and_gives_none() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tokens");
        let [ada, alan, grace, new] =
            ["ada", "alan", "grace", "new"].map(|name| add(&file, name, Some(9)).unwrap().to_string());
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let begin = || {
            fs::write(&file, lines[..3].join("\n")).unwrap();
            Tokens::read(&file).unwrap()
        };
        let known = |tokens: &Tokens| {
            [&ada, &alan, &grace, &new].map(|token| tokens.holder(token).map(|holder| holder.portions.unwrap()))
        };
        let mut tokens = begin();
        assert_eq!(known(&tokens), [Some(9), Some(9), Some(9), None]);
        // alan is gone; ada has less, grace's line is faulty, new's is right, and one is nonsense.
        let less = format!("{}5", lines[0].strip_suffix('9').unwrap());
        fs::write(&file, [&less, "nonsense", &format!("{} x", lines[2]), lines[3]].join("\n")).unwrap();
        let told = tokens.reread(&file).unwrap_err().to_string();
        assert!(told.contains("line 2: expected"), "{told}");
        assert_eq!(known(&tokens), [Some(5), None, Some(9), None]);
        // What was mended is what the file says.
        fs::write(&file, [&less, lines[3]].join("\n")).unwrap();
        tokens.reread(&file).unwrap();
        assert_eq!(known(&tokens), [Some(5), None, None, Some(9)]);
        let mut tokens = begin();
        fs::remove_file(&file).unwrap();
        tokens.reread(&file).unwrap_err();
        assert_eq!(tokens.count(), 0, "no file, no token");
    }
}
