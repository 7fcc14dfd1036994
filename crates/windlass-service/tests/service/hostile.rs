//! Bodies that are cut, altered, too long or too slow; keys that do not fit.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use windlass::rlwe::EvaluationKeys;
use windlass::wire::{hex, sha256, to_bytes};
use windlass_retrieval::KeyContext;
use windlass_service::client::{Asker, Wanted};

use crate::common::Running;

fn wanted() -> Wanted {
    Wanted::Keys(vec![b"key 3".to_vec()])
}

#[test]
fn cut_and_altered_bodies_are_refused_with_a_cause_and_harm_nobody() {
    let service = Running::small("");
    let (mut asker, remote) = (service.asker(), service.remote());
    let (name, keys) = asker.keys();
    let (name, keys) = (name.to_owned(), keys.to_vec());
    let query = asker.query(&wanted()).unwrap();
    let kind = |name: &str, body: &[u8]| remote.put_keys(name, body).unwrap().problem().unwrap();
    assert_eq!(kind("abc", &keys), "bad-name");
    assert_eq!(kind(&name, &keys[1..]), "other-name");
    for body in [&keys[..keys.len() - 1], &[&keys[..], b"x"].concat(), b"", b"WINDLASS", &query] {
        assert_eq!(kind(&hex(&sha256(body)), body), "unreadable");
    }
    let ask = |name: &str, body: &[u8]| remote.ask(name, body, 1 << 24).unwrap().problem().unwrap();
    assert_eq!(ask(&name, &query), "unknown-keys");
    asker.upload().unwrap();
    assert_eq!(remote.put_keys(&name, &keys).unwrap().status, 204, "twice is once");
    assert_eq!(ask("abc", &query), "bad-name");
    for end in [0, 11, 68, 99, 100, query.len() / 2, query.len() - 1] {
        assert_eq!(ask(&name, &query[..end]), "unreadable", "cut at {end}");
    }
    for place in [0, 9, 45, 61, 70, 500, query.len() - 1] {
        let mut altered = query.clone();
        altered[place] ^= 1;
        let kind = ask(&name, &altered);
        assert!(["unreadable", "too-large"].contains(&&kind[..]), "{kind} at {place}");
    }
    let mut foreign = query.clone();
    foreign[20] ^= 1;
    assert_eq!(ask(&name, &foreign), "other-table");
    assert_eq!(asker.ask(&wanted()).unwrap(), [Some(b"row 3".to_vec())]);
    // A body that is promised and never comes whole.
    let head = format!("POST /ask?keys={name} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", query.len());
    let mut stream = service.connect();
    stream.write_all(&[head.as_bytes(), &query[..1000]].concat()).unwrap();
    drop(stream);
    assert_eq!(asker.ask(&wanted()).unwrap(), [Some(b"row 3".to_vec())]);
}

