//! Queries and answers, by processes.

#[cfg(target_os = "linux")]
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use windlass_retrieval::{Plan, RowStatistics, Table, TableRequirements, encode_record, unobserved};
use windlass_service::client::Wanted;

use crate::common::{Running, ask, asking, entries, eventually, numbered_table, refusal, text};

#[test]
fn rows_are_found_by_key_and_absence_has_an_exit_code() {
    let service = Running::small("--json");
    let found = service.ask(&["--key", "key 7", "--key", "key 31"]);
    assert_eq!(text(&found.stdout), "key 7: row 7\nkey 31: row 31\n");
    assert_eq!(found.status.code(), Some(0));
    assert!(text(&found.stderr).contains("bits of security"), "λ is told");
    let absent = service.ask(&["--key", "key 7", "--key", "nobody"]);
    assert_eq!(text(&absent.stdout), "key 7: row 7\nnobody: not there\n");
    assert_eq!(absent.status.code(), Some(3));
    let object: Value = serde_json::from_slice(&service.ask(&["--key", "key 1", "--json"]).stdout).unwrap();
    assert_eq!(
        (&object["rows"][0]["text"], &object["uploads"]),
        (&"row 1".into(), &0.into()),
        "keys are uploaded once"
    );
    assert!(object["security_bits"].as_f64().unwrap() >= 128.0);
    for (arguments, part) in [
        (&["--row", "0"][..], "ask for rows by key"),
        (&["--key", "k", "--ca", "nowhere.pem"], "certificates need https"),
        (&["--key", "k", "--accept-schema", "0123456"], "8 to 64"),
        (&["--key", "k", "--state", "table/schema.json"], "schema.json"),
    ] {
        let refused = service.ask(arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(text(&refused.stderr).contains(part), "{}", text(&refused.stderr));
        let object = service.ask(&[arguments, &["--json"]].concat());
        let object: Value = serde_json::from_slice(&object.stdout).unwrap();
        assert!(object["exit_code"] == 2 && object["error"].as_str().unwrap().contains(part), "{object}");
    }
    for (address, part) in [("127.0.0.1:1", "127.0.0.1:1"), ("https://127.0.0.1:1", "nowhere.pem")] {
        let https = ["--ca", "nowhere.pem"];
        let more = if address.starts_with("https") { &https[..] } else { &[] };
        let nobody = ask(service.dir.path(), &[&[address, "--key", "k"], more].concat());
        assert!(nobody.status.code() == Some(2) && text(&nobody.stderr).contains(part), "{}", text(&nobody.stderr));
    }
    let named = ask(service.dir.path(), &["http://me:secret@127.0.0.1:1", "--key", "k"]);
    assert!(named.status.code() == Some(2) && !text(&named.stderr).contains("secret"));
    // Logs are objects, and none of them has what was asked for.
    let log = service.log();
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok_and(|line| line["level"].is_string())));
    assert!(log.contains("\"route\":\"/ask\"") && !log.contains("key 7"));
}

/// A program that answers one connection with these bytes, and its address.
fn somebody(answer: &'static str) -> String {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let _ = stream.read(&mut request);
        stream.write_all(answer.as_bytes()).unwrap();
    });
    address
}

#[test]
fn what_is_no_service_is_told_with_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let moved = "HTTP/1.1 301 Moved\r\nLocation: https://elsewhere.example/schema\r\nContent-Length: 0\r\n\r\n";
    let page = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\n<html>";
    for (answer, parts) in [
        (moved, ["redirects to 'https://elsewhere.example/schema'", "ask that address if you trust it"]),
        (page, ["refuses (502)", "check the proxy in front of it"]),
    ] {
        let told = ask(dir.path(), &[&somebody(answer), "--key", "k"]);
        let message = text(&told.stderr);
        assert!(told.status.code() == Some(2) && parts.iter().all(|part| message.contains(part)), "{message}");
    }
    let nobody = text(&ask(dir.path(), &["127.0.0.1:1", "--key", "k"]).stderr);
    assert!(nobody.contains("check that the service is running"), "{nobody}");
    for (address, part) in [
        ("127.0.0.1:99999", "'99999' is not a port"),
        ("127.0.0.1:0", "'0' is not a port"),
        ("http://[::1]:70000", "'70000' is not a port"),
        ("http://[::1]:1", "check that the service is running"),
        (&somebody(""), "the other side closed the connection"),
    ] {
        let told = text(&ask(dir.path(), &[address, "--key", "k"]).stderr);
        assert!(told.contains(part), "{address}: {told}");
    }
}

