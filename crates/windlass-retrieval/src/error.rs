//! The errors of this crate.

use std::path::PathBuf;

use windlass::wire::WireError;
use windlass_rlwe::{OtherKeyPair, OutOfRange, RlweError};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number that is not allowed.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The table has no rows.
    #[error("the table has no rows: give at least one")]
    Empty,
    /// A row is longer than the rows of its table.
    #[error(
        "row {row} has {bytes} bytes, but rows of this table have at most {most}: make a new table for longer rows"
    )]
    RowTooLong {
        /// Its number.
        row: usize,
        /// Its bytes.
        bytes: usize,
        /// Bytes of the table's rows.
        most: usize,
    },
    /// A row is shorter than the rows of a table in which all have one length.
    #[error(
        "row {row} has {bytes} bytes, but every row of this table has {all}: pad the row, or make a new table with rows of different lengths"
    )]
    RowTooShort {
        /// Its number.
        row: usize,
        /// Its bytes.
        bytes: usize,
        /// Bytes of every row.
        all: usize,
    },
    /// An entry does not fit a bin of a table of keywords.
    #[error(
        "the row of key '{key}' has {bytes} bytes, but rows of this table have at most {most}: shorten it, or make a new table for longer rows"
    )]
    EntryTooLong {
        /// The key, as far as it can be printed.
        key: String,
        /// Bytes of the entry.
        bytes: usize,
        /// Bytes of a bin.
        most: usize,
    },
    /// Two entries of one key.
    #[error("the key '{key}' occurs twice: give each row a different key")]
    DuplicateKey {
        /// The key, as far as it can be printed.
        key: String,
    },
    /// The bins are too full for a new entry.
    #[error("the table has no space for the key '{key}': make a new table with room for more rows")]
    Full {
        /// The key, as far as it can be printed.
        key: String,
    },
    /// A directory whose table was planned for fewer rows than requested.
    #[error(
        "{}: the directory holds a table with room for fewer than {room} rows, and the room of a table cannot grow; make the table in another directory, or ask for less room",
        path.display()
    )]
    LessRoom {
        /// The directory.
        path: PathBuf,
        /// The requested number of rows.
        room: usize,
    },
    /// A directory holds a table of another layout than is asked for.
    #[error(
        "{}: the directory holds a table, finished or begun, whose layout stays as it is: {what}: {found}, not {wanted}; choose an empty directory, or leave this limit out",
        path.display()
    )]
    OtherRequirements {
        /// The directory.
        path: PathBuf,
        /// What of the layout, with its unit.
        what: &'static str,
        /// What the table has.
        found: u64,
        /// What was asked for.
        wanted: u64,
    },
    /// Rows that do not fit the layout that clients know.
    #[error(
        "the rows do not fit the layout that clients know: {reason}; change the rows, or make the table with a new schema, which every client must accept"
    )]
    OtherLayout {
        /// What does not fit.
        reason: String,
    },
    /// The keys of a table are hidden, and what hides them was not given.
    #[error(
        "the server hides the keys of this table with an OPRF key: a server needs that key to change the table (--oprf-key FILE), and a client needs help of the server before it asks: through files, 'windlass table blind' makes a request, the server replies with 'windlass table blind-evaluate', and the client names the reply (--blind-reply FILE); over a network, use 'windlass ask'"
    )]
    HiddenKeys,
    /// A key that hides keys was given for a table whose keys are not hidden.
    #[error(
        "the keys of this table are not hidden: ask with plain keys, and give no OPRF key and no blind reply; to hide them, make a new table with an OPRF key"
    )]
    PlainKeys,
    /// A key that hides keys is that of another table.
    #[error("another OPRF key hides the keys of this table: give the key that the table was made with")]
    OtherOprfKey,
    /// Points that a client or a server sent.
    #[error("{what} cannot be read: {reason}")]
    BadPoints {
        /// Which.
        what: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// A key that is too long to be hidden.
    #[error("a key has {bytes} bytes, but a hidden key has at most 65535: shorten it")]
    LongKey {
        /// Its bytes.
        bytes: usize,
    },
    /// Nothing fits the limits that were given.
    #[error("no plan holds {rows} rows of {bytes} bytes: {reason}")]
    NoPlan {
        /// Rows of the table.
        rows: usize,
        /// Bytes of the longest.
        bytes: usize,
        /// What stands in the way.
        reason: String,
    },
    /// A key that the server needs is missing.
    #[error("the evaluation keys lack {what}: make them for this table's schema")]
    MissingKey {
        /// Which.
        what: &'static str,
    },
    /// Values of two key pairs, or of a foreign one.
    #[error(transparent)]
    OtherKeyPair(#[from] OtherKeyPair),
    /// A value of another table, or of another version of its schema.
    #[error("{what} belongs to another table: make it for the schema of this one")]
    OtherTable {
        /// What was given.
        what: &'static str,
    },
    /// A table that is not cut into so many blocks.
    #[error("{columns} columns cannot be cut into {asked} blocks of equal size: choose {}", listed(possible))]
    NoShards {
        /// Columns of the table.
        columns: usize,
        /// How many blocks were asked for.
        asked: usize,
        /// How many there may be, ascending.
        possible: Vec<usize>,
    },
    /// Nothing to put an answer together from.
    #[error("the list of parts is empty: ask every shard")]
    NoParts,
    /// The part of one shard is missing.
    #[error("the part of shard {index} of {count} is missing: ask that shard")]
    MissingPart {
        /// The number of the shard, from 0.
        index: usize,
        /// How many shards there are.
        count: usize,
    },
    /// The part of one shard is there more than once.
    #[error("the part of shard {index} of {count} occurs twice: remove one")]
    DoubledPart {
        /// The number of the shard, from 0.
        index: usize,
        /// How many shards there are.
        count: usize,
    },
    /// A part that does not belong to the others.
    #[error("the part of shard {index} belongs to another {what}: ask that shard again")]
    ForeignPart {
        /// The number of the shard, from 0.
        index: usize,
        /// What it differs in.
        what: &'static str,
    },
    /// A value that does not have the form that the schema asks for.
    #[error("{what} has {got} entries, but {expected} are expected")]
    Mismatch {
        /// What was given.
        what: &'static str,
        /// What it has.
        got: usize,
        /// What it should have.
        expected: usize,
    },
    /// An answer to another query than the one it is read with.
    #[error("the answer belongs to another query: give the rows or vectors of its query, in the same order")]
    OtherQuery,
    /// A blind reply to a request for other keys than those that it is read for.
    #[error("the blind reply belongs to a request for other keys: give the keys of its request, in the same order")]
    OtherBlindKeys,
    /// The answer does not decrypt to anything under this key.
    #[error(
        "the answer does not decrypt under this key{}: use the secret key of the query; if this is that key, someone changed the answer on its way, or chose rows of the table so that decryption fails",
        first_of(*number)
    )]
    NotDecryptable {
        /// The number, from 0, of the first such row or vector in the query; `None` if a part
        /// was decrypted separately.
        number: Option<usize>,
    },
    /// A decrypted row is not one that a table writes.
    #[error(
        "the answer decrypts to bytes that no table of this schema holds: ask again with the schema of the table that is served"
    )]
    BadRow,
    /// A table that is asked in another way.
    #[error("clients of this table ask for rows by {by}")]
    WrongQuery {
        /// In which way it is asked.
        by: &'static str,
    },
    /// Bytes that are not a schema, or a schema that no table can have.
    #[error("not the schema of a table: {reason}")]
    BadSchema {
        /// What is wrong.
        reason: String,
    },
    /// The system does not provide enough memory.
    #[error(
        "{what} needs {bytes} bytes of memory, but the system does not provide them: ask for fewer rows at once, or make the table in a directory"
    )]
    OutOfMemory {
        /// For what.
        what: &'static str,
        /// How much.
        bytes: u64,
    },
    /// The RLWE layer refused.
    #[error(transparent)]
    Rlwe(#[from] RlweError),
    /// Bytes or a file were refused.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The library refused.
    #[error(transparent)]
    Library(#[from] windlass::Error),
    /// A file of a table is not what its manifest says.
    #[error("{path}: {reason}", path = path.display())]
    BadFile {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Numbers that are no whole vectors.
    #[error("{values} numbers cannot be divided into vectors of {dimension} dimensions")]
    Ragged {
        /// How many numbers.
        values: usize,
        /// The dimension.
        dimension: usize,
    },
    /// A vector of another dimension than the table's.
    #[error("the query has {got} dimensions, but the vectors of the table have {expected}")]
    WrongDimension {
        /// Those of the query.
        got: usize,
        /// Those of the table.
        expected: usize,
    },
    /// A number that is infinite, or none, or one whose square would be.
    #[error(
        "vector {vector} has a number in dimension {dimension} that is not finite, or whose absolute value is not between 1e-140 and 1e140"
    )]
    NotFinite {
        /// The vector, counted from 0.
        vector: usize,
        /// The dimension, counted from 0.
        dimension: usize,
    },
    /// A vector without a direction.
    #[error("{what} {number} is the zero vector, which has no cosine: leave it out")]
    ZeroVector {
        /// Of the table, or a query.
        what: &'static str,
        /// Its number, counted from 0.
        number: usize,
    },
    /// A query that is too far from all vectors of the table for its scale.
    #[error("query {number} has a number of absolute value {value}, but the scale of the table allows at most {most}")]
    TooFar {
        /// Its number, counted from 0.
        number: usize,
        /// The absolute value.
        value: f64,
        /// The largest that the table was made for.
        most: f64,
    },
    /// Scores that no ciphertext carries.
    #[error("the scores of these vectors need {needed} bits, but a ciphertext holds {most}: quantise to fewer bits")]
    ScoresTooLarge {
        /// Bits of the largest score.
        needed: u32,
        /// Bits of a message.
        most: u32,
    },
    /// Someone asked to stop.
    #[error("stopped; the finished part is kept, and the same command continues from there")]
    Cancelled,
}

/// Which of those that were asked for, in words.
fn first_of(number: Option<usize>) -> String {
    number.map_or_else(String::new, |number| format!(", first at number {number} (counted from 0) of the query"))
}

impl Error {
    /// Says which of the rows or vectors that were asked for a refusal is about.
    pub(crate) fn at(self, number: usize) -> Self {
        match self {
            Self::NotDecryptable { .. } => Self::NotDecryptable { number: Some(number) },
            other => other,
        }
    }
}

/// Numbers in a message.
fn listed(numbers: &[usize]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Bytes in a message: as text where they are, and never more than a few.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(bytes).chars().take(40).collect();
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
