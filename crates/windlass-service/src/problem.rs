//! What a request is refused with: problem details (RFC 9457) with a cause and what to do about it.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use serde_json::json;
use windlass::wire::WireError;

/// A kind of refusal: its name, its status, and what a client can do.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// The last part of the problem's `type`.
    pub name: &'static str,
    /// The status of the response.
    pub status: u16,
    /// What it is, in words.
    pub title: &'static str,
    /// What to do.
    pub fix: &'static str,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $constant:ident = $status:literal $name:literal, $title:literal, $fix:literal;)*) => {
        impl Kind {
            $($(#[$doc])* pub const $constant: Self =
                Self { name: $name, status: $status, title: $title, fix: $fix };)*

            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$constant),*];
        }
    };
}

kinds! {
    /// No such page.
    NOT_FOUND = 404 "not-found", "No such page", "see /openapi.json for the list of pages";
    /// A page that is asked in another way.
    METHOD = 405 "method", "This page does not support that method", "see /openapi.json for its methods";
    /// A client that the service does not know.
    UNAUTHORISED = 401 "unauthorised", "This service needs a token",
        "send the token that the owner of the service gave you (windlass ask --token-file FILE)";
    /// More than a client may ask for.
    QUOTA = 429 "quota", "The quota of rows is used up",
        "ask again after the time that Retry-After states";
    /// Help with keys that are not hidden.
    NOT_HIDDEN = 404 "not-hidden", "The keys of this table are not hidden",
        "fetch /schema again: it says whether keys are hidden";
    /// Keys that are hidden by another key than the one of this service.
    OTHER_OPRF_KEY = 500 "other-oprf-key", "The service lacks the key that hides the keys of this table",
        "tell the owner of the service: it must be started with the table's own key (windlass serve --oprf-key FILE)";
    /// Keys that no client uploaded, or that were removed for others.
    UNKNOWN_KEYS = 404 "unknown-keys", "The service does not have the evaluation keys",
        "upload them with PUT /keys/{sha256}, then ask again";
    /// Something that is no hash.
    BAD_NAME = 400 "bad-name", "This is not the name of a set of keys",
        "name keys by the SHA-256 of their file, 64 hexadecimal digits";
    /// Keys under the hash of others.
    OTHER_NAME = 400 "other-name", "The name is not the hash of the body",
        "send the whole file, under the SHA-256 of its bytes";
    /// Bytes in another format.
    UNREADABLE = 400 "unreadable", "The body cannot be read", "send the whole file unchanged";
    /// Bytes for another table.
    OTHER_TABLE = 409 "other-table", "The body was made for another table, or for another version of its schema",
        "fetch /schema again and ask under it";
    /// Keys that do not suffice for this table.
    MISSING_KEYS = 422 "missing-keys", "The evaluation keys do not suffice for this table",
        "make evaluation keys for the schema of this table and upload them";
    /// Keys of one key pair and a query of another.
    OTHER_KEY_PAIR = 422 "other-key-pair", "The query belongs to another key pair than the keys",
        "ask with the secret key that the evaluation keys were made from";
    /// A body that is too long.
    TOO_LARGE = 413 "too-large", "The body is longer than this table allows", "ask for fewer rows at a time";
    /// Keys that are too long.
    KEYS_TOO_LARGE = 413 "keys-too-large", "The evaluation keys are longer than this service allows",
        "make evaluation keys for the schema of this table, and send their file alone";
    /// More than the quota of a minute, at once.
    ABOVE_QUOTA = 413 "above-quota", "The request is larger than the quota of a minute",
        "ask for fewer rows at a time, or ask the owner of the service for a larger quota";
    /// A body that takes too long.
    TOO_SLOW = 408 "too-slow", "The body took too long to arrive", "send it again over a faster connection";
    /// The queue is full.
    BUSY = 503 "busy", "Too many requests are waiting", "ask again after the time that Retry-After states";
    /// The answer takes too long.
    TIMEOUT = 504 "timeout", "The answer took too long",
        "ask again later; if this persists, tell the owner of the service: answers may need more time";
    /// The service ends.
    STOPPING = 503 "stopping", "The service is stopping", "ask again when it is back";
    /// Our fault.
    FAILED = 500 "failed", "The service failed at this request", "ask again; if this persists, tell the owner of the service";
}

/// A refusal.
#[derive(Debug)]
pub struct Problem {
    /// Which kind.
    pub kind: &'static Kind,
    /// What was wrong with this request.
    pub cause: String,
    /// Seconds after which to try again.
    pub retry_after: Option<u64>,
}

impl Problem {
    /// A refusal of this kind, with its cause.
    pub fn new(kind: &'static Kind, cause: impl ToString) -> Self {
        Self { kind, cause: cause.to_string(), retry_after: None }
    }

    /// Tells when to try again.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// The refusal of a file by a reader.
    pub fn of_file(error: &windlass::Error) -> Self {
        let kind = match error {
            windlass::Error::Wire(WireError::OtherContext { .. }) => &Kind::OTHER_TABLE,
            windlass::Error::Wire(WireError::TooLarge { .. }) => &Kind::TOO_LARGE,
            _ => &Kind::UNREADABLE,
        };
        Self::new(kind, error)
    }

    /// The refusal of a query by a table.
    pub fn of_answer(error: &windlass_retrieval::Error) -> Self {
        use windlass_retrieval::Error;
        let kind = match error {
            Error::MissingKey { .. } | Error::OtherTable { what: "the set of evaluation keys" } => &Kind::MISSING_KEYS,
            Error::OtherKeyPair(_) => &Kind::OTHER_KEY_PAIR,
            Error::OtherTable { .. } => &Kind::OTHER_TABLE,
            _ => &Kind::FAILED,
        };
        Self::new(kind, error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response<Body> {
        let body = json!({
            "type": format!("/openapi.json#{}", self.kind.name),
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": self.cause,
            "fix": self.kind.fix,
        });
        let status = StatusCode::from_u16(self.kind.status).expect("the statuses of kinds are statuses");
        let mut response = (status, body.to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.kind.status == 401 {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
