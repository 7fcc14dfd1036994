//! Neighbouring vectors of a row, and fetching those that come next.

use crate::lanes::{LANES, fetch};

/// How many words ahead rows are fetched: half a page, since the processor's own fetching starts
/// again on every page.
const AHEAD: usize = 256;

/// Fetches what W vectors will read `AHEAD` words later.
#[inline(always)]
pub(crate) fn fetch_ahead<const W: usize>(row: &[u64], start: usize) {
    if start + AHEAD + W * LANES <= row.len() {
        let next = vectors::<W>(row, start + AHEAD);
        for w in 0..W {
            fetch::near(&next[w]);
        }
    }
}

/// W vectors from `start`.
#[inline(always)]
pub(super) fn vectors<const W: usize>(row: &[u64], start: usize) -> &[[u64; LANES]; W] {
    let (vectors, _) = row[start..start + W * LANES].as_chunks::<LANES>();
    vectors.first_chunk().expect("W vectors")
}

/// The last vector of a row whose length is no multiple of eight, padded with zeros.
#[inline(always)]
pub(super) fn ragged(row: &[u64], start: usize) -> [[u64; LANES]; 1] {
    let mut padded = [0; LANES];
    let rest = &row[start..];
    padded[..rest.len()].copy_from_slice(rest);
    [padded]
}
