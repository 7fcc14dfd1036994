//! What a command tells: lines for people, one object for scripts.

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

    /// Prints the text, or with `json` the object.
    pub fn print(&self, json: bool) {
        if json {
            println!("{}", Value::Object(self.object.clone()));
        } else {
            self.lines.iter().for_each(|line| println!("{line}"));
        }
    }
}
