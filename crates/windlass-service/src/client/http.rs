//! The requests of a client.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use ureq::config::ConfigBuilder;
use ureq::http::Uri;
use ureq::tls::{Certificate, ClientCert, PrivateKey, TlsConfig};
use ureq::typestate::AgentScope;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector, TcpConnector};
use ureq::{Agent, Proxy, RequestBuilder};

use windlass::wire::WireError;
use zeroize::Zeroizing;

use super::access::{Access, Token, check_token_way, is_https};
use super::causes::{RUNNING, explained, spelled};
use super::connector::{PinnedTls, certificates};
use super::error::{AskError, Refused, Result};

/// Longest text that is read: a schema, or a problem.
const TEXT: u64 = 1 << 20;

/// A service, by its address.
#[derive(Debug, Clone)]
pub struct Remote {
    address: String,
    agent: Agent,
    token: Option<Token>,
    patience: Duration,
    /// The proxy through which it is asked.
    proxy: Option<String>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Seconds after which to try again, where it says so.
    pub retry_after: Option<u64>,
    /// Where it redirects the request, instead of an answer.
    pub location: Option<String>,
    /// What it holds.
    pub body: Vec<u8>,
}

impl Remote {
    /// The service at an address: `HOST:PORT`, or a URL. Its certificate must be signed by an
    /// authority that browsers trust; or be in the file `authority`, or signed by one that is.
    ///
    /// # Errors
    /// As [`Self::with`].
    pub fn new(address: &str, authority: Option<&Path>, time: Duration) -> Result<Self> {
        let authority = authority.map(Path::to_owned);
        Self::with(address, &Access { authority, ..Access::default() }, time)
    }

    /// As [`Self::new`], for a client that shows who it is.
    ///
    /// # Errors
    /// A file without certificates or a key; [`AskError::Address`], also for a token that would be
    /// sent to another machine without https.
    pub fn with(address: &str, access: &Access, time: Duration) -> Result<Self> {
        let address = address.trim_end_matches('/');
        let address = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
        let refuse = |reason: &str| Err(AskError::Address { reason: reason.to_owned() });
        if address.contains('@') {
            return refuse("the address has a user name or a password, which a service never needs: leave them out");
        }
        let Ok(parsed) = address.parse::<Uri>() else {
            return refuse("it is not an address: write HOST:PORT, or a URL");
        };
        check_port(&parsed)?;
        if (access.authority.is_some() || access.certificate.is_some()) && !is_https(&parsed) {
            return refuse("certificates need https: write the address as https://HOST:PORT");
        }
        let mut proxy = Proxy::try_from_env().filter(|proxy| !proxy.is_no_proxy(&parsed));
        let mut config = Agent::config_builder()
            .timeout_global(Some(time))
            .timeout_connect(Some(time.min(Duration::from_secs(20))))
            .http_status_as_error(false)
            .max_redirects(0);
        if access.token.is_some() {
            check_token_way(&parsed)?;
        }
        // A proxy is another machine, and would see the token.
        if access.direct || (access.token.is_some() && !is_https(&parsed)) {
            config = config.proxy(None);
            proxy = None;
        }
        let agent = agent(config, access)?;
        // Without its name and password.
        let proxy = proxy.map(|proxy| format!("{}:{}", proxy.host(), proxy.port()));
        Ok(Self { address, agent, token: access.token.clone(), patience: time, proxy })
    }

    /// Where it is.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The longest time for one exchange, and for waiting until there is time for it.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// A request with the token of the client, if it has one.
    fn named<Kind>(&self, request: RequestBuilder<Kind>) -> RequestBuilder<Kind> {
        match &self.token {
            Some(token) => request.header("authorization", token.header().as_str()),
            None => request,
        }
    }

