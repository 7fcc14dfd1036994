//! The tables of a ring on a device.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use windlass_kernels::Modulus;
use windlass_ring::{Basis, Ring};

use crate::argument::{Argument, Launch};
use crate::device::{Buffer, Device};
use crate::error::DeviceError;

/// log2 of the residues that a block of a transform takes: BLOCK_LENGTH of kernels/transform.cu.
const LOG_BLOCK: u32 = 11;

/// Threads of a block of most kernels.
pub(crate) const THREADS: u32 = 256;

/// A ring Z\[X\]/(X^n + 1), n = 2^k, and its primes on a device: roots of the transforms, and what rows
/// modulo these primes need. Its polynomials are [`DevicePoly`](crate::DevicePoly).
///
/// Memory: n words for each prime.
#[derive(Debug)]
pub struct DeviceRing {
    device: Device,
    ring: Arc<Ring>,
    /// The primes that are on the device, in the order of the tables.
    basis: Basis,
    log_n: u32,
    /// Four words for each prime: q and 1/q as doubles, q, and 0.
    moduli: Buffer,
    /// `[prime][n]`: root 2^l + i is that of node i of layer l, as a centred double.
    roots: Buffer,
    /// The root of layer 0 modulo each prime.
    first_roots: Vec<u64>,
    bases: Mutex<HashMap<Basis, Arc<Rows>>>,
}

/// What kernels need to know of the rows of a basis.
#[derive(Debug)]
pub(crate) struct Rows {
    /// 0, 1, 2, ..: all rows in their order.
    pub places: Buffer,
    /// The number of the prime of each row.
    pub primes: Buffer,
    /// For each row the two factors of a plain inverse transform.
    pub scales: Buffer,
}

/// The double of the representative of a canonical residue in (−q/2, q/2), by its bits.
pub(crate) fn centred(q: Modulus, x: u64) -> u64 {
    let (x, q) = (x as i64, q.value() as i64);
    let centred = if x > q / 2 { x - q } else { x };
    // Below 2^50: exact.
    (centred as f64).to_bits()
}

/// The roots of one prime in the order of the table.
fn roots(q: Modulus, log_n: u32, root: u64) -> Vec<u64> {
    let n = 1usize << log_n;
    let mut table = vec![0; n];
    let mut power = 1;
    for exponent in 0..n {
        table[exponent.reverse_bits() >> (usize::BITS - log_n)] = power;
        power = q.mul(power, root);
    }
    table
}

