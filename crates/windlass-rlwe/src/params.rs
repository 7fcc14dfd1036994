//! Validated parameters: a ring, a chain of primes, special primes, a secret distribution, and
//! their security.

mod sizes;

use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use windlass_ring::gadget::Gadget;
use windlass_ring::kernels::modulus::find_primes;
use windlass_ring::kernels::{Modulus, Shape};

use crate::error::RlweError;
use crate::levels::{Levels, log2_largest, log2_product};
use crate::limits::{Limits, OutOfRange};
use crate::security;
use crate::special::Special;

pub use crate::security::{SecretDistribution, SecurityEstimate};
pub use sizes::KeySizes;

/// What the caller vouches for about a set's security.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Assurance {
    /// At least 128 bits by the tables: anything less is refused.
    Secure,
    /// For tests and toys: any security, under a name that says so.
    Insecure {
        /// The name of the set.
        name: String,
    },
    /// The parameters of a published paper, with any security.
    Paper {
        /// The name of the set.
        name: String,
    },
}

/// Everything that determines a parameter set; [`RlweParams::new`] validates it.
#[derive(Debug, Clone, PartialEq)]
pub struct RlweSpec {
    /// The cyclotomic index m.
    pub m: u64,
    /// Size in bits of each prime of the ciphertext modulus Q, in the order of the chain (the last
    /// is dropped first).
    pub q_prime_bits: Vec<u32>,
    /// Size in bits of each spare prime of Q, at most [`RlweParams::MAX_SPARE`]: a level has any of
    /// them beside a part of the chain ([`Levels`]).
    pub spare_prime_bits: Vec<u32>,
    /// Size in bits of each prime of the special modulus P.
    pub special_prime_bits: Vec<u32>,
    /// Number of groups that the primes of Q are cut into for key switching; with spare primes it
    /// may become less.
    pub digits: usize,
    /// Distribution of the secret key.
    pub secret: SecretDistribution,
    /// What is vouched for.
    pub assurance: Assurance,
}

/// A SHA-256 hash over everything that keys and ciphertexts must agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ParamsId(pub [u8; 32]);

impl fmt::Display for ParamsId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A validated parameter set of the RLWE layer; plaintext moduli and schemes come on top.
///
/// The ciphertext modulus at level l is the l-th smallest of [`Self::levels`]; keys live modulo
/// `Q·P`.
#[derive(Debug, Clone)]
pub struct RlweParams {
    shape: Arc<Shape>,
    q_primes: Vec<Modulus>,
    special_primes: Vec<Modulus>,
    levels: Arc<Levels>,
    special: Arc<Special>,
    spare: usize,
    gadget: Gadget,
    secret: SecretDistribution,
    security: SecurityEstimate,
    assurance: Assurance,
    id: ParamsId,
}

impl RlweParams {
    /// The standard deviation of the error.
    pub const SIGMA: f64 = 3.2;
    /// Security in bits below which a set must be called insecure by name.
    pub const REQUIRED_SECURITY: f64 = 128.0;
    /// Limit on the number of primes of Q and P together.
    pub const MAX_PRIMES: usize = 128;
    /// Limit on the number of spare primes.
    pub const MAX_SPARE: usize = 3;
    /// Limit on the number of parties that hold a key together.
    pub const MAX_PARTIES: u32 = 256;
    /// Supported sizes of primes in bits.
    pub const PRIME_BITS: std::ops::RangeInclusive<u32> = 25..=50;

    /// Chooses the primes (the largest of each size that are 1 modulo [`Shape::root_order`], all
    /// distinct) and checks the set.
    ///
    /// # Errors
    /// [`RlweError::Kernel`] for an unsupported m or too few primes of a size;
    /// [`RlweError::OutOfRange`] for counts and sizes; [`RlweError::SpecialModulusTooSmall`] if P
    /// is below a digit; [`RlweError::SecurityOutOfRange`] or [`RlweError::Insecure`] if 128 bits
    /// are vouched for but not reached.
    pub fn new(spec: &RlweSpec) -> Result<Self, RlweError> {
        Self::with_digits(spec, false)
    }

    /// As [`Self::new`], with digits of about as many bits instead of as many primes: for chains
    /// whose primes have different sizes. No spare primes.
    ///
    /// # Errors
    /// As there.
    pub fn with_digits_by_size(spec: &RlweSpec) -> Result<Self, RlweError> {
        Limits::at_most(0).check("the number of spare primes", spec.spare_prime_bits.len())?;
        Self::with_digits(spec, true)
    }