    fn unreachable(&self, error: impl ToString) -> AskError {
        let (mut reason, remedy) = explained(&error.to_string());
        match (&self.proxy, remedy) {
            (Some(proxy), None | Some(RUNNING)) => {
                reason += &format!(
                    "; the query goes through the proxy {proxy}, which the environment names (http_proxy, https_proxy, all_proxy): check that the proxy runs, or name the service in no_proxy"
                );
            }
            (_, Some(remedy)) => reason += &format!("; {remedy}"),
            (None, None) => {}
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
        self.finish(self.named(self.agent.get(format!("{}{path}", self.address))).call(), TEXT)
    }

    /// Whether evaluation keys are there.
    ///
    /// # Errors
    /// [`AskError::Unreachable`].
    pub fn has_keys(&self, name: &str) -> Result<bool> {
        let response = self.named(self.agent.head(format!("{}/keys/{name}", self.address))).call();
        let response = response.map_err(|error| self.unreachable(error))?;
        Ok(response.status().is_success())
    }

    /// Fetches at most `most` bytes.
    ///
    /// # Errors
    /// [`AskError::Unreachable`].
    pub fn fetch(&self, path: &str, most: u64) -> Result<Response> {
        self.finish(self.named(self.agent.get(format!("{}{path}", self.address))).call(), most)
    }

    /// Uploads bytes.
    ///
    /// # Errors
    /// [`AskError::Unreachable`].
    pub fn put(&self, path: &str, bytes: &[u8]) -> Result<Response> {
        let request = self.named(self.agent.put(format!("{}{path}", self.address)));
        self.finish(request.content_type("application/octet-stream").send(bytes), TEXT)
    }

    /// Uploads evaluation keys.
    ///
    /// # Errors
    /// [`AskError::Unreachable`].
    pub fn put_keys(&self, name: &str, keys: &[u8]) -> Result<Response> {
        let request = self.named(self.agent.put(format!("{}/keys/{name}", self.address)));
        self.finish(request.content_type("application/octet-stream").send(keys), TEXT)
    }

    /// Sends points, which the service multiplies by its key.
    ///
    /// # Errors
    /// [`AskError::Unreachable`].
    pub fn blind(&self, points: &[u8]) -> Result<Response> {
        let request = self.named(self.agent.post(format!("{}/blind", self.address)));
        self.finish(request.content_type("application/octet-stream").send(points), points.len() as u64)
    }

    /// Asks; the answer has at most `most` bytes.
    ///
    /// # Errors
    /// [`AskError::Unreachable`].
    pub fn ask(&self, keys: &str, query: &[u8], most: u64) -> Result<Response> {
        let request = self.named(self.agent.post(format!("{}/ask?keys={keys}", self.address)));
        self.finish(request.content_type("application/octet-stream").send(query), most)
    }

    /// The refusal in a response. A redirect is not followed: only addresses that the user chose
    /// are asked.
    pub fn refused(&self, response: &Response) -> AskError {
        let address = self.address.clone();
        if let (300..400, Some(place)) = (response.status, &response.location) {
            return AskError::Elsewhere { address, place: plain(place) };
        }
        let problem: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let kind = response.problem().unwrap_or_default();
        let text = |name: &str, otherwise: &str| plain(problem[name].as_str().unwrap_or(otherwise));
        let title = text("title", "the response is not one of a table service");
        let cause = text("detail", "another program may answer at this address");
        let fix = text("fix", "check that it is the address of the service, and check the proxy in front of it");
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

/// Refuses a port that is no port: it would be left out, and another one asked.
fn check_port(address: &Uri) -> Result<()> {
    let authority = address.authority().map_or("", |authority| authority.as_str());
    let port = authority.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.ends_with(']'));
    match port {
        Some(port) if !port.is_empty() && !port.parse::<u16>().is_ok_and(|port| port > 0) => {
            let reason = format!("'{}' is not a port: give a number from 1 to 65535", plain(port));
            Err(AskError::Address { reason })
        }
        _ => Ok(()),
    }
}

/// An agent that trusts and shows what `access` says.
fn agent(config: ConfigBuilder<AgentScope>, access: &Access) -> Result<Agent> {
    if let Some(authority) = &access.authority {
        let pinned = PinnedTls::new(authority, access)?;
        let connector = ().chain(ConnectProxyConnector::default()).chain(TcpConnector::default()).chain(pinned);
        return Ok(Agent::with_parts(config.build(), connector, DefaultResolver::default()));
    }
    let Some([certificate, key]) = &access.certificate else { return Ok(config.build().into()) };
    let chain = certificates(certificate)?;
    let chain: Vec<_> = chain.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
    let refuse = |reason: String| AskError::File { path: key.clone(), reason };
    let text = Zeroizing::new(std::fs::read(key).map_err(|error| refuse(WireError::from(error).to_string()))?);
    let private = PrivateKey::from_pem(&text);
    let private =
        private.map_err(|error| refuse(format!("its private key cannot be read ({})", spelled(&error.to_string()))))?;
    let shown = ClientCert::new_with_certs(&chain, private);
    let tls = TlsConfig::builder().client_cert(Some(shown)).build();
    Ok(config.tls_config(tls).build().into())
}
