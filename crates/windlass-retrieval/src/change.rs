//! Changes tables in directories: rows are added, replaced and removed. Only the pieces that
//! contain them are prepared again.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use zeroize::Zeroizing;

use crate::bytes::pack;
use crate::cuckoo::{self, Bins};
use crate::error::{Error, Result, printable};
use crate::keywords::{BIN, Entry, Keywords, bin_bytes, read_bin, write_bin};
use crate::mask::Mask;
use crate::padding::Padding;
use crate::query::Selection;
use crate::rows::Rows;
use crate::schema::{Contents, Schema};
use crate::segment_file;
use crate::setting::{N, Setting};
use crate::shape::Shape;
use crate::store::{
    Manifest, SCHEMA_FILE, Writing, checksums, label, manifest_path, remove_unnamed, replace, segment_name,
};
use crate::table::{Observer, Table, pairs_of_segment};

/// A change of rows by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowChange {
    /// The row of that number becomes another; the number after the last adds one.
    Set(usize, Vec<u8>),
    /// A row after the last.
    Append(Vec<u8>),
    /// The row of that number becomes empty (zeros, where all rows have one length).
    Clear(usize),
}

/// A change of rows by key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyChange {
    /// The row of a key, whether it was there or not.
    Set(Vec<u8>, Vec<u8>),
    /// Removes the key.
    Remove(Vec<u8>),
}

impl KeyChange {
    /// The key.
    pub(crate) fn key(&self) -> &[u8] {
        match self {
            Self::Set(key, _) | Self::Remove(key) => key,
        }
    }

    /// As it is made in a table whose keys are not hidden.
    fn plain(&self) -> Edit<'_> {
        let row = match self {
            Self::Set(_, row) => Some(Cow::Borrowed(&row[..])),
            Self::Remove(_) => None,
        };
        Edit { name: self.key(), key: Zeroizing::new(self.key().to_vec()), row }
    }
}

/// A change of a row by key, as the table holds both.
pub(crate) struct Edit<'c> {
    /// What errors call the key.
    pub name: &'c [u8],
    /// The key; F of it where keys are hidden.
    pub key: Zeroizing<Vec<u8>>,
    /// The row, sealed if keys are hidden; `None` to remove the row of this key.
    pub row: Option<Cow<'c, [u8]>>,
}

/// Polynomials of a table while they change.
struct Changing<'a> {
    table: &'a Table,
    /// Coefficients of what was looked at.
    polynomials: BTreeMap<usize, Vec<i64>>,
    changed: BTreeSet<usize>,
}

impl Changing<'_> {
    fn shape(&self) -> &Shape {
        &self.table.schema.shape
    }

    fn polynomial(&mut self, number: usize) -> &mut Vec<i64> {
        let table = self.table;
        self.polynomials.entry(number).or_insert_with(|| {
            let (segment, column, row) = place(&table.schema.shape, number);
            let mut coefficients = table.segments[segment].get(&table.setting, row, column);
            Mask::of(&table.schema).take_off(number, &mut coefficients);
            coefficients
        })
    }
}

/// The piece, the column in it and the row of a polynomial.
fn place(shape: &Shape, number: usize) -> (usize, usize, usize) {
    let (column, row) = (number / shape.rows, number % shape.rows);
    let columns = 2 * pairs_of_segment(shape);
    (column / columns, column % columns, row)
}

impl Table {
    /// Changes rows by number: all of the changes, or none. While the observer is called for the
    /// last piece, readers still see the old version. After it returns, they may see the new one.
    ///
    /// # Errors
    /// [`Error::RowTooLong`]; [`Error::OutOfRange`] for a row beyond the room of the table;
    /// [`Error::WrongQuery`], [`Error::BadFile`].
    pub fn change_rows(dir: &Path, changes: &[RowChange], observer: &Observer<'_>) -> Result<Self> {
        change(dir, observer, |changing| {
            let Contents::Rows(mut rows) = changing.table.schema.contents.clone() else {
                return Err(Error::WrongQuery { by: "key" });
            };
            for change in changes {
                apply_row(changing, &mut rows, change)?;
            }
            Ok(Contents::Rows(rows))
        })
    }

    /// Changes rows by key: all of the changes, or none, as [`Self::change_rows`] does.
    ///
    /// # Errors
    /// [`Error::EntryTooLong`], [`Error::Full`]; [`Error::WrongQuery`], [`Error::BadFile`].
    pub fn change_keys(dir: &Path, changes: &[KeyChange], observer: &Observer<'_>) -> Result<Self> {
        Self::change_entries(dir, observer, |_| Ok((changes.iter().map(KeyChange::plain).collect(), None)))
    }