/// Where a proxy is asked, the message names it, and not its password.
#[test]
fn a_proxy_that_does_not_answer_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = asking(dir.path(), &["tables.example:8765", "--key", "k"]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"] {
        command.env_remove(name);
    }
    let told = text(&command.env("http_proxy", "http://me:secret@127.0.0.1:1").output().unwrap().stderr);
    assert!(told.contains("through the proxy 127.0.0.1:1") && told.contains("no_proxy"), "{told}");
    assert!(!told.contains("secret"), "{told}");
    let told = text(&command.env("no_proxy", "tables.example").output().unwrap().stderr);
    assert!(!told.contains("proxy"), "{told}");
}

/// A client that waits says for what.
#[test]
fn a_wait_for_the_quota_is_told() {
    let service = Running::small("--quota 30");
    let most: Vec<String> = (0..30).flat_map(|k| ["--key".to_owned(), format!("key {k}")]).collect();
    let most: Vec<&str> = most.iter().map(String::as_str).collect();
    let first = service.ask(&most);
    assert!(first.status.success() && !text(&first.stderr).contains("waiting"), "{}", text(&first.stderr));
    let waited = service.ask(&most[..24]);
    let told = text(&waited.stderr);
    assert!(waited.status.success(), "{told}");
    assert!(told.lines().any(|line| line.starts_with("waiting ") && line.ends_with(" s for the quota")), "{told}");
}

/// An answer that takes longer than the service gives it.
#[test]
fn an_answer_that_takes_too_long_names_the_option() {
    let service = Running::small("--answer-seconds 0.001");
    let told = text(&service.ask(&["--key", "key 1"]).stderr);
    assert!(told.contains("(504)") && told.contains("--answer-seconds"), "{told}");
    assert!(told.contains("tell the owner of the service"), "{told}");
}

/// Where standard output is closed nothing is asked, and no key is made.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_standard_output_is_refused_before_a_query() {
    let dir = tempfile::tempdir().unwrap();
    let line = format!("exec {} 127.0.0.1:1 --key k >&-", env!("CARGO_BIN_EXE_windlass-ask"));
    let mut command = std::process::Command::new("sh");
    let ended = command.current_dir(dir.path()).args(["-c", &line]).output().unwrap();
    let told = text(&ended.stderr);
    assert!(ended.status.code() == Some(2) && told.contains("standard output is closed"), "{told}");
    assert!(!dir.path().join(".windlass").exists());
}

/// Under a limit on the length of files the keys do not fit: an error, and nothing half written.
#[cfg(unix)]
#[test]
fn a_state_that_outgrows_a_limit_is_an_error() {
    use std::process::Command;
    let service = Running::small("");
    let line = format!(
        "ulimit -f 50; exec '{}' {} --state limited --key 'key 7'",
        env!("CARGO_BIN_EXE_windlass-ask"),
        service.address
    );
    let asked = Command::new("sh").args(["-c", &line]).current_dir(service.dir.path()).output().unwrap();
    let told = text(&asked.stderr);
    assert!(asked.status.code() == Some(2) && told.lines().last().unwrap().starts_with("error: limited"), "{told}");
    let left = std::fs::read_dir(service.dir.path().join("limited")).into_iter().flatten();
    let left: Vec<String> = left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(left.iter().all(|name| !name.starts_with('.')), "{left:?}");
}

