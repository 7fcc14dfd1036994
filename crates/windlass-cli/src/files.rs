//! Output files: all of a command's, or none.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use windlass::Params;
use windlass::wire::{Access, WireError, move_new, part_suffix, temporary_name, write_new};
use windlass_secrets::sweep;

use crate::error::{CliError, Result};
use crate::interrupt::{self, Unfinished, Watched};

/// Refuses an output file that exists, before any work is done for it. Removes what killed commands
/// left beside it. While the result lives an interruption removes what is half written.
pub fn claim(file: &Path) -> Result<Watched> {
    refuse_taken(file)?;
    sweep(file.parent().unwrap_or(Path::new("")));
    Ok(interrupt::remove_if_interrupted(Unfinished::Staging(temporary_name(file))))
}

/// Refuses a parameter file that exists, or whose name no command would accept.
pub fn claim_parameters(file: &Path) -> Result<Watched> {
    if file.extension().is_none_or(|extension| extension != "json") {
        let name = file.display();
        return Err(CliError::Usage(format!("{name}: the name of a parameter file must end in .json")));
    }
    claim(file)
}

/// Writes parameters to a new file.
pub fn save_parameters(params: &Params, file: &Path) -> Result<()> {
    save_json(params.to_json(), file)
}

/// Writes JSON to a new file.
pub fn save_json(json: String, file: &Path) -> Result<()> {
    let json = json + "\n";
    write_new(file, json.as_bytes(), Access::Public).map_err(CliError::at(file))
}

/// Who writes `-` means standard output.
fn refuse_dash(path: &Path, what: &str) -> Result<()> {
    match path == Path::new("-") {
        false => Ok(()),
        true => Err(CliError::Usage(format!(
            "-: only the report goes to standard output; name {what}, with ./- if the file is to be called so"
        ))),
    }
}

fn refuse_taken(file: &Path) -> Result<()> {
    refuse_dash(file, "a file")?;
    if file.symlink_metadata().is_ok() {
        let taken = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
        return Err(CliError::at(file)(taken.into()));
    }
    Ok(())
}

/// The files that a command makes in one directory. They are made in a staging directory, whose
/// name begins with a dot and ends in `.windlass-part`, and get their place with [`Outputs::keep`]:
/// a command that fails or is interrupted leaves nothing, and one that is killed leaves the staging
/// directory at most, which the next command beside it clears away. A new directory appears in one
/// step with all its files; in one that exists the files appear one after another.
#[derive(Debug)]
pub struct Outputs {
    place: Place,
    names: Vec<String>,
    staging: PathBuf,
    /// Directories that were made for this, innermost first.
    made: Vec<PathBuf>,
    /// What an interruption removes while this lives.
    watched: Vec<Watched>,
    /// Locked while this lives: a sign of life for those who clear leftovers away.
    _lock: Option<File>,
}

/// Where the files are to go.
#[derive(Debug)]
enum Place {
    /// A directory that is made with them.
    New(PathBuf),
    /// A directory that is there.
    Existing(PathBuf),
    /// Nowhere: they go when the command ends.
    Nowhere,
}

impl Outputs {
    /// Refuses names that exist, and makes the staging directory.
    pub fn claim_in(directory: &Path, names: &[&str]) -> Result<Self> {
        refuse_dash(directory, "a directory")?;
        for name in names {
            refuse_taken(&directory.join(name))?;
        }
        let exists = directory.symlink_metadata().is_ok();
        let part = |name: &str| format!(".{name}{}", part_suffix());
        let (parent, staging) = match directory.file_name() {
            Some(name) if !exists => {
                let parent = directory.parent().unwrap_or(Path::new(""));
                (parent, parent.join(part(&name.to_string_lossy())))
            }
            _ => (directory, directory.join(part(STAGING))),
        };
        let place = if exists { Place::Existing(directory.into()) } else { Place::New(directory.into()) };
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let mut outputs = Self { place, names, staging, made: Vec::new(), watched: Vec::new(), _lock: None };
        let missing: Vec<_> = parent.ancestors().take_while(|path| path.symlink_metadata().is_err()).collect();
        for path in missing.into_iter().rev().filter(|path| !path.as_os_str().is_empty()) {
            outputs.watched.push(interrupt::remove_if_interrupted(Unfinished::Parent(path.into())));
            fs::create_dir(path).map_err(|error| CliError::at(path)(WireError::from(error)))?;
            outputs.made.insert(0, path.into());
        }
        sweep(parent);
        outputs.watched.push(interrupt::remove_if_interrupted(Unfinished::Staging(outputs.staging.clone())));
        fs::create_dir(&outputs.staging).map_err(|error| CliError::at(directory)(WireError::from(error)))?;
        outputs._lock = locked(&outputs.staging);
        Ok(outputs)
    }

