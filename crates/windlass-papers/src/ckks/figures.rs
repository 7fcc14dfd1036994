//! The figures of measured refreshes of CKKS.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::goals::Verdict;
use crate::record::{self, Record};

/// One measured set.
pub type Measured = Record<Refresh>;

/// What is refreshed in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Ciphertexts of complex slots.
    Complex,
    /// Two ciphertexts of real slots.
    RealPair,
}

/// What a stage does, counted while it ran. A row is n words of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Work {
    /// Transforms of a row, in either direction.
    pub transforms: u64,
    /// Multiply-adds of a row in base conversions.
    pub conversions: u64,
    /// Products of a row of a digit with a row of a key.
    pub key_products: u64,
    /// Products of a row of each part of a ciphertext with a row of a constant.
    pub constant_products: u64,
    /// Bytes of keys that were read.
    pub key_bytes: u64,
    /// Bytes of constants that were read.
    pub constant_bytes: u64,
}

/// Speeds of the same process, measured after the refreshes. One thread, or as many as refreshed: then seconds
/// of the clock over what all of them did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Speeds {
    /// Seconds of a transform of one row: the mean of both directions over all primes, each several times in
    /// a row.
    pub transform_seconds: f64,
    /// Seconds of a multiply-add of one row in a base conversion, sources and target in first-level cache.
    pub conversion_seconds: f64,
    /// Bytes a second, by a sum of a quarter of a gigabyte.
    pub bytes_per_second: f64,
}

/// One stage of one refresh.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// How often it came.
    pub times: usize,
    /// Seconds of all times: of processor time on one thread, of the clock on several.
    pub seconds: f64,
    /// Bits of the modulus before it, above that of the lowest level.
    pub capacity_before: f64,
    /// The same after it.
    pub capacity_after: f64,
    /// What it did.
    #[serde(flatten)]
    pub work: Work,
    /// Seconds that its transforms and the bytes that it reads take at the speeds of the record, one after
    /// the other.
    pub floor_seconds: f64,
}

/// Everything about one set except the times that every record has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refresh {
    /// The name of the set, or its file.
    pub preset: String,
    /// What is refreshed.
    pub input: Input,
    /// How many of these inputs go through one call.
    pub together: usize,
    /// n.
    pub dimension: usize,
    /// Slots.
    pub slots: usize,
    /// λ of the main secret on that day.
    pub security_bits: f64,
    /// λ of the ephemeral secret on that day.
    pub ephemeral_security_bits: f64,
    /// log2 QP.
    pub log2_qp: f64,
    /// Bits of the modulus that products may drop after a refresh.
    pub bits_left: f64,
    /// −log2 of the mean error of a slot, in all runs.
    pub mean_bits: f64,
    /// −log2 of the largest error of a slot, in all runs.
    pub worst_bits: f64,
    /// What the result states.
    pub stated_bits: f64,
    /// Bytes of all keys in memory.
    pub key_bytes: usize,
    /// Bytes of the constants of the maps in memory.
    pub constant_bytes: usize,
    /// Seconds of planning.
    pub plan_seconds: f64,
    /// Seconds of making keys.
    pub key_seconds: f64,
    /// Seconds of converting constants.
    pub constant_seconds: f64,
    /// Of the median run.
    pub stages: Vec<Stage>,
    /// By the clock.
    pub total_seconds: f64,
    /// Measured after the refreshes.
    pub speeds: Speeds,
    /// How busy the machine was: the load average of the last minute, if the system says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// The peak of memory.
    pub peak_mebibytes: f64,
    /// The day.
    pub date: String,
    /// The first digits of the SHA-256 of the program.
    pub build: Option<String>,
    /// The goals that this row says something about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reach: Vec<Verdict>,
}

impl Speeds {
    /// Seconds of the transforms, and of the bytes read.
    pub fn floors(&self, work: &Work) -> [f64; 2] {
        let bytes = work.key_bytes + work.constant_bytes;
        [work.transforms as f64 * self.transform_seconds, bytes as f64 / self.bytes_per_second]
    }
}

impl Work {
    /// What was done in both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            transforms: self.transforms + other.transforms,
            conversions: self.conversions + other.conversions,
            key_products: self.key_products + other.key_products,
            constant_products: self.constant_products + other.constant_products,
            key_bytes: self.key_bytes + other.key_bytes,
            constant_bytes: self.constant_bytes + other.constant_bytes,
        }
    }
}

/// What a row is of: a later record of the same replaces an earlier one.
pub fn key(record: &Measured) -> impl PartialEq + use<> {
    let of = &record.of;
    (record.cpu.clone(), of.preset.clone(), of.input as u8, of.together, record.threads)
}

/// The records of files, in their order. Of two rows of the same set the later one counts.
///
/// # Errors
/// Files that cannot be read, and lines that are no records.
pub fn read(paths: &[PathBuf]) -> io::Result<Vec<Measured>> {
    let mut all: Vec<Measured> = Vec::new();
    for path in paths {
        for one in record::read(path, key)? {
            match all.iter_mut().find(|known| key(known) == key(&one)) {
                Some(known) => *known = one,
                None => all.push(one),
            }
        }
    }
    Ok(all)
}