/// A client may be killed at any moment: the next one finds a state that works, and nothing of a
/// secret key that was half written.
#[test]
fn killed_askers_leave_a_state_that_works() {
    use std::process::Command;
    let service = Running::small("");
    let line = |state: &str| [&service.address[..], "--key", "key 7", "--state", state].map(str::to_owned);
    let rounds = if std::env::var_os("WINDLASS_NIGHTLY").is_some() { 100 } else { 8 };
    let begun = std::time::Instant::now();
    assert!(ask(service.dir.path(), &line("whole").each_ref().map(|word| &word[..])).status.success());
    let whole = begun.elapsed();
    for round in 0..rounds {
        let state = format!("state{round}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass-ask"));
        command.args(line(&state)).current_dir(service.dir.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(whole.mul_f64((f64::from(round) * 0.618_034).fract()));
        // It may have ended already.
        let _ = child.kill();
        child.wait().unwrap();
        let found = ask(service.dir.path(), &line(&state).each_ref().map(|word| &word[..]));
        assert_eq!(text(&found.stdout), "key 7: row 7\n", "{}", text(&found.stderr));
        for entry in std::fs::read_dir(service.dir.path().join(&state)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(!name.starts_with('.'), "{name} stays");
        }
    }
}

/// Two who begin with one new directory at once are both answered, with one secret key.
#[test]
fn two_askers_that_begin_with_one_state_are_both_answered() {
    let service = Running::small("");
    let at = service.dir.path();
    std::fs::write(at.join("words"), "two or three words\n").unwrap();
    let rounds = if std::env::var_os("WINDLASS_NIGHTLY").is_some() { 60 } else { 6 };
    for round in 0..rounds {
        let state = format!("state{round}");
        let passphrase = if round % 2 == 0 { &[][..] } else { &["--passphrase-file", "words"] };
        let line = [&[&service.address[..], "--key", "key 7", "--state", &state], passphrase].concat();
        let start = || asking(at, &line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut both = [start(), start()];
        let begun = Instant::now();
        while both.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
            if begun.elapsed() > Duration::from_secs(100) {
                both.iter_mut().for_each(|child| child.kill().unwrap());
                panic!("an asker hangs in round {round}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        for ended in both.map(|child| child.wait_with_output().unwrap()) {
            assert_eq!(text(&ended.stdout), "key 7: row 7\n", "round {round}: {}", text(&ended.stderr));
        }
        let mut names: Vec<String> = std::fs::read_dir(at.join(&state))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let kinds: Vec<&str> = names.iter().map(|name| name.split('-').next().unwrap()).collect();
        assert_eq!(kinds, ["keys", "secret", "table"], "round {round}: {names:?}");
        assert_eq!(text(&ask(at, &line).stdout), "key 7: row 7\n", "round {round}: the state works");
    }
}

/// Some account that is not the superuser.
#[cfg(target_os = "linux")]
const NOBODY: u32 = 65_534;

/// A state that takes nothing answers where it has everything, and is an error that says what to do
/// where something is missing.
#[cfg(target_os = "linux")]
#[test]
fn a_state_that_takes_nothing_is_an_error_that_says_so() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
    use std::os::unix::process::CommandExt as _;
    let service = Running::small("");
    let at = service.dir.path();
    let superuser = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let set = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    let give = |path: &Path| chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    let ask = |state: &str| {
        let mut command = asking(at, &[&service.address[..], "--key", "key 7", "--state", state]);
        if superuser {
            // Permissions do not stop it.
            command.uid(NOBODY).gid(NOBODY);
        }
        let ended = command.output().unwrap();
        (ended.status.code(), text(&ended.stdout), text(&ended.stderr))
    };
    if superuser {
        give(at);
    }
    assert_eq!(ask("whole/state").0, Some(0));
    let secret = |path: &PathBuf| path.extension().is_some_and(|end| end == "key");
    let files = || std::fs::read_dir(at.join("whole/state")).unwrap().map(|entry| entry.unwrap().path());
    set(&at.join("whole/state"), 0o555);
    assert_eq!(ask("whole/state").1, "key 7: row 7\n", "nothing is written to a state that has everything");
    // One file after the other is missing, then the directory itself.
    let beginnings = ["keys-", "secret-", "table-"];
    for beginning in beginnings {
        set(&at.join("whole/state"), 0o755);
        let is_it = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(beginning);
        std::fs::remove_file(files().find(is_it).unwrap()).unwrap();
        set(&at.join("whole/state"), 0o555);
        let before = files().count();
        let (code, answer, told) = ask("whole/state");
        let last = told.lines().last().unwrap_or_default();
        assert!(code == Some(2) && answer.is_empty(), "without {beginning}: {told}");
        assert!(last.starts_with("error: whole/state/"), "without {beginning}: {told}");
        assert!(last.contains("permission denied; choose another path"), "without {beginning}: {told}");
        assert!(files().count() == before && files().all(|path| !secret(&path) || beginning == "keys-"));
    }
    set(&at.join("whole"), 0o555);
    let (code, answer, told) = ask("whole/other");
    set(&at.join("whole"), 0o755);
    set(&at.join("whole/state"), 0o755);
    assert!(code == Some(2) && answer.is_empty(), "{told}");
    assert_eq!(told, "error: whole/other: permission denied; choose another path, or ask its owner\n");
}

/// `windlass key seal` encrypts the secret key of a state; its client asks for the passphrase.
#[test]
fn a_secret_key_that_was_encrypted_since_is_opened() {
    use windlass::wire::{Passphrase, PassphraseCost, seal_secret};
    let service = Running::small("");
    let at = |name: &str| service.dir.path().join(name);
    assert!(service.ask(&["--key", "key 7"]).status.success());
    let state = std::fs::read_dir(at(".windlass")).unwrap().map(|entry| entry.unwrap().path());
    let secret = state.into_iter().find(|path| path.extension().is_some_and(|end| end == "key")).unwrap();
    let plain = std::fs::read(&secret).unwrap();
    let sealed = seal_secret(&plain, &Passphrase::new("words").unwrap(), PassphraseCost::default()).unwrap();
    std::fs::write(&secret, sealed).unwrap();
    std::fs::write(at("words"), "words\n").unwrap();
    let refused = service.ask(&["--key", "key 7"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--passphrase-file FILE"), "{}", text(&refused.stderr));
    let refused = service.ask(&["--key", "key 7", "--passphrase-file", "table/schema.json"]);
    assert!(text(&refused.stderr).contains("the passphrase is wrong"), "{}", text(&refused.stderr));
    // A passphrase's file that is missing is no missing key: none is made in its place.
    let refused = service.ask(&["--key", "key 7", "--passphrase-file", "nowhere"]);
    assert!(text(&refused.stderr).contains("nowhere: no such file"), "{}", text(&refused.stderr));
    let found = service.ask(&["--key", "key 7", "--passphrase-file", "words"]);
    assert_eq!(text(&found.stdout), "key 7: row 7\n");
    assert_eq!(std::fs::read_dir(at(".windlass")).unwrap().count(), 3, "no second key");
}

/// A passphrase for the first query encrypts the key with it, or no key is made.
#[test]
fn a_secret_key_is_made_encrypted_where_a_passphrase_is_given() {
    use windlass::wire::is_sealed;
    let service = Running::small("");
    let at = |name: &str| service.dir.path().join(name);
    std::fs::write(at("words"), "two or three words\n").unwrap();
    std::fs::write(at("empty"), "\n").unwrap();
    for (file, part) in [("nowhere", "nowhere: no such file"), ("empty", "the passphrase is empty")] {
        let refused = service.ask(&["--key", "key 7", "--passphrase-file", file]);
        let told = text(&refused.stderr);
        assert!(refused.status.code() == Some(2) && told.contains(part), "{told}");
        let state = std::fs::read_dir(at(".windlass")).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(state.into_iter().all(|name| !name.to_string_lossy().ends_with(".key")), "a key without a passphrase");
    }
    let asked = ["--key", "key 7", "--passphrase-file", "words"];
    assert_eq!(text(&service.ask(&asked).stdout), "key 7: row 7\n");
    let state = std::fs::read_dir(at(".windlass")).unwrap().map(|entry| entry.unwrap().path());
    let secrets: Vec<_> = state.filter(|path| path.extension().is_some_and(|end| end == "key")).collect();
    assert!(secrets.len() == 1 && is_sealed(&std::fs::read(&secrets[0]).unwrap()), "{secrets:?}");
    assert_eq!(text(&service.ask(&asked).stdout), "key 7: row 7\n");
    let refused = service.ask(&["--key", "key 7"]);
    assert!(text(&refused.stderr).contains("--passphrase-file FILE"), "{}", text(&refused.stderr));
}

#[test]
fn rows_are_found_by_number_and_fields_have_names() {
    let dir = tempfile::tempdir().unwrap();
    numbered_table(&dir.path().join("table"), &(0..100).map(|k| format!("number {k:03}")).collect::<Vec<_>>());
    let service = Running::at(dir, "");
    let found = service.ask(&["--row", "0", "--row", "99"]);
    assert_eq!(text(&found.stdout), "row 0: number 000\nrow 99: number 099\n");
    assert!(text(&service.ask(&["--row", "100"]).stderr).contains("100"));
    let dir = tempfile::tempdir().unwrap();
    let rows: Vec<Vec<u8>> =
        [["Lisbon", "\u{1b}[2Jlow"], ["Porto", "high"]].iter().map(|cells| encode_record(cells)).collect();
    let mut schema = Plan::rows(RowStatistics::of(&rows).unwrap(), &TableRequirements::default()).unwrap().schema;
    schema.fields = vec!["city".into(), "tide".into()];
    Table::create_rows(&dir.path().join("table"), &schema, &rows, &unobserved).unwrap();
    let service = Running::at(dir, "");
    let shown = text(&service.ask(&["--row", "0"]).stdout);
    assert!(shown.contains("  city                  Lisbon\n") && !shown.contains('\u{1b}'), "{shown}");
    let object: Value = serde_json::from_slice(&service.ask(&["--row", "1", "--json"]).stdout).unwrap();
    assert_eq!(object["rows"][0]["fields"]["tide"], "high");
}

/// One long row makes queries for all rows long; in portions short ones are short.
#[test]
fn long_rows_are_asked_for_in_portions() {
    let dir = tempfile::tempdir().unwrap();
    let mut rows = entries(40, "row");
    rows[3].1 = "long ".repeat(20_000);
    crate::common::keyed_table(&dir.path().join("table"), &rows);
    let service = Running::at(dir, "");
    let mut asker = service.asker();
    asker.introduce().unwrap();
    let wanted = |keys: &[&str]| Wanted::Keys(keys.iter().map(|key| key.as_bytes().to_vec()).collect());
    let some = wanted(&["key 3", "key 4", "nobody"]);
    let found = asker.ask_in_portions(&some).unwrap();
    // In one query there is room for one key at a time.
    for (key, row) in ["key 3", "key 4", "nobody"].into_iter().zip(&found) {
        assert_eq!(asker.ask(&wanted(&[key])).unwrap()[0], *row, "{key}");
    }
    assert_eq!(found, [Some(rows[3].1.clone().into_bytes()), Some(b"row 4".to_vec()), None]);
    let found = service.ask(&["--key", "key 4", "--portions"]);
    assert_eq!(text(&found.stdout), "key 4: row 4\n", "{}", text(&found.stderr));
}

/// A quota counts what is looked at: a whole row by its portions, and rows in portions one by one.
#[test]
fn a_quota_counts_portions() {
    let dir = tempfile::tempdir().unwrap();
    let mut rows = entries(40, "row");
    rows[3].1 = "long ".repeat(20_000);
    let portions = crate::common::keyed_table(&dir.path().join("table"), &rows).schema().portions();
    assert!(portions > 6, "{portions}");
    let service = Running::at(dir, "--quota 5");
    let mut asker = service.asker();
    asker.introduce().unwrap();
    let wanted = |count: usize| Wanted::Keys((10..10 + count).map(|k| format!("key {k}").into_bytes()).collect());
    for refused in [asker.ask(&wanted(1)), asker.ask_in_portions(&wanted(6))] {
        let refused = refused.unwrap_err();
        assert_eq!(refusal(&refused), (413, "above-quota"));
        assert!(refused.to_string().contains("a larger quota") && !refused.to_string().contains("body"), "{refused}");
    }
    assert_eq!(asker.ask_in_portions(&wanted(5)).unwrap().len(), 5, "short rows are one portion each");
    eventually("it is told", || service.log().contains("more portions than the quota of a minute has"));
}

#[test]
fn many_at_once_are_answered_together_and_each_gets_its_own() {
    let service = Running::small("");
    std::thread::scope(|scope| {
        for client in 0..6 {
            let service = &service;
            scope.spawn(move || {
                let mut asker = service.asker();
                asker.introduce().unwrap();
                for turn in 0..5 {
                    let number = (client * 7 + turn) % 45;
                    let keys = Wanted::Keys(vec![format!("key {number}").into_bytes()]);
                    let row = (number < 40).then(|| format!("row {number}").into_bytes());
                    assert_eq!(asker.ask(&keys).unwrap(), [row]);
                }
            });
        }
    });
    let metrics = text(&service.remote().get("/metrics").unwrap().body);
    let value = |name: &str| -> f64 {
        let line = metrics.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name}"));
        line.trim().parse().unwrap()
    };
    assert_eq!(value("windlass_requests_total{route=\"/ask\",status=\"200\"}"), 30.0);
    assert_eq!((value("windlass_answer_seconds_count"), value("windlass_keys_cached")), (30.0, 6.0));
    assert!(value("windlass_pass_seconds_count") < 30.0, "some waited together");
}

#[test]
fn a_table_of_another_schema_is_told_to_those_who_knew_the_first() {
    let service = Running::small("");
    assert_eq!(service.ask(&["--key", "key 1"]).status.code(), Some(0));
    let (first, dir) = (service.address.clone(), tempfile::tempdir().unwrap());
    crate::common::keyed_table(&dir.path().join("table"), &entries(40, "a longer row"));
    drop(service);
    let listen = first.strip_prefix("http://").unwrap();
    let service = Running::at(dir, &format!("--listen {listen}"));
    // The state lies beside the first table, which is gone with it: the same address, known anew.
    assert_eq!(service.ask(&["--key", "key 1"]).status.code(), Some(0));
    let state = service.dir.path().join(".windlass");
    let pin = std::fs::read_dir(&state).unwrap().flatten().map(|entry| entry.path());
    let pin = pin.into_iter().find(|path| path.file_name().unwrap().to_string_lossy().starts_with("table-")).unwrap();
    let known = std::fs::read_to_string(&pin).unwrap();
    std::fs::write(&pin, "0".repeat(64) + &known[64..]).unwrap();
    let refused = service.ask(&["--key", "key 1"]);
    let message = text(&refused.stderr);
    assert!(refused.status.code() == Some(2) && message.contains("another table than before"), "{message}");
    let accepted = service.ask(&["--key", "key 1", "--accept-schema", &known[..16]]);
    assert_eq!(text(&accepted.stdout), "key 1: a longer row 1\n");
}
