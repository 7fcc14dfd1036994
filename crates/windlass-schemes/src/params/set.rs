//! A validated parameter set.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use windlass_ring::kernels::{Isa, arith};
use windlass_ring::slots::{Hypercube, SlotRing};
use windlass_rlwe::{Context, KeySizes, Limits, NoiseModel, RlweParams, RlweSpec, SecretDistribution};

use super::ephemeral::Ephemeral;
use crate::error::Result;
use crate::file_sizes::packed_len;
use crate::schemes::{Scheme, products_left};

/// A complete parameter set.
#[derive(Debug, Clone)]
pub struct Params {
    pub(super) name: String,
    pub(super) scheme: Scheme,
    pub(super) p: u64,
    pub(super) r: u32,
    pub(super) generators: Option<Vec<u64>>,
    pub(super) ephemeral: Option<Ephemeral>,
    pub(super) spec: RlweSpec,
    pub(super) rlwe: RlweParams,
    /// The highest level of ciphertexts.
    pub(super) top: usize,
}

/// Refuses an exponent of 0, and a modulus p^r that the plaintext ring does not take.
#[doc(hidden)]
pub fn check_plaintext_modulus(p: u64, r: u32) -> Result<()> {
    Limits::at_least(1).check("exponent r of the plaintext modulus", r)?;
    let bits = (p as f64).log2() * f64::from(r);
    if bits >= 45.0 {
        let shown = (10.0 * bits).round() / 10.0;
        return Err(Limits::only("below 45").refuse("log2 of the plaintext modulus p^r", shown).into());
    }
    Ok(())
}

impl Params {
    /// A set from its parts. The hypercube generators are found automatically unless given.
    ///
    /// # Errors
    /// [`crate::Error::Rlwe`] as [`RlweParams::new`]; [`crate::Error::OutOfRange`] if p is not
    /// prime, divides m or is a prime of Q or P, if r is 0, or if p^r is not below 2^45;
    /// [`crate::Error::Ring`] if the generators do not generate the hypercube.
    pub fn new(
        name: &str,
        scheme: Scheme,
        (p, r): (u64, u32),
        generators: Option<Vec<u64>>,
        spec: RlweSpec,
    ) -> Result<Self> {
        // No ring has m = 0; that is the ring's to refuse.
        if !arith::is_prime(p) || (spec.m > 0 && spec.m % p == 0) {
            return Err(Limits::only("a prime that does not divide m").refuse("plaintext prime p", p).into());
        }
        check_plaintext_modulus(p, r)?;
        let rlwe = RlweParams::new(&spec)?;
        rlwe.check_plaintext_prime(p)?;
        if let Some(generators) = &generators {
            Hypercube::with_generators(spec.m, p, generators)?;
        }
        let top = rlwe.top_level();
        Ok(Self { name: name.into(), scheme, p, r, generators, ephemeral: None, spec, rlwe, top })
    }

    /// A set whose chain has the levels of a refresh above those of ciphertexts, the highest of which is
    /// `top`. `rlwe` is made of `spec`. p may be 2 in a ring whose m is a power of two: that plaintext ring has
    /// no slots ([`SlotRing::of_coefficients`]).
    #[doc(hidden)]
    pub fn below_a_refresh(
        (name, scheme): (&str, Scheme),
        (p, r): (u64, u32),
        (spec, rlwe): (RlweSpec, RlweParams),
        top: usize,
    ) -> Self {
        Self { name: name.into(), scheme, p, r, generators: None, ephemeral: None, spec, rlwe, top }
    }

    /// The highest level of ciphertexts: that of fresh ones.
    pub fn top_level(&self) -> usize {
        self.top
    }

    /// The same set for another scheme.
    pub fn with_scheme(self, scheme: Scheme) -> Self {
        Self { scheme, ..self }
    }

    /// The same primes for a key that so many parties hold together. Noise grows faster, since the secret and the
    /// errors of keys are sums: see [`Self::depth`].
    ///
    /// # Errors
    /// [`crate::Error::OutOfRange`] for fewer than 2 parties or more than [`RlweParams::MAX_PARTIES`];
    /// [`crate::Error::Unplannable`] for sets that are made for a refresh through CKKS.
    pub fn with_parties(self, parties: u32) -> Result<Self> {
        if self.top != self.rlwe.top_level() {
            return Err(crate::Error::Unplannable {
                strategy: "a key of several parties".into(),
                reason:
                    "these parameters are made for refreshes through CKKS, whose keys several parties cannot make yet; plan others"
                        .into(),
            });
        }
        let spec = RlweSpec { secret: SecretDistribution::Collective { parties }, ..self.spec };
        let set = Self::new(&self.name, self.scheme, (self.p, self.r), self.generators, spec)?;
        Ok(Self { ephemeral: self.ephemeral, ..set })
    }

    /// The same set with this ephemeral secret for bootstrapping. Contexts of it have their slots
    /// in the order that bootstrapping needs.
    pub fn with_ephemeral(self, ephemeral: Ephemeral) -> Self {
        Self { ephemeral: Some(ephemeral), ..self }
    }

    /// The ephemeral secret, if the set was made for bootstrapping.
    pub fn ephemeral(&self) -> Option<Ephemeral> {
        self.ephemeral
    }

