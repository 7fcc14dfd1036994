//! A device, and buffers of its memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::argument::{Argument, Launch};
use crate::backend::{Backend, Block};
#[cfg(feature = "cuda")]
use crate::cuda::Cuda;
#[cfg(feature = "emulated")]
use crate::emulated::{Emulated, Order};
use crate::error::DeviceError;

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// The most rows of one launch: what a grid has in its second direction.
pub(crate) const MAX_ROWS: usize = 65_535;

/// A device: its memory and its kernels. Copies are cheap and mean the same device.
///
/// **Warning.** Memory of a device is not cleared when a buffer is given back, and others may read it.
/// Give it ciphertexts and evaluation keys, and no secrets.
#[derive(Debug, Clone)]
pub struct Device(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    backend: Backend,
    /// Bytes that buffers may take in all, those of the pool included.
    limit: usize,
    pool: Mutex<Pool>,
}

/// Blocks that no buffer uses, by their length in words, and the bytes of all blocks.
#[derive(Debug, Default)]
struct Pool {
    spare: BTreeMap<usize, Vec<Block>>,
    spare_bytes: usize,
    bytes: usize,
}

/// Words of the memory of a device. It goes back to the pool of the device when it is dropped.
#[derive(Debug)]
pub(crate) struct Buffer {
    device: Device,
    /// Taken when the buffer is dropped.
    block: Option<Block>,
    words: usize,
}

impl Device {
    /// The emulated device: kernels compiled by the C++ compiler, run by one thread of the processor. It is
    /// for tests. It checks what kernels promise, and is slow.
    ///
    /// # Errors
    /// [`DeviceError::NotBuilt`] without the feature `emulated`.
    pub fn emulated() -> Result<Self, DeviceError> {
        #[cfg(feature = "emulated")]
        return Ok(Self::emulated_with(Order::Ascending, usize::MAX));
        #[cfg(not(feature = "emulated"))]
        Err(DeviceError::NotBuilt { device: "emulated", feature: "emulated" })
    }

    /// As [`Self::emulated`], with an order of its threads, and so many bytes of memory.
    #[cfg(feature = "emulated")]
    pub fn emulated_with(order: Order, limit: usize) -> Self {
        Self::of(Backend::Emulated(Emulated::new(order)), limit)
    }

    /// NVIDIA's GPU number `index`, with all memory that is free now. Driver and compiler are loaded here, and the
    /// kernels compiled, which takes about a second. An error of a kernel may show in a later call.
    ///
    /// **Warning.** This path was compiled, and has never run: there was no GPU.
    ///
    /// # Errors
    /// [`DeviceError::NotBuilt`] without the feature `cuda`, [`DeviceError::NoDriver`],
    /// [`DeviceError::NoCompiler`], [`DeviceError::NoSuchDevice`] and [`DeviceError::Driver`].
    pub fn cuda(index: usize) -> Result<Self, DeviceError> {
        #[cfg(feature = "cuda")]
        {
            let device = Cuda::new(index)?;
            let limit = device.free_bytes();
            Ok(Self::of(Backend::Cuda(device), limit))
        }
        #[cfg(not(feature = "cuda"))]
        {
            let _ = index;
            Err(DeviceError::NotBuilt { device: "CUDA", feature: "cuda" })
        }
    }

    #[cfg(any(feature = "cuda", feature = "emulated"))]
    fn of(backend: Backend, limit: usize) -> Self {
        Self(Arc::new(Inner { backend, limit, pool: Mutex::default() }))
    }

