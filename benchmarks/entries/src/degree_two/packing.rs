//! Residues in whole bytes, and uniform residues from a seed.

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::ring::Ring;
use windlass::ring::kernels::Modulus;

/// Bytes of a residue.
pub fn width(q: Modulus) -> usize {
    q.bits().div_ceil(8) as usize
}

/// Writes residues, each in the bytes of its width, little-endian.
pub fn pack(q: Modulus, row: &[u64], out: &mut [u8]) {
    let width = width(q);
    match width {
        6 => pack_in_six(row, out),
        _ => row.iter().zip(out.chunks_exact_mut(width)).for_each(|(x, out)| {
            out.copy_from_slice(&x.to_le_bytes()[..width]);
        }),
    }
}

/// Four residues of 48 bits are three words.
fn pack_in_six(row: &[u64], out: &mut [u8]) {
    for (x, out) in row.as_chunks::<4>().0.iter().zip(out.as_chunks_mut::<24>().0) {
        let words = [x[0] | x[1] << 48, x[1] >> 16 | x[2] << 32, x[2] >> 32 | x[3] << 16];
        for (word, out) in words.iter().zip(out.as_chunks_mut::<8>().0) {
            *out = word.to_le_bytes();
        }
    }
}

/// Reads packed residues; false when one of them is not below q.
pub fn unpack(q: Modulus, bytes: &[u8], row: &mut [u64]) -> bool {
    split(width(q), bytes, row);
    below(q, row)
}

/// Reads words of so many bytes.
fn split(width: usize, bytes: &[u8], row: &mut [u64]) {
    match width {
        6 => split_in_six(bytes, row),
        4 => {
            for (x, bytes) in row.iter_mut().zip(bytes.as_chunks::<4>().0) {
                *x = u64::from(u32::from_le_bytes(*bytes));
            }
        }
        _ => row.iter_mut().zip(bytes.chunks_exact(width)).for_each(|(x, bytes)| {
            let mut word = [0; 8];
            word[..width].copy_from_slice(bytes);
            *x = u64::from_le_bytes(word);
        }),
    }
}

/// What [`pack_in_six`] writes.
fn split_in_six(bytes: &[u8], row: &mut [u64]) {
    const MASK: u64 = (1 << 48) - 1;
    for (x, bytes) in row.as_chunks_mut::<4>().0.iter_mut().zip(bytes.as_chunks::<24>().0) {
        let words = bytes.as_chunks::<8>().0;
        let [a, b, c] = [0, 1, 2].map(|k: usize| u64::from_le_bytes(words[k]));
        *x = [a & MASK, (a >> 48 | b << 16) & MASK, (b >> 32 | c << 32) & MASK, c >> 16];
    }
}

/// Whether all words, which have fewer than 63 bits, are below q: without a branch that would keep
/// the loop from being taken in vectors.
fn below(q: Modulus, row: &[u64]) -> bool {
    row.iter().fold(0, |excess, &x| excess | (q.value() - 1).wrapping_sub(x)) >> 63 == 0
}

/// Uniform residues modulo q, determined by seed and stream: whole bytes of the stream are masked
/// to the bits of q and taken where they are below q. For a prime right below a power of 256 hardly
/// any is refused. Public randomness: variable time.
pub fn expand(q: Modulus, seed: &[u8; 32], stream: u64, row: &mut [u64], scratch: &mut Vec<u8>) {
    let (width, mut filled) = (width(q), 0);
    let mask = u64::MAX >> (64 - q.bits());
    let mask_needed = q.bits() as usize != 8 * width;
    let mut rng = ChaCha20Rng::from_seed(*seed);
    rng.set_stream(stream);
    while filled < row.len() {
        let wanted = row.len() - filled;
        scratch.resize(wanted * width, 0);
        rng.fill_bytes(scratch);
        let (rest, mut taken) = (&mut row[filled..], 0);
        split(width, scratch, rest);
        if mask_needed {
            rest.iter_mut().for_each(|x| *x &= mask);
        }
        if below(q, rest) {
            return;
        }
        for j in 0..wanted {
            rest[taken] = rest[j];
            taken += usize::from(rest[j] < q.value());
        }
        filled += taken;
    }
}

/// The uniform half of ciphertext number `stream` modulo one ciphertext prime.
pub fn uniform_half(
    ring: &Ring,
    prime: usize,
    (seed, stream): (&[u8; 32], u64),
    row: &mut [u64],
    scratch: &mut Vec<u8>,
) {
    expand(ring.modulus(prime), seed, 2 * stream + prime as u64, row, scratch);
}

#[cfg(test)]
mod tests {
    use windlass::ring::kernels::modulus::find_primes;

    use super::*;

    #[test]
    fn rows_come_back_and_excess_is_seen() {
        for bits in [32, 40, 48] {
            let q = find_primes(8192, bits, 1, &[]).unwrap()[0];
            let row: Vec<u64> = (0..100u64).map(|x| x.wrapping_mul(0x9e37_79b9_7f4a_7c15) % q.value()).collect();
            let mut bytes = vec![0; row.len() * width(q)];
            pack(q, &row, &mut bytes);
            let mut back = vec![0; row.len()];
            assert!(unpack(q, &bytes, &mut back));
            assert_eq!(back, row);
            for (value, fits) in [(q.value() - 1, true), (q.value(), false)] {
                bytes[7 * width(q)..8 * width(q)].copy_from_slice(&value.to_le_bytes()[..width(q)]);
                assert_eq!(unpack(q, &bytes, &mut back), fits);
            }
        }
    }

    #[test]
    fn uniform_rows_depend_on_seed_and_stream_and_fill_the_range() {
        let mut scratch = Vec::new();
        for bits in [32, 48, 46] {
            let q = find_primes(8192, bits, 1, &[]).unwrap()[0];
            let mut row = |seed, stream| {
                let mut row = vec![0; 4096];
                expand(q, &[seed; 32], stream, &mut row, &mut scratch);
                row
            };
            let [a, b, c, d] = [row(1, 2), row(1, 2), row(2, 2), row(1, 3)];
            assert!(a == b && a != c && a != d);
            let mean = a.iter().map(|&x| x as f64 / q.value() as f64).sum::<f64>() / 4096.0;
            assert!((mean - 0.5).abs() < 0.03, "{mean}");
            assert!(a.iter().all(|&x| x < q.value()));
        }
    }
}
