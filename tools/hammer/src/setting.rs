//! A ring, a chain of primes and a hypercube, at random; all without security, and named so.

use windlass::rlwe::{Assurance, RlweError, RlweSpec, SecretDistribution};
use windlass::{Context, Error, Params, Scheme};

use super::dice::Dice;
use super::judge::Judge;
use super::oracle::{Oracle, gcd};

/// Powers of two, primes, prime powers, products of two and three.
const SMALL: [u64; 30] = [
    8, 16, 32, 7, 11, 13, 17, 31, 9, 25, 27, 49, 12, 15, 20, 21, 24, 28, 33, 35, 36, 40, 45, 48, 56, 60, 63, 75, 84, 51,
];
const LARGE: [u64; 22] =
    [64, 128, 256, 512, 73, 89, 127, 151, 81, 121, 125, 343, 91, 105, 117, 140, 165, 195, 217, 231, 255, 315];

/// Many prime factors, high prime powers, large primes.
const ADVERSARIAL: [u64; 22] =
    [60, 84, 105, 120, 165, 195, 231, 315, 385, 420, 455, 660, 840, 1155, 27, 81, 243, 125, 343, 16, 512, 257];

const PRIMES: [u64; 24] =
    [2, 2, 2, 3, 3, 5, 7, 11, 13, 17, 31, 41, 97, 127, 193, 241, 257, 337, 673, 769, 3329, 4093, 7681, 8191];

/// What a circuit of exact integers runs under.
pub struct Setting {
    pub context: Context,
    pub oracle: Oracle,
    pub p: u64,
    pub r: u32,
}

/// How large the ring of a circuit may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    Tiny,
    Any,
}

impl Setting {
    /// Draws until the parameters can be: what is refused must be refused for a reason of its own.
    pub fn draw(dice: &mut Dice, size: Size, judge: &mut Judge) -> Self {
        loop {
            let params = if dice.is_adversarial() { adversarial(dice) } else { params(dice, size) };
            let params = match params {
                Ok(params) => params,
                Err(Error::Rlwe(RlweError::SpecialModulusTooSmall { .. } | RlweError::Kernel(_)))
                | Err(Error::OutOfRange(_)) => {
                    judge.counts.impossible_sets += 1;
                    continue;
                }
                Err(error) => {
                    judge.refusal(false, format!("parameters: {error}"));
                    continue;
                }
            };
            match Context::from_params(params) {
                Ok(context) => return Self::around(context),
                Err(error) => judge.refusal(false, format!("context: {error}")),
            }
        }
    }

    /// The oracle of a context.
    pub fn around(context: Context) -> Self {
        let ring = context.slot_ring();
        let (p, t) = (ring.prime(), ring.modulus().value());
        let generators: Vec<u64> = ring.hypercube().dimensions().iter().map(|line| line.generator).collect();
        let factor = ring.galois().defining_polynomial();
        let oracle = Oracle::new(ring.m(), (p, t), factor, &generators).expect("a factor of Φ_m and generators");
        let r = ring.modulus().exponent();
        Self { context, oracle, p, r }
    }

    /// In one line.
    pub fn describe(&self) -> String {
        let params = self.context.params();
        let spec = params.spec();
        let sizes: Vec<usize> = self.oracle.lines().iter().map(|line| line.size).collect();
        format!(
            "{} m = {}, p = {}, r = {}, d = {}, dimensions {sizes:?}, Q {:?}, spare {:?}, P {:?}, {} digits, {}",
            params.scheme(),
            params.m(),
            self.p,
            self.r,
            self.oracle.d,
            spec.q_prime_bits,
            spec.spare_prime_bits,
            spec.special_prime_bits,
            spec.digits,
            spec.secret
        )
    }

    /// Bits of noise that a product with something of this ring may cost, generously.
    pub fn product_bits(&self) -> f64 {
        let n = self.context.slot_ring().n() as f64;
        2.0 * (self.oracle.t as f64).log2() + 2.0 * n.log2() + 30.0
    }
}

fn params(dice: &mut Dice, size: Size) -> Result<Params, Error> {
    let m = if size == Size::Any && dice.once_in(4) { dice.pick(&LARGE) } else { dice.pick(&SMALL) };
    let p = loop {
        let p = dice.pick(&PRIMES);
        if m % p != 0 {
            break p;
        }
    };
    // Moduli above 2^24 leave nothing to compute with.
    let most = (1..=3).rev().find(|&r| p.pow(r) < 1 << 24).unwrap_or(1);
    let r = 1 + dice.below(most.into()) as u32;
    let primes = 1 + dice.index(if size == Size::Any { 9 } else { 6 });
    let bits = |dice: &mut Dice| if dice.once_in(4) { dice.within(28, 50) } else { dice.within(44, 50) } as u32;
    let special = 1 + dice.index(3);
    let secret = match dice.below(4) {
        0 => SecretDistribution::Sparse { weight: 1 + dice.below(dimension(m).into()) as u32 },
        1 => SecretDistribution::Collective { parties: 2 + dice.below(4) as u32 },
        _ => SecretDistribution::Ternary,
    };
    let q_prime_bits = (0..primes).map(|_| bits(dice)).collect();
    let generators = dice.once_in(2).then(|| generators(dice, m, p));
    chosen(dice, (m, p, r), (q_prime_bits, special), secret, generators)
}

