//! Output files: all of a command's, or none.

use std::path::{Path, PathBuf};

use windlass::wire::WireError;

use crate::error::{CliError, Result};

/// The files that a command is about to make. Dropped before [`Outputs::keep`], it removes those that were made.
#[derive(Debug, Default)]
pub struct Outputs {
    files: Vec<PathBuf>,
    directory: Option<PathBuf>,
}

impl Outputs {
    /// Refuses files that are there already. Nothing is made yet.
    pub fn claim(files: impl IntoIterator<Item = PathBuf>) -> Result<Self> {
        let mut outputs = Self::default();
        for file in files {
            if file.symlink_metadata().is_ok() {
                let taken = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
                return Err(CliError::at(&file)(taken.into()));
            }
            outputs.files.push(file);
        }
        Ok(outputs)
    }

    /// As [`Outputs::claim`], for names in a directory, which is made if it is missing.
    pub fn claim_in(directory: &Path, names: &[&str]) -> Result<Self> {
        let mut outputs = Self::claim(names.iter().map(|name| directory.join(name)))?;
        if !directory.exists() {
            std::fs::create_dir_all(directory).map_err(|error| CliError::at(directory)(WireError::from(error)))?;
            outputs.directory = Some(directory.to_path_buf());
        }
        Ok(outputs)
    }

    /// The command has succeeded.
    pub fn keep(mut self) {
        self.files.clear();
        self.directory = None;
    }
}

impl Drop for Outputs {
    fn drop(&mut self) {
        // Clearing up after another error: that one is reported.
        for file in &self.files {
            let _ = std::fs::remove_file(file);
        }
        if let Some(directory) = &self.directory {
            let _ = std::fs::remove_dir(directory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_failed_command_made_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("new");
        let outputs = Outputs::claim_in(&out, &["a", "b"]).unwrap();
        std::fs::write(out.join("a"), "half").unwrap();
        drop(outputs);
        assert!(!out.exists());
        let outputs = Outputs::claim_in(&out, &["a"]).unwrap();
        std::fs::write(out.join("a"), "whole").unwrap();
        outputs.keep();
        assert!(out.join("a").exists());
    }

    #[test]
    fn files_of_others_are_neither_claimed_nor_removed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("b"), "mine").unwrap();
        assert!(Outputs::claim_in(dir.path(), &["a", "b"]).unwrap_err().to_string().contains("already exists"));
        assert_eq!(std::fs::read_to_string(dir.path().join("b")).unwrap(), "mine");
    }
}
