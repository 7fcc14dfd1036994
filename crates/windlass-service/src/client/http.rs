//! The requests of a client.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use windlass::wire::WireError;

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
    /// Where it sends whoever asks, instead of an answer.
    pub location: Option<String>,
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
        let mut reason = error.to_string();
        if let Some(remedy) = remedy(&reason) {
            reason = format!("{reason}; {remedy}");
        }
        AskError::Unreachable { address: self.address.clone(), reason }
    }

    fn finish(
        &self,
        response: std::result::Result<ureq::http::Response<ureq::Body>, ureq::Error>,
        most: u64,
    ) -> Result<Response> {
        let mut response = response.map_err(|error| self.unreachable(error))?;
        let status = response.status().as_u16();
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let retry_after = header("retry-after").and_then(|seconds| seconds.parse().ok());
        let location = header("location").map(str::to_owned);
        // The end is seen a byte later.
        let limit = if status < 300 { most + 1 } else { TEXT };
        let body = response.body_mut().with_config().limit(limit).read_to_vec();
        let body = body.map_err(|error| self.unreachable(error))?;
        Ok(Response { status, retry_after, location, body })
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

    /// The refusal in a response. One that sends elsewhere is not followed: an address that is asked
    /// is one that somebody chose.
    pub fn refused(&self, response: &Response) -> AskError {
        let address = self.address.clone();
        if let (300..400, Some(place)) = (response.status, &response.location) {
            return AskError::Elsewhere { address, place: plain(place) };
        }
        let problem: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let kind = response.problem().unwrap_or_default();
        let text = |name: &str, otherwise: &str| plain(problem[name].as_str().unwrap_or(otherwise));
        let title = text("title", "no reason that a service of tables gives");
        let cause = text("detail", "something else may answer at this address");
        let fix = text("fix", "look whether it is that of the service, and what stands before it (a proxy)");
        AskError::Refused(Box::new(Refused { address, status: response.status, kind, title, cause, fix }))
    }
}

impl Response {
    /// The name of the problem that it holds.
    pub fn problem(&self) -> Option<String> {
        let problem: Value = serde_json::from_slice(&self.body).ok()?;
        Some(problem["type"].as_str()?.rsplit('#').next()?.to_owned())
    }
}

/// A stranger's words: no control characters, and not many of them.
fn plain(text: &str) -> String {
    text.chars().take(300).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// What to do about a connection that did not come about, where that can be told.
fn remedy(reason: &str) -> Option<&'static str> {
    const REMEDIES: [(&str, &str); 8] = [
        ("UnknownIssuer", "give the certificate of the authority that signed the service's with --ca FILE"),
        ("CaUsedAsEndEntity", "give the certificate of the authority that signed the service's with --ca FILE"),
        ("NotValidForName", "write the address with a name that the certificate is for"),
        ("not valid for", "write the address with a name that the certificate is for"),
        ("Expired", "its owner must renew it, or the clock of this machine is wrong"),
        ("expired", "its owner must renew it, or the clock of this machine is wrong"),
        ("InvalidContentType", "it may not speak https: write the address as http://HOST:PORT"),
        ("refused", "look whether the service is running, and at this address"),
    ];
    REMEDIES.iter().find(|(part, _)| reason.contains(part)).map(|(_, remedy)| *remedy)
}

/// The certificates in a PEM file.
fn certificates(path: &Path) -> Result<Vec<Certificate<'static>>> {
    let refuse = |reason: String| AskError::File { path: path.to_owned(), reason };
    let text = std::fs::read(path).map_err(|error| refuse(WireError::from(error).to_string()))?;
    let no_pem = |what: String| refuse(format!("{what}; give a PEM file with '-----BEGIN CERTIFICATE-----' in it"));
    let mut certificates = Vec::new();
    for item in parse_pem(&text) {
        let item = item.map_err(|error| no_pem(format!("holds a certificate that cannot be read ({error})")))?;
        if let PemItem::Certificate(certificate) = item {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() {
        return Err(no_pem("there are no certificates in it".to_owned()));
    }
    Ok(certificates)
}
