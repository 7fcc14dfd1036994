//! Who may ask, how much, and keys that outlive the service.

use std::process::Command;

use windlass_retrieval::{Client, KeyContext, Wanted};
use windlass_service::client::{Access, Asker, Remote, Token};

use crate::common::{Running, entries, eventually, keyed_table, refusal, text};

const TIME: std::time::Duration = std::time::Duration::from_secs(60);

/// A token of a client, whose line is in `dir/tokens` from now on; it is written to `dir/NAME.token`.
fn token(dir: &std::path::Path, name: &str, more: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass-serve"));
    command.args(["--new-token", name, "--tokens", "tokens"]).args(more).current_dir(dir);
    let made = command.output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
    std::fs::write(dir.join(format!("{name}.token")), &made.stdout).unwrap();
    text(&made.stdout).trim().to_owned()
}

fn guarded(arguments: &str) -> Running {
    let dir = tempfile::tempdir().unwrap();
    keyed_table(&dir.path().join("table"), &entries(40, "row"));
    token(dir.path(), "ada", &[]);
    Running::at(dir, &format!("--tokens tokens {arguments}"))
}

/// A client with the token in a file, and separate keys.
fn asker(service: &Running, file: &str) -> Asker {
    let token = Token::read(&service.dir.path().join(file)).unwrap();
    let access = Access { token: Some(token), ..Access::default() };
    let remote = Remote::with(&service.address, &access, TIME).unwrap();
    let (schema, setting) = Asker::schema(&remote).unwrap();
    let client = Client::new(schema, &setting).unwrap();
    let keys = windlass::wire::to_bytes(&KeyContext::new(&setting), &client.evaluation_keys().unwrap()).unwrap();
    Asker::of(remote, client, keys.to_vec())
}

#[test]
fn those_with_a_token_are_answered_and_strangers_are_not() {
    let service = guarded("");
    let found = service.ask(&["--key", "key 7", "--token-file", "ada.token"]);
    assert_eq!(text(&found.stdout), "key 7: row 7\n", "{}", text(&found.stderr));
    let stranger = service.ask(&["--key", "key 7"]);
    let told = text(&stranger.stderr);
    assert!(stranger.status.code() == Some(2) && told.contains("(401)") && told.contains("--token-file"), "{told}");
    let open = service.remote();
    for (path, status) in [
        ("/", 401),
        ("/schema", 401),
        ("/metrics", 401),
        ("/stats.json", 401),
        ("/health", 200),
        ("/openapi.json", 200),
    ] {
        assert_eq!(open.get(path).unwrap().status, status, "{path}");
    }
    // A body is heard to its end, so that who sends it hears why it is refused.
    let keys = asker(&service, "ada.token");
    let (name, bytes) = keys.keys();
    assert_eq!(open.put_keys(name, bytes).unwrap().problem().as_deref(), Some("unauthorised"));
    assert!(
        service
            .raw(b"GET /schema HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
            .contains("www-authenticate: Bearer")
    );
    // The log knows clients by name and never by token.
    let token = std::fs::read_to_string(service.dir.path().join("ada.token")).unwrap();
    assert!(!service.log().contains(token.trim()));
}

#[test]
fn tokens_come_and_go_while_the_service_runs() {
    let service = guarded("");
    let at = service.dir.path().to_owned();
    token(&at, "alan", &["--quota", "5"]);
    let status = |file: &str| service.ask(&["--key", "key 7", "--token-file", file]).status.code();
    eventually("a new token is known", || status("alan.token") == Some(0));
    let lines = std::fs::read_to_string(at.join("tokens")).unwrap();
    let (ada, alan) = lines.trim().split_once('\n').unwrap();
    assert!(ada.starts_with("ada ") && alan.starts_with("alan ") && alan.ends_with(" 5"), "{lines}");
    std::fs::write(at.join("tokens"), format!("{alan}\n")).unwrap();
    eventually("a token that is gone is worth nothing", || status("ada.token") == Some(2));
    // A fault elsewhere in the file leaves alan, and keeps nobody whose line is gone.
    std::fs::write(at.join("tokens"), &lines).unwrap();
    eventually("both are known", || status("ada.token") == Some(0));
    std::fs::write(at.join("tokens"), format!("nonsense\n{alan}\n")).unwrap();
    eventually("it is told", || service.log().contains("tokens: line 1: expected NAME"));
    assert_eq!((status("ada.token"), status("alan.token")), (Some(2), Some(0)));
    std::fs::remove_file(at.join("tokens")).unwrap();
    eventually("it is told", || service.log().contains("0 tokens stay valid"));
    assert_eq!(status("alan.token"), Some(2), "no file, no token");
}

#[test]
fn a_client_has_its_quota_and_no_more() {
    let service = guarded("--quota 40");
    let mut ada = asker(&service, "ada.token");
    ada.introduce().unwrap();
    let keys = |count: usize| Wanted::Keys((0..count).map(|k| format!("key {k}").into_bytes()).collect());
    let (many, one) = (keys(30), keys(1));
    assert_eq!(ada.ask(&many).unwrap().len(), 30);
    // The next thirty are there in some twenty seconds: nobody waits for them here.
    let query = ada.query(&many).unwrap();
    let own = Token::read(&service.dir.path().join("ada.token")).unwrap();
    let access = Access { token: Some(own), ..Access::default() };
    let remote = Remote::with(&service.address, &access, TIME).unwrap();
    let refused = remote.ask(ada.keys().0, &query, 1 << 24).unwrap();
    assert_eq!((refused.status, refused.problem().as_deref()), (429, Some("quota")));
    assert!((15..=31).contains(&refused.retry_after.unwrap()), "{:?}", refused.retry_after);
    assert_eq!(ada.ask(&one).unwrap().len(), 1, "what is left is there");
    // Another client has a quota of its own, which the file says.
    token(service.dir.path(), "alan", &["--quota", "2"]);
    eventually("alan is known", || {
        let token = Token::read(&service.dir.path().join("alan.token")).unwrap();
        let access = Access { token: Some(token), ..Access::default() };
        Remote::with(&service.address, &access, TIME).unwrap().get("/schema").unwrap().status == 200
    });
    let mut alan = asker(&service, "alan.token");
    alan.introduce().unwrap();
    assert_eq!(refusal(&alan.ask(&keys(3)).unwrap_err()), (413, "above-quota"));
    assert_eq!(alan.ask(&keys(2)).unwrap().len(), 2);
}

#[test]
fn tokens_are_not_sent_in_the_clear_to_other_machines() {
    let dir = tempfile::tempdir().unwrap();
    token(dir.path(), "ada", &[]);
    let refused = crate::common::ask(dir.path(), &["tables.example:8765", "--key", "a", "--token-file", "ada.token"]);
    let told = text(&refused.stderr);
    assert!(refused.status.code() == Some(2) && told.contains("write the address as https://"), "{told}");
}

/// What is sent to this machine without https goes there and not to a proxy, which would see the
/// token.
#[test]
fn tokens_for_this_machine_pass_no_proxy() {
    let service = guarded("");
    let proxy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("http://{}", proxy.local_addr().unwrap());
    let arguments = [&service.address[..], "--key", "key 7", "--token-file", "ada.token", "--seconds", "60"];
    let mut command = crate::common::asking(service.dir.path(), &arguments);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env(name, &place);
    }
    let found = command.env_remove("NO_PROXY").env_remove("no_proxy").output().unwrap();
    assert_eq!(text(&found.stdout), "key 7: row 7\n", "{}", text(&found.stderr));
    proxy.set_nonblocking(true).unwrap();
    assert!(proxy.accept().is_err(), "the proxy was asked");
    let shouted = service.address.replace("http://127.0.0.1", "HTTP://tables.example");
    let refused = crate::common::ask(service.dir.path(), &[&shouted, "--key", "a", "--token-file", "ada.token"]);
    let told = text(&refused.stderr);
    assert!(refused.status.code() == Some(2) && told.contains("write the address as https://"), "{told}");
}