    /// Temporary files, in a directory that only their owner may read among the temporary ones of
    /// the system.
    pub fn temporary() -> Result<Self> {
        let parent = std::env::temp_dir();
        sweep(&parent);
        let made = tempfile::Builder::new().prefix(&format!(".{STAGING}")).suffix(&part_suffix()).tempdir_in(&parent);
        let staging = made.map_err(|error| CliError::at(&parent)(error.into()))?.keep();
        let watched = vec![interrupt::remove_if_interrupted(Unfinished::Staging(staging.clone()))];
        let _lock = locked(&staging);
        Ok(Self { place: Place::Nowhere, names: Vec::new(), staging, made: Vec::new(), watched, _lock })
    }

    /// Where a file is to be written.
    pub fn at(&self, name: &str) -> PathBuf {
        self.staging.join(name)
    }

    /// The command has succeeded: the files get their names.
    pub fn keep(mut self) -> Result<()> {
        let _whole = interrupt::hold_off();
        let (moved, directory) = match &self.place {
            Place::New(directory) => (fs::rename(&self.staging, directory), directory),
            Place::Existing(directory) => {
                let move_one = |name: &String| move_new(&self.at(name), &directory.join(name));
                (self.names.iter().try_for_each(move_one), directory)
            }
            Place::Nowhere => return Ok(()),
        };
        moved.map_err(|error| CliError::at(directory)(WireError::from(error)))?;
        self.made.clear();
        Ok(())
    }
}

impl Drop for Outputs {
    fn drop(&mut self) {
        // Clearing up, perhaps after another error: that one is reported.
        let _ = fs::remove_dir_all(&self.staging);
        for directory in &self.made {
            let _ = fs::remove_dir(directory);
        }
    }
}

/// What directories that files are made in are called, before [`part_suffix`]: no name that a user
/// gives to a file.
const STAGING: &str = "windlass~";

/// A message with names for work in progress replaced by those that the files were to get.
pub fn named_by_place(message: &str) -> String {
    let suffix = part_suffix();
    let (mut named, mut rest) = (String::new(), message);
    while let Some(end) = rest.find(&suffix) {
        let (before, after) = (&rest[..end], &rest[end + suffix.len()..]);
        let begin = before.rfind("/.").max(before.rfind(" .")).map_or(0, |at| at + 1);
        let name = before[begin..].strip_prefix('.').unwrap_or(&before[begin..]);
        named += &before[..begin];
        // In a directory that is there, and among the system's temporary ones.
        rest = if name.starts_with(STAGING) {
            after.strip_prefix('/').unwrap_or(after)
        } else {
            named += name;
            after
        };
    }
    named + rest
}

