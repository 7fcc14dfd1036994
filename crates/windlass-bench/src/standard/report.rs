//! Results: one line each, then the goals.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::goals::{Goals, Reached};
use crate::machine;
use crate::record::{self, Record};
use crate::timing::Sample;

/// The circumstances of a result that are not in its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// log2 of the ciphertext modulus.
    pub log2_q: f64,
    /// log2 of the special modulus.
    pub log2_p: f64,
    /// Digits of a key switch.
    pub digits: usize,
    /// λ in bits, rounded down.
    pub security_bits: f64,
    /// Peak memory of the measurement in MiB.
    pub peak_mebibytes: f64,
}

/// One operation in a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Operation {
    /// `layer/op/params/isa/threads`.
    id: String,
    #[serde(flatten)]
    facts: Facts,
    rustc: String,
}

/// A line of a record: goals stand after the operations that they are about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Operation(Box<Record<Operation>>),
    Goal(Reached),
}

/// All results of a run.
pub struct Report {
    /// Rounds of each comparison.
    pub rounds: usize,
    /// Seconds of the yardstick T, once it is measured.
    pub yardstick: Option<f64>,
    /// The goals.
    pub goals: Goals,
    /// Whether something could not be measured.
    pub failed: bool,
    samples: Vec<(Sample, Facts)>,
}

impl Report {
    /// An empty report.
    pub fn new(quick: bool) -> Self {
        let rounds = if quick { 7 } else { 31 };
        Self { rounds, yardstick: None, samples: Vec::new(), goals: Goals::default(), failed: false }
    }

    /// The heading of the results.
    pub fn heading(&self) {
        let [id, median, min, t, n] = ["layer/op/params/isa/threads", "median", "min", "T", "n"];
        println!("{id:<66} {median:>12} {min:>12} {t:>11} {n:>4}");
    }

    /// Prints and keeps results that need no circumstances.
    pub fn add(&mut self, samples: &[Sample]) {
        self.add_with(samples, Facts::default());
    }

    /// Prints and keeps results.
    pub fn add_with(&mut self, samples: &[Sample], facts: Facts) {
        for sample in samples {
            let t = self.in_yardsticks(sample.median).map_or_else(String::new, |t| format!("{t:.2} T"));
            let (median, min) = (duration(sample.median), duration(sample.min));
            println!("{:<66} {median:>12} {min:>12} {t:>11} {:>4}", sample.id, sample.rounds);
        }
        self.samples.extend(samples.iter().map(|sample| (sample.clone(), facts)));
    }

    /// A line of text among the results.
    pub fn note(&self, text: &str) {
        println!("# {text}");
    }

    fn in_yardsticks(&self, seconds: f64) -> Option<f64> {
        self.yardstick.map(|t| seconds / t)
    }

    /// Appends everything to a record.
    pub fn append(&self, path: &Path) -> io::Result<()> {
        let (cpu, rustc) = (machine::cpu(), machine::rustc());
        let operation = |(sample, facts): &(Sample, Facts)| {
            let of = Operation { id: sample.id.clone(), facts: *facts, rustc: rustc.clone() };
            Line::Operation(Box::new(Record {
                cpu: cpu.clone(),
                threads: sample.id.rsplit('/').next().and_then(|text| text.parse().ok()).unwrap_or(1),
                median_s: sample.median,
                min_s: sample.min,
                yardsticks: self.in_yardsticks(sample.median),
                rounds: Some(sample.rounds),
                of,
            }))
        };
        let operations = self.samples.iter().map(operation);
        let goals = self.goals.lines(&machine::cpu(), &machine::rustc()).into_iter().map(Line::Goal);
        record::append(path, &operations.chain(goals).collect::<Vec<_>>())
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.1} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.2} us", s * 1e6),
        s if s < 1.0 => format!("{:.3} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_again() {
        let text = include_str!("../../record/amd-epyc-zen5/standard-2026-11-21.jsonl");
        let lines: Vec<Line> = record::parse(text).collect::<Result<_, _>>().unwrap();
        let operations = lines.iter().filter(|line| matches!(line, Line::Operation(_))).count();
        assert_eq!((operations, lines.len() - operations), (617, 129));
        for (line, text) in lines.iter().zip(text.lines()) {
            let written = serde_json::to_string(line).unwrap();
            assert_eq!(serde_json::from_str::<Line>(&written).unwrap(), *line, "{text}");
        }
    }
}
