//! Evaluation keys on the disk, so that they are there after a restart and beyond the cache.
//!
//! Each set is one file, under the SHA-256 of its bytes. The least recently used go when there is no
//! more room; after a restart those that were written first count as the least recently used.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass::wire::{hex, sha256, write_over};

use crate::keys::{KeyName, parse_name};

const ENDING: &str = ".keys";

#[derive(Debug, Clone, Copy)]
struct Entry {
    bytes: u64,
    /// When it was last used, counted in uses of all.
    used: u64,
}

/// What is there.
#[derive(Debug, Default)]
struct Inside {
    entries: HashMap<KeyName, Entry>,
    clock: u64,
}

impl Inside {
    fn put(&mut self, name: KeyName, bytes: u64) {
        self.clock += 1;
        self.entries.insert(name, Entry { bytes, used: self.clock });
    }

    /// Counts a use; whether it is there.
    fn touch(&mut self, name: &KeyName) -> bool {
        self.clock += 1;
        let clock = self.clock;
        self.entries.get_mut(name).map(|entry| entry.used = clock).is_some()
    }
}

/// A directory of files of evaluation keys.
#[derive(Debug)]
pub struct Shelf {
    dir: PathBuf,
    room: u64,
    inside: Mutex<Inside>,
}

impl Shelf {
    /// The shelf in a directory, which is made for only its owner if it is missing, with room for
    /// so many bytes.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(dir: &Path, room: u64) -> io::Result<Self> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(dir)?;
        let mut found = Vec::new();
        for file in fs::read_dir(dir)?.flatten() {
            let name = file.file_name();
            let Some(name) = name.to_str().and_then(|name| parse_name(name.strip_suffix(ENDING)?)) else { continue };
            let Ok(metadata) = file.metadata() else { continue };
            found.push((metadata.modified().ok(), name, metadata.len()));
        }
        found.sort_unstable();
        let mut inside = Inside::default();
        found.into_iter().for_each(|(_, name, bytes)| inside.put(name, bytes));
        let shelf = Self { dir: dir.to_owned(), room, inside: Mutex::new(inside) };
        shelf.make_room(&mut shelf.inside(), 0);
        Ok(shelf)
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, name: &KeyName) -> PathBuf {
        self.dir.join(hex(name) + ENDING)
    }

    /// Takes away what was not used for longest until there is room for `bytes` more.
    fn make_room(&self, Inside { entries, .. }: &mut Inside, bytes: u64) {
        let mut held: u64 = entries.values().map(|entry| entry.bytes).sum();
        while held + bytes > self.room {
            let Some(oldest) = entries.iter().min_by_key(|(_, entry)| entry.used).map(|(name, _)| *name) else { break };
            held -= entries.remove(&oldest).map_or(0, |entry| entry.bytes);
            let _ = fs::remove_file(self.path(&oldest));
        }
    }

    /// Keeps the file of a set of keys. A full disk is reported in the log; the keys are still in
    /// memory.
    pub fn keep(&self, name: &KeyName, bytes: &[u8]) {
        let size = bytes.len() as u64;
        if size > self.room {
            return;
        }
        let mut inside = self.inside();
        if inside.touch(name) {
            return;
        }
        self.make_room(&mut inside, size);
        match write_over(&self.path(name), bytes) {
            Ok(()) => inside.put(*name, size),
            Err(error) => tracing::warn!(%error, "evaluation keys are not kept on the disk"),
        }
    }

    /// The file of a set of keys, if it is there and whole; it counts as used.
    pub fn read(&self, name: &KeyName) -> Option<Vec<u8>> {
        if !self.inside().touch(name) {
            return None;
        }
        match fs::read(self.path(name)) {
            Ok(bytes) if sha256(&bytes) == *name => Some(bytes),
            _ => {
                self.remove(name);
                None
            }
        }
    }

    /// Takes a set of keys away.
    pub fn remove(&self, name: &KeyName) {
        self.inside().entries.remove(name);
        let _ = fs::remove_file(self.path(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_back_and_the_longest_unused_go() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("new/keys");
        let files: Vec<Vec<u8>> = (0..4u8).map(|k| vec![k; 100]).collect();
        let names: Vec<KeyName> = files.iter().map(|bytes| sha256(bytes)).collect();
        let shelf = Shelf::open(&at, 250).unwrap();
        for k in [0, 1] {
            shelf.keep(&names[k], &files[k]);
        }
        assert_eq!(shelf.read(&names[0]), Some(files[0].clone()), "it counts as used");
        shelf.keep(&names[2], &files[2]);
        assert_eq!([0, 1, 2].map(|k| shelf.read(&names[k]).is_some()), [true, false, true]);
        shelf.keep(&sha256(&[9; 300]), &[9; 300]);
        assert_eq!(fs::read_dir(&at).unwrap().count(), 2, "what is longer than all the room is not kept");
        // Somebody else's files stay, and what is damaged goes.
        fs::write(at.join("notes"), "mine").unwrap();
        fs::write(shelf.path(&names[2]), "bent").unwrap();
        drop(shelf);
        let again = Shelf::open(&at, 250).unwrap();
        assert_eq!(again.read(&names[0]), Some(files[0].clone()), "they outlive the service");
        assert_eq!(again.read(&names[2]), None);
        assert!(!again.path(&names[2]).exists() && at.join("notes").exists());
        drop(again);
        let smaller = Shelf::open(&at, 50).unwrap();
        assert_eq!(smaller.read(&names[0]), None, "less room than there are files");
    }
}
