//! Tables in directories. They are prepared piece by piece, mapped, and changed while they are
//! read.
//!
//! `table.json` names the pieces of the current version and is replaced atomically. Pieces are
//! never modified. So a reader sees one version or the next. `table.json` contains the checksums of
//! the pieces, so its SHA-256 identifies the version, also among copies of the directory. During
//! the first preparation `building.json` takes its place, and finished pieces are reused by the
//! next run.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use windlass::wire::{WireError, from_json, hex, write_over};

use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::requirements::{RowStatistics, TableRequirements};
use crate::schema::Schema;
use crate::segment_file::{self, Label, Piece};
use crate::setting::Setting;
use crate::shape::setting_of;
use crate::table::{ByKey, ByNumber, Fill, Observer, Source, Table, make_segment, report, segments_of};

const MANIFEST: &str = "table.json";
const BUILDING: &str = "building.json";
/// The public description, for clients.
pub const SCHEMA_FILE: &str = "schema.json";
const LOCK: &str = "lock";
/// What the names of pieces end in.
const PIECE: &str = ".segment";
const PART: &str = ".windlass-part";

/// The current version of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    /// Counts versions.
    pub revision: u64,
    pub schema: Schema,
    /// A hash of the rows that the table was first made of, in hexadecimal.
    pub source: String,
    /// Names of the pieces, in order.
    pub segments: Vec<String>,
    /// Their checksums, in hexadecimal. Manifests of version 1 and of what is being built have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checksums: Vec<String>,
}

impl Manifest {
    /// Reads the file, and names the version: SHA-256 of its text.
    pub fn read(path: &Path) -> Result<(Self, [u8; 32])> {
        let text = read(path)?;
        let manifest: Self = from_json(&text).map_err(|reason| damaged(path, &reason))?;
        let plain = |name: &String| !name.contains(['/', '\\']) && !name.starts_with('.') && name.ends_with(PIECE);
        if !manifest.segments.iter().all(plain) {
            return Err(damaged(path, "it names pieces outside its directory, or files that are not pieces"));
        }
        Ok((manifest, Sha256::digest(text).into()))
    }

    /// Its schema, all of it checked, and its setting. There are as many pieces as the layout has.
    pub fn open_schema(&self, path: &Path) -> Result<(Schema, Arc<Setting>)> {
        let opened = Schema::from_json(&self.schema.to_json()).map_err(|error| damaged(path, &error.to_string()))?;
        let pieces = segments_of(&opened.0.shape).len();
        if self.segments.len() != pieces || !(self.checksums.is_empty() || self.checksums.len() == pieces) {
            return Err(damaged(path, "its number of pieces is not that of the layout"));
        }
        Ok(opened)
    }

    /// The number of the next version.
    pub fn next_revision(&self, path: &Path) -> Result<u64> {
        self.revision.checked_add(1).ok_or_else(|| damaged(path, "its version number is the largest possible"))
    }

    /// Replaces the file in one step.
    pub fn write(&self, path: &Path) -> Result<()> {
        replace(path, &serde_json::to_vec_pretty(self).expect("strings and numbers always serialise"))
    }
}

fn bad(path: &Path, reason: impl Into<String>) -> Error {
    Error::BadFile { path: path.to_owned(), reason: reason.into() }
}

/// The error for a manifest that cannot be read. Its table cannot be identified, so nothing
/// replaces it.
fn damaged(path: &Path, reason: &str) -> Error {
    let remedy = if path.ends_with(BUILDING) {
        "remove this file and prepare the table again from the beginning"
    } else {
        "restore this file from a copy, or remove the directory and prepare the table again (windlass table build)"
    };
    bad(path, format!("the file is damaged, so the table cannot be read ({reason}): {remedy}"))
}

/// The text of a manifest.
fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => bad(
            path,
            "there is no such table: name the directory of a table, or prepare one in it (windlass table build)",
        ),
        _ => from_system(path, error),
    })
}

/// A refusal of the system, with what to do.
fn from_system(path: &Path, error: std::io::Error) -> Error {
    bad(path, WireError::from(error).to_string())
}

/// Replaces a file with this content atomically.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    write_over(path, bytes).map_err(|error| bad(path, error.to_string()))
}

/// Holds a directory against other writers.
#[derive(Debug)]
pub(crate) struct Writing {
    lock: File,
}

impl Writing {
    /// Locks the directory, and clears away what killed writers left half done.
    pub fn begin(dir: &Path) -> Result<Self> {
        let path = dir.join(LOCK);
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|error| from_system(&path, error))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(bad(dir, "another process is writing to this table; try again later"));
            }
            // File systems without locks are written to all the same.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        for entry in fs::read_dir(dir).map_err(|error| from_system(dir, error))?.flatten() {
            if entry.file_name().to_string_lossy().ends_with(PART) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(Self { lock: file })
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // Closing is not enough while a process that is being started shares the file.
        let _ = self.lock.unlock();
    }
}

/// The name of a piece of a version.
pub(crate) fn segment_name(index: usize, revision: u64) -> String {
    format!("{index:05}-{revision:06}{PIECE}")
}

