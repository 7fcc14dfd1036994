//! The report of a command: lines of text, or one JSON object for scripts.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use serde_json::{Map, Value};

/// The result of a command.
#[derive(Debug, Default)]
pub struct Report {
    lines: Vec<String>,
    object: Map<String, Value>,
}

impl Report {
    /// Adds a line of text.
    pub fn line(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    /// Tells on standard error, before long work, what the report has so far. Where the report goes
    /// to a terminal too, it does not say it again.
    pub fn print_ahead(&mut self) {
        self.lines.iter().for_each(print_message);
        if std::io::stdout().is_terminal() && std::io::stderr().is_terminal() {
            self.lines.clear();
        }
    }

    /// Adds a field of the object.
    pub fn field(&mut self, name: &str, value: impl Into<Value>) {
        self.object.insert(name.to_owned(), value.into());
    }

    /// The seconds of each stage.
    pub fn seconds(&mut self, stages: &[(&'static str, f64)]) {
        for (name, seconds) in stages {
            self.line(format!("  {name:<22}{seconds:>9.3} s"));
        }
        let object: Map<String, Value> = stages.iter().map(|(name, s)| ((*name).to_owned(), (*s).into())).collect();
        self.field("seconds", object);
    }

    /// The size of each file.
    pub fn bytes(&mut self, files: &[(&str, u64)]) {
        for (name, bytes) in files {
            self.line(format!("  {name:<22}{:>12} bytes", bytes));
        }
        let object: Map<String, Value> = files.iter().map(|(name, b)| ((*name).to_owned(), (*b).into())).collect();
        self.field("bytes", object);
    }

    /// The size of the one file that a command made. The text states its name, the JSON object its
    /// kind.
    pub fn made(&mut self, what: &str, path: &Path, bytes: u64) {
        self.line(format!("  {:<22}{bytes:>12} bytes", path.display()));
        self.field("bytes", serde_json::json!({ what: bytes }));
    }

    /// The text, each line of it [`printable`], or with `json` the object.
    pub fn text(&self, json: bool) -> String {
        match json {
            true => format!("{}\n", Value::Object(self.object.clone())),
            false => self.lines.iter().map(|line| printable(line) + "\n").collect(),
        }
    }

    /// Prints [`Self::text`]. A reader that has gone away (`windlass params list | head -1`) is no error.
    ///
    /// # Errors
    /// When the text cannot be written, on a full disk for example.
    pub fn print(&self, json: bool) -> std::io::Result<()> {
        let text = self.text(json);
        let mut out = std::io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }
}

/// A failure as an object for scripts: `{"error": message, "exit_code": 2}`.
pub fn print_error(message: &str, exit_code: i32) {
    let object = serde_json::json!({ "error": message, "exit_code": exit_code });
    let _ = writeln!(std::io::stdout(), "{object}");
}

/// A message on standard error, one line of [`printable`] text for any names and cells in it. One
/// that cannot be written, after a hang-up for example, is lost: it is no reason to panic.
pub fn print_message(message: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "windlass: {}", printable(&message.to_string()));
}

/// Text of a table on one line of a terminal: line breaks, other control characters and changes of
/// the writing direction are written as escapes.
pub fn printable(text: &str) -> String {
    let harmful = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let escaped = |c: char| if harmful(c) { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escaped).collect()
}

/// A number of bits, rounded down to a tenth.
pub fn rounded_down(bits: f64) -> f64 {
    (bits * 10.0).floor() / 10.0
}

/// [`printable`], with the end left out when it is long.
pub fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", printable(&text[..end])),
        None => printable(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is stated of security is never more than there is.
    #[test]
    fn bits_are_rounded_down() {
        assert_eq!([150.5, 150.59, 127.999, 0.04].map(rounded_down), [150.5, 150.5, 127.9, 0.0]);
    }

    #[test]
    fn cells_stay_on_their_line() {
        assert_eq!(printable("a\nb\u{1b}[31m é"), "a\\nb\\u{1b}[31m é");
        assert_eq!(printable("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"é".repeat(1000)), format!("{}...", "é".repeat(60)));
    }
}
