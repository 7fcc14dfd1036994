//! The emulated device: the kernels compiled by the C++ compiler, called one block and one thread after
//! the other. Its addresses are those of this process.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::argument::{Argument, Launch};

// SAFETY: kernels/emulated.cpp defines these functions with these arguments.
unsafe extern "C" {
    fn windlass_gpu_allocate(words: u64) -> u64;
    fn windlass_gpu_release(address: u64);
    fn windlass_gpu_write(address: u64, from: *const u64, words: u64);
    fn windlass_gpu_read(address: u64, to: *mut u64, words: u64);
    fn windlass_gpu_launch(
        name: *const c_char,
        blocks_x: u32,
        blocks_y: u32,
        threads: u32,
        descending: bool,
        kinds: *const c_char,
        arguments: *mut *mut c_void,
    ) -> *const c_char;
}

/// The order in which an emulated device runs blocks, and the threads between two barriers. Results do
/// not depend on it, unless a kernel has a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The first one first.
    #[default]
    Ascending,
    /// The last one first.
    Descending,
}

/// An emulated device.
#[derive(Debug)]
pub(crate) struct Emulated {
    order: Order,
    /// Held while memory of the device is read or written, by kernels, too.
    memory: Mutex<()>,
}

/// Words of its memory.
#[derive(Debug)]
pub(crate) struct Block {
    address: u64,
    words: usize,
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the address comes from `windlass_gpu_allocate`, and is released once, by its only owner.
        unsafe { windlass_gpu_release(self.address) }
    }
}

impl Emulated {
    pub fn new(order: Order) -> Self {
        Self { order, memory: Mutex::new(()) }
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// So many words, cleared; none if the system has no memory.
    pub fn allocate(&self, words: usize) -> Option<Block> {
        // SAFETY: any number of words may be asked for.
        let address = unsafe { windlass_gpu_allocate(words as u64) };
        (address != 0).then_some(Block { address, words })
    }

    /// Writes the words from the beginning.
    pub fn write(&self, block: &Block, from: &[u64]) {
        assert!(from.len() <= block.words, "what fits into the block");
        let _guard = self.lock();
        // SAFETY: the block has as many words, and nothing else uses them: the lock is held.
        unsafe { windlass_gpu_write(block.address, from.as_ptr(), from.len() as u64) }
    }

    /// Reads words from the beginning.
    pub fn read(&self, block: &Block, to: &mut [u64]) {
        assert!(to.len() <= block.words, "what the block has");
        let _guard = self.lock();
        // SAFETY: the block has as many words, all of them initialised, and nobody else uses them: the
        // lock is held.
        unsafe { windlass_gpu_read(block.address, to.as_mut_ptr(), to.len() as u64) }
    }

    /// Runs a kernel. A span is a block and the words of it that the kernel may use.
    pub fn launch(&self, launch: Launch, arguments: &[Argument<(&Block, usize)>]) -> Result<(), String> {
        let name = CString::new(launch.kernel).map_err(|_| "a name without zero bytes".to_owned())?;
        let (mut kinds, mut values) = (Vec::new(), Vec::new());
        for argument in arguments {
            let (kind, value) = match *argument {
                Argument::Span((block, words)) => {
                    assert!(words <= block.words, "what the block has");
                    (b's', [block.address, words as u64])
                }
                Argument::Nothing => (b's', [0, 0]),
                Argument::Word(word) => (b'w', [word, 0]),
                // The low half of a little-endian word.
                Argument::Half(half) => (b'h', [u64::from(half), 0]),
            };
            kinds.push(kind);
            values.push(value);
        }
        let kinds = CString::new(kinds).expect("letters");
        let mut pointers: Vec<*mut c_void> = values.iter_mut().map(|value| value.as_mut_ptr().cast()).collect();
        let ([x, y], descending) = (launch.grid, self.order == Order::Descending);
        let _guard = self.lock();
        // SAFETY: the kernel is found by its name and refused unless it takes arguments of these kinds, each
        // of which is 16 bytes that live as long as the call. A kernel reaches memory through spans alone,
        // whose every access is checked, and their blocks are borrowed; nothing else uses them: the lock is held.
        // What comes back is null or a text of the program.
        let failure = unsafe {
            let text = windlass_gpu_launch(
                name.as_ptr(),
                x,
                y,
                launch.threads,
                descending,
                kinds.as_ptr(),
                pointers.as_mut_ptr(),
            );
            (!text.is_null()).then(|| CStr::from_ptr(text))
        };
        failure.map_or(Ok(()), |text| Err(text.to_string_lossy().into_owned()))
    }
}
