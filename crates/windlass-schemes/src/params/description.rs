//! Describes a parameter set in words and in numbers, before any key exists.

use std::fmt::Write as _;

use serde::Serialize;
use windlass_rlwe::{Assurance, KeySizes};

use super::set::Params;

/// The properties of a parameter set, for serialisation (JSON, for example).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParamsDescription {
    /// The name of the set.
    pub name: String,
    /// BGV or BFV.
    pub scheme: String,
    /// The cyclotomic index m.
    pub m: u64,
    /// The ring dimension n = φ(m).
    pub n: usize,
    /// The plaintext prime p.
    pub p: u64,
    /// The exponent r of the plaintext modulus p^r.
    pub r: u32,
    /// The number of slots ℓ = n/d.
    pub slots: usize,
    /// The degree d of a slot.
    pub slot_degree: usize,
    /// [`Params::filling_prime`]: the next prime modulo which every coefficient has a slot.
    pub filling_prime: Option<u64>,
    /// λ: estimated classical security in bits, a lower estimate.
    pub security_bits: f64,
    /// The source of λ.
    pub security_source: String,
    /// Whether the set claims 128 bits; `false` for sets named insecure or paper.
    pub secure: bool,
    /// The distribution of the secret key, in words.
    pub secret: String,
    /// log2 Q.
    pub log2_q: f64,
    /// log2 P.
    pub log2_p: f64,
    /// Number of levels, that is, of moduli that ciphertexts can have. Without extra primes this is
    /// the number of primes of Q.
    pub levels: usize,
    /// Number of primes of P.
    pub special_primes: usize,
    /// Number of digits of a key switch.
    pub digits: usize,
    /// Bits of capacity of a fresh public-key encryption at each level; the first entry is level 1.
    /// If negative, the ciphertext cannot be decrypted there.
    pub capacity_by_level: Vec<f64>,
    /// Multiplications in sequence.
    pub depth: u32,
    /// −log2 of the probability that a noise bound fails, for each random event.
    pub failure_bits: f64,
    /// Sizes of keys and ciphertexts.
    pub sizes: KeySizes,
}

impl Params {
    /// The numbers of the set.
    pub fn describe(&self) -> ParamsDescription {
        let (rlwe, noise) = (self.rlwe(), self.noise());
        let (top, security) = (self.top_level(), rlwe.security());
        let capacity_at = |level: usize| {
            let (from, to) = (rlwe.log2_q(top), rlwe.log2_q(level));
            let fresh = noise.fresh_public();
            noise.capacity(to, if level == top { fresh } else { noise.modulus_switch(fresh, from, to, 2) })
        };
        ParamsDescription {
            name: self.name().into(),
            scheme: self.scheme().to_string(),
            m: self.m(),
            n: rlwe.n(),
            p: self.p(),
            r: self.r(),
            slots: self.slot_count(),
            slot_degree: self.slot_degree(),
            filling_prime: self.filling_prime(),
            security_bits: security.bits,
            security_source: security.source.to_string(),
            secure: *rlwe.assurance() == Assurance::Secure,
            secret: rlwe.secret().to_string(),
            log2_q: rlwe.log2_q(top),
            log2_p: rlwe.log2_p(),
            levels: top,
            special_primes: rlwe.special_primes().len(),
            digits: rlwe.digits(),
            capacity_by_level: (1..=top).map(capacity_at).collect(),
            depth: self.depth(),
            failure_bits: noise.failure().bits(),
            sizes: self.key_sizes(),
        }
    }

    /// What more slots would take, where m is a power of two and p does not split completely. (With
    /// odd m, slots of some degree are what is meant.)
    fn filling_in_words(&self) -> String {
        let (p, m, n) = (self.p(), self.m(), self.rlwe().n());
        match self.filling_prime().filter(|_| m.is_power_of_two()) {
            Some(next) => format!("; p = {p} is not 1 modulo {m}: the next prime that is, {next}, has {n} slots"),
            None => String::new(),
        }
    }

    /// A page about the set: security and its source, moduli, slots, capacity, and the sizes of
    /// keys.
    pub fn explain(&self) -> String {
        let d = self.describe();
        let assurance = match self.rlwe().assurance() {
            Assurance::Secure => "at least 128 bits".to_string(),
            Assurance::Insecure { name } => format!("INSECURE by name ({name})"),
            Assurance::Paper { name } => format!("published parameters ({name}), not a recommendation"),
        };
        let capacities = capacities_in_words(&d.capacity_by_level);
        let spare = match self.rlwe().spare() {
            0 => String::new(),
            count => format!(" ({count} of them spare: {} levels)", d.levels),
        };
        let primes = format!("{}{spare} and {}; {} digits", self.rlwe().q_primes().len(), d.special_primes, d.digits);
        let rows = [
            ("parameters", d.name),
            ("scheme", d.scheme),
            ("ring", format!("m = {}, phi(m) = {}", d.m, d.n)),
            ("plaintext modulus", format!("{}^{} = {}", d.p, d.r, self.plaintext_modulus())),
            ("slots", format!("{} of degree {}{}", d.slots, d.slot_degree, self.filling_in_words())),
            ("security", format!("{}; {assurance}; {}", self.rlwe().security(), d.secret)),
            ("log2 Q, log2 P", format!("{:.1}, {:.1}", d.log2_q, d.log2_p)),
            ("primes of Q and P", primes),
            (
                "capacity when fresh",
                format!("{:.1} bits, {} multiplications in sequence", self.fresh_capacity(), d.depth),
            ),
            ("capacity by level", format!("{capacities}, from level {} down", d.levels)),
            ("failure probability", format!("at most 2^-{} for each random event", d.failure_bits)),
            (
                "ciphertext",
                format!(
                    "{} bytes on disk, {} fresh from the secret key, {} in memory",
                    d.sizes.ciphertext_disk, d.sizes.fresh_ciphertext_disk, d.sizes.ciphertext_memory
                ),
            ),
            ("public key", format!("{} bytes on disk", d.sizes.public_key_disk)),
            (
                "one switching key",
                format!("{} bytes on disk, {} in memory", d.sizes.switching_key_disk, d.sizes.switching_key_memory),
            ),
        ];
        rows.into_iter().fold(String::new(), |mut out, (key, value)| {
            let _ = writeln!(out, "{key:<22}{value}");
            out
        })
    }
}

/// Bits of capacity from the highest level down to the last at which a ciphertext can be decrypted, and
/// how many levels come after that one.
fn capacities_in_words(by_level: &[f64]) -> String {
    let bits: Vec<String> =
        by_level.iter().rev().filter(|bits| **bits > 0.0).map(|bits| format!("{bits:.0}")).collect();
    match by_level.len() - bits.len() {
        0 => format!("{} bits", bits.join(", ")),
        rest if bits.is_empty() => format!("none at {rest}"),
        rest => format!("{} bits and none at the last {rest}", bits.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_without_capacity_have_none() {
        let words = capacities_in_words;
        assert_eq!(words(&[5.2, 44.6, 90.0]), "90, 45, 5 bits");
        assert_eq!(words(&[-24.0, 0.0, 12.3, 40.0]), "40, 12 bits and none at the last 2");
        for name in ["insecure_toy_256", "bgv_n32768", "boot_n32768_p127"] {
            let text = Params::preset(name, crate::Scheme::Bgv).unwrap().explain();
            let line = text.lines().find(|line| line.starts_with("capacity by level")).unwrap();
            assert!(!line.contains('-'), "{line}");
        }
    }
}
