//! The requests of a client.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use super::error::{AskError, Refused, Result};

/// Longest text that is read: a schema, or a problem.
const TEXT: u64 = 1 << 20;

/// A service, by its address.
#[derive(Debug, Clone)]
pub struct Remote {
    address: String,
    agent: Agent,
    patience: Duration,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Seconds after which to try again, where it says so.
    pub retry_after: Option<u64>,
    /// What it holds.
    pub body: Vec<u8>,
}

impl Remote {
    /// The service at an address: `HOST:PORT`, or a URL. Certificates are those that browsers
    /// trust, or must be signed by one of those in the file `authority`.
    ///
    /// # Errors
    /// A file without certificates; [`AskError::Address`].
    pub fn new(address: &str, authority: Option<&Path>, time: Duration) -> Result<Self> {
        let address = address.trim_end_matches('/');
        let address = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
        let refuse = |reason: &str| Err(AskError::Address { reason: reason.to_owned() });
        if address.contains('@') {
            return refuse("the address holds a name or a password, which a service never asks for: leave them out");
        }
        if authority.is_some() && !address.starts_with("https://") {
            return refuse("an authority is for https: write the address as https://HOST:PORT");
        }
        let mut config = Agent::config_builder()
            .timeout_global(Some(time))
            .timeout_connect(Some(time.min(Duration::from_secs(20))))
            .http_status_as_error(false)
            .max_redirects(0);
        if let Some(path) = authority {
            let roots = RootCerts::new_with_certs(&certificates(path)?);
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        Ok(Self { address, agent: config.build().into(), patience: time })
    }

    /// Where it is.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The longest time for one exchange, and for waiting until there is time for it.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    fn unreachable(&self, error: impl ToString) -> AskError {
        AskError::Unreachable { address: self.address.clone(), reason: error.to_string() }
    }

    fn finish(
        &self,
        response: std::result::Result<ureq::http::Response<ureq::Body>, ureq::Error>,
        most: u64,
    ) -> Result<Response> {
        let mut response = response.map_err(|error| self.unreachable(error))?;
        let status = response.status().as_u16();
        let header = response.headers().get("retry-after");
        let retry_after = header.and_then(|seconds| seconds.to_str().ok()?.parse().ok());
        // The end is seen a byte later.
        let limit = if status < 300 { most + 1 } else { TEXT };
        let body = response.body_mut().with_config().limit(limit).read_to_vec();
        Ok(Response { status, retry_after, body: body.map_err(|error| self.unreachable(error))? })
    }

    /// Fetches a page of at most a MiB.
    ///
    /// # Errors
    /// [`AskError::Unreachable`].
    pub fn get(&self, path: &str) -> Result<Response> {
        self.finish(self.agent.get(format!("{}{path}", self.address)).call(), TEXT)
    }

    /// Whether evaluation keys are there.
    ///
    /// # Errors
    /// [`AskError::Unreachable`].
    pub fn has_keys(&self, name: &str) -> Result<bool> {
        let response = self.agent.head(format!("{}/keys/{name}", self.address)).call();
        let response = response.map_err(|error| self.unreachable(error))?;
        Ok(response.status().is_success())
    }

    /// Uploads evaluation keys.
    ///
    /// # Errors
    /// [`AskError::Unreachable`].
    pub fn put_keys(&self, name: &str, keys: &[u8]) -> Result<Response> {
        let request = self.agent.put(format!("{}/keys/{name}", self.address));
        self.finish(request.content_type("application/octet-stream").send(keys), TEXT)
    }

    /// Asks; the answer has at most `most` bytes.
    ///
    /// # Errors
    /// [`AskError::Unreachable`].
    pub fn ask(&self, keys: &str, query: &[u8], most: u64) -> Result<Response> {
        let request = self.agent.post(format!("{}/ask?keys={keys}", self.address));
        self.finish(request.content_type("application/octet-stream").send(query), most)
    }

    /// The refusal in a response.
    pub fn refused(&self, response: &Response) -> AskError {
        let problem: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let kind = response.problem().unwrap_or_default();
        // A stranger's words: no control characters, and not many of them.
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let text = |name: &str| -> String {
            problem[name].as_str().unwrap_or("(nothing)").chars().take(300).map(plain).collect()
        };
        let (address, status) = (self.address.clone(), response.status);
        let (title, cause, fix) = (text("title"), text("detail"), text("fix"));
        AskError::Refused(Box::new(Refused { address, status, kind, title, cause, fix }))
    }
}

impl Response {
    /// The name of the problem that it holds.
    pub fn problem(&self) -> Option<String> {
        let problem: Value = serde_json::from_slice(&self.body).ok()?;
        Some(problem["type"].as_str()?.rsplit('#').next()?.to_owned())
    }
}

/// The certificates in a PEM file.
fn certificates(path: &Path) -> Result<Vec<Certificate<'static>>> {
    let refuse = |reason: String| AskError::File { path: path.to_owned(), reason };
    let text = std::fs::read(path).map_err(|error| refuse(error.to_string()))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| refuse(error.to_string()))? {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() {
        return Err(refuse("there are no certificates in it".to_owned()));
    }
    Ok(certificates)
}
