//! The figures of one measured bootstrapping.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::circuit::{Asked, Circuit};
use crate::record::Record;

/// One measured preset.
pub type Measured = Record<Refresh>;

/// One stage of one run: the capacity is that of the first time it comes, the seconds are those of
/// all times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageFigure {
    /// Its name.
    pub name: String,
    /// How often it comes.
    pub times: usize,
    /// Seconds of all times.
    pub seconds: f64,
    /// Bits of capacity before it.
    pub capacity_before: f64,
    /// Bits of capacity after it.
    pub capacity_after: f64,
}

/// What a table has a row for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The preset.
    pub preset: String,
    /// Thin or packed.
    pub mode: String,
    /// BGV or BFV.
    pub scheme: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, {}", self.preset, self.mode, self.scheme)
    }
}

/// Everything about one preset but the times that every record has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refresh {
    /// The preset.
    pub preset: String,
    /// Thin or packed.
    pub mode: String,
    /// BGV or BFV.
    pub scheme: String,
    /// What made the circuit; older records do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circuit: Option<Circuit>,
    /// Slots.
    pub slots: usize,
    /// Bits in all slots together.
    pub slot_bits: f64,
    /// λ of the main key on that day.
    pub security_bits: f64,
    /// λ of the ephemeral key on that day.
    pub ephemeral_security_bits: f64,
    /// −log2 of the probability that the bound of the front end fails, by the plan. Records before
    /// 28 November 2026 hold what was asked for, 128; pages compute it again.
    pub failure_bits: f64,
    /// Seconds of planning.
    pub plan_seconds: f64,
    /// Seconds of key generation.
    pub key_seconds: f64,
    /// Seconds of converting constants.
    pub table_seconds: f64,
    /// Bytes of all keys.
    pub key_bytes: usize,
    /// The stages.
    pub stages: Vec<StageFigure>,
    /// Of the median run, by the clock.
    pub total_seconds: f64,
    /// Of the median run, by the processor.
    pub processor_seconds: f64,
    /// Bits of capacity at the input.
    pub capacity_in: f64,
    /// Bits of capacity at the output.
    pub capacity_out: f64,
    /// The squares in sequence that a fresh ciphertext and a refreshed one allowed; older records do
    /// not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depths: Option<[usize; 2]>,
    /// The same by the actual noise instead of its bound; records before 27 November 2026 do not
    /// say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depths_in_fact: Option<[usize; 2]>,
    /// What is left beyond what the next refresh needs at its input, times slot bits, a second.
    pub throughput_bits_per_second: f64,
    /// The peak of memory.
    pub peak_mebibytes: f64,
    /// The day, as 2026-11-27; where a line does not say it, the name of its file does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The first digits of the SHA-256 of the program; records before 27 November 2026 do not say
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
}

impl Refresh {
    /// Of plan, keys and constants.
    pub fn setup_seconds(&self) -> f64 {
        self.plan_seconds + self.key_seconds + self.table_seconds
    }

    /// What was asked for; of older records nothing.
    pub fn asked(&self) -> Asked {
        self.circuit.as_ref().map_or_else(Asked::default, |circuit| circuit.asked.clone())
    }

    /// Its preset, mode and scheme.
    pub fn place(&self) -> Place {
        Place { preset: self.preset.clone(), mode: self.mode.clone(), scheme: self.scheme.clone() }
    }

    /// The sizes of all primes, where they were recorded.
    pub fn moduli(&self) -> Option<&str> {
        self.circuit.as_ref()?.moduli.as_deref()
    }

    /// The peak of memory.
    pub fn gigabytes(&self) -> f64 {
        self.peak_mebibytes * 1.048_576e-3
    }
}

/// Bits left beyond those that the next refresh needs at its input: for its maps to the
/// coefficients, where they come first, and for what stays below them at the end. What remains for
/// circuits, as Ma et al. count it.
pub fn net_bits(measured: &Measured) -> f64 {
    measured.of.throughput_bits_per_second * measured.median_s / measured.of.slot_bits
}

/// What the tables tell apart: what stages' names begin with.
const PARTS: [&[&str]; 4] = [
    &["slots to coefficients", "repacking", "joining"],
    &["front end"],
    &["coefficients to slots", "trace", "unpacking", "splitting"],
    &["digit removal", "table"],
];

/// Seconds of each part. Stages are timed by the clock, hence scaled to the seconds of the record.
pub fn parts(measured: &Measured) -> [f64; 4] {
    let scale = measured.median_s / measured.of.stages.iter().map(|stage| stage.seconds).sum::<f64>();
    let parts = sums(measured, |stage| scale * stage.seconds);
    let whole = parts.iter().sum::<f64>() / measured.median_s;
    assert!((whole - 1.0).abs() < 1e-6, "every stage belongs to a part");
    parts
}

/// A figure of stages, summed over each part.
pub fn sums(measured: &Measured, figure: impl Fn(&StageFigure) -> f64) -> [f64; 4] {
    PARTS.map(|beginnings| {
        let is_of_part = |stage: &&StageFigure| beginnings.iter().any(|name| stage.name.starts_with(name));
        measured.of.stages.iter().filter(is_of_part).map(&figure).sum()
    })
}

/// By what a later record replaces an earlier one.
pub fn key(record: &Measured) -> impl PartialEq + use<> {
    let of = &record.of;
    (of.preset.clone(), of.mode.clone(), of.scheme.clone(), of.asked(), record.threads)
}

/// For the terminal.
pub fn print(record: &Measured) {
    println!("{:<40} {:>6} {:>9} {:>10} {:>10}", "stage", "times", "seconds", "bits before", "after");
    for StageFigure { name, times, seconds, capacity_before, capacity_after } in &record.of.stages {
        println!("{name:<40} {times:>6} {seconds:>9.3} {capacity_before:>10.0} {capacity_after:>10.0}");
    }
    let Refresh { total_seconds, processor_seconds, capacity_in, capacity_out, .. } = record.of;
    println!(
        "total {total_seconds:.2} s ({processor_seconds:.2} s of processor time) on {} thread(s), {:.0} to \
         {capacity_out:.0} bits; {:.0} bits of capacity times slot bits a second; peak memory {:.0} MiB",
        record.threads,
        capacity_in.round(),
        record.of.throughput_bits_per_second,
        record.of.peak_mebibytes
    );
}

#[cfg(test)]
mod tests {
    use windlass::bootstrap::BootstrapSpec;

    use super::super::circuit::tests::plan;
    use super::*;
    use crate::record;

    const OLD: &str = include_str!("../../../windlass-bench/record/amd-epyc-zen5/bootstrap-2026-11-21.jsonl");

    #[test]
    fn records_with_and_without_it_are_read_and_told_apart() {
        let old: Vec<Measured> = record::parse(OLD).collect::<Result<_, _>>().unwrap();
        assert!(old.iter().all(|record| record.of.circuit.is_none()));
        let mut new = old[0].clone();
        new.of.circuit = Some(Circuit::of(&plan(BootstrapSpec::default()), (None, None)));
        let line = serde_json::to_string(&new).unwrap();
        assert_eq!(serde_json::from_str::<Measured>(&line).unwrap(), new);
        // Measured anew with nothing asked for it takes the old one's place, and only then.
        assert!(key(&new) == key(&old[0]));
        new.of.circuit.as_mut().unwrap().asked.front_end = "near-prime-power".into();
        assert!(key(&new) != key(&old[0]));
    }
}
