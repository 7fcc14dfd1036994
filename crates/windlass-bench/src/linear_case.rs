//! One row of the tables: a ring with a dimension, keys, maps, and their verification.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::circuits::{ConstantForm, CostModel, LinearMap, LinearPlan, PlanSpec, PreparedPlan};
use windlass::rlwe::{
    Assurance, Context, EvaluationKeys, PublicKey, RlweParams, RlweSpec, SecretDistribution, SecretKey,
};
use windlass::schemes::{Ciphertext, Decryptor, Encryptor, Engine, Scheme};
use windlass::{Evaluator, Plaintext};
use windlass_kernels::Isa;
use windlass_ring::slots::{Hypercube, SlotRing};

use crate::linear_columns::Column;
use crate::linear_record::Record;
use crate::machine;
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
    fn name(self) -> &'static str {
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
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
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
        let engine = |elements: &BTreeSet<u64>, rng: &mut ChaCha20Rng| {
            let mut keys = EvaluationKeys::empty(&self.context);
            for &t in elements {
                keys.add_galois(&secret, t, self.context.top_level(), rng).expect("a unit");
            }
            Engine::new(Scheme::Bgv, &self.slots, Arc::new(keys)).expect("one ring")
        };
        let m = self.context.params().m();
        let elements: Vec<u64> = (1..=12).map(|e| windlass_kernels::arith::pow_mod(2, e, m)).collect();
        let first = engine(&elements.iter().copied().collect(), &mut rng);
        let watch = Stopwatch::start();
        let clock = || watch.processor_seconds();
        let prices = one.install(|| CostModel::measure_by(&first, &encrypted, &elements, &clock).expect("prices"));
        println!("# prices in ms: {prices:.3?}");
        let (key_bytes, constant_bytes) = (first.keys().bytes() / elements.len(), first.constant_bytes());
        drop(first);
        let room =
            Room { bytes: most_bytes, key: key_bytes, constant: constant_bytes, packed: self.context.params().n() };
        for column in columns {
            let spec = PlanSpec { cost: prices, ..column.spec.clone() };
            let plan = match room.plan(&map, spec, column.ours) {
                Ok(plan) => plan,
                Err(reason) => {
                    println!("# {}: {reason}", column.name);
                    continue;
                }
            };
            let engine = engine(&plan.required_keys(), &mut rng);
            let job = Job { case: self, kind, column, plan: &plan, engine: &engine, build };
            job.run(&encrypted, &decryptor, &expected, threads, rounds, keep)?;
        }
        Ok(())
    }
}

/// How much memory there is, and what one key and one constant take.
struct Room {
    bytes: usize,
    key: usize,
    constant: usize,
    /// One constant as coefficients.
    packed: usize,
}

impl Room {
    /// A plan that fits in; with constants as coefficients if it must and `pack` allows.
    fn plan(&self, map: &LinearMap, mut spec: PlanSpec, pack: bool) -> Result<LinearPlan, String> {
        let plan = |spec: &PlanSpec| LinearPlan::new(map, spec).map_err(|error| error.to_string());
        let bytes = |plan: &LinearPlan, constant: usize| {
            plan.count().keys * self.key + plan.count().constant_products * constant
        };
        let evaluated = plan(&spec)?;
        if bytes(&evaluated, self.constant) <= self.bytes {
            return Ok(evaluated);
        }
        spec.constants = ConstantForm::Coefficients;
        let packed = plan(&spec)?;
        if pack && bytes(&packed, self.packed) <= self.bytes {
            return Ok(packed);
        }
        Err(format!("left out, it takes {:.1} GB", bytes(&evaluated, self.constant) as f64 / 1e9))
    }
}

/// Runs of one plan go on for this many seconds at most, but for one run.
const MOST_SECONDS: f64 = 20.0;

/// One plan to measure.
struct Job<'a> {
    case: &'a Case,
    kind: Kind,
    column: &'a Column,
    plan: &'a LinearPlan,
    engine: &'a Engine,
    build: f64,
}

impl Job<'_> {
    fn run(
        &self,
        input: &Ciphertext,
        decryptor: &Decryptor,
        expected: &Plaintext,
        threads: &[usize],
        rounds: usize,
        keep: &mut impl FnMut(Record) -> io::Result<()>,
    ) -> io::Result<()> {
        let pool = |n: usize| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("threads");
        let single = pool(1);
        if self.column.threaded {
            // Once more, so that memory is there: the first time the system hands it out, which a guest may pay dearly for.
            drop(single.install(|| self.plan.prepare(self.engine)).expect("prepares"));
        }
        let watch = Stopwatch::start();
        let prepared = single.install(|| self.plan.prepare(self.engine)).expect("prepares");
        let convert = watch.processor_seconds();
        for &threads in if self.column.threaded { threads } else { &[1] } {
            let pool = pool(threads);
            let apply = || pool.install(|| self.plan.apply(&prepared, self.engine, input)).expect("applies");
            let watch = Stopwatch::start();
            let output = apply();
            let rounds = rounds.min((MOST_SECONDS / watch.seconds()) as usize).max(1);
            assert!(decryptor.decrypt(&output).expect("within capacity") == *expected, "{} is wrong", self.column.name);
            let mut samples: Vec<(f64, f64)> = (0..rounds)
                .map(|_| {
                    let yardstick = crate::process_time::yardstick();
                    let watch = Stopwatch::start();
                    drop(apply());
                    let seconds = if threads == 1 { watch.processor_seconds() } else { watch.seconds() };
                    (seconds, yardstick.map_or(0.0, |t| seconds / t))
                })
                .collect();
            samples.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut ratios: Vec<f64> = samples.iter().map(|sample| sample.1).collect();
            ratios.sort_by(f64::total_cmp);
            keep(Record {
                map: self.kind.name().into(),
                m: self.case.context.params().m(),
                size: self.case.size(),
                bad: self.case.bad,
                chain: self.case.chain.name().into(),
                column: self.column.name.into(),
                strategy: self.plan.strategy().to_string()
                    + if self.is_packed(&prepared) { "+coefficients" } else { "" },
                threads,
                median_s: samples[rounds / 2].0,
                min_s: samples[0].0,
                yardsticks: ratios[rounds / 2],
                predicted_s: self.plan.price() / 1e3,
                keys: self.plan.count().keys,
                key_bytes: self.engine.keys().bytes(),
                constants: self.plan.count().constant_products,
                constant_bytes: prepared.bytes(),
                build_s: self.build,
                convert_s: convert,
                capacity_bits: self.engine.capacity(input) - self.engine.capacity(&output),
                rounds,
                cpu: machine::cpu().replace(',', ";"),
            })?;
        }
        Ok(())
    }

    /// Whether constants are kept as coefficients.
    fn is_packed(&self, prepared: &PreparedPlan<Engine>) -> bool {
        prepared.bytes() < self.plan.count().constant_products * self.engine.constant_bytes() / 2
    }
}