    /// As [`Self::change_keys`], of changes that `prepare` makes for the schema of the table, with what
    /// fills up bins where keys are hidden.
    pub(crate) fn change_entries<'c>(
        dir: &Path,
        observer: &Observer<'_>,
        prepare: impl FnOnce(&Schema) -> Result<(Vec<Edit<'c>>, Option<Padding>)>,
    ) -> Result<Self> {
        change(dir, observer, |changing| {
            let (edits, padding) = prepare(&changing.table.schema)?;
            changing.table.schema.check_padding(padding.is_some())?;
            let Contents::Keywords(mut keywords) = changing.table.schema.contents.clone() else {
                return Err(Error::WrongQuery { by: "number" });
            };
            let padding = padding.as_ref();
            let mut bins = OpenBins { changing, keywords: &keywords.clone(), padding, bins: HashMap::new() };
            for Edit { name, key, row } in &edits {
                if bins.remove(key)? {
                    keywords.count = keywords.count.saturating_sub(1);
                }
                if let Some(row) = row {
                    bins.insert(key, row, name)?;
                    keywords.count += 1;
                }
            }
            bins.close();
            Ok(Contents::Keywords(keywords))
        })
    }

    /// Whether there is a row of this key; only the bins are read in which it may lie.
    ///
    /// # Errors
    /// [`Error::WrongQuery`]; [`Error::BadRow`] for bins that no table has.
    pub fn has_key(&self, key: &[u8]) -> Result<bool> {
        self.schema.check_padding(false)?;
        self.has_tag(key)
    }

    /// As [`Self::has_key`], in tables whose keys are hidden too.
    pub(crate) fn has_tag(&self, key: &[u8]) -> Result<bool> {
        let Contents::Keywords(keywords) = &self.schema.contents else {
            return Err(Error::WrongQuery { by: "number" });
        };
        let changing = &mut Changing { table: self, polynomials: BTreeMap::new(), changed: BTreeSet::new() };
        // It is taken out of bins that go with this call.
        OpenBins { changing, keywords, padding: None, bins: HashMap::new() }.remove(key)
    }
}

fn apply_row(changing: &mut Changing<'_>, rows: &mut Rows, change: &RowChange) -> Result<()> {
    let (number, row) = match change {
        RowChange::Set(number, row) => (*number, row.clone()),
        RowChange::Append(row) => (rows.count, row.clone()),
        RowChange::Clear(number) => (*number, if rows.fixed { vec![0; rows.bytes] } else { Vec::new() }),
    };
    let room = rows.capacity(changing.shape());
    let end = if matches!(change, RowChange::Clear(_)) { rows.count } else { rows.count + 1 };
    windlass_rlwe::Limits::below(room.min(end)).check("row", number)?;
    let stored = rows.stored(number, &row)?;
    let shape = changing.shape().clone();
    for (Selection { polynomial, record }, bytes) in rows.records(&shape, number) {
        let from = record * shape.record_coefficients;
        let coefficients = &mut changing.polynomial(polynomial)[from..from + shape.record_coefficients];
        pack(&stored[bytes], shape.message_bits, coefficients);
        changing.changed.insert(polynomial);
    }
    rows.count = rows.count.max(number + 1);
    Ok(())
}

/// Bins that were read, and what is in them now.
struct OpenBins<'a, 'b> {
    changing: &'a mut Changing<'b>,
    keywords: &'a Keywords,
    padding: Option<&'a Padding>,
    bins: HashMap<usize, Vec<Entry>>,
}

impl OpenBins<'_, '_> {
    fn bin(&mut self, number: usize) -> Result<&mut Vec<Entry>> {
        if !self.bins.contains_key(&number) {
            let bits = self.changing.shape().message_bits;
            let tag_bytes = self.keywords.tag_bytes;
            let mut entries = read_bin(self.changing.polynomial(number), bits, tag_bytes).ok_or(Error::BadRow)?;
            if let Some(padding) = self.padding {
                padding.take_off(self.keywords, self.changing.shape(), number, &mut entries);
            }
            self.bins.insert(number, entries);
        }
        Ok(self.bins.get_mut(&number).expect("just put there"))
    }

    /// Takes out all fragments of a key; whether it was there.
    fn remove(&mut self, key: &[u8]) -> Result<bool> {
        let mut found = false;
        for fragment in 0..self.keywords.fragments {
            let tag = self.keywords.tag(key, fragment);
            for number in self.keywords.bins(self.changing.shape(), tag) {
                let bin = self.bin(number)?;
                if let Some(index) = bin.iter().position(|entry| entry.tag == tag) {
                    bin.swap_remove(index);
                    self.changing.changed.insert(number);
                    found = true;
                }
            }
        }
        Ok(found)
    }

    /// Puts in all fragments of a row; errors give its key this name.
    fn insert(&mut self, key: &[u8], row: &[u8], name: &[u8]) -> Result<()> {
        for entry in self.keywords.entries(key, row)? {
            // Where bins are filled up, nothing that tags tell may say where rows lie.
            let seed = self.padding.map_or(entry.tag as u64, |padding| padding.turn(entry.tag)) as usize;
            if !cuckoo::insert(self, entry, seed)? {
                return Err(Error::Full { key: printable(name) });
            }
        }
        Ok(())
    }

