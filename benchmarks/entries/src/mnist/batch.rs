//! Thousands of pictures: a ciphertext for each pixel, a slot for each picture.
//!
//! 4096 pictures make a chunk of 576 ciphertexts. The first product is 64 sums of ciphertexts with
//! small public weights, the second 10 sums of squares; no key is needed in between, and what comes
//! back is ciphertexts of degree two ([`crate::degree_two`]).

use std::sync::Arc;

use rayon::prelude::*;
use windlass::ring::kernels::modulus::find_primes;
use windlass::ring::kernels::{Modulus, arith, rows};

use super::model::{CLASSES, INPUTS, Model};
use super::weights::Weights;
use crate::degree_two::bound::error_norm;
use crate::degree_two::packing::{uniform_half, unpack, width};
use crate::degree_two::{DROPPED, Division, KEPT, PRIMES, Parameters, SLOTS, Spec};
use crate::error::{EntryError, Result};

/// Bits of both ciphertext primes.
const BITS: u32 = 48;

/// The plaintext prime is the least one from here on: scores stay below half of it.
const LEAST: u64 = 9 << 25;

/// n = 4096, Q of 48 + 48 bits, one plaintext prime of 29 bits.
///
/// # Errors
/// [`EntryError::Wraps`] where the score of a picture could exceed half of the plaintext prime;
/// those of [`Parameters::new`].
pub fn parameters(model: &Model) -> Result<Arc<Parameters>> {
    let step = 2 * SLOTS as u64;
    let primes = find_primes(step, BITS, 2, &[])?;
    let t = (LEAST..).find(|&t| t % step == 1 && arith::is_prime(t)).expect("there are such primes");
    EntryError::check_carried("scores", model.largest_score(), t)?;
    let spec = Spec {
        primes: [primes[0], primes[1]],
        plaintext: vec![Modulus::new(t)?],
        results: vec![result_bound(model, SLOTS, t)],
    };
    Parameters::new(&spec).map(Arc::new)
}

/// The largest coefficient of a score's phase Σ_h v_h·P_h² and a bias, where P_h = Σ_p w_p·(m_p +
/// t·e_p) and a bias is the phase of a hidden unit.
///
/// A coefficient of P² is at most ‖P‖₂². Messages add at most Σ|w_p|·t·√n/2 to ‖P‖₂, errors t times
/// the norm of a Gaussian whose deviation is ‖w‖₂ times that of one error.
fn result_bound(model: &Model, n: usize, t: u64) -> f64 {
    let (root, t) = ((n as f64).sqrt(), t as f64);
    let norm = |(weights, bias): (&Vec<i64>, &i64)| {
        let sum: f64 = weights.iter().map(|w| w.abs() as f64).sum();
        let square: f64 = weights.iter().map(|w| (w * w) as f64).sum();
        sum * t * root / 2.0 + t * square.sqrt() * error_norm(n) + bias.abs() as f64
    };
    let hidden: Vec<f64> = model.first.iter().zip(&model.first_bias).map(norm).collect();
    let score = |weights: &Vec<i64>| weights.iter().zip(&hidden).map(|(v, norm)| v.abs() as f64 * norm * norm).sum();
    let largest = model.second.iter().map(score).fold(0.0, f64::max);
    largest + model.second_bias.iter().map(|bias| bias.abs() as f64).fold(0.0, f64::max)
}

/// The number of an input's ciphertext among those that share a seed.
pub fn stream(chunk: usize, input: usize) -> u64 {
    (chunk * INPUTS + input) as u64
}

/// Bytes of a chunk on its way up, and down.
pub fn chunk_bytes(parameters: &Parameters) -> [usize; 2] {
    [INPUTS * parameters.fresh_bytes(), CLASSES * parameters.answer_bytes()]
}

/// One row of each of so many ciphertexts.
type Rows = Vec<Vec<u64>>;

/// Computes scores.
#[derive(Debug)]
pub struct Scorer {
    parameters: Arc<Parameters>,
    model: Model,
    weights: Weights,
    division: Division,
}

impl Scorer {
    /// With the trained network.
    pub fn new(parameters: &Arc<Parameters>, model: &Model) -> Self {
        Self {
            weights: Weights::new(&model.first),
            division: Division::new(parameters),
            parameters: Arc::clone(parameters),
            model: model.clone(),
        }
    }

    /// The packed scores of a packed chunk. `None` when a residue is out of range.
    ///
    /// Cost: 2·64·576 additions a slot and prime, 30 transforms modulo each prime.
    pub fn compute(&self, packed: &[u8], seed: &[u8; 32], chunk: usize) -> Option<Vec<u8>> {
        let kept = self.scores(KEPT, packed, seed, chunk)?;
        let dropped = self.scores(DROPPED, packed, seed, chunk)?;
        let bytes = SLOTS * width(self.parameters.kept());
        let mut out = vec![0; kept.len() * bytes];
        let rows: Vec<_> = kept.into_iter().zip(dropped).zip(out.chunks_exact_mut(bytes)).collect();
        rows.into_par_iter().for_each(|((kept, mut dropped), out)| self.division.apply(0, &kept, &mut dropped, out));
        Some(out)
    }

