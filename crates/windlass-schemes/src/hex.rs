//! Bytes in hexadecimal.

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first bytes of two names in hexadecimal: `least` of them, or as many as it takes until they
/// differ.
pub fn prefixes(found: &[u8], expected: &[u8], least: usize) -> [String; 2] {
    let same = found.iter().zip(expected).take_while(|(a, b)| a == b).count();
    [found, expected].map(|name| hex(&name[..least.max(same + 1).min(name.len())]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_differ() {
        let expected = [7; 32];
        for place in 0..32 {
            let mut found = expected;
            found[place] ^= 1;
            let [a, b] = prefixes(&found, &expected, 6);
            assert!(a != b && a.len() == b.len() && a.len() == 2 * (place + 1).max(6), "{a} and {b}");
            assert!(hex(&found).starts_with(&a) && hex(&expected).starts_with(&b));
        }
    }
}
