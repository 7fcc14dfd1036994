//! One row of the tables: a ring with a dimension, keys, maps, and their verification.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::circuits::{CostModel, LinearMap, PlanSpec};
use windlass::rlwe::{
    Assurance, Context, EvaluationKeys, PublicKey, RlweParams, RlweSpec, SecretDistribution, SecretKey,
};
use windlass::schemes::{Ciphertext, Decryptor, Encryptor, Engine, Scheme};
use windlass::{Evaluator, Plaintext};
use windlass_kernels::Isa;
use windlass_ring::slots::{Hypercube, SlotRing};

use crate::linear_columns::Column;
use crate::linear_job::{Job, Room};
use crate::linear_record::Record;
use crate::process_time::Stopwatch;

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

/// Moduli.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Chain {
    /// Q of 400 bits and P of 150, three digits, as the published figures.
    #[value(name = "400")]
    Published,
    /// The longest that leaves 128 bits of security: Q of 250 bits and P of 100.
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
            special_prime_bits: vec![50; special],
            digits: 3,
            secret: SecretDistribution::Ternary,
            assurance,
        }
    }
}

/// A row of the tables.
pub struct Case {
    /// Whether the dimension is bad, or treated so.
    pub bad: bool,
    chain: Chain,
    slots: Arc<SlotRing>,
    dimension: usize,
    context: Arc<Context>,
}

