//! Messages of several parties over HTTP.
//!
//! The mailbox is trusted with nothing: messages are signed, and encrypted where they are secret. It keeps each under
//! the digest of its agreement and the SHA-256 of its bytes, so that nothing is replaced and what is sent twice is there
//! once.
//!
//! | request | answer |
//! |---|---|
//! | `PUT /agreements/{digest}/{sha256}` | 201 for a new message, 204 for one that is there |
//! | `GET /agreements/{digest}` | the messages as JSON: `sha256`, `bytes`, `from`, `to`, `step` |
//! | `GET /agreements/{digest}/{sha256}` | a message |
//! | `GET /health` | `ok` |
//!
//! **Warning.** It does not check signatures: it does not know the agreements. Who may send can fill it, up to its
//! bounds. Tokens (`--tokens`) keep strangers out.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Path as InPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Router, extract::rejection::PathRejection};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use windlass::wire::{Access, Expected, FieldReader, Kind as Kinds, WireError, hex, open, sha256, write_new};

use crate::gate::{Gate, Peer};
use crate::problem::{Kind, Problem};
use crate::start_error::StartError;

/// Bounds of what clients can make grow.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes of a message.
    pub message: usize,
    /// Messages of an agreement.
    pub messages: usize,
    /// Agreements.
    pub agreements: usize,
    /// Bytes of all messages.
    pub bytes: u64,
    /// For the body of a request.
    pub time: Duration,
}

/// Bodies that are read at the same time.
const BODIES: usize = 4;

const BAD_NAME: Kind = Kind {
    name: "bad-name",
    status: 400,
    title: "This is not the name of an agreement or of a message",
    fix: "name both by their SHA-256, 64 hexadecimal digits",
};
const OTHER_NAME: Kind = Kind {
    name: "other-name",
    status: 400,
    title: "The name is not the hash of the body",
    fix: "send the whole message, under the SHA-256 of its bytes",
};
const NO_MESSAGE: Kind = Kind {
    name: "no-message",
    status: 400,
    title: "The body is no message of this agreement",
    fix: "send messages that 'windlass party' wrote for this agreement",
};
const TOO_LARGE: Kind = Kind {
    name: "too-large",
    status: 413,
    title: "The message is longer than this mailbox allows",
    fix: "ask the owner of the mailbox for a larger bound (--message-mib)",
};
const FULL: Kind = Kind {
    name: "full",
    status: 507,
    title: "The mailbox is full",
    fix: "tell the owner of the mailbox: what is done can be removed, or the bounds raised",
};
const ABSENT: Kind =
    Kind { name: "absent", status: 404, title: "No such message", fix: "list the messages of the agreement first" };

/// What is there.
#[derive(Debug, Default)]
struct Held {
    /// Messages of each agreement.
    agreements: BTreeMap<String, usize>,
    bytes: u64,
}

/// A directory of messages.
#[derive(Debug)]
pub struct Mailbox {
    directory: PathBuf,
    bounds: Bounds,
    gate: Gate,
    held: Mutex<Held>,
    bodies: Semaphore,
}

/// Who sent a message, whom it is for (0 for everyone), and for which step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Heading {
    from: u16,
    to: u16,
    step: u8,
}

/// Bytes of a container before its payload, and of a payload before its body.
const HEADER: usize = 68;
const FIELDS: usize = 32 + 2 + 2 + 1;

/// The names of steps, as in names of files.
fn step_name(step: u8) -> String {
    match step {
        1 => "keys".into(),
        2 => "first".into(),
        3 => "dealt".into(),
        4 => "second".into(),
        5 => "decryption".into(),
        6 => "switch".into(),
        7 => "masked".into(),
        8 => "delegation".into(),
        other => format!("step{other}"),
    }
}

impl Heading {
    /// Of the first bytes of a payload.
    fn of(fields: &[u8]) -> Result<([u8; 32], Self), WireError> {
        const WHAT: &str = "message of a party";
        let mut fields = FieldReader::new(fields);
        let digest = fields.array(WHAT)?;
        let (from, to) = (fields.u16(WHAT)?, fields.u16(WHAT)?);
        let [step] = fields.array(WHAT)?;
        Ok((digest, Self { from, to, step }))
    }