/// With a directory for keys no client uploads twice.
#[test]
fn keys_are_there_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    keyed_table(&dir.path().join("table"), &entries(40, "row"));
    let service = Running::at(dir, "--key-dir kept");
    let mut asker = service.asker();
    let wanted = Wanted::Keys(vec![b"key 3".to_vec()]);
    asker.introduce().unwrap();
    assert_eq!(asker.ask(&wanted).unwrap(), [Some(b"row 3".to_vec())]);
    assert_eq!(asker.uploads, 1);
    let service = service.again("--key-dir kept");
    assert_eq!(asker.ask(&wanted).unwrap(), [Some(b"row 3".to_vec())]);
    assert_eq!((asker.uploads, service.stats()["cache"]["sets"].as_u64()), (1, Some(1)));
    // What is damaged on the disk is asked for again.
    let file = std::fs::read_dir(service.dir.path().join("kept")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&file, "bent").unwrap();
    let service = service.again("--key-dir kept");
    assert_eq!(asker.ask(&wanted).unwrap(), [Some(b"row 3".to_vec())]);
    assert_eq!(asker.uploads, 2);
    // Without the directory they are gone, as ever.
    let service = service.again("");
    assert_eq!(asker.ask(&wanted).unwrap(), [Some(b"row 3".to_vec())]);
    assert_eq!(asker.uploads, 3);
    drop(service);
}

#[test]
fn arguments_that_do_not_fit_together_are_refused() {
    let run = |arguments: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass-serve"));
        let ended = command.args(arguments.split_whitespace()).output().unwrap();
        (ended.status.code(), text(&ended.stderr))
    };
    for arguments in
        ["", "--new-token ada", "--table t --quota 0", "--table t --key-disk 5", "--table t --tls-client-ca c"]
    {
        assert_eq!(run(arguments).0, Some(2), "{arguments}");
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tokens");
    std::fs::write(&file, "nonsense\n").unwrap();
    keyed_table(&dir.path().join("table"), &entries(4, "row"));
    let table = dir.path().join("table").display().to_string();
    let told = run(&format!("--table {table} --tokens {}", file.display())).1;
    assert!(told.contains("tokens: line 1: expected NAME"), "{told}");
    assert!(run(&format!("--table {table} --tokens {}", dir.path().join("no").display())).1.contains("no: "));
    let told = run(&format!("--new-token a/b --tokens {}", file.display())).1;
    assert!(told.contains("a name has"), "{told}");
}
