//! Bytes as coefficients modulo 2^b, lowest bits first, centred.

/// Coefficients that `bytes` bytes take.
pub fn coefficients_of(bytes: usize, bits: u32) -> usize {
    (8 * bytes).div_ceil(bits as usize)
}

/// Writes bytes into coefficients of `bits` bits each; coefficients beyond the last byte are zero.
pub fn pack(bytes: &[u8], bits: u32, out: &mut [i64]) {
    debug_assert!(coefficients_of(bytes.len(), bits) <= out.len());
    let (mut held, mut count) = (0u64, 0);
    let mut bytes = bytes.iter();
    for coefficient in out {
        while count < bits {
            held |= u64::from(bytes.next().copied().unwrap_or(0)) << count;
            count += 8;
        }
        *coefficient = centred(held & ((1 << bits) - 1), bits);
        held >>= bits;
        count -= bits;
    }
}

/// A residue modulo 2^bits in [−2^{bits−1}, 2^{bits−1}).
pub fn centred(x: u64, bits: u32) -> i64 {
    let shift = 64 - bits;
    ((x << shift) as i64) >> shift
}

/// The first `count` bytes of what [`pack`] wrote; bits beyond must be zero.
pub fn unpack(coefficients: &[i64], bits: u32, count: usize) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(count);
    let (mut held, mut filled) = (0u64, 0);
    for &coefficient in coefficients {
        held |= (coefficient as u64 & ((1 << bits) - 1)) << filled;
        filled += bits;
        while filled >= 8 && out.len() < count {
            out.push(held as u8);
            held >>= 8;
            filled -= 8;
        }
        if out.len() == count {
            if held != 0 {
                return None;
            }
            filled = 0;
        }
    }
    (out.len() == count).then_some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..200), bits in 1u32..=24, more in 0usize..5) {
            let mut coefficients = vec![7; coefficients_of(bytes.len(), bits) + more];
            pack(&bytes, bits, &mut coefficients);
            let half = 1i64 << (bits - 1);
            prop_assert!(coefficients.iter().all(|&x| -half <= x && x < half));
            prop_assert_eq!(unpack(&coefficients, bits, bytes.len()), Some(bytes));
        }
    }

    #[test]
    fn what_was_not_packed_is_refused() {
        assert_eq!(unpack(&[1], 9, 1), Some(vec![1]));
        assert_eq!(unpack(&[centred(0x101, 9)], 9, 1), None, "a bit beyond the end");
        assert_eq!(unpack(&[1, 1], 8, 1), None);
        assert_eq!(unpack(&[1], 8, 2), None, "too few");
    }
}
