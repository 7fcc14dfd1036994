//! A target: what it does with an input, and how inputs are changed.

use crate::containers::{Reader, Tried};
use crate::memory;
use crate::random::Random;
use crate::text;

/// One kind of input.
pub struct Target {
    /// Inputs to begin with: at least one of them is read and used.
    pub seeds: Vec<Vec<u8>>,
    form: Form,
    /// Largest piece of memory that reading an input may take, beside a multiple of its length.
    most_memory: Option<usize>,
}

/// What inputs look like.
enum Form {
    /// Containers, each of which one of the readers takes.
    Containers(Vec<Reader>),
    /// Text or other bytes without a checksum.
    Plain(Tried),
    /// Bytes with a checksum of their own, which the first function mends.
    Mended(fn(&mut [u8]), Tried),
}

/// Bytes of memory for each byte of an input: residues of 25 bits take words of 64, rows are padded
/// and copied, and seeds of 32 bytes expand into polynomials.
const EXPANSION: usize = 64;

/// One time in so many an input is changed as a whole, and its checksum left wrong.
const RAW: u64 = 32;

impl Target {
    /// Containers: `readers` for one context each, and inputs to begin with.
    pub fn containers(readers: Vec<Reader>, seeds: Vec<Vec<u8>>) -> Self {
        // The seeds of polynomials expand by the parameters, not by the length.
        Self { seeds, form: Form::Containers(readers), most_memory: Some(4 << 20) }
    }

    /// Text.
    pub fn text(seeds: Vec<Vec<u8>>, most_memory: Option<usize>, read: impl Fn(&[u8]) + Sync + Send + 'static) -> Self {
        Self { seeds, form: Form::Plain(Box::new(read)), most_memory }
    }

    /// Bytes whose checksum `mend` makes right again.
    pub fn mended(seeds: Vec<Vec<u8>>, mend: fn(&mut [u8]), read: impl Fn(&[u8]) + Sync + Send + 'static) -> Self {
        Self { seeds, form: Form::Mended(mend, Box::new(read)), most_memory: None }
    }

    /// Reads an input; panics when something that must hold does not.
    pub fn run(&self, data: &[u8]) {
        memory::forget();
        match &self.form {
            Form::Containers(readers) => {
                let own = |reader: &&Reader| reader.is_context_of(data);
                readers.iter().find(own).or(readers.first()).expect("a target has readers").read(data);
            }
            Form::Plain(read) | Form::Mended(_, read) => read(data),
        }
        if let Some(most) = self.most_memory {
            let (largest, most) = (memory::largest(), most + EXPANSION * data.len());
            assert!(largest <= most, "{largest} bytes were taken for an input of {}", data.len());
        }
    }

    /// Changes an input in place and gives its new length.
    pub fn mutate(&self, data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
        let random = &mut Random::new(seed);
        match &self.form {
            _ if random.below(RAW) == 0 => libfuzzer_sys::fuzzer_mutate(data, size, most),
            Form::Containers(readers) => {
                let own = readers.iter().position(|reader| reader.is_context_of(&data[..size]));
                // Mostly the context of the input, sometimes another.
                let other = random.below(readers.len() as u64) as usize;
                let index = own.filter(|_| random.below(16) != 0).unwrap_or(other);
                readers[index].mutate(data, size, most, random)
            }
            Form::Plain(_) => text::mutate(data, size, most, random),
            Form::Mended(mend, _) => {
                let size = libfuzzer_sys::fuzzer_mutate(data, size, most);
                mend(&mut data[..size]);
                size
            }
        }
    }
}
