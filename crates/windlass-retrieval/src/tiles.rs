//! Prepared polynomials in memory, and the scan over them.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use windlass_kernels::scan::{self, Sums, Two, WIDTH};
use windlass_kernels::{Mapping, u32_rows};

use crate::error::{Error, Result};
use crate::pool::{ALIGNMENT, Pool, Words};
use crate::setting::{N, PRIMES, Setting};
use crate::u32_ciphertext::U32Ciphertext;

/// Blocks of eight evaluation points, for all primes.
pub const BLOCKS: usize = PRIMES * N / WIDTH;

/// Blocks of a query that are written together.
const READ_BLOCKS: usize = 16;

/// Where the words of a segment are.
#[derive(Debug)]
enum Place {
    Memory(Words),
    /// In a file that is mapped, from this byte on.
    File(Arc<Mapping>, usize),
}

/// Some columns of a table, in pairs: `[block][pair][row]`, a block being eight evaluation points
/// modulo one prime.
#[derive(Debug)]
pub struct Segment {
    rows: usize,
    pairs: usize,
    place: Place,
}

impl Segment {
    /// Zeros for `pairs` pairs of columns of `rows` rows.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub fn zeros(rows: usize, pairs: usize) -> Result<Self> {
        let words = Words::new("a piece of the prepared table", Self::length(rows, pairs) * 2 * WIDTH)?;
        Ok(Self { rows, pairs, place: Place::Memory(words) })
    }

    /// The segment in a mapped file, from byte `offset` on, a multiple of 64. `None` if the file is
    /// too short.
    pub fn mapped(rows: usize, pairs: usize, file: Arc<Mapping>, offset: usize) -> Option<Self> {
        let length = Self::length(rows, pairs).checked_mul(size_of::<Two>())?;
        let fits = offset % ALIGNMENT == 0 && file.bytes().len().checked_sub(offset)? >= length;
        fits.then_some(Self { rows, pairs, place: Place::File(file, offset) })
    }

    fn length(rows: usize, pairs: usize) -> usize {
        BLOCKS * pairs * rows
    }

    /// Bytes of a segment.
    pub fn bytes_of(rows: usize, pairs: usize) -> u64 {
        (Self::length(rows, pairs) * size_of::<Two>()) as u64
    }

    /// Pairs of columns.
    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// The words: `[block][pair][row]`.
    pub fn twos(&self) -> &[Two] {
        let all = match &self.place {
            Place::Memory(words) => words.twos(),
            Place::File(file, offset) => {
                let bytes = &file.bytes()[*offset..];
                let whole = bytes.len() / size_of::<Two>() * size_of::<Two>();
                bytemuck::cast_slice(&bytes[..whole])
            }
        };
        &all[..Self::length(self.rows, self.pairs)]
    }

    /// The words as bytes of a file.
    pub(crate) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self.twos())
    }

    /// A copy in memory.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub(crate) fn copy(&self) -> Result<Self> {
        let mut copy = Self::zeros(self.rows, self.pairs)?;
        if let Place::Memory(words) = &mut copy.place {
            words.twos_mut()[..self.twos().len()].copy_from_slice(self.twos());
        }
        Ok(copy)
    }

    /// Puts the polynomial with these coefficients into a row of a column of this segment.
    ///
    /// Cost: one transform for each prime.
    pub fn put(&mut self, setting: &Setting, row: usize, column: usize, coefficients: &[i64], scratch: &mut [u64]) {
        let (rows, pairs) = (self.rows, self.pairs);
        let Place::Memory(words) = &mut self.place else { panic!("a segment in a file is never written to") };
        let twos = words.twos_mut();
        for index in 0..PRIMES {
            setting.context().ring().evaluate_signed(index, coefficients, scratch);
            let q = setting.prime(index);
            for (block, values) in scratch.chunks_exact(WIDTH).enumerate() {
                let block = index * (N / WIDTH) + block;
                let place = &mut twos[(block * pairs + column / 2) * rows + row][column % 2];
                for (word, &value) in place.iter_mut().zip(values) {
                    *word = scan::table_word(q, value);
                }
            }
        }
    }

    /// The coefficients of a polynomial that was put here, each below q_0/2 in absolute value.
    pub fn get(&self, setting: &Setting, row: usize, column: usize) -> Vec<i64> {
        let (twos, q) = (self.twos(), setting.prime(0));
        let mut values: Vec<u64> = Vec::with_capacity(N);
        for block in 0..N / WIDTH {
            let place = &twos[(block * self.pairs + column / 2) * self.rows + row][column % 2];
            values.extend(place.iter().map(|&word| scan::residue_of(q, word)));
        }
        setting.context().ring().plan(0).inverse(&mut values);
        let half = q.value() / 2;
        values.iter().map(|&x| if x > half { x as i64 - q.value() as i64 } else { x as i64 }).collect()
    }
}

/// A query as the scan reads it: `[block][row]`, both parts of each row's ciphertext.
#[derive(Debug)]
pub struct Tile {
    rows: usize,
    words: Words,
    pool: Arc<Pool>,
}

impl Drop for Tile {
    fn drop(&mut self) {
        self.pool.give_back(std::mem::take(&mut self.words));
    }
}