/// The label of piece `index`.
pub(crate) fn label(schema: &Schema, hash: [u8; 32], index: usize, name: &str) -> Label {
    // The version that the name tells: an old piece under a new name is refused.
    let revision = name.split(['-', '.']).nth(1).and_then(|digits| digits.parse().ok()).unwrap_or(u64::MAX);
    Label { index, rows: schema.shape.rows, pairs: segments_of(&schema.shape)[index], schema: hash, revision }
}

/// The hash that tells whether a directory was begun with the same rows.
pub(crate) fn source_of<'a>(schema: &Schema, rows: impl Iterator<Item = [&'a [u8]; 2]>) -> String {
    let mut hash = Sha256::new();
    hash.update(b"windlass table source 1\n");
    hash.update(serde_json::to_vec(&schema.fields).expect("strings always serialise"));
    for part in rows.flatten() {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

impl Table {
    /// Prepares rows by number in a directory and opens the table. What an earlier run with the
    /// same rows finished is kept, and so is its plan.
    ///
    /// # Errors
    /// As [`Self::of_rows`]; [`Error::BadFile`] for a directory that cannot be written, or holds
    /// another table.
    pub fn create_rows<R: AsRef<[u8]> + Sync>(
        dir: &Path,
        schema: &Schema,
        rows: &[R],
        observer: &Observer<'_>,
    ) -> Result<Self> {
        let source = source_of(schema, rows.iter().map(|row| [row.as_ref(), &[]]));
        create(dir, schema, source, &ByNumber(rows), observer)
    }

    /// Prepares rows by key in a directory and opens the table.
    ///
    /// # Errors
    /// As [`Self::of_keywords`] and [`Self::create_rows`].
    pub fn create_keywords<K, R>(dir: &Path, schema: &Schema, rows: &[(K, R)], observer: &Observer<'_>) -> Result<Self>
    where
        K: AsRef<[u8]> + Sync,
        R: AsRef<[u8]> + Sync,
    {
        let source = source_of(schema, rows.iter().map(|(key, row)| [key.as_ref(), row.as_ref()]));
        create(dir, schema, source, &ByKey(rows), observer)
    }

    /// The schema of the table that a directory holds, finished or begun; none where it holds
    /// neither.
    ///
    /// # Errors
    /// [`Error::BadFile`] for one that cannot be read.
    pub fn begun(dir: &Path) -> Result<Option<Schema>> {
        for name in [MANIFEST, BUILDING] {
            let path = dir.join(name);
            if path.exists() {
                let (manifest, _) = Manifest::read(&path)?;
                return Ok(Some(manifest.open_schema(&path)?.0));
            }
        }
        Ok(None)
    }

    /// Refuses a directory whose table, finished or begun, is not as required: its layout stays as it
    /// is.
    ///
    /// # Errors
    /// [`Error::LessRoom`], [`Error::OtherRequirements`]; [`Error::BadFile`] for a table that cannot be read.
    pub fn check_requirements(dir: &Path, rows: RowStatistics, requirements: &TableRequirements) -> Result<()> {
        if *requirements == TableRequirements::default() {
            return Ok(());
        }
        let Some(schema) = Self::begun(dir)? else { return Ok(()) };
        if let Some(room) = requirements.room.filter(|&room| !schema.has_room(rows, room)) {
            return Err(Error::LessRoom { path: dir.into(), room });
        }
        match Plan::of(&*setting_of(&schema.shape)?, schema, rows.total).unmet(requirements) {
            Some((what, [found, wanted])) => Err(Error::OtherRequirements { path: dir.into(), what, found, wanted }),
            None => Ok(()),
        }
    }

    /// Opens a table: its pieces are mapped, and their checksums computed if `verify`.
    ///
    /// # Errors
    /// [`Error::BadFile`] if something is missing or not what the table says.
    pub fn open(dir: &Path, verify: bool) -> Result<Self> {
        let manifest = dir.join(MANIFEST);
        if !manifest.exists() && dir.join(BUILDING).exists() {
            return Err(bad(
                dir,
                "the table is not finished: run the same command again, which continues where it stopped",
            ));
        }
        // A writer may replace pieces, or another directory come into this one's place, between the
        // reading of the manifest and the mapping of the pieces.
        const TRIES: usize = 5;
        let (mut read, mut version) = Manifest::read(&manifest)?;
        for _ in 0..TRIES {
            match open_version(dir, &read, version, verify) {
                Ok(table) => return Ok(table),
                Err(error) => {
                    let (now, next) = Manifest::read(&manifest)?;
                    if next == version {
                        return Err(error);
                    }
                    (read, version) = (now, next);
                }
            }
        }
        open_version(dir, &read, version, verify)
    }

    /// Identifies a directory's current version among all that it ever held, and among those of its
    /// copies: the SHA-256 of its manifest. [`Self::version`] is that of an open table.
    ///
    /// # Errors
    /// [`Error::BadFile`].
    pub fn fingerprint(dir: &Path) -> Result<[u8; 32]> {
        let path = dir.join(MANIFEST);
        Ok(Sha256::digest(read(&path)?).into())
    }
}

fn open_version(dir: &Path, manifest: &Manifest, version: [u8; 32], verify: bool) -> Result<Table> {
    let (schema, setting) = manifest.open_schema(&dir.join(MANIFEST))?;
    let hash = schema.hash();
    let open = |(index, name): (usize, &String)| {
        let piece = Piece::map(&dir.join(name), label(&schema, hash, index, name))?;
        piece.expect(manifest.checksums.get(index))?.segment(verify)
    };
    let segments = manifest.segments.par_iter().enumerate().map(open).collect::<Result<_>>()?;
    Ok(Table { schema, setting, segments, revision: manifest.revision, version })
}

/// The checksums of the pieces of a version, as they state them.
pub(crate) fn checksums(dir: &Path, manifest: &Manifest) -> Result<Vec<String>> {
    let hash = manifest.schema.hash();
    let checksum = |(index, name): (usize, &String)| {
        Ok(Piece::map(&dir.join(name), label(&manifest.schema, hash, index, name))?.checksum())
    };
    manifest.segments.iter().enumerate().map(checksum).collect()
}

/// Makes what is missing of a table.
pub(crate) fn create(
    dir: &Path,
    schema: &Schema,
    source: String,
    rows: &impl Source,
    observer: &Observer<'_>,
) -> Result<Table> {
    fs::create_dir_all(dir).map_err(|error| from_system(dir, error))?;
    let writing = Writing::begin(dir)?;
    let (building, finished) = (dir.join(BUILDING), dir.join(MANIFEST));
    if finished.exists() {
        let (there, _) = Manifest::read(&finished)?;
        if there.source != source || there.revision != 0 {
            return Err(bad(
                dir,
                "the directory holds another table: change its rows (windlass table set), or choose another directory and keep the schema that clients know (windlass table build --like)",
            ));
        }
        // Pieces that were damaged since are made again; the others are only checked.
        let (schema, setting) = there.open_schema(&finished)?;
        let fill = rows.filler(&schema)?;
        make_pieces(dir, &there, (&schema, &setting), &*fill, observer)?;
        replace(&dir.join(SCHEMA_FILE), &there.schema.to_json())?;
        drop(writing);
        return Table::open(dir, false);
    }
    let begun = if building.exists() { Some(Manifest::read(&building)?.0) } else { None };
    let mut manifest = match begun {
        Some(begun) if begun.source == source => begun,
        Some(_) => {
            return Err(bad(
                dir,
                "the directory holds an unfinished table: choose another directory, or remove this one",
            ));
        }
        None => {
            let count = segments_of(&schema.shape).len();
            let segments = (0..count).map(|index| segment_name(index, 0)).collect();
            Manifest { revision: 0, schema: schema.clone(), source, segments, checksums: Vec::new() }
        }
    };
    let (schema, setting) = manifest.open_schema(&building)?;
    // Whether all rows have a place shows here, before the plan is written down.
    let fill = rows.filler(&schema)?;
    manifest.write(&building)?;
    make_pieces(dir, &manifest, (&schema, &setting), &*fill, observer)?;
    manifest.checksums = checksums(dir, &manifest)?;
    replace(&dir.join(SCHEMA_FILE), &manifest.schema.to_json())?;
    manifest.write(&finished)?;
    fs::remove_file(&building).map_err(|error| from_system(&building, error))?;
    drop(writing);
    Table::open(dir, false)
}

/// Prepares the missing pieces in parallel.
fn make_pieces(
    dir: &Path,
    manifest: &Manifest,
    (schema, setting): (&Schema, &Setting),
    fill: &Fill<'_>,
    observer: &Observer<'_>,
) -> Result<()> {
    let hash = schema.hash();
    let done = AtomicUsize::new(0);
    manifest.segments.par_iter().enumerate().try_for_each(|(index, name)| {
        let (path, label) = (dir.join(name), label(schema, hash, index, name));
        // A piece is moved into place when it is whole; one that was damaged since is made again.
        let found = Piece::map(&path, label).and_then(|piece| piece.expect(manifest.checksums.get(index)));
        if found.and_then(|piece| piece.segment(true)).is_err() {
            let _ = fs::remove_file(&path);
            segment_file::write(&path, &label, &make_segment(setting, schema, index, fill)?)?;
        }
        report(&done, manifest.segments.len(), observer)
    })
}

/// The files of a directory that no version names any more.
pub(crate) fn remove_unnamed(dir: &Path, manifest: &Manifest) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(PIECE) && !manifest.segments.contains(&name) {
            // Whoever has it mapped keeps it; on systems where that forbids removal it stays.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The places of a directory's files.
pub(crate) fn manifest_path(dir: &Path) -> PathBuf {
    dir.join(MANIFEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a process that is being started shares it.
    #[test]
    fn a_directory_is_free_when_its_writer_ends_though_its_file_is_shared() {
        let dir = tempfile::tempdir().unwrap();
        let writing = Writing::begin(dir.path()).unwrap();
        let shared = writing.lock.try_clone().unwrap();
        assert!(Writing::begin(dir.path()).is_err());
        drop(writing);
        Writing::begin(dir.path()).unwrap();
        drop(shared);
    }
}
