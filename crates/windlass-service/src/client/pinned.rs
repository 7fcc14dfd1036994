//! Certificates that a client was given: authorities, and certificates of services themselves.
//!
//! A service inside an organisation usually has a self-signed certificate. `openssl req -x509` marks
//! such certificates as authorities, and a verifier by the rules of the web does not accept an
//! authority as the certificate of a server. So a certificate that the user gave is accepted if the
//! service presents the same bytes. It must be valid now, and for the name in the address if it has
//! names. The handshake proves that the service has its private key, as always.

use std::sync::Arc;

use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::client::{WebPkiServerVerifier, verify_server_name};
use tokio_rustls::rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::validity::validity;

/// Trusts these certificates and those that they signed.
#[derive(Debug)]
pub(super) struct Pinned {
    given: Vec<CertificateDer<'static>>,
    signed: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl Pinned {
    /// A verifier that trusts given certificates.
    pub fn new(given: Vec<CertificateDer<'static>>, provider: &Arc<CryptoProvider>) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(given.iter().cloned());
        let signed = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build().ok();
        Self { given, signed, provider: Arc::clone(provider) }
    }
}

/// Refuses a certificate that was given and is not valid now, or is for other names.
fn check_given(certificate: &CertificateDer<'_>, name: &ServerName<'_>, now: UnixTime) -> Result<(), Error> {
    let [begin, end] = validity(certificate).ok_or(CertificateError::BadEncoding)?;
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    if now < begin {
        return Err(CertificateError::NotValidYet.into());
    }
    if now > end {
        return Err(CertificateError::Expired.into());
    }
    match verify_server_name(&ParsedCertificate::try_from(certificate)?, name) {
        // It names no server at all (a common name counts for nothing): that it was given for this
        // one is all that there is to know.
        Err(Error::InvalidCertificate(CertificateError::NotValidForNameContext { presented, .. }))
            if presented.is_empty() =>
        {
            Ok(())
        }
        checked => checked,
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.given.iter().any(|given| given == end_entity) {
            check_given(end_entity, server_name, now)?;
            return Ok(ServerCertVerified::assertion());
        }
        match &self.signed {
            Some(signed) => signed.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now),
            None => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