#[test]
fn long_bodies_and_odd_requests_are_refused_before_they_are_read() {
    let service = Running::small("--rows 2");
    let name = "0".repeat(64);
    let query = ["#too-large", "those of a request for 2 rows", "ask for fewer rows"];
    let keys = ["#keys-too-large", "bytes are read", "make evaluation keys for the schema of this table"];
    for (path, length, parts) in
        [(format!("PUT /keys/{name}"), 100 << 20, keys), (format!("POST /ask?keys={name}"), 10 << 20, query)]
    {
        let answer = service.raw(format!("{path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n").as_bytes());
        assert!(answer.starts_with("HTTP/1.1 413") && parts.iter().all(|part| answer.contains(part)), "{answer}");
    }
    // Without a length it ends where the limit is.
    let chunk = [b"100000\r\n".to_vec(), vec![7; 1 << 20], b"\r\n".to_vec()].concat();
    let head = format!("POST /ask?keys={name} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    let mut stream = service.connect();
    let sent = stream.write_all(head.as_bytes()).and_then(|()| (0..40).try_for_each(|_| stream.write_all(&chunk)));
    let sent = sent.and_then(|()| stream.write_all(b"0\r\n\r\n"));
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let told = String::from_utf8_lossy(&answer).contains("#too-large");
    assert!(told && sent.is_ok(), "who sends forty MiB hears why they are refused: {sent:?}");
    let mut asker = service.asker();
    asker.upload().unwrap();
    let rows = |count| Wanted::Keys(vec![b"key 3".to_vec(); count]);
    assert_eq!(asker.ask(&rows(2)).unwrap().len(), 2);
    let refused = asker.ask(&rows(20)).unwrap_err().to_string();
    assert!(refused.contains("longer than this table allows"), "{refused}");
    assert!(refused.contains("a request for 2 rows"), "{refused}");
    // A query far above the limit is heard as well: it has more than nine MiB.
    let long = rows(1000);
    assert!(asker.query(&long).unwrap().len() > 9 << 20);
    let refused = asker.ask(&long).unwrap_err().to_string();
    assert!(refused.contains("a request for 2 rows"), "{refused}");
    // One row too many.
    let refused = asker.ask(&rows(3)).unwrap_err().to_string();
    assert!(refused.contains("2 rows"), "{refused}");
    for (request, status) in [
        ("GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "404"),
        ("DELETE /schema HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "405"),
        ("POST /ask HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "400"),
        ("POST /ask?keys=a&keys=b HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "400"),
        ("HEAD /keys/%ff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "400"),
        ("nonsense\r\n\r\n", "400"),
    ] {
        let answer = service.raw(request.as_bytes());
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {answer}");
    }
}

#[test]
fn bodies_share_their_room_and_strangers_take_none_of_it() {
    let service = Running::small("--bodies 1 --body-seconds 4");
    let asker = service.asker();
    let (name, keys) = asker.keys();
    let open = |request: String| {
        let mut stream = service.connect();
        stream
            .write_all(format!("{request} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", keys.len()).as_bytes())
            .unwrap();
        stream
    };
    let begin = |count: usize, request: &str| -> Vec<_> {
        let streams = (0..count).map(|_| open(request.to_owned())).collect();
        crate::common::eventually("they are there", || service.stats()["open"].as_i64().unwrap() > count as i64);
        streams
    };
    let fill = (1 << 20) / keys.len() + 1;
    // Those who ask with keys that are not here are heard out, and nobody waits for them.
    let strangers = begin(fill, &format!("POST /ask?keys={name}"));
    assert_eq!(service.remote().put_keys(name, keys).unwrap().status, 201);
    drop(strangers);
    crate::common::eventually("they have gone", || service.stats()["open"] == 1);
    // Those who have a body of their own to send take turns.
    let other = hex(&sha256(b"other"));
    let _others = begin(fill, &format!("PUT /keys/{other}"));
    let begun = Instant::now();
    let response = service.remote().put_keys(&hex(&sha256(b"third")), keys).unwrap();
    let problem = response.problem().unwrap();
    assert!(["busy", "other-name"].contains(&&problem[..]), "{problem}");
    assert!(begun.elapsed() > Duration::from_secs(1), "there was no room before they were cut off");
}

#[test]
fn slow_clients_are_cut_off_and_keep_nobody_waiting() {
    let service = Running::small("--head-seconds 0.5 --body-seconds 0.5");
    let mut asker = service.asker();
    asker.upload().unwrap();
    let name = asker.keys().0.to_owned();
    let begun = Instant::now();
    let mut streams: Vec<_> = (0..20).map(|_| service.connect()).collect();
    for (number, stream) in streams.iter_mut().enumerate() {
        let body = format!("POST /ask?keys={name} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc");
        // Half of them stop in the head, half in the body.
        let request = if number % 2 == 0 { &body[..30] } else { &body[..] };
        stream.write_all(request.as_bytes()).unwrap();
    }
    assert_eq!(asker.ask(&wanted()).unwrap(), [Some(b"row 3".to_vec())]);
    for (number, stream) in streams.iter_mut().enumerate() {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(number % 2 == 0 || (answer.starts_with("HTTP/1.1 408") && answer.contains("#too-slow")), "{answer}");
    }
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn keys_that_do_not_suffice_are_refused_for_their_owner_alone() {
    let service = Running::small("");
    let (schema, setting) = Asker::schema(&service.remote()).unwrap();
    let client = windlass_retrieval::Client::new(schema.clone(), &setting).unwrap();
    let files = KeyContext::new(&setting);
    let mut rng = windlass::rlwe::context::os_rng().unwrap();
    let mut few = EvaluationKeys::of(client.secret());
    few.add_relinearisation(client.secret(), setting.context().top_level(), &mut rng).unwrap();
    let mut low = client.evaluation_keys().unwrap();
    low.add_galois(client.secret(), 3, 1, &mut rng).unwrap();
    let asker = |keys: &EvaluationKeys| {
        let client = windlass_retrieval::Client::new(schema.clone(), &setting).unwrap();
        Asker::of(service.remote(), client, to_bytes(&files, keys).unwrap().to_vec())
    };
    let refused = asker(&low).upload().unwrap_err().to_string();
    assert!(refused.contains("do not suffice"), "{refused}");
    let mut poor = asker(&few);
    poor.upload().unwrap();
    let refused = poor.ask(&wanted()).unwrap_err().to_string();
    assert!(refused.contains("do not suffice"), "{refused}");
    // The keys of one client, the query of another.
    let mut other = asker(&client.evaluation_keys().unwrap());
    other.upload().unwrap();
    let refused = other.ask(&wanted()).unwrap_err().to_string();
    assert!(refused.contains("another key pair"), "{refused}");
}
