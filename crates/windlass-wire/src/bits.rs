//! Payloads as sequences of fields: little-endian integers, byte strings, and residues packed to
//! the bit length of their modulus.

use windlass_schemes::error::WireError;
use windlass_schemes::file_sizes::{packed_len, residue_bits};

/// Writes the fields of a payload.
#[derive(Debug, Default)]
pub struct FieldWriter {
    bytes: Vec<u8>,
}

impl FieldWriter {
    /// An empty payload with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity) }
    }

    /// Bytes written.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The payload.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends a 16-bit integer.
    pub fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    /// Appends a 32-bit integer.
    pub fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    /// Appends a 64-bit integer.
    pub fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    /// Room for the length of what follows, 64 bits, and where it stands: for
    /// [`Self::fill_length`].
    pub(super) fn placeholder(&mut self) -> usize {
        self.u64(0);
        self.bytes.len()
    }

    /// Writes the length of what was appended since a [`Self::placeholder`] into it.
    pub(super) fn fill_length(&mut self, start: usize) {
        let length = (self.bytes.len() - start) as u64;
        self.bytes[start - 8..start].copy_from_slice(&length.to_le_bytes());
    }

    /// Appends a double, bit by bit.
    pub fn f64(&mut self, value: f64) {
        self.u64(value.to_bits());
    }

    /// Appends residues in `[0, modulus)`, least significant bit first, padded with zero bits to a
    /// byte.
    pub fn residues(&mut self, row: &[u64], modulus: u64) {
        let width = residue_bits(modulus);
        let (mut pending, mut filled) = (0u128, 0);
        for &residue in row {
            debug_assert!(residue < modulus, "a residue is canonical");
            pending |= u128::from(residue) << filled;
            filled += width;
            if filled >= 64 {
                self.bytes.extend_from_slice(&(pending as u64).to_le_bytes());
                pending >>= 64;
                filled -= 64;
            }
        }
        let rest = filled.div_ceil(8) as usize;
        self.bytes.extend_from_slice(&(pending as u64).to_le_bytes()[..rest]);
    }
}

/// Fields after those that are written already.
impl From<Vec<u8>> for FieldWriter {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }
}

/// Reads the fields of a payload, in the order in which they were written.
#[derive(Debug)]
pub struct FieldReader<'a> {
    rest: &'a [u8],
}

impl<'a> FieldReader<'a> {
    /// Reads from the start of a payload.
    pub fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// [`WireError::Malformed`] naming `what` when fewer are left.
    pub fn bytes(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], WireError> {
        let (field, rest) = self.rest.split_at_checked(count).ok_or(WireError::Malformed { what })?;
        self.rest = rest;
        Ok(field)
    }