    /// The name of the set.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// BGV or BFV.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The plaintext prime p.
    pub fn p(&self) -> u64 {
        self.p
    }

    /// The exponent r of the plaintext modulus p^r.
    pub fn r(&self) -> u32 {
        self.r
    }

    /// The plaintext modulus p^r.
    pub fn plaintext_modulus(&self) -> u64 {
        self.p.pow(self.r)
    }

    /// The RLWE parameters.
    pub fn rlwe(&self) -> &RlweParams {
        &self.rlwe
    }

    /// What the RLWE parameters were made from.
    pub fn spec(&self) -> &RlweSpec {
        &self.spec
    }

    /// The cyclotomic index m.
    pub fn m(&self) -> u64 {
        self.rlwe.m()
    }

    /// Whether the plaintext ring has slots: p does not divide m.
    fn has_slots(&self) -> bool {
        self.m() % self.p != 0
    }

    /// d: the degree of a slot, the order of p modulo m. A ring without slots counts as one slot of degree n.
    pub fn slot_degree(&self) -> usize {
        if !self.has_slots() {
            return self.rlwe.n();
        }
        arith::multiplicative_order(self.p, self.m()) as usize
    }

    /// ℓ = φ(m)/d: the number of slots.
    pub fn slot_count(&self) -> usize {
        self.rlwe.n() / self.slot_degree()
    }

    /// Builds the plaintext ring with its slots.
    ///
    /// # Errors
    /// [`crate::Error::Ring`] if the ring layer refuses.
    pub fn slot_ring(&self) -> Result<Arc<SlotRing>> {
        self.slot_ring_with_isa(Isa::best())
    }

    /// As [`Self::slot_ring`], on a chosen instruction set.
    ///
    /// # Errors
    /// As there.
    pub fn slot_ring_with_isa(&self, isa: Isa) -> Result<Arc<SlotRing>> {
        if !self.has_slots() {
            return Ok(Arc::new(SlotRing::of_coefficients(self.m(), self.r, isa)?));
        }
        let hypercube = match &self.generators {
            Some(generators) => Hypercube::with_generators(self.m(), self.p, generators)?,
            None => Hypercube::automatic(self.m(), self.p)?,
        };
        Ok(Arc::new(SlotRing::with_hypercube(hypercube, self.r, isa)?))
    }

    /// Builds the transforms of all primes.
    ///
    /// # Errors
    /// [`crate::Error::Rlwe`] if a transform cannot be built.
    pub fn context(&self) -> Result<Arc<Context>> {
        Ok(Context::new(self.rlwe.clone())?)
    }

    /// Sizes of keys and ciphertexts. Ciphertexts are those of [`Self::top_level`].
    pub fn key_sizes(&self) -> KeySizes {
        let all = self.rlwe.key_sizes();
        if self.top == self.rlwe.top_level() {
            return all;
        }
        let (n, callers) = (self.rlwe.n(), &self.rlwe.q_primes()[..self.top]);
        let packed: u64 = callers.iter().map(|q| packed_len(n, q.value()) as u64).sum();
        KeySizes {
            ciphertext_memory: 2 * 8 * (callers.len() * n) as u64,
            ciphertext_disk: 2 * packed,
            fresh_ciphertext_disk: packed + 32,
            ..all
        }
    }

    /// A SHA-256 hash over everything that files must agree on: the RLWE set, scheme, plaintext
    /// modulus and generators.
    pub fn id(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"windlass parameters 1\n");
        hash.update(self.rlwe.id().0);
        hash.update([self.scheme as u8]);
        for word in [self.p, self.r as u64].iter().chain(self.generators.iter().flatten()) {
            hash.update(word.to_le_bytes());
        }
        hash.finalize().into()
    }

    /// The noise model of the plaintext modulus.
    pub fn noise(&self) -> NoiseModel {
        NoiseModel::new(&self.rlwe, self.plaintext_modulus())
    }

    /// Bits of capacity of a fresh public-key encryption.
    pub fn fresh_capacity(&self) -> f64 {
        let noise = self.noise();
        noise.capacity(self.rlwe.log2_q(self.top), noise.fresh_public())
    }

    /// The number of multiplications in sequence that [`crate::schemes::Engine`] can do on a fresh
    /// ciphertext.
    pub fn depth(&self) -> u32 {
        let noise = self.noise();
        products_left(&self.rlwe, &noise, (self.top, noise.fresh_public()), 0.0)
    }

    /// The smallest prime q > p with q ≡ 1 (mod m) and q^r < 2^45. Modulo q every coefficient has a
    /// slot, ℓ = φ(m). `None` if p itself is 1 modulo m, or if there is no such prime.
    ///
    /// Modulo p there are only φ(m)/d slots, where d is the order of p modulo m.
    pub fn filling_prime(&self) -> Option<u64> {
        let (m, p) = (self.m(), self.p);
        if p % m == 1 {
            return None;
        }
        let first = p - p % m + 1;
        let larger = (0..).map(|step| first + step * m).skip_while(|&q| q <= p);
        larger.take_while(|&q| check_plaintext_modulus(q, self.r).is_ok()).find(|&q| arith::is_prime(q))
    }
}