    /// Writes the bins back into their polynomials.
    fn close(self) {
        let bits = self.changing.shape().message_bits;
        for (number, mut entries) in self.bins {
            if let Some(padding) = self.padding {
                padding.fill(self.keywords, self.changing.shape(), number, &mut entries);
            }
            let coefficients = self.changing.polynomial(number);
            coefficients.fill(0);
            write_bin(entries.iter(), bits, self.keywords.tag_bytes, coefficients);
        }
    }
}

impl Bins for OpenBins<'_, '_> {
    type Entry = Entry;

    fn places(&self, entry: &Entry) -> (Vec<usize>, usize) {
        let mut places = self.keywords.bins(self.changing.shape(), entry.tag);
        if self.padding.is_some_and(|padding| padding.is_turned(entry.tag)) {
            places.reverse();
        }
        (places, self.keywords.entry_bytes(entry))
    }

    fn free(&mut self, number: usize) -> Result<usize> {
        let room = bin_bytes(self.changing.shape().message_bits) - BIN;
        let keywords = self.keywords;
        Ok(room.saturating_sub(self.bin(number)?.iter().map(|entry| keywords.entry_bytes(entry)).sum()))
    }

    fn put(&mut self, number: usize, entry: Entry) -> Result<()> {
        self.bin(number)?.push(entry);
        self.changing.changed.insert(number);
        Ok(())
    }

    fn take(&mut self, number: usize, random: usize) -> Result<Option<Entry>> {
        let bin = self.bin(number)?;
        if bin.is_empty() {
            return Ok(None);
        }
        let entry = bin.swap_remove(random % bin.len());
        self.changing.changed.insert(number);
        Ok(Some(entry))
    }
}

/// A new version of a table. `edit` changes the description of its contents in the schema.
fn change(
    dir: &Path,
    observer: &Observer<'_>,
    edit: impl FnOnce(&mut Changing<'_>) -> Result<Contents>,
) -> Result<Table> {
    let _writing = Writing::begin(dir)?;
    let path = manifest_path(dir);
    let (mut manifest, _) = Manifest::read(&path)?;
    // What is copied must be whole: it gets a new checksum. And nothing is removed for a manifest
    // that is damaged.
    let table = Table::open(dir, true)?;
    remove_unnamed(dir, &manifest);
    // A writer that was killed after its version was there may not have told clients of it.
    replace(&dir.join(SCHEMA_FILE), &manifest.schema.to_json())?;
    let mut changing = Changing { table: &table, polynomials: BTreeMap::new(), changed: BTreeSet::new() };
    let contents = edit(&mut changing)?;
    let Changing { polynomials, changed, .. } = changing;
    // What the table said of its rows may have been wrong: its next version must be one.
    contents.check(&table.schema.shape)?;
    manifest.revision = manifest.next_revision(&path)?;
    manifest.schema.contents = contents;
    write_changed(dir, &table, &mut manifest, &polynomials, &changed, observer)?;
    manifest.checksums = checksums(dir, &manifest)?;
    // From here on readers see the new version.
    manifest.write(&path)?;
    remove_unnamed(dir, &manifest);
    // The change is made, whatever becomes of its announcement: the next writer repeats it.
    let _ = replace(&dir.join(SCHEMA_FILE), &manifest.schema.to_json());
    Table::open(dir, false)
}

/// Prepares again the pieces in which a polynomial changed.
fn write_changed(
    dir: &Path,
    table: &Table,
    manifest: &mut Manifest,
    polynomials: &BTreeMap<usize, Vec<i64>>,
    changed: &BTreeSet<usize>,
    observer: &Observer<'_>,
) -> Result<()> {
    let (shape, setting): (&Shape, &Setting) = (&table.schema.shape, &table.setting);
    let touched: BTreeSet<usize> = changed.iter().map(|&number| place(shape, number).0).collect();
    let (hash, mask, mut scratch) = (table.schema.hash(), Mask::of(&table.schema), vec![0; N]);
    for (done, &index) in touched.iter().enumerate() {
        let mut segment = table.segments[index].copy()?;
        for &number in changed.iter().filter(|&&number| place(shape, number).0 == index) {
            let (_, column, row) = place(shape, number);
            let mut coefficients = polynomials[&number].clone();
            mask.put_on(number, &mut coefficients);
            segment.put(setting, row, column, &coefficients, &mut scratch);
        }
        let name = segment_name(index, manifest.revision);
        segment_file::write(&dir.join(&name), &label(&table.schema, hash, index, &name), &segment)?;
        manifest.segments[index] = name;
        if observer(done + 1, touched.len()).is_break() {
            return Err(Error::Cancelled);
        }
    }
    // Whoever looks hears of the end of it, whatever there was to do.
    if touched.is_empty() && observer(0, 0).is_break() {
        return Err(Error::Cancelled);
    }
    Ok(())
}
