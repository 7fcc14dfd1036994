//! A target: what it does with an input, and how inputs are changed.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::containers::{Reader, Tried};
use crate::memory::{self, Bound};
use crate::random::Random;
use crate::sealed::Sealed;
use crate::text;

/// One kind of input.
pub struct Target {
    /// Inputs to begin with: each of them is accepted.
    pub seeds: Vec<Vec<u8>>,
    form: Form,
    memory: Bound,
}

/// What inputs look like.
enum Form {
    /// Containers, each of which one of the readers takes.
    Containers(Vec<Reader>),
    /// Containers of what a passphrase encrypts.
    Sealed(Sealed),
    /// Text or other bytes without a checksum.
    Plain(Tried),
    /// Bytes with a checksum, which the first function corrects.
    Mended(fn(&mut [u8]), Tried),
}

/// What containers may take: residues of 25 bits lie in words of 64, rows are padded and copied,
/// and what is read is computed with. The seeds of polynomials expand by the parameters, not by the
/// length.
const CONTAINER: Bound = Bound { fixed: 4 << 20, per_byte: 64 };

/// One time in so many an input is changed as a whole, and its checksum left wrong.
const RAW: u64 = 32;

/// Whether the inputs are those to begin with: then nothing is left out.
static AT_SEEDS: AtomicBool = AtomicBool::new(false);

/// Whether everything is to be tried, however long it takes.
pub fn is_thorough() -> bool {
    AT_SEEDS.load(Ordering::Relaxed)
}

impl Target {
    /// Containers: `readers` for one context each, and inputs to begin with.
    pub fn containers(readers: Vec<Reader>, seeds: Vec<Vec<u8>>) -> Self {
        Self { seeds, form: Form::Containers(readers), memory: CONTAINER }
    }

    /// Secret keys under a passphrase.
    pub fn sealed(sealed: Sealed, seeds: Vec<Vec<u8>>) -> Self {
        Self { seeds, form: Form::Sealed(sealed), memory: CONTAINER }
    }

    /// Text; `read` says whether it was accepted.
    pub fn text(seeds: Vec<Vec<u8>>, memory: Bound, read: impl Fn(&[u8]) -> bool + Sync + Send + 'static) -> Self {
        Self { seeds, form: Form::Plain(Box::new(read)), memory }
    }

    /// Bytes whose checksum `mend` corrects.
    pub fn mended(
        seeds: Vec<Vec<u8>>,
        mend: fn(&mut [u8]),
        memory: Bound,
        read: impl Fn(&[u8]) -> bool + Sync + Send + 'static,
    ) -> Self {
        Self { seeds, form: Form::Mended(mend, Box::new(read)), memory }
    }

    /// Panics unless every seed is accepted: behind one that is not nothing would be reached.
    pub fn check_seeds(&self) {
        AT_SEEDS.store(true, Ordering::Relaxed);
        assert!(!self.seeds.is_empty(), "a target without a seed");
        for (number, seed) in self.seeds.iter().enumerate() {
            assert!(self.run(seed), "seed {number} is refused");
        }
        AT_SEEDS.store(false, Ordering::Relaxed);
    }

    /// Reads an input, and says whether it was accepted; panics when something that must hold does
    /// not.
    pub fn run(&self, data: &[u8]) -> bool {
        memory::begin();
        let accepted = match &self.form {
            Form::Containers(readers) => Reader::of(readers, data).read(data),
            Form::Sealed(sealed) => sealed.read(data),
            Form::Plain(read) | Form::Mended(_, read) => read(data),
        };
        self.memory.check(data.len());
        accepted
    }

    /// Changes an input in place and gives its new length.
    pub fn mutate(&self, data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
        let random = &mut Random::new(seed);
        match &self.form {
            _ if random.below(RAW) == 0 => libfuzzer_sys::fuzzer_mutate(data, size, most),
            Form::Containers(readers) => {
                Reader::chosen(readers, &data[..size], random).mutate(data, size, most, random)
            }
            Form::Sealed(sealed) => sealed.mutate(data, size, most, random),
            Form::Plain(_) => text::mutate(data, size, most, random),
            Form::Mended(mend, _) => {
                let size = libfuzzer_sys::fuzzer_mutate(data, size, most);
                mend(&mut data[..size]);
                size
            }
        }
    }
}
