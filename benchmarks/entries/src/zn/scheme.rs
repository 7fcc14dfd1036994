//! BGV of degree two: keys, encryption, products, decryption.

use std::sync::Arc;

use rand_core::RngCore;
use windlass::ring::Ring;
use windlass::ring::kernels::{ntt, rows};
use windlass::ring::sample::{self, Gaussian};
use windlass::rlwe::KeyId;
use zeroize::Zeroizing;

use super::bound::{SIGMA, square_norm_bound};
use super::packing::{expand, pack, unpack, width};
use super::parameters::{DROPPED, KEPT, PLAINTEXT, PLAINTEXT_PRIMES, Parameters, SLOTS};

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

/// The ciphertext primes, in the order of their rows.
const PRIMES: [usize; 2] = [KEPT, DROPPED];

/// Bytes of a fresh ciphertext without its seed: the rows of its first part.
pub fn fresh_bytes(parameters: &Parameters) -> usize {
    SLOTS * (width(parameters.kept()) + width(parameters.dropped()))
}

/// Bytes of a product: three rows modulo the first prime.
pub fn product_bytes(parameters: &Parameters) -> usize {
    3 * SLOTS * width(parameters.kept())
}

/// The uniform half of ciphertext number `stream`: one row for each prime.
fn uniform_half(ring: &Ring, prime: usize, seed: &[u8; 32], stream: u64, row: &mut [u64], scratch: &mut Vec<u8>) {
    expand(ring.modulus(prime), seed, 2 * stream + prime as u64, row, scratch);
}

