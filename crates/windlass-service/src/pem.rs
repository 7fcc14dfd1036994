//! What is wrong with a PEM file, in words.

use tokio_rustls::rustls::pki_types::pem::Error;
use windlass::wire::WireError;

/// Why a PEM file cannot be read, and what to do.
pub(crate) fn reason(error: Error) -> String {
    match error {
        Error::MissingSectionEnd { end_marker } => {
            let marker = String::from_utf8_lossy(&end_marker).replace(char::is_control, " ");
            format!("its line '{}' is missing: the file was cut off, copy it again whole", marker.trim())
        }
        Error::IllegalSectionStart { .. } => {
            "a line of it begins with '-----BEGIN' and does not end with '-----': copy the file again whole".to_owned()
        }
        Error::Base64Decode(cause) => {
            format!("what stands between its BEGIN and END is damaged ({cause}): copy the file again whole")
        }
        Error::Io(error) => WireError::from(error).to_string(),
        Error::NoItemsFound => {
            "there is no private key in it; give a PEM file with '-----BEGIN PRIVATE KEY-----'".to_owned()
        }
        other => other.to_string(),
    }
}
