//! What every kind of file is put through.

use std::path::PathBuf;

use windlass::Error;
use windlass::wire::{
    ContextHash, Expected, FieldReader, FileContext, KeyId, Kind, Label, Wire, load_for, open, seal, to_payload,
};

/// The key pair of the golden files.
pub const KEY: KeyId = KeyId([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);

/// Reads a payload and writes it again.
pub type Again<'a> = &'a dyn Fn(&[u8]) -> Result<Vec<u8>, Error>;

pub fn decode<C: FileContext, T: Wire<C>>(context: &C, payload: &[u8]) -> Result<T, Error> {
    T::decode(context, KEY, FieldReader::new(payload))
}

pub fn through_bytes<C: FileContext, T: Wire<C>>(context: &C, value: &T) -> T {
    let key = value.key_id().unwrap_or(KEY);
    T::decode(context, key, FieldReader::new(&to_payload(context, value))).expect("what was written can be read")
}

pub fn label(kind: Kind, context: &impl FileContext) -> Label {
    Label { kind, context: *context.hash(), key: KEY }
}

pub fn any_key(kind: Kind, context: &impl FileContext) -> Expected {
    expected(kind, *context.hash())
}

fn expected(kind: Kind, context: ContextHash) -> Expected {
    Expected { kind, context, key: None, limit: u64::MAX }
}

/// Truncations, additions and flipped bits, in the container and, as if someone had forged its
/// checksum, in the payload.
pub fn reject_damage(label: &Label, payload: &[u8], again: Again<'_>) {
    let kind = label.kind;
    assert!(again(payload).unwrap() == payload, "{kind} is written in other bytes than it was read from");
    // Large payloads: every length and bit of the fields, then some.
    let step = |at: usize| if at < 600 { 1 } else { payload.len() / 500 + 1 };
    let mut end = 0;
    while end < payload.len() {
        assert!(again(&payload[..end]).is_err(), "{kind} cut to {end} of {} bytes", payload.len());
        end += step(end);
    }
    assert!(again(&[payload, &[0]].concat()).is_err(), "{kind} with a byte more");
    let bytes = seal(label, payload);
    let mut at = 0;
    while at < bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            assert!(
                open(&damaged, &Expected { key: Some(KEY), ..expected(kind, label.context) }).is_err(),
                "{kind} byte {at}"
            );
            // An error, or another value, which is canonical again.
            if at < payload.len() {
                let mut damaged = payload.to_vec();
                damaged[at] ^= 1 << bit;
                if let Ok(back) = again(&damaged) {
                    assert!(back == damaged, "{kind} byte {at} bit {bit}: two encodings of one value");
                }
            }
        }
        at += step(at);
    }
}

/// Writes a golden file that is missing, where WINDLASS_WRITE_GOLDEN is set: one that is there stays.
pub fn write_missing<C: FileContext, T: Wire<C>>(name: &str, context: &C, value: impl FnOnce() -> T) {
    let path = golden_path(name);
    if !path.exists() && std::env::var_os("WINDLASS_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, seal(&label(T::KIND, context), &to_payload(context, &value()))).unwrap();
    }
}

fn golden_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}-v2.bin"))
}

/// Reads a golden file and checks that its value would be written in the same bytes.
pub fn golden<C: FileContext, T: Wire<C>>(name: &str, context: &C) -> T {
    let path = golden_path(name);
    let value = load_for(&path, context, KEY).unwrap_or_else(|error| panic!("{name}: {error}"));
    let again = seal(&label(T::KIND, context), &to_payload(context, &value));
    assert!(again == std::fs::read(&path).unwrap(), "{name} is written in other bytes than version 2");
    value
}
