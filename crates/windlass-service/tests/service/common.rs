//! Services and clients as processes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use windlass_retrieval::{Client, Plan, RowStatistics, Table, TableRequirements, unobserved};
use windlass_service::client::{AskError, Asker, Remote};

/// Rows by key: `key 0` .. `key N−1`.
pub fn entries(count: usize, tag: &str) -> Vec<(String, String)> {
    (0..count).map(|k| (format!("key {k}"), format!("{tag} {k}"))).collect()
}

/// A table by key, with room for more.
pub fn keyed_table(dir: &Path, entries: &[(String, String)]) -> Table {
    let rows: Vec<&String> = entries.iter().map(|(_, row)| row).collect();
    let requirements = TableRequirements { room: Some(2 * rows.len()), ..TableRequirements::default() };
    let plan = Plan::keywords(RowStatistics::of(&rows).unwrap(), "5eed", 1.2, &requirements).unwrap();
    Table::create_keywords(dir, &plan.schema, entries, &unobserved).unwrap()
}

/// A table by number.
pub fn numbered_table(dir: &Path, rows: &[String]) -> Table {
    let plan = Plan::rows(RowStatistics::of(rows).unwrap(), &TableRequirements::default()).unwrap();
    Table::create_rows(dir, &plan.schema, rows, &unobserved).unwrap()
}

/// A service that runs, on a port of its own.
pub struct Running {
    pub child: Child,
    pub address: String,
    pub dir: TempDir,
}

impl Running {
    /// Serves a small table of keys.
    pub fn small(arguments: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        keyed_table(&dir.path().join("table"), &entries(40, "row"));
        Self::at(dir, arguments)
    }

    /// Serves the table in `dir/table`.
    pub fn at(dir: TempDir, arguments: &str) -> Self {
        let log = std::fs::File::create(dir.path().join("log")).unwrap();
        Self::logging_to(log, dir, arguments)
    }

    /// As [`Self::at`], with a log that goes elsewhere.
    pub fn logging_to(log: impl Into<Stdio>, dir: TempDir, arguments: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_windlass-serve"))
            .args(["--threads", "2", "--table"])
            .arg(dir.path().join("table"))
            .args(arguments.split_whitespace())
            .args((!arguments.contains("--listen")).then_some(["--listen", "127.0.0.1:0"]).iter().flatten())
            .current_dir(dir.path())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let json =
            serde_json::from_str(&line).ok().and_then(|line: Value| Some(line["listening"].as_str()?.to_owned()));
        let address = json.or_else(|| line.trim().strip_prefix("listening on ").map(str::to_owned));
        let log = || std::fs::read_to_string(dir.path().join("log")).unwrap_or_default();
        Self { address: address.unwrap_or_else(|| panic!("{line}{}", log())), child, dir }
    }

    /// Kills it, and starts it again at its address.
    pub fn again(mut self, arguments: &str) -> Self {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let listen = self.address.rsplit('/').next().unwrap_or_default().to_owned();
        let dir = std::mem::replace(&mut self.dir, tempfile::tempdir().unwrap());
        Self::at(dir, &format!("{arguments} --listen {listen}"))
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).unwrap()
    }

    pub fn table(&self) -> PathBuf {
        self.dir.path().join("table")
    }

    pub fn remote(&self) -> Remote {
        Remote::new(&self.address, None, Duration::from_secs(60)).unwrap()
    }

    /// A client with separate keys.
    pub fn asker(&self) -> Asker {
        let (schema, setting) = Asker::schema(&self.remote()).unwrap();
        let client = Client::new(schema, &setting).unwrap();
        let files = windlass_retrieval::KeyContext::new(&setting);
        let keys = windlass::wire::to_bytes(&files, &client.evaluation_keys().unwrap()).unwrap();
        Asker::of(self.remote(), client, keys.to_vec())
    }

    /// A connection without a client's library.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address.strip_prefix("http://").unwrap()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends bytes as they are, and gives what comes back until the other side ends.
    pub fn raw(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        // A reset ends it as well.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub fn stats(&self) -> serde_json::Value {
        serde_json::from_slice(&self.remote().get("/stats.json").unwrap().body).unwrap()
    }

    /// Asks with the command, its state beside the table.
    pub fn ask(&self, arguments: &[&str]) -> Output {
        ask(self.dir.path(), &[&[&self.address[..]], arguments].concat())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `windlass-ask` in a directory, to be started.
pub fn asking(at: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass-ask"));
    command.args(arguments).current_dir(at);
    command
}

/// Runs `windlass-ask` in a directory.
pub fn ask(at: &Path, arguments: &[&str]) -> Output {
    asking(at, arguments).output().unwrap()
}

/// What a process wrote.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Waits until something holds.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(30));
    }
}

/// The status and the kind of a refusal; nothing of the kind for another error.
pub fn refusal(error: &AskError) -> (u16, &str) {
    match error {
        AskError::Refused(refused) => (refused.status, &refused.kind),
        _ => (0, ""),
    }
}
