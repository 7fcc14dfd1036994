//! Finds the places of the entries of rows by key, before anything is prepared.

use rayon::prelude::*;

use crate::cuckoo::Filling;
use crate::error::{Error, Result, printable};
use crate::keywords::{BIN, Keywords, bin_bytes};
use crate::padding::Padding;
use crate::plan::Plan;
use crate::schema::Contents;
use crate::shape::Shape;

impl Plan {
    /// Looks for a place for every row by key, as preparing the table does, and prepares nothing:
    /// bins are planned for the mean, and where rows are long some overflow. Rows by number always
    /// have a place. In tables whose keys are hidden, tags follow from a secret key; here others
    /// stand for them, which are spread as evenly.
    ///
    /// Cost: a hash for each fragment, about a second for a million.
    ///
    /// # Errors
    /// [`Error::Full`], after which a plan with more `slack` may do; [`Error::DuplicateKey`];
    /// [`Error::EntryTooLong`]; [`Error::Mismatch`] for another number of rows than the plan is for.
    pub fn find_places<K: AsRef<[u8]>, R: AsRef<[u8]>>(&self, rows: &[(K, R)]) -> Result<()> {
        let Contents::Keywords(layout) = &self.schema.contents else { return Ok(()) };
        if rows.len() != layout.count {
            return Err(Error::Mismatch { what: "the table", got: rows.len(), expected: layout.count });
        }
        match &self.schema.oprf {
            None => self.find_places_of(layout, rows),
            // Sealed rows have one length.
            Some(_) => {
                let sealed = vec![0; layout.longest_row()];
                let rows: Vec<(&[u8], &[u8])> = rows.iter().map(|(key, _)| (key.as_ref(), &sealed[..])).collect();
                self.find_places_of(layout, &rows)
            }
        }
    }

    fn find_places_of<K: AsRef<[u8]>, R: AsRef<[u8]>>(&self, layout: &Keywords, rows: &[(K, R)]) -> Result<()> {
        let name = |row: usize| printable(rows[row].0.as_ref());
        let entries = entries_of(layout, rows)?;
        refuse_duplicates(&entries, &name)?;
        bins_of(layout, &self.schema.shape, rows, &entries, None, &name).map(drop)
    }
}

/// The tag of an entry, its row and its fragment of that.
pub(crate) type Placed = (u128, u32, u32);

/// The entries of rows.
pub(crate) fn entries_of<K: AsRef<[u8]>, R: AsRef<[u8]>>(layout: &Keywords, rows: &[(K, R)]) -> Result<Vec<Placed>> {
    let mut entries = Vec::with_capacity(rows.len());
    for (number, (key, row)) in rows.iter().enumerate() {
        let (key, row) = (key.as_ref(), row.as_ref());
        for fragment in 0..layout.fragments_of(key, row)? {
            entries.push((layout.tag(key, fragment), number as u32, fragment as u32));
        }
    }
    Ok(entries)
}

/// Which entries lie in which bin.
pub(crate) fn bins_of<K, R: AsRef<[u8]>>(
    layout: &Keywords,
    shape: &Shape,
    rows: &[(K, R)],
    entries: &[Placed],
    padding: Option<&Padding>,
    name: &dyn Fn(usize) -> String,
) -> Result<Filling> {
    // Coins cost more than the rest, and an entry is looked at more than once.
    let turned: Vec<bool> = match padding {
        Some(padding) => entries.par_iter().map(|&(tag, ..)| padding.is_turned(tag)).collect(),
        None => Vec::new(),
    };
    let places = |number: u32| {
        let (tag, row, fragment) = entries[number as usize];
        let mut bins = layout.bins(shape, tag);
        if turned.get(number as usize) == Some(&true) {
            bins.reverse();
        }
        let (value, _) = layout.fragment(rows[row as usize].1.as_ref(), fragment as usize);
        (bins, layout.overhead() + value.len())
    };
    let mut bins = Filling::new(shape.polynomials(), bin_bytes(shape.message_bits).saturating_sub(BIN))?;
    for number in 0..entries.len() as u32 {
        if !bins.insert(number, &places) {
            return Err(Error::Full { key: name(entries[number as usize].1 as usize) });
        }
    }
    Ok(bins)
}

/// Two entries of one tag are a key that occurs twice (or, once in 2^128 pairs, 2^64 with short tags,
/// two keys that this seed does not tell apart).
pub(crate) fn refuse_duplicates(entries: &[Placed], name: &dyn Fn(usize) -> String) -> Result<()> {
    let mut tags: Vec<(u128, u32)> = entries.iter().map(|&(tag, row, _)| (tag, row)).collect();
    tags.par_sort_unstable();
    match tags.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        None => Ok(()),
        Some(pair) => Err(Error::DuplicateKey { key: name(pair[1].1 as usize) }),
    }
}
