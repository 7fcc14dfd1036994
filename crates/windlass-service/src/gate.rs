//! Who may ask, and how much.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Instant;

use axum::http::{HeaderMap, header};
use windlass::wire::{hex, sha256};

use crate::problem::{Kind, Problem};
use crate::quota::Quotas;
use crate::tokens::{BadTokens, Holder, Tokens};

/// The other end of a connection.
#[derive(Debug, Clone)]
pub struct Peer {
    /// Its address.
    pub address: IpAddr,
    /// SHA-256 of the certificate that it showed (mutual TLS).
    pub certificate: Option<[u8; 32]>,
}

/// A client, as the service tells clients apart: by token, else by certificate, else by address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Caller {
    name: Arc<str>,
    portions: Option<u32>,
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Caller {
    /// The client whose token this is.
    fn of_token(holder: &Holder) -> Self {
        Self { name: format!("token {}", holder.name).into(), portions: holder.portions }
    }

    /// The client at the other end of a connection, where no token says more.
    fn of_peer(peer: &Peer) -> Self {
        let name = match (&peer.certificate, peer.address.to_canonical()) {
            (Some(certificate), _) => format!("certificate {}", &hex(certificate)[..16]),
            (None, IpAddr::V4(address)) => format!("address {address}"),
            // One line has 2^64 addresses.
            (None, IpAddr::V6(address)) => {
                let [a, b, c, d, ..] = address.segments();
                format!("addresses {a:x}:{b:x}:{c:x}:{d:x}::/64")
            }
        };
        Self { name: name.into(), portions: None }
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }
}

/// The file of tokens, as it was read last.
#[derive(Debug)]
struct Listed {
    path: PathBuf,
    tokens: RwLock<Tokens>,
    /// The hash of what the file held, or nothing where it could not be read.
    held: Mutex<Option<[u8; 32]>>,
}

/// The file of tokens is faulty since its last change.
#[derive(Debug, thiserror::Error)]
#[error(
    "{error}; {left} tokens stay valid, namely the known ones that the file still lists, and new ones are ignored: fix the file"
)]
pub struct FaultyTokens {
    error: BadTokens,
    /// How many tokens count.
    left: usize,
}

/// What every request passes.
#[derive(Debug)]
pub struct Gate {
    listed: Option<Listed>,
    portions: Option<u32>,
    quotas: Quotas,
}

impl Gate {
    /// A gate for clients whose tokens are in a file, or for all clients; each may ask for
    /// `portions` portions of rows a minute, or as the file says.
    ///
    /// # Errors
    /// [`BadTokens`].
    pub fn new(tokens: Option<PathBuf>, portions: Option<u32>) -> Result<Self, BadTokens> {
        let listed = match tokens {
            None => None,
            Some(path) => {
                let held = Mutex::new(content(&path));
                let tokens = RwLock::new(Tokens::read(&path)?);
                Some(Listed { path, tokens, held })
            }
        };
        Ok(Self { listed, portions, quotas: Quotas::default() })
    }

    /// Reads the file of tokens again if it changed: how many there are now.
    ///
    /// # Errors
    /// [`FaultyTokens`]; then those tokens are left whose lines are still there, and none if the file
    /// cannot be read. It is not looked at again until its next change.
    pub fn refresh(&self) -> Result<Option<usize>, FaultyTokens> {
        let Some(Listed { path, tokens, held }) = &self.listed else { return Ok(None) };
        let now = content(path);
        let before = std::mem::replace(&mut *held.lock().unwrap_or_else(PoisonError::into_inner), now);
        if now == before {
            return Ok(None);
        }
        let mut tokens = tokens.write().unwrap_or_else(PoisonError::into_inner);
        match tokens.reread(path) {
            Ok(()) => Ok(Some(tokens.count())),
            Err(error) => Err(FaultyTokens { error, left: tokens.count() }),
        }
    }

    /// Identifies the client.
    ///
    /// # Errors
    /// [`Kind::UNAUTHORISED`] for no token or an unknown one, where tokens are asked for.
    pub fn admit(&self, headers: &HeaderMap, peer: &Peer) -> Result<Caller, Problem> {
        let Some(Listed { tokens, .. }) = &self.listed else { return Ok(Caller::of_peer(peer)) };
        let refuse = |cause: &str| Problem::new(&Kind::UNAUTHORISED, cause);
        let said = headers.get(header::AUTHORIZATION).ok_or_else(|| refuse("the request has no token"))?;
        let token = said.to_str().ok().and_then(|said| said.split_once(' '));
        let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
        let token = token.ok_or_else(|| refuse("the header Authorization holds no bearer token"))?;
        let tokens = tokens.read().unwrap_or_else(PoisonError::into_inner);
        tokens.holder(token).map(Caller::of_token).ok_or_else(|| refuse("the token is unknown, or was revoked"))
    }

    /// Counts portions of rows that a client asks for. What a client did not ask for in a minute it
    /// may ask for at once; more does not gather.
    ///
    /// # Errors
    /// [`Kind::QUOTA`] with the seconds to wait; [`Kind::ABOVE_QUOTA`] for more than a minute brings.
    pub fn take(&self, caller: &Caller, portions: usize) -> Result<(), Problem> {
        self.take_at(caller, portions, Instant::now())
    }