impl DeviceRing {
    /// Writes the tables of these primes of a ring to a device.
    ///
    /// # Errors
    /// [`DeviceError::NotAPowerOfTwo`], [`DeviceError::SmallPrime`] and [`DeviceError::OutOfMemory`].
    pub fn new(device: &Device, ring: &Arc<Ring>, basis: &Basis) -> Result<Arc<Self>, DeviceError> {
        if !ring.m().is_power_of_two() {
            return Err(DeviceError::NotAPowerOfTwo { m: ring.m() });
        }
        let log_n = ring.n().trailing_zeros();
        let (mut moduli, mut table, mut first_roots) = (Vec::new(), Vec::new(), Vec::new());
        for index in basis.indices() {
            let q = ring.modulus(index);
            if q.value() < 1 << 9 {
                return Err(DeviceError::SmallPrime { prime: q.value() });
            }
            moduli.extend([(q.value() as f64).to_bits(), (1.0 / q.value() as f64).to_bits(), q.value(), 0]);
            let roots = roots(q, log_n, ring.plan(index).root());
            first_roots.push(roots[1]);
            table.extend(roots.into_iter().map(|root| centred(q, root)));
        }
        Ok(Arc::new(Self {
            moduli: device.upload(&moduli)?,
            roots: device.upload(&table)?,
            device: device.clone(),
            ring: Arc::clone(ring),
            basis: basis.clone(),
            log_n,
            first_roots,
            bases: Mutex::default(),
        }))
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The ring of the processor.
    pub fn ring(&self) -> &Arc<Ring> {
        &self.ring
    }

    /// The primes that are on the device.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// The number of prime `index` in the tables.
    ///
    /// # Errors
    /// [`DeviceError::NoSuchPrime`] if it is not on the device.
    pub(crate) fn number_of(&self, index: usize) -> Result<usize, DeviceError> {
        self.basis.row_of(index).ok_or(DeviceError::NoSuchPrime { index })
    }

    pub(crate) fn moduli(&self) -> Argument<&Buffer> {
        Argument::Span(&self.moduli)
    }

    pub(crate) fn log_n(&self) -> u32 {
        self.log_n
    }

    /// What kernels need to know of the rows of a basis, made once.
    pub(crate) fn rows(&self, basis: &Basis) -> Result<Arc<Rows>, DeviceError> {
        let mut bases = self.bases.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = bases.get(basis) {
            return Ok(Arc::clone(found));
        }
        let mut scales = Vec::with_capacity(2 * basis.len());
        for index in basis.indices() {
            scales.extend(self.scales(index, 1)?);
        }
        let made = Arc::new(Rows {
            places: self.list(0..basis.len())?,
            primes: self.primes(basis.indices())?,
            scales: self.device.upload(&scales)?,
        });
        bases.insert(basis.clone(), Arc::clone(&made));
        Ok(made)
    }

    /// Numbers on the device.
    pub(crate) fn list(&self, numbers: impl IntoIterator<Item = usize>) -> Result<Buffer, DeviceError> {
        self.device.upload(&numbers.into_iter().map(|number| number as u64).collect::<Vec<_>>())
    }

    /// The numbers of primes in the tables, on the device.
    pub(crate) fn primes(&self, indices: impl IntoIterator<Item = usize>) -> Result<Buffer, DeviceError> {
        let numbers = indices.into_iter().map(|index| self.number_of(index)).collect::<Result<Vec<_>, _>>()?;
        self.list(numbers)
    }

    /// The factors of the last layer of an inverse transform that multiplies by `weight`: weight/n, and
    /// the same times the root of layer 0.
    pub(crate) fn scales(&self, index: usize, weight: u64) -> Result<[u64; 2], DeviceError> {
        let (q, first_root) = (self.ring.modulus(index), self.first_roots[self.number_of(index)?]);
        let scale = q.mul(weight, q.inv(q.reduce(1 << self.log_n)));
        Ok([centred(q, scale), centred(q, q.mul(scale, first_root))])
    }

    /// Runs a kernel on all columns of so many rows, a thread for each residue.
    pub(crate) fn on_columns(
        &self,
        kernel: &'static str,
        rows: usize,
        arguments: &[Argument<&Buffer>],
    ) -> Result<(), DeviceError> {
        let threads = THREADS.min(1 << self.log_n);
        let grid = [(1u32 << self.log_n).div_ceil(threads), rows as u32];
        self.device.launch(Launch { kernel, grid, threads }, arguments)
    }

    /// The passes of a transform: first layer, layers, log2 of the residues of a block.
    fn passes(&self) -> Vec<[u32; 3]> {
        match self.log_n.checked_sub(LOG_BLOCK) {
            None | Some(0) => vec![[0, self.log_n, self.log_n]],
            Some(outer) => vec![[0, outer, LOG_BLOCK], [outer, LOG_BLOCK, LOG_BLOCK]],
        }
    }

    fn pass(&self, kernel: &'static str, rows: usize, log_block: u32) -> Launch {
        // A thread has eight residues.
        let threads = 1 << log_block.saturating_sub(3);
        Launch { kernel, grid: [1 << (self.log_n - log_block), rows as u32], threads }
    }

    /// Transforms rows of a buffer in place: row i is number `places[i]` there, modulo prime number `primes[i]`.
    pub(crate) fn forward(&self, words: &Buffer, places: &Buffer, primes: &Buffer) -> Result<(), DeviceError> {
        use Argument::{Half, Span};
        for [first, layers, log_block] in self.passes() {
            let launch = self.pass("forward_pass", primes.words(), log_block);
            let tables = [Span(words), Span(places), Span(primes), self.moduli(), Span(&self.roots)];
            let sizes = [self.log_n, log_block, first, layers].map(Half);
            self.device.launch(launch, &[&tables[..], &sizes[..]].concat())?;
        }
        Ok(())
    }

    /// Transforms rows back.
    pub(crate) fn inverse(&self, inverse: &Inverse<'_>) -> Result<(), DeviceError> {
        use Argument::{Half, Nothing, Span};
        let Inverse { out, places, input, sources, primes, scales, shifts } = *inverse;
        let mut from = [Span(input), Span(sources)];
        for [first, layers, log_block] in self.passes().into_iter().rev() {
            let launch = self.pass("inverse_pass", primes.words(), log_block);
            let rows = [Span(out), Span(places), from[0], from[1], Span(primes)];
            let tables = [self.moduli(), Span(&self.roots), Span(scales), shifts.map_or(Nothing, Span)];
            let sizes = [self.log_n, log_block, first, layers].map(Half);
            self.device.launch(launch, &[&rows[..], &tables[..], &sizes[..]].concat())?;
            from = [Span(out), Span(places)];
        }
        Ok(())
    }
}

/// An inverse transform of rows: row i is read from `input[sources[i]]` and written to `out[places[i]]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inverse<'a> {
    pub out: &'a Buffer,
    pub places: &'a Buffer,
    pub input: &'a Buffer,
    pub sources: &'a Buffer,
    /// The numbers of the primes.
    pub primes: &'a Buffer,
    /// Two factors for each row: [`DeviceRing::scales`].
    pub scales: &'a Buffer,
    /// What is added to each row, if anything.
    pub shifts: Option<&'a Buffer>,
}
