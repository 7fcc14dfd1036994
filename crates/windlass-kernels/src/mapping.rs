//! Files as memory: mapped read-only, so that any number of processes share one copy.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io;

use memmap2::Mmap;

/// A file of which every process that maps it reads the same pages of memory.
///
/// Nothing is read before it is looked at; the system takes pages back when it needs them. The file
/// may be removed while it is mapped; it may not be written to or cut, and a lock shared by all who
/// map it asks writers to stay away, on systems that have such locks.
///
/// Memory that another owner shares between processes also works: [`Mapping::of_memory`].
pub struct Mapping(Source);

/// Where the bytes are.
enum Source {
    File {
        memory: Mmap,
        /// Holds the lock, until the memory is gone.
        _file: File,
    },
    Memory(Box<dyn AsRef<[u8]> + Send + Sync>),
}

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapping").field("bytes", &self.bytes().len()).finish_non_exhaustive()
    }
}

impl Mapping {
    /// Maps all of a regular file that is open for reading.
    ///
    /// # Errors
    /// `InvalidInput` for what is no regular file, `WouldBlock` while someone writes it, and those of the
    /// system.
    pub fn of(file: File) -> io::Result<Self> {
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "only regular files can be mapped"));
        }
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
            // File systems without locks are mapped all the same.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        // SAFETY: the bytes must not change, nor the file become shorter, as long as they are
        // mapped. Nobody can force that on a file system. Files of ours are written once, under a
        // temporary name and locked, moved into place and never written again; they are left
        // without permission to write, opened for reading only, and locked here against writers.
        // Whoever writes to one all the same breaks the promise: a process that reads beyond a new
        // end is killed by the system. Changed bytes are wrong residues, which give wrong results;
        // they lead nowhere, since no kernel uses a residue as an index, a length or a condition of
        // a loop.
        let memory = unsafe { Mmap::map(&file)? };
        Ok(Self(Source::File { memory, _file: file }))
    }

    /// Memory of another owner, such as an object store: it stays as it is for as long as its owner
    /// is held here.
    pub fn of_memory(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self(Source::Memory(Box::new(owner)))
    }

    /// The bytes; those of a file are aligned to a page.
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Source::File { memory, .. } => memory,
            Source::Memory(owner) => (**owner).as_ref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(name: &str, contents: &[u8]) -> (std::path::PathBuf, File) {
        let path = std::env::temp_dir().join(format!("windlass-mapping-{}-{name}", std::process::id()));
        let mut file = File::create(&path).unwrap();
        file.write_all(contents).unwrap();
        (path, file)
    }

    #[test]
    fn bytes_of_a_file_and_of_an_empty_one() {
        for (name, contents) in [("some", &b"twelve bytes"[..]), ("none", &[])] {
            let (path, _) = file(name, contents);
            let mapping = Mapping::of(File::open(&path).unwrap()).unwrap();
            assert_eq!(mapping.bytes(), contents);
            assert!(contents.is_empty() || (mapping.bytes().as_ptr() as usize).is_multiple_of(4096));
            drop(mapping);
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn what_is_written_or_no_file_is_refused() {
        let (path, writer) = file("written", b"half");
        if writer.lock().is_ok() {
            let refused = Mapping::of(File::open(&path).unwrap()).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        }
        drop(writer);
        let held = Mapping::of(File::open(&path).unwrap()).unwrap();
        let writer = File::options().append(true).open(&path).unwrap();
        assert!(matches!(writer.try_lock(), Err(TryLockError::WouldBlock)), "mapped files are locked");
        drop(held);
        std::fs::remove_file(path).unwrap();
        #[cfg(unix)]
        {
            let refused = Mapping::of(File::open(std::env::temp_dir()).unwrap()).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        }
    }
}
