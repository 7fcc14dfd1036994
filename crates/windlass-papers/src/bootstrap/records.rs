//! Records of bootstrapping: what was measured, and what was left out and why, in the order of
//! time.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::figures::{Measured, Place};
use crate::record::named;

/// A line about what `--all` could not measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Why.
    pub left_out: String,
    /// The row.
    #[serde(flatten)]
    pub place: Place,
    /// What was asked for beside it, as [`super::circuit::Asked::differences`] says it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
    /// The sizes of the preset's primes on that day.
    pub moduli: String,
    /// The processor.
    pub cpu: String,
    /// The day.
    pub date: String,
    /// The first digits of the SHA-256 of the program.
    pub build: String,
}

/// The lines of files.
#[derive(Debug, Clone, Default)]
pub struct Records {
    /// Ascending by date, of one day in the order of the files and lines.
    pub measured: Vec<Measured>,
    /// In the order of the files and lines.
    pub left_out: Vec<LeftOut>,
}

impl Records {
    /// Reads files. Lines that say no day are of the one in the name of their file:
    /// `bootstrap-2026-11-26.jsonl`.
    ///
    /// # Errors
    /// Files that cannot be read, lines that are no records, lines without a day in a file without
    /// one; each names the place.
    pub fn read(paths: &[PathBuf]) -> io::Result<Self> {
        let mut records = Self::default();
        for path in paths {
            let text = std::fs::read_to_string(path).map_err(|error| named(path, &error))?;
            for (number, line) in (1..).zip(text.lines()) {
                records.add(path, line).map_err(|error| {
                    let text = format!("{}: line {number}: {error}", path.display());
                    io::Error::new(io::ErrorKind::InvalidData, text)
                })?;
            }
        }
        records.measured.sort_by(|a, b| a.of.date.cmp(&b.of.date));
        Ok(records)
    }

    fn add(&mut self, path: &Path, line: &str) -> Result<(), String> {
        let text = |error: serde_json::Error| error.to_string();
        let value: serde_json::Value = serde_json::from_str(line).map_err(text)?;
        if value.get("left_out").is_some() {
            self.left_out.push(serde_json::from_value(value).map_err(text)?);
            return Ok(());
        }
        let mut measured: Measured = serde_json::from_value(value).map_err(text)?;
        if measured.of.date.is_none() {
            measured.of.date = Some(day(path).ok_or("neither the line nor the name of the file says the day")?);
        }
        self.measured.push(measured);
        Ok(())
    }
}

/// The day at the end of a file's name.
fn day(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let day = stem.get(stem.len().checked_sub(10)?..)?;
    let is_day = day
        .bytes()
        .enumerate()
        .all(|(at, byte)| if [4, 7].contains(&at) { byte == b'-' } else { byte.is_ascii_digit() });
    is_day.then(|| day.into())
}

#[cfg(test)]
impl Records {
    /// All files of bootstrappings there are.
    pub fn committed() -> Self {
        let folders = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../windlass-bench/record")).unwrap();
        let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
        let is_one = |path: &std::path::PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("bootstrap-");
        let mut paths: Vec<std::path::PathBuf> = files.map(|file| file.unwrap().path()).filter(is_one).collect();
        paths.sort();
        Self::read(&paths).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seconds: f64, date: Option<&str>) -> String {
        let line = include_str!("../../../windlass-bench/record/amd-epyc-zen4/bootstrap-2026-11-22.jsonl")
            .lines()
            .next()
            .unwrap();
        let mut one: Measured = serde_json::from_str(line).unwrap();
        (one.median_s, one.of.date) = (seconds, date.map(str::to_owned));
        serde_json::to_string(&one).unwrap() + "\n"
    }

    #[test]
    fn lines_stand_in_the_order_of_their_days_whatever_that_of_the_files() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: String| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let left_out = LeftOut {
            left_out: "takes more than 3.0 GiB of memory".into(),
            place: Place { preset: "a".into(), mode: "packed".into(), scheme: "BGV".into() },
            asked: Vec::new(),
            moduli: "Q 2x50".into(),
            cpu: "c".into(),
            date: "2026-11-27".into(),
            build: "0123".into(),
        };
        let newest = file("a-2026-11-26.jsonl", line(3.0, None) + &serde_json::to_string(&left_out).unwrap() + "\n");
        let oldest = file("b-2026-11-24.jsonl", line(1.0, None) + &line(4.0, Some("2026-11-27")) + &line(2.0, None));
        let records = Records::read(&[newest, oldest]).unwrap();
        let seconds: Vec<f64> = records.measured.iter().map(|one| one.median_s).collect();
        assert_eq!((seconds, records.left_out), (vec![1.0, 2.0, 3.0, 4.0], vec![left_out]));
        for (name, text) in [("undated.jsonl", line(1.0, None)), ("c-2026-11-26.jsonl", "{}\n".into())] {
            let error = Records::read(&[file(name, text)]).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("line 1: "), "{error}");
        }
    }
}
