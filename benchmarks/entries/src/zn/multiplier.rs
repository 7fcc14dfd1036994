//! Products of ciphertexts.

use std::sync::Arc;

use windlass::ring::kernels::rows;

use crate::degree_two::packing::{uniform_half, unpack, width};
use crate::degree_two::{DROPPED, Division, KEPT, PRIMES, Parameters, SLOTS};

/// A row of residues that begins where vectors do.
#[derive(Debug, Clone)]
struct Row {
    words: Vec<u64>,
    start: usize,
}

impl Row {
    fn new() -> Self {
        let words = vec![0u64; SLOTS + 7];
        // The distance to the next multiple of 64 bytes; 0, which is only slower, if it is unknown.
        let start = words.as_ptr().align_offset(64);
        Self { words, start: if start < 8 { start } else { 0 } }
    }

    fn get(&self) -> &[u64] {
        &self.words[self.start..][..SLOTS]
    }

    fn get_mut(&mut self) -> &mut [u64] {
        &mut self.words[self.start..][..SLOTS]
    }
}

/// Multiplies ciphertexts, with memory of its own.
#[derive(Debug)]
pub struct Multiplier {
    parameters: Arc<Parameters>,
    division: Arc<Division>,
    /// Both parts of both factors modulo one prime.
    factors: [Row; 4],
    /// The three parts of the product modulo each prime.
    products: [[Row; 3]; 2],
    scratch: Vec<u8>,
}

impl Multiplier {
    /// Memory for one product.
    pub fn new(parameters: &Arc<Parameters>, division: &Arc<Division>) -> Self {
        Self {
            parameters: Arc::clone(parameters),
            division: Arc::clone(division),
            factors: std::array::from_fn(|_| Row::new()),
            products: std::array::from_fn(|_| std::array::from_fn(|_| Row::new())),
            scratch: Vec::new(),
        }
    }

    /// The packed product of two packed ciphertexts modulo plaintext prime number `index`, with the
    /// second prime dropped. False when a residue is out of range.
    ///
    /// Cost: three transforms modulo each prime, four products a slot and prime.
    pub fn multiply(
        &mut self,
        index: usize,
        packed: [&[u8]; 2],
        seeds: [&[u8; 32]; 2],
        stream: u64,
        out: &mut [u8],
    ) -> bool {
        if !PRIMES.iter().all(|&prime| self.tensor(prime, index, packed, seeds, stream)) {
            return false;
        }
        let [kept, dropped] = &mut self.products;
        let outs = out.chunks_exact_mut(SLOTS * width(self.parameters.kept()));
        for ((kept, dropped), out) in kept.iter().zip(dropped).zip(outs) {
            self.division.apply(index, kept.get(), dropped.get_mut(), out);
        }
        true
    }

