//! A ring Z\[X\]/Φ_m together with a list of primes and their transforms.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};

use rayon::prelude::*;
use windlass_kernels::{Automorphism, Isa, Modulus, NttPlan, Shape, ntt};

use crate::basis::Basis;
use crate::buffer::{RowBuffer, Waste};
use crate::buffer_pool::BufferPool;
use crate::error::RingError;
use crate::periods::PeriodCache;
use crate::rns::BaseConverter;
use crate::signed::residues;

/// Source, target, multiplier and added primes of a converter.
type ConverterKey = (Basis, Basis, u64, Basis);

/// Bytes that stay in a second-level cache beside what is written.
const CACHE: usize = 1 << 20;

/// The most rows that a conversion writes together.
const TOGETHER: usize = 8;

/// Z\[X\]/Φ_m with transforms modulo a list of primes.
///
/// Owns the caches that depend on the ring alone: automorphism tables, base converters, pooled row
/// buffers.
#[derive(Debug)]
pub struct Ring {
    shape: Arc<Shape>,
    isa: Isa,
    plans: Vec<NttPlan>,
    automorphisms: RwLock<HashMap<u64, Arc<Automorphism>>>,
    converters: RwLock<HashMap<ConverterKey, Arc<BaseConverter>>>,
    period_cache: PeriodCache,
    buffer_pool: Mutex<BufferPool>,
}

impl Ring {
    /// Builds the transforms of all primes (in parallel).
    ///
    /// # Errors
    /// [`RingError::Kernel`] when a prime is not 1 modulo [`Shape::root_order`].
    pub fn new(shape: Arc<Shape>, primes: &[Modulus], isa: Isa) -> Result<Arc<Self>, RingError> {
        let plans = primes.par_iter().map(|&q| NttPlan::new(&shape, q, isa)).collect::<Result<Vec<_>, _>>()?;
        let buffer_pool = Mutex::new(BufferPool::new(shape.n(), plans.len()));
        Ok(Arc::new(Self {
            shape,
            isa,
            plans,
            automorphisms: RwLock::default(),
            converters: RwLock::default(),
            period_cache: PeriodCache::default(),
            buffer_pool,
        }))
    }

    /// The tensor shape.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// The cyclotomic index m.
    pub fn m(&self) -> u64 {
        self.shape.m()
    }

    /// The dimension n = φ(m).
    pub fn n(&self) -> usize {
        self.shape.n()
    }

    /// The instruction set that all kernels of this ring use.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Prime `index`.
    pub fn modulus(&self, index: usize) -> Modulus {
        self.plans[index].modulus()
    }

    /// The product of the primes of a basis, modulo a prime q.
    pub fn product(&self, basis: &Basis, q: Modulus) -> u64 {
        basis.indices().fold(1, |product, index| q.mul(product, q.reduce(self.modulus(index).value())))
    }

    /// The transform of prime `index`.
    pub fn plan(&self, index: usize) -> &NttPlan {
        &self.plans[index]
    }

    /// The transforms, prime by prime.
    pub(crate) fn plans(&self) -> &[NttPlan] {
        &self.plans
    }

    /// What the periodic values of constants share.
    pub(crate) fn period_cache(&self) -> &PeriodCache {
        &self.period_cache
    }

    /// The values modulo prime `index` of the polynomial with these signed coefficients (powerful
    /// basis, n of them), nothing of which stays in scratch memory: they may be secret. Cost: one
    /// forward transform.
    pub fn evaluate_signed(&self, index: usize, coefficients: &[i64], row: &mut [u64]) {
        residues(self.isa(), self.modulus(index), coefficients, row);
        self.plan(index).forward(row);
        ntt::wipe_scratch();
    }

    /// log2 of the product of the primes of `basis`.
    pub fn log2_product(&self, basis: &Basis) -> f64 {
        basis.indices().map(|index| (self.modulus(index).value() as f64).log2()).sum()
    }

    /// The permutation of θ_t, cached.
    ///
    /// # Errors
    /// [`RingError::NotAnAutomorphism`] when gcd(t, m) > 1.
    pub fn automorphism(&self, element: u64) -> Result<Arc<Automorphism>, RingError> {
        let element = element % self.m();
        if let Some(found) = self.automorphisms.read().expect("no panic while caching").get(&element) {
            return Ok(Arc::clone(found));
        }
        let built = Automorphism::new(&self.shape, element)
            .map(Arc::new)
            .ok_or(RingError::NotAnAutomorphism { element, m: self.m() })?;
        self.automorphisms.write().expect("no panic while caching").insert(element, Arc::clone(&built));
        Ok(built)
    }

    /// The cached converter between two disjoint bases.
    pub fn converter(&self, from: &Basis, to: &Basis, multiplier: u64) -> Arc<BaseConverter> {
        self.raising_converter((from, to), multiplier, &Basis::new([]))
    }

