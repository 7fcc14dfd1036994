//! One row of the tables: a ring with a dimension, its maps, and what they do by the definition.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use windlass::circuits::LinearMap;
use windlass::rlwe::KeyStrategy;
use windlass::{Context, Error, Params, Plaintext, Scheme};
use windlass_ring::slots::SlotRing;

use super::kinds::{Kind, RingSpec};

/// A row of the tables.
pub struct Case {
    /// Whether the dimension is bad, or treated so.
    pub bad: bool,
    /// The name of the moduli.
    pub chain: String,
    /// The slots and the moduli.
    pub context: Context,
    dimension: usize,
}

/// A fixed stream of numbers (SplitMix64).
fn number(seed: u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Random residues modulo p^r; for 2 the bits of one number after the other.
fn residues(modulus: u64, seed: u64, out: &mut [u64]) {
    let seed = seed.wrapping_mul(1_000_003);
    if modulus > 2 {
        out.iter_mut().enumerate().for_each(|(i, x)| *x = number(seed + i as u64) % modulus);
        return;
    }
    for (word, out) in out.chunks_mut(64).enumerate() {
        let random = number(seed + word as u64);
        out.iter_mut().enumerate().for_each(|(i, x)| *x = random >> i & 1);
    }
}

fn place(a: usize, b: usize, c: usize) -> u64 {
    ((a as u64) << 40 | (b as u64) << 20) + c as u64
}

impl Case {
    /// A ring with its longest dimension; for p = 2 and the paper's indices the paper's generators.
    ///
    /// # Errors
    /// What the library refuses, and rings with a single slot: they have no dimension.
    pub fn new(spec: &RingSpec, bad: bool) -> Result<Self, Box<dyn std::error::Error>> {
        let m = spec.rlwe.m;
        let generators: Option<&[u64]> = match (spec.p, m, bad) {
            (2, 18631, false) => Some(&[17, 1177]),
            (2, 18631, true) => Some(&[7, 626]),
            (2, 24295, false) => Some(&[16386, 16427]),
            (2, 24295, true) => Some(&[53, 42]),
            _ => None,
        };
        let generators = generators.map(<[u64]>::to_vec);
        let params = Params::new(&spec.chain, Scheme::Bgv, (spec.p, spec.r), generators, spec.rlwe.clone())?;
        let context = Context::from_params(params)?;
        let sizes = context.hypercube().dimensions().iter().enumerate();
        let Some((dimension, _)) = sizes.max_by_key(|(_, s)| s.size) else {
            return Err(format!("m = {m}, p = {}: a single slot has no dimension to map along", spec.p).into());
        };
        Ok(Self { bad, chain: spec.chain.clone(), context, dimension })
    }

    /// The slots.
    pub fn slot_ring(&self) -> &Arc<SlotRing> {
        self.context.slot_ring()
    }

    /// All keys of dimensions up to 50, those for baby and giant steps of larger ones.
    pub fn default_keys(&self) -> BTreeSet<u64> {
        KeyStrategy::Default.of_ring(self.slot_ring().hypercube())
    }

    /// D.
    pub fn size(&self) -> usize {
        self.slot_ring().hypercube().dimensions()[self.dimension].size
    }

    /// The automorphism that moves by i along the dimension.
    pub fn step(&self, i: i64) -> u64 {
        self.slot_ring().hypercube().generator_power(self.dimension, i)
    }

    /// Whether a good dimension is treated as bad.
    fn starred(&self) -> bool {
        self.bad && self.slot_ring().hypercube().dimensions()[self.dimension].good
    }

    /// The kind whose map this one equals, if it has no row of its own: one dimension is all slots,
    /// and block maps have all powers of Frobenius whether a dimension is good or only treated as
    /// bad.
    pub fn same_as(&self, kind: Kind) -> Option<&'static str> {
        let single = self.size() == self.slot_ring().slots();
        match kind {
            Kind::Full if single => Some("1d"),
            Kind::BlockFull if single => Some("block"),
            Kind::Block if self.starred() => Some("block in the good dimension"),
            _ => None,
        }
    }

    /// One line.
    pub fn describe(&self) -> String {
        let (params, d) = (self.context.params().rlwe(), self.slot_ring().degree());
        let kind = match (self.bad, self.starred()) {
            (false, _) => "good",
            (true, false) => "bad",
            (true, true) => "good, treated as bad",
        };
        format!(
            "m = {}, n = {}, p^r = {}, d = {d}, D = {} ({kind}), log2 Q = {:.0}, log2 P = {:.0}, {} digits, {:.0} bits of security",
            params.m(),
            params.n(),
            self.slot_ring().modulus().value(),
            self.size(),
            params.log2_q(params.top_level()),
            params.log2_p(),
            params.digits(),
            params.security().bits
        )
    }

    /// A vector of bits.
    pub fn input(&self) -> Vec<u64> {
        (0..self.slot_ring().slots() as u64).map(|i| number(i + 7) & 1).collect()
    }

    /// The map.
    ///
    /// A good dimension is treated as bad by composing all entries that wrap around with Frobenius:
    /// it leaves integers alone, and takes the place of θ^{−D}, with all its costs.
    pub fn map(&self, kind: Kind) -> Result<LinearMap, Error> {
        let (slots, s) = (self.slot_ring(), self.dimension);
        let modulus = slots.modulus().value();
        let entry = |c: usize, i: usize, k: usize, out: &mut [u64]| residues(modulus, place(c, i, k), out);
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
            let (straight, wrapped) = (part(|i, k| i >= k)?, part(|i, k| i < k)?);
            return straight.add(&wrapped.compose(&LinearMap::frobenius(slots, 1)?)?);
        }
        part(|_, _| true)
    }

    /// The product by the definition: for bits only the first column of each block matters.
    pub fn expected(&self, kind: Kind, input: &[u64]) -> Result<Plaintext, Error> {
        let (cube, d) = (self.slot_ring().hypercube(), self.slot_ring().degree());
        let block = matches!(kind, Kind::Block | Kind::BlockFull);
        let modulus = self.slot_ring().modulus();
        let length = if block { d * d } else { d };
        let stride = if block { d } else { 1 };
        let mut product = vec![0; self.slot_ring().slots() * d];
        let mut lines = HashMap::new();
        let line: Vec<usize> = (0..self.slot_ring().slots())
            .map(|slot| {
                let mut coordinates = cube.coordinates(slot);
                coordinates.remove(self.dimension);
                let next = lines.len();
                *lines.entry(coordinates).or_insert(next)
            })
            .collect();
        let one_dimension = matches!(kind, Kind::MatMul1D | Kind::Block);
        let mut buffer = vec![0; length];
        for row in 0..self.slot_ring().slots() {
            for column in (0..input.len()).filter(|&column| input[column] == 1) {
                let seed = match one_dimension {
                    true if line[row] != line[column] => continue,
                    true => {
                        let [i, k] = [row, column].map(|slot| cube.coordinate(slot, self.dimension));
                        place(line[row], i, k)
                    }
                    false => place(0, row, column),
                };
                residues(modulus.value(), seed, &mut buffer);
                for k in 0..d {
                    product[row * d + k] = modulus.add(product[row * d + k], buffer[k * stride]);
                }
            }
        }
        Plaintext::from_slots(self.slot_ring(), &product)
    }
}
