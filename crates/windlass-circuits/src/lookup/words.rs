//! Bytes as words modulo the plaintext modulus.

/// Bits that one word carries: the largest b with 2^b ≤ modulus, at most 32.
///
/// # Panics
/// If the modulus is below 2.
pub fn word_bits(modulus: u64) -> u32 {
    assert!(modulus >= 2, "a plaintext modulus of at least 2");
    modulus.ilog2().min(32)
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
    use super::*;

    #[test]
    fn words_come_back() {
        for length in 0..60 {
            let bytes: Vec<u8> = (0..length).map(|i| (i * i * 37 + length * 11 + 5) as u8).collect();
            for bits in 1..=32 {
                let words = bytes_to_words(&bytes, bits);
                assert_eq!(words.len(), word_count(bytes.len(), bits));
                assert!(words.iter().all(|word| word >> bits == 0));
                assert_eq!(words_to_bytes(&words, bits, bytes.len()), Some(bytes.clone()), "{bits} bits");
            }
        }
    }

    #[test]
    fn damaged_words_are_refused() {
        assert_eq!(words_to_bytes(&[0x1_0000], 16, 2), None);
        assert_eq!(words_to_bytes(&[0xff, 1], 8, 1), None);
        assert_eq!(words_to_bytes(&[0x1ff], 9, 1), None);
    }

    #[test]
    fn a_word_holds_what_the_modulus_allows() {
        assert_eq!([2, 3, 17, 127, 257, 65_537, 131_071].map(word_bits), [1, 1, 4, 6, 8, 16, 16]);
    }
}
