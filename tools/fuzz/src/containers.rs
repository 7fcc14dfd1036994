//! Containers: readers of them, and changes that leave header and checksum right.

use std::fmt::Display;
use std::sync::Arc;

use windlass::wire::{FileContext, KeyId, Kind, Label, Wire, from_bytes, seal, sha256, to_bytes};

use crate::random::Random;

/// Bytes of a header, and of a checksum.
pub const HEADER: usize = 68;
pub const TRAILER: usize = 32;

/// Where the hash of the parameters stands, and the name of the key pair.
pub const CONTEXT: std::ops::Range<usize> = 12..44;
pub const KEY: std::ops::Range<usize> = 44..60;

/// The blocks of files that are mapped begin at a multiple of this many bytes.
const PAGE: usize = 4096;

/// Reads the bytes of an input and uses what they are; whether they were accepted.
pub type Tried = Box<dyn Fn(&[u8]) -> bool + Sync + Send>;

/// Reads one kind of container in one context.
pub struct Reader {
    label: Label,
    read: Tried,
}

/// A client and a server of one context, with what its files are read in.
pub trait Readable: Sync + Send + 'static {
    type Files: FileContext + Sync + Send + 'static;
    fn files(&self) -> Self::Files;
    fn key(&self) -> KeyId;
}

/// A reader of one type in each context.
pub fn readers<S: Readable, T: Wire<S::Files> + 'static>(
    sides: &[Arc<S>],
    check: impl Fn(&S, T) + Copy + Sync + Send + 'static,
) -> Vec<Reader> {
    let reader = |sides: &Arc<S>| {
        let held = Arc::clone(sides);
        Reader::new(sides.files(), sides.key(), move |value: T| check(&held, value))
    };
    sides.iter().map(reader).collect()
}

impl Reader {
    /// A reader of values of one type, which must be written in the same bytes again. `check` looks
    /// at a value and uses it.
    pub fn new<X, T>(files: X, key: KeyId, check: impl Fn(T) + Sync + Send + 'static) -> Self
    where
        X: FileContext + Sync + Send + 'static,
        T: Wire<X>,
    {
        let label = Label { kind: T::KIND, context: *files.hash(), key };
        let read = move |bytes: &[u8]| match from_bytes::<X, T>(&files, bytes) {
            Err(error) => {
                refused(&error);
                false
            }
            Ok(value) => {
                let again = to_bytes(&files, &value).expect("what was read can be written");
                assert!(*again == bytes, "two encodings of one value");
                check(value);
                true
            }
        };
        Self { label, read: Box::new(read) }
    }

    /// A reader that is written out.
    pub fn own(label: Label, read: impl Fn(&[u8]) -> bool + Sync + Send + 'static) -> Self {
        Self { label, read: Box::new(read) }
    }

    /// The reader whose parameters an input names, or the first.
    pub fn of<'a>(readers: &'a [Self], bytes: &[u8]) -> &'a Self {
        readers.iter().find(|reader| reader.is_context_of(bytes)).or(readers.first()).expect("a target has readers")
    }

    /// Mostly the reader whose parameters an input names, sometimes another.
    pub fn chosen<'a>(readers: &'a [Self], bytes: &[u8], random: &mut Random) -> &'a Self {
        let own = readers.iter().find(|reader| reader.is_context_of(bytes));
        let other = &readers[random.below(readers.len() as u64) as usize];
        own.filter(|_| random.below(16) != 0).unwrap_or(other)
    }

    /// Reads an input; whether it was accepted.
    pub fn read(&self, bytes: &[u8]) -> bool {
        (self.read)(bytes)
    }

    /// Whether the header names the parameters of this reader.
    fn is_context_of(&self, bytes: &[u8]) -> bool {
        bytes.get(CONTEXT) == Some(&self.label.context[..])
    }

    /// Changes the payload of an input and gives it a header and a checksum that are right.
    pub fn mutate(&self, data: &mut [u8], size: usize, most: usize, random: &mut Random) -> usize {
        if most < HEADER + TRAILER {
            return libfuzzer_sys::fuzzer_mutate(data, size, most);
        }
        let payload = data[..size].get(HEADER..size.saturating_sub(TRAILER)).unwrap_or_default();
        let mut payload = if self.label.kind.is_mapped() { without_gap(payload) } else { payload.to_vec() };
        let (length, room) = (payload.len(), most - HEADER - TRAILER);
        payload.resize(room, 0);
        let length = libfuzzer_sys::fuzzer_mutate(&mut payload, length, room);
        payload.truncate(length);
        if self.label.kind.is_mapped() {
            payload = with_gap(&payload);
        }
        let bytes = seal(&self.label_like(&data[..size], random), &payload);
        if bytes.len() > most {
            return libfuzzer_sys::fuzzer_mutate(data, size, most);
        }
        data[..bytes.len()].copy_from_slice(&bytes);
        bytes.len()
    }

    /// This reader's label; one time in sixteen with the key pair that the input names.
    fn label_like(&self, input: &[u8], random: &mut Random) -> Label {
        let stated = input.get(KEY).and_then(|name| Some(KeyId(name.try_into().ok()?)));
        let key = stated.filter(|_| random.below(16) == 0).unwrap_or(self.label.key);
        // Another kind is refused at once, and must be.
        let kind = if random.below(256) == 0 { Kind::Answer } else { self.label.kind };
        Label { key, kind, ..self.label }
    }
}

/// Makes the checksum of a container right that is not mapped.
pub fn mend(bytes: &mut [u8]) {
    if let Some((body, trailer)) = bytes.split_last_chunk_mut::<TRAILER>() {
        *trailer = sha256(body);
    }
}

/// What is refused is refused in words, and with numbers that are some.
pub fn refused(error: &dyn Display) {
    let text = error.to_string();
    let words = |text: &str| text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>();
    let numbers = words(&text).iter().all(|word| word != "inf" && word != "NaN");
    assert!(!text.is_empty() && numbers, "an error that says: {text}");
}

/// The fields of a payload that is mapped, and its blocks, without the zeros between.
fn without_gap(payload: &[u8]) -> Vec<u8> {
    let length = payload.first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize);
    let before = (HEADER + 4).saturating_add(length).next_multiple_of(PAGE) - HEADER;
    match (payload.get(..4 + length), payload.get(before..)) {
        (Some(fields), Some(blocks)) => [fields, blocks].concat(),
        _ => payload.to_vec(),
    }
}

/// The inverse: what the first four bytes count are the fields.
fn with_gap(folded: &[u8]) -> Vec<u8> {
    let length = folded.first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize);
    let Some((fields, blocks)) = folded.split_at_checked(length.saturating_add(4)) else { return folded.to_vec() };
    let mut payload = fields.to_vec();
    payload.resize((HEADER + payload.len()).next_multiple_of(PAGE) - HEADER, 0);
    payload.extend_from_slice(blocks);
    payload
}
