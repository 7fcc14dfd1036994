//! What is wrong with a PEM file, in words.

use tokio_rustls::rustls::pki_types::pem::Error;
use windlass::wire::WireError;

/// Why a PEM file cannot be read, and what to do.
pub(crate) fn reason(error: Error) -> String {
    match error {
        Error::MissingSectionEnd { end_marker } => {
            let marker = String::from_utf8_lossy(&end_marker).replace(char::is_control, " ");
            format!("its line '{}' is missing, so the file is truncated: copy the whole file again", marker.trim())
        }
        Error::IllegalSectionStart { .. } => {
            "one of its lines begins with '-----BEGIN' but does not end with '-----': copy the whole file again"
                .to_owned()
        }
        Error::Base64Decode(cause) => {
            format!("the text between its BEGIN and END is damaged ({cause}): copy the whole file again")
        }
        Error::Io(error) => WireError::from(error).to_string(),
        Error::NoItemsFound => "it has no private key; give a PEM file with '-----BEGIN PRIVATE KEY-----'".to_owned(),
        other => other.to_string(),
    }
}