impl Tile {
    /// The ciphertexts of the rows.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub fn new(setting: &Setting, rows: &[U32Ciphertext]) -> Result<Self> {
        let count = rows.len();
        let pool = Arc::clone(setting.pool());
        let mut words = pool.take(BLOCKS * count * 2 * WIDTH)?;
        // Sixteen blocks at a time: a kilobyte of each row is read at once.
        let some = &mut words.twos_mut()[..BLOCKS * count];
        some.par_chunks_mut(READ_BLOCKS * count).enumerate().for_each(|(chunk, twos)| {
            let block = chunk * READ_BLOCKS;
            let (index, from) = (block / (N / WIDTH), block % (N / WIDTH) * WIDTH);
            let q = setting.prime(index);
            for (place, row) in rows.iter().enumerate() {
                for part in 0..2 {
                    let values = &row.row(part, index)[from..from + READ_BLOCKS * WIDTH];
                    for (block, values) in values.as_chunks::<WIDTH>().0.iter().enumerate() {
                        twos[block * count + place][part] = values.map(|x| scan::table_word(q, x.into()));
                    }
                }
            }
        });
        Ok(Self { rows: count, words, pool })
    }

    fn block(&self, block: usize) -> &[Two] {
        &self.words.twos()[block * self.rows..(block + 1) * self.rows]
    }
}

/// The pieces of the segments with these pairs of columns.
fn stretches<'s>(segments: &[&'s Segment], pairs: &Range<usize>) -> Vec<(&'s Segment, Range<usize>)> {
    let mut first = 0;
    let mut found = Vec::new();
    for segment in segments {
        let inside = |pair: usize| pair.clamp(first, first + segment.pairs) - first;
        let some = inside(pairs.start)..inside(pairs.end);
        first += segment.pairs;
        if !some.is_empty() {
            found.push((*segment, some));
        }
    }
    found
}

/// For every query the ciphertexts Σ_row table(row, column)·query(row) of these columns, the first
/// of which has an even number.
///
/// They are put together query by query, as they are asked for. Memory for all sums is asked for
/// before anything is computed.
///
/// Cost: one pass through the table for all queries; R·n/4 vector products of two primes, two parts
/// each, for a column and a query.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn scan_all<'a>(
    setting: &'a Setting,
    segments: &[&Segment],
    columns: Range<usize>,
    queries: &[Tile],
) -> Result<impl Iterator<Item = Vec<U32Ciphertext>> + use<'a>> {
    let rows = queries.first().map_or(1, |query| query.rows);
    debug_assert!(columns.start.is_multiple_of(2));
    let pairs = columns.start / 2..columns.end.div_ceil(2);
    let stretches = stretches(segments, &pairs);
    let isa = setting.context().ring().isa();
    let each = pairs.len().saturating_mul(queries.len());
    let mut blocks = reserved(each)?;
    blocks.par_iter_mut().enumerate().for_each(|(block, sums)| {
        let q = setting.prime(block / (N / WIDTH));
        let near: Vec<&[Two]> = queries.iter().map(|query| query.block(block)).collect();
        sums.resize(each, Sums::default());
        let mut rest = &mut sums[..];
        for (segment, some) in &stretches {
            let from = (block * segment.pairs + some.start) * rows;
            let table = &segment.twos()[from..from + some.len() * rows];
            let (out, after) = rest.split_at_mut(some.len() * queries.len());
            scan::scan(isa, q, rows, table, &near, out);
            rest = after;
        }
    });
    let count = queries.len();
    Ok((0..count).map(move |query| {
        let pairs = (0..pairs.len()).into_par_iter().map(|pair| gather(setting, &blocks, pair * count + query));
        let mut all: Vec<U32Ciphertext> = pairs.collect::<Vec<[U32Ciphertext; 2]>>().into_iter().flatten().collect();
        all.truncate(columns.len());
        all
    }))
}

/// Room for so many sums in each block: hundreds of megabytes, where there are many columns.
fn reserved(each: usize) -> Result<Vec<Vec<Sums>>> {
    let bytes = ((BLOCKS * size_of::<Sums>()) as u64).saturating_mul(each as u64);
    let mut blocks = vec![Vec::new(); BLOCKS];
    let mut reserved = || blocks.iter_mut().all(|sums: &mut Vec<Sums>| sums.try_reserve_exact(each).is_ok());
    if windlass::has_memory(bytes) && reserved() {
        Ok(blocks)
    } else {
        Err(Error::OutOfMemory { what: "a pass through the table", bytes })
    }
}

/// The ciphertexts of a pair of columns for one query, the factor of the scan taken back.
fn gather(setting: &Setting, blocks: &[Vec<Sums>], place: usize) -> [U32Ciphertext; 2] {
    let mut columns = [(); 2].map(|()| U32Ciphertext::unspecified(setting));
    let mut rows = columns.each_mut().map(U32Ciphertext::rows_mut);
    for (block, sums) in blocks.iter().enumerate() {
        let (index, from) = (block / (N / WIDTH), block % (N / WIDTH) * WIDTH);
        for (column, rows) in rows.iter_mut().enumerate() {
            for (part, rows) in rows.iter_mut().enumerate() {
                rows[index][from..from + WIDTH].copy_from_slice(&sums[place][column][part]);
            }
        }
    }
    for (index, row) in rows.into_iter().flatten().flat_map(|rows| rows.into_iter().enumerate()) {
        let q = setting.prime(index);
        u32_rows::mul_scalar_assign(setting.isa(), q, row, scan::query_factor(q));
    }
    columns
}
