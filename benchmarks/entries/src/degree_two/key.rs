//! The client: keys, encryption, decryption.

use std::sync::Arc;

use rand_core::RngCore;
use windlass::ring::kernels::{ntt, rows};
use windlass::ring::sample::{self, Gaussian};
use windlass::rlwe::KeyId;
use zeroize::Zeroizing;

use super::bound::{SIGMA, square_norm_bound};
use super::packing::{pack, uniform_half, unpack, width};
use super::parameters::{KEPT, PRIMES, Parameters, SLOTS};

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
        integers: &[i64],
        (seed, stream): (&[u8; 32], u64),
        rng: &mut impl RngCore,
        out: &mut [u8],
    ) {
        let (ring, t) = (self.parameters.ring(), self.parameters.plaintext_prime(index));
        let mut message = Zeroizing::new(vec![0; SLOTS]);
        message.iter_mut().zip(integers).for_each(|(slot, &x)| *slot = t.reduce_i64(x));
        ring.plan(self.parameters.plaintext_row(index)).inverse(&mut message);
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
            uniform_half(ring, prime, (seed, stream), &mut uniform, &mut scratch);
            rows::mul_assign(ring.isa(), q, &mut uniform, &self.values[prime]);
            rows::sub_assign(ring.isa(), q, &mut row, &uniform);
            let (now, later) = rest.split_at_mut(SLOTS * width(q));
            pack(q, &row, now);
            rest = later;
        }
    }

    /// The phase of a packed answer, modulo the prime that is kept; `None` when a residue is out of
    /// range. Secret: it is a decryption.
    pub(crate) fn phase(&self, packed: &[u8]) -> Option<Zeroizing<Vec<u64>>> {
        let (ring, q) = (self.parameters.ring(), self.parameters.kept());
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
        Some(phase)
    }

    /// The slots of a packed answer modulo plaintext prime number `index`. `None` when a residue is
    /// out of range or the phase exceeds its bound. That finds accidents: where single residues
    /// changed, or under another key, every coefficient is as good as uniform, and 4096 of them do
    /// not stay below the bound. It does not authenticate: a party that adds a small polynomial to
    /// the first part adds it to the phase, and changes the slots unnoticed.
    pub fn decrypt(&self, index: usize, packed: &[u8]) -> Option<Vec<u64>> {
        let (ring, q) = (self.parameters.ring(), self.parameters.kept());
        let t = self.parameters.plaintext_prime(index);
        let mut phase = self.phase(packed)?;
        // The phase is the result's divided by the second prime.
        let dropped = t.reduce(self.parameters.dropped().value());
        let (bound, mut excess) = (self.parameters.bounds(index).answer() as i64, 0);
        for x in phase.iter_mut() {
            let centred = *x as i64 - q.value() as i64 * i64::from(*x > q.value() / 2);
            excess |= (bound - centred.abs()) >> 63;
            *x = t.mul(t.reduce_i64(centred), dropped);
        }
        ring.plan(self.parameters.plaintext_row(index)).forward(&mut phase);
        ntt::wipe_scratch();
        (excess == 0).then(|| std::mem::take(&mut *phase))
    }
}