    /// Whether both are the same device.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Bytes of its memory that are in use, without those that wait in the pool.
    pub fn used_bytes(&self) -> usize {
        let pool = self.pool();
        pool.bytes - pool.spare_bytes
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.0.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Words of unspecified content.
    pub(crate) fn buffer(&self, words: usize) -> Result<Buffer, DeviceError> {
        let block = Some(self.block(words)?);
        Ok(Buffer { device: self.clone(), block, words })
    }

    /// These words on the device.
    pub(crate) fn upload(&self, words: &[u64]) -> Result<Buffer, DeviceError> {
        let buffer = self.buffer(words.len())?;
        let written = self.0.backend.write(buffer.block(), words);
        written.map_err(|reason| DeviceError::Kernel { kernel: "write", reason })?;
        Ok(buffer)
    }

    /// A block of the pool, or a new one. If there is no room, spare blocks are given back first.
    fn block(&self, words: usize) -> Result<Block, DeviceError> {
        let (mut pool, wanted) = (self.pool(), words * WORD);
        if let Some(block) = pool.spare.get_mut(&words).and_then(Vec::pop) {
            pool.spare_bytes -= wanted;
            return Ok(block);
        }
        let mut fits = pool.bytes.saturating_add(wanted) <= self.0.limit;
        if !fits {
            pool.clear();
            fits = pool.bytes.saturating_add(wanted) <= self.0.limit;
        }
        let allocate = || {
            let block = self.0.backend.allocate(words);
            block.map_err(|reason| DeviceError::Kernel { kernel: "allocate", reason })
        };
        let mut found = if fits { allocate()? } else { None };
        if fits && found.is_none() {
            pool.clear();
            found = allocate()?;
        }
        let block = found.ok_or(DeviceError::OutOfMemory { wanted, used: pool.bytes, limit: self.0.limit })?;
        pool.bytes += wanted;
        Ok(block)
    }

    /// Runs a kernel, after everything before it.
    pub(crate) fn launch(&self, launch: Launch, arguments: &[Argument<&Buffer>]) -> Result<(), DeviceError> {
        let rows = launch.grid[1] as usize;
        if rows > MAX_ROWS {
            return Err(DeviceError::TooManyRows { rows, most: MAX_ROWS });
        }
        let of_this = |argument: &Argument<&Buffer>| match argument {
            Argument::Span(buffer) => buffer.device.is(self),
            _ => true,
        };
        if !arguments.iter().all(of_this) {
            return Err(DeviceError::OtherRing);
        }
        let arguments: Vec<_> = arguments.iter().map(|argument| argument.map(Buffer::span)).collect();
        let result = self.0.backend.launch(launch, &arguments);
        result.map_err(|reason| DeviceError::Kernel { kernel: launch.kernel, reason })
    }
}

impl Pool {
    /// Gives spare blocks back.
    fn clear(&mut self) {
        self.spare.clear();
        self.bytes -= self.spare_bytes;
        self.spare_bytes = 0;
    }
}

impl Buffer {
    /// Its length.
    pub fn words(&self) -> usize {
        self.words
    }

    fn block(&self) -> &Block {
        self.block.as_ref().expect("a buffer has its block until it is dropped")
    }

    fn span(&self) -> (&Block, usize) {
        (self.block(), self.words)
    }

    /// Its words.
    pub fn download(&self) -> Result<Vec<u64>, DeviceError> {
        let mut words = vec![0; self.words];
        let read = self.device.0.backend.read(self.block(), &mut words);
        read.map_err(|reason| DeviceError::Kernel { kernel: "read", reason })?;
        Ok(words)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let Some(block) = self.block.take() else { return };
        let mut pool = self.device.pool();
        pool.spare_bytes += self.words * WORD;
        pool.spare.entry(self.words).or_default().push(block);
    }
}

#[cfg(all(test, feature = "emulated"))]
mod tests {
    use super::*;

    /// One block of four threads for each row, on the device of the first span.
    fn launched(kernel: &'static str, rows: u32, spans: &[&Buffer]) -> Result<(), DeviceError> {
        let launch = Launch { kernel, grid: [1, rows], threads: 4 };
        spans[0].device.launch(launch, &spans.iter().map(|&span| Argument::Span(span)).collect::<Vec<_>>())
    }

    fn device(order: Order) -> Device {
        Device::emulated_with(order, usize::MAX)
    }

    fn reason(result: Result<(), DeviceError>) -> String {
        result.expect_err("a kernel that is wrong").to_string()
    }

    #[test]
    fn the_emulated_device_finds_what_kernels_do_wrong() {
        let mut results = Vec::new();
        for order in [Order::Ascending, Order::Descending] {
            let device = device(order);
            let four = device.upload(&[0; 4]).unwrap();
            let three = device.upload(&[0; 3]).unwrap();
            assert!(reason(launched("without_barrier", 1, &[&four])).contains("without a barrier"));
            assert!(reason(launched("with_race", 1, &[&three])).contains("beyond the end"));
            assert!(reason(launched("no_kernel", 1, &[&four])).contains("no kernel has this name"));
            assert!(reason(launched("with_race", 1, &[&four, &three])).contains("takes other arguments"));
            launched("with_race", 1, &[&four]).unwrap();
            results.push(four.download().unwrap());
        }
        assert_ne!(results[0], results[1], "a race shows as a difference between both orders");
    }

    #[test]
    fn too_many_rows_and_memory_of_another_device_are_refused() {
        let (first, second) = (device(Order::Ascending), device(Order::Ascending));
        let (one, other) = (first.upload(&[0; 4]).unwrap(), second.upload(&[0; 4]).unwrap());
        let rows = MAX_ROWS + 1;
        let refused = launched("with_race", rows as u32, &[&one]).unwrap_err();
        assert_eq!(refused, DeviceError::TooManyRows { rows, most: MAX_ROWS });
        let refused = launched("with_race", 1, &[&one, &other]).unwrap_err();
        assert_eq!(refused, DeviceError::OtherRing);
    }
}