/// The secret: ternary coefficients, and the values of s and s² modulo both primes.
pub struct SecretKey {
    parameters: Arc<Parameters>,
    id: KeyId,
    coefficients: Zeroizing<Vec<i64>>,
    values: Zeroizing<[Vec<u64>; 2]>,
    square: Zeroizing<Vec<u64>>,
    gaussian: Gaussian,
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl SecretKey {
    /// A fresh key, drawn again until ‖s²‖₂ is within its bound.
    pub fn generate(parameters: &Arc<Parameters>, rng: &mut impl RngCore) -> Self {
        let id = KeyId::generate(rng);
        loop {
            if let Some(key) = Self::from_coefficients(parameters, id, sample::ternary(SLOTS, rng)) {
                return key;
            }
        }
    }

    /// The key with these coefficients; `None` unless there are n of them in {−1, 0, 1} that keep
    /// the bound on ‖s²‖₂.
    pub fn from_coefficients(
        parameters: &Arc<Parameters>,
        id: KeyId,
        coefficients: Zeroizing<Vec<i64>>,
    ) -> Option<Self> {
        if coefficients.len() != SLOTS || coefficients.iter().any(|x| !(-1..=1).contains(x)) {
            return None;
        }
        let ring = parameters.ring();
        let values = Zeroizing::new(PRIMES.map(|prime| {
            let mut row = vec![0; SLOTS];
            ring.evaluate_signed(prime, &coefficients, &mut row);
            row
        }));
        let mut square = Zeroizing::new(vec![0; SLOTS]);
        rows::mul(ring.isa(), parameters.kept(), &mut square, &values[KEPT], &values[KEPT]);
        let mut wide = square.clone();
        ring.plan(KEPT).inverse(&mut wide);
        ntt::wipe_scratch();
        let q = parameters.kept().value();
        let centred = |x: u64| if x > q / 2 { x as f64 - q as f64 } else { x as f64 };
        let norm = wide.iter().map(|&x| centred(x).powi(2)).sum::<f64>().sqrt();
        let gaussian = Gaussian::new(SIGMA);
        let parameters = Arc::clone(parameters);
        (norm <= square_norm_bound(SLOTS)).then_some(Self { parameters, id, coefficients, values, square, gaussian })
    }

    /// The name of the key.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The parameters.
    pub fn parameters(&self) -> &Arc<Parameters> {
        &self.parameters
    }

    /// The coefficients. Secret: wipe every copy.
    pub fn expose_coefficients(&self) -> &[i64] {
        &self.coefficients
    }

    /// Encrypts integers, one in each slot (zeros after the last), modulo plaintext prime number
    /// `index`: (−a·s + m + t·e) packed, a being what `seed` and `stream` give. The prime must not
    /// be used twice with one seed and stream.
    pub fn encrypt(
        &self,
        index: usize,
        integers: &[u64],
        (seed, stream): (&[u8; 32], u64),
        rng: &mut impl RngCore,
        out: &mut [u8],
    ) {
        let (ring, t) = (self.parameters.ring(), self.parameters.plaintext_prime(index));
        let mut message = Zeroizing::new(vec![0; SLOTS]);
        message.iter_mut().zip(integers).for_each(|(slot, &x)| *slot = t.reduce_i64(x as i64));
        ring.plan(PLAINTEXT + index).inverse(&mut message);
        let half = t.value() / 2;
        let phase: Zeroizing<Vec<i64>> = Zeroizing::new(
            message
                .iter()
                .map(|&m| {
                    m as i64 - t.value() as i64 * i64::from(m > half) + t.value() as i64 * self.gaussian.sample(rng)
                })
                .collect(),
        );
        let [mut row, mut uniform] = [(); 2].map(|()| Zeroizing::new(vec![0; SLOTS]));
        let (mut scratch, mut rest) = (Vec::new(), out);
        for prime in PRIMES {
            let q = ring.modulus(prime);
            ring.evaluate_signed(prime, &phase, &mut row);
            uniform_half(ring, prime, seed, stream, &mut uniform, &mut scratch);
            rows::mul_assign(ring.isa(), q, &mut uniform, &self.values[prime]);
            rows::sub_assign(ring.isa(), q, &mut row, &uniform);
            let (now, later) = rest.split_at_mut(SLOTS * width(q));
            pack(q, &row, now);
            rest = later;
        }
    }

    /// The slots of a packed product modulo plaintext prime number `index`. `None` when a residue
    /// is out of range or the phase exceeds its bound: of what was changed on its way, every
    /// coefficient is as good as uniform, and 4096 of them do not stay below the bound.
    pub fn decrypt(&self, index: usize, packed: &[u8]) -> Option<Vec<u64>> {
        let (ring, q) = (self.parameters.ring(), self.parameters.kept());
        let t = self.parameters.plaintext_prime(index);
        let mut parts: [Vec<u64>; 3] = std::array::from_fn(|_| vec![0; SLOTS]);
        for (part, bytes) in parts.iter_mut().zip(packed.chunks_exact(SLOTS * width(q))) {
            if !unpack(q, bytes, part) {
                return None;
            }
        }
        let [first, second, third] = parts;
        let mut phase = Zeroizing::new(first);
        rows::mul_add_assign(ring.isa(), q, &mut phase, &second, &self.values[KEPT]);
        rows::mul_add_assign(ring.isa(), q, &mut phase, &third, &self.square);
        ring.plan(KEPT).inverse(&mut phase);
        // The phase is the product's divided by the second prime.
        let dropped = t.reduce(self.parameters.dropped().value());
        let (bound, mut excess) = (self.parameters.bounds(index).answer() as i64, 0);
        for x in phase.iter_mut() {
            let centred = *x as i64 - q.value() as i64 * i64::from(*x > q.value() / 2);
            excess |= (bound - centred.abs()) >> 63;
            *x = t.mul(t.reduce_i64(centred), dropped);
        }
        ring.plan(PLAINTEXT + index).forward(&mut phase);
        ntt::wipe_scratch();
        (excess == 0).then(|| std::mem::take(&mut *phase))
    }
}

/// −t/d modulo the prime that is kept, t plaintext prime number `index`, d the dropped prime.
fn quotient(parameters: &Parameters, index: usize) -> u64 {
    let (q, t) = (parameters.kept(), parameters.plaintext_prime(index).value());
    q.mul(q.neg(q.reduce(t)), q.inv(q.reduce(parameters.dropped().value())))
}

/// Multiplies ciphertexts, with memory of its own.
#[derive(Debug)]
pub struct Multiplier {
    parameters: Arc<Parameters>,
    /// Both parts of both factors modulo one prime.
    factors: [Row; 4],
    /// The three parts of the product modulo the prime that is kept, and the one that is dropped.
    kept: [Row; 3],
    dropped: [Row; 3],
    /// The values of ((d − 1)/2)·(1 + X + .. + X^{n−1}) modulo the dropped prime d, and those of
    /// what it becomes in a product for each plaintext prime.
    half: Row,
    offsets: [Row; PLAINTEXT_PRIMES],
    scratch: Vec<u8>,
}

impl Multiplier {
    /// Memory for one product.
    pub fn new(parameters: &Arc<Parameters>) -> Self {
        let row = |_| Row::new();
        let ring = parameters.ring();
        let halves = vec![(parameters.dropped().value() / 2) as i64; SLOTS];
        let (mut half, mut offsets) = (Row::new(), std::array::from_fn(row));
        ring.evaluate_signed(DROPPED, &halves, half.get_mut());
        for (index, offset) in offsets.iter_mut().enumerate() {
            ring.evaluate_signed(KEPT, &halves, offset.get_mut());
            let factor = parameters.kept().neg(quotient(parameters, index));
            rows::mul_scalar_assign(ring.isa(), parameters.kept(), offset.get_mut(), factor);
        }
        Self {
            half,
            offsets,
            parameters: Arc::clone(parameters),
            factors: std::array::from_fn(row),
            kept: std::array::from_fn(row),
            dropped: std::array::from_fn(row),
            scratch: Vec::new(),
        }
    }

