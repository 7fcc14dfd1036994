//! How often a Chinese-remainder sum wraps around its modulus.

/// `out[j] = round(Σ_i x_i[j] * inverse_i)` for values below 2^50, in plain IEEE arithmetic (product, then sum, in order), so
/// that every machine gives the same bits. The sum must be below 2^20; its error is below 2^-30 for at most 64 terms.
pub fn rounded_sum(out: &mut [u64], terms: &[(&[u64], f64)]) {
    const BLOCK: usize = 64;
    /// 2^52: adding it puts the integer part into the low mantissa bits, rounded to nearest.
    const SHIFT: f64 = 4_503_599_627_370_496.0;
    let mut sums = [0f64; BLOCK];
    for (block, out) in out.chunks_mut(BLOCK).enumerate() {
        let sums = &mut sums[..out.len()];
        sums.fill(0.0);
        for &(x, inverse) in terms {
            let x = &x[block * BLOCK..][..out.len()];
            for (sum, &x) in sums.iter_mut().zip(x) {
                debug_assert!(x < 1 << 50);
                // x + 2^52 as a double has x in its mantissa: an exact conversion without a conversion instruction.
                *sum += (f64::from_bits(x | SHIFT.to_bits()) - SHIFT) * inverse;
            }
        }
        for (out, &sum) in out.iter_mut().zip(&*sums) {
            *out = (sum + SHIFT).to_bits() ^ SHIFT.to_bits();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_like_exact_rationals() {
        let moduli = [(1u64 << 50) - 27, (1 << 49) - 81, (1 << 30) - 35];
        let rows: Vec<Vec<u64>> =
            moduli.iter().map(|&q| (0..200u64).map(|j| (j * j * 0x9e37_79b9_7f4a) % q).collect()).collect();
        let terms: Vec<_> = rows.iter().zip(moduli).map(|(row, q)| (&row[..], 1.0 / q as f64)).collect();
        let mut out = vec![0; 200];
        rounded_sum(&mut out, &terms);
        for j in 0..200 {
            // Fixed point with 60 fractional bits.
            let exact: u128 = rows.iter().zip(moduli).map(|(row, q)| ((row[j] as u128) << 60) / q as u128).sum();
            let rounded = (exact + (1 << 59)) >> 60;
            assert_eq!(out[j] as u128, rounded, "column {j}");
        }
    }
}