/// A fixed stream of numbers (SplitMix64).
fn number(seed: u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Random bits, one in each entry.
fn bits(seed: u64, out: &mut [u64]) {
    for (word, out) in out.chunks_mut(64).enumerate() {
        let random = number(seed.wrapping_mul(1_000_003) + word as u64);
        out.iter_mut().enumerate().for_each(|(i, x)| *x = random >> i & 1);
    }
}

fn place(a: usize, b: usize, c: usize) -> u64 {
    ((a as u64) << 40 | (b as u64) << 20) + c as u64
}

impl Case {
    /// The row of the paper with this m; p = 2.
    pub fn new(m: u64, bad: bool, chain: Chain) -> Self {
        let generators: Option<&[u64]> = match (m, bad) {
            (18631, false) => Some(&[17, 1177]),
            (18631, true) => Some(&[7, 626]),
            (24295, false) => Some(&[16386, 16427]),
            (24295, true) => Some(&[53, 42]),
            _ => None,
        };
        let cube = match generators {
            Some(generators) => Hypercube::with_generators(m, 2, generators),
            None => Hypercube::automatic(m, 2),
        };
        let slots = SlotRing::with_hypercube(cube.expect("a supported index"), 1, Isa::best()).expect("2 is odd to m");
        let sizes = slots.hypercube().dimensions().iter().enumerate();
        let dimension = sizes.max_by_key(|(_, s)| s.size).expect("more than one slot").0;
        let params = RlweParams::new(&chain.spec(m)).expect("parameters of the bench");
        Self { bad, chain, slots: Arc::new(slots), dimension, context: Context::new(params).expect("transforms") }
    }

    /// The name of the chain.
    pub fn chain(&self) -> &'static str {
        self.chain.name()
    }

    /// D.
    pub fn size(&self) -> usize {
        self.slots.hypercube().dimensions()[self.dimension].size
    }

    /// Whether a good dimension is treated as bad.
    fn starred(&self) -> bool {
        self.bad && self.slots.hypercube().dimensions()[self.dimension].good
    }

    /// The kind whose map this one equals, if it has no row of its own: one dimension is all slots, and block maps have all powers of
    /// Frobenius whether a dimension is good or only treated as bad.
    pub fn same_as(&self, kind: Kind) -> Option<&'static str> {
        let single = self.size() == self.slots.slots();
        match kind {
            Kind::Full if single => Some("1d"),
            Kind::BlockFull if single => Some("block"),
            Kind::Block if self.starred() => Some("block in the good dimension"),
            _ => None,
        }
    }

    /// One line.
    pub fn describe(&self) -> String {
        let (params, d) = (self.context.params(), self.slots.degree());
        let kind = match (self.bad, self.starred()) {
            (false, _) => "good",
            (true, false) => "bad",
            (true, true) => "good, treated as bad",
        };
        format!(
            "m = {}, n = {}, d = {d}, D = {} ({kind}), log2 Q = {:.0}, log2 P = {:.0}, {} digits, {:.0} bits of security",
            params.m(),
            params.n(),
            self.size(),
            params.log2_q(params.top_level()),
            params.log2_p(),
            params.digits(),
            params.security().bits
        )
    }

    /// The map and what it does to a vector of bits.
    ///
    /// A good dimension is treated as bad by composing all entries that wrap around with Frobenius: it leaves integers alone, and
    /// takes the place of θ^{−D}, with all its costs.
    fn map(&self, kind: Kind) -> LinearMap {
        let (slots, s) = (&self.slots, self.dimension);
        let entry = |c: usize, i: usize, k: usize, out: &mut [u64]| bits(place(c, i, k), out);
        let part = |keep: fn(usize, usize) -> bool| match kind {
            Kind::MatMul1D => LinearMap::matmul_1d_extension(slots, s, |c, i, k, out| {
                if keep(i, k) {
                    entry(c, i, k, out);
                }
            }),
            Kind::Block => LinearMap::block_matmul_1d(slots, s, |c, i, k, out| {
                if keep(i, k) {
                    entry(c, i, k, out);
                }
            }),
            Kind::Full => LinearMap::matmul_full_extension(slots, |i, k, out| entry(0, i, k, out)),
            Kind::BlockFull => LinearMap::block_matmul_full(slots, |i, k, out| entry(0, i, k, out)),
        };
        if self.starred() && kind == Kind::MatMul1D {
            let straight = part(|i, k| i >= k).expect("a map");
            let wrapped = part(|i, k| i < k).expect("a map");
            let twist = LinearMap::frobenius(slots, 1).expect("an automorphism");
            return straight.add(&wrapped.compose(&twist).expect("one ring")).expect("one ring");
        }
        part(|_, _| true).expect("a map")
    }

    /// The product by the definition: for bits only the first column of each block matters.
    fn expected(&self, kind: Kind, input: &[u64]) -> Plaintext {
        let (cube, d) = (self.slots.hypercube(), self.slots.degree());
        let block = matches!(kind, Kind::Block | Kind::BlockFull);
        let length = if block { d * d } else { d };
        let stride = if block { d } else { 1 };
        let mut product = vec![0; self.slots.slots() * d];
        let mut lines = std::collections::HashMap::new();
        let line: Vec<usize> = (0..self.slots.slots())
            .map(|slot| {
                let mut coordinates = cube.coordinates(slot);
                coordinates.remove(self.dimension);
                let next = lines.len();
                *lines.entry(coordinates).or_insert(next)
            })
            .collect();
        let one_dimension = matches!(kind, Kind::MatMul1D | Kind::Block);
        let mut buffer = vec![0; length];
        for row in 0..self.slots.slots() {
            for column in (0..input.len()).filter(|&column| input[column] == 1) {
                let seed = match one_dimension {
                    true if line[row] != line[column] => continue,
                    true => {
                        let [i, k] = [row, column].map(|slot| cube.coordinate(slot, self.dimension));
                        place(line[row], i, k)
                    }
                    false => place(0, row, column),
                };
                bits(seed, &mut buffer);
                for k in 0..d {
                    product[row * d + k] ^= buffer[k * stride];
                }
            }
        }
        Plaintext::from_slots(&self.slots, &product).expect("slots")
    }

    /// Measures the columns of one table.
    pub fn measure(
        &self,
        kind: Kind,
        columns: &[Column],
        threads: &[usize],
        rounds: usize,
        most_bytes: usize,
        keep: &mut impl FnMut(Record) -> io::Result<()>,
    ) -> io::Result<()> {
        // On all threads, by processor time.
        let watch = Stopwatch::start();
        let map = self.map(kind);
        let build = watch.processor_seconds();
        let bits: Vec<u64> = (0..self.slots.slots() as u64).map(|i| number(i + 7) & 1).collect();
        let (input, expected) =
            (Plaintext::from_integers(&self.slots, &bits).expect("slots"), self.expected(kind, &bits));
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        let secret = Arc::new(SecretKey::generate(&self.context, &mut rng));
        let public = Arc::new(PublicKey::generate(&secret, &mut rng));
        let encrypted = Encryptor::new(Scheme::Bgv, public).encrypt(&input, &mut rng).expect("encrypts");
        let decryptor = Decryptor::new(Scheme::Bgv, &self.slots, Arc::clone(&secret));
        let (prices, room) = self.prices(&secret, &encrypted, most_bytes, &mut rng);
        for column in columns {
            let spec = PlanSpec { cost: prices, ..column.spec.clone() };
            let plan = match room.plan(&map, spec, column.ours) {
                Ok(plan) => plan,
                Err(reason) => {
                    println!("# {}: {reason}", column.name);
                    continue;
                }
            };
            let engine = self.engine(&secret, &plan.required_keys(), &mut rng);
            let job = Job { case: self, kind, column, plan: &plan, engine: &engine, build };
            job.run(&encrypted, &decryptor, &expected, threads, rounds, keep)?;
        }
        Ok(())
    }

    /// An evaluator with keys for these automorphisms.
    fn engine(&self, secret: &SecretKey, elements: &BTreeSet<u64>, rng: &mut ChaCha20Rng) -> Engine {
        let mut keys = EvaluationKeys::empty(&self.context);
        for &t in elements {
            keys.add_galois(secret, t, self.context.top_level(), rng).expect("a unit");
        }
        Engine::new(Scheme::Bgv, &self.slots, Arc::new(keys)).expect("one ring")
    }

    /// Prices by one thread's processor time, and what keys and constants take.
    fn prices(
        &self,
        secret: &SecretKey,
        encrypted: &Ciphertext,
        bytes: usize,
        rng: &mut ChaCha20Rng,
    ) -> (CostModel, Room) {
        let m = self.context.params().m();
        let elements: Vec<u64> = (1..=12).map(|e| windlass_kernels::arith::pow_mod(2, e, m)).collect();
        let engine = self.engine(secret, &elements.iter().copied().collect(), rng);
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        let watch = Stopwatch::start();
        let clock = || watch.processor_seconds();
        let prices = one.install(|| CostModel::measure_by(&engine, encrypted, &elements, &clock).expect("prices"));
        println!("# prices in ms: {prices:.3?}");
        let key = engine.keys().bytes() / elements.len();
        (
            prices,
            Room { bytes, key, constant: engine.constant_bytes(engine.top_level()), packed: self.context.params().n() },
        )
    }
}
