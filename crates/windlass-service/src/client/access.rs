//! How a client shows who it is, and whom it trusts.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use ureq::http::Uri;
use windlass::wire::WireError;
use zeroize::Zeroizing;

use super::error::{AskError, Result};

/// Longest file of a token.
const MOST: u64 = 4096;

/// What a client brings to a service: none of it is needed where the service asks for nothing.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// For https: a PEM file with the certificates of authorities, or with the service's own
    /// certificate, which is then the only one that is taken for it. Without it, the authorities
    /// that browsers trust.
    pub authority: Option<PathBuf>,
    /// PEM files with the client's own certificate and its private key (mutual TLS).
    pub certificate: Option<[PathBuf; 2]>,
    /// The token that identifies the client.
    pub token: Option<Token>,
    /// Whether it goes to the service itself and not through a proxy that the environment names.
    pub direct: bool,
}

/// A secret that names a client to a service. It is sent over https; without https only to this
/// machine.
#[derive(Clone)]
pub struct Token(Zeroizing<String>);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").finish_non_exhaustive()
    }
}

impl Token {
    /// The token in the first line of a file.
    ///
    /// # Errors
    /// [`AskError::File`] for a file that cannot be read or holds none.
    pub fn read(path: &Path) -> Result<Self> {
        let refuse = |reason: String| AskError::File { path: path.to_owned(), reason };
        let system = |error: std::io::Error| refuse(WireError::from(error).to_string());
        let mut text = Zeroizing::new(String::new());
        let file = std::fs::File::open(path).map_err(system)?;
        std::io::Read::read_to_string(&mut std::io::Read::take(file, MOST), &mut text).map_err(system)?;
        let line = text.lines().next().unwrap_or_default().trim();
        if line.is_empty() || !line.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(refuse(
                "its first line is not a token, which has letters, digits and signs and no blanks; ask the owner of the service for one (windlass serve --new-token)"
                    .to_owned(),
            ));
        }
        Ok(Self(Zeroizing::new(line.to_owned())))
    }

    /// The value of the header `Authorization`.
    pub(crate) fn header(&self) -> Zeroizing<String> {
        Zeroizing::new(format!("Bearer {}", *self.0))
    }
}

/// Whether an address is one of https.
pub(crate) fn is_https(address: &Uri) -> bool {
    address.scheme_str().is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"))
}

/// Whether an address is that of this machine.
fn is_here(address: &Uri) -> bool {
    let host = address.host().unwrap_or_default();
    let number = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost") || number.parse().is_ok_and(|number: IpAddr| number.is_loopback())
}

/// Refuses to send a token in the clear to another machine.
///
/// # Errors
/// [`AskError::Address`].
pub(crate) fn check_token_way(address: &Uri) -> Result<()> {
    let plain = address.scheme_str().is_some_and(|scheme| scheme.eq_ignore_ascii_case("http"));
    if is_https(address) || (plain && is_here(address)) {
        return Ok(());
    }
    Err(AskError::Address {
        reason: "the token would be sent unencrypted: write the address as https://HOST:PORT".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_go_over_https_or_stay_on_this_machine() {
        let way = |address: &str| check_token_way(&address.parse().unwrap());
        for good in [
            "https://tables.example",
            "HTTPS://tables.example:8765",
            "http://localhost:1",
            "HTTP://LOCALHOST",
            "http://127.0.0.1:8765/a",
            "http://[::1]:80",
        ] {
            assert!(way(good).is_ok(), "{good}");
        }
        for bad in [
            "http://tables.example:80",
            "HTTP://tables.example",
            "hTTp://10.0.0.1",
            "http://[2001:db8::1]:80",
            "http://localhost.example",
            "http://localhost:1@tables.example",
            "ftp://localhost",
            "localhost:8765",
            "//localhost",
            "/localhost",
        ] {
            assert!(bad.parse::<Uri>().is_err() || way(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn tokens_are_the_first_line_of_a_file_and_are_not_shown() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("token");
        std::fs::write(&file, "  s3cret-Token \nanother line\n").unwrap();
        let token = Token::read(&file).unwrap();
        assert_eq!(*token.header(), "Bearer s3cret-Token");
        assert!(!format!("{token:?}").contains("s3cret"));
        for bad in ["", "\n", "two words\n", "\u{1b}[2J\n", "t\u{f6}ken\n"] {
            std::fs::write(&file, bad).unwrap();
            assert!(Token::read(&file).unwrap_err().to_string().contains("is not a token"), "{bad:?}");
        }
        assert!(Token::read(&dir.path().join("nowhere")).unwrap_err().to_string().contains("no such file"));
    }
}
