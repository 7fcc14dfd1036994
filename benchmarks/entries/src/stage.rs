//! Programs that are called by the names of their stages.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use cpu_time::ProcessTime;

use crate::error::{EntryError, Result};

/// How a program was called: `stage ARGUMENT..` through a link with the name of the stage, or
/// `program stage ARGUMENT..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The name of the stage.
    pub stage: String,
    /// What stands after it.
    pub arguments: Vec<String>,
}

impl Call {
    /// Takes the stage from the program's name where that is one of `stages`, else from the first
    /// argument.
    ///
    /// # Errors
    /// [`EntryError::Usage`] when neither names a stage or an argument is no text.
    pub fn parse(words: impl IntoIterator<Item = OsString>, stages: &[&str]) -> Result<Self> {
        let usage = || EntryError::Usage(format!("the first argument is one of the stages: {}", stages.join(", ")));
        let text = |word: OsString| {
            word.into_string().map_err(|word| EntryError::Usage(format!("{}: not UTF-8", word.display())))
        };
        let mut words = words.into_iter();
        let program = words.next().unwrap_or_default();
        let own = Path::new(&program).file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let mut arguments = words.map(text).collect::<Result<Vec<String>>>()?;
        let stage = match stages.contains(&own.as_str()) {
            true => own,
            false if arguments.is_empty() => return Err(usage()),
            false => arguments.remove(0),
        };
        if !stages.contains(&stage.as_str()) {
            return Err(usage());
        }
        Ok(Self { stage, arguments })
    }

    /// The arguments, exactly as many as have names.
    ///
    /// # Errors
    /// [`EntryError::Usage`] for another number of them.
    pub fn take<const N: usize>(&self, names: [&str; N]) -> Result<[&str; N]> {
        let found: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        found.try_into().map_err(|_| {
            let names: Vec<String> = names.iter().map(|name| format!(" <{name}>")).collect();
            EntryError::Usage(format!("usage: {}{}", self.stage, names.concat()))
        })
    }
}

/// Runs a stage: an error goes to standard error, and the exit status is 2.
pub fn run(stages: &[&str], stage: impl FnOnce(&Call) -> Result<()>) -> ExitCode {
    match Call::parse(std::env::args_os(), stages).and_then(|call| stage(&call)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Times the steps of a stage, and prints them as the harnesses ask.
#[derive(Debug)]
pub struct Log {
    who: &'static str,
    clock: Instant,
    processor: ProcessTime,
}

impl Log {
    /// Starts.
    pub fn start(who: &'static str) -> Self {
        Self { who, clock: Instant::now(), processor: ProcessTime::now() }
    }

    /// Says what was done since the last line, by the clock and by the processor.
    pub fn line(&mut self, what: &str) {
        let (clock, processor) = (self.clock.elapsed().as_secs_f64(), self.processor.elapsed().as_secs_f64());
        println!("         [{}] {what}: {clock:.4} s, processor {processor:.4} s", self.who);
        *self = Self::start(self.who);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAGES: [&str; 2] = ["encrypt", "decrypt"];

    fn parse(words: &[&str]) -> Result<Call> {
        Call::parse(words.iter().map(OsString::from), &STAGES)
    }

    #[test]
    fn a_stage_is_the_name_of_the_program_or_its_first_argument() {
        let by_link = parse(&["/somewhere/encrypt", "small", "7"]).unwrap();
        let by_argument = parse(&["target/release/entry", "encrypt", "small", "7"]).unwrap();
        assert_eq!(by_link, by_argument);
        assert_eq!(by_link.take(["size", "count"]).unwrap(), ["small", "7"]);
        assert!(by_link.take(["size"]).unwrap_err().to_string().contains("usage: encrypt <size>"));
    }

    #[test]
    fn other_names_are_refused() {
        for words in [&["entry"][..], &["entry", "steal"], &[]] {
            assert!(matches!(parse(words), Err(EntryError::Usage(_))), "{words:?}");
        }
    }
}