    /// The three parts of the product modulo one prime, divided by t.
    fn tensor(&mut self, prime: usize, index: usize, packed: [&[u8]; 2], seeds: [&[u8; 32]; 2], stream: u64) -> bool {
        let ring = self.parameters.ring();
        let q = ring.modulus(prime);
        let start = if prime == KEPT { 0 } else { SLOTS * width(self.parameters.kept()) };
        debug_assert!(prime == KEPT || prime == DROPPED);
        let [a, a_uniform, b, b_uniform] = self.factors.each_mut().map(Row::get_mut);
        let sides = [(&mut *a, &mut *a_uniform), (&mut *b, &mut *b_uniform)];
        for ((first, uniform), (bytes, seed)) in sides.into_iter().zip(packed.into_iter().zip(seeds)) {
            if !unpack(q, &bytes[start..][..SLOTS * width(q)], first) {
                return false;
            }
            uniform_half(ring, prime, (seed, stream), uniform, &mut self.scratch);
        }
        let out = self.products[prime].each_mut().map(Row::get_mut);
        rows::tensor(ring.isa(), q, out, [a, a_uniform], [b, b_uniform], self.division.before(index, prime));
        true
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::{RngCore, SeedableRng};

    use super::*;
    use crate::degree_two::SecretKey;
    use crate::degree_two::packing::pack;
    use crate::zn::parameters::{PLAINTEXT_PRIMES, parameters};

    fn product(key: &SecretKey, index: usize, sides: [&[i64]; 2], rng: &mut ChaCha20Rng) -> Vec<u8> {
        let parameters = key.parameters();
        let seeds = [[1; 32], [2; 32]];
        let mut packed = [(); 2].map(|()| vec![0; parameters.fresh_bytes()]);
        for ((integers, seed), out) in sides.iter().zip(&seeds).zip(&mut packed) {
            key.encrypt(index, integers, (seed, 5), rng, out);
        }
        let mut out = vec![0; parameters.answer_bytes()];
        let [a, b] = &packed;
        assert!(Multiplier::new(parameters, &Arc::new(Division::new(parameters))).multiply(
            index,
            [a, b],
            seeds.each_ref(),
            5,
            &mut out
        ));
        out
    }

    #[test]
    fn products_are_right_modulo_every_prime() {
        let mut rng = ChaCha20Rng::from_seed([14; 32]);
        let parameters = parameters().unwrap();
        let key = SecretKey::generate(&parameters, &mut rng);
        let [a, b] = [(); 2].map(|()| (0..SLOTS).map(|_| rng.next_u64() as i64).collect::<Vec<i64>>());
        for index in 0..PLAINTEXT_PRIMES {
            let slots = key.decrypt(index, &product(&key, index, [&a, &b], &mut rng)).unwrap();
            let t = i128::from(parameters.plaintext_prime(index).value());
            let wanted = a.iter().zip(&b).map(|(&a, &b)| (i128::from(a) * i128::from(b)).rem_euclid(t) as u64);
            assert!(slots.into_iter().eq(wanted), "prime number {index}");
        }
    }

    /// The stated bound holds, and is no wild guess.
    #[test]
    fn phases_keep_within_their_bound_and_come_near() {
        let mut rng = ChaCha20Rng::from_seed([15; 32]);
        let parameters = parameters().unwrap();
        let key = SecretKey::generate(&parameters, &mut rng);
        let integers: Vec<i64> = (0..SLOTS).map(|_| rng.next_u64() as i64).collect();
        let packed = product(&key, 0, [&integers, &integers], &mut rng);
        let (phase, q) = (key.phase(&packed).unwrap(), parameters.kept());
        let largest = phase.iter().map(|&x| x.min(q.value() - x)).max().unwrap() as f64;
        let bound = parameters.bounds(0).answer();
        assert!(largest <= bound && largest >= bound / 8.0, "{largest} against {bound}");
    }

    /// The limit of what decryption notices: 1 in all values is the constant 1 in the phase.
    #[test]
    fn a_small_polynomial_in_the_first_part_changes_slots_unnoticed() {
        let mut rng = ChaCha20Rng::from_seed([17; 32]);
        let parameters = parameters().unwrap();
        let (key, q) = (SecretKey::generate(&parameters, &mut rng), parameters.kept());
        let mut packed = product(&key, 1, [&[3], &[5]], &mut rng);
        let mut first = vec![0; SLOTS];
        assert!(unpack(q, &packed[..SLOTS * width(q)], &mut first));
        first.iter_mut().for_each(|x| *x = q.add(*x, 1));
        pack(q, &first, &mut packed[..SLOTS * width(q)]);
        assert_ne!(key.decrypt(1, &packed).unwrap()[0], 15);
    }

    #[test]
    fn what_was_changed_by_accident_is_not_decrypted() {
        let mut rng = ChaCha20Rng::from_seed([16; 32]);
        let parameters = parameters().unwrap();
        let [key, other] = [(); 2].map(|()| SecretKey::generate(&parameters, &mut rng));
        let packed = product(&key, 1, [&[3], &[5]], &mut rng);
        assert_eq!(key.decrypt(1, &packed).unwrap()[0], 15);
        assert!(other.decrypt(1, &packed).is_none());
        for position in [0, 70_000] {
            let mut changed = packed.clone();
            changed[position] ^= 1;
            assert!(key.decrypt(1, &changed).is_none(), "byte {position}");
        }
        let mut out_of_range = packed.clone();
        out_of_range[..6].fill(0xff);
        assert!(key.decrypt(1, &out_of_range).is_none());
    }
}