    fn with_digits(spec: &RlweSpec, by_size: bool) -> Result<Self, RlweError> {
        let shape = Arc::new(Shape::new(spec.m)?);
        check_counts(spec, shape.n())?;
        let mut taken = Vec::new();
        // The special primes get the largest of each size, so that P exceeds digits of the same
        // sizes.
        let special_primes = choose_primes(shape.root_order(), &spec.special_prime_bits, &mut taken)?;
        let spare = spec.spare_prime_bits.len();
        let q_prime_bits = [&spec.spare_prime_bits[..], &spec.q_prime_bits].concat();
        let q_primes = choose_primes(shape.root_order(), &q_prime_bits, &mut taken)?;
        let gadget = if by_size {
            let bits: Vec<f64> = q_primes.iter().map(|q| (q.value() as f64).log2()).collect();
            Gadget::by_size(&bits, spec.digits)
        } else {
            Gadget::with_spare(q_primes.len(), spec.digits, spare)
        };
        Self::checked(shape, [q_primes, special_primes], spare, (gadget, by_size), (spec.secret, &spec.assurance))
    }

    /// The set of these primes of Q, `spare` spare ones first, and of P, if it is secure and P exceeds
    /// every digit.
    pub(crate) fn checked(
        shape: Arc<Shape>,
        [q_primes, special_primes]: [Vec<Modulus>; 2],
        spare: usize,
        (gadget, by_size): (Gadget, bool),
        (secret, assurance): (SecretDistribution, &Assurance),
    ) -> Result<Self, RlweError> {
        let log2_digit = log2_largest(&q_primes, gadget.groups());
        let log2_p = log2_product(&special_primes);
        if log2_p < log2_digit {
            let digits = gadget.groups().len();
            return Err(RlweError::SpecialModulusTooSmall { log2_p, log2_digit, digits });
        }
        let security = check_security(shape.n(), log2_product(&q_primes) + log2_p, (secret, assurance))?;
        let id = identify(&shape, (&q_primes, spare), &special_primes, (&gadget, by_size), secret);
        let levels = Levels::new(&q_primes, spare);
        let special = Arc::new(Special::new(&special_primes, &q_primes, &gadget, &levels));
        let (levels, assurance) = (Arc::new(levels), assurance.clone());
        Ok(Self { shape, q_primes, special_primes, levels, special, spare, gadget, secret, security, assurance, id })
    }

    /// The cyclotomic index m.
    pub fn m(&self) -> u64 {
        self.shape.m()
    }

    /// The ring dimension n = φ(m).
    pub fn n(&self) -> usize {
        self.shape.n()
    }

    /// The tensor shape of the ring.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// The primes of Q: the spare ones, then those of the chain, whose last is dropped first.
    pub fn q_primes(&self) -> &[Modulus] {
        &self.q_primes
    }

    /// How many of [`Self::q_primes`] are spare.
    pub fn spare(&self) -> usize {
        self.spare
    }

    /// The moduli of ciphertexts.
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    pub(crate) fn shared_levels(&self) -> Arc<Levels> {
        Arc::clone(&self.levels)
    }

    /// The primes of P.
    pub fn special_primes(&self) -> &[Modulus] {
        &self.special_primes
    }

    /// How many of [`Self::special_primes`], the first, a key switch at a level takes: all at the
    /// top, below it as many as exceed its largest digit by 16 bits, or by what P exceeds the
    /// largest of all by.
    ///
    /// # Panics
    /// For a level that is not one of [`Self::levels`], as [`Self::log2_q`] does.
    pub fn special_at(&self, level: usize) -> usize {
        self.special.count(level)
    }

    pub(crate) fn shared_special(&self) -> Arc<Special> {
        Arc::clone(&self.special)
    }

    /// The primes of Q, then those of P: the order of a ring built from this set.
    pub fn all_primes(&self) -> Vec<Modulus> {
        self.q_primes.iter().chain(&self.special_primes).copied().collect()
    }

    /// Refuses a plaintext prime that is a prime of Q or P, modulo which it has no inverse.
    ///
    /// # Errors
    /// [`OutOfRange`].
    pub fn check_plaintext_prime(&self, p: u64) -> Result<(), OutOfRange> {
        if self.q_primes.iter().chain(&self.special_primes).any(|q| q.value() == p) {
            let limits = Limits::only("different from every prime of Q and P");
            return Err(limits.refuse("plaintext prime p", p));
        }
        Ok(())
    }

