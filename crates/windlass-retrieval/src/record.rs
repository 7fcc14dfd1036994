//! Rows of several fields as bytes.

/// Bytes of a row: each field as its length (LEB128) and its bytes. [`decode_record`] reads fields in
/// UTF-8 only.
pub fn encode_record<F: AsRef<[u8]>>(fields: &[F]) -> Vec<u8> {
    let mut out = Vec::new();
    for field in fields {
        push_field(&mut out, field.as_ref());
    }
    out
}

/// Appends the next field of a row, as [`encode_record`] does.
pub fn push_field(record: &mut Vec<u8>, field: &[u8]) {
    let mut length = field.len();
    while length >= 0x80 {
        record.push(length as u8 | 0x80);
        length >>= 7;
    }
    record.push(length as u8);
    record.extend_from_slice(field);
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
    }
}