    /// The three parts of each score modulo one prime, divided by t: `[CLASSES · 3][SLOTS]`.
    fn scores(&self, prime: usize, packed: &[u8], seed: &[u8; 32], chunk: usize) -> Option<Rows> {
        let ring = self.parameters.ring();
        let (isa, q) = (ring.isa(), ring.modulus(prime));
        let parts = self.inputs(prime, packed, seed, chunk)?;
        let [first, second] = parts.each_ref().map(|rows| self.weights.apply(q, rows));
        drop(parts);
        let squares: Vec<[Vec<u64>; 3]> = first
            .into_par_iter()
            .zip(second)
            .zip(&self.model.first_bias)
            .map(|((mut first, second), &bias)| {
                // A constant has the same value everywhere.
                let bias = q.reduce_i64(bias);
                first.iter_mut().for_each(|x| *x = q.add(*x, bias));
                let mut square: [Vec<u64>; 3] = std::array::from_fn(|_| vec![0; SLOTS]);
                let out = square.each_mut().map(Vec::as_mut_slice);
                rows::tensor(isa, q, out, [&first, &second], [&first, &second], self.division.before(0, prime));
                square
            })
            .collect();
        let score = |(class, part): (usize, usize)| {
            let weights = self.model.second[class].iter().map(|&weight| q.reduce_i64(weight));
            let terms: Vec<(&[u64], u64)> = squares.iter().map(|square| square[part].as_slice()).zip(weights).collect();
            let mut row = vec![0; SLOTS];
            rows::dot_scalar(isa, q, &mut row, &terms);
            if part == 0 {
                let bias = q.mul(q.reduce_i64(self.model.second_bias[class]), self.division.before(0, prime));
                row.iter_mut().for_each(|x| *x = q.add(*x, bias));
            }
            row
        };
        let places: Vec<(usize, usize)> =
            (0..CLASSES).flat_map(|class| (0..3).map(move |part| (class, part))).collect();
        Some(places.into_par_iter().map(score).collect())
    }

    /// Both parts of all inputs modulo one prime: `[2][INPUTS][SLOTS]`.
    fn inputs(&self, prime: usize, packed: &[u8], seed: &[u8; 32], chunk: usize) -> Option<[Rows; 2]> {
        let ring = self.parameters.ring();
        let q = ring.modulus(prime);
        let start = if prime == PRIMES[0] { 0 } else { SLOTS * width(self.parameters.kept()) };
        let row = |(input, packed): (usize, &[u8])| {
            let (mut first, mut uniform) = (vec![0; SLOTS], vec![0; SLOTS]);
            let fits = unpack(q, &packed[start..][..SLOTS * width(q)], &mut first);
            uniform_half(ring, prime, (seed, stream(chunk, input)), &mut uniform, &mut Vec::new());
            fits.then_some((first, uniform))
        };
        let bytes = self.parameters.fresh_bytes();
        let rows: Option<(Rows, Rows)> = packed.par_chunks_exact(bytes).enumerate().map(row).collect();
        rows.map(|(first, uniform)| [first, uniform])
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::{RngCore, SeedableRng};

    use super::*;
    use crate::degree_two::SecretKey;

    #[test]
    fn scores_are_those_in_the_clear() {
        let mut rng = ChaCha20Rng::from_seed([21; 32]);
        let model = Model::bundled().unwrap();
        let parameters = parameters(&model).unwrap();
        assert!(parameters.security().bits >= 128.0);
        let key = SecretKey::generate(&parameters, &mut rng);
        let pictures: Vec<Vec<i64>> =
            (0..40).map(|_| (0..INPUTS).map(|_| i64::from(rng.next_u32() % 4)).collect()).collect();
        let [up, _] = chunk_bytes(&parameters);
        let (mut packed, seed) = (vec![0; up], [9; 32]);
        for (input, out) in packed.chunks_exact_mut(parameters.fresh_bytes()).enumerate() {
            let slots: Vec<i64> = pictures.iter().map(|picture| picture[input]).collect();
            key.encrypt(0, &slots, (&seed, stream(3, input)), &mut rng, out);
        }
        let scores = Scorer::new(&parameters, &model).compute(&packed, &seed, 3).unwrap();
        let t = parameters.plaintext_prime(0);
        let slots: Vec<Vec<u64>> =
            scores.chunks_exact(parameters.answer_bytes()).map(|packed| key.decrypt(0, packed).unwrap()).collect();
        for (slot, picture) in pictures.iter().enumerate() {
            let wanted = model.scores(picture).map(|score| t.reduce_i64(score));
            assert!(slots.iter().map(|class| class[slot]).eq(wanted), "picture {slot}");
        }
        packed[..6].fill(0xff);
        assert!(Scorer::new(&parameters, &model).compute(&packed, &seed, 3).is_none());
    }
}