    /// The highest level: that of a fresh ciphertext, with all primes of Q.
    pub fn top_level(&self) -> usize {
        self.levels.top()
    }

    /// The groups of primes of Q that make up the digits of a key switch.
    pub fn gadget(&self) -> &Gadget {
        &self.gadget
    }

    /// The number of digits of a key switch at the top level.
    pub fn digits(&self) -> usize {
        self.gadget.groups().len()
    }

    /// The distribution of the secret key.
    pub fn secret(&self) -> SecretDistribution {
        self.secret
    }

    /// The standard deviation of the error, 3.2.
    pub fn sigma(&self) -> f64 {
        Self::SIGMA
    }

    /// λ of the modulus QP, with its source.
    pub fn security(&self) -> SecurityEstimate {
        self.security
    }

    /// What was vouched for.
    pub fn assurance(&self) -> &Assurance {
        &self.assurance
    }

    /// log2 of the modulus of a level.
    ///
    /// # Panics
    /// For a level that is not one of [`Self::levels`].
    pub fn log2_q(&self, level: usize) -> f64 {
        self.levels.log2(level)
    }

    /// log2 P.
    pub fn log2_p(&self) -> f64 {
        log2_product(&self.special_primes)
    }

    /// log2 of the product P_l of the special primes that a key switch at a level takes.
    ///
    /// # Panics
    /// As [`Self::special_at`].
    pub fn log2_p_at(&self, level: usize) -> f64 {
        self.special.log2(level)
    }

    /// log2(QP): what the security depends on.
    pub fn log2_qp(&self) -> f64 {
        self.log2_q(self.top_level()) + self.log2_p()
    }

    /// The hash that files are checked against.
    pub fn id(&self) -> ParamsId {
        self.id
    }

    /// Sizes of keys and ciphertexts.
    pub fn key_sizes(&self) -> KeySizes {
        KeySizes::new(self.n(), &self.q_primes, &self.special_primes, self.digits())
    }
}

fn check_counts(spec: &RlweSpec, n: usize) -> Result<(), OutOfRange> {
    let (chain, spare, special) = (spec.q_prime_bits.len(), spec.spare_prime_bits.len(), spec.special_prime_bits.len());
    Limits::between(0, RlweParams::MAX_SPARE).check("the number of spare primes", spare)?;
    let most = RlweParams::MAX_PRIMES - spare;
    Limits::between(1, most - 1).check("the number of special primes", special)?;
    let primes = Limits::between(1, most - special).with("with the spare and the special ones at most 128");
    primes.check("the number of primes of Q", chain)?;
    Limits::between(1, chain + spare).with("one for each prime at most").check("the number of digits", spec.digits)?;
    let size = Limits::between(*RlweParams::PRIME_BITS.start(), *RlweParams::PRIME_BITS.end());
    let sizes = [
        ("the size of a prime of Q in bits", &spec.q_prime_bits),
        ("the size of a spare prime in bits", &spec.spare_prime_bits),
        ("the size of a special prime in bits", &spec.special_prime_bits),
    ];
    for (what, list) in sizes {
        list.iter().try_for_each(|&bits| size.check(what, bits))?;
    }
    check_weight(spec.secret, n)
}

pub(crate) fn check_weight(secret: SecretDistribution, n: usize) -> Result<(), OutOfRange> {
    match secret {
        SecretDistribution::Sparse { weight } => Limits::between(1, n).check("the weight of the sparse secret", weight),
        SecretDistribution::Collective { parties } => {
            Limits::between(2, RlweParams::MAX_PARTIES).check("the number of parties", parties)
        }
        SecretDistribution::Ternary => Ok(()),
    }
}

/// One prime for each wanted size, none of them in `taken`, which grows by them.
fn choose_primes(order: u64, sizes: &[u32], taken: &mut Vec<u64>) -> Result<Vec<Modulus>, RlweError> {
    let mut chosen = vec![None; sizes.len()];
    let mut distinct: Vec<u32> = sizes.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    for bits in distinct {
        let wanted = sizes.iter().filter(|&&size| size == bits).count();
        let mut found = find_primes(order, bits, wanted, taken)?.into_iter();
        for (slot, _) in chosen.iter_mut().zip(sizes).filter(|(_, size)| **size == bits) {
            let prime: Option<Modulus> = found.next();
            taken.extend(prime.map(Modulus::value));
            *slot = prime;
        }
    }
    Ok(chosen.into_iter().flatten().collect())
}

