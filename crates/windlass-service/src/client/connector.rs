//! TLS to a service whose certificates the user named.

use std::fmt;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, StreamOwned};
use ureq::Error;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport, TransportAdapter,
};
use windlass::wire::WireError;

use super::access::Access;
use super::causes::spelled;
use super::error::{AskError, Result};
use super::pinned::Pinned;
use crate::pem;

/// Turns connections to https addresses into TLS by [`Pinned`] certificates.
pub(super) struct PinnedTls(Arc<ClientConfig>);

impl fmt::Debug for PinnedTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedTls").finish_non_exhaustive()
    }
}

impl PinnedTls {
    /// TLS that trusts the certificates in a file, and shows those of the client where it has any.
    ///
    /// # Errors
    /// [`AskError::File`] for files without certificates or keys.
    pub fn new(authority: &Path, access: &Access) -> Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let verifier = Pinned::new(certificates(authority)?, &provider);
        let refuse = |path: &Path, reason: String| AskError::File { path: path.to_owned(), reason };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| refuse(authority, error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let config = match &access.certificate {
            None => config.with_no_client_auth(),
            Some([certificate, key]) => {
                let private = PrivateKeyDer::from_pem_file(key)
                    .map_err(|error| refuse(key, format!("its private key cannot be read ({})", pem::reason(error))))?;
                let config = config.with_client_auth_cert(certificates(certificate)?, private);
                config.map_err(|error| {
                    refuse(
                        key,
                        format!(
                            "it is not the private key of {}: {}",
                            certificate.display(),
                            spelled(&error.to_string())
                        ),
                    )
                })?
            }
        };
        Ok(Self(Arc::new(config)))
    }
}

/// The certificates in a PEM file.
///
/// # Errors
/// [`AskError::File`].
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let refuse = |reason: String| AskError::File { path: path.to_owned(), reason };
    let text = std::fs::read(path).map_err(|error| refuse(WireError::from(error).to_string()))?;
    let no_pem = |what: String| refuse(format!("{what}; give a PEM file with '-----BEGIN CERTIFICATE-----' in it"));
    let read: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let read =
        read.map_err(|error| no_pem(format!("one of its certificates cannot be read ({})", pem::reason(error))))?;
    if read.is_empty() {
        return Err(no_pem("it has no certificates".to_owned()));
    }
    Ok(read)
}

impl<In: Transport> Connector<In> for PinnedTls {
    type Out = Either<In, Stream>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> std::result::Result<Option<Self::Out>, Error> {
        let Some(transport) = chained else { return Ok(None) };
        if !details.needs_tls() || transport.is_tls() {
            return Ok(Some(Either::A(transport)));
        }
        let host = details.uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(host)
            .map_err(|_| Error::Tls("the address has no host name or IP address, which TLS needs"))?;
        let mut connection = ClientConnection::new(Arc::clone(&self.0), name)?;
        let mut socket = TransportAdapter::new(transport.boxed(), Arc::clone(&details.current_time));
        socket.set_timeout(details.timeout);
        connection.complete_io(&mut socket)?;
        let buffers = LazyBuffers::new(details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Either::B(Stream { buffers, stream: StreamOwned::new(connection, socket) })))
    }
}

/// A connection over TLS.
pub(super) struct Stream {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl Transport for Stream {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> std::result::Result<(), Error> {
        self.stream.get_mut().set_timeout(timeout);
        self.stream.write_all(&self.buffers.output()[..amount])?;
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> std::result::Result<bool, Error> {
        self.stream.get_mut().set_timeout(timeout);
        let amount = self.stream.read(self.buffers.input_append_buf())?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.get_mut().get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}