    /// Of a whole message, of any parameters, whose agreement has this digest.
    fn checked(message: &[u8], agreement: &str) -> Result<Self, Problem> {
        let wrong = |error: WireError| Problem::new(&NO_MESSAGE, error);
        let context = message.get(12..44).and_then(|hash| hash.try_into().ok()).unwrap_or_default();
        let limit = message.len() as u64;
        let expected = Expected { kind: Kinds::PartyMessage, context, key: None, limit };
        let (_, payload) = open(message, &expected).map_err(wrong)?;
        let (digest, heading) = Self::of(payload).map_err(wrong)?;
        if hex(&digest) != agreement {
            return Err(Problem::new(&NO_MESSAGE, format!("it is of the agreement {}", hex(&digest))));
        }
        Ok(heading)
    }
}

/// Whether a text is a hash in lower case.
fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

impl Mailbox {
    /// The mailbox in a directory, which is made if it is missing.
    ///
    /// # Errors
    /// If the directory or the file of tokens cannot be read.
    pub fn start(directory: &Path, bounds: Bounds, tokens: Option<PathBuf>) -> Result<Arc<Self>, StartError> {
        fs::create_dir_all(directory)?;
        windlass_secrets::sweep(directory);
        let mut held = Held::default();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !is_hash(&name) {
                continue;
            }
            windlass_secrets::sweep(&entry.path());
            for message in fs::read_dir(entry.path())? {
                held.bytes += message?.metadata()?.len();
                *held.agreements.entry(name.clone()).or_default() += 1;
            }
        }
        let gate = Gate::new(tokens, None)?;
        let (directory, held) = (directory.to_owned(), Mutex::new(held));
        Ok(Arc::new(Self { directory, bounds, gate, held, bodies: Semaphore::new(BODIES) }))
    }

    fn place(&self, agreement: &str, name: &str) -> PathBuf {
        self.directory.join(agreement).join(format!("{name}.message"))
    }

    /// Keeps a message; false if it is there.
    fn keep(&self, agreement: &str, name: &str, message: &[u8]) -> Result<bool, Problem> {
        let found = hex(&sha256(message));
        if found != name {
            return Err(Problem::new(&OTHER_NAME, format!("the SHA-256 of the body is {found}")));
        }
        Heading::checked(message, agreement)?;
        // One after the other: the bounds hold for all together.
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.place(agreement, name);
        if path.exists() {
            return Ok(false);
        }
        let (count, bytes) = (held.agreements.get(agreement).copied(), message.len() as u64);
        let Bounds { messages, agreements, bytes: most, .. } = self.bounds;
        let full = |what: String| Err(Problem::new(&FULL, what));
        if count.is_none() && held.agreements.len() >= agreements {
            return full(format!("it has {agreements} agreements"));
        }
        if count.unwrap_or(0) >= messages {
            return full(format!("it has {messages} messages of this agreement"));
        }
        if held.bytes + bytes > most {
            return full(format!("it has room for {most} bytes"));
        }
        let failed = |error: WireError| Problem::new(&Kind::FAILED, error);
        fs::create_dir_all(self.directory.join(agreement)).map_err(|error| failed(error.into()))?;
        write_new(&path, message, Access::Public).map_err(failed)?;
        *held.agreements.entry(agreement.to_owned()).or_default() += 1;
        held.bytes += bytes;
        Ok(true)
    }

    /// The messages of an agreement; none if it is not known.
    fn list(&self, agreement: &str) -> Result<Value, Problem> {
        let failed = |error: std::io::Error| Problem::new(&Kind::FAILED, WireError::from(error));
        let directory = self.directory.join(agreement);
        if !directory.is_dir() {
            return Ok(json!([]));
        }
        let mut all = Vec::new();
        for entry in fs::read_dir(directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            if !is_hash(&name) {
                continue;
            }
            let mut first = vec![0; HEADER + FIELDS];
            let mut file = fs::File::open(&path).map_err(failed)?;
            file.read_exact(&mut first).map_err(failed)?;
            let (_, Heading { from, to, step }) =
                Heading::of(&first[HEADER..]).map_err(|error| Problem::new(&Kind::FAILED, error))?;
            let bytes = file.metadata().map_err(failed)?.len();
            all.push((name, bytes, from, to, step));
        }
        all.sort();
        let one = |(name, bytes, from, to, step)| json!({ "sha256": name, "bytes": bytes, "from": from, "to": to, "step": step_name(step) });
        Ok(all.into_iter().map(one).collect())
    }

    fn message(&self, agreement: &str, name: &str) -> Result<Vec<u8>, Problem> {
        fs::read(self.place(agreement, name)).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Problem::new(&ABSENT, name),
            _ => Problem::new(&Kind::FAILED, WireError::from(error)),
        })
    }

    /// The body of a request, within the bounds.
    async fn body(&self, headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Problem> {
        let most = self.bounds.message;
        let too_large = || Problem::new(&TOO_LARGE, format!("at most {most} bytes are read"));
        let stated = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if stated.is_some_and(|length| length > most as u64) {
            return Err(too_large());
        }
        let slow = |_| Problem::new(&Kind::TOO_SLOW, format!("more than {} s", self.bounds.time.as_secs_f64()));
        let busy = |_| Problem::new(&Kind::BUSY, "too many bodies are being read").retry_after(5);
        let place = tokio::time::timeout(self.bounds.time, self.bodies.acquire()).await;
        let _place = place.map_err(|_| Problem::new(&Kind::BUSY, "no place").retry_after(5))?.map_err(busy)?;
        let read = tokio::time::timeout(self.bounds.time, to_bytes(body, most)).await.map_err(slow)?;
        Ok(read.map_err(|_| too_large())?.to_vec())
    }
}

