//! The file of what was reached: one object, written again after every row, so that a run that is
//! ended keeps what it has measured.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::builds::Outcome;
use crate::goals::{Goals, Verdict};
use crate::machine;
use crate::record::named;

/// The programs that were measured, by the first digits of their hashes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Builds {
    pub program: String,
    pub before: Option<String>,
}

/// `{"cpu": .., "rustc": .., "program": .., "before": .., "reach": [{"name", "measured", "wanted",
/// "met"}, ..]}`.
#[derive(Debug, Serialize, Deserialize)]
struct Reached {
    cpu: String,
    rustc: String,
    #[serde(flatten)]
    builds: Builds,
    reach: Vec<Verdict>,
}

/// A file that holds what was reached so far.
pub struct ReachFile {
    path: PathBuf,
    reached: Reached,
}

impl ReachFile {
    /// Begins a file, or continues one: figures of the same names are replaced.
    ///
    /// # Errors
    /// A file of another kind, one of another machine, compiler or build, and one that cannot be
    /// written.
    pub fn open(path: &Path, builds: Builds) -> Outcome<Self> {
        let (cpu, rustc) = (machine::cpu(), machine::rustc());
        let reached = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Reached { cpu, rustc, builds, reach: Vec::new() }
            }
            Err(error) => return Err(named(path, &error).into()),
            Ok(text) => {
                let shown = path.display();
                let read: Reached = serde_json::from_str(&text)
                    .map_err(|error| format!("{shown}: no file of --reach ({error}); give the name of a new one"))?;
                if (&read.cpu, &read.rustc, &read.builds) != (&cpu, &rustc, &builds) {
                    let of = format!("{}, {}, {:?}", read.cpu, read.rustc, read.builds);
                    return Err(format!("{shown}: its figures are of {of}; give the name of a new file").into());
                }
                read
            }
        };
        let file = Self { path: path.into(), reached };
        file.write()?;
        Ok(file)
    }

    /// Adds the figures of a row.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn add(&mut self, goals: &Goals) -> Outcome {
        for verdict in goals.verdicts() {
            match self.reached.reach.iter_mut().find(|known| known.name == verdict.name) {
                Some(known) => *known = verdict,
                None => self.reached.reach.push(verdict),
            }
        }
        self.write()
    }

    /// Writes a file beside it first, so that readers always find a whole file.
    fn write(&self) -> Outcome {
        let text = serde_json::to_string_pretty(&self.reached).expect("numbers and strings") + "\n";
        let mut beside = self.path.clone().into_os_string();
        beside.push(".part");
        std::fs::write(&beside, text).map_err(|error| named(Path::new(&beside), &error))?;
        Ok(std::fs::rename(&beside, &self.path).map_err(|error| named(&self.path, &error))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builds(before: &str) -> Builds {
        Builds { program: "0123".into(), before: Some(before.into()) }
    }

    #[test]
    fn figures_of_later_runs_take_the_places_of_earlier_ones() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("reach.json");
        let goals = |seconds: f64, bits: f64| {
            let mut goals = Goals::default();
            goals.at_most("seconds", seconds, 0.6);
            goals.beside("bits", bits);
            goals
        };
        ReachFile::open(&path, builds("4567")).unwrap().add(&goals(0.7, 1.0)).unwrap();
        ReachFile::open(&path, builds("4567")).unwrap().add(&goals(0.5, 2.0)).unwrap();
        let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let expected = serde_json::json!([
            { "name": "seconds", "measured": 0.5, "wanted": { "at_most": 0.6 }, "met": true },
            { "name": "bits", "measured": 2.0, "wanted": "nothing", "met": null },
        ]);
        assert_eq!((&value["reach"], value["cpu"].as_str()), (&expected, Some(machine::cpu().as_str())));
        assert_eq!((value["program"].as_str(), value["before"].as_str()), (Some("0123"), Some("4567")));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        // Figures of two builds do not stand beside each other.
        assert!(ReachFile::open(&path, builds("89ab")).err().unwrap().to_string().contains("4567"));
    }

    #[test]
    fn other_files_stay_as_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("reach.json");
        for text in ["", "{\"cpu\": 1}", "{\"cpu\":\"x\",\"rustc\":\"y\",\"reach\":[]}"] {
            std::fs::write(&path, text).unwrap();
            let error = ReachFile::open(&path, builds("4567")).err().unwrap().to_string();
            assert!(error.ends_with("give the name of a new one") || error.ends_with("give the name of a new file"));
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert!(ReachFile::open(&dir.path().join("no/such"), builds("4567")).is_err());
    }
}
