//! The same over TLS.

use std::time::Duration;

use windlass_service::client::{Asker, Remote};

use crate::common::{Running, entries, keyed_table, text};

/// A service with a certificate for these names, which is its own authority.
fn certified(names: &[&str]) -> Running {
    let dir = tempfile::tempdir().unwrap();
    keyed_table(&dir.path().join("table"), &entries(40, "row"));
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    std::fs::write(dir.path().join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(dir.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    Running::at(dir, "--tls-cert cert.pem --tls-key key.pem")
}

#[test]
fn questions_over_tls_and_none_to_strangers() {
    let service = certified(&["localhost", "127.0.0.1"]);
    assert!(service.address.starts_with("https://127.0.0.1:"));
    let found = service.ask(&["--key", "key 7", "--ca", "cert.pem"]);
    assert_eq!(text(&found.stdout), "key 7: row 7\n", "{}", text(&found.stderr));
    let stranger = service.ask(&["--key", "key 7"]);
    assert_eq!(stranger.status.code(), Some(2), "nobody vouches for it");
    assert!(text(&stranger.stderr).contains("--ca FILE"), "{}", text(&stranger.stderr));
    std::fs::write(service.dir.path().join("none.pem"), "no certificate\n").unwrap();
    let none = service.ask(&["--key", "key 7", "--ca", "none.pem"]);
    assert!(text(&none.stderr).contains("none.pem: there are no certificates in it; give a PEM file"));
    let plain = service.address.replace("https", "http");
    assert!(Asker::schema(&Remote::new(&plain, None, Duration::from_secs(20)).unwrap()).is_err());
}

#[test]
fn certificates_for_other_names_are_refused_with_a_remedy() {
    let service = certified(&["elsewhere.example"]);
    let other = service.ask(&["--key", "key 7", "--ca", "cert.pem"]);
    let told = text(&other.stderr);
    assert!(other.status.code() == Some(2) && told.contains("with a name that the certificate is for"), "{told}");
}
