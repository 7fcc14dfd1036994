//! Why a connection did not come about or broke, in words, and what to do about it.

/// What to do if no program listens.
pub(super) const RUNNING: &str = "check that the service is running at this address";

const STRANGE: &str = "the service does not accept the certificate of --cert";
const SIGNED: &str = "an authority in the service's --tls-client-ca must have signed it, or the certificate must be in that file itself; in that case it must not be an authority, as 'openssl req -x509' makes it: add -addext basicConstraints=critical,CA:FALSE";
const CLOSED: &str = "the other side closed the connection, as a service that is stopped does";
const AGAIN: &str = "ask again when it runs, and tell its owner if this persists";
const NAMED: &str = "write the address with a name that the certificate is for";
const OTHER_NAME: &str = "the certificate of the service is for other names";
const LATE: &str = "its owner must renew it, or the clock of this machine is wrong";
const ENDED: &str = "the certificate of the service is no longer valid";

/// A part of what the libraries below say, the cause in words (none where theirs are words), and what to do.
const CAUSES: [(&str, Option<&str>, &str); 22] = [
    ("alert: CertificateUnknown", Some(STRANGE), SIGNED),
    ("alert: BadCertificate", Some(STRANGE), SIGNED),
    ("alert: UnknownCA", Some(STRANGE), SIGNED),
    // Signed by another authority of the same name.
    ("alert: DecryptError", Some(STRANGE), SIGNED),
    ("alert: CertificateExpired", Some("the certificate of --cert is no longer valid"), "get a new one"),
    (
        "UnknownIssuer",
        Some("the certificate of the service is not signed by an authority that is trusted here"),
        "give the certificate of the authority that signed the service's with --ca FILE",
    ),
    (
        "CaUsedAsEndEntity",
        Some("the certificate of the service is an authority, as 'openssl req -x509' makes them"),
        "give this certificate itself with --ca FILE",
    ),
    ("NotValidForName", Some(OTHER_NAME), NAMED),
    ("not valid for", Some(OTHER_NAME), NAMED),
    (
        "NotValidYet",
        Some("the certificate of the service is not valid yet"),
        "its validity begins later, or the clock of this machine is wrong",
    ),
    (
        "not valid yet",
        Some("the certificate of the service is not valid yet"),
        "its validity begins later, or the clock of this machine is wrong",
    ),
    ("Expired", Some(ENDED), LATE),
    ("expired", Some(ENDED), LATE),
    (
        "CertificateRequired",
        Some("the service asks for a client certificate"),
        "give it with --cert FILE --cert-key FILE",
    ),
    (
        "InvalidContentType",
        Some("the other side does not speak TLS"),
        "it may not speak https: write the address as http://HOST:PORT",
    ),
    (
        "http parse fail",
        Some("the other side does not speak HTTP"),
        "it may speak only https: write the address as https://HOST:PORT",
    ),
    ("Peer disconnected", Some(CLOSED), AGAIN),
    ("peer closed connection", Some(CLOSED), AGAIN),
    ("close_notify", Some(CLOSED), AGAIN),
    ("reset by peer", Some(CLOSED), AGAIN),
    ("Broken pipe", Some(CLOSED), AGAIN),
    ("refused", None, RUNNING),
];

/// The cause in words, and what to do about it where that is known.
pub(super) fn explained(reason: &str) -> (String, Option<&'static str>) {
    match CAUSES.iter().find(|(part, ..)| reason.contains(part)) {
        Some((_, cause, remedy)) => (cause.map_or_else(|| reason.to_owned(), str::to_owned), Some(remedy)),
        None => (spelled(reason), None),
    }
}

/// Names of variants as words: `BadSignature` is "bad signature".
pub(super) fn spelled(reason: &str) -> String {
    let word = |word: &str| {
        let rest = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let humps = rest.chars().filter(char::is_ascii_uppercase).count();
        let is_name = humps > 1 && rest.chars().all(char::is_alphanumeric) && rest.chars().any(char::is_lowercase);
        if !is_name {
            return word.to_owned();
        }
        let mut words = String::new();
        for c in word.chars() {
            if c.is_ascii_uppercase() && !words.is_empty() {
                words.push(' ');
            }
            words.extend(c.to_lowercase());
        }
        words
    };
    reason.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use tokio_rustls::rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};

    use super::*;

    /// Whatever TLS says, no name of a variant reaches the user.
    #[test]
    fn causes_of_tls_are_words() {
        let errors = [
            Error::InvalidCertificate(CertificateError::UnknownIssuer),
            Error::InvalidCertificate(CertificateError::NotValidYet),
            Error::InvalidCertificate(CertificateError::Expired),
            Error::InvalidCertificate(CertificateError::BadSignature),
            Error::InvalidCertificate(CertificateError::NotValidForName),
            Error::AlertReceived(AlertDescription::CertificateUnknown),
            Error::AlertReceived(AlertDescription::UnknownCA),
            Error::AlertReceived(AlertDescription::HandshakeFailure),
            Error::AlertReceived(AlertDescription::CertificateRequired),
            Error::InvalidMessage(InvalidMessage::InvalidContentType),
            Error::PeerIncompatible(PeerIncompatible::NoCipherSuitesInCommon),
            Error::HandshakeNotComplete,
        ];
        let is_name = |word: &str| word.chars().skip(1).any(char::is_uppercase) && word.chars().any(char::is_lowercase);
        for error in errors {
            let (cause, _) = explained(&format!("io: {error}"));
            let named = cause.split([' ', ',', ';', ':', '(', ')']).find(|word| is_name(word));
            assert!(named.is_none() && !cause.contains("::"), "{error}: {cause}");
        }
        let (cause, remedy) = explained("io: invalid peer certificate: UnknownIssuer");
        assert!(
            cause.starts_with("the certificate of the service is not signed") && remedy.unwrap().contains("--ca FILE")
        );
        assert_eq!(spelled("io: TLS failed: BadSignature, OK"), "io: TLS failed: bad signature, OK");
        assert_eq!(explained("io: Connection refused"), ("io: Connection refused".to_owned(), Some(RUNNING)));
    }
}