    /// The cached converter that is raised by the primes `added` of the second basis.
    pub(crate) fn raising_converter(
        &self,
        (from, to): (&Basis, &Basis),
        multiplier: u64,
        added: &Basis,
    ) -> Arc<BaseConverter> {
        let key = (from.clone(), to.clone(), multiplier, added.clone());
        if let Some(found) = self.converters.read().expect("no panic while caching").get(&key) {
            return Arc::clone(found);
        }
        let primes: Vec<Modulus> = self.plans.iter().map(NttPlan::modulus).collect();
        let built = Arc::new(BaseConverter::new(self.isa, &primes, (from, to), multiplier, added));
        self.converters.write().expect("no panic while caching").insert(key, Arc::clone(&built));
        built
    }

    /// A buffer of `rows` rows with unspecified contents, reused where possible: fresh pages cost
    /// more than the arithmetic on them.
    pub(crate) fn take_buffer(&self, rows: usize) -> RowBuffer {
        self.take(rows, Waste::Double)
    }

    /// As [`Self::take_buffer`], for what is held for long.
    pub(crate) fn take_lasting_buffer(&self, rows: usize) -> RowBuffer {
        self.take(rows, Waste::Eighth)
    }

    fn take(&self, rows: usize, waste: Waste) -> RowBuffer {
        let buffer = self.buffer_pool.lock().expect("no panic while holding the pool").take(rows, self.n(), waste);
        buffer.unwrap_or_else(|| RowBuffer::new(rows, self.n()))
    }

    pub(crate) fn return_buffer(&self, buffer: RowBuffer) {
        let Some(buffer) = buffer.given_up() else { return };
        let dropped = self.buffer_pool.lock().expect("no panic while holding the pool").put(buffer);
        // Memory goes back to the system after the lock.
        drop(dropped);
    }

    /// Lends `rows` rows of unspecified contents.
    pub(crate) fn with_scratch<T>(&self, rows: usize, f: impl FnOnce(&mut RowBuffer) -> T) -> T {
        let mut buffer = self.take_buffer(rows);
        let result = f(&mut buffer);
        self.return_buffer(buffer);
        result
    }

    /// Runs `f(row_number, row)` on each row, over the current threads.
    pub(crate) fn for_each_row(&self, data: &mut RowBuffer, f: impl Fn(usize, &mut [u64]) + Sync) {
        self.for_each_rows([data], |row, [x]| f(row, x));
    }

    /// Runs `f(row_number, rows)` on the rows of that number of each buffer, over the current
    /// threads.
    pub(crate) fn for_each_rows<const N: usize>(
        &self,
        data: [&mut RowBuffer; N],
        f: impl Fn(usize, [&mut [u64]; N]) + Sync,
    ) {
        self.for_each_rows_of(data.into(), |row, rows| f(row, rows.try_into().expect("N buffers")));
    }

    /// How many rows of a conversion from `sources` rows, `targets` in all, are best made together. If the
    /// sources are more than a cache holds, they are read once for that many targets.
    pub(crate) fn rows_together(&self, sources: usize, targets: usize) -> usize {
        let bytes = sources * self.n() * size_of::<u64>();
        if bytes <= CACHE {
            return 1;
        }
        // Two tasks for each thread at least.
        TOGETHER.min(targets / (2 * rayon::current_num_threads())).max(1)
    }

    /// Runs `f(first, rows)` on up to `together` neighbouring rows of each buffer, the first of number
    /// `first`, over the current threads: `rows[i]` has the rows of number `first + i`.
    pub(crate) fn for_each_block(
        &self,
        data: Vec<&mut RowBuffer>,
        together: usize,
        f: impl Fn(usize, Vec<Vec<&mut [u64]>>) + Sync,
    ) {
        let mut split: Vec<_> = data.into_iter().map(|buffer| buffer.split_mut().into_iter()).collect();
        let count = split.iter().map(ExactSizeIterator::len).min().unwrap_or(0);
        let mut row = || split.iter_mut().filter_map(Iterator::next).collect();
        let tasks = (0..count)
            .step_by(together)
            .map(|first| (first, (first..count.min(first + together)).map(|_| row()).collect::<Vec<_>>()));
        if rayon::current_num_threads() > 1 {
            tasks.collect::<Vec<_>>().into_par_iter().for_each(|(first, rows)| f(first, rows));
        } else {
            tasks.for_each(|(first, rows)| f(first, rows));
        }
    }

    /// As [`Self::for_each_rows`], for any number of buffers.
    pub(crate) fn for_each_rows_of(&self, data: Vec<&mut RowBuffer>, f: impl Fn(usize, Vec<&mut [u64]>) + Sync) {
        self.for_each_block(data, 1, |row, mut rows| f(row, rows.swap_remove(0)));
    }
}