type Shared = State<Arc<Mailbox>>;
type Names<T> = Result<InPath<T>, PathRejection>;

fn bad(error: impl ToString) -> Problem {
    Problem::new(&BAD_NAME, error)
}

fn checked(name: &str) -> Result<(), Problem> {
    if is_hash(name) { Ok(()) } else { Err(bad("it is not 64 hexadecimal digits in lower case")) }
}

/// Work on files, away from the threads of connections.
async fn on_files<T: Send + 'static>(work: impl FnOnce() -> Result<T, Problem> + Send + 'static) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Problem::new(&Kind::FAILED, "the work ended without a result")))
}

async fn put_message(
    State(mailbox): Shared,
    names: Names<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    let InPath((agreement, name)) = names.map_err(|error| bad(error.body_text()))?;
    checked(&agreement).and(checked(&name))?;
    let body = mailbox.body(&headers, body).await?;
    let is_new = on_files(move || mailbox.keep(&agreement, &name, &body)).await?;
    Ok(if is_new { StatusCode::CREATED } else { StatusCode::NO_CONTENT })
}

async fn get_message(State(mailbox): Shared, names: Names<(String, String)>) -> Result<Response, Problem> {
    let InPath((agreement, name)) = names.map_err(|error| bad(error.body_text()))?;
    checked(&agreement).and(checked(&name))?;
    let message = on_files(move || mailbox.message(&agreement, &name)).await?;
    Ok(with_type("application/octet-stream", message))
}

async fn list(State(mailbox): Shared, name: Names<String>) -> Result<Response, Problem> {
    let InPath(agreement) = name.map_err(|error| bad(error.body_text()))?;
    checked(&agreement)?;
    let messages = on_files(move || mailbox.list(&agreement)).await?;
    Ok(with_type("application/json", messages.to_string()))
}

