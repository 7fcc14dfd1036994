//! The same over TLS.

use std::path::Path;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use windlass_service::client::{Asker, Remote};

use crate::common::{Running, entries, keyed_table, text};

/// A service with a certificate that signs itself, made of these parameters.
fn serving(params: CertificateParams, arguments: &str) -> Running {
    let dir = tempfile::tempdir().unwrap();
    keyed_table(&dir.path().join("table"), &entries(40, "row"));
    write_self_signed(dir.path(), ["cert.pem", "key.pem"], params);
    Running::at(dir, &format!("--tls-cert cert.pem --tls-key key.pem {arguments}"))
}

fn write_self_signed(dir: &Path, [certificate, key]: [&str; 2], params: CertificateParams) {
    let pair = KeyPair::generate().unwrap();
    std::fs::write(dir.join(certificate), params.self_signed(&pair).unwrap().pem()).unwrap();
    std::fs::write(dir.join(key), pair.serialize_pem()).unwrap();
}

fn params(names: &[&str]) -> CertificateParams {
    CertificateParams::new(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).unwrap()
}

/// As `openssl req -x509` makes them: what signs itself calls itself an authority.
fn plain(names: &[&str]) -> CertificateParams {
    let mut params = params(names);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

/// A service with a certificate for these names, which is its own authority.
fn certified(names: &[&str]) -> Running {
    serving(params(names), "")
}

#[test]
fn queries_over_tls_and_none_to_strangers() {
    let service = certified(&["localhost", "127.0.0.1"]);
    assert!(service.address.starts_with("https://127.0.0.1:"));
    let found = service.ask(&["--key", "key 7", "--ca", "cert.pem"]);
    assert_eq!(text(&found.stdout), "key 7: row 7\n", "{}", text(&found.stderr));
    let stranger = service.ask(&["--key", "key 7"]);
    assert_eq!(stranger.status.code(), Some(2), "nobody vouches for it");
    assert!(text(&stranger.stderr).contains("--ca FILE"), "{}", text(&stranger.stderr));
    std::fs::write(service.dir.path().join("none.pem"), "no certificate\n").unwrap();
    let none = service.ask(&["--key", "key 7", "--ca", "none.pem"]);
    assert!(text(&none.stderr).contains("none.pem: it has no certificates; give a PEM file"));
    let plain = service.address.replace("https", "http");
    let told = Asker::schema(&Remote::new(&plain, None, Duration::from_secs(20)).unwrap()).unwrap_err().to_string();
    assert!(told.contains("write the address as https://HOST:PORT"), "{told}");
}

#[test]
fn certificates_for_other_names_are_refused_with_a_remedy() {
    let service = certified(&["elsewhere.example"]);
    let other = service.ask(&["--key", "key 7", "--ca", "cert.pem"]);
    let told = text(&other.stderr);
    assert!(other.status.code() == Some(2) && told.contains("with a name that the certificate is for"), "{told}");
}

/// `openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -subj /CN=localhost`, with
/// `-addext subjectAltName=...` and without: what was given is what is trusted.
#[test]
fn a_certificate_that_calls_itself_an_authority_is_taken_where_it_was_given() {
    for names in [&["localhost", "127.0.0.1"][..], &[]] {
        let service = serving(plain(names), "");
        let found = service.ask(&["--key", "key 7", "--ca", "cert.pem"]);
        assert_eq!(text(&found.stdout), "key 7: row 7\n", "{names:?}: {}", text(&found.stderr));
        let stranger = service.ask(&["--key", "key 7"]);
        let told = text(&stranger.stderr);
        assert!(stranger.status.code() == Some(2) && told.contains("--ca FILE"), "{told}");
        // Another one of the same names is another one.
        write_self_signed(service.dir.path(), ["other.pem", "other-key.pem"], plain(names));
        let other = service.ask(&["--key", "key 7", "--ca", "other.pem"]);
        let told = text(&other.stderr);
        assert!(other.status.code() == Some(2) && told.contains("give this certificate itself with --ca"), "{told}");
    }
}

#[test]
fn a_certificate_that_was_given_is_refused_for_other_names_and_times() {
    let elsewhere = serving(plain(&["elsewhere.example"]), "");
    let told = text(&elsewhere.ask(&["--key", "key 7", "--ca", "cert.pem"]).stderr);
    assert!(told.contains("with a name that the certificate is for"), "{told}");
    for (from, until, part) in [(2001, 2002, "must renew it"), (2900, 2950, "its validity begins later")] {
        let mut params = plain(&["127.0.0.1"]);
        params.not_before = rcgen::date_time_ymd(from, 1, 1);
        params.not_after = rcgen::date_time_ymd(until, 1, 1);
        let service = serving(params, "");
        let refused = service.ask(&["--key", "key 7", "--ca", "cert.pem"]);
        let told = text(&refused.stderr);
        assert!(refused.status.code() == Some(2) && told.contains(part), "{told}");
    }
}

/// An authority signs the certificates of the service and of a client.
#[test]
fn a_service_that_asks_for_certificates_answers_those_who_have_one() {
    let authority = CertifiedIssuer::self_signed(plain(&[]), KeyPair::generate().unwrap()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    keyed_table(&dir.path().join("table"), &entries(40, "row"));
    let write = |name: &str, text: String| std::fs::write(dir.path().join(name), text).unwrap();
    write("ca.pem", authority.pem());
    for (name, names, purpose) in [
        ("service", &["127.0.0.1"][..], ExtendedKeyUsagePurpose::ServerAuth),
        ("client", &["ada.example"], ExtendedKeyUsagePurpose::ClientAuth),
    ] {
        let mut params = params(names);
        params.extended_key_usages = vec![purpose];
        let pair = KeyPair::generate().unwrap();
        write(&format!("{name}.pem"), params.signed_by(&pair, &authority).unwrap().pem());
        write(&format!("{name}-key.pem"), pair.serialize_pem());
    }
    write_self_signed(dir.path(), ["own.pem", "own-key.pem"], params(&["ada.example"]));
    let arguments = "--tls-cert service.pem --tls-key service-key.pem --tls-client-ca ca.pem";
    let service = Running::at(dir, arguments);
    let asked = ["--key", "key 7", "--ca", "ca.pem"];
    let with =
        |certificate: &str, key: &str| service.ask(&[&asked[..], &["--cert", certificate, "--cert-key", key]].concat());
    let found = with("client.pem", "client-key.pem");
    assert_eq!(text(&found.stdout), "key 7: row 7\n", "{}", text(&found.stderr));
    let refused = service.ask(&asked);
    let told = text(&refused.stderr);
    assert!(refused.status.code() == Some(2) && told.contains("--cert FILE --cert-key FILE"), "{told}");
    let refused = with("own.pem", "own-key.pem");
    assert_eq!(refused.status.code(), Some(2), "no authority signed it");
    assert!(text(&refused.stderr).contains("--tls-client-ca"), "{}", text(&refused.stderr));
    let told = text(&with("client.pem", "own-key.pem").stderr);
    assert!(told.contains("own-key.pem: it is not the private key of client.pem"), "{told}");
    let told = text(&with("client.pem", "ca.pem").stderr);
    assert!(told.contains("ca.pem: its private key cannot be read"), "{told}");
}

/// `openssl req -x509` makes certificates that call themselves authorities: the service takes none of
/// them for a client, though it is in its file.
#[test]
fn a_clients_certificate_that_calls_itself_an_authority_is_refused_with_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    write_self_signed(dir.path(), ["own.pem", "own-key.pem"], plain(&["ada.example"]));
    keyed_table(&dir.path().join("table"), &entries(40, "row"));
    write_self_signed(dir.path(), ["cert.pem", "key.pem"], params(&["127.0.0.1"]));
    let service = Running::at(dir, "--tls-cert cert.pem --tls-key key.pem --tls-client-ca own.pem");
    let asked = ["--key", "key 7", "--ca", "cert.pem", "--cert", "own.pem", "--cert-key", "own-key.pem"];
    let told = text(&service.ask(&asked).stderr);
    assert!(told.contains("basicConstraints=critical,CA:FALSE"), "{told}");
}

#[test]
fn what_keeps_a_service_from_starting_is_told_with_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    keyed_table(&dir.path().join("table"), &entries(4, "row"));
    write_self_signed(dir.path(), ["cert.pem", "key.pem"], params(&["127.0.0.1"]));
    write_self_signed(dir.path(), ["other.pem", "other-key.pem"], params(&["127.0.0.1"]));
    for name in ["cert.pem", "key.pem"] {
        let whole = std::fs::read_to_string(dir.path().join(name)).unwrap();
        std::fs::write(dir.path().join(format!("cut-{name}")), &whole[..whole.len() - 40]).unwrap();
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    for (arguments, parts) in [
        (
            "--tls-cert cert.pem --tls-key other-key.pem",
            ["other-key.pem: it is not the private key of", "in cert.pem: give that key"],
        ),
        ("--tls-cert cut-cert.pem --tls-key key.pem", ["cut-cert.pem: ", "copy the whole file again"]),
        ("--tls-cert cert.pem --tls-key cut-key.pem", ["cut-key.pem: ", "copy the whole file again"]),
        ("--tls-cert cert.pem --tls-key cert.pem", ["cert.pem: ", "it has no private key"]),
        (&format!("--listen {taken}"), [&taken[..], "another port with --listen"]),
        ("--listen 192.0.2.7:8765", ["192.0.2.7:8765: ", "this machine does not have that address"]),
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_windlass-serve"));
        let command = command.args(["--table", "table"]).args(arguments.split_whitespace());
        let ended = command.current_dir(dir.path()).output().unwrap();
        let told = text(&ended.stderr);
        let last = told.lines().last().unwrap_or_default();
        assert!(ended.status.code() == Some(2) && parts.iter().all(|part| last.contains(part)), "{arguments}: {told}");
    }
    drop(listener);
}
