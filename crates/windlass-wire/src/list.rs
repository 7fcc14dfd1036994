//! Stores many ciphertexts in one file: an array that is longer than one ciphertext holds.

use windlass_rlwe::{Limits, check_same_keys};
use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::pairs::RlweCiphertext;

use super::stored::Stored;
use super::values::{FileContext, Wire};
use super::{FieldReader, FieldWriter, KeyId, Kind, WireError};

/// What the slots of a list hold. Codes are append-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NumberKind {
    /// Elements of the slot ring, or data in a form that only the sender and the receiver know.
    Elements,
    /// Integers, of which the upper half of the residues stands for the negative ones.
    Signed,
    /// Integers from 0.
    Unsigned,
    /// Real numbers.
    Real,
    /// Complex numbers.
    Complex,
}

impl NumberKind {
    const ALL: [(Self, u8); 5] =
        [(Self::Elements, 0), (Self::Signed, 1), (Self::Unsigned, 2), (Self::Real, 3), (Self::Complex, 4)];

    fn code(self) -> u8 {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or(0, |(_, code)| *code)
    }

    fn from_code(code: u8) -> Option<Self> {
        Self::ALL.iter().find(|(_, c)| *c == code).map(|(kind, _)| *kind)
    }
}

/// Version 1 of a list of ciphertexts of one key pair, which together encrypt an array of numbers,
/// `[rows][columns]`, row-major. A row begins a new ciphertext and takes as many as it needs; all
/// but its last are full.
///
/// | Bytes | Field |
/// |---|---|
/// | 4 | rows |
/// | 8 | columns |
/// | 1 | [`NumberKind`] |
/// | 4 | number of ciphertexts, a multiple of the rows |
/// | | the ciphertexts: of each its length (8 bytes), then the payload that a file of it alone has |
///
/// Every row has at least one number in each of its ciphertexts and at most n, the dimension of the
/// ring. How many there really are follows from the slots after decryption: [`Self::assemble`].
///
#[cfg_attr(not(doctest), doc = include_str!("examples/list.md"))]
#[derive(Debug, Clone)]
pub struct CiphertextList<C> {
    rows: u32,
    columns: u64,
    numbers: NumberKind,
    ciphertexts: Vec<Stored<C>>,
}

/// Bytes before the ciphertexts.
const FIELDS: u64 = 4 + 8 + 1 + 4;

/// Bytes of the length before each.
const LENGTH: u64 = 8;

const ROWS: &str = "rows of a list of ciphertexts";
const COLUMNS: &str = "columns of a list of ciphertexts";

impl<C: RlweCiphertext> CiphertextList<C> {
    /// The ciphertexts of an array `[rows, columns]`, row after row.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for no rows or more than 2^32 − 1 of them, and for columns that are
    /// fewer than the ciphertexts of a row or more than these have coefficients;
    /// [`Error::ShapeMismatch`] for no ciphertexts, or a number that is no multiple of the rows;
    /// [`Error::OtherKeyPair`] for ciphertexts of two key pairs.
    pub fn new([rows, columns]: [usize; 2], numbers: NumberKind, ciphertexts: Vec<Stored<C>>) -> Result<Self> {
        let count = ciphertexts.len();
        Limits::between(1, u32::MAX).check(ROWS, rows)?;
        if count == 0 || !count.is_multiple_of(rows) || u32::try_from(count).is_err() {
            let expected = rows.saturating_mul(count.div_ceil(rows).max(1));
            return Err(Error::ShapeMismatch { what: "ciphertexts of a list", expected, got: count });
        }
        let first = ciphertexts[0].ciphertext();
        for other in &ciphertexts[1..] {
            check_same_keys("list", first.key_id(), other.ciphertext().key_id())?;
        }
        let (each, dimension) = (count / rows, first.parts()[0].ring().n());
        Limits::between(each, each.saturating_mul(dimension)).check(COLUMNS, columns)?;
        Ok(Self { rows: rows as u32, columns: columns as u64, numbers, ciphertexts })
    }

    /// The shape of the array: `[rows, columns]`.
    pub fn shape(&self) -> [u64; 2] {
        [self.rows.into(), self.columns]
    }

    /// What the slots hold.
    pub fn numbers(&self) -> NumberKind {
        self.numbers
    }