    /// The packed product of two packed ciphertexts modulo plaintext prime number `index`, with the
    /// second prime dropped. False when a residue is out of range.
    ///
    /// Everything is divided by t at first, so that what a part has to lose to be divisible by the
    /// dropped prime d is t times its centred residue u: part' = (part − t·u)/d = (u −
    /// part/t)·(−t/d). With h = (d − 1)/2, the residue of u + h is not negative, so that it is the
    /// same number modulo both primes; h is added before and taken away after, among the values.
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
        let parameters = Arc::clone(&self.parameters);
        let (ring, t) = (parameters.ring(), parameters.plaintext_prime(index).value());
        let (q, d) = (parameters.kept(), parameters.dropped());
        if !PRIMES.iter().all(|&prime| self.tensor(prime, t, packed, seeds, stream)) {
            return false;
        }
        let (factor, isa) = (quotient(&parameters, index), ring.isa());
        let outs = out.chunks_exact_mut(SLOTS * width(q));
        for ((kept, dropped), out) in self.kept.iter().zip(&mut self.dropped).zip(outs) {
            let row = dropped.get_mut();
            rows::add_assign(isa, d, row, self.half.get());
            ring.plan(DROPPED).inverse(row);
            ring.plan(KEPT).forward(row);
            rows::sub_mul_scalar_add_assign(isa, q, row, kept.get(), factor, self.offsets[index].get());
            pack(q, row, out);
        }
        true
    }