/// Where bounds are most strained: rings of many axes, the largest powers of p, the shortest secrets
/// and the longest, primes of all sizes.
fn adversarial(dice: &mut Dice) -> Result<Params, Error> {
    let m = dice.pick(&ADVERSARIAL);
    let p = loop {
        let p = dice.pick(&PRIMES);
        if m % p != 0 {
            break p;
        }
    };
    let largest = 1 << dice.pick(&[10, 24, 32, 40]);
    let most = (1..=40).rev().find(|&r| p.checked_pow(r).is_some_and(|t| t < largest)).unwrap_or(1);
    let r = if dice.once_in(3) { 1 } else { most };
    let bits = dice.pick(&[28, 36, 50]);
    let (primes, special) = (2 + dice.index(9), 1 + dice.index(3));
    let secret = match dice.below(5) {
        4 => SecretDistribution::Collective { parties: 2 + dice.below(4) as u32 },
        0 => SecretDistribution::Sparse { weight: 1 },
        1 => SecretDistribution::Sparse { weight: 2 },
        2 => SecretDistribution::Sparse { weight: dimension(m) },
        _ => SecretDistribution::Ternary,
    };
    let q_prime_bits = (0..primes).map(|_| if dice.once_in(4) { 50 } else { bits }).collect();
    let generators = dice.once_in(2).then(|| generators(dice, m, p));
    chosen(dice, (m, p, r), (q_prime_bits, special), secret, generators)
}

/// φ(m).
pub fn dimension(m: u64) -> u32 {
    (1..m).filter(|&x| gcd(x, m) == 1).count() as u32
}

/// A set with either scheme; without generators the library chooses them.
pub fn chosen(
    dice: &mut Dice,
    (m, p, r): (u64, u64, u32),
    (q_prime_bits, special): (Vec<u32>, usize),
    secret: SecretDistribution,
    generators: Option<Vec<u64>>,
) -> Result<Params, Error> {
    let spare = dice.pick(&[0, 0, 1, 2]).min(special);
    let spare_prime_bits: Vec<u32> = (0..spare).map(|_| dice.within(30, 44) as u32).collect();
    let (special_prime_bits, digits) = key_switch(dice, q_prime_bits.len() + spare, special);
    let spec = RlweSpec {
        m,
        q_prime_bits,
        spare_prime_bits,
        special_prime_bits,
        digits,
        secret,
        assurance: Assurance::Insecure { name: "insecure_hammer".into() },
    };
    let scheme = dice.pick(&[Scheme::Bgv, Scheme::Bfv]);
    Params::new("insecure_hammer", scheme, (p, r), generators, spec)
}

/// The special primes and the number of digits: mostly so many of 50 bits, and as few digits as they
/// allow or one more; else one digit, one for each prime or something between them, and with the
/// special primes that takes others of any size, which levels may leave out.
fn key_switch(dice: &mut Dice, primes: usize, special: usize) -> (Vec<u32>, usize) {
    if !dice.once_in(3) {
        return (vec![50; special], (primes.div_ceil(special) + dice.index(2)).min(primes));
    }
    let digits = 1 + dice.index(primes);
    let mut special_prime_bits = vec![50; primes.div_ceil(digits)];
    for _ in 0..dice.index(5) {
        let place = dice.index(special_prime_bits.len() + 1);
        special_prime_bits.insert(place, dice.within(28, 50) as u32);
    }
    (special_prime_bits, digits)
}

/// Random generators of the units modulo m and p, which makes bad dimensions.
fn generators(dice: &mut Dice, m: u64, p: u64) -> Vec<u64> {
    let units: Vec<u64> = (1..m).filter(|&x| gcd(x, m) == 1).collect();
    let mut group = vec![1 % m];
    let mut close = |with: u64| {
        let known = group.clone();
        let mut x = with % m;
        while !known.contains(&x) {
            group.extend(known.iter().map(|y| x * y % m));
            x = x * with % m;
        }
        group.len()
    };
    let mut size = close(p);
    let mut generators = Vec::new();
    while size < units.len() {
        let candidate = dice.pick(&units);
        let larger = close(candidate);
        if larger > size {
            generators.push(candidate);
            size = larger;
        }
    }
    generators
}
