//! The constants of base conversions, on the device.

use windlass_kernels::Modulus;
use windlass_ring::Basis;

use crate::argument::Argument::{Half, Span, Word};
use crate::argument::Launch;
use crate::device::Buffer;
use crate::error::DeviceError;
use crate::ring::{DeviceRing, THREADS};

/// Columns that a block of kernels/convert.cu takes: TILE.
const TILE: usize = 32;

/// The most sources of one conversion: SOURCES of kernels/convert.cu.
const MAX_SOURCES: usize = 161;

/// From residues modulo the primes of one basis, with product B, to residues modulo those of another. With y_i =
/// x·(B/b_i)^{-1} mod b_i, the integer x mod B is Σ y_i·(B/b_i) − u·B.
#[derive(Debug)]
pub(crate) struct Conversion {
    /// (B/b_i)^{-1} mod b_i.
    pub weights: Vec<u64>,
    /// −1/B mod c_j.
    pub quotients: Vec<u64>,
    kind: Kind,
    /// `[targets][sources]`, as doubles.
    matrix: Buffer,
    /// What is added to each target row.
    constants: Buffer,
    /// The numbers of the target primes.
    primes: Buffer,
    targets: usize,
    sources: usize,
}

/// What becomes of u.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Sources are y_i + (b_i − 1)/2 for a centred y_i, which the sum takes off; u stays in the result.
    Centred,
    /// The last source is u = round(Σ y_i/b_i), so the result is exact and centred.
    Exact,
}

/// The product of the primes of a basis without prime `skip`, modulo q.
fn cofactor(ring: &DeviceRing, basis: &Basis, skip: Option<usize>, q: Modulus) -> u64 {
    let others = basis.indices().filter(|&index| Some(index) != skip);
    others.fold(1, |product, index| q.mul(product, q.reduce(ring.ring().modulus(index).value())))
}

/// (b − 1)/2: added to a centred residue modulo b.
pub(crate) fn shift(b: Modulus) -> u64 {
    (b.value() - 1) / 2
}

impl Conversion {
    pub fn new(ring: &DeviceRing, from: &Basis, to: &Basis, kind: Kind) -> Result<Self, DeviceError> {
        let sources = from.len() + usize::from(kind == Kind::Exact);
        if sources > MAX_SOURCES {
            return Err(DeviceError::TooManyRows { rows: sources, most: MAX_SOURCES });
        }
        let modulus = |index: usize| ring.ring().modulus(index);
        let weights = from.indices().map(|index| {
            let b = modulus(index);
            b.inv(cofactor(ring, from, Some(index), b))
        });
        let (mut matrix, mut constants, mut quotients) = (Vec::new(), Vec::new(), Vec::new());
        for target in to.indices() {
            let c = modulus(target);
            let row: Vec<u64> = from.indices().map(|index| cofactor(ring, from, Some(index), c)).collect();
            let product = cofactor(ring, from, None, c);
            quotients.push(c.neg(c.inv(product)));
            matrix.extend(row.iter().map(|&x| (x as f64).to_bits()));
            match kind {
                Kind::Centred => {
                    let shifts = from.indices().map(|index| c.reduce(shift(modulus(index))));
                    constants.push(shifts.zip(&row).fold(0, |sum, (shift, &x)| c.sub(sum, c.mul(shift, x))));
                }
                Kind::Exact => {
                    matrix.push((c.neg(product) as f64).to_bits());
                    constants.push(0);
                }
            }
        }
        Ok(Self {
            weights: weights.collect(),
            quotients,
            kind,
            matrix: ring.device().upload(&matrix)?,
            constants: ring.device().upload(&constants)?,
            primes: ring.primes(to.indices())?,
            targets: to.len(),
            sources,
        })
    }

    /// Converts: row j of the targets is number `places[j]` of `out`, source i number `rows[i]` of `input`.
    pub fn apply(
        &self,
        ring: &DeviceRing,
        (out, places): (&Buffer, &Buffer),
        (input, rows): (&Buffer, &Buffer),
    ) -> Result<(), DeviceError> {
        debug_assert!(places.words() == self.targets && rows.words() == self.sources, "{:?}", self.kind);
        if self.targets == 0 {
            return Ok(());
        }
        let n = 1usize << ring.log_n();
        let launch = Launch { kernel: "convert_rows", grid: [n.div_ceil(TILE) as u32, 1], threads: THREADS };
        let arguments = [
            Span(out),
            Span(places),
            Span(input),
            Span(rows),
            Span(&self.matrix),
            Span(&self.constants),
            Span(&self.primes),
            ring.moduli(),
            Word(n as u64),
            Half(self.targets as u32),
            Half(self.sources as u32),
        ];
        ring.device().launch(launch, &arguments)
    }
}
