//! Generated vectors, and what is near them.

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;

/// What a part may fail with.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Vectors around one centre.
const AROUND: usize = 64;

/// How far from their centre, by how far centres are from each other.
const SPREAD: f32 = 0.7;

/// Vectors in clusters: a centre for every 64 of them, each coordinate the sum of the centre's and
/// of seven tenths of its own, both about normal.
pub fn vectors(count: usize, dimension: usize, seed: u8) -> Vec<f32> {
    let mut all = vec![0.0; count * dimension];
    all.par_chunks_mut(AROUND * dimension).enumerate().for_each(|(cluster, vectors)| {
        let mut key = [seed; 32];
        key[..8].copy_from_slice(&(cluster as u64).to_le_bytes());
        let mut rng = ChaCha20Rng::from_seed(key);
        let centre: Vec<f32> = (0..dimension).map(|_| normal(&mut rng)).collect();
        for vector in vectors.chunks_exact_mut(dimension) {
            vector.iter_mut().zip(&centre).for_each(|(x, c)| *x = c + SPREAD * normal(&mut rng));
        }
    });
    all
}

/// Queries: every so many vectors of a table, moved a little.
pub fn queries(table: &[f32], dimension: usize, count: usize) -> Vec<f32> {
    let mut rng = ChaCha20Rng::from_seed([99; 32]);
    let vectors = table.len() / dimension;
    let chosen = (0..count).flat_map(|k| &table[k * vectors / count * dimension..][..dimension]);
    chosen.map(|x| x + SPREAD * normal(&mut rng)).collect()
}

/// About normal: the sum of twelve bytes' worth of uniform numbers.
fn normal(rng: &mut ChaCha20Rng) -> f32 {
    let mut bytes = [0; 12];
    rng.fill_bytes(&mut bytes);
    bytes.iter().map(|&byte| f32::from(byte) / 255.0 - 0.5).sum()
}

/// The numbers of the k vectors of largest cosine, in double precision; of equal ones the first.
pub fn nearest(table: &[f32], dimension: usize, query: &[f32], k: usize) -> Vec<usize> {
    let double = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
    let query = double(query);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let cosine = |x: &[f32]| {
        let x = double(x);
        dot(&x, &query) / dot(&x, &x).sqrt()
    };
    let cosines: Vec<f64> = table.par_chunks_exact(dimension).map(cosine).collect();
    let mut order: Vec<usize> = (0..cosines.len()).collect();
    let by_cosine = |a: &usize, b: &usize| cosines[*b].total_cmp(&cosines[*a]).then(a.cmp(b));
    order.select_nth_unstable_by(k, by_cosine);
    order.truncate(k);
    order.sort_unstable_by(by_cosine);
    order
}

/// How many of those that were to be found were found.
pub fn hits(wanted: &[usize], found: impl Iterator<Item = usize>) -> usize {
    found.filter(|index| wanted.contains(index)).count()
}
