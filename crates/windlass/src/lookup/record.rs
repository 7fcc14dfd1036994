//! Encodes rows of text as words modulo the plaintext modulus.

/// Bits that one word carries: the largest b with 2^b ≤ modulus, at most 32.
///
/// # Panics
/// If the modulus is below 2.
pub fn word_bits(modulus: u64) -> u32 {
    assert!(modulus >= 2, "a plaintext modulus of at least 2");
    modulus.ilog2().min(32)
}

/// Bytes of a row: each field as its length (LEB128) and its bytes.
pub fn encode_record<S: AsRef<str>>(fields: &[S]) -> Vec<u8> {
    let mut out = Vec::new();
    for field in fields {
        let field = field.as_ref().as_bytes();
        let mut length = field.len();
        while length >= 0x80 {
            out.push(length as u8 | 0x80);
            length >>= 7;
        }
        out.push(length as u8);
        out.extend_from_slice(field);
    }
    out
}

/// The `count` fields of a row; `None` if the bytes are not `count` fields of UTF-8 followed by
/// zeros.
pub fn decode_record(bytes: &[u8], count: usize) -> Option<Vec<String>> {
    let mut rest = bytes;
    let mut fields = Vec::with_capacity(count);
    for _ in 0..count {
        let (mut length, mut shift) = (0usize, 0);
        loop {
            let (&byte, tail) = rest.split_first()?;
            rest = tail;
            length |= usize::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
            if shift > 28 {
                return None;
            }
        }
        let (field, tail) = rest.split_at_checked(length)?;
        rest = tail;
        fields.push(String::from_utf8(field.to_vec()).ok()?);
    }
    rest.iter().all(|&byte| byte == 0).then_some(fields)
}

/// Bytes as words of `bits` bits, least significant bit first; the last word is padded with zeros.
pub fn bytes_to_words(bytes: &[u8], bits: u32) -> Vec<u64> {
    let (mut pending, mut filled) = (0u64, 0);
    let mut words = Vec::with_capacity(word_count(bytes.len(), bits));
    for &byte in bytes {
        pending |= u64::from(byte) << filled;
        filled += 8;
        while filled >= bits {
            words.push(pending & ((1 << bits) - 1));
            pending >>= bits;
            filled -= bits;
        }
    }
    if filled > 0 {
        words.push(pending);
    }
    words
}

/// Inverse of [`bytes_to_words`]. `None` if there are not [`word_count`] words, if a word does not
/// fit into `bits` bits, or if the padding is not zero.
pub fn words_to_bytes(words: &[u64], bits: u32, length: usize) -> Option<Vec<u8>> {
    if words.len() != word_count(length, bits) {
        return None;
    }
    let (mut pending, mut filled) = (0u64, 0);
    let mut bytes = Vec::with_capacity(length);
    for &word in words {
        if word >> bits != 0 {
            return None;
        }
        pending |= word << filled;
        filled += bits;
        while filled >= 8 && bytes.len() < length {
            bytes.push(pending as u8);
            pending >>= 8;
            filled -= 8;
        }
    }
    (bytes.len() == length && pending == 0).then_some(bytes)
}

/// The number of words for `bytes` bytes; `usize::MAX` on overflow.
pub fn word_count(bytes: usize, bits: u32) -> usize {
    (8 * bytes as u128).div_ceil(bits as u128).try_into().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn records_come_back(fields in proptest::collection::vec(".{0,200}", 0..6), padding in 0usize..9) {
            let mut bytes = encode_record(&fields);
            bytes.resize(bytes.len() + padding, 0);
            prop_assert_eq!(decode_record(&bytes, fields.len()), Some(fields));
        }

        #[test]
        fn words_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..60), bits in 1u32..=32) {
            let words = bytes_to_words(&bytes, bits);
            prop_assert_eq!(words.len(), word_count(bytes.len(), bits));
            prop_assert!(words.iter().all(|word| word >> bits == 0));
            prop_assert_eq!(words_to_bytes(&words, bits, bytes.len()), Some(bytes));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40), count in 0usize..5) {
            let _ = decode_record(&bytes, count);
        }
    }

    #[test]
    fn damaged_rows_are_refused() {
        assert_eq!(decode_record(&[3, b'a', b'b'], 1), None);
        assert_eq!(decode_record(&[1, b'a', 7], 1), None);
        assert_eq!(decode_record(&[1, 0xff], 1), None);
        assert_eq!(decode_record(&[0xff; 12], 1), None);
        assert_eq!(words_to_bytes(&[0x1_0000], 16, 2), None);
        assert_eq!(words_to_bytes(&[0xff, 1], 8, 1), None);
    }

    #[test]
    fn a_word_holds_what_the_modulus_allows() {
        assert_eq!([2, 3, 17, 127, 257, 65_537, 131_071].map(word_bits), [1, 1, 4, 6, 8, 16, 16]);
    }
}