fn with_type(kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Lets those pass who may send and fetch.
async fn admit(State(mailbox): Shared, request: Request, next: Next) -> Response {
    let unknown = || Peer { address: IpAddr::V4(Ipv4Addr::UNSPECIFIED), certificate: None };
    let peer = request.extensions().get::<Peer>().cloned().unwrap_or_else(unknown);
    match mailbox.gate.admit(request.headers(), &peer) {
        Err(problem) if request.uri().path() != "/health" => problem.into_response(),
        _ => next.run(request).await,
    }
}

/// The mailbox as an application of HTTP.
pub fn application(mailbox: &Arc<Mailbox>) -> Router {
    Router::new()
        .route("/agreements/{digest}", get(list))
        .route("/agreements/{digest}/{sha256}", get(get_message).put(put_message))
        .route("/health", get(|| async { "ok\n" }))
        .fallback(|request: Request| async move { Problem::new(&Kind::NOT_FOUND, request.uri().path()) })
        .layer(middleware::from_fn_with_state(Arc::clone(mailbox), admit))
        .with_state(Arc::clone(mailbox))
}

#[cfg(test)]
mod tests {
    use windlass::wire::{KeyId, Label, seal};

    use super::*;

    fn message(digest: [u8; 32], body: &[u8]) -> (String, Vec<u8>) {
        let payload = [&digest[..], &[2, 0, 3, 0, 3], body, &[0; 64]].concat();
        let label = Label { kind: Kinds::PartyMessage, context: [5; 32], key: KeyId([1; 16]) };
        let message = seal(&label, &payload);
        (hex(&sha256(&message)), message)
    }

    const BOUNDS: Bounds =
        Bounds { message: 1000, messages: 2, agreements: 2, bytes: 800, time: Duration::from_secs(1) };

    #[test]
    fn messages_are_kept_once_and_within_bounds() {
        let dir = tempfile::tempdir().unwrap();
        let start = || Mailbox::start(dir.path(), BOUNDS, None).unwrap();
        let mailbox = start();
        let [a, b, c, d] = [[1; 32], [2; 32], [3; 32], [4; 32]];
        let of = hex(&a);
        let (name, first) = message(a, b"first");
        assert_eq!(mailbox.list(&of).unwrap(), json!([]));
        assert!(mailbox.keep(&of, &name, &first).unwrap());
        assert!(!mailbox.keep(&of, &name, &first).unwrap());
        assert_eq!(mailbox.message(&of, &name).unwrap(), first);
        let listed = json!([{ "sha256": name, "bytes": first.len(), "from": 2, "to": 3, "step": "dealt" }]);
        assert_eq!(mailbox.list(&of).unwrap(), listed);
        let refused = |agreement: [u8; 32], name: &str, message: &[u8]| {
            mailbox.keep(&hex(&agreement), name, message).unwrap_err().kind.name
        };
        assert_eq!(refused(a, &name, &first[1..]), "other-name");
        assert_eq!(refused(b, &name, &first), "no-message");
        let cut = &first[..first.len() - 1];
        assert_eq!(refused(a, &hex(&sha256(cut)), cut), "no-message");
        let other = seal(&Label { kind: Kinds::Query, context: [5; 32], key: KeyId([1; 16]) }, &[0; 200]);
        assert_eq!(refused(a, &hex(&sha256(&other)), &other), "no-message");
        // Of an agreement, of all agreements, of all bytes; after a restart as before.
        let (second, bytes) = message(a, b"second");
        mailbox.keep(&of, &second, &bytes).unwrap();
        let (third, bytes) = message(a, b"third");
        assert_eq!(refused(a, &third, &bytes), "full");
        let (fourth, bytes) = message(b, b"of another");
        mailbox.keep(&hex(&b), &fourth, &bytes).unwrap();
        let (fifth, bytes) = message(c, b"of a third");
        assert_eq!(refused(c, &fifth, &bytes), "full");
        let (sixth, bytes) = message(b, &[0; 400]);
        for mailbox in [&mailbox, &start()] {
            assert_eq!(mailbox.keep(&hex(&b), &sixth, &bytes).unwrap_err().kind.name, "full");
            assert_eq!(mailbox.keep(&hex(&d), &message(d, b"").0, &message(d, b"").1).unwrap_err().kind.name, "full");
        }
        assert_eq!(mailbox.message(&of, &third).unwrap_err().kind.name, "absent");
        assert!(!is_hash("../../../etc/passwd") && !is_hash(&"A".repeat(64)) && is_hash(&"a".repeat(64)));
    }
}