    fn take_at(&self, caller: &Caller, portions: usize, now: Instant) -> Result<(), Problem> {
        let Some(most) = caller.portions.or(self.portions) else { return Ok(()) };
        if portions > most as usize {
            let cause = format!(
                "the request asks for {portions} portions of rows, but {caller} may ask for {most} in a minute"
            );
            return Err(Problem::new(&Kind::ABOVE_QUOTA, cause));
        }
        self.quotas.take(&caller.name, most, portions, now).map_err(|used| {
            let cause =
                format!("{caller} may ask for {most} portions of rows in a minute and has {} of them left", used.left);
            Problem::new(&Kind::QUOTA, cause).retry_after(used.seconds)
        })
    }

    /// Gives back portions that were not answered.
    pub fn give_back(&self, caller: &Caller, portions: usize) {
        self.quotas.give_back(&caller.name, portions);
    }
}

/// The hash of what a file holds.
fn content(path: &std::path::Path) -> Option<[u8; 32]> {
    std::fs::read(path).ok().map(|bytes| sha256(&bytes))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::tokens::add;

    fn peer(address: &str) -> Peer {
        Peer { address: address.parse().unwrap(), certificate: None }
    }

    fn bearing(text: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::AUTHORIZATION, text.parse().unwrap())])
    }

    #[test]
    fn clients_are_told_apart_by_token_certificate_or_address() {
        let open = Gate::new(None, None).unwrap();
        let name = |peer: &Peer| open.admit(&HeaderMap::new(), peer).unwrap().to_string();
        assert_eq!(name(&peer("10.0.0.1")), "address 10.0.0.1");
        assert_eq!(name(&peer("::ffff:10.0.0.1")), "address 10.0.0.1");
        assert_eq!(name(&peer("2001:db8:1:2:3:4:5:6")), name(&peer("2001:db8:1:2:ffff::1")));
        assert_ne!(name(&peer("2001:db8:1:2::1")), name(&peer("2001:db8:1:3::1")));
        let shown = Peer { certificate: Some([0xab; 32]), ..peer("10.0.0.1") };
        assert_eq!(name(&shown), "certificate abababababababab");
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tokens");
        let token = add(&file, "ada", None).unwrap();
        let gate = Gate::new(Some(file.clone()), None).unwrap();
        let admit = |text: &str| gate.admit(&bearing(text), &shown).map(|caller| caller.to_string());
        assert_eq!(admit(&format!("Bearer {}", *token)).unwrap(), "token ada");
        assert_eq!(admit(&format!("bearer  {}", *token)).unwrap(), "token ada");
        for bad in ["Bearer", "Bearer x", &format!("Basic {}", *token), &token] {
            assert_eq!(admit(bad).unwrap_err().kind, &Kind::UNAUTHORISED, "{bad}");
        }
        assert_eq!(gate.admit(&HeaderMap::new(), &shown).unwrap_err().kind, &Kind::UNAUTHORISED);
        // A line that goes is a token that is worth nothing, whatever else is in the file.
        let touch = |text: &str| std::fs::write(&file, text).unwrap();
        let line = std::fs::read_to_string(&file).unwrap();
        assert_eq!(gate.refresh().unwrap(), None);
        touch(&format!("not a line\n{line}"));
        assert!(gate.refresh().unwrap_err().to_string().contains("1 tokens stay valid"));
        assert!(admit(&format!("Bearer {}", *token)).is_ok() && gate.refresh().unwrap().is_none());
        touch("not a line\n");
        assert!(gate.refresh().is_err() && admit(&format!("Bearer {}", *token)).is_err());
        touch(&line);
        assert_eq!(gate.refresh().unwrap(), Some(1));
        // A file that is gone lets nobody in.
        std::fs::remove_file(&file).unwrap();
        assert!(gate.refresh().unwrap_err().to_string().contains("0 tokens stay valid"));
        assert!(admit(&format!("Bearer {}", *token)).is_err() && gate.refresh().unwrap().is_none());
        touch(&line);
        assert_eq!(gate.refresh().unwrap(), Some(1));
        assert!(admit(&format!("Bearer {}", *token)).is_ok());
        touch("# nobody\n");
        assert_eq!(gate.refresh().unwrap(), Some(0));
        assert!(admit(&format!("Bearer {}", *token)).is_err());
    }

    #[test]
    fn quotas_are_those_of_each_client_and_fill_up_again() {
        let gate = Gate::new(None, Some(60)).unwrap();
        let [one, other] = ["10.0.0.1", "10.0.0.2"].map(|address| Caller::of_peer(&peer(address)));
        let begun = Instant::now();
        let at = |seconds: u64| begun + Duration::from_secs(seconds);
        assert!(gate.take_at(&one, 60, at(0)).is_ok(), "a minute's rows may come at once");
        let refused = gate.take_at(&one, 2, at(0)).unwrap_err();
        assert_eq!((refused.kind, refused.retry_after), (&Kind::QUOTA, Some(2)));
        assert!(gate.take_at(&other, 60, at(0)).is_ok(), "another client has its own");
        assert!(gate.take_at(&one, 2, at(2)).is_ok());
        assert!(gate.take_at(&one, 1, at(2)).is_err());
        gate.give_back(&one, 1);
        assert!(gate.take_at(&one, 1, at(2)).is_ok(), "what was not answered is given back");
        assert!(gate.take_at(&one, 60, at(500)).is_ok() && gate.take_at(&one, 1, at(500)).is_err(), "no more gathers");
        assert_eq!(gate.take_at(&one, 61, at(900)).unwrap_err().kind, &Kind::ABOVE_QUOTA);
        let own = Caller { portions: Some(3), ..one.clone() };
        assert_eq!(gate.take_at(&own, 4, at(900)).unwrap_err().kind, &Kind::ABOVE_QUOTA);
        assert!(Gate::new(None, None).unwrap().take_at(&one, 1 << 20, at(0)).is_ok(), "no quota where none is given");
    }
}
