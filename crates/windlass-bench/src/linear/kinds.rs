//! The kinds of maps and of moduli that `linear` measures.

use windlass::rlwe::{Assurance, RlweSpec, SecretDistribution};

use crate::ring_args::Moduli;

/// Which maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// One matrix over E for each hypercolumn.
    #[value(name = "1d")]
    MatMul1D,
    /// One matrix of Z_p-linear maps for each hypercolumn.
    Block,
    /// A matrix over E on all slots.
    Full,
    /// A matrix of Z_p-linear maps on all slots.
    BlockFull,
}

impl Kind {
    /// As in the records.
    pub fn name(self) -> &'static str {
        match self {
            Kind::MatMul1D => "1d",
            Kind::Block => "block",
            Kind::Full => "full",
            Kind::BlockFull => "block-full",
        }
    }
}

/// Moduli with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Chain {
    /// Q of 400 bits and P of 150, three digits, as the published figures.
    #[value(name = "400")]
    Published,
    /// The longest moduli with 128 bits of security: Q of 250 bits and P of 100.
    #[value(name = "secure")]
    Secure,
}

impl Chain {
    fn name(self) -> &'static str {
        match self {
            Chain::Published => "400",
            Chain::Secure => "secure",
        }
    }

    fn spec(self, m: u64) -> RlweSpec {
        let (q, special, assurance) = match self {
            Chain::Published => (8, 3, Assurance::Paper { name: "paper_bench".into() }),
            Chain::Secure => (5, 2, Assurance::Secure),
        };
        RlweSpec {
            m,
            q_prime_bits: vec![50; q],
            spare_prime_bits: Vec::new(),
            special_prime_bits: vec![50; special],
            digits: 3,
            secret: SecretDistribution::Ternary,
            assurance,
        }
    }
}

/// A ring with its plaintext modulus and its moduli.
#[derive(Debug, Clone)]
pub struct RingSpec {
    /// The plaintext modulus is p^r.
    pub p: u64,
    /// The exponent r.
    pub r: u32,
    /// The name of the moduli in records.
    pub chain: String,
    /// The parameters of the ring.
    pub rlwe: RlweSpec,
}

impl RingSpec {
    /// The moduli given one by one, or else those of a chain.
    pub fn new(m: u64, (p, r): (u64, u32), chain: Chain, moduli: &Moduli) -> Self {
        let rlwe = moduli.spec(m).unwrap_or_else(|| chain.spec(m));
        Self { p, r, chain: moduli.name().unwrap_or_else(|| chain.name().into()), rlwe }
    }
}
