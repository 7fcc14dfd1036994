//! Runs this build and an older one as separate processes: each has its own peak of memory, and the
//! two can alternate.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use windlass::wire::{hex, sha256};

use crate::record::named;
use crate::timing::Sample;

/// What a process may fail with.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// A build of this program.
pub struct Build(PathBuf);

impl Build {
    /// The one that runs.
    pub fn this() -> Outcome<Self> {
        Ok(Self(std::env::current_exe()?))
    }

    /// The one in a file.
    ///
    /// # Errors
    /// If the program does not exist.
    pub fn at(path: &Path) -> Outcome<Self> {
        Ok(Self(path.canonicalize().map_err(|error| named(path, &error))?))
    }

    /// The first digits of the SHA-256 of the program.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn name(&self) -> Outcome<String> {
        let bytes = std::fs::read(&self.0).map_err(|error| named(&self.0, &error))?;
        Ok(hex(&sha256(&bytes)[..8]))
    }

    /// What it prints with these arguments.
    ///
    /// # Errors
    /// Where it does not end well, as when a result was wrong.
    pub fn printed(&self, args: &[&str]) -> Outcome<String> {
        let output = Command::new(&self.0).args(args).stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| named(&self.0, &error))?;
        if !output.status.success() {
            return Err(format!("{} {}: {}", self.0.display(), args.join(" "), output.status).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// What it records with these arguments, as text.
    pub fn recorded(&self, args: &[&str]) -> Outcome<String> {
        let scratch = Scratch::new();
        let file = scratch.0.to_str().ok_or("the directory for temporary files has a name that is no text")?;
        self.printed(&[args, &["--record", file]].concat())?;
        Ok(std::fs::read_to_string(&scratch.0).map_err(|error| named(&scratch.0, &error))?)
    }
}

/// A file for the record of one process, removed with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("windlass-bench-reach-{}.jsonl", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It may not have been written.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Seconds of processor time by the last line of `bootstrap` that states them: every build prints
/// it.
pub fn processor_seconds(printed: &str) -> Outcome<f64> {
    let line = printed.lines().rev().find(|line| line.starts_with("total "));
    let seconds = line.and_then(|line| line.split_once('(')?.1.split_once(" s of processor time")?.0.parse().ok());
    seconds.ok_or_else(|| "the build before prints no seconds of processor time".into())
}

/// The operations of the engine by the lines of `standard`, which every build prints: name, median
/// and least time.
pub fn operations(printed: &str) -> Vec<Sample> {
    printed.lines().filter_map(operation).collect()
}

fn operation(line: &str) -> Option<Sample> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let &[id, median, unit, min, least_unit, ..] = &words[..] else { return None };
    let seconds = |number: &str, unit: &str| -> Option<f64> {
        let unit = match unit {
            "ns" => 1e-9,
            "us" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            _ => return None,
        };
        Some(number.parse::<f64>().ok()? * unit)
    };
    let rounds = words.last()?.parse().ok()?;
    Some(Sample { id: id.into(), median: seconds(median, unit)?, min: seconds(min, least_unit)?, rounds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_from_what_a_build_prints() {
        let line = |seconds: f64| {
            format!("total 9.00 s ({seconds:.2} s of processor time) on 1 thread(s), 41 to 290 bits; peak memory 5 MiB")
        };
        let printed = format!("plan 0.1 s, keys 2 s (0.10 GB)\n{}\n{}\na line more\n", line(3.0), line(0.92));
        assert_eq!(processor_seconds(&printed).unwrap(), 0.92);
        assert!(processor_seconds("total 9.00 s on 1 thread(s)").is_err());
    }

    #[test]
    fn operations_are_read_from_what_a_build_prints() {
        let printed = "layer/op/params/isa/threads    median    min    T    n\n# peak memory 5 MiB\n\
            bgv/rotate/n=32768,q=11x50/avx2/1   12.345 ms   12.1 ms    7\n\
            bgv/add/n=32768,q=11x50/avx2/1   812.5 us   1.000 ms   3.20 T    7\n";
        let read = operations(printed);
        let read: Vec<_> = read.iter().map(|one| (one.id.as_str(), one.median, one.min, one.rounds)).collect();
        let expected = [("rotate", 12.345e-3, 12.1e-3), ("add", 812.5e-6, 1e-3)];
        let id = |name: &str| format!("bgv/{name}/n=32768,q=11x50/avx2/1");
        for ((name, median, min), found) in expected.into_iter().zip(&read) {
            assert_eq!((found.0, found.3), (id(name).as_str(), 7));
            assert!((found.1 - median).abs() < 1e-12 && (found.2 - min).abs() < 1e-12, "{found:?}");
        }
        assert_eq!(read.len(), 2);
    }

    #[test]
    fn a_build_that_is_missing_is_refused_at_once() {
        let error = Build::at(Path::new("no such build")).err().unwrap().to_string();
        assert!(error.starts_with("no such build: "), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn what_a_process_writes_is_read_and_its_failure_told() {
        let shell = Build::at(Path::new("/bin/sh")).unwrap();
        // The arguments that come after the script are its $0, $1 and $2.
        let text = shell.recorded(&["-c", r#"test "$1" = --record && echo "$0" > "$2""#, "a line"]).unwrap();
        assert_eq!(text, "a line\n");
        let error = shell.recorded(&["-c", "exit 3", "x"]).err().unwrap().to_string();
        assert!(error.contains("exit status: 3"), "{error}");
    }
}
