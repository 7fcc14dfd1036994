//! Who asks, and how much each may ask for.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Instant, SystemTime};

use axum::http::{HeaderMap, header};
use windlass::wire::hex;

use crate::problem::{Kind, Problem};
use crate::tokens::{BadTokens, Holder, Tokens};

/// Clients whose quotas are remembered before those are forgotten that have all of theirs.
const MOST_BUCKETS: usize = 4096;

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
    rows: Option<u32>,
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Caller {
    /// The client whose token this is.
    fn of_token(holder: &Holder) -> Self {
        Self { name: format!("token {}", holder.name).into(), rows: holder.rows }
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
        Self { name: name.into(), rows: None }
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }
}

/// Rows that a client may still ask for.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

/// The file of tokens, as it was read last.
#[derive(Debug)]
struct Listed {
    path: PathBuf,
    tokens: RwLock<(Tokens, Option<SystemTime>)>,
}

/// What every request passes.
#[derive(Debug)]
pub struct Gate {
    listed: Option<Listed>,
    rows: Option<u32>,
    buckets: Mutex<HashMap<Arc<str>, Bucket>>,
}

impl Gate {
    /// A gate for those whose tokens are in a file, or for everybody; each may ask for `rows` rows
    /// a minute, or as the file says.
    ///
    /// # Errors
    /// [`BadTokens`].
    pub fn new(tokens: Option<PathBuf>, rows: Option<u32>) -> Result<Self, BadTokens> {
        let listed = match tokens {
            None => None,
            Some(path) => {
                let modified = modified(&path);
                let tokens = RwLock::new((Tokens::read(&path)?, modified));
                Some(Listed { path, tokens })
            }
        };
        Ok(Self { listed, rows, buckets: Mutex::default() })
    }

    /// Reads the file of tokens again if it changed: how many there are now.
    ///
    /// # Errors
    /// [`BadTokens`]; then those that were read before stay, and the file is not looked at again
    /// until its next change.
    pub fn refresh(&self) -> Result<Option<usize>, BadTokens> {
        let Some(Listed { path, tokens }) = &self.listed else { return Ok(None) };
        let now = modified(path);
        if now == tokens.read().unwrap_or_else(PoisonError::into_inner).1 {
            return Ok(None);
        }
        let read = Tokens::read(path);
        let mut held = tokens.write().unwrap_or_else(PoisonError::into_inner);
        held.1 = now;
        held.0 = read?;
        Ok(Some(held.0.count()))
    }

    /// Who asks.
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
        tokens.0.holder(token).map(Caller::of_token).ok_or_else(|| refuse("the token is unknown, or was revoked"))
    }

    /// Counts rows that a client asks for. What a client did not ask for in a minute it may ask for
    /// at once; more does not gather.
    ///
    /// # Errors
    /// [`Kind::QUOTA`] with the seconds to wait; [`Kind::TOO_LARGE`] for more rows than a minute
    /// brings.
    pub fn take(&self, caller: &Caller, rows: usize) -> Result<(), Problem> {
        self.take_at(caller, rows, Instant::now())
    }

    fn take_at(&self, caller: &Caller, rows: usize, now: Instant) -> Result<(), Problem> {
        let Some(most) = caller.rows.or(self.rows) else { return Ok(()) };
        let (wanted, most) = (rows as f64, f64::from(most));
        if wanted > most {
            let cause = format!("{rows} rows, where {caller} may ask for {most} in a minute");
            return Err(Problem::new(&Kind::TOO_LARGE, cause));
        }
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST_BUCKETS {
            // Whoever asked for nothing in a minute has all of it.
            buckets.retain(|_, bucket| now.saturating_duration_since(bucket.at).as_secs() < 60);
        }
        let bucket = buckets.entry(Arc::clone(&caller.name)).or_insert(Bucket { left: most, at: now });
        let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
        *bucket = Bucket { left: (bucket.left + passed * most / 60.0).min(most), at: now };
        if bucket.left < wanted {
            let seconds = ((wanted - bucket.left) * 60.0 / most).ceil() as u64;
            let cause = format!("{caller} has asked for {most} rows in the last minute");
            return Err(Problem::new(&Kind::QUOTA, cause).retry_after(seconds.max(1)));
        }
        bucket.left -= wanted;
        Ok(())
    }

    /// Gives back rows that were not answered.
    pub fn give_back(&self, caller: &Caller, rows: usize) {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get_mut(&caller.name) {
            bucket.left += rows as f64;
        }
    }
}

/// When a file was last written to.
fn modified(path: &std::path::Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|found| found.modified()).ok()
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
        // A line that goes is a token that is worth nothing; a file that is wrong changes nothing.
        let touch = |text: &str, second: u64| {
            std::fs::write(&file, text).unwrap();
            let when = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
            std::fs::File::options().write(true).open(&file).unwrap().set_modified(when).unwrap();
        };
        assert_eq!(gate.refresh().unwrap(), None);
        touch("not a line\n", 1);
        assert!(gate.refresh().is_err());
        assert!(admit(&format!("Bearer {}", *token)).is_ok() && gate.refresh().unwrap().is_none());
        touch("# nobody\n", 2);
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
        assert_eq!(gate.take_at(&one, 61, at(900)).unwrap_err().kind, &Kind::TOO_LARGE);
        let own = Caller { rows: Some(3), ..one.clone() };
        assert_eq!(gate.take_at(&own, 4, at(900)).unwrap_err().kind, &Kind::TOO_LARGE);
        assert!(Gate::new(None, None).unwrap().take_at(&one, 1 << 20, at(0)).is_ok(), "no quota where none is given");
    }

    #[test]
    fn quotas_of_strangers_take_no_memory_for_long() {
        let gate = Gate::new(None, Some(60)).unwrap();
        let begun = Instant::now();
        for number in 0..3 * MOST_BUCKETS as u64 {
            let address = IpAddr::from((number as u32).to_be_bytes());
            let caller = Caller::of_peer(&Peer { address, certificate: None });
            gate.take_at(&caller, 1, begun + Duration::from_millis(50 * number)).unwrap();
        }
        assert!(gate.buckets.lock().unwrap().len() <= MOST_BUCKETS);
    }
}
