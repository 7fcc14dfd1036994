//! Files that appear whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{EntryError, Result};

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Whoever the system lets.
    Public,
    /// Its owner alone.
    Owner,
}

/// A file under a temporary name, which gets its own with [`Self::keep`] and is removed otherwise.
#[derive(Debug)]
pub struct Unfinished {
    file: PathBuf,
    temporary: PathBuf,
    kept: bool,
}

impl Unfinished {
    /// An empty file, in a directory that is made where it is missing.
    ///
    /// # Errors
    /// [`EntryError::File`].
    pub fn create(file: &Path, access: Access) -> Result<(Self, File)> {
        let directory = file.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(directory).map_err(EntryError::at(directory))?;
        let mut name = file.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let temporary = directory.join(name);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        if access == Access::Owner {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let opened = options.open(&temporary).map_err(EntryError::at(&temporary))?;
        Ok((Self { file: file.to_owned(), temporary, kept: false }, opened))
    }

    /// Where it lies until it is kept.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Gives it its name; a file of that name is replaced.
    ///
    /// # Errors
    /// [`EntryError::File`].
    pub fn keep(mut self) -> Result<()> {
        fs::rename(&self.temporary, &self.file).map_err(EntryError::at(&self.file))?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.kept {
            // Nothing more can be done about a file that cannot be removed.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes a whole file.
///
/// # Errors
/// [`EntryError::File`].
pub fn write(file: &Path, bytes: &[u8], access: Access) -> Result<()> {
    let (unfinished, mut opened) = Unfinished::create(file, access)?;
    std::io::Write::write_all(&mut opened, bytes).map_err(EntryError::at(file))?;
    drop(opened);
    unfinished.keep()
}

/// Reads a file of at most `most` bytes.
///
/// # Errors
/// [`EntryError::File`]; [`EntryError::Malformed`] for a longer one.
pub fn read(file: &Path, most: u64) -> Result<Vec<u8>> {
    let opened = File::open(file).map_err(EntryError::at(file))?;
    let mut bytes = Vec::new();
    opened.take(most + 1).read_to_end(&mut bytes).map_err(EntryError::at(file))?;
    if bytes.len() as u64 > most {
        return Err(EntryError::malformed(file, format!("longer than {most} bytes")));
    }
    Ok(bytes)
}
