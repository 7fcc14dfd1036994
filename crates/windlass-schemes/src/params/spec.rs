//! The specification of a parameter set.

use windlass_ring::RingError;
use windlass_ring::kernels::{Shape, arith};
use windlass_ring::slots::PrimePower;
use windlass_rlwe::{Limits, RlweParams};

use crate::error::{Error, Result};
use crate::schemes::Scheme;

/// The largest λ that an estimate gives, in bits.
const MOST_SECURITY: f64 = 256.0;

/// The largest ring dimension of the security tables.
const MOST_COEFFICIENTS: u64 = 1 << 17;

/// What a parameter set must be able to do.
#[derive(Debug, Clone, PartialEq)]
pub struct ParamSpec {
    /// The scheme.
    pub scheme: Scheme,
    /// The plaintext prime p.
    pub p: u64,
    /// The exponent r of the plaintext modulus p^r.
    pub r: u32,
    /// At least this many slots.
    pub slots: usize,
    /// The cyclotomic index, if a particular one is required.
    pub m: Option<u64>,
    /// Multiplications of ciphertexts in sequence.
    pub depth: u32,
    /// Products with plaintexts (linear maps) in sequence, before or after the multiplications.
    pub linear_maps: u32,
    /// Bits of capacity that must be left after them.
    pub capacity: f64,
    /// Bits of security, from 128 to 256.
    pub security: f64,
    /// The maximum size of one switching key in memory, in bytes.
    pub max_switching_key_bytes: Option<u64>,
    /// How many parties hold the key together; 1 for a key of one party. The set then has room for decryptions with
    /// the noise of [`crate::schemes::Publication::default`].
    pub parties: u32,
}

impl Default for ParamSpec {
    /// BGV with p = 65537, any number of slots, one multiplication, 128 bits.
    fn default() -> Self {
        Self {
            scheme: Scheme::Bgv,
            p: 65537,
            r: 1,
            slots: 1,
            m: None,
            depth: 1,
            linear_maps: 0,
            capacity: 0.0,
            security: 128.0,
            max_switching_key_bytes: None,
            parties: 1,
        }
    }
}

impl ParamSpec {
    /// The default with the smallest prime p ≥ 2^bits for which every power-of-two ring up to m =
    /// 2^17 has slots of degree 1 (p ≡ 1 mod 2^17). Up to 16 bits p = 65537, which has them up to m
    /// = 2^16.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] above 44 bits.
    pub fn with_plaintext_bits(bits: u32) -> Result<Self> {
        let limits = Limits::at_most(44).with("so represent larger integers by several plaintext moduli");
        limits.check("plaintext bits", bits)?;
        if bits <= 16 {
            return Ok(Self::default());
        }
        let first = ((1u64 << bits) - 1).next_multiple_of(1 << 17) + 1;
        let p = (first..1 << 45).step_by(1 << 17).find(|&p| arith::is_prime(p));
        p.map(|p| Self { p, ..Self::default() })
            .ok_or(Error::NoParameters { reason: format!("no prime of {bits} bits") })
    }
}

impl ParamSpec {
    /// Refuses what no set can have.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Ring`] as of [`super::Params::plan`].
    #[doc(hidden)]
    pub fn check(&self) -> Result<()> {
        let secure = Limits::at_least(RlweParams::REQUIRED_SECURITY);
        secure
            .with("since smaller security exists only in presets named insecure or paper")
            .check("security", self.security)?;
        Limits::at_most(MOST_SECURITY).with("the most that any estimate claims").check("security", self.security)?;
        if !self.security.is_finite() {
            return Err(Limits::only("a finite number of bits").refuse("security", self.security).into());
        }
        if !arith::is_prime(self.p) {
            return Err(Limits::only("a prime").refuse("plaintext prime p", self.p).into());
        }
        PrimePower::new(self.p, self.r)?;
        Limits::between(1, RlweParams::MAX_PARTIES).check("the number of parties", self.parties)?;
        if !self.capacity.is_finite() {
            return Err(Limits::only("a finite number of bits").refuse("capacity", self.capacity).into());
        }
        if let Some(m) = self.m.filter(|&m| m < 3 || m % self.p == 0) {
            return Err(Limits::at_least(3).with("and not divisible by p").refuse("cyclotomic index m", m).into());
        }
        // The ring layer says what is wrong with an index, and what to take instead.
        self.m.map(Shape::new).transpose().map_err(RingError::from)?;
        match self.too_many_slots() {
            Some(reason) => Err(Error::NoParameters { reason }),
            None => Ok(()),
        }
    }

    /// Why no ring of the tables has as many slots, by a bound that takes no search.
    ///
    /// A slot degree of d means p^d = 1 modulo m, hence φ(m) < p^d: there are at most min(p^d − 1, 2^17)/d slots.
    fn too_many_slots(&self) -> Option<String> {
        let most_of_degree = |d: u32| {
            self.p.checked_pow(d).map_or(MOST_COEFFICIENTS, |power| (power - 1).min(MOST_COEFFICIENTS)) / u64::from(d)
        };
        let most = (1..=17).map(most_of_degree).max().unwrap_or(0);
        (self.slots as u64 > most).then(|| {
            let (p, wanted) = (self.p, self.slots);
            let prime = if wanted as u64 <= MOST_COEFFICIENTS { " or a prime that is 1 modulo a large power of two (786433)" } else { "" };
            format!("no ring of the security tables has {wanted} slots modulo {p}, and none has more than {most}; ask for fewer slots{prime}")
        })
    }
}