/// A directory, locked where the system has such locks. Those who look for leftovers hold the lock
/// for a moment: this waits for them.
fn locked(directory: &Path) -> Option<File> {
    File::open(directory).ok().filter(|file| file.lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn new_directories_appear_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("new/inner");
        let outputs = Outputs::claim_in(&out, &["a", "b"]).unwrap();
        fs::write(outputs.at("a"), "half").unwrap();
        assert!(!out.exists());
        drop(outputs);
        assert!(names(dir.path()).is_empty(), "a failed command leaves nothing");
        let outputs = Outputs::claim_in(&out, &["a"]).unwrap();
        fs::write(outputs.at("a"), "whole").unwrap();
        outputs.keep().unwrap();
        assert_eq!(fs::read_to_string(out.join("a")).unwrap(), "whole");
        assert_eq!((names(dir.path()), names(&out)), (vec!["new".into()], vec!["a".into()]));
    }

    #[test]
    fn messages_name_files_as_they_will_be_called() {
        let suffix = part_suffix();
        for (message, wanted) in [
            (format!("keys/.{STAGING}{suffix}/secret.key: full"), "keys/secret.key: full"),
            (
                format!("/home/u/.config/a b/.windlass-keys{suffix}/secret.key: full"),
                "/home/u/.config/a b/windlass-keys/secret.key: full",
            ),
            (format!(".windlass-a.bin{suffix}: full"), "windlass-a.bin: full"),
            (format!("/home/u/.config/x and .out.bin{suffix}"), "/home/u/.config/x and out.bin"),
            ("nothing".to_owned(), "nothing"),
        ] {
            assert_eq!(named_by_place(&message), wanted);
        }
    }

    #[test]
    fn an_interruption_removes_what_is_unfinished_alone() {
        let dir = tempfile::tempdir().unwrap();
        // The name of the parent looks like one for work in progress.
        let out = dir.path().join("new.part/keys");
        let claimed = || {
            let outputs = Outputs::claim_in(&out, &["a"]).unwrap();
            fs::write(outputs.at("a"), "whole").unwrap();
            outputs
        };
        let outputs = claimed();
        assert_eq!(interrupt::remove_below(dir.path()), 2, "the parent and the staging directory");
        assert!(names(dir.path()).is_empty(), "nothing is finished");
        drop(outputs);
        claimed().keep().unwrap();
        interrupt::remove_below(dir.path());
        assert_eq!(fs::read_to_string(out.join("a")).unwrap(), "whole");
    }

    /// Programs may run any number of commands in one process.
    #[test]
    fn what_is_finished_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        let claimed = claim(&file).unwrap();
        fs::write(temporary_name(&file), "half").unwrap();
        assert_eq!(interrupt::remove_below(dir.path()), 1);
        assert!(names(dir.path()).is_empty());
        drop(claimed);
        Outputs::claim_in(&dir.path().join("new/inner"), &["a"]).unwrap().keep().unwrap();
        drop(Outputs::claim_in(&dir.path().join("new/other"), &["a"]).unwrap());
        assert_eq!(interrupt::remove_below(dir.path()), 0);
    }

    #[test]
    fn files_of_others_are_neither_claimed_nor_removed() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("b"), "mine").unwrap();
        assert!(Outputs::claim_in(dir.path(), &["a", "b"]).unwrap_err().to_string().contains("already exists"));
        let outputs = Outputs::claim_in(dir.path(), &["a"]).unwrap();
        fs::write(outputs.at("a"), "mine").unwrap();
        // Someone else was faster.
        fs::write(dir.path().join("a"), "theirs").unwrap();
        assert!(outputs.keep().unwrap_err().to_string().contains("already exists"));
        assert_eq!(fs::read_to_string(dir.path().join("a")).unwrap(), "theirs");
        assert_eq!(fs::read_to_string(dir.path().join("b")).unwrap(), "mine");
        let outputs = Outputs::claim_in(dir.path(), &["c"]).unwrap();
        fs::write(outputs.at("c"), "mine").unwrap();
        outputs.keep().unwrap();
        assert_eq!(names(dir.path()), ["a", "b", "c"]);
    }

    #[test]
    fn messages_name_the_place_and_not_the_work() {
        let dir = tempfile::tempdir().unwrap();
        let (there, at) = (dir.path().join("there"), dir.path().display());
        fs::create_dir(&there).unwrap();
        for (out, wanted) in [("my keys", "my keys/secret.key"), ("there", "there/secret.key")] {
            let outputs = Outputs::claim_in(&dir.path().join(out), &["secret.key"]).unwrap();
            let message = format!("{}: the disk is full", outputs.at("secret.key").display());
            assert_eq!(named_by_place(&message), format!("{at}/{wanted}: the disk is full"));
        }
        let relative = format!(".keys{}/a: other than .keys{}/b", part_suffix(), part_suffix());
        assert_eq!(named_by_place(&relative), "keys/a: other than keys/b");
        assert_eq!(named_by_place("a/.b: nothing"), "a/.b: nothing");
    }

    #[test]
    fn a_file_is_no_directory() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(Outputs::claim_in(&file, &["a"]).is_err());
        assert!(Outputs::claim_in(&file.join("inner"), &["a"]).is_err());
        assert_eq!(names(dir.path()), ["file"]);
    }

    #[test]
    fn the_lock_waits_for_those_who_look_for_leftovers() {
        let dir = tempfile::tempdir().unwrap();
        let looking = File::open(dir.path()).unwrap();
        looking.lock().unwrap();
        let end = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(50));
            drop(looking);
        });
        let held = locked(dir.path()).expect("a lock");
        end.join().unwrap();
        assert!(File::open(dir.path()).unwrap().try_lock().is_err());
        drop(held);
        File::open(dir.path()).unwrap().try_lock().unwrap();
    }
}