    /// All that is left.
    pub(super) fn rest(self) -> &'a [u8] {
        self.rest
    }

    /// The next `N` bytes. Errors as [`Self::bytes`].
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], WireError> {
        let (field, rest) = self.rest.split_first_chunk::<N>().ok_or(WireError::Malformed { what })?;
        self.rest = rest;
        Ok(*field)
    }

    /// The next 16-bit integer. Errors as [`Self::bytes`].
    pub fn u16(&mut self, what: &'static str) -> Result<u16, WireError> {
        self.array(what).map(u16::from_le_bytes)
    }

    /// The next 32-bit integer. Errors as [`Self::bytes`].
    pub fn u32(&mut self, what: &'static str) -> Result<u32, WireError> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// The next 64-bit integer. Errors as [`Self::bytes`].
    pub fn u64(&mut self, what: &'static str) -> Result<u64, WireError> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// The next double. Errors as [`Self::bytes`], and when it is not finite.
    pub fn f64(&mut self, what: &'static str) -> Result<f64, WireError> {
        let value = f64::from_bits(self.u64(what)?);
        if value.is_finite() { Ok(value) } else { Err(WireError::Malformed { what }) }
    }

    /// Fills `row` with packed residues.
    ///
    /// # Errors
    /// [`WireError::Malformed`] if bytes are missing, a residue is not below `modulus`, or a
    /// padding bit is set.
    pub fn residues(&mut self, row: &mut [u64], modulus: u64, what: &'static str) -> Result<(), WireError> {
        let width = residue_bits(modulus);
        let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
        let field = self.bytes(packed_len(row.len(), modulus), what)?;
        let mut words = field.chunks(8).map(|chunk| {
            let mut word = [0u8; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        let (mut pending, mut filled, mut canonical) = (0u128, 0, true);
        for residue in row.iter_mut() {
            if filled < width {
                pending |= u128::from(words.next().unwrap_or(0)) << filled;
                filled += 64;
            }
            *residue = pending as u64 & mask;
            canonical &= *residue < modulus;
            pending >>= width;
            filled -= width;
        }
        if canonical && pending == 0 { Ok(()) } else { Err(WireError::Malformed { what }) }
    }

    /// Checks that nothing is left.
    ///
    /// # Errors
    /// [`WireError::Malformed`] naming `what` otherwise.
    pub fn finish(self, what: &'static str) -> Result<(), WireError> {
        if self.rest.is_empty() { Ok(()) } else { Err(WireError::Malformed { what }) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pack(row: &[u64], modulus: u64) -> Vec<u8> {
        let mut writer = FieldWriter::default();
        writer.residues(row, modulus);
        writer.finish()
    }

    fn unpack(bytes: &[u8], count: usize, modulus: u64) -> Result<Vec<u64>, WireError> {
        let mut row = vec![0; count];
        let mut reader = FieldReader::new(bytes);
        reader.residues(&mut row, modulus, "row")?;
        reader.finish("row")?;
        Ok(row)
    }

    proptest! {
        #[test]
        fn rows_come_back(modulus in 2u64..1 << 50, raw in proptest::collection::vec(any::<u64>(), 0..70)) {
            let row: Vec<u64> = raw.iter().map(|x| x % modulus).collect();
            let bytes = pack(&row, modulus);
            prop_assert_eq!(bytes.len(), packed_len(row.len(), modulus));
            prop_assert_eq!(unpack(&bytes, row.len(), modulus).unwrap(), row);
        }
    }

    #[test]
    fn packing_is_least_significant_bit_first() {
        assert_eq!(pack(&[1, 2, 3, 4], 5), [0b11_010_001, 0b0000_1000]);
    }

    #[test]
    fn residues_out_of_range_are_refused() {
        let bytes = pack(&[6, 0, 1], 7);
        assert_eq!(unpack(&bytes, 3, 7), Ok(vec![6, 0, 1]));
        assert_eq!(unpack(&bytes, 3, 6), Err(WireError::Malformed { what: "row" }));
    }

    #[test]
    fn padding_bits_and_missing_bytes_are_refused() {
        let mut bytes = pack(&[1; 10], 97);
        *bytes.last_mut().unwrap() |= 0x80;
        assert!(unpack(&bytes, 10, 97).is_err());
        assert!(unpack(&pack(&[1; 10], 97)[..8], 10, 97).is_err());
        assert!(unpack(&[pack(&[1; 10], 97), vec![0]].concat(), 10, 97).is_err());
    }

    #[test]
    fn fields_keep_their_order() {
        let mut writer = FieldWriter::default();
        writer.u16(1);
        writer.u32(2);
        writer.u64(3);
        writer.f64(0.5);
        let bytes = writer.finish();
        let mut reader = FieldReader::new(&bytes);
        assert_eq!(
            (reader.u16("a"), reader.u32("b"), reader.u64("c"), reader.f64("d")),
            (Ok(1), Ok(2), Ok(3), Ok(0.5))
        );
        assert_eq!(reader.u16("past the end"), Err(WireError::Malformed { what: "past the end" }));
        assert!(FieldReader::new(&f64::NAN.to_le_bytes()).f64("nan").is_err());
    }
}