fn check_security(
    n: usize,
    log2_qp: f64,
    (secret, assurance): (SecretDistribution, &Assurance),
) -> Result<SecurityEstimate, RlweError> {
    match assurance {
        Assurance::Secure => {}
        Assurance::Insecure { name } if !name.starts_with("insecure") => {
            return Err(RlweError::MisleadingName { name: name.clone(), prefix: "insecure" });
        }
        Assurance::Paper { name } if !name.starts_with("paper") => {
            return Err(RlweError::MisleadingName { name: name.clone(), prefix: "paper" });
        }
        _ => return Ok(security::indicative_security_bits(n, log2_qp, secret)),
    }
    let estimate = security::security_bits(n, log2_qp, secret)?;
    let required = RlweParams::REQUIRED_SECURITY;
    if estimate.bits < required {
        let max_log2_qp = security::max_log2_qp(n, required, secret).unwrap_or(0.0);
        return Err(RlweError::Insecure { bits: estimate.bits, required, n, log2_qp, max_log2_qp });
    }
    Ok(estimate)
}

/// The hash that names a parameter set. A set without spare primes keeps the hash that it had before spare
/// primes existed, so its files stay readable.
fn identify(
    shape: &Shape,
    (q, spare): (&[Modulus], usize),
    p: &[Modulus],
    (gadget, by_size): (&Gadget, bool),
    secret: SecretDistribution,
) -> ParamsId {
    let (kind, weight) = match secret {
        SecretDistribution::Ternary => (0, 0),
        SecretDistribution::Sparse { weight } => (1, weight as u64),
        SecretDistribution::Collective { parties } => (2, u64::from(parties)),
    };
    let mut words = vec![shape.m(), gadget.groups().len() as u64, kind, weight, RlweParams::SIGMA.to_bits()];
    for primes in [q, p] {
        words.push(primes.len() as u64);
        words.extend(primes.iter().map(|prime| prime.value()));
    }
    if spare > 0 {
        words.push(spare as u64);
    }
    if by_size {
        words.extend(gadget.groups().iter().map(|group| group.len() as u64));
    }
    let mut hash = Sha256::new();
    hash.update(b"windlass rlwe parameters 1\n");
    words.iter().for_each(|word| hash.update(word.to_le_bytes()));
    ParamsId(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> RlweSpec {
        RlweSpec {
            m: 16384,
            q_prime_bits: vec![40, 32, 40],
            spare_prime_bits: Vec::new(),
            special_prime_bits: vec![50, 31],
            digits: 2,
            secret: SecretDistribution::Ternary,
            assurance: Assurance::Secure,
        }
    }

    #[test]
    fn a_secure_set_is_built_as_specified() {
        let params = RlweParams::new(&RlweSpec { q_prime_bits: vec![40, 32, 40], ..spec() }).unwrap();
        assert_eq!((params.m(), params.n(), params.top_level(), params.digits()), (16384, 8192, 3, 2));
        let bits: Vec<u32> = params.all_primes().iter().map(|q| q.bits()).collect();
        assert_eq!(bits, [40, 32, 40, 50, 31]);
        assert!(params.all_primes().iter().all(|q| q.value() % 16384 == 1));
        assert!(params.security().bits >= 128.0 && params.log2_qp() < 193.0);
    }

    #[test]
    fn insecure_sets_need_a_name() {
        let mut wide = RlweSpec { q_prime_bits: vec![50; 4], special_prime_bits: vec![50; 2], ..spec() };
        match RlweParams::new(&wide) {
            Err(RlweError::Insecure { bits, max_log2_qp, .. }) => {
                assert!(bits > 80.0 && bits < 100.0, "{bits}");
                assert_eq!(max_log2_qp, 214.0);
            }
            other => panic!("{other:?}"),
        }
        wide.assurance = Assurance::Insecure { name: "insecure_test".into() };
        assert!(RlweParams::new(&wide).unwrap().security().bits < 100.0);
        let toy = RlweSpec { m: 105, ..spec() };
        assert!(matches!(RlweParams::new(&toy), Err(RlweError::SecurityOutOfRange { n: 48, .. })));
        let toy = RlweSpec { assurance: wide.assurance.clone(), ..toy };
        assert!(RlweParams::new(&toy).unwrap().security().bits < 10.0);
    }

    #[test]
    fn primes_are_distinct_and_too_few_are_reported() {
        let many = RlweSpec { q_prime_bits: vec![30; 12], special_prime_bits: vec![30; 6], ..spec() };
        let many = RlweSpec { assurance: Assurance::Insecure { name: "insecure_test".into() }, ..many };
        let params = RlweParams::new(&many).unwrap();
        let mut values: Vec<u64> = params.all_primes().iter().map(|q| q.value()).collect();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), 18);
        let none =
            RlweSpec { m: 1 << 18, q_prime_bits: vec![25; 90], special_prime_bits: vec![50; 30], digits: 30, ..many };
        assert!(matches!(RlweParams::new(&none), Err(RlweError::Kernel(_))));
    }

    #[test]
    fn malformed_specifications_are_refused() {
        let refuse = |spec: RlweSpec| RlweParams::new(&spec).unwrap_err();
        let sparse = |weight| RlweSpec { secret: SecretDistribution::Sparse { weight }, ..spec() };
        let collective = |parties| RlweSpec { secret: SecretDistribution::Collective { parties }, ..spec() };
        assert!(matches!(refuse(RlweSpec { m: 10, ..spec() }), RlweError::Kernel(_)));
        for (what, spec) in [
            ("the number of primes of Q", RlweSpec { q_prime_bits: vec![], ..spec() }),
            ("the number of primes of Q", RlweSpec { q_prime_bits: vec![40; 127], ..spec() }),
            ("the number of special primes", RlweSpec { special_prime_bits: vec![], ..spec() }),
            ("the number of special primes", RlweSpec { special_prime_bits: vec![50; 128], ..spec() }),
            ("the number of spare primes", RlweSpec { spare_prime_bits: vec![30; 4], ..spec() }),
            ("the size of a prime of Q in bits", RlweSpec { q_prime_bits: vec![51], digits: 1, ..spec() }),
            ("the size of a prime of Q in bits", RlweSpec { q_prime_bits: vec![24], digits: 1, ..spec() }),
            ("the size of a spare prime in bits", RlweSpec { spare_prime_bits: vec![24], ..spec() }),
            ("the size of a special prime in bits", RlweSpec { special_prime_bits: vec![51], ..spec() }),
            ("the number of digits", RlweSpec { digits: 0, ..spec() }),
            ("the number of digits", RlweSpec { digits: 4, ..spec() }),
            ("the weight of the sparse secret", sparse(0)),
            ("the weight of the sparse secret", sparse(9000)),
            ("the number of parties", collective(1)),
            ("the number of parties", collective(257)),
        ] {
            let RlweError::OutOfRange(refused) = refuse(spec) else { panic!("{what}") };
            assert_eq!(refused.what, what);
        }
        let narrow = RlweSpec { special_prime_bits: vec![50], ..spec() };
        assert!(matches!(refuse(narrow), RlweError::SpecialModulusTooSmall { digits: 2, .. }));
    }

    #[test]
    fn the_hash_depends_on_what_keys_depend_on() {
        let base = RlweSpec { q_prime_bits: vec![40, 32, 40], special_prime_bits: vec![50, 32], ..spec() };
        let id = |spec: &RlweSpec| RlweParams::new(spec).unwrap().id();
        assert_eq!(id(&base), id(&base.clone()));
        let named = RlweSpec { assurance: Assurance::Paper { name: "paper_test".into() }, ..base.clone() };
        assert_eq!(id(&base), id(&named));
        for other in [
            RlweSpec { digits: 3, ..named.clone() },
            RlweSpec { q_prime_bits: vec![40, 40, 32], ..named.clone() },
            RlweSpec { special_prime_bits: vec![50, 33], ..named.clone() },
            RlweSpec { q_prime_bits: vec![32, 40], spare_prime_bits: vec![40], ..named.clone() },
            RlweSpec { secret: SecretDistribution::Sparse { weight: 100 }, ..named.clone() },
            RlweSpec { secret: SecretDistribution::Collective { parties: 2 }, ..named.clone() },
            RlweSpec { secret: SecretDistribution::Collective { parties: 3 }, ..named.clone() },
            RlweSpec { m: 8192, ..named.clone() },
        ] {
            assert_ne!(id(&base), id(&other), "{other:?}");
        }
        assert_eq!(id(&base).to_string().len(), 64);
    }
}
