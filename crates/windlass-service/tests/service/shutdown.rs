//! The end of a service.

use std::io::Read;
use std::process::Command;

use windlass_service::client::Wanted;

use crate::common::Running;

#[cfg(unix)]
#[test]
fn what_is_under_way_is_answered_before_the_end() {
    for signal in ["-TERM", "-INT"] {
        let mut service = Running::small("");
        let mut asker = service.asker();
        asker.upload().unwrap();
        let rows = Wanted::Keys((0..32).map(|k| format!("key {k}").into_bytes()).collect());
        let query = asker.query(&rows).unwrap();
        // Idle connections do not hold it up.
        let mut idle = service.connect();
        let process = service.child.id().to_string();
        let asking = std::thread::spawn(move || {
            let answer = asker.send(&rows, &query).unwrap();
            asker.rows(&rows, &answer).unwrap()
        });
        // Beside the request that asks for this.
        crate::common::eventually("the query is there", || {
            service.stats()["open"].as_i64().unwrap() > 1 || asking.is_finished()
        });
        assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
        let found = asking.join().unwrap();
        assert!((0..32).all(|k| found[k] == Some(format!("row {k}").into_bytes())));
        assert_eq!(service.child.wait().unwrap().code(), Some(0), "{}", service.log());
        assert_eq!(idle.read(&mut [0]).unwrap_or(0), 0);
        assert!(service.log().contains("ended"));
    }
}

#[test]
fn a_health_check_tells_a_service_that_runs_from_one_that_is_gone() {
    let mut service = Running::small("");
    let check = |address: &str| {
        // The check asks the service itself, whatever the environment names.
        let proxies = ["http_proxy", "https_proxy", "all_proxy"].map(|name| (name, "http://127.0.0.1:9"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass-serve"));
        let ended = command.args(["--health", address]).envs(proxies).env("no_proxy", "").output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
    };
    let address = service.address.clone();
    assert_eq!(check(&address), (Some(0), String::new()));
    let (code, told) = check(&format!("{address}/elsewhere"));
    assert!(code == Some(1) && told.contains("status 404"), "{told}");
    service.child.kill().unwrap();
    service.child.wait().unwrap();
    let (code, told) = check(&address);
    assert!(code == Some(1) && told.starts_with("error: "), "{told}");
}

#[test]
fn what_cannot_be_served_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    for (arguments, part) in [
        ("--table nowhere", "nowhere"),
        ("--table . --tls-cert a --tls-key b", "a: "),
        ("--table . --tls-cert a", "--tls-key"),
        ("--table . --threads 0", "--threads"),
        ("--table . --body-seconds x", "seconds"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_windlass-serve"))
            .args(arguments.split_whitespace())
            .current_dir(dir.path())
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains(part), "{arguments}: {message}");
    }
}