    /// How many ciphertexts there are.
    #[allow(clippy::len_without_is_empty, reason = "no list is empty")]
    pub fn len(&self) -> usize {
        self.ciphertexts.len()
    }

    /// How many ciphertexts a row takes.
    pub fn for_each_row(&self) -> usize {
        self.ciphertexts.len() / self.rows as usize
    }

    /// The ciphertexts, row after row.
    pub fn ciphertexts(&self) -> impl ExactSizeIterator<Item = &C> {
        self.ciphertexts.iter().map(Stored::ciphertext)
    }

    /// The ciphertexts, row after row.
    pub fn into_ciphertexts(self) -> Vec<C> {
        self.ciphertexts.into_iter().map(Stored::into_ciphertext).collect()
    }

    /// The rows of the array from the decrypted slots of each ciphertext.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are slots for every ciphertext, and in each row as
    /// many as it has columns.
    pub fn assemble<T>(&self, slots: Vec<Vec<T>>) -> Result<Vec<Vec<T>>> {
        let (expected, got) = (self.len(), slots.len());
        if expected != got {
            return Err(Error::ShapeMismatch { what: "decrypted ciphertexts of a list", expected, got });
        }
        let mut rows = Vec::with_capacity(self.rows as usize);
        let mut slots = slots.into_iter();
        for _ in 0..self.rows {
            let mut row: Vec<T> = slots.by_ref().take(self.for_each_row()).flatten().collect();
            if (row.len() as u64) < self.columns {
                let (expected, got) = (self.columns as usize, row.len());
                return Err(Error::ShapeMismatch { what: "slots of a row of a list", expected, got });
            }
            row.truncate(self.columns as usize);
            rows.push(row);
        }
        Ok(rows)
    }
}

impl<X: FileContext, C: RlweCiphertext + Wire<X>> Wire<X> for CiphertextList<C> {
    const KIND: Kind = Kind::CiphertextList;

    fn key_id(&self) -> Option<KeyId> {
        self.ciphertexts.first().map(|first| RlweCiphertext::key_id(first.ciphertext()))
    }

    fn encode(&self, context: &X, out: &mut FieldWriter) {
        out.u32(self.rows);
        out.u64(self.columns);
        out.bytes(&[self.numbers.code()]);
        out.u32(self.ciphertexts.len() as u32);
        for ciphertext in &self.ciphertexts {
            let length = out.placeholder();
            ciphertext.encode(context, out);
            out.fill_length(length);
        }
    }

    fn decode(context: &X, key: KeyId, mut fields: FieldReader<'_>) -> Result<Self> {
        let malformed = |what| Err(WireError::Malformed { what }.into());
        let rows = fields.u32(ROWS)?;
        let columns = fields.u64(COLUMNS)?;
        let [numbers] = fields.array("kind of the numbers of a list")?;
        let count = fields.u32("number of ciphertexts of a list")?;
        let Some(numbers) = NumberKind::from_code(numbers) else {
            return malformed("kind of the numbers of a list");
        };
        if rows == 0 || count == 0 || count % rows != 0 {
            return malformed("number of ciphertexts of a list");
        }
        let each = u64::from(count / rows);
        if !(each..=each.saturating_mul(context.rlwe().ring().n() as u64)).contains(&columns) {
            return malformed(COLUMNS);
        }
        // Nothing is believed of the count: memory is taken for one ciphertext after another, each
        // of which must be there.
        let mut ciphertexts = Vec::new();
        for _ in 0..count {
            let (length, limit) = (fields.u64("length of a ciphertext in a list")?, Stored::<C>::limit(context));
            if length > limit {
                return Err(WireError::TooLarge { length, limit }.into());
            }
            let payload = fields.bytes(length as usize, "ciphertext in a list")?;
            ciphertexts.push(Stored::decode(context, key, FieldReader::new(payload))?);
        }
        fields.finish("list of ciphertexts")?;
        Ok(Self { rows, columns, numbers, ciphertexts })
    }

    /// As many ciphertexts as can be counted: what a file may be is bounded by its own length.
    fn limit(context: &X) -> u64 {
        FIELDS + u64::from(u32::MAX).saturating_mul(LENGTH + Stored::<C>::limit(context))
    }
}