    /// The three parts of the product modulo one prime, divided by t.
    fn tensor(&mut self, prime: usize, t: u64, packed: [&[u8]; 2], seeds: [&[u8; 32]; 2], stream: u64) -> bool {
        let ring = self.parameters.ring();
        let q = ring.modulus(prime);
        let start = if prime == KEPT { 0 } else { SLOTS * width(self.parameters.kept()) };
        let [a, a_uniform, b, b_uniform] = self.factors.each_mut().map(Row::get_mut);
        let sides = [(&mut *a, &mut *a_uniform), (&mut *b, &mut *b_uniform)];
        for ((first, uniform), (bytes, seed)) in sides.into_iter().zip(packed.into_iter().zip(seeds)) {
            if !unpack(q, &bytes[start..][..SLOTS * width(q)], first) {
                return false;
            }
            uniform_half(ring, prime, seed, stream, uniform, &mut self.scratch);
        }
        let out = if prime == KEPT { &mut self.kept } else { &mut self.dropped };
        let out = out.each_mut().map(Row::get_mut);
        rows::tensor(ring.isa(), q, out, [a, a_uniform], [b, b_uniform], q.inv(q.reduce(t)));
        true
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::*;

    fn product(key: &SecretKey, index: usize, sides: [&[u64]; 2], rng: &mut ChaCha20Rng) -> Vec<u8> {
        let parameters = key.parameters();
        let seeds = [[1; 32], [2; 32]];
        let mut packed = [(); 2].map(|()| vec![0; fresh_bytes(parameters)]);
        for ((integers, seed), out) in sides.iter().zip(&seeds).zip(&mut packed) {
            key.encrypt(index, integers, (seed, 5), rng, out);
        }
        let mut out = vec![0; product_bytes(parameters)];
        let [a, b] = &packed;
        assert!(Multiplier::new(parameters).multiply(index, [a, b], seeds.each_ref(), 5, &mut out));
        out
    }

    #[test]
    fn products_are_right_modulo_every_prime() {
        let mut rng = ChaCha20Rng::from_seed([14; 32]);
        let parameters = Arc::new(Parameters::new().unwrap());
        let key = SecretKey::generate(&parameters, &mut rng);
        let [a, b] = [(); 2].map(|()| (0..SLOTS).map(|_| rng.next_u64()).collect::<Vec<u64>>());
        for index in 0..PLAINTEXT_PRIMES {
            let slots = key.decrypt(index, &product(&key, index, [&a, &b], &mut rng)).unwrap();
            let t = i128::from(parameters.plaintext_prime(index).value());
            let wanted =
                a.iter().zip(&b).map(|(&a, &b)| (i128::from(a as i64) * i128::from(b as i64)).rem_euclid(t) as u64);
            assert!(slots.into_iter().eq(wanted), "prime number {index}");
        }
    }

    /// The stated bound holds, and is no wild guess.
    #[test]
    fn phases_keep_within_their_bound_and_come_near() {
        let mut rng = ChaCha20Rng::from_seed([15; 32]);
        let parameters = Arc::new(Parameters::new().unwrap());
        let key = SecretKey::generate(&parameters, &mut rng);
        let integers: Vec<u64> = (0..SLOTS).map(|_| rng.next_u64()).collect();
        let packed = product(&key, 0, [&integers, &integers], &mut rng);
        let (ring, q) = (parameters.ring(), parameters.kept());
        let mut parts = packed.chunks_exact(SLOTS * width(q)).map(|bytes| {
            let mut row = vec![0; SLOTS];
            assert!(unpack(q, bytes, &mut row));
            row
        });
        let [mut phase, second, third] = std::array::from_fn(|_| parts.next().unwrap());
        rows::mul_add_assign(ring.isa(), q, &mut phase, &second, &key.values[KEPT]);
        rows::mul_add_assign(ring.isa(), q, &mut phase, &third, &key.square);
        ring.plan(KEPT).inverse(&mut phase);
        let largest = phase.iter().map(|&x| x.min(q.value() - x)).max().unwrap() as f64;
        let bound = parameters.bounds(0).answer();
        assert!(largest <= bound && largest >= bound / 8.0, "{largest} against {bound}");
    }

    #[test]
    fn what_was_changed_is_not_decrypted() {
        let mut rng = ChaCha20Rng::from_seed([16; 32]);
        let parameters = Arc::new(Parameters::new().unwrap());
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
