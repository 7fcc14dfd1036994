//! Connections: accepted, bounded in number and in time, brought to an end.

use std::future::Future;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{Error, RootCertStore, ServerConfig, crypto::ring};

use windlass::wire::sha256;

use crate::gate::Peer;
use crate::limits::Limits;
use crate::pem;
use crate::stall::Stall;
use crate::start_error::StartError;

/// The certificates in a PEM file.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, StartError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|error| refuse(path, pem::reason(error)))?;
    if read.is_empty() {
        return Err(refuse(path, "it has no certificates; give a PEM file".to_owned()));
    }
    Ok(read)
}

fn refuse(path: &Path, reason: String) -> StartError {
    StartError::Tls { path: path.display().to_string(), reason }
}

/// Why a certificate and a key that could be read are of no use.
fn unusable(certificate: &Path, key: &Path, error: &Error) -> StartError {
    let shown = certificate.display();
    match error {
        Error::InconsistentKeys(_) => refuse(
            key,
            format!(
                "it is not the private key of the first certificate in {shown}: give that key, and put the service's own certificate first"
            ),
        ),
        // What is said of a key that cannot be loaded.
        Error::General(reason) => {
            refuse(key, format!("{reason}: give an RSA, ECDSA (P-256, P-384) or Ed25519 key, not encrypted"))
        }
        error => {
            refuse(certificate, format!("it cannot be used ({error}): make it again, or copy the whole file again"))
        }
    }
}

/// TLS with the certificates and the key of two PEM files. With `clients`, a PEM file of authorities,
/// only those are served who show a certificate that one of them signed.
///
/// # Errors
/// [`StartError::Tls`] for a file that cannot be read, or a key that is not the certificate's.
pub fn tls(certificate: &Path, key: &Path, clients: Option<&Path>) -> Result<TlsAcceptor, StartError> {
    let chain = certificates(certificate)?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| refuse(key, pem::reason(error)))?;
    let provider = Arc::new(ring::default_provider());
    let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| refuse(certificate, error.to_string()))?;
    let config = match clients {
        None => config.with_no_client_auth(),
        Some(path) => {
            let mut roots = RootCertStore::empty();
            for authority in certificates(path)? {
                roots.add(authority).map_err(|error| refuse(path, error.to_string()))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            config.with_client_cert_verifier(verifier.map_err(|error| refuse(path, error.to_string()))?)
        }
    };
    let config = config.with_single_cert(chain, private).map_err(|error| unusable(certificate, key, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// What every connection is served with.
#[derive(Clone)]
struct Connections {
    application: Router,
    limits: Limits,
    tls: Option<TlsAcceptor>,
}

/// Serves connections until `stop` is there, then takes no more and waits for those that are
/// answered. False when some were still not answered after [`Limits::drain`].
pub async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    application: Router,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> bool {
    let places = Arc::new(Semaphore::new(limits.connections));
    let graceful = GracefulShutdown::new();
    let connections = Connections { application, limits, tls };
    let accept = async {
        loop {
            // Before the connection: who finds no place waits in the system's queue.
            let place = Arc::clone(&places).acquire_owned().await.expect("the semaphore is never closed");
            match listener.accept().await {
                Ok((stream, peer)) => {
                    let (connections, watcher) = (connections.clone(), graceful.watcher());
                    tokio::spawn(async move {
                        connections.serve(stream, peer.ip(), watcher).await;
                        drop(place);
                    });
                }
                Err(error) => {
                    // One that is gone already, or no more files for now.
                    tracing::warn!(%error, "a connection was not accepted");
                    sleep(Duration::from_millis(50)).await;
                }
            }
        }
    };
    tokio::select! {
        () = accept => {}
        () = stop => {}
    }
    drop(listener);
    tracing::info!(connections = graceful.count(), "no more connections; those that are open are answered");
    timeout(limits.drain, graceful.shutdown()).await.is_ok()
}

impl Connections {
    async fn serve(self, stream: TcpStream, address: IpAddr, watcher: Watcher) {
        // Answers are small: waiting for more would only make them late.
        let _ = stream.set_nodelay(true);
        match self.tls.clone() {
            None => self.speak(stream, Peer { address, certificate: None }, watcher).await,
            Some(tls) => match timeout(self.limits.head, tls.accept(stream)).await {
                Ok(Ok(stream)) => {
                    let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
                    let certificate = shown.map(|certificate| sha256(certificate));
                    self.speak(stream, Peer { address, certificate }, watcher).await;
                }
                Ok(Err(error)) => tracing::debug!(%error, "no TLS"),
                Err(_) => tracing::debug!("no TLS in time"),
            },
        }
    }

    async fn speak(self, stream: impl AsyncRead + AsyncWrite + Unpin + 'static, peer: Peer, watcher: Watcher) {
        let io = TokioIo::new(Stall::new(stream, self.limits.stalled));
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.limits.head).max_headers(64).max_buf_size(1 << 16);
        let application = TowerToHyperService::new(self.application);
        let known = service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(peer.clone());
            application.call(request)
        });
        let connection = http.serve_connection(io, known);
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!(%error, "a connection ended");
        }
    }
}
