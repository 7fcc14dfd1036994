//! The faults that a load test causes while clients ask.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use windlass_retrieval::{Table, unobserved};

use super::shared::LoadRun;
use crate::client::{Asker, Wanted};

/// A thread that does something to the service until the end.
pub type Fault = fn(&LoadRun, &Path);

/// All of them.
pub const ALL: [Fault; 5] = [cut_and_alter, send_slowly, drive_out_keys, replace_table, kill];

/// A client, once the service runs.
fn asker(run: &LoadRun) -> Option<Asker> {
    loop {
        if let Ok(asker) = run.asker() {
            return Some(asker);
        }
        if !run.rest(Duration::from_millis(300)) {
            return None;
        }
    }
}

fn connect(run: &LoadRun) -> Option<TcpStream> {
    let stream = TcpStream::connect(run.victim.address.trim_start_matches("http://")).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    Some(stream)
}

/// Queries that end in the middle, and queries with a bit turned over: none may be answered.
fn cut_and_alter(run: &LoadRun, _: &Path) {
    let Some(asker) = asker(run) else { return };
    let Ok(query) = asker.query(&Wanted::Keys(vec![b"key 1".to_vec()])) else { return };
    let (name, keys) = asker.keys();
    let mut turn = 0usize;
    while run.rest(Duration::from_millis(250)) {
        turn += 1;
        let head = format!("POST /ask?keys={name} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", query.len());
        if let Some(mut stream) = connect(run) {
            let end = turn * 7919 % query.len();
            if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&query[..end])).is_ok() {
                run.tally.fault("bodies cut");
            }
        }
        let mut altered = query.clone();
        altered[turn * 104_729 % query.len()] ^= 1 << (turn % 8);
        let Ok(remote) = crate::client::Remote::new(&run.victim.address, None, Duration::from_secs(60)) else { return };
        let Ok(response) = remote.ask(name, &altered, 1 << 24) else { continue };
        match response.problem().as_deref() {
            None => run.tally.fault("altered bodies ANSWERED"),
            Some("unknown-keys") => drop(remote.put_keys(name, keys)),
            Some(_) => run.tally.fault("altered bodies refused"),
        }
    }
}

/// Connections that send a byte now and then, until they are cut off.
fn send_slowly(run: &LoadRun, _: &Path) {
    let mut streams: Vec<TcpStream> = Vec::new();
    while run.rest(Duration::from_millis(400)) {
        if streams.len() < 12 {
            let head = format!("POST /ask?keys={} HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\n", "0".repeat(64));
            let some = if streams.len().is_multiple_of(2) { &head[..40] } else { &head[..] };
            streams.extend(connect(run).filter(|mut stream| stream.write_all(some.as_bytes()).is_ok()));
        }
        streams.retain_mut(|stream| {
            let _ = stream.set_nonblocking(true);
            // The end of what comes, or a reset: the service has let go.
            let over = match stream.read(&mut [0; 512]) {
                Ok(count) => count == 0,
                Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
            };
            if over || stream.write_all(b"x").is_err() {
                run.tally.fault("slow clients cut off");
                return false;
            }
            true
        });
    }
}

/// Keys of strangers, which take the place of those that are in use.
fn drive_out_keys(run: &LoadRun, _: &Path) {
    let mut strangers: Vec<Asker> = (0..6).filter_map(|_| asker(run)).collect();
    while run.rest(Duration::from_secs(10)) {
        for stranger in &mut strangers {
            if stranger.upload().is_ok() {
                run.tally.fault("keys of strangers");
            }
        }
    }
}

/// Another version of the table.
fn replace_table(run: &LoadRun, place: &Path) {
    while run.rest(Duration::from_secs(15)) {
        let version = run.ledger.begin();
        if let Err(error) = Table::change_keys(place, &run.ledger.changes(version), &unobserved) {
            run.tally.note(|counts| counts.wrong.push(format!("the table cannot be changed: {error}")));
            return;
        }
        run.ledger.finish();
        run.tally.fault("versions of the table");
    }
}

/// The whole service killed, twice in the first half.
fn kill(run: &LoadRun, _: &Path) {
    for _ in 0..2 {
        if !run.rest(run.plot.time / 5) {
            return;
        }
        match run.victim.kill() {
            Ok(()) => run.tally.fault("services killed"),
            Err(error) => run.tally.note(|counts| counts.wrong.push(format!("it does not come back: {error}"))),
        }
    }
}
